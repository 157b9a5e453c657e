//! *BOUNDARY and *CLOAD as node sets, *MATERIAL as a note.

use super::deck::{Condition, Reader};
use super::lines::{Data, Keyword, capitals};
use super::sets::{Block, Item};
use crate::read_error::Parsed;

impl Reader<'_> {
    /// `node or set, first direction, last direction, value`, or `node or set, name`.
    pub fn boundary(&mut self, keyword: &Keyword) -> Parsed<()> {
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
                let last = last.min(3);
                let name = if value == 0.0 {
                    format!("boundary_{first}_{last}")
                } else {
                    format!("displacement_{first}_{last}_{value:?}")
                };
                self.add_condition(keyword, &data, name, item.clone(), None);
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
            if direction > 3 {
                self.leave_out("moments (hexahedra have no rotations)");
            } else if value != 0.0 {
                let name = format!("cload_{direction}_{value:?}");
                self.add_condition(keyword, &data, name, item, Some(direction));
            }
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
        load: Option<u64>,
    ) {
        let (keyword, items) = (keyword.name.clone(), vec![item]);
        let key = name.clone();
        let block = Block { key, name, keyword, line: data.line, items, hidden: false };
        self.deck.conditions.push(Condition { block, load });
    }

    pub fn properties(&mut self, keyword: &Keyword) -> Parsed<()> {
        let name = keyword.get("NAME").unwrap_or("");
        let line = keyword.line;
        self.deck.notes.push(format!("material `{name}` (line {line}) belongs in the case file"));
        Ok(())
    }

    /// The first values of a material, added to the note.
    pub fn property(&mut self, keyword: &Keyword) -> Parsed<()> {
        let isotropic = match keyword.get("TYPE") {
            None => true,
            Some(kind) => capitals(kind).starts_with("ISO"),
        };
        if !isotropic {
            self.pass_over(keyword);
            return Ok(());
        }

        let Some(data) = self.lines.data() else { return Ok(()) };
        let names = ["Young's modulus", "Poisson's ratio"];
        let names = if keyword.name == "DENSITY" { &["density"][..] } else { &names };

        let mut values = String::new();
        for (name, field) in names.iter().zip(data.fields()) {
            let value = data.double(keyword, field, "a number")?;
            values.push_str(&format!(", {name} {value:?}"));
        }

        // Of the last material: its keyword stands above its values.
        if let Some(note) = self.deck.notes.iter_mut().rfind(|n| n.starts_with("material `")) {
            note.push_str(&values);
        }
        Ok(())
    }
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
