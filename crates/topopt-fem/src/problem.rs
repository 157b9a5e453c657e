//! An equation with what is held and loads, such as a structure: checked when made, then trusted.

mod relieved;

use std::ops::Deref;

use rayon::prelude::*;
use serde::Serialize;
use topopt_mesh::{Components, HexMesh};

use crate::{
    BodyForce, Constraints, DIM, Discretization, Elasticity, ElementKernel, FreePart, Material,
    Supports, ThermalStrains, add_film_flows,
};

/// Forces and prescribed displacements that act together; for heat, heat flows and temperatures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LoadCase<const N: usize = DIM> {
    /// Name, for messages and histories.
    pub name: String,
    /// Weight of its compliance in the objective, > 0.
    pub weight: f64,
    /// Nodal forces, `[n_nodes][N]`.
    pub forces: Vec<f64>,
    /// Force per volume of solid material, as gravity and rotation make it.
    pub body_force: BodyForce<N>,
    /// Values of the held unknowns, `[n_nodes][N]`; none where all are held at zero.
    pub prescribed: Option<Vec<f64>>,
    /// Strains by changes of temperature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thermal: Option<ThermalStrains>,
}

impl<const N: usize> LoadCase<N> {
    /// Nodal forces alone, `[n_nodes][N]`, of weight 1.
    pub fn new(name: impl Into<String>, forces: Vec<f64>) -> Self {
        let body_force = BodyForce::ZERO;
        Self { name: name.into(), weight: 1.0, forces, body_force, prescribed: None, thermal: None }
    }
}

/// An equation that can be solved, by default a linear-elastic structure: every part is held
/// against motions without energy, and every load case does work. It is used as the
/// [`Discretization`] that it holds.
///
/// It can be serialized, with all that it holds except the mesh, so that a checksum misses nothing.
#[derive(Debug, Clone, Serialize)]
pub struct Problem<K = Elasticity, const N: usize = DIM> {
    discretization: Discretization<K, N>,
    load_cases: Vec<LoadCase<N>>,
    factors: ElementFactors,
    /// The forces of each load case with what films bring from nodes of prescribed values, where
    /// they bring something.
    acting: Vec<Option<Vec<f64>>>,
    relief: Option<Relieved<N>>,
}

/// A free part that is balanced by its inertia.
#[derive(Debug, Clone, Serialize)]
struct Relieved<const N: usize> {
    part: FreePart,
    /// The constraints without the pins.
    held: Constraints<N>,
}

/// Properties of the elements in multiples of those of the material of a [`Problem`], `[n_elements]`
/// each; none where all elements are of that material.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ElementFactors {
    /// Factor of the modulus per element, > 0.
    pub stiffness: Option<Vec<f64>>,
    /// Factor of the mass that body forces act on, per element, > 0.
    pub mass: Option<Vec<f64>>,
}

impl<K, const N: usize> Deref for Problem<K, N> {
    type Target = Discretization<K, N>;

    fn deref(&self) -> &Self::Target {
        &self.discretization
    }
}

/// Why mesh, supports and loads do not make a [`Problem`].
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ProblemError {
    /// Nothing is held.
    #[error("no node is supported: the structure is not held; add a support or springs")]
    NoSupport,
    /// A spring that pulls away, or none at all.
    #[error("the stiffness of a spring is negative or not a finite number")]
    BadSpring,
    /// A part can move without strain.
    #[error(
        "the supports leave {} rigid motion{} free: {}{}; hold more components or more nodes",
        motions.len(),
        if motions.len() == 1 { "" } else { "s" },
        motions.join(", "),
        part_of(*part, *parts)
    )]
    RigidMotion {
        /// The free motions, in words.
        motions: Vec<String>,
        /// Number of the connected part, from 0.
        part: usize,
        /// Number of parts of the mesh.
        parts: usize,
    },
    /// Inertia relief of several parts.
    #[error(
        "{} of {parts} parts of the mesh are free, the parts {}, and inertia relief balances one; \
         join parts that belong together, or hold all but one",
        free.len(),
        free.iter().map(|part| (part + 1).to_string()).collect::<Vec<_>>().join(" and ")
    )]
    FreeParts {
        /// Numbers of the free parts, from 0.
        free: Vec<usize>,
        /// Number of parts of the mesh.
        parts: usize,
    },
    /// A load case that only accelerates a free part.
    #[error(
        "load case `{name}` accelerates the free part as a whole and does not deform it, as uniform \
         gravity does; give a force that it has to carry"
    )]
    FreeFall {
        /// Name of the load case.
        name: String,
    },
    /// No load case at all.
    #[error("there is no load; add one")]
    NoLoad,
    /// A load case without a force on a free component or a displacement of a held one.
    #[error(
        "load case `{name}` is zero on every free node: no force, or all of it on supported \
         components; give a force that the structure has to carry"
    )]
    ZeroLoad {
        /// Name of the load case.
        name: String,
    },
    /// Factors of elements that are not usable numbers, or not one for each element.
    #[error(
        "a factor of the stiffness or mass of an element is not a finite number above 0, or there \
         is not one for each element"
    )]
    BadFactor,
    /// A force, displacement, temperature or weight that is not a usable number.
    #[error(
        "load case `{name}` has a force, displacement, temperature or weight that is not a finite \
         number, or a weight <= 0"
    )]
    BadLoad {
        /// Name of the load case.
        name: String,
    },
}

fn part_of(part: usize, parts: usize) -> String {
    if parts == 1 { String::new() } else { format!(" (part {} of {parts} of the mesh)", part + 1) }
}

impl Problem {
    /// The structure of `material` on `mesh`, see [`Problem::of`].
    ///
    /// # Errors
    /// [`ProblemError`].
    pub fn new(
        mesh: HexMesh,
        material: Material,
        supports: Supports,
        load_cases: Vec<LoadCase>,
    ) -> Result<Self, ProblemError> {
        Self::of(Discretization::new(mesh, Elasticity::new(&material), supports), load_cases)
    }

    /// The material.
    pub fn material(&self) -> &Material {
        self.kernel().material()
    }

    /// The supports, without pins of inertia relief.
    pub fn supports(&self) -> &Supports {
        self.held()
    }
}

impl<K: ElementKernel<N>, const N: usize> Problem<K, N> {
    /// Checks everything that [`Problem`] promises. Forces and springs on held unknowns are
    /// dropped, and prescribed values of free ones.
    ///
    /// # Errors
    /// [`ProblemError`].
    pub fn of(
        discretization: Discretization<K, N>,
        load_cases: Vec<LoadCase<N>>,
    ) -> Result<Self, ProblemError> {
        check_held(&discretization)?;
        let problem = Self::evolving(discretization, load_cases)?;
        problem.check_loaded()?;
        Ok(problem)
    }

    fn check_loaded(&self) -> Result<(), ProblemError> {
        if self.load_cases.is_empty() {
            return Err(ProblemError::NoLoad);
        }
        match self.load_cases.iter().find(|case| !does_work(case, self.constraints())) {
            Some(case) => Err(ProblemError::ZeroLoad { name: case.name.clone() }),
            None => Ok(()),
        }
    }

    /// Checks a problem of an equation that is solved by steps in time: in contrast to
    /// [`Problem::of`], nothing need be held or loaded.
    ///
    /// # Errors
    /// [`ProblemError`].
    pub fn evolving(
        discretization: Discretization<K, N>,
        mut load_cases: Vec<LoadCase<N>>,
    ) -> Result<Self, ProblemError> {
        let (mesh, held) = (discretization.mesh(), discretization.constraints());
        for case in &mut load_cases {
            let thermal = case.thermal.as_ref();
            let has_strains = thermal.is_none_or(|strains| strains.is_usable(mesh.n_elements()));
            if !has_strains || !is_usable(case, N * mesh.n_nodes()) {
                return Err(ProblemError::BadLoad { name: case.name.clone() });
            }
            held.clear(&mut case.forces);
            case.prescribed.iter_mut().for_each(|u| held.clear_free(u));
            case.prescribed.take_if(|u| u.iter().all(|&u| u == 0.0));
            case.thermal.take_if(|strains| strains.elements().is_empty());
        }
        let acting = load_cases.iter().map(|case| with_films(case, held)).collect();
        let factors = ElementFactors::default();
        Ok(Self { discretization, load_cases, factors, acting, relief: None })
    }

    /// Elements of several materials. All have Poisson's ratio of the problem's material.
    ///
    /// # Errors
    /// [`ProblemError::BadFactor`].
    pub fn with_factors(self, factors: ElementFactors) -> Result<Self, ProblemError> {
        let n = self.mesh().n_elements();
        let is_usable = |values: &Vec<f64>| {
            values.len() == n && values.par_iter().all(|&v| v.is_finite() && v > 0.0)
        };
        let ElementFactors { stiffness, mass } = &factors;
        if [stiffness, mass].into_iter().flatten().all(is_usable) {
            return Ok(Self { factors, ..self });
        }
        Err(ProblemError::BadFactor)
    }

    /// Elements that stay empty and so hold nothing together: a hint for preconditioners.
    pub fn with_void(self, void: Vec<u32>) -> Self {
        Self { discretization: self.discretization.with_void(void), ..self }
    }

    /// The load cases; forces are zero at held unknowns.
    pub fn load_cases(&self) -> &[LoadCase<N>] {
        &self.load_cases
    }

    /// The forces of load case `case` at free unknowns with what films bring from held ones.
    pub(crate) fn forces(&self, case: usize) -> &[f64] {
        self.acting[case].as_deref().unwrap_or(&self.load_cases[case].forces)
    }

    /// Constraints without pins of inertia relief.
    pub fn held(&self) -> &Constraints<N> {
        self.relief.as_ref().map_or(self.constraints(), |relief| &relief.held)
    }

    /// The free part that is balanced by its inertia, if there is one.
    pub fn free_part(&self) -> Option<&FreePart> {
        self.relief.as_ref().map(|relief| &relief.part)
    }

    /// The materials of the elements.
    pub fn factors(&self) -> &ElementFactors {
        &self.factors
    }
}

/// Forces of `case` with what films bring from its prescribed values, if they bring something.
fn with_films<const N: usize>(case: &LoadCase<N>, held: &Constraints<N>) -> Option<Vec<f64>> {
    let prescribed = case.prescribed.as_ref().filter(|_| !held.films().is_empty())?;
    let mut flows = vec![0.0; prescribed.len()];
    add_film_flows(held.films(), prescribed, &mut flows);
    held.clear(&mut flows);
    Some(case.forces.iter().zip(flows).map(|(force, flow)| force - flow).collect())
}

fn is_usable<const N: usize>(case: &LoadCase<N>, n_dofs: usize) -> bool {
    let mut nodal = [Some(&case.forces), case.prescribed.as_ref()].into_iter().flatten();
    nodal.all(|values| values.len() == n_dofs && values.par_iter().all(|v| v.is_finite()))
        && case.body_force.is_finite()
        && case.weight.is_finite()
        && case.weight > 0.0
}

fn does_work<const N: usize>(case: &LoadCase<N>, held: &Constraints<N>) -> bool {
    let is_free = |i: usize| (0..held.n_nodes()).any(|node| !held.is_fixed(node, i));
    case.prescribed.is_some()
        || case.thermal.is_some()
        || case.forces.par_iter().any(|&f| f != 0.0)
        || (0..N).any(|i| !case.body_force.is_zero_along(i) && is_free(i))
}

fn check_held<K: ElementKernel<N>, const N: usize>(
    discretization: &Discretization<K, N>,
) -> Result<(), ProblemError> {
    let (mesh, held) = (discretization.mesh(), discretization.constraints());
    check_springs(held)?;

    let nothing = held.n_fixed() == 0 && held.springs().is_none();
    let parts = Components::of(mesh).nodes_by_component();
    for (part, nodes) in parts.iter().enumerate() {
        let motions = discretization.kernel().free_motions(held, mesh, nodes);
        if !motions.is_empty() && nothing {
            return Err(ProblemError::NoSupport);
        }
        if !motions.is_empty() {
            return Err(ProblemError::RigidMotion { motions, part, parts: parts.len() });
        }
    }
    Ok(())
}

fn check_springs<const N: usize>(held: &Constraints<N>) -> Result<(), ProblemError> {
    if held.springs().is_some_and(|s| s.iter().any(|s| !s.is_finite() || *s < 0.0)) {
        return Err(ProblemError::BadSpring);
    }
    Ok(())
}
