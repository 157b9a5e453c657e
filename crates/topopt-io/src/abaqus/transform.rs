//! *TRANSFORM, as it stands in the file.

use super::deck::Reader;
use super::lines::{Keyword, capitals, unquoted};
use super::sets::{Block, Item};
use super::system::System;
use crate::read_error::Parsed;

impl Reader<'_> {
    /// Two points of three coordinates each.
    pub fn transform(&mut self, keyword: &Keyword) -> Parsed<()> {
        let name = unquoted(keyword.required("NSET")?).to_owned();
        let kind = keyword.get("TYPE").map_or("R".into(), capitals);
        let mut values = [0.0; 6];
        if let Some(data) = self.lines.data() {
            for (value, field) in values.iter_mut().zip(data.fields()) {
                if !field.is_empty() {
                    *value = data.double(keyword, field, "a coordinate")?;
                }
            }
        }
        let [ax, ay, az, bx, by, bz] = values;
        let (a, b) = ([ax, ay, az], [bx, by, bz]);
        let system = match kind.as_str() {
            "R" => System::Cartesian(a, b),
            "C" => System::Cylindrical(a, b),
            _ => System::Unknown,
        };
        let item = Item::Set(self.key(&name));
        let block = Block {
            key: name.clone(),
            name,
            keyword: keyword.name.clone(),
            line: keyword.line,
            items: vec![item],
            hidden: false,
        };
        self.deck.systems.push((block, system));
        Ok(())
    }
}
