//! Nodal values by the materials around each node.

use rayon::prelude::*;
use topopt_mesh::HexMesh;
use topopt_mesh::cells::Shape;

use super::around::Around;
use super::samples::Samples;
use super::{linear, quadratic};

/// Nodal values: one for each material around a node.
#[derive(Debug, Clone)]
pub struct Recovered<const C: usize> {
    /// Values, `[n_values][C]`.
    pub values: Vec<[f64; C]>,
    /// Node of each value, ascending, `[n_values]`.
    pub nodes: Vec<u32>,
    nodes_per_element: usize,
    of_elements: Vec<u32>,
}

/// In [`Recovered::of_element`]: no value.
pub const NO_VALUE: u32 = u32::MAX;

impl<const C: usize> Recovered<C> {
    /// The values at the nodes of `element`; [`NO_VALUE`] where it does not count.
    pub fn of_element(&self, element: usize) -> &[u32] {
        &self.of_elements[self.nodes_per_element * element..][..self.nodes_per_element]
    }
}

impl<const C: usize> Samples<C> {
    /// Recovers the nodal values on `mesh`.
    pub fn recovered(&self, mesh: &HexMesh) -> Recovered<C> {
        let around = Around::new(mesh, &self.materials);
        let at_nodes = match mesh.shape() {
            Shape::Tetrahedron => quadratic::at_nodes(self, &around),
            _ => linear::at_nodes(self, &around),
        };

        let mut firsts = vec![0];
        at_nodes.iter().for_each(|values| firsts.push(firsts[firsts.len() - 1] + values.len()));
        let corner = |node: u32, material: u32| {
            let of_material = |(other, _): &(u32, _)| *other == material;
            let place = at_nodes[node as usize].iter().position(of_material);
            place.map_or(NO_VALUE, |place| (firsts[node as usize] + place) as u32)
        };
        let elements = mesh.par_elements().zip(&self.materials);
        let of_elements = elements.flat_map_iter(|(nodes, material)| {
            nodes.iter().map(|&node| material.map_or(NO_VALUE, |own| corner(node, own)))
        });

        Recovered {
            nodes_per_element: mesh.nodes_per_element(),
            of_elements: of_elements.collect(),
            nodes: (0..)
                .zip(&at_nodes)
                .flat_map(|(node, all)| all.iter().map(move |_| node))
                .collect(),
            values: at_nodes.into_iter().flatten().map(|(_, value)| value).collect(),
        }
    }
}
