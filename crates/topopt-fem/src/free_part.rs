//! Parts that supports leave free, and pins that make their stiffness regular.

use nalgebra::Vector6;
use rayon::prelude::*;
use serde::Serialize;
use topopt_mesh::HexMesh;

use crate::{DIM, RigidMotion, Supports};

/// A part that supports leave free, and where it is pinned so that its stiffness is regular.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FreePart {
    /// Nodes of the part.
    pub(crate) nodes: Vec<u32>,
    pub(crate) center: [f64; DIM],
    /// Free motions about the center.
    pub(crate) motions: Vec<RigidMotion>,
    /// Pinned nodes and components, as many as motions.
    pub(crate) pins: Vec<(u32, usize)>,
}

/// A node and component with the size of its row.
type SizedPin = (f64, (u32, usize));

/// Weight of nodes that are no anchors in the choice of pins: pins in what becomes void
/// hold next to nothing, and those of a single solid element hold all.
const BESIDE_ANCHORS: f64 = 1e-4;

impl FreePart {
    /// The connected `nodes` of `mesh` with the motions that `supports` leave free, pinned where
    /// these are large and differ most; `anchors`, increasing, are nodes that will have material.
    pub fn new(supports: &Supports, mesh: &HexMesh, nodes: Vec<u32>, anchors: &[u32]) -> Self {
        let (center, motions) = supports.free_motions(mesh, &nodes).about_center();
        let mut part = Self { nodes, center, motions, pins: Vec::new() };
        part.pins = part.independent_rows(supports, mesh, anchors);
        part
    }

    /// Number of motions.
    pub fn n_motions(&self) -> usize {
        self.motions.len()
    }

    /// Pinned nodes and components.
    pub fn pins(&self) -> &[(u32, usize)] {
        &self.pins
    }

    /// Chooses rows of R by pivoted orthogonalization: each time the largest rest.
    fn independent_rows(
        &self,
        supports: &Supports,
        mesh: &HexMesh,
        anchors: &[u32],
    ) -> Vec<(u32, usize)> {
        let mut basis: Vec<Vector6<f64>> = Vec::new();
        let mut pins = Vec::new();
        for _ in &self.motions {
            let share = |node: u32| match anchors.binary_search(&node) {
                Ok(_) => 1.0,
                Err(_) => BESIDE_ANCHORS,
            };
            let rest = |&(node, i): &(u32, usize)| self.rest(mesh, node, i, &basis);
            let components =
                self.nodes.par_iter().flat_map_iter(|&n| (0..DIM).map(move |i| (n, i)));
            let free = components.filter(|&(n, i)| !supports.is_fixed(n as usize, i));
            let sized = free.map(|pin| (share(pin.0) * rest(&pin).norm(), pin));
            // Of equal sizes the least number, on any number of threads.
            let larger =
                |a: &SizedPin, b: &SizedPin| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(&a.1));
            let Some((_, pin)) = sized.max_by(larger) else { break };
            let next = rest(&pin).normalize();
            basis.push(next);
            pins.push(pin);
        }
        pins
    }

    /// The row of R of component `i` of `node`, without its part along the `basis`.
    fn rest(&self, mesh: &HexMesh, node: u32, i: usize, basis: &[Vector6<f64>]) -> Vector6<f64> {
        let offset = self.offset(mesh, node);
        let mut rest = Vector6::zeros();
        let motions = self.motions.iter().enumerate();
        motions.for_each(|(l, motion)| rest[l] = motion.at(offset)[i]);
        basis.iter().for_each(|b| rest -= b * b.dot(&rest));
        rest
    }

    /// Offset of a node from the center.
    pub(crate) fn offset(&self, mesh: &HexMesh, node: u32) -> [f64; DIM] {
        let x = mesh.coordinates()[node as usize];
        std::array::from_fn(|i| x[i] - self.center[i])
    }
}
