//! Hexahedra over a plane mesh of quadrilaterals, layer upon layer along z.

use std::ops::Range;

use super::section::Section;
use crate::{Face, filled_rows};

/// The local face of the hexahedron over each local edge of its quadrilateral.
const FACE_OF_EDGE: [u8; 4] = [2, 1, 3, 0];

/// The extruded body. The nodes over a point stand together, and so do the elements over a
/// quadrilateral, both from low to high z.
pub(super) struct Extrusion {
    /// `[n_nodes][3]`.
    pub coordinates: Vec<[f64; 3]>,
    /// `[n_elements][8]`.
    pub hexes: Vec<[u32; 8]>,
    /// First node over each point of the section, then the number of nodes, `[n_points + 1]`.
    first_node: Vec<u32>,
    /// First element over each quadrilateral, then the number of elements, `[n_quads + 1]`.
    first_element: Vec<u32>,
}

/// The levels 0, 1, .., n.
pub(super) fn unit_levels(n: usize) -> Vec<f64> {
    (0..=n).map(|k| k as f64).collect()
}

impl Extrusion {
    /// Every quadrilateral extruded through all `levels`.
    pub fn uniform(section: &Section, levels: &[f64]) -> Self {
        Self::new(section, levels, |_| 0..levels.len() - 1)
    }

    /// Layer k lies between the levels k and k + 1; `layers_of` gives those of a quadrilateral.
    /// Of the layers of quadrilaterals that share a point, one range must contain the others.
    pub fn new(
        section: &Section,
        levels: &[f64],
        layers_of: impl Fn(usize) -> Range<usize> + Sync,
    ) -> Self {
        let mut levels_of = vec![[usize::MAX, 0]; section.points.len()];
        let mut first_element = vec![0];
        for (q, quad) in section.quads.iter().enumerate() {
            let layers = layers_of(q);
            first_element.push(first_element[q] + layers.len() as u32);
            for &p in quad {
                let [low, high] = &mut levels_of[p as usize];
                (*low, *high) = (layers.start.min(*low), layers.end.max(*high));
            }
        }

        // The nodes over a point are consecutive, one per level, the lowest first.
        let mut first_node = vec![0];
        for (p, [low, high]) in levels_of.iter().enumerate() {
            first_node.push(first_node[p] + (high + 1 - low) as u32);
        }

        let coordinates = filled_rows(&first_node, |p, over: &mut [[f64; 3]]| {
            let ([x, y], [low, high]) = (section.points[p], levels_of[p]);
            over.iter_mut().zip(&levels[low..=high]).for_each(|(node, &z)| *node = [x, y, z]);
        });

        let node = |p: u32, level: usize| {
            first_node[p as usize] + (level - levels_of[p as usize][0]) as u32
        };
        let hexes = filled_rows(&first_element, |q, column: &mut [[u32; 8]]| {
            for (hex, k) in column.iter_mut().zip(layers_of(q)) {
                let quads = [k, k + 1].map(|level| section.quads[q].map(|p| node(p, level)));
                let [[a, b, c, d], [e, f, g, h]] = quads;
                *hex = [a, b, c, d, e, f, g, h];
            }
        });
        Self { coordinates, hexes, first_node, first_element }
    }

    /// The nodes over `point`.
    pub fn line(&self, point: usize) -> Range<u32> {
        self.first_node[point]..self.first_node[point + 1]
    }

    /// The elements over `quad`.
    pub fn column(&self, quad: usize) -> Range<u32> {
        self.first_element[quad]..self.first_element[quad + 1]
    }

    /// The faces over the local edge `edge` of `quad`.
    pub fn wall(&self, quad: u32, edge: u8) -> impl Iterator<Item = Face> + use<> {
        let local = FACE_OF_EDGE[edge as usize];
        self.column(quad as usize).map(move |element| Face { element, local })
    }
}
