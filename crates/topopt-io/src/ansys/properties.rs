//! Materials: MP, MPTEMP, MPDATA and TB.

use std::collections::BTreeMap;

use super::archive::{Archive, Property};
use super::field::real;
use super::lines::{Command, Lines, is_release};
use super::tables;

/// Material properties that are read.
const READ: [&str; 17] = [
    "EX", "EY", "EZ", "NUXY", "NUYZ", "NUXZ", "PRXY", "PRYZ", "PRXZ", "GXY", "GYZ", "GXZ", "DENS",
    "C", "KXX", "KYY", "KZZ",
];

/// State that commands for materials leave to those behind them.
#[derive(Default)]
pub(super) struct Materials {
    /// MPTEMP: temperatures by their places from 1.
    temperatures: BTreeMap<usize, f64>,
}

impl Materials {
    /// Reads a command of materials; false if it is none.
    pub fn command(
        &mut self,
        name: &str,
        command: &Command,
        archive: &mut Archive,
        lines: &Lines,
    ) -> bool {
        let at = if is_release(command.argument(1)) { 3 } else { 1 };
        match name {
            "MP" => property(command, archive, lines),
            "MPDA" => self.table(command, at, archive, lines),
            "MPTE" => self.temperatures(command, at),
            "TB" => behavior(command, archive, lines),
            _ => return false,
        }
        true
    }

    /// `MPTEMP,place,temperatures...`; without any the table is empty.
    fn temperatures(&mut self, command: &Command, at: usize) {
        let first = command.number(at).unwrap_or(1) as usize;
        let values = command.arguments_from(at + 1).iter().map(|text| real(text));
        let values: Vec<(usize, f64)> =
            (first..).zip(values).filter_map(|(i, value)| Some((i, value?))).collect();
        if values.is_empty() || first == 1 {
            self.temperatures.clear();
        }
        self.temperatures.extend(values);
    }

    /// `label,material,place,values...` from argument `at` on.
    fn table(&mut self, command: &Command, at: usize, archive: &mut Archive, lines: &Lines) {
        let Some((name, material)) = named(command, at, archive, lines) else { return };
        let first = command.number(at + 2).unwrap_or(1) as usize;
        let property = archive.materials.entry(material).or_default().entry(name).or_default();
        if first <= 1 {
            *property = Property::default();
        }
        for (i, text) in (first..).zip(command.arguments_from(at + 3)) {
            let Some(value) = real(text) else { continue };
            let temperature = self.temperatures.get(&i).copied().unwrap_or(0.0);
            property.table.push([temperature, value]);
        }
        property.table.sort_by(|a, b| a[0].total_cmp(&b[0]));
        let values = property.table.iter().map(|[_, value]| *value);
        property.value = values.clone().next().unwrap_or(property.value);
        property.varies = values.clone().any(|value| Some(value) != values.clone().next());
    }
}

/// `MP,label,material,value,coefficients...`.
fn property(command: &Command, archive: &mut Archive, lines: &Lines) {
    let Some((name, material)) = named(command, 1, archive, lines) else { return };
    let values: Vec<Option<f64>> =
        command.arguments_from(3).iter().map(|text| real(text)).collect();
    let Some(value) = values.first().copied().flatten() else {
        archive.pass_over(&format!("MP,{name} (its value is no number)"), lines);
        return;
    };
    let polynomial: Vec<f64> = values.into_iter().map(|value| value.unwrap_or(0.0)).collect();
    let varies = polynomial[1..].iter().any(|c| *c != 0.0);
    let polynomial = if varies { polynomial } else { Vec::new() };
    let property = Property { value, varies, polynomial, table: Vec::new() };
    archive.materials.entry(material).or_default().insert(name, property);
}

/// The property and the material that a command names; others are passed over, or lost.
fn named(
    command: &Command,
    at: usize,
    archive: &mut Archive,
    lines: &Lines,
) -> Option<(&'static str, u32)> {
    let label = command.argument(at).to_ascii_uppercase();
    let name = READ.into_iter().find(|name| *name == label);
    let material = match command.argument(at + 1) {
        "" => Some(1),
        _ => command.number(at + 1),
    };
    if let Some(found) = name.zip(material) {
        return Some(found);
    }
    if tables::is_expansion(&label) {
        archive.expands = true;
    }
    if !tables::is_harmless_property(&label) {
        archive.pass_over(&format!("MP,{}", crate::quote::excerpt(&label)), lines);
    }
    None
}

/// `TB,label,material`: behavior that is not linear and isotropic.
fn behavior(command: &Command, archive: &mut Archive, lines: &Lines) {
    let label = crate::quote::excerpt(&command.argument(1).to_ascii_uppercase());
    let material = command.number(2).unwrap_or(1);
    let what = format!("TB,{label} (line {})", lines.number());
    archive.behaviors.entry(material).or_default().push(what);
}
