//! A mesh as it stands in the file.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::element_shape::Shape;
use crate::import::Nodes;
use crate::read_error::Fault;

/// What a file holds. Elements name nodes by their positions among [`RawMesh::nodes`].
#[derive(Default)]
pub(super) struct RawMesh {
    /// Names of physical groups by (dimension, tag).
    pub names: BTreeMap<(u8, u32), String>,
    /// The nodes.
    pub nodes: Nodes,
    /// Tags of the hexahedra, `[n_hexes]`.
    pub hex_tags: Vec<u64>,
    /// Their corners, `[n_hexes][8]`.
    pub hexes: Vec<[u32; 8]>,
    /// Their places, for [`RawMesh::groups`] and [`RawMesh::volume`], `[n_hexes]`.
    pub hex_places: Vec<u32>,
    /// Quadrilaterals of physical surfaces.
    pub quads: Vec<Corners<4>>,
    /// Ends of the lines of physical curves.
    pub lines: Vec<Corners<2>>,
    /// Physical points.
    pub points: Vec<Corners<1>>,
    /// Triangles of physical surfaces: number, and the first.
    pub triangles: Option<(usize, Corners<0>)>,
    /// Volume elements that are not hexahedra, by place and shape: number, and tag of the first.
    pub others: BTreeMap<(u32, Shape), (usize, u64)>,
    /// Numbers of nodes above 8 that hexahedra have.
    pub high_order: BTreeSet<usize>,
    /// Quadrilaterals and triangles without a physical group.
    pub untagged_surfaces: usize,
    /// Sections that were passed over.
    pub unknown_sections: Vec<String>,
    places: Vec<(Vec<u32>, i64)>,
    place_index: HashMap<(Vec<u32>, i64), u32>,
}

/// An element by its corner nodes.
#[derive(Clone, Copy)]
pub(super) struct Corners<const N: usize> {
    pub tag: u64,
    pub nodes: [u32; N],
    /// Its place, for [`RawMesh::groups`].
    pub place: u32,
}

impl RawMesh {
    /// A number for a place: physical groups and the tag of the geometric entity.
    pub fn intern(&mut self, groups: Vec<u32>, entity: i64) -> u32 {
        let place = (groups, entity);
        if let Some(&known) = self.place_index.get(&place) {
            return known;
        }
        let number = self.places.len() as u32;
        self.places.push(place.clone());
        self.place_index.insert(place, number);
        number
    }

    /// The physical groups of a place.
    pub fn groups(&self, place: u32) -> &[u32] {
        &self.places[place as usize].0
    }

    /// The volume that a place is in, for people.
    pub fn volume(&self, place: u32) -> String {
        let (groups, entity) = &self.places[place as usize];
        let names: Vec<_> = groups.iter().map(|&g| format!("`{}`", self.name(3, g))).collect();
        match names.is_empty() {
            true => format!("volume {entity}"),
            false => format!("volume {entity} ({})", names.join(", ")),
        }
    }

    /// The physical groups of all places, by their numbers.
    pub fn combinations(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        self.places.iter().map(|(groups, _)| groups.as_slice())
    }

    /// The name of a physical group; `physical_volume_7` and the like without one.
    pub fn name(&self, dimension: u8, group: u32) -> String {
        self.names
            .get(&(dimension, group))
            .cloned()
            .unwrap_or_else(|| format!("physical_{}_{group}", DIMENSIONS[dimension as usize]))
    }

    /// Makes room for so many more hexahedra.
    pub fn reserve_hexes(&mut self, count: usize) {
        self.hex_tags.reserve_exact(count);
        self.hexes.reserve_exact(count);
        self.hex_places.reserve_exact(count);
    }

    /// Adds an element with the tags of all its `nodes` (at least as many as its shape has
    /// corners).
    pub fn add(&mut self, shape: Shape, tag: u64, nodes: &[u64], place: u32) -> Result<(), Fault> {
        let in_group = !self.groups(place).is_empty();
        match shape {
            Shape::Hexahedron => {
                self.hexes.push(self.corners(tag, nodes)?);
                self.hex_tags.push(tag);
                self.hex_places.push(place);
                if nodes.len() > 8 {
                    self.high_order.insert(nodes.len());
                }
            }

            Shape::Quadrilateral if in_group => {
                self.quads.push(Corners { tag, nodes: self.corners(tag, nodes)?, place });
            }
            Shape::Triangle if in_group => {
                self.triangles.get_or_insert((0, Corners { tag, nodes: [], place })).0 += 1;
            }
            Shape::Quadrilateral | Shape::Triangle => self.untagged_surfaces += 1,

            Shape::Line if in_group => {
                self.lines.push(Corners { tag, nodes: self.corners(tag, nodes)?, place });
            }
            Shape::Point if in_group => {
                self.points.push(Corners { tag, nodes: self.corners(tag, nodes)?, place });
            }
            Shape::Line | Shape::Point => {}

            Shape::Tetrahedron | Shape::Prism | Shape::Pyramid => {
                self.others.entry((place, shape)).or_insert((0, tag)).0 += 1;
            }
        }
        Ok(())
    }

    /// Positions of the first nodes of `element`.
    fn corners<const N: usize>(&self, element: u64, nodes: &[u64]) -> Result<[u32; N], Fault> {
        let mut corners = [0; N];
        for (corner, &tag) in corners.iter_mut().zip(nodes) {
            *corner = self.nodes.position(element, tag)?;
        }
        Ok(corners)
    }
}

/// Names of the dimensions 0 to 3.
pub(super) const DIMENSIONS: [&str; 4] = ["point", "curve", "surface", "volume"];
