//! Linear elasticity: displacements, forces, springs.

use topopt_fem::{BodyForce, DIM, Elasticity, ElementData, Laws, Material, ThermalStrains};
use topopt_mesh::Renumbering;
use topopt_mesh::numbers::shown;

use super::{Conditions, Names, Physics};
use crate::candidates;
use crate::case_loads::CaseLoads;
use crate::config::{Config, Interpolation, SetMaterial};
use crate::expansions::thermal_strains;
use crate::fields::Fields;
use crate::finding::Finding;
use crate::laws::laws;
use crate::lookup::Lookup;
use crate::materials;
use crate::nodal_loads::NodalLoad;

impl Physics<DIM> for Elasticity {
    const NAMES: Names = Names {
        state: "displacement",
        load: "force",
        loads: "forces",
        energy: "strain_energy",
        sprung: "supported",
    };

    fn of(config: &Config) -> Result<Self, Finding> {
        let (youngs_modulus, poissons_ratio) =
            (config.material.modulus(), config.material.poissons_ratio);
        let material = Material::new(youngs_modulus, poissons_ratio).ok_or_else(|| {
            let [modulus, ratio] = [youngs_modulus, poissons_ratio].map(shown);
            Finding::new(format!(
                "no material has Young's modulus {modulus} and Poisson's ratio {ratio}"
            ))
        })?;
        let elements = config.elements.unwrap_or_default();
        Ok(Self::new(&material).with(elements.kind.into()))
    }

    fn coefficient(config: &Config) -> f64 {
        config.material.modulus()
    }

    fn coefficient_of(material: &SetMaterial) -> Option<f64> {
        material.modulus()
    }

    fn element_data(
        config: &Config,
        (materials, _): (&[Vec<u32>], &Fields),
        renumbering: &Renumbering,
    ) -> Result<ElementData, Finding> {
        let Some((laws, numbers)) = laws(config, materials, renumbering.new_elements().len())?
        else {
            return Ok(ElementData::default());
        };
        let laws = Laws::new(laws, renumbering.elements_from_original(&numbers));
        Ok(ElementData { laws: Some(laws), ..ElementData::default() })
    }

    fn conditions(lookup: &Lookup, findings: &mut Vec<Finding>) -> Conditions<DIM> {
        let fixed = lookup.fixed(findings);
        let springs = lookup.springs(findings);
        Conditions { fixed, springs, films: Vec::new(), load_cases: lookup.load_cases(findings) }
    }

    fn nodal_loads(lookup: &Lookup) -> Vec<NodalLoad> {
        lookup.nodal_loads()
    }

    fn incomplete_materials(
        lookup: &Lookup,
        cases: &[CaseLoads],
        sets: &[Vec<u32>],
    ) -> Vec<Finding> {
        let is_heavy = cases.iter().any(|case| !case.acceleration().is_zero());
        let massless = lookup.massless(is_heavy, sets).into_iter();
        massless.chain(lookup.unexpanded(cases, sets)).collect()
    }

    fn idle_loads(lookup: &Lookup, fixed: &[Vec<u32>; DIM], cases: &[CaseLoads]) -> Vec<Finding> {
        lookup.idle_loads(fixed, cases)
    }

    fn body_force(config: &Config, load: &CaseLoads) -> BodyForce {
        load.acceleration().scaled(materials::reference_density(config))
    }

    fn thermal_strains(
        config: &Config,
        materials: &[Vec<u32>],
        load: &CaseLoads,
        renumbering: &Renumbering,
    ) -> Result<Option<ThermalStrains>, Finding> {
        thermal_strains(config, materials, load, renumbering)
    }

    fn notes(config: &Config, cases: &[CaseLoads]) -> Vec<String> {
        let notes = sagging(config, cases).into_iter().chain(shrinking(config));
        notes.chain(candidates::note(config)).collect()
    }
}

/// Gravity, rotation or inertia with SIMP material, whose stiffness falls faster than its weight.
fn sagging(config: &Config, cases: &[CaseLoads]) -> Option<String> {
    let is_heavy = cases.iter().any(|load| !load.acceleration().is_zero());
    let is_weight = cases.iter().any(|load| load.gravity != [0.0; 3]);
    let (load, force) = match is_weight {
        true => ("gravity", "weight"),
        false if is_heavy => ("rotation", "centrifugal force"),
        false => ("inertia relief", "inertia"),
    };
    ((is_heavy || config.inertia_relief) && config.design.interpolation == Interpolation::Simp)
        .then(|| {
            format!(
                "{load} with `design.interpolation = \"simp\"`: thin material sags without limit \
             under its own {force}, which misleads the optimizer; \"ramp\" avoids that"
            )
        })
}

/// The least compliance under temperatures, whose forces are the less the less material there is.
fn shrinking(config: &Config) -> Option<String> {
    let is_designed = config.design.volume_fraction.is_some();
    (is_designed && config.has_temperatures() && config.minimizes_compliance()).then(|| {
        "the compliance counts the work of thermal forces, which less material has less of; where \
         these are much, minimize a displacement in its place"
            .into()
    })
}
