//! A discretized equation: what operators, patches and preconditioners need of any physics.

use std::sync::{Arc, OnceLock};

use serde::Serialize;
use topopt_linalg::Space;
use topopt_mesh::{HalfMesh, HexMesh, Part};

use crate::{
    Constraints, DIM, Elasticity, ElementData, ElementKernel, Elements, FilmRows, Patches,
};

/// A mesh, the integrals over its elements and what is held: all of an equation with N unknowns per
/// node except its loads.
#[derive(Debug, Clone, Serialize)]
pub struct Discretization<K = Elasticity, const N: usize = DIM> {
    #[serde(skip)]
    mesh: HexMesh,
    kernel: K,
    constraints: Constraints<N>,
    data: ElementData,
    void: Vec<u32>,
    is_capacity_consistent: bool,
    // Made of the mesh.
    #[serde(skip)]
    patches: OnceLock<Arc<Patches>>,
    #[serde(skip)]
    film_rows: OnceLock<Option<Arc<FilmRows>>>,
}

impl<K: ElementKernel<N>, const N: usize> Discretization<K, N> {
    /// Builds the equation of `kernel` on `mesh`. Springs on held components are dropped: nothing loads them.
    pub fn new(mesh: HexMesh, kernel: K, mut constraints: Constraints<N>) -> Self {
        constraints.drop_held_springs();
        Self {
            mesh,
            kernel,
            constraints,
            data: ElementData::default(),
            void: Vec::new(),
            is_capacity_consistent: false,
            patches: OnceLock::new(),
            film_rows: OnceLock::new(),
        }
    }

    /// Elements that stay empty and so hold nothing together: a hint for preconditioners.
    #[must_use]
    pub fn with_void(self, void: Vec<u32>) -> Self {
        Self { void, ..self }
    }

    /// Sets the factors by which the kernel stretches each element, see [`ElementData::stretches`].
    #[must_use]
    pub fn with_stretches(self, stretches: Vec<[f64; DIM]>) -> Self {
        debug_assert!(K::IS_STRETCHED && stretches.len() == self.mesh.n_elements());
        self.with_data(ElementData::stretched(stretches))
    }

    /// Sets the properties of single elements.
    #[must_use]
    pub fn with_data(self, data: ElementData) -> Self {
        Self { data, ..self }
    }

    /// Chooses a `consistent` capacity in place of the lumped one, for diffusion.
    #[must_use]
    pub fn with_capacity(self, consistent: bool) -> Self {
        Self { is_capacity_consistent: consistent, ..self }
    }

    /// Returns the equation with other constraints.
    #[must_use]
    pub fn with_constraints(&self, mut constraints: Constraints<N>) -> Self {
        constraints.drop_held_springs();
        Self { constraints, film_rows: OnceLock::new(), ..self.clone() }
    }

    /// Holds components of nodes besides.
    #[must_use]
    pub(crate) fn pinned(mut self, pins: &[(u32, usize)]) -> Self {
        pins.iter().for_each(|&(node, i)| self.constraints.fix(node as usize, i));
        self
    }

    /// Returns the equation on a part of the mesh.
    #[must_use]
    pub fn on_part(&self, part: &Part) -> Self {
        let mut void = vec![false; self.mesh.n_elements()];
        self.void.iter().for_each(|&e| void[e as usize] = true);
        let local = part.elements.iter().zip(0..);
        let void = local.filter_map(|(&e, local)| void[e as usize].then_some(local)).collect();
        Self {
            mesh: part.mesh.clone(),
            kernel: self.kernel,
            constraints: self.constraints.of_nodes(&part.nodes),
            data: self.data.on_part(part),
            void,
            is_capacity_consistent: self.is_capacity_consistent,
            patches: OnceLock::new(),
            film_rows: OnceLock::new(),
        }
    }

    /// Returns the equation on a half of the mesh, whose nodes in planes of symmetry stay there.
    #[must_use]
    pub(crate) fn on_half(&self, half: &HalfMesh) -> Self {
        let constraints = self.constraints.in_half(&half.part.nodes, &half.in_planes);
        Self { constraints, ..self.on_part(&half.part) }
    }

    /// The elements in patches: made when first asked for, and shared by all who work on them.
    pub(crate) fn patches(&self) -> Arc<Patches> {
        self.patches.get_or_init(|| Arc::new(Patches::new(&self.mesh))).clone()
    }

    /// Matrix of the films, if there are any; built on first use, as the patches are.
    pub fn film_rows(&self) -> Option<Arc<FilmRows>> {
        let made = || {
            let is_held = |node: u32| self.constraints.is_held(node as usize);
            let rows = FilmRows::new(self.constraints.films(), is_held);
            (!rows.nodes.is_empty()).then(|| Arc::new(rows))
        };
        self.film_rows.get_or_init(made).clone()
    }

    /// The mesh.
    pub fn mesh(&self) -> &HexMesh {
        &self.mesh
    }

    /// The elements as the kernel takes them.
    pub fn elements(&self) -> Elements<'_> {
        Elements::new(&self.mesh, &self.data)
    }

    /// The integrals over an element.
    pub fn kernel(&self) -> &K {
        &self.kernel
    }

    /// Held components, springs and films.
    pub fn constraints(&self) -> &Constraints<N> {
        &self.constraints
    }

    /// Whether the capacity is consistent, and not lumped at the nodes.
    pub fn is_capacity_consistent(&self) -> bool {
        self.is_capacity_consistent
    }

    /// Elements that stay empty.
    pub fn void(&self) -> &[u32] {
        &self.void
    }

    /// The space of the unknowns, held ones included.
    pub fn space(&self) -> Space {
        Space::nodes(self.mesh.n_nodes(), N)
    }

    /// Number of unknowns, held ones included.
    pub fn n_dofs(&self) -> usize {
        self.space().len()
    }
}
