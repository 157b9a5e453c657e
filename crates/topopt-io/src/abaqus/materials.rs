//! Materials, sections, springs and temperatures at the beginning, as they stand in the file.

use super::conditions::one_item;
use super::deck::Reader;
use super::given::{Material, Springs};
use super::lines::{Keyword, capitals, unquoted};
use super::sets::Item;
use crate::quote::printable;
use crate::read_error::Parsed;

/// Beginning of the note on a material; its values follow as they are read.
const OF_MATERIAL: &str = "the file has the material";

impl Reader<'_> {
    pub fn material(&mut self, keyword: &Keyword) {
        let name = keyword.get("NAME").unwrap_or("").to_owned();
        let at = self.at(keyword.line);
        self.deck.notes.push(format!("{OF_MATERIAL} `{name}` ({at})"));
        self.deck.materials.push(Material { name, ..Material::default() });
    }

    /// Keeps which elements are of a material.
    pub fn section(&mut self, keyword: &Keyword) {
        if let Some((set, material)) = keyword.get("ELSET").zip(keyword.get("MATERIAL")) {
            let section = (set.to_owned(), self.key(set), material.to_owned());
            self.deck.sections.push(section);
        }
    }

    /// The values of a material, added to the note: one row, as a second one is of another temperature.
    pub fn property(&mut self, keyword: &Keyword) -> Parsed<()> {
        let kind = keyword.get("TYPE").map_or("ISO".into(), capitals);
        let names: &[&str] = match (keyword.name.as_str(), kind.as_str()) {
            ("ELASTIC", "ISO" | "ISOTROPIC") => &["Young's modulus", "Poisson's ratio"],
            ("CONDUCTIVITY", "ISO" | "ISOTROPIC") => &["conductivity"],
            ("CONDUCTIVITY", "ORTHO" | "ORTHOTROPIC") => {
                &["conductivity along x", "conductivity along y", "conductivity along z"]
            }
            ("DENSITY", _) => &["density"],
            ("SPECIFICHEAT", _) => &["specific heat"],
            _ => {
                let kind = keyword.get("TYPE").map(printable).unwrap_or_default();
                return self.not_understood(keyword, &format!(", TYPE={kind}"));
            }
        };
        let Some(data) = self.lines.data() else { return Ok(()) };
        let (mut text, mut values) = (String::new(), Vec::new());
        for (name, field) in names.iter().zip(data.fields()) {
            let value = data.double(keyword, field, "a number")?;
            text.push_str(&format!(", {name} {value:?}"));
            values.push(value);
        }
        if self.lines.data().is_some() {
            return self.not_understood(keyword, ": rows of several temperatures");
        }

        // Of the last material: its keyword stands above its values.
        if let Some(note) = self.deck.notes.iter_mut().rfind(|n| n.starts_with(OF_MATERIAL)) {
            note.push_str(&text);
        }
        if let Some(material) = self.deck.materials.last_mut() {
            match (keyword.name.as_str(), values.as_slice()) {
                ("DENSITY", [density, ..]) => material.density = Some(*density),
                ("SPECIFICHEAT", [capacity, ..]) => material.specific_heat = Some(*capacity),
                ("ELASTIC", [modulus, ratio, ..]) => material.elastic = Some([*modulus, *ratio]),
                ("ELASTIC", [modulus]) => material.elastic = Some([*modulus, 0.0]),
                ("CONDUCTIVITY", _) if values.len() == names.len() => {
                    material.conductivity = values
                }
                _ => return self.not_understood(keyword, ""),
            }
        }
        Ok(())
    }

    /// Passes over a property of a material in a form that is not understood.
    fn not_understood(&mut self, keyword: &Keyword, how: &str) -> Parsed<()> {
        while self.lines.data().is_some() {}
        let (parameter, reason) = how.split_once(": ").unwrap_or((how, ""));
        let reason = if reason.is_empty() { String::new() } else { format!(" with {reason}") };
        let what = format!("*{}{parameter}{reason} ({})", keyword.written, self.at(keyword.line));
        let is_law = matches!(keyword.name.as_str(), "ELASTIC" | "CONDUCTIVITY");
        match self.deck.materials.last_mut().filter(|_| is_law) {
            Some(material) => material.not_understood = Some(what),
            None => self.lose(what),
        }
        Ok(())
    }

    /// *SPRING: the directions, then the stiffness.
    pub fn springs(&mut self, keyword: &Keyword) -> Parsed<()> {
        let name = unquoted(keyword.required("ELSET")?).to_owned();
        let mut lines = Vec::new();
        // The first line of SPRINGA is empty, and so is not there.
        while let Some(data) = self.lines.data() {
            let values = data.fields().filter(|field| !field.is_empty());
            let values =
                values.map(|field| data.double(keyword, field, "a direction or stiffness"));
            lines.push(values.collect::<Parsed<Vec<f64>>>()?);
        }
        let (directions, stiffness) = match lines.as_slice() {
            [stiffness] => (Vec::new(), stiffness.as_slice()),
            [directions, stiffness] => {
                (directions.iter().map(|d| *d as usize).collect(), stiffness.as_slice())
            }
            _ => (Vec::new(), &[][..]),
        };
        let (false, [stiffness, ..]) = (keyword.has("NONLINEAR"), stiffness) else {
            self.lose_keyword(keyword, ": springs that are not linear");
            return Ok(());
        };
        let item = Item::Set(self.key(&name));
        let block = one_item(keyword, keyword.line, name, item);
        let directions = directions.into_iter().map(|d| d.wrapping_sub(1)).collect();
        self.deck.springs.push(Springs { block, directions, stiffness: *stiffness });
        Ok(())
    }

    /// *INITIAL CONDITIONS, TYPE=TEMPERATURE: `node or set, temperature`.
    pub fn initial_conditions(&mut self, keyword: &Keyword) -> Parsed<()> {
        if keyword.get("TYPE").is_none_or(|kind| capitals(kind) != "TEMPERATURE") {
            self.pass_over_as(keyword, "TYPE");
            return Ok(());
        }
        while let Some(data) = self.lines.data() {
            let fields: Vec<&str> = data.fields().collect();
            let item = self.item(fields.first().copied().unwrap_or(""));
            let text = fields.get(1).copied().unwrap_or("");
            let temperature = data.double(keyword, text, "a temperature")?;
            let block = one_item(keyword, data.line, keyword.written.clone(), item);
            self.deck.initial.push((block, temperature));
        }
        Ok(())
    }
}
