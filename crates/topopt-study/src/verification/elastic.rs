//! The proof of an elastic design: displacements and stresses.

use serde::{Deserialize, Serialize};
use topopt_case::config::Config;
use topopt_case::finding::{Finding, InputError};
use topopt_case::lookup::Lookup;
use topopt_case::unit_names::UnitNames;
use topopt_fem::{DIM, Elasticity};

use super::moved::Ground;
use super::shape::VOID;
use super::springs::MovedSprings;
use super::verified::Verified;
use crate::design_file::{DISPLACEMENT, DesignFile};
use crate::solved::{Displacement, Field, Fields, Restraint, Solved, SolvedCase, Stress};
use crate::solved_file::VON_MISES;

/// The largest displacement and stress of all load cases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LargestElastic {
    /// Nothing where the case does not say.
    #[serde(skip_deserializing)]
    pub units: Option<UnitNames>,
    /// Young's modulus of a void element, as a share of the solid's.
    pub void_stiffness: f64,
    /// The largest displacement of a solid element's node.
    pub largest_displacement: Displacement,
    /// The stress of von Mises at the centers of the solid elements.
    pub von_mises: Stress,
}

impl Verified<DIM> for Elasticity {
    type Overall = LargestElastic;

    fn void(_: &Config) -> f64 {
        VOID
    }

    fn move_restraints(
        ground: &Ground<DIM>,
        lookup: &Lookup,
        restraints: &mut [Restraint],
    ) -> Result<MovedSprings<DIM>, Finding> {
        let mut notes = ground.empty_supports(lookup)?;
        let MovedSprings { added, notes: of_springs } =
            ground.move_springs(lookup.config, restraints)?;
        notes.extend(of_springs);
        Ok(MovedSprings { added, notes })
    }

    fn overall(
        solved: &Solved<Self, DIM>,
        load_cases: &[SolvedCase],
        _: &DesignFile,
    ) -> Result<LargestElastic, InputError> {
        let displacements = load_cases.iter().map(|case| &case.largest_displacement);
        let largest = displacements.max_by(|a, b| a.value.total_cmp(&b.value)).cloned();
        let stresses = &solved.found;
        Ok(LargestElastic {
            units: UnitNames::of(solved.part.config),
            void_stiffness: VOID,
            largest_displacement: largest.unwrap_or_else(|| solved.displacement(0)),
            von_mises: solved.stress(&stresses.largest, |element| stresses.worst_case[element]),
        })
    }

    fn shown_fields(solved: &Solved<Self, DIM>) -> Fields {
        let (model, renumbering) = (solved.part.model, &solved.part.model.renumbering);
        let displacement = |(k, u): (usize, &Vec<f64>)| {
            let u = renumbering.nodes_to_original(u.as_chunks::<DIM>().0);
            Field::new(model, (DISPLACEMENT, k), u)
        };
        let stress = renumbering.elements_to_original(&solved.found.largest);
        let stress = Field { name: VON_MISES.into(), components: 1, values: stress };
        let points = solved.states.states.iter().enumerate().map(displacement).collect();
        let mut fields = Fields { points, cells: vec![stress] };
        (0..solved.states.states.len()).for_each(|k| fields.extend(solved.nodal_fields(k)));
        fields
    }
}
