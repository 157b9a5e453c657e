//! Candidate materials of a case: in the design, and as materials of what is built.

use std::borrow::Cow;

use toml::Spanned;
use topopt_design::{Candidate, Candidates};
use topopt_mesh::numbers::shown;

use crate::case::Case;
use crate::config::{self, Config, Property, SetMaterial, number};

/// The candidates of `config` as shares of its `[material]`.
pub(crate) fn of(config: &Config) -> Candidates {
    let solid = number(config.material.mass_density.as_ref()).unwrap_or(1.0);
    let all = config.candidates.iter().filter_map(|candidate| {
        let [modulus, mass] = candidate.numbers()?;
        let stiffness = modulus / config.material.youngs_modulus;
        Some(Candidate { mass: mass / solid, stiffness })
    });
    Candidates::new(all.collect())
}

/// The candidates of `config` by increasing mass, with their numbers.
fn by_mass(config: &Config) -> Vec<(u8, config::Candidate)> {
    let mass = |candidate: &config::Candidate| candidate.numbers().map_or(0.0, |[_, mass]| mass);
    let mut all = config.candidates.clone();
    all.sort_by(|a, b| mass(a).total_cmp(&mass(b)));
    (1..).zip(all).collect()
}

/// Sentence on the materials that a design may be of, with the numbers that it gives them; none
/// where there is one alone.
pub(crate) fn note(config: &Config) -> Option<String> {
    let all = by_mass(config);
    let names = all.iter().filter_map(|(number, candidate)| {
        let [modulus, mass] = candidate.numbers()?.map(shown);
        Some(format!("candidate {number} (modulus {modulus}, mass density {mass})"))
    });
    let names: Vec<String> = names.collect();
    let ratio = shown(config.material.poissons_ratio);
    (!all.is_empty()).then(|| {
        format!(
            "elements may be of {}, or of [material], which is number {} of the array `material` \
             in design.vtu; until `topopt verify` all have Poisson's ratio {ratio}",
            names.join(", "),
            all.len() + 1
        )
    })
}

/// Turns the `chosen` materials of the elements, by [`topopt_design::Made::material`], into
/// materials of element sets, in the order of the mesh file. Elements that are filled by less than
/// half are of the lightest one.
pub fn placed<'c, const N: usize>(
    config: &'c Config,
    case: &mut Case<N>,
    chosen: &[u8],
) -> Cow<'c, Config> {
    if config.candidates.is_empty() || chosen.len() != case.mesh.n_elements() {
        return Cow::Borrowed(config);
    }
    let mut of_built = config.clone();
    of_built.candidates.clear();
    for (number, candidate) in by_mass(config) {
        let is_of = |&(_, chosen): &(u32, &u8)| (*chosen).max(1) == number;
        let elements: Vec<u32> = (0..).zip(chosen).filter(is_of).map(|(e, _)| e).collect();
        let set = format!("candidate {number}");
        of_built.materials.push(of_set(&candidate, set.clone()));
        case.sets.elements.insert(set, elements.clone());
        case.materials.push(elements);
    }
    Cow::Owned(of_built)
}

/// The material of the elements of a `set` that are of a candidate.
fn of_set(candidate: &config::Candidate, set: String) -> SetMaterial {
    let number = |value: &Spanned<f64>| Spanned::new(0..0, Property::Number(*value.get_ref()));
    SetMaterial {
        set: Spanned::new(0..0, set),
        name: candidate.name.clone(),
        youngs_modulus: candidate.youngs_modulus,
        poissons_ratio: candidate.poissons_ratio.map(|ratio| Spanned::new(0..0, ratio)),
        mass_density: candidate.mass_density.as_ref().map(number),
        yield_strength: candidate.yield_strength,
        thermal_expansion: None,
        conductivity: None,
        heat_capacity: None,
        anisotropic: None,
        layered: None,
        orthotropic: None,
    }
}
