//! `Subject`: the task of a design, and its equation on a mesh or on the part of a rank.

use serde::{Deserialize, Serialize};
use topopt_design::{DesignSpace, Stage};
use topopt_fem::{
    Constraints, DIM, Diffusion, Discretization, Elasticity, ElementKernel, HalfModel, ProblemView,
    Timeline,
};

use crate::filter_plan::FilterPlan;
use crate::own::PosedMaps;
use crate::responses::form::Part;
use crate::responses::posed::Posed;

/// Design task on the nodes and elements of a problem: design space, filter, objective and
/// constraints. The first of several ranks has all of it, and the others [`Task::without_values`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Task {
    /// Designs allowed.
    pub space: DesignSpace,
    /// The filter.
    pub filter: FilterPlan,
    /// Objective and constraints.
    pub posed: Posed,
    /// Settings that change in the course of the run.
    pub stages: Vec<Stage>,
    /// Loads and held values over time, where the case is in time.
    pub timeline: Option<Timeline>,
    /// Number of elements of each color, where the problem has them by color.
    pub colors: Option<Vec<usize>>,
    /// The smallest modulus that a design may have, as a share of the largest, in all stages.
    pub contrast: f64,
    /// Mass per volume that the factors of the mass are multiples of.
    pub mass_density: f64,
    /// Mean width of the elements.
    pub element_width: f64,
    /// Maps of a caller, which ranks refuse.
    #[serde(skip)]
    pub own: PosedMaps,
}

impl Task {
    /// Returns the task without values of single nodes and elements, for ranks after the first.
    #[must_use]
    pub fn without_values(&self) -> Self {
        Self {
            space: self.space.without_values(),
            filter: self.filter.clone(),
            posed: self.posed.without_values(),
            stages: self.stages.clone(),
            timeline: self.timeline.as_ref().map(Timeline::without_values),
            colors: self.colors.clone(),
            own: PosedMaps::default(),
            ..*self
        }
    }
}

/// Task, problem and equation for a computer.
pub struct Subject<'a, K = Elasticity, const N: usize = DIM> {
    /// Task of the design.
    pub task: &'a Task,
    /// The problem; ranks after the first have no values of it.
    pub problem: &'a dyn ProblemView,
    /// Discretized equation: all of it, or that of a rank on its part.
    pub equation: &'a Discretization<K, N>,
    /// Half that is solved in its place.
    pub half: Option<&'a Half<K, N>>,
}

/// The half of a model, a quarter or an eighth.
pub struct Half<K = Elasticity, const N: usize = DIM> {
    /// Equation of the half, and its place in the whole.
    pub model: HalfModel<K, N>,
    /// Number of its elements of each color, where elements come by color.
    pub colors: Option<Vec<usize>>,
}

impl<K, const N: usize> Subject<'_, K, N> {
    /// Number of equations that are solved for a design: that of the thicker one as well, where
    /// both are.
    pub fn n_equations(&self) -> usize {
        1 + usize::from(self.task.space.solves_both())
    }
}

/// Equations of heat without held nodes.
pub struct Bare {
    /// Conduction with films, which says what flows into held nodes.
    pub conduction: Discretization<Diffusion, 1>,
    /// Heat storage C, where that is no diagonal matrix.
    pub storage: Option<Discretization<Diffusion, 1>>,
}

impl<K, const N: usize> Clone for Subject<'_, K, N> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K, const N: usize> Copy for Subject<'_, K, N> {}

impl<'a, K: ElementKernel<N>, const N: usize> Subject<'a, K, N> {
    /// Nodes and elements of its equation.
    pub fn sizes(&self) -> [usize; 2] {
        [self.equation.mesh().n_nodes(), self.equation.mesh().n_elements()]
    }

    /// Subject whose equation is the one that is solved.
    #[must_use]
    pub fn of_solved(self) -> Self {
        Self { equation: self.solved(), half: None, ..self }
    }

    /// The equation that is solved: of the half, where there is one.
    pub fn solved(&self) -> &'a Discretization<K, N> {
        self.half.map_or(self.equation, |half| &half.model.equation)
    }

    /// Number of elements of each color of [`Subject::solved`], where elements come by color.
    pub fn colors(&self) -> Option<&'a [usize]> {
        self.half.map_or(self.task.colors.as_deref(), |half| half.colors.as_deref())
    }

    /// Heat on its mesh without held nodes.
    pub fn bare(&self) -> Bare {
        let (mesh, films) = (self.equation.mesh(), self.equation.constraints().films());
        let free = Constraints::none(mesh.n_nodes());
        let kernel = Diffusion::by(self.equation.kernel().formulation());
        let of = |free| Discretization::new(mesh.clone(), kernel, free);
        let is_consistent = self.equation.is_capacity_consistent();
        let storage = is_consistent.then(|| of(free.clone()).with_capacity(true));
        let conduction = of(free.with_films(films.to_vec()));
        let conduction = match self.equation.elements().stretches() {
            Some(stretches) => conduction.with_stretches(stretches.to_vec()),
            None => conduction,
        };
        Bare { conduction, storage }
    }
}

impl<'a, K, const N: usize> Subject<'a, K, N> {
    /// Returns the part that responses are measured on.
    pub fn part(&self) -> Part<'a> {
        let Task { space, mass_density, .. } = self.task;
        Part { space, problem: self.problem, mass_density: *mass_density }
    }
}
