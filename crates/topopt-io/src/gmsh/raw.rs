//! A mesh as it stands in the file.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use topopt_mesh::cells::{Cells, NO_NODE};

use super::element_shape::{Shape, middles};
use crate::import::Nodes;
use crate::read_error::Fault;

/// Contents of a Gmsh file. Elements name nodes by their positions among [`RawMesh::nodes`].
#[derive(Default)]
pub(super) struct RawMesh {
    /// Names of physical groups by (dimension, tag).
    pub names: BTreeMap<(u8, u32), String>,
    /// The nodes.
    pub nodes: Nodes,
    /// Tags of the solid elements, `[n_cells]`.
    pub tags: Vec<u64>,
    /// The solid elements.
    pub cells: Cells,
    /// Their places, for [`RawMesh::groups`] and [`RawMesh::volume`], `[n_cells]`.
    pub places: Vec<u32>,
    /// Quadrilaterals and triangles of surfaces, these with the last corner twice.
    pub faces: Vec<Corners<4>>,
    /// Nodes in the middles of their sides, in order, or [`NO_NODE`], `[n_faces]`.
    pub middles: Vec<[u32; 4]>,
    /// Volumes, by their tags; nothing if the file does not say.
    pub volumes: BTreeMap<i64, Volume>,
    /// Ends of the lines of physical curves.
    pub lines: Vec<Corners<2>>,
    /// Physical points.
    pub points: Vec<Corners<1>>,
    /// Numbers of nodes that solid elements of higher order than the second have.
    pub high_order: BTreeSet<usize>,
    /// Sections that were passed over.
    pub unknown_sections: Vec<String>,
    known_places: Vec<(Vec<u32>, i64)>,
    place_index: HashMap<(Vec<u32>, i64), u32>,
    /// Node positions of the element that is being added.
    positions: Vec<u32>,
}

/// A volume of the geometry.
pub(super) struct Volume {
    /// Physical groups.
    pub groups: Vec<u32>,
    /// Tags of the surfaces that bound it.
    pub surfaces: Vec<i64>,
}

/// An element by its corner nodes.
#[derive(Clone, Copy)]
pub(super) struct Corners<const N: usize> {
    pub tag: u64,
    pub nodes: [u32; N],
    /// Place of the element, for [`RawMesh::groups`].
    pub place: u32,
}

impl RawMesh {
    /// A number for a place: physical groups and the tag of the geometric entity.
    pub fn intern(&mut self, groups: Vec<u32>, entity: i64) -> u32 {
        let place = (groups, entity);
        if let Some(&known) = self.place_index.get(&place) {
            return known;
        }
        let number = self.known_places.len() as u32;
        self.known_places.push(place.clone());
        self.place_index.insert(place, number);
        number
    }

    /// The physical groups of a place.
    pub fn groups(&self, place: u32) -> &[u32] {
        &self.known_places[place as usize].0
    }

    /// Takes the group of surfaces with this name out of the mesh.
    pub fn forget(&mut self, name: &str) {
        let is_it =
            |((dimension, _), known): &(&(u8, u32), &String)| *dimension == 2 && *known == name;
        let Some(key) = self.names.iter().find(is_it).map(|(key, _)| *key) else { return };
        self.names.remove(&key);
        // The places of volumes may have a group of the same number.
        let of_faces: BTreeSet<u32> = self.faces.iter().map(|face| face.place).collect();
        for place in of_faces {
            self.known_places[place as usize].0.retain(|group| *group != key.1);
        }
    }

    /// The tag of the geometric entity of a place.
    pub fn entity(&self, place: u32) -> i64 {
        self.known_places[place as usize].1
    }

    /// The volume that a place is in, for people.
    pub fn volume(&self, place: u32) -> String {
        let (groups, entity) = &self.known_places[place as usize];
        self.volume_name(*entity, groups)
    }

    /// A volume by its tag and its physical groups, for people.
    pub fn volume_name(&self, entity: i64, groups: &[u32]) -> String {
        let names: Vec<_> = groups.iter().map(|&g| format!("`{}`", self.name(3, g))).collect();
        match names.is_empty() {
            true => format!("volume {entity}"),
            false => format!("volume {entity} ({})", names.join(", ")),
        }
    }

    /// Notes volumes in no physical group, where others are in some, without those that have
    /// elements in these `places`.
    pub fn note_on_left_out(&self, places: &BTreeSet<u32>) -> Option<String> {
        let filled: BTreeSet<i64> = places.iter().map(|&place| self.entity(place)).collect();
        let left_out = |(tag, volume): (&i64, &Volume)| {
            let is_out = volume.groups.is_empty() && !filled.contains(tag);
            is_out.then(|| tag.to_string())
        };
        let left_out: Vec<String> = self.volumes.iter().filter_map(left_out).collect();
        let has_groups = self.volumes.values().any(|volume| !volume.groups.is_empty());
        if left_out.is_empty() || !has_groups {
            return None;
        }
        let numbers = left_out.join(", ");
        Some(format!(
            "bodies in no physical group are left out, as Gmsh does: volume {numbers}; \
             `Physical Volume(\"name\") = {{{numbers}}};` in the .geo file keeps them"
        ))
    }

    /// The physical groups of all places, by their numbers.
    pub fn combinations(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        self.known_places.iter().map(|(groups, _)| groups.as_slice())
    }

    /// The name of a physical group; `physical_volume_7` and the like without one.
    pub fn name(&self, dimension: u8, group: u32) -> String {
        self.names
            .get(&(dimension, group))
            .cloned()
            .unwrap_or_else(|| format!("physical_{}_{group}", DIMENSIONS[dimension as usize]))
    }

    /// Reserves memory for `count` further solid elements with `n_nodes` corners and middles each.
    pub fn reserve(&mut self, count: usize, n_nodes: usize) {
        self.tags.reserve_exact(count);
        self.cells.reserve(count, n_nodes);
        self.places.reserve_exact(count);
    }

    /// Adds an element with the tags of all its `nodes` (at least as many as its shape has
    /// corners).
    pub fn add(&mut self, shape: Shape, tag: u64, nodes: &[u64], place: u32) -> Result<(), Fault> {
        let in_group = !self.groups(place).is_empty();
        match shape {
            Shape::Solid(solid) => {
                let n_corners = solid.n_corners();
                self.positions.clear();
                for &node in nodes {
                    self.positions.push(self.nodes.position(tag, node)?);
                }
                let middles = middles(solid, &self.positions);
                if middles.is_empty() && nodes.len() > n_corners {
                    self.high_order.insert(nodes.len());
                }
                self.cells.push(solid, &self.positions[..n_corners], &middles);
                self.tags.push(tag);
                self.places.push(place);
            }

            Shape::Quadrilateral => {
                let corners = self.corners(tag, nodes)?;
                let is_second = matches!(nodes.len(), 8 | 9);
                let middles =
                    if is_second { self.corners(tag, &nodes[4..])? } else { [NO_NODE; 4] };
                self.faces.push(Corners { tag, nodes: corners, place });
                self.middles.push(middles);
            }
            Shape::Triangle => {
                let [a, b, c] = self.corners(tag, nodes)?;
                let is_second = nodes.len() == 6;
                let [ab, bc, ca] =
                    if is_second { self.corners(tag, &nodes[3..])? } else { [NO_NODE; 3] };
                self.faces.push(Corners { tag, nodes: [a, b, c, c], place });
                self.middles.push([ab, bc, ca, NO_NODE]);
            }

            Shape::Line if in_group => {
                self.lines.push(Corners { tag, nodes: self.corners(tag, nodes)?, place });
            }
            Shape::Point if in_group => {
                self.points.push(Corners { tag, nodes: self.corners(tag, nodes)?, place });
            }
            Shape::Line | Shape::Point => {}
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
