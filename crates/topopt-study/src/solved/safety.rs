//! Safety factors: yield strengths of the materials over the largest stresses.

use serde::{Deserialize, Serialize};
use topopt_fem::{DIM, Elasticity};

use super::ductile::Ductile;
use super::part::Solved;

/// The smallest safety factor of a material: yield strength / stress of von Mises.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Safety {
    /// Element set of the material; none for `[material]`.
    pub set: Option<String>,
    /// Yield strength of the material (force per area).
    pub yield_strength: f64,
    /// The factor.
    pub factor: f64,
    /// Number of the element that has it.
    pub element: u64,
    /// Place of the stress.
    pub at: [f64; 3],
    /// Load case of the stress.
    pub load_case: String,
}

impl Safety {
    /// Name of the material.
    pub fn material(&self) -> String {
        self.set.as_ref().map_or("[material]".into(), |set| format!("set `{set}`"))
    }

    /// The smallest factor of each material in several load cases.
    pub fn smallest<'a>(cases: impl IntoIterator<Item = &'a [Self]>) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for safety in cases.into_iter().flatten() {
            match all.iter_mut().find(|other| other.set == safety.set) {
                Some(other) if safety.factor < other.factor => *other = safety.clone(),
                Some(_) => {}
                None => all.push(safety.clone()),
            }
        }
        all
    }
}

impl Solved<'_, Elasticity, DIM> {
    /// The safety factors in load case `case`; `stress` gives the stress of von Mises in an element, by
    /// its numbers in the problem and as the user numbers it, and the place of that stress.
    pub fn safety(&self, case: usize, stress: impl Fn(u32, u32) -> (f64, [f64; 3])) -> Vec<Safety> {
        let new_element = self.part.model.renumbering.new_elements();
        let of_material = |material: &Ductile| {
            let elements = material.elements.iter().map(|&e| (new_element[e as usize], e));
            let counted = elements.filter(|(e, _)| self.counts(*e as usize));
            let stressed = counted.map(|(e, original)| (stress(e, original), e));
            let ((largest, at), element) =
                stressed.max_by(|(a, _), (b, _)| a.0.total_cmp(&b.0)).filter(|(s, _)| s.0 > 0.0)?;
            Some(Safety {
                set: material.set.clone(),
                yield_strength: material.yield_strength,
                factor: material.yield_strength / largest,
                element: self.place(element).0,
                at,
                load_case: self.part.model.problem.load_cases()[case].name.clone(),
            })
        };
        self.part.given.ductile.iter().filter_map(of_material).collect()
    }

    /// The safety factors in load case `case` by the stresses at the centers of the elements.
    pub fn safety_at_centers(&self, case: usize) -> Vec<Safety> {
        let von_mises = &self.found.von_mises[case];
        self.safety(case, |element, _| (von_mises[element as usize], self.place(element).1))
    }
}
