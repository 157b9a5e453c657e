//! Materials: MP, MPTEMP, MPDATA and TB, and what the solids are made of.

use std::collections::BTreeMap;

use super::archive::{Anisotropic, Archive, Element, Property};
use super::commands::Reader;
use super::field::real;
use super::lines::{Command, is_release};
use super::tables;
use crate::deck::{DeckConstants, DeckLaw, DeckMaterial};
use crate::found::Found;

/// Material properties that are read.
const READ: [&str; 21] = [
    "EX", "EY", "EZ", "NUXY", "NUYZ", "NUXZ", "PRXY", "PRYZ", "PRXZ", "GXY", "GYZ", "GXZ", "DENS",
    "C", "KXX", "KYY", "KZZ", "ALPX", "ALPY", "ALPZ", "REFT",
];

impl Reader<'_> {
    /// Reads a command of materials; false if it is none.
    pub fn material(&mut self, name: &str, command: &Command) -> bool {
        let at = if is_release(command.argument(1)) { 3 } else { 1 };
        match name {
            "MP" => self.property(command),
            "MPDA" => self.table(command, at),
            "MPTE" => self.temperatures(command, at),
            "TB" => self.behavior(command),
            "TBTE" => self.temperature_of_table(),
            "TBDA" => self.data_of_table(command),
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
    fn table(&mut self, command: &Command, at: usize) {
        let Some((name, material)) = self.named(command, at) else { return };
        let first = command.number(at + 2).unwrap_or(1) as usize;
        let property = self.archive.materials.entry(material).or_default().entry(name).or_default();
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

    /// `MP,label,material,value,coefficients...`.
    fn property(&mut self, command: &Command) {
        let Some((name, material)) = self.named(command, 1) else { return };
        let values: Vec<Option<f64>> =
            command.arguments_from(3).iter().map(|text| real(text)).collect();
        let Some(value) = values.first().copied().flatten() else {
            self.archive.pass_over(&format!("MP,{name} (its value is no number)"), &self.lines);
            return;
        };
        let polynomial: Vec<f64> = values.into_iter().map(|value| value.unwrap_or(0.0)).collect();
        let varies = polynomial[1..].iter().any(|c| *c != 0.0);
        let polynomial = if varies { polynomial } else { Vec::new() };
        let property = Property { value, varies, polynomial, table: Vec::new() };
        self.archive.materials.entry(material).or_default().insert(name, property);
    }

    /// The property and the material that a command names; others are passed over, or lost.
    fn named(&mut self, command: &Command, at: usize) -> Option<(&'static str, u32)> {
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
            self.archive.expands = true;
        }
        if !tables::is_harmless_property(&label) {
            self.archive.pass_over(&format!("MP,{}", crate::quote::excerpt(&label)), &self.lines);
        }
        None
    }

    /// `TB,label,material`: behavior that is not linear and isotropic.
    fn behavior(&mut self, command: &Command) {
        let label = crate::quote::excerpt(&command.argument(1).to_ascii_uppercase());
        let material = command.number(2).unwrap_or(1);
        self.table = None;
        if label == "ANEL" {
            return self.anisotropic(command, material);
        }
        let what = format!("TB,{label} (line {})", self.lines.number());
        self.archive.behaviors.entry(material).or_default().push(what);
    }
}

/// Values of directions that differ by less than this are one.
const EQUAL: f64 = 1e-6;

/// Properties of one material by their labels.
type Properties = BTreeMap<&'static str, Property>;

/// Adds the materials; each with an element set of its own if there are several.
pub(super) fn add(archive: &Archive, solids: &[Element], found: &mut Found) {
    let mut members = BTreeMap::<u32, Vec<u32>>::new();
    for (given, solid) in (0..).zip(solids) {
        members.entry(solid.material).or_default().push(given);
    }
    let several = members.len() > 1;
    for (number, given) in members {
        let set = several.then(|| format!("MAT_{number}"));
        if let Some(set) = &set {
            found.sets.elements.insert(set.clone(), given);
        }
        let behaviors = archive.behaviors.get(&number);
        let properties = archive.materials.get(&number);
        let anisotropic = archive.anisotropic.get(&number);
        if properties.is_none() && behaviors.is_none() && anisotropic.is_none() {
            continue;
        }

        let temperature = archive.temperature.of_part();
        let of_properties = |properties| of_properties(properties, temperature);
        let mut material = properties.map(of_properties).unwrap_or_default();
        (material.name, material.set) = (number.to_string(), set);
        material.reference = properties
            .and_then(|properties| properties.get("REFT"))
            .map_or(archive.temperature.reference, |property| property.value);
        if let Some(table) = anisotropic {
            replace_law(&mut material, table);
        }
        if material.conductivity.len() > 1 && archive.has_element_systems {
            material.conductivity.clear();
            material.not_understood =
                Some("MP,KXX, KYY, KZZ along systems of elements (ESYS)".into());
        }
        if material.law.is_some() && archive.has_element_systems {
            material.law = None;
            material.not_understood = Some("constants along systems of elements (ESYS)".into());
        }
        if let Some(behaviors) = behaviors {
            let behaviors = behaviors.join(", ");
            let has_law = material.youngs_modulus.is_some() || material.law.is_some();
            match has_law && material.not_understood.is_none() {
                true => found
                    .lose(format!("material {number}: {behaviors}; the material is linear here")),
                false => material.not_understood = Some(behaviors),
            }
        }
        if material.thermal_expansion.len() > 1 && archive.has_element_systems {
            found.lose(format!("material {number}: ALPX, ALPY, ALPZ along systems of elements"));
        }
        if let Some(properties) = properties {
            say_what_varies(number, properties, archive, found);
        }
        found.deck.materials.push(material);
    }
}

/// Gives a material the law of TB,ANEL, which Ansys takes in place of MP.
fn replace_law(material: &mut DeckMaterial, table: &Anisotropic) {
    (material.youngs_modulus, material.poissons_ratio) = (None, None);
    (material.law, material.not_understood) = match table.law() {
        Ok(constants) => (Some(DeckLaw { constants, frame: None }), None),
        Err(why) => (None, Some(why)),
    };
}

/// Returns the material that the properties give at a temperature.
fn of_properties(properties: &Properties, temperature: f64) -> DeckMaterial {
    let value = |names: &[&str]| {
        let property = names.iter().find_map(|name| properties.get(name));
        property.map(|property| property.at(temperature))
    };
    let mut material = DeckMaterial {
        mass_density: value(&["DENS"]),
        heat_capacity: value(&["C"]),
        ..Default::default()
    };
    if let Some(x) = value(&["KXX"]) {
        let [y, z] = ["KYY", "KZZ"].map(|name| value(&[name]).unwrap_or(x));
        material.conductivity = if [y, z] == [x; 2] { vec![x] } else { vec![x, y, z] };
    }

    if let Some(x) = value(&["ALPX"]) {
        let [y, z] = ["ALPY", "ALPZ"].map(|name| value(&[name]).unwrap_or(x));
        material.thermal_expansion = if [y, z] == [x; 2] { vec![x] } else { vec![x, y, z] };
    }

    let moduli: Vec<f64> = ["EX", "EY", "EZ"].iter().filter_map(|name| value(&[name])).collect();
    let ratios = [["PRXY", "NUXY"], ["PRYZ", "NUYZ"], ["PRXZ", "NUXZ"]];
    let ratios: Vec<f64> = ratios.iter().filter_map(|names| value(names)).collect();
    let shear: Vec<f64> = ["GXY", "GYZ", "GXZ"].iter().filter_map(|name| value(&[name])).collect();
    let Some(&modulus) = moduli.first() else { return material };
    let ratio = ratios.first().copied();
    let by_ratio = modulus / (2.0 * (1.0 + ratio.unwrap_or(0.3)));
    let is_one =
        |values: &[f64], one: f64| values.iter().all(|v| (v - one).abs() <= EQUAL * one.abs());
    if is_one(&moduli, modulus) && is_one(&ratios, ratio.unwrap_or(0.0)) && is_one(&shear, by_ratio)
    {
        (material.youngs_modulus, material.poissons_ratio) = (Some(modulus), ratio);
    } else if let Some(constants) = orthotropic(properties, temperature) {
        material.law = Some(DeckLaw { constants, frame: None });
    } else {
        let labels = ["EX", "EY", "EZ", "GXY", "GYZ", "GXZ"];
        let labels: Vec<&str> =
            labels.into_iter().filter(|name| properties.contains_key(name)).collect();
        material.not_understood =
            Some(format!("MP with different {} (orthotropic)", labels.join(", ")));
    }
    material
}

/// Engineering constants, if there are all; minor ratios NUxy are those of y and x times EX / EY.
fn orthotropic(properties: &Properties, temperature: f64) -> Option<DeckConstants> {
    let value = |name: &str| properties.get(name).map(|property| property.at(temperature));
    let youngs_moduli = [value("EX")?, value("EY")?, value("EZ")?];
    let [x, y, z] = youngs_moduli;
    let ratio = |major, minor, share: f64| value(major).or_else(|| Some(value(minor)? * share));
    let poissons_ratios = [
        ratio("PRXY", "NUXY", x / y)?,
        ratio("PRXZ", "NUXZ", x / z)?,
        ratio("PRYZ", "NUYZ", y / z)?,
    ];
    let shear_moduli = [value("GXY")?, value("GXZ")?, value("GYZ")?];
    Some(DeckConstants::Engineering { youngs_moduli, poissons_ratios, shear_moduli })
}

/// Properties that depend on the temperature are taken at that of the part.
fn say_what_varies(number: u32, properties: &Properties, archive: &Archive, found: &mut Found) {
    let names: Vec<&str> =
        properties.iter().filter(|(_, property)| property.varies).map(|(name, _)| *name).collect();
    if !names.is_empty() {
        found.lose(format!(
            "material {number}: {} for other temperatures than {}, that of the part (TUNIF, else TREF)",
            names.join(", "),
            archive.temperature.of_part()
        ));
    }
}
