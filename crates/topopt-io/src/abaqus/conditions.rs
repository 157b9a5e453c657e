//! *BOUNDARY, *CLOAD, *CFLUX and couplings, as they stand in the file.

use super::deck::Reader;
use super::given::{Condition, ConditionKind, Coupling, HEAT, When};
use super::held::set_name;
use super::lines::{Data, Keyword, capitals};
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
            let fields: Vec<&str> = data.fields().collect();
            let field = |i: usize| fields.get(i).copied().unwrap_or("");
            let item = self.condition_item(keyword, &data)?;

            let name = capitals(field(1));
            let ranges = match named_ranges(&name) {
                Some(ranges) => ranges.iter().map(|&(first, last)| (first, last, 0.0)).collect(),
                None => vec![numbered_range(keyword, &data, &fields)?],
            };
            let turns = name == "ENCASTRE";
            for (first, last, value) in ranges {
                self.held(keyword, &data, &item, (first, if turns { 6 } else { last }, value));
            }
        }
        Ok(())
    }

    /// A direction or several that are held: of 4 to 6 rotations, of 11 a temperature.
    fn held(
        &mut self,
        keyword: &Keyword,
        data: &Data,
        item: &Item,
        (first, last, value): (u64, u64, f64),
    ) {
        let range = match (first, last) {
            (1..=3, _) => Some((first as usize - 1, last.min(3) as usize - 1)),
            (11, _) => Some((HEAT, HEAT)),
            _ => None,
        };
        if let Some((first, last)) = range {
            let kind = ConditionKind::Held(first, last, value);
            self.add_condition(keyword, data, set_name([first, last], value), item.clone(), kind);
        }
        // A node of a solid element has none.
        if first <= 6 && last >= 4 {
            let kind = ConditionKind::HeldRotation;
            self.add_condition(keyword, data, "rotation".into(), item.clone(), kind);
        }
    }

    /// `node or set, direction, value`.
    pub fn loads(&mut self, keyword: &Keyword) -> Parsed<()> {
        let is_heat = keyword.name == "CFLUX";
        self.release(keyword, if is_heat { "CFLUX" } else { "CLOAD" });
        while let Some(data) = self.lines.data() {
            let fields: Vec<&str> = data.fields().collect();
            let field = |i: usize| fields.get(i).copied().unwrap_or("");
            let item = self.condition_item(keyword, &data)?;
            let direction = match field(1) {
                "" | "0" if is_heat => 11,
                text => data.tag(keyword, text, "a direction, 1 to 6")?,
            };
            let value = data.double(keyword, field(2), "a force")?;
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
            self.add_condition(keyword, &data, name, item, kind);
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

    /// Tells when the data of `keyword` act.
    pub fn when(&self, keyword: &Keyword) -> When {
        When { step: self.case, amplitude: keyword.get("AMPLITUDE").map(str::to_owned) }
    }

    fn condition_item(&self, keyword: &Keyword, data: &Data) -> Parsed<Item> {
        match data.fields().next() {
            None | Some("") => Err(data.malformed(keyword, "", "a node or the name of a node set")),
            Some(field) => Ok(self.item(field)),
        }
    }

    fn add_condition(
        &mut self,
        keyword: &Keyword,
        data: &Data,
        name: String,
        item: Item,
        kind: ConditionKind,
    ) {
        let block = one_item(keyword, data.line, name, item);
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
            let fields: Vec<&str> = data.fields().collect();
            let first = data.tag(keyword, fields.first().unwrap_or(&""), "a direction, 1 to 6")?;
            let last = match fields.get(1).copied().unwrap_or("") {
                "" => first,
                last => data.tag(keyword, last, "the last direction")?,
            };
            is_partial = true;
            (0..3)
                .filter(|i| (first..=last).contains(&(i + 1)))
                .for_each(|i| coupled[i as usize] = true);
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
}

pub(super) fn one_item(keyword: &Keyword, line: usize, name: String, item: Item) -> Block {
    let (keyword, key) = (keyword.name.clone(), name.clone());
    Block { key, name, keyword, line, items: vec![item], hidden: false }
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

fn numbered_range(keyword: &Keyword, data: &Data, fields: &[&str]) -> Parsed<(u64, u64, f64)> {
    let field = |i: usize| fields.get(i).copied().unwrap_or("");
    let expected = "a direction (1 to 6), ENCASTRE, PINNED or a symmetry";
    let first = data.tag(keyword, field(1), expected)?;
    let last = match field(2) {
        "" => first,
        last => data.tag(keyword, last, "the last direction")?,
    };
    let value = match field(3) {
        "" => 0.0,
        value => data.double(keyword, value, "a displacement")?,
    };
    if first > last {
        return Err(data.malformed(keyword, &data.text, "a last direction not before the first"));
    }
    Ok((first, last, value))
}
