//! *BOUNDARY, *CLOAD, *DLOAD, *DSLOAD, couplings and materials, as they stand in the file.

use topopt_mesh::vector::length;

use super::deck::Reader;
use super::given::{Condition, ConditionKind, Coupling, Distributed, DistributedKind, Material};
use super::held::set_name;
use super::lines::{Data, Keyword, capitals, unquoted};
use super::sets::{Block, Item};
use crate::read_error::Parsed;

/// How the note on a material begins; its values follow as they are read.
const OF_MATERIAL: &str = "the file has the material";

impl Reader<'_> {
    /// `node or set, first direction, last direction, value`, or `node or set, name`.
    pub fn boundary(&mut self, keyword: &Keyword) -> Parsed<()> {
        if keyword.get("OP").is_some_and(|op| op.eq_ignore_ascii_case("NEW")) {
            self.deck.released.extend(self.case.clone());
        }
        if keyword.get("TYPE").is_some_and(|kind| !kind.eq_ignore_ascii_case("DISPLACEMENT")) {
            self.pass_over(keyword);
            return Ok(());
        }

        while let Some(data) = self.lines.data() {
            let fields: Vec<&str> = data.fields().collect();
            let field = |i: usize| fields.get(i).copied().unwrap_or("");
            let item = self.condition_item(keyword, &data)?;

            let ranges = match named_ranges(&capitals(field(1))) {
                Some(ranges) => ranges.iter().map(|&(first, last)| (first, last, 0.0)).collect(),
                None => vec![numbered_range(keyword, &data, &fields)?],
            };

            for (first, last, value) in ranges {
                // Rotations (4 to 6) and temperatures (11) are none of a solid element's.
                if first > 3 {
                    continue;
                }
                let [first, last] = [first, last.min(3)].map(|direction| direction as usize - 1);
                let kind = ConditionKind::Held(first, last, value);
                let name = set_name([first, last], value);
                self.add_condition(keyword, &data, name, item.clone(), kind);
            }
        }
        Ok(())
    }

    /// `node or set, direction, value`.
    pub fn loads(&mut self, keyword: &Keyword) -> Parsed<()> {
        while let Some(data) = self.lines.data() {
            let fields: Vec<&str> = data.fields().collect();
            let field = |i: usize| fields.get(i).copied().unwrap_or("");
            let item = self.condition_item(keyword, &data)?;
            let direction = data.tag(keyword, field(1), "a direction, 1 to 6")?;
            let value = data.double(keyword, field(2), "a force")?;
            if direction > 6 || value == 0.0 {
                continue;
            }
            let (name, kind) = if direction > 3 {
                let axis = direction as usize - 4;
                (format!("moment_{}_{value:?}", axis + 1), ConditionKind::Moment(axis, value))
            } else {
                let axis = direction as usize - 1;
                (format!("cload_{direction}_{value:?}"), ConditionKind::Force(axis, value))
            };
            self.add_condition(keyword, &data, name, item, kind);
        }
        Ok(())
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
        let case = self.case.clone();
        self.deck.conditions.push(Condition { block, kind, case });
    }

    /// `elements, P1 to P6, pressure`, `elements, GRAV, acceleration, direction` and `elements,
    /// CENTRIF, square of the angular velocity, point, direction`; elements left out are all.
    pub fn element_loads(&mut self, keyword: &Keyword) -> Parsed<()> {
        while let Some(data) = self.lines.data() {
            let fields: Vec<&str> = data.fields().collect();
            let field = |i: usize| fields.get(i).copied().unwrap_or("");
            let number = |i: usize| match field(i) {
                "" => Ok(0.0),
                text => data.double(keyword, text, "a number"),
            };

            let label = capitals(field(1));
            let face = label.strip_prefix('P').and_then(|face| face.parse::<usize>().ok());
            let kind = match (label.as_str(), face) {
                (_, Some(face @ 1..=6)) => DistributedKind::Face(face, number(2)?),
                ("GRAV", _) => {
                    let direction = unit([number(3)?, number(4)?, number(5)?]);
                    let size = number(2)?;
                    DistributedKind::Gravity(direction.map(|d| d * size))
                }
                ("CENTRIF", _) => {
                    let point = [number(3)?, number(4)?, number(5)?];
                    let axis = unit([number(6)?, number(7)?, number(8)?]);
                    DistributedKind::Centrifugal(number(2)?, point, axis)
                }
                _ => {
                    self.lose(format!("load `{label}` of *DLOAD ({})", self.at(data.line)));
                    continue;
                }
            };

            // All elements without one: an empty list of items.
            let items = if field(0).is_empty() { Vec::new() } else { vec![self.item(field(0))] };
            let name = format!("dload_{}", data.line);
            let block = Block { items, ..one_item(keyword, data.line, name, Item::Tags(0, 0)) };
            self.add_distributed(block, kind);
        }
        Ok(())
    }

    /// `surface, P, pressure` and `surface, TRVEC, force per area, direction`.
    pub fn surface_loads(&mut self, keyword: &Keyword) -> Parsed<()> {
        while let Some(data) = self.lines.data() {
            let fields: Vec<&str> = data.fields().collect();
            let field = |i: usize| fields.get(i).copied().unwrap_or("");
            let number = |i: usize| data.double(keyword, field(i), "a number");
            let kind = match capitals(field(1)).as_str() {
                "P" => DistributedKind::Pressure(number(2)?),
                "TRVEC" => {
                    let direction = unit([number(3)?, number(4)?, number(5)?]);
                    let size = number(2)?;
                    DistributedKind::Traction(direction.map(|d| d * size))
                }
                label => {
                    self.lose(format!("load `{label}` of *DSLOAD ({})", self.at(data.line)));
                    continue;
                }
            };
            let item = Item::Set(self.key(field(0)));
            let block = one_item(keyword, data.line, unquoted(field(0)).to_owned(), item);
            self.add_distributed(block, kind);
        }
        Ok(())
    }

    fn add_distributed(&mut self, block: Block, kind: DistributedKind) {
        let case = self.case.clone().unwrap_or_else(|| "step_1".into());
        self.deck.distributed.push(Distributed { block, kind, case });
    }

    /// *COUPLING with its reference node and surface, and *RIGID BODY with its node set.
    pub fn coupling(&mut self, keyword: &Keyword) -> Parsed<()> {
        let surface = ["SURFACE", "NSET", "TIENSET"].iter().find_map(|name| keyword.get(name));
        let (Some(reference), Some(surface)) = (keyword.get("REFNODE"), surface) else {
            self.pass_over(keyword);
            return Ok(());
        };
        let coupling = Coupling {
            reference: self.item(reference),
            name: surface.to_owned(),
            is_rigid: keyword.name == "RIGIDBODY",
        };
        self.deck.couplings.push(coupling);
        Ok(())
    }

    /// *KINEMATIC behind *COUPLING.
    pub fn kinematic(&mut self) {
        if let Some(coupling) = self.deck.couplings.last_mut() {
            coupling.is_rigid = true;
        }
    }

    pub fn material(&mut self, keyword: &Keyword) {
        let name = keyword.get("NAME").unwrap_or("").to_owned();
        let at = self.at(keyword.line);
        self.deck.notes.push(format!("{OF_MATERIAL} `{name}` ({at})"));
        self.deck.materials.push(Material { name, ..Material::default() });
    }

    /// Which elements are of a material.
    pub fn section(&mut self, keyword: &Keyword) {
        if let Some((set, material)) = keyword.get("ELSET").zip(keyword.get("MATERIAL")) {
            let section = (set.to_owned(), self.key(set), material.to_owned());
            self.deck.sections.push(section);
        }
    }

    /// The first values of a material, added to the note.
    pub fn property(&mut self, keyword: &Keyword) -> Parsed<()> {
        let isotropic = match keyword.get("TYPE") {
            None => true,
            Some(kind) => capitals(kind).starts_with("ISO"),
        };
        if !isotropic {
            self.lose("an elasticity that is not isotropic".into());
            self.pass_over(keyword);
            return Ok(());
        }

        let Some(data) = self.lines.data() else { return Ok(()) };
        let names = ["Young's modulus", "Poisson's ratio"];
        let names = if keyword.name == "DENSITY" { &["density"][..] } else { &names };

        let (mut text, mut values) = (String::new(), Vec::new());
        for (name, field) in names.iter().zip(data.fields()) {
            let value = data.double(keyword, field, "a number")?;
            text.push_str(&format!(", {name} {value:?}"));
            values.push(value);
        }

        // Of the last material: its keyword stands above its values.
        if let Some(note) = self.deck.notes.iter_mut().rfind(|n| n.starts_with(OF_MATERIAL)) {
            note.push_str(&text);
        }
        if let Some(material) = self.deck.materials.last_mut() {
            match (keyword.name.as_str(), values.as_slice()) {
                ("DENSITY", [density, ..]) => material.density = Some(*density),
                ("ELASTIC", [modulus, ratio, ..]) => material.elastic = Some([*modulus, *ratio]),
                _ => {}
            }
        }
        Ok(())
    }
}

fn one_item(keyword: &Keyword, line: usize, name: String, item: Item) -> Block {
    let (keyword, key) = (keyword.name.clone(), name.clone());
    Block { key, name, keyword, line, items: vec![item], hidden: false }
}

/// `direction` of length 1; zero stays.
fn unit(direction: [f64; 3]) -> [f64; 3] {
    let size = length(direction);
    if size > 0.0 { direction.map(|d| d / size) } else { direction }
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
