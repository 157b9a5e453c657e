//! Numbers that do not look like the units they are in.

use std::path::Path;

use topopt_mesh::numbers::{rounded, shown};
use topopt_mesh::vector::length;

use crate::config::{Config, Support, Units};
use crate::materials::MaterialShare;
use crate::model::Model;

/// Returns doubts about the units of a case, a sentence each.
pub fn doubts(config: &Config, model: &Model) -> Vec<String> {
    let modulus = model.materials.iter().find_map(|m| doubtful_modulus(config, model, m));
    let strain = if modulus.is_none() { large_strain(config, model) } else { None };
    let rotations = config.supports.iter().filter_map(large_rotation);
    modulus.into_iter().chain(strain).chain(rotations).collect()
}

/// Largest angle of a rotation that counts as small, an eighth of a right one.
const SMALL: f64 = 0.2;

/// Doubts a rotation beyond small ones, whose displacements are w x r.
fn large_rotation(support: &Support) -> Option<String> {
    let angle = length(*support.rotation.as_ref()?.get_ref());
    (angle > SMALL).then(|| {
        format!(
            "the set `{}` is turned by {} radians, which is no small rotation: nodes move along \
             straight lines; {} degrees would be {}",
            support.set.get_ref(),
            shown(angle),
            shown(angle),
            shown(rounded(angle.to_radians()))
        )
    })
}

/// Young's moduli of solids in pascals, from soft rubber to diamond.
const MODULI: std::ops::RangeInclusive<f64> = 1e5..=1.3e12;

/// Extent beyond which a part without units is taken to be in millimeters rather than meters.
const MILLIMETERS: f64 = 20.0;

fn doubtful_modulus(config: &Config, model: &Model, material: &MaterialShare) -> Option<String> {
    let modulus = material.coefficient().least;
    let is_step = config.inputs().iter().any(|path| is_step(path));
    let extent = model.mesh.bounding_box().extent().into_iter().fold(0.0, f64::max);

    let (units, reason) = match config.units {
        Some(units) => (units, "by [units]"),
        None if is_step => (Units::MM_N, "as the STEP file is read in mm"),
        // A modulus of order 1 is a case without units.
        None if modulus >= 1e9 && extent > MILLIMETERS => {
            (Units::MM_N, "if the mesh is in mm, as its size suggests")
        }
        None => return None,
    };

    let pascals = modulus * units.pascals();
    let is_unitless = config.units.is_none() && modulus <= 1.0;
    if MODULI.contains(&pascals) || is_unitless {
        return None;
    }

    let than = if pascals > *MODULI.end() {
        "more than that of diamond"
    } else {
        "less than that of rubber"
    };

    let unit = units.stress();
    let meant = [("Pa", 1.0), ("MPa", 1e6), ("GPa", 1e9)]
        .into_iter()
        .find(|(_, factor)| (1e8..=1.3e12).contains(&(modulus * factor)))
        .map(|(name, factor)| {
            let right = rounded(modulus * factor / units.pascals());
            format!("; if {modulus:e} is in {name}, give {right:e}")
        });

    let of_set = material.set.as_ref().map_or(String::new(), |set| format!(" of set `{set}`"));
    Some(format!(
        "Young's modulus{of_set} is {modulus:e} {unit}, {reason}: {:e} Pa, {than}{}",
        rounded(pascals),
        meant.unwrap_or_default()
    ))
}

/// Whether a file states its unit, and is converted.
fn is_step(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    ["step", "stp", "iges", "igs"].iter().any(|step| extension == *step)
}

/// Doubts forces that would strain a cube of the part's volume by more than a tenth.
fn large_strain(config: &Config, model: &Model) -> Option<String> {
    const LARGE: f64 = 0.1;
    let modulus = model.materials.iter().map(|m| m.coefficient().most).fold(0.0, f64::max);
    if config.units.is_none() && modulus <= 1.0 {
        return None;
    }

    let area = model.space.volumes.iter().sum::<f64>().powf(2.0 / 3.0);
    model.problem.load_cases().iter().find_map(|case| {
        let forces = case.forces.as_chunks::<3>().0;
        let total: f64 = forces.iter().map(|f| f.iter().map(|x| x * x).sum::<f64>().sqrt()).sum();
        let strain = total / (modulus * area);
        (strain > LARGE).then(|| {
            format!(
                "load case `{}`: forces of {} on a part of {} across with Young's modulus \
                 {modulus:e} give strains of about {}, far beyond small displacements: check the \
                 units of force, length and Young's modulus",
                case.name,
                rounded(total),
                rounded(area.sqrt()),
                format_args!("{strain:.1e}")
            )
        })
    })
}
