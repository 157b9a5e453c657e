//! A structure with material, supports and loads: checked when made, then trusted.

use std::ops::Deref;

use topopt_mesh::{Components, HexMesh};

use crate::{DIM, Discretization, Elasticity, Material, Supports};

/// Forces and displacements that act together.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadCase {
    /// Name, for messages and histories.
    pub name: String,
    /// Weight of its compliance in the objective, > 0.
    pub weight: f64,
    /// Nodal forces, \[n_nodes\]\[3\].
    pub forces: Vec<f64>,
    /// Force per volume of solid material, as gravity makes it; an element of density rho carries
    /// rho times as much.
    pub body_force: [f64; DIM],
    /// Displacements of the held components, \[n_nodes\]\[3\]; none where all are held at zero.
    pub prescribed: Option<Vec<f64>>,
}

impl LoadCase {
    /// Nodal forces alone, \[n_nodes\]\[3\], of weight 1.
    pub fn new(name: impl Into<String>, forces: Vec<f64>) -> Self {
        Self { name: name.into(), weight: 1.0, forces, body_force: [0.0; DIM], prescribed: None }
    }
}

/// A linear-elastic structure that can be solved: every part is held against rigid motion and
/// every load case does work. It is used as the [`Discretization`] that it holds.
#[derive(Debug, Clone)]
pub struct Problem {
    discretization: Discretization<Elasticity, DIM>,
    material: Material,
    load_cases: Vec<LoadCase>,
}

impl Deref for Problem {
    type Target = Discretization<Elasticity, DIM>;

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
        "the supports leave rigid motions free: {}{}; hold more components or more nodes",
        motions.join(", "),
        part_of(*part, *parts)
    )]
    RigidMotion {
        /// The free motions, in words.
        motions: Vec<String>,
        /// Which connected part, from 0.
        part: usize,
        /// How many parts the mesh has.
        parts: usize,
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
        /// Its name.
        name: String,
    },
    /// A force, displacement or weight that is not a usable number.
    #[error(
        "load case `{name}` has a force, displacement or weight that is not a finite number, or a \
         weight <= 0"
    )]
    BadLoad {
        /// Its name.
        name: String,
    },
}

fn part_of(part: usize, parts: usize) -> String {
    if parts == 1 { String::new() } else { format!(" (part {} of {parts} of the mesh)", part + 1) }
}

impl Problem {
    /// Checks everything that [`Problem`] promises. Forces and springs on held components are
    /// dropped, and prescribed displacements of free ones.
    ///
    /// # Errors
    /// [`ProblemError`].
    pub fn new(
        mesh: HexMesh,
        material: Material,
        supports: Supports,
        mut load_cases: Vec<LoadCase>,
    ) -> Result<Self, ProblemError> {
        let kernel = Elasticity::new(&material);
        let discretization = Discretization::new(mesh, kernel, supports);
        let (mesh, supports) = (discretization.mesh(), discretization.constraints());
        check_supports(mesh, supports)?;
        if load_cases.is_empty() {
            return Err(ProblemError::NoLoad);
        }
        for case in &mut load_cases {
            if !is_usable(case, DIM * mesh.n_nodes()) {
                return Err(ProblemError::BadLoad { name: case.name.clone() });
            }
            supports.clear(&mut case.forces);
            case.prescribed.iter_mut().for_each(|u| supports.clear_free(u));
            case.prescribed.take_if(|u| u.iter().all(|&u| u == 0.0));
            if !does_work(case, supports) {
                return Err(ProblemError::ZeroLoad { name: case.name.clone() });
            }
        }
        Ok(Self { discretization, material, load_cases })
    }

    /// Elements that stay empty and so hold nothing together: a hint for preconditioners.
    pub fn with_void(self, void: Vec<u32>) -> Self {
        Self { discretization: self.discretization.with_void(void), ..self }
    }

    /// The material.
    pub fn material(&self) -> &Material {
        &self.material
    }

    /// The supports.
    pub fn supports(&self) -> &Supports {
        self.constraints()
    }

    /// The load cases; forces are zero at held components.
    pub fn load_cases(&self) -> &[LoadCase] {
        &self.load_cases
    }
}

fn is_usable(case: &LoadCase, n_dofs: usize) -> bool {
    let mut nodal = [Some(&case.forces), case.prescribed.as_ref()].into_iter().flatten();
    nodal.all(|values| values.len() == n_dofs && values.iter().all(|v| v.is_finite()))
        && case.body_force.iter().all(|b| b.is_finite())
        && case.weight.is_finite()
        && case.weight > 0.0
}

fn does_work(case: &LoadCase, supports: &Supports) -> bool {
    let is_free = |i: usize| (0..supports.n_nodes()).any(|node| !supports.is_fixed(node, i));
    case.prescribed.is_some()
        || case.forces.iter().any(|&f| f != 0.0)
        || (0..DIM).any(|i| case.body_force[i] != 0.0 && is_free(i))
}

fn check_supports(mesh: &HexMesh, supports: &Supports) -> Result<(), ProblemError> {
    if supports.springs().is_some_and(|s| s.iter().any(|s| !s.is_finite() || *s < 0.0)) {
        return Err(ProblemError::BadSpring);
    }
    if supports.n_fixed() == 0 && supports.springs().is_none() {
        return Err(ProblemError::NoSupport);
    }
    let parts = Components::of(mesh).nodes_by_component();
    for (part, nodes) in parts.iter().enumerate() {
        let motions = supports.free_rigid_motions(mesh, nodes);
        if !motions.is_empty() {
            return Err(ProblemError::RigidMotion { motions, part, parts: parts.len() });
        }
    }
    Ok(())
}
