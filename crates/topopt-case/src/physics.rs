//! `Physics`: the keys of a case file that belong to a physics, and the names of its fields. Each
//! physics is a file below; its solvers are beside the computers.

mod data;
mod elastic;
pub mod heat;

use serde::Serialize;
use topopt_fem::{
    BodyForce, Coupling, Discretization, ElementData, ElementKernel, ProblemError, ThermalStrains,
    Timeline,
};
use topopt_mesh::Renumbering;

use crate::case_loads::CaseLoads;
use crate::config::{Config, SetMaterial};
use crate::fields::Fields;
use crate::finding::{Finding, InputError};
use crate::lookup::Lookup;
use crate::nodal_loads::NodalLoad;

/// Calls a function that is generic in kernel and unknowns per node for a kind of physics.
#[macro_export]
macro_rules! of_physics {
    ($kind:expr, $call:ident $arguments:tt) => {
        match $kind {
            $crate::config::PhysicsKind::Elasticity => $call::<topopt_fem::Elasticity, 3> $arguments,
            $crate::config::PhysicsKind::Heat => $call::<topopt_fem::Diffusion, 1> $arguments,
        }
    };
}

/// Supports, springs, films and load cases of a part; nodes and elements count from 0.
pub struct Conditions<const N: usize> {
    /// Nodes at which each unknown is held, each sorted.
    pub fixed: [Vec<u32>; N],
    /// Stiffness of springs to the ground, or for heat of films, by increasing node.
    pub springs: Vec<(u32, [f64; N])>,
    /// Couplings of node pairs by films; their row sums are among the springs.
    pub films: Vec<Coupling>,
    /// Load cases, in the order in which the file first names them.
    pub load_cases: Vec<CaseLoads<N>>,
}

/// Names of fields in files, also for people.
#[derive(Debug, Clone, Copy)]
pub struct Names {
    /// Name of the unknown, such as `displacement`.
    pub state: &'static str,
    /// Name of the nodal load, such as `force`.
    pub load: &'static str,
    /// All of it, in sentences.
    pub loads: &'static str,
    /// Half of the work of every element.
    pub energy: &'static str,
    /// Mark of nodes with springs or films in a preview: `supported`, or one of their own.
    pub sprung: &'static str,
}

impl Names {
    /// Returns the `verb` of the loads, given as that of several: `act`, of heat `acts`.
    pub fn verb(&self, verb: &str) -> String {
        format!("{verb}{}", if self.loads.ends_with('s') { "" } else { "s" })
    }
}

/// Nodes and elements with loads, by numbers from 0, sorted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loaded {
    /// Nodes of loaded faces, and loaded nodes.
    pub nodes: Vec<u32>,
    /// Elements that are loaded from within.
    pub elements: Vec<u32>,
}

/// A physics with N unknowns per node, as studies pose it.
pub trait Physics<const N: usize>: ElementKernel<N> + Serialize {
    /// Names of its fields.
    const NAMES: Names;

    /// Builds the element integrals for the material of the case.
    ///
    /// # Errors
    /// A finding if there is no such material.
    fn of(config: &Config) -> Result<Self, Finding>;

    /// The coefficient of the first term in solid `[material]`; 1 where it is a field.
    fn coefficient(config: &Config) -> f64;

    /// Returns the field of the first term's coefficient in solid elements, `[n_elements]`, if
    /// there is one.
    fn coefficient_field(_fields: &Fields) -> Option<&[f64]> {
        None
    }

    /// Returns the properties of single elements that integrals depend on, in the order of the
    /// problem; `materials` are the elements of each material, with their fields.
    ///
    /// # Errors
    /// A finding for a property that no element has.
    fn element_data(
        _config: &Config,
        _materials: (&[Vec<u32>], &Fields),
        _renumbering: &Renumbering,
    ) -> Result<ElementData, Finding> {
        Ok(ElementData::default())
    }

    /// Returns the coefficient of the first term in a material of a set, if it is a number.
    fn coefficient_of(material: &SetMaterial) -> Option<f64>;

    /// Converts supports, springs and loads to values by node and element.
    fn conditions(lookup: &Lookup, findings: &mut Vec<Finding>) -> Conditions<N>;

    /// The entries of `[[loads]]` that act on nodes, in their order.
    fn nodal_loads(lookup: &Lookup) -> Vec<NodalLoad<N>>;

    /// Returns the nodes and elements with loads in any load case; none where these are all nodes
    /// with a load.
    fn loaded(_lookup: &Lookup) -> Option<Loaded> {
        None
    }

    /// Computes the flux at the center of every element, `[n_elements][3]`, with its name: from the
    /// `coefficients` of the first term and a state, in the order of the problem; none where
    /// nothing flows.
    fn flux(
        _problem: &Discretization<Self, N>,
        _coefficients: &[f64],
        _state: &[f64],
    ) -> Option<(&'static str, Vec<[f64; 3]>)> {
        None
    }

    /// Materials that lack what a load or a response needs.
    fn incomplete_materials(
        lookup: &Lookup,
        cases: &[CaseLoads<N>],
        sets: &[Vec<u32>],
    ) -> Vec<Finding>;

    /// Load cases that do nothing.
    fn idle_loads(lookup: &Lookup, fixed: &[Vec<u32>; N], cases: &[CaseLoads<N>]) -> Vec<Finding>;

    /// Returns the body force per volume of solid material, which scales with the density.
    fn body_force(_config: &Config, _load: &CaseLoads<N>) -> BodyForce<N> {
        BodyForce::ZERO
    }

    /// Computes the thermal strains in a load case, in the order of the problem, where elements
    /// expand; `materials` are the elements of each material.
    ///
    /// # Errors
    /// A finding for an expansion that no material has.
    fn thermal_strains(
        _config: &Config,
        _materials: &[Vec<u32>],
        _load: &CaseLoads<N>,
        _renumbering: &Renumbering,
    ) -> Result<Option<ThermalStrains>, Finding> {
        Ok(None)
    }

    /// Builds the loads and held values over time, in the order of the problem, where the case is
    /// in time. Nodes that are `fixed` are held; `materials` are the elements of each material,
    /// with their fields.
    ///
    /// # Errors
    /// Materials that lack what that needs.
    fn timeline(
        _lookup: &Lookup,
        _fixed: &[Vec<u32>; N],
        _materials: (&[Vec<u32>], &Fields),
        _renumbering: &Renumbering,
    ) -> Result<Option<Timeline>, InputError> {
        Ok(None)
    }

    /// Describes a problem's error in the words of this physics.
    fn message(error: &ProblemError) -> String {
        error.to_string()
    }

    /// Returns notes on a case that can be run, a sentence each.
    fn notes(_config: &Config, _cases: &[CaseLoads<N>]) -> Vec<String> {
        Vec::new()
    }
}
