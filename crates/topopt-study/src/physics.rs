//! What a case file says of a physics, and what its fields are called. Each physics is a file below;
//! what solves it, is beside the computers.

mod elastic;
pub(crate) mod heat;

use serde::Serialize;
use topopt_fem::{BodyForce, Coupling, Discretization, ElementKernel, ProblemError, Timeline};
use topopt_mesh::Renumbering;

use crate::case_loads::CaseLoads;
use crate::config::{Config, SetMaterial};
use crate::fields::Fields;
use crate::finding::{Finding, InputError};
use crate::lookup::Lookup;
use crate::nodal_loads::NodalLoad;

/// What holds and loads the part, by numbers from 0.
pub struct Conditions<const N: usize> {
    /// Nodes at which each unknown is held, each sorted.
    pub fixed: [Vec<u32>; N],
    /// Stiffness of springs to the ground, or what stands for them, by increasing node.
    pub springs: Vec<(u32, [f64; N])>,
    /// What films couple, whose row sums are among the springs.
    pub films: Vec<Coupling>,
    /// Load cases, in the order in which the file first names them.
    pub load_cases: Vec<CaseLoads<N>>,
}

/// Names of fields in files, also for people.
#[derive(Debug, Clone, Copy)]
pub struct Names {
    /// What is solved for.
    pub state: &'static str,
    /// What acts on nodes.
    pub load: &'static str,
    /// All of it, in sentences.
    pub loads: &'static str,
    /// Half of the work of every element.
    pub energy: &'static str,
    /// The mark of nodes with springs, or what stands for them: `supported`, or one of their own.
    pub sprung: &'static str,
}

/// What loads act on, by numbers from 0, sorted.
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

    /// Its integrals, for the material of the case.
    ///
    /// # Errors
    /// A finding if there is no such material.
    fn of(config: &Config) -> Result<Self, Finding>;

    /// The coefficient of the first term in solid `[material]`; 1 where it is a field.
    fn coefficient(config: &Config) -> f64;

    /// The same of all solid elements, where a material has a field of it, `[n_elements]`.
    fn coefficient_field(_fields: &Fields) -> Option<&[f64]> {
        None
    }

    /// By which the kernel takes elements as stretched, `[n_elements][3]`, see
    /// [`topopt_fem::Elements`]; none where they are not.
    fn stretches(_fields: &Fields) -> Option<Vec<[f64; 3]>> {
        None
    }

    /// That of a material of a set, if it has a number.
    fn coefficient_of(material: &SetMaterial) -> Option<f64>;

    /// What supports, springs and loads amount to.
    fn conditions(lookup: &Lookup, findings: &mut Vec<Finding>) -> Conditions<N>;

    /// The entries of `[[loads]]` that act on nodes, in their order.
    fn nodal_loads(lookup: &Lookup) -> Vec<NodalLoad<N>>;

    /// What the loads of all load cases act on; none where that is every node with a load.
    fn loaded(_lookup: &Lookup) -> Option<Loaded> {
        None
    }

    /// What flows through every element, `[n_elements][3]`, with its name: of the `coefficients` of
    /// the first term and a state, in the order of the problem; none where nothing flows.
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

    /// What acts on solid material per volume, and follows the density.
    fn body_force(_config: &Config, _load: &CaseLoads<N>) -> BodyForce<N> {
        BodyForce::ZERO
    }

    /// What acts in time, in the order of the problem, where the case is in time: on nodes that are
    /// `fixed`, and elements of `materials` and their `fields`.
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

    /// What is wrong with a problem, in its words.
    fn message(error: &ProblemError) -> String {
        error.to_string()
    }

    /// What there is to say of a case that can be run.
    fn notes(_config: &Config, _cases: &[CaseLoads<N>]) -> Vec<String> {
        Vec::new()
    }
}
