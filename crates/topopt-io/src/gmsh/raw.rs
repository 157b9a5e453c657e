//! A mesh as it stands in the file, before nodes are resolved.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::element_shape::Shape;

/// What a file holds, by the tags of the file.
#[derive(Default)]
pub(super) struct RawMesh {
    /// Names of physical groups by (dimension, tag).
    pub names: BTreeMap<(u8, u32), String>,
    /// Tags of the nodes, in the order of the file.
    pub node_tags: Vec<u64>,
    /// Their coordinates.
    pub coordinates: Vec<[f64; 3]>,
    /// Hexahedra.
    pub hexes: Vec<Corners<8>>,
    /// Quadrilaterals of physical surfaces.
    pub quads: Vec<Corners<4>>,
    /// Ends of the lines of physical curves.
    pub lines: Vec<Corners<2>>,
    /// Physical points.
    pub points: Vec<Corners<1>>,
    /// Triangles of physical surfaces: number, and the first.
    pub triangles: Option<(usize, Corners<3>)>,
    /// Volume elements that are not hexahedra, by shape: number, and the first.
    pub others: Vec<(Shape, usize, Corners<1>)>,
    /// Numbers of nodes above 8 that hexahedra have.
    pub high_order: BTreeSet<usize>,
    /// Quadrilaterals and triangles without a physical group.
    pub untagged_surfaces: usize,
    /// Sections that were passed over.
    pub unknown_sections: Vec<String>,
    groups: Vec<Vec<u32>>,
    group_index: HashMap<Vec<u32>, u32>,
}

/// An element by its corner nodes.
#[derive(Clone, Copy)]
pub(super) struct Corners<const N: usize> {
    pub tag: u64,
    pub nodes: [u64; N],
    /// Its physical groups, for [`RawMesh::groups`].
    pub groups: u32,
}

impl RawMesh {
    /// A number for a combination of physical groups.
    pub fn intern(&mut self, groups: Vec<u32>) -> u32 {
        if let Some(&known) = self.group_index.get(&groups) {
            return known;
        }
        let number = self.groups.len() as u32;
        self.groups.push(groups.clone());
        self.group_index.insert(groups, number);
        number
    }

    /// The physical groups behind a number from [`RawMesh::intern`].
    pub fn groups(&self, number: u32) -> &[u32] {
        &self.groups[number as usize]
    }

    /// All combinations, by their numbers.
    pub fn combinations(&self) -> &[Vec<u32>] {
        &self.groups
    }

    /// The name of a physical group; `physical_volume_7` and the like without one.
    pub fn name(&self, dimension: u8, group: u32) -> String {
        self.names
            .get(&(dimension, group))
            .cloned()
            .unwrap_or_else(|| format!("physical_{}_{group}", DIMENSIONS[dimension as usize]))
    }

    /// Adds an element with all its `nodes` (at least as many as its shape has corners).
    pub fn add(&mut self, shape: Shape, tag: u64, nodes: &[u64], groups: u32) {
        let in_group = !self.groups(groups).is_empty();
        match shape {
            Shape::Hexahedron => {
                self.hexes.push(corners(tag, nodes, groups));
                if nodes.len() > 8 {
                    self.high_order.insert(nodes.len());
                }
            }
            Shape::Quadrilateral if in_group => self.quads.push(corners(tag, nodes, groups)),
            Shape::Triangle if in_group => {
                self.triangles.get_or_insert((0, corners(tag, nodes, groups))).0 += 1;
            }
            Shape::Quadrilateral | Shape::Triangle => self.untagged_surfaces += 1,
            Shape::Line if in_group => self.lines.push(corners(tag, nodes, groups)),
            Shape::Point if in_group => self.points.push(corners(tag, nodes, groups)),
            Shape::Line | Shape::Point => {}
            Shape::Tetrahedron | Shape::Prism | Shape::Pyramid => {
                match self.others.iter_mut().find(|(known, ..)| *known == shape) {
                    Some(row) => row.1 += 1,
                    None => self.others.push((shape, 1, corners(tag, nodes, groups))),
                }
            }
        }
    }
}

/// Names of the dimensions 0 to 3.
pub(super) const DIMENSIONS: [&str; 4] = ["point", "curve", "surface", "volume"];

fn corners<const N: usize>(tag: u64, nodes: &[u64], groups: u32) -> Corners<N> {
    Corners { tag, nodes: std::array::from_fn(|a| nodes[a]), groups }
}
