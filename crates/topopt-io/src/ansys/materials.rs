//! The materials of the solids.

use std::collections::BTreeMap;

use super::archive::{Archive, Element, Property};
use crate::deck::{Deck, DeckMaterial};
use crate::part::FileSets;

/// Values of directions that differ by less than this are one.
const EQUAL: f64 = 1e-6;

/// Properties of one material by their labels.
type Properties = BTreeMap<&'static str, Property>;

/// Adds the materials; each with an element set of its own if there are several.
pub(super) fn add(archive: &Archive, solids: &[Element], sets: &mut FileSets, deck: &mut Deck) {
    let mut members = BTreeMap::<u32, Vec<u32>>::new();
    for (given, solid) in (0..).zip(solids) {
        members.entry(solid.material).or_default().push(given);
    }
    let several = members.len() > 1;
    for (number, given) in members {
        let set = several.then(|| format!("MAT_{number}"));
        if let Some(set) = &set {
            sets.elements.insert(set.clone(), given);
        }
        let behaviors = archive.behaviors.get(&number);
        let Some(properties) = archive.materials.get(&number) else {
            let not_understood = behaviors.map(|behaviors| behaviors.join(", "));
            if not_understood.is_some() {
                let name = number.to_string();
                deck.materials.push(DeckMaterial {
                    name,
                    set,
                    not_understood,
                    ..Default::default()
                });
            }
            continue;
        };

        let mut material = of_properties(properties, archive.temperature.of_part());
        (material.name, material.set) = (number.to_string(), set);
        if material.conductivity.len() > 1 && archive.has_element_systems {
            material.conductivity.clear();
            material.not_understood =
                Some("MP,KXX, KYY, KZZ along systems of elements (ESYS)".into());
        }
        if let Some(behaviors) = behaviors {
            let behaviors = behaviors.join(", ");
            match material.youngs_modulus.is_some() && material.not_understood.is_none() {
                true => deck.lost.push(format!(
                    "material {number}: {behaviors}; the material is linear and isotropic here"
                )),
                false => material.not_understood = Some(behaviors),
            }
        }
        say_what_varies(number, properties, archive, deck);
        deck.materials.push(material);
    }
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
    } else {
        let labels = ["EX", "EY", "EZ", "GXY", "GYZ", "GXZ"];
        let labels: Vec<&str> =
            labels.into_iter().filter(|name| properties.contains_key(name)).collect();
        material.not_understood =
            Some(format!("MP with different {} (orthotropic)", labels.join(", ")));
    }
    material
}

/// Properties that depend on the temperature are taken at that of the part.
fn say_what_varies(number: u32, properties: &Properties, archive: &Archive, deck: &mut Deck) {
    let names: Vec<&str> =
        properties.iter().filter(|(_, property)| property.varies).map(|(name, _)| *name).collect();
    if !names.is_empty() {
        deck.lost.push(format!(
            "material {number}: {} for other temperatures than {}, that of the part (TUNIF, else TREF)",
            names.join(", "),
            archive.temperature.of_part()
        ));
    }
}
