//! A problem as a state equation knows it, on every rank.

use serde::{Deserialize, Serialize};
use topopt_linalg::Space;

use crate::restrained::restrained_energies;
use crate::{Coupling, ElementKernel, ElementVectors, InertiaRelief, Problem};

/// Data of a problem that a state equation needs besides operator and preconditioner. Every rank has one,
/// those after the first a [`RemoteProblem`], whose values are empty where the first has some.
pub trait ProblemView: Sync {
    /// The space of the unknowns, held ones included.
    fn unknowns(&self) -> Space;

    /// One number per element.
    fn elements(&self) -> Space;

    /// Terms of the equation, see [`ElementKernel::TERMS`].
    fn n_terms(&self) -> usize;

    /// Whether `component` of `node` is held, which pins of inertia relief do not count as; never
    /// where nothing but the first rank asks.
    fn is_held(&self, node: usize, component: usize) -> bool;

    /// Stiffness of the springs to the ground, `[n_nodes][n]`, if there are any.
    fn springs(&self) -> Option<&[f64]>;

    /// Couplings of nodes by films, if there are any.
    fn films(&self) -> Option<&[Coupling]>;

    /// Factors of the moduli, `[n_elements]`, if elements are of several materials.
    fn stiffness(&self) -> Option<&[f64]>;

    /// Factors of the mass, `[n_elements]`, likewise.
    fn mass(&self) -> Option<&[f64]>;

    /// The load cases.
    fn cases(&self) -> Vec<Acting<'_>>;

    /// q_e of the body force of load case `case`, see [`ElementVectors::of_body_force`].
    fn body_loads(&self, case: usize) -> ElementVectors;

    /// q_e of the thermal strains of load case `case`, see [`ElementVectors::of_thermal_strains`].
    fn thermal_loads(&self, case: usize) -> ElementVectors;

    /// Twice the energies at unit coefficient of elements that are held against these strains,
    /// `[n_elements]`.
    fn restrained_energies(&self, case: usize) -> Vec<f64>;

    /// q_e of the prescribed values of load case `case`, see [`ElementVectors::of_prescribed`].
    fn prescribed_loads(&self, case: usize) -> ElementVectors;

    /// Whether a part is free.
    fn has_relief(&self) -> bool;

    /// The inertia of a free part, if there is one, before a design is assembled.
    fn inertia_relief(&self) -> Option<InertiaRelief>;

    /// Sets the held components of `values`, `[n_nodes][n]` or none, to zero.
    fn clear_held(&self, values: &mut [f64]) {
        for (node, values) in values.chunks_mut(self.unknowns().unknowns).enumerate() {
            let held = values.iter_mut().enumerate().filter(|(i, _)| self.is_held(node, *i));
            held.for_each(|(_, value)| *value = 0.0);
        }
    }
}

/// A load case of a [`ProblemView`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Acting<'a> {
    /// Name of the load case.
    pub name: &'a str,
    /// Weight of its compliance in the objective, > 0.
    pub weight: f64,
    /// Nodal forces, `[n_nodes][n]`, zero at held unknowns, and not at pins; with what films bring
    /// from these.
    pub forces: &'a [f64],
    /// Whether the elements have weight.
    pub has_body_force: bool,
    /// Whether elements expand by changes of temperature.
    pub has_thermal_strain: bool,
    /// Values of the held unknowns, `[n_nodes][n]`, if any is not zero.
    pub prescribed: Option<&'a [f64]>,
}

impl<K: ElementKernel<N>, const N: usize> ProblemView for Problem<K, N> {
    fn unknowns(&self) -> Space {
        self.space()
    }

    fn elements(&self) -> Space {
        Space::elements(self.mesh().n_elements())
    }

    fn n_terms(&self) -> usize {
        K::TERMS
    }

    fn is_held(&self, node: usize, component: usize) -> bool {
        self.held().is_fixed(node, component)
    }

    fn springs(&self) -> Option<&[f64]> {
        self.constraints().springs()
    }

    fn films(&self) -> Option<&[Coupling]> {
        Some(self.constraints().films()).filter(|films| !films.is_empty())
    }

    fn stiffness(&self) -> Option<&[f64]> {
        self.factors().stiffness.as_deref()
    }

    fn mass(&self) -> Option<&[f64]> {
        self.factors().mass.as_deref()
    }

    fn cases(&self) -> Vec<Acting<'_>> {
        let cases = self.load_cases().iter().enumerate();
        let acting = cases.map(|(k, case)| Acting {
            name: &case.name,
            weight: case.weight,
            forces: self.forces(k),
            has_body_force: !case.body_force.is_zero(),
            has_thermal_strain: case.thermal.is_some(),
            prescribed: case.prescribed.as_deref(),
        });
        acting.collect()
    }

    fn body_loads(&self, case: usize) -> ElementVectors {
        ElementVectors::of_body_force(self, &self.load_cases()[case].body_force)
    }

    fn thermal_loads(&self, case: usize) -> ElementVectors {
        let loads = |strains| ElementVectors::of_thermal_strains(self, strains);
        let none = || ElementVectors::without_values(self.mesh().n_elements());
        self.load_cases()[case].thermal.as_ref().map_or_else(none, loads)
    }

    fn restrained_energies(&self, case: usize) -> Vec<f64> {
        let strains = self.load_cases()[case].thermal.as_ref();
        strains.map_or_else(Vec::new, |strains| restrained_energies(self, strains))
    }

    fn prescribed_loads(&self, case: usize) -> ElementVectors {
        let moved = self.load_cases()[case].prescribed.as_deref();
        ElementVectors::of_prescribed(self, moved.unwrap_or_default())
    }

    fn has_relief(&self) -> bool {
        self.free_part().is_some()
    }

    fn inertia_relief(&self) -> Option<InertiaRelief> {
        Problem::inertia_relief(self)
    }
}

/// Sizes and flags of a problem whose values only the first rank has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RemoteProblem {
    n_nodes: usize,
    unknowns_per_node: usize,
    n_elements: usize,
    n_terms: usize,
    has_springs: bool,
    has_films: bool,
    has_stiffness: bool,
    has_mass: bool,
    has_relief: bool,
    cases: Vec<RemoteCase>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct RemoteCase {
    name: String,
    weight: f64,
    has_body_force: bool,
    has_thermal_strain: bool,
    is_moved: bool,
}

impl RemoteProblem {
    /// Takes sizes and flags from `problem`.
    pub fn of(problem: &dyn ProblemView) -> Self {
        let cases = problem.cases().into_iter().map(|case| RemoteCase {
            name: case.name.into(),
            weight: case.weight,
            has_body_force: case.has_body_force,
            has_thermal_strain: case.has_thermal_strain,
            is_moved: case.prescribed.is_some(),
        });
        Self {
            n_nodes: problem.unknowns().points,
            unknowns_per_node: problem.unknowns().unknowns,
            n_elements: problem.elements().points,
            n_terms: problem.n_terms(),
            has_springs: problem.springs().is_some(),
            has_films: problem.films().is_some(),
            has_stiffness: problem.stiffness().is_some(),
            has_mass: problem.mass().is_some(),
            has_relief: problem.has_relief(),
            cases: cases.collect(),
        }
    }
}

/// No values, where the first rank has some.
fn values(are_there: bool) -> Option<&'static [f64]> {
    are_there.then_some(&[])
}

impl ProblemView for RemoteProblem {
    fn unknowns(&self) -> Space {
        Space::nodes(self.n_nodes, self.unknowns_per_node)
    }

    fn elements(&self) -> Space {
        Space::elements(self.n_elements)
    }

    fn n_terms(&self) -> usize {
        self.n_terms
    }

    fn is_held(&self, _: usize, _: usize) -> bool {
        false
    }

    fn springs(&self) -> Option<&[f64]> {
        values(self.has_springs)
    }

    fn films(&self) -> Option<&[Coupling]> {
        self.has_films.then_some(&[])
    }

    fn stiffness(&self) -> Option<&[f64]> {
        values(self.has_stiffness)
    }

    fn mass(&self) -> Option<&[f64]> {
        values(self.has_mass)
    }

    fn cases(&self) -> Vec<Acting<'_>> {
        let acting = self.cases.iter().map(|case| Acting {
            name: &case.name,
            weight: case.weight,
            forces: &[],
            has_body_force: case.has_body_force,
            has_thermal_strain: case.has_thermal_strain,
            prescribed: values(case.is_moved),
        });
        acting.collect()
    }

    fn body_loads(&self, _: usize) -> ElementVectors {
        ElementVectors::without_values(self.n_elements)
    }

    fn thermal_loads(&self, _: usize) -> ElementVectors {
        ElementVectors::without_values(self.n_elements)
    }

    fn restrained_energies(&self, _: usize) -> Vec<f64> {
        Vec::new()
    }

    fn has_relief(&self) -> bool {
        self.has_relief
    }

    fn inertia_relief(&self) -> Option<InertiaRelief> {
        self.has_relief.then(|| InertiaRelief::without_values(self.n_elements))
    }

    fn prescribed_loads(&self, _: usize) -> ElementVectors {
        ElementVectors::without_values(self.n_elements)
    }
}
