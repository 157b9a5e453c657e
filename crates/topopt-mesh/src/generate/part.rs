//! Code shared by the four generators: a body with its sets, of about so many elements.

use super::extrusion::Extrusion;
use crate::{Face, HexMesh, MeshError, Sets};

/// An extruded body with its sets, in terms of the section it was extruded from.
pub(super) struct Part {
    pub body: Extrusion,
    /// Clamped edges of the section: quadrilateral and local edge.
    pub fixed: Vec<(u32, u8)>,
    /// Loaded points of the section.
    pub load: Vec<u32>,
    /// Quadrilaterals of the section from here on are solid, if any are.
    pub first_solid: Option<usize>,
}

impl Part {
    /// The part, stretched along the axes by `factors`.
    pub fn stretched(mut self, factors: [f64; 3]) -> Self {
        for node in &mut self.body.coordinates {
            node.iter_mut().zip(factors).for_each(|(x, factor)| *x *= factor);
        }
        self
    }

    /// The mesh with the sets `fixed`, `load` and `design`, and `solid` if anything is.
    pub fn into_mesh(self) -> Result<HexMesh, MeshError> {
        let mut sets = Sets::default();
        let fixed: Vec<Face> =
            self.fixed.iter().flat_map(|&(quad, edge)| self.body.wall(quad, edge)).collect();
        sets.faces.insert("fixed".into(), fixed);
        let load = self.load.iter().flat_map(|&point| self.body.line(point as usize)).collect();
        sets.nodes.insert("load".into(), load);
        let n_elements = self.body.hexes.len() as u32;
        let first_solid = self.first_solid.map(|quad| self.body.column(quad).start);
        sets.elements.insert("design".into(), (0..first_solid.unwrap_or(n_elements)).collect());
        if let Some(first) = first_solid {
            sets.elements.insert("solid".into(), (first..n_elements).collect());
        }
        HexMesh::new(self.body.coordinates, self.body.hexes, sets)
    }
}

/// Elements along an edge of `count` elements, where each has the edges of `step` of them.
pub(super) fn fewer(count: usize, step: usize) -> usize {
    ((count + step / 2) / step).max(1)
}

/// Factor that brings a body of `count` unit elements to the length of `full` ones.
pub(super) fn stretch(full: usize, count: usize) -> f64 {
    full as f64 / count as f64
}

/// The parameter from `first` on whose growing `count` of elements is nearest to `target`.
pub(super) fn nearest(first: usize, target: usize, count: impl Fn(usize) -> usize) -> usize {
    let mut parameter = first;
    while count(parameter) < target {
        parameter += 1;
    }
    let below = parameter - 1;
    let below_is_nearer = below >= first && count(parameter) - target > target - count(below);
    if below_is_nearer { below } else { parameter }
}
