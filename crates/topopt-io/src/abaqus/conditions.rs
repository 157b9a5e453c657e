//! Supports, loads and couplings, as they stand in the file.

use topopt_mesh::vector::unit;

use super::deck::Reader;
use super::given::{
    Condition, ConditionKind, Coupling, Distributed, DistributedKind, HEAT, OnFaces, When,
};
use super::held::set_name;
use super::lines::{Data, Keyword, capitals, unquoted};
use super::sets::{Block, Item};
use crate::read_error::Parsed;

impl Reader<'_> {
    /// `node or set, first direction, last direction, value`, or `node or set, name`.
    pub fn boundary(&mut self, keyword: &Keyword) -> Parsed<()> {
        self.release(keyword, "BOUNDARY");
        if keyword.get("TYPE").is_some_and(|kind| !kind.eq_ignore_ascii_case("DISPLACEMENT")) {
            self.pass_over_as(keyword, "TYPE");
            return Ok(());
        }

        while let Some(data) = self.lines.data() {
            let item = self.condition_item(&data)?;
            let name = capitals(data.field(1));
            let ranges = match named_ranges(&name) {
                Some(ranges) => ranges.iter().map(|&(first, last)| (first, last, 0.0)).collect(),
                None => vec![numbered_range(&data)?],
            };
            let turns = name == "ENCASTRE";
            for (first, last, value) in ranges {
                for (name, kind) in held(first, if turns { 6 } else { last }, value) {
                    let block = one_item(keyword, data.line, name, item.clone());
                    self.add_condition(keyword, block, kind);
                }
            }
        }
        Ok(())
    }

    /// `node or set, direction, value`.
    pub fn loads(&mut self, keyword: &Keyword) -> Parsed<()> {
        let is_heat = keyword.name == "CFLUX";
        self.release(keyword, if is_heat { "CFLUX" } else { "CLOAD" });
        while let Some(data) = self.lines.data() {
            let item = self.condition_item(&data)?;
            let direction = match data.field(1) {
                "" | "0" if is_heat => 11,
                text => data.tag(text, "a direction, 1 to 6")?,
            };
            let value = data.double(data.field(2), "a force")?;

            let (name, kind) = match direction {
                1..=3 if !is_heat => {
                    let axis = direction as usize - 1;
                    (format!("cload_{direction}_{value:?}"), ConditionKind::Force(axis, value))
                }
                4..=6 if !is_heat => {
                    let axis = direction as usize - 4;
                    (format!("moment_{}_{value:?}", axis + 1), ConditionKind::Moment(axis, value))
                }
                11 if is_heat => (format!("cflux_{value:?}"), ConditionKind::Force(HEAT, value)),
                _ => {
                    let at = self.at(data.line);
                    self.lose(format!("direction {direction} of *{} ({at})", keyword.written));
                    continue;
                }
            };
            let block = one_item(keyword, data.line, name, item);
            self.add_condition(keyword, block, kind);
        }
        Ok(())
    }

    /// Takes `OP=NEW` of a keyword, by the family of loads that it takes away.
    pub fn release(&mut self, keyword: &Keyword, family: &'static str) {
        let is_new = keyword.get("OP").is_some_and(|op| op.eq_ignore_ascii_case("NEW"));
        if let (true, Some(step)) = (is_new, self.deck.steps.last_mut()) {
            step.released.push(family);
        }
    }

    /// Returns the step and amplitude of the data of `keyword`.
    pub fn when(&self, keyword: &Keyword) -> When {
        When { step: self.case, amplitude: keyword.get("AMPLITUDE").map(str::to_owned) }
    }

    fn condition_item(&self, data: &Data) -> Parsed<Item> {
        match data.field(0) {
            "" => Err(data.malformed("", "a node or the name of a node set")),
            field => Ok(self.item(field)),
        }
    }

    fn add_condition(&mut self, keyword: &Keyword, block: Block, kind: ConditionKind) {
        let when = self.when(keyword);
        self.deck.conditions.push(Condition { block, kind, when });
    }

    /// *COUPLING with its reference node and surface, and *RIGID BODY with its node set.
    pub fn coupling(&mut self, keyword: &Keyword) -> Parsed<()> {
        let names = ["SURFACE", "NSET", "TIENSET", "PINNSET", "ELSET"];
        let surface = names.iter().find_map(|name| keyword.get(name));
        let (Some(reference), Some(surface)) = (keyword.get("REFNODE"), surface) else {
            self.pass_over(keyword);
            return Ok(());
        };
        let coupling = Coupling {
            reference: self.item(reference),
            rotation: keyword.get("ROTNODE").map(|node| self.item(node)),
            name: surface.to_owned(),
            key: self.key(surface),
            is_rigid: keyword.name == "RIGIDBODY",
            at: format!("*{} ({})", keyword.written, self.at(keyword.line)),
        };
        self.deck.couplings.push(coupling);
        Ok(())
    }

    /// *KINEMATIC behind *COUPLING: `first direction, last direction`, all where there is none.
    pub fn kinematic(&mut self, keyword: &Keyword) -> Parsed<()> {
        if let Some(coupling) = self.deck.couplings.last_mut() {
            coupling.is_rigid = true;
        }
        let mut coupled = [false; 3];
        let mut is_partial = false;
        while let Some(data) = self.lines.data() {
            let first = data.tag(data.field(0), "a direction, 1 to 6")?;
            let last = data.tag_or(1, first, "the last direction")?;
            is_partial = true;
            for (coupled, direction) in coupled.iter_mut().zip(1..) {
                *coupled |= (first..=last).contains(&direction);
            }
        }
        if is_partial && coupled != [true; 3] {
            self.lose_keyword(keyword, ": some directions are not coupled, and are here");
        }
        Ok(())
    }

    /// Passes over a keyword for the value of a parameter.
    pub fn pass_over_as(&mut self, keyword: &Keyword, parameter: &str) {
        let value = keyword.get(parameter).unwrap_or_default();
        let mut named = keyword.clone();
        named.written = format!("{}, {parameter}={value}", keyword.written);
        self.pass_over(&named);
    }

    /// `elements, P1 to P6, pressure`, `elements, GRAV, acceleration, direction` and `elements,
    /// CENTRIF, square of the angular velocity, point, direction`; `elements, S1 to S6, heat flux`,
    /// `elements, BF, heat source`; `elements, F1 to F6, ambient, film coefficient`. Elements left out
    /// are all.
    pub fn element_loads(&mut self, keyword: &Keyword) -> Parsed<()> {
        self.release(keyword, family(keyword));
        while let Some(data) = self.lines.data() {
            let Some(kind) = element_load(keyword, &data)? else {
                self.lose_label(keyword, &data);
                continue;
            };
            // All elements without one: an empty list of items.
            let first = data.field(0);
            let items = if first.is_empty() { Vec::new() } else { vec![self.item(first)] };
            let name = format!("{}_{}", keyword.name.to_lowercase(), data.line);
            let block = Block { items, ..one_item(keyword, data.line, name, Item::Tags(0, 0)) };
            self.add_distributed(keyword, block, kind);
        }
        Ok(())
    }

    /// `surface, P, pressure` and `surface, TRVEC, force per area, direction`; `surface, S, heat flux`;
    /// `surface, F, ambient, film coefficient`.
    pub fn surface_loads(&mut self, keyword: &Keyword) -> Parsed<()> {
        self.release(keyword, family(keyword));
        while let Some(data) = self.lines.data() {
            let on = match (keyword.name.as_str(), capitals(data.field(1)).as_str()) {
                ("DSLOAD", "P") => OnFaces::Pressure(number(&data, 2)?),
                ("DSLOAD", "TRVEC") => OnFaces::Traction(scaled_direction(&data)?),
                ("DSFLUX", "S") => OnFaces::Flux(number(&data, 2)?),
                ("SFILM", "F") => film(&data)?,
                _ => {
                    self.lose_label(keyword, &data);
                    continue;
                }
            };
            let name = unquoted(data.field(0));
            let block = one_item(keyword, data.line, name.to_owned(), Item::Set(self.key(name)));
            self.add_distributed(keyword, block, DistributedKind::Surface(on));
        }
        Ok(())
    }

    fn lose_label(&mut self, keyword: &Keyword, data: &Data) {
        let (label, at) = (capitals(data.field(1)), self.at(data.line));
        self.lose(format!("load `{label}` of *{} ({at})", keyword.written));
    }

    fn add_distributed(&mut self, keyword: &Keyword, block: Block, kind: DistributedKind) {
        let when = self.when(keyword);
        self.deck.distributed.push(Distributed { block, kind, when });
    }
}

pub(super) fn one_item(keyword: &Keyword, line: usize, name: String, item: Item) -> Block {
    let (keyword, key) = (keyword.name.clone(), name.clone());
    Block { key, name, keyword, line, items: vec![item], hidden: false }
}

/// Directions that are held, with the name of their set: of 4 to 6 rotations, of 11 a temperature.
fn held(first: u64, last: u64, value: f64) -> Vec<(String, ConditionKind)> {
    let range = match (first, last) {
        (1..=3, _) => Some([first as usize - 1, last.min(3) as usize - 1]),
        (11, _) => Some([HEAT, HEAT]),
        _ => None,
    };
    let held = |[a, b]: [usize; 2]| (set_name([a, b], value), ConditionKind::Held(a, b, value));
    // A node of a solid element has none.
    let turns = (first <= 6 && last >= 4).then(|| ("rotation".into(), ConditionKind::HeldRotation));
    range.map(held).into_iter().chain(turns).collect()
}

/// Directions that a support holds by its name.
fn named_ranges(name: &str) -> Option<&'static [(u64, u64)]> {
    match name {
        "ENCASTRE" | "PINNED" => Some(&[(1, 3)]),
        "XSYMM" => Some(&[(1, 1)]),
        "YSYMM" => Some(&[(2, 2)]),
        "ZSYMM" => Some(&[(3, 3)]),
        "XASYMM" => Some(&[(2, 3)]),
        "YASYMM" => Some(&[(1, 1), (3, 3)]),
        "ZASYMM" => Some(&[(1, 2)]),
        _ => None,
    }
}

fn numbered_range(data: &Data) -> Parsed<(u64, u64, f64)> {
    let first = data.tag(data.field(1), "a direction (1 to 6), ENCASTRE, PINNED or a symmetry")?;
    let last = data.tag_or(2, first, "the last direction")?;
    let value = data.double_or(3, 0.0, "a displacement")?;
    if first > last {
        return Err(data.malformed(&data.text, "a last direction not before the first"));
    }
    Ok((first, last, value))
}

/// The load of a line of *DLOAD, *DFLUX or *FILM; none of a label that is not known.
fn element_load(keyword: &Keyword, data: &Data) -> Parsed<Option<DistributedKind>> {
    let label = capitals(data.field(1));
    let face = |letter: char| {
        let number = label.strip_prefix(letter).and_then(|face| face.parse::<usize>().ok());
        number.filter(|number| (1..=6).contains(number))
    };
    let on = |face: Option<usize>, on| face.map(|face| DistributedKind::Face(face, on));
    Ok(match (keyword.name.as_str(), label.as_str()) {
        ("DLOAD", "GRAV") => Some(DistributedKind::Gravity(scaled_direction(data)?)),
        ("DLOAD", "CENTRIF") => {
            let (square, point) = (number(data, 2)?, data.doubles(3, A_NUMBER)?);
            Some(DistributedKind::Centrifugal(square, point, direction(data.doubles(6, A_NUMBER)?)))
        }
        ("DLOAD", _) => on(face('P'), OnFaces::Pressure(number(data, 2)?)),
        ("DFLUX", "BF") => Some(DistributedKind::Source(number(data, 2)?)),
        ("DFLUX", _) => on(face('S'), OnFaces::Flux(number(data, 2)?)),
        _ => on(face('F'), film(data)?),
    })
}

const A_NUMBER: &str = "a number";

/// A number, 0 where there is none.
fn number(data: &Data, i: usize) -> Parsed<f64> {
    data.double_or(i, 0.0, A_NUMBER)
}

/// `size, direction` from the third field on.
fn scaled_direction(data: &Data) -> Parsed<[f64; 3]> {
    let size = number(data, 2)?;
    Ok(direction(data.doubles(3, A_NUMBER)?).map(|d| d * size))
}

/// `ambient, film coefficient` from the third field on.
fn film(data: &Data) -> Parsed<OnFaces> {
    Ok(OnFaces::Film(number(data, 3)?, number(data, 2)?))
}

/// The keyword whose `OP=NEW` takes away loads of this one as well.
fn family(keyword: &Keyword) -> &'static str {
    match keyword.name.as_str() {
        "DFLUX" | "DSFLUX" => "DFLUX",
        "FILM" | "SFILM" => "FILM",
        _ => "DLOAD",
    }
}

/// `direction` of length 1; zero stays.
fn direction(given: [f64; 3]) -> [f64; 3] {
    unit(given).unwrap_or(given)
}
