//! Writes `.msh` files.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;

use topopt_mesh::cells::Shape;
use topopt_mesh::{Face, HexMesh};

use super::element_shape::in_order_of_gmsh;
use super::records::Records;
use crate::atomic::{self, WriteError};

/// A version of the format in an encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GmshFormat {
    /// Version.
    pub version: Version,
    /// Encoding.
    pub encoding: Encoding,
}

/// A version of the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// 2.2, which most programs read.
    V2_2,
    /// 4.1, which Gmsh writes today.
    V4_1,
}

/// How numbers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// Text; every number reads back as the same bits.
    Ascii,
    /// Little-endian binary.
    Binary,
}

/// Writes `mesh` to `path`, whole or not at all.
///
/// Node n has tag n + 1, element e tag e + 1. Sets become physical groups: node sets of points,
/// face sets of quadrilaterals or triangles of six nodes that point out of their element, element
/// sets of hexahedra or tetrahedra of ten nodes. What [`super::read`] reads back is equal, except
/// that element sets come back in ascending order and that an entry which a set holds twice comes
/// back once. In version 2.2 an element is written once for each of its sets, as Gmsh does; in 4.1
/// once.
///
/// # Errors
/// [`WriteError`]: the operating system's cause, or a set name that the format cannot hold (empty,
/// or with a quotation mark or a control character).
pub fn write(path: &Path, mesh: &HexMesh, format: GmshFormat) -> Result<(), WriteError> {
    let groups = Groups::of(mesh).map_err(|cause| WriteError::new(path, cause))?;
    atomic::write(path, |file| {
        let mut out = Records::new(file, format.encoding == Encoding::Binary);
        match format.version {
            Version::V2_2 => version_2(&mut out, mesh, &groups),
            Version::V4_1 => version_4(&mut out, mesh, &groups),
        }
    })
}

/// The physical groups of a mesh: numbered from 1 over all kinds, points before surfaces before
/// volumes.
struct Groups<'a> {
    names: Vec<(u8, &'a str)>,
    points: Vec<Group>,
    faces: Vec<Group>,
    /// The combinations of groups that elements are in; each is a geometric entity, from 1.
    combinations: Vec<Vec<i64>>,
    /// Combination of sets per element.
    combination_of: Vec<usize>,
}

/// A physical group of points or faces, by nodes from 0.
struct Group {
    tag: i64,
    /// Nodes of each member.
    size: usize,
    nodes: Vec<u32>,
}

impl Group {
    fn members(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        self.nodes.chunks_exact(self.size)
    }
}

/// Gmsh's numbers of the types of elements and faces of a mesh.
struct Types {
    element: i64,
    face: i64,
}

impl Types {
    fn of(mesh: &HexMesh) -> Self {
        match mesh.shape() {
            Shape::Tetrahedron => Self { element: 11, face: 9 },
            _ => Self { element: 5, face: 3 },
        }
    }
}

/// The nodes of an element in the order of Gmsh.
fn element_nodes(mesh: &HexMesh, element: usize) -> Vec<u32> {
    let mut nodes = mesh.element(element).to_vec();
    if mesh.shape() == Shape::Tetrahedron {
        in_order_of_gmsh(&mut nodes);
    }
    nodes
}

fn face_nodes(mesh: &HexMesh, face: Face) -> Vec<u32> {
    match mesh.shape() {
        Shape::Tetrahedron => face.nodes_of_triangle(mesh).to_vec(),
        _ => face.nodes(mesh).to_vec(),
    }
}

impl<'a> Groups<'a> {
    fn of(mesh: &'a HexMesh) -> io::Result<Self> {
        let mut names = Vec::new();
        let mut points = Vec::new();
        let mut faces = Vec::new();
        let size = if mesh.shape() == Shape::Tetrahedron { 6 } else { 4 };

        for (name, set) in &mesh.sets().nodes {
            let tag = add_name(&mut names, 0, name)?;
            points.push(Group { tag, size: 1, nodes: set.clone() });
        }
        for (name, set) in &mesh.sets().faces {
            let tag = add_name(&mut names, 2, name)?;
            let nodes = set.iter().flat_map(|&face| face_nodes(mesh, face)).collect();
            faces.push(Group { tag, size, nodes });
        }

        let mut groups_of = vec![Vec::new(); mesh.n_elements()];
        for (name, set) in &mesh.sets().elements {
            let tag = add_name(&mut names, 3, name)?;
            for &element in set {
                let groups: &mut Vec<i64> = &mut groups_of[element as usize];
                // A set may name an element twice.
                if groups.last() != Some(&tag) {
                    groups.push(tag);
                }
            }
        }

        let (combinations, combination_of) = number(groups_of);
        Ok(Self { names, points, faces, combinations, combination_of })
    }

    /// The elements of every combination.
    fn elements(&self) -> Vec<Vec<usize>> {
        let mut elements = vec![Vec::new(); self.combinations.len()];
        for (element, &combination) in self.combination_of.iter().enumerate() {
            elements[combination].push(element);
        }
        elements
    }
}

fn add_name<'a>(names: &mut Vec<(u8, &'a str)>, dimension: u8, name: &'a str) -> io::Result<i64> {
    if name.is_empty() || name.contains(|c: char| c == '"' || c.is_control()) {
        return Err(io::Error::other(format!(
            "the .msh format cannot hold the set name {name:?}; rename the set"
        )));
    }
    names.push((dimension, name));
    Ok(names.len() as i64)
}

/// Numbers the distinct lists: the lists, and for every entry the index of its list.
fn number(lists: Vec<Vec<i64>>) -> (Vec<Vec<i64>>, Vec<usize>) {
    let (mut distinct, mut index) = (Vec::new(), HashMap::new());
    let mut numbers = Vec::with_capacity(lists.len());
    for list in lists {
        let number = *index.entry(list.clone()).or_insert(distinct.len());
        if number == distinct.len() {
            distinct.push(list);
        }
        numbers.push(number);
    }
    (distinct, numbers)
}

fn version_2<W: Write>(out: &mut Records<W>, mesh: &HexMesh, groups: &Groups) -> io::Result<()> {
    out.format("2.2")?;
    out.names(&groups.names)?;

    out.text(&format!("$Nodes\n{}\n", mesh.n_nodes()))?;
    for (tag, x) in (1..).zip(mesh.coordinates()) {
        out.int(tag)?;
        out.coordinates(x)?;
    }
    out.end_section("Nodes")?;

    elements_2(out, mesh, groups)
}

fn elements_2<W: Write>(out: &mut Records<W>, mesh: &HexMesh, groups: &Groups) -> io::Result<()> {
    // An element has one group in this version: it is written again for each further one.
    let elements = groups.elements();
    let n_copies: usize = (groups.combinations.iter().zip(&elements))
        .map(|(list, elements)| list.len().saturating_sub(1) * elements.len())
        .sum();
    let sets = groups.points.iter().chain(&groups.faces);
    let n_members: usize = sets.map(|group| group.members().len()).sum();
    let total = mesh.n_elements() + n_copies + n_members;
    let types = Types::of(mesh);

    out.text(&format!("$Elements\n{total}\n"))?;
    for run in runs(&groups.combination_of) {
        let combination = groups.combination_of[run.start];
        let group = groups.combinations[combination].first().copied().unwrap_or(0);
        let tag = run.start as i64 + 1;
        let elements = run.map(|e| element_nodes(mesh, e));
        out.block_2(types.element, [group, combination as i64 + 1], tag, elements)?;
    }

    let mut tag = mesh.n_elements() as i64 + 1;
    for (combination, list) in groups.combinations.iter().enumerate() {
        for &group in list.iter().skip(1) {
            let elements = elements[combination].iter().map(|&e| element_nodes(mesh, e));
            tag = out.block_2(types.element, [group, combination as i64 + 1], tag, elements)?;
        }
    }

    for group in &groups.faces {
        tag = out.block_2(types.face, [group.tag; 2], tag, group.members())?;
    }
    for group in &groups.points {
        tag = out.block_2(15, [group.tag; 2], tag, group.members())?;
    }

    out.end_section("Elements")
}

/// Ranges of equal neighbors.
fn runs(values: &[usize]) -> impl Iterator<Item = std::ops::Range<usize>> {
    values.chunk_by(|a, b| a == b).scan(0, |end, chunk| {
        let start = *end;
        *end += chunk.len();
        Some(start..*end)
    })
}

fn version_4<W: Write>(out: &mut Records<W>, mesh: &HexMesh, groups: &Groups) -> io::Result<()> {
    out.format("4.1")?;
    out.names(&groups.names)?;
    entities(out, mesh, groups)?;

    let n_nodes = mesh.n_nodes() as u64;
    out.text("$Nodes\n")?;
    out.sizes(&[1, n_nodes, 1, n_nodes])?;
    out.header(&[3, 1, 0], n_nodes)?;
    for tag in 1..=n_nodes {
        out.sizes(&[tag])?;
    }
    for x in mesh.coordinates() {
        out.coordinates(x)?;
    }
    out.end_section("Nodes")?;

    elements_4(out, mesh, groups)
}

fn elements_4<W: Write>(out: &mut Records<W>, mesh: &HexMesh, groups: &Groups) -> io::Result<()> {
    // A block without elements is not written.
    out.text("$Elements\n")?;
    let types = Types::of(mesh);
    let points = groups.points.iter().filter(|group| !group.nodes.is_empty());
    let faces = groups.faces.iter().filter(|group| !group.nodes.is_empty());
    let sets = faces.clone().chain(points.clone());
    let n_blocks = groups.combinations.len() + sets.clone().count();
    let n_members: usize = sets.map(|group| group.members().len()).sum();
    let total = (mesh.n_elements() + n_members) as u64;
    out.sizes(&[n_blocks as u64, total, 1, total])?;

    for (combination, elements) in groups.elements().into_iter().enumerate() {
        out.header(&[3, combination as i64 + 1, types.element], elements.len() as u64)?;
        for element in elements {
            out.element_4(element as u64 + 1, &element_nodes(mesh, element))?;
        }
    }

    let mut tag = mesh.n_elements() as u64 + 1;
    for group in faces {
        tag = out.block_4(&[2, group.tag, types.face], tag, group.members())?;
    }
    for group in points {
        tag = out.block_4(&[0, group.tag, 15], tag, group.members())?;
    }

    out.end_section("Elements")
}

/// One entity for each node set, face set and combination of element sets.
fn entities<W: Write>(out: &mut Records<W>, mesh: &HexMesh, groups: &Groups) -> io::Result<()> {
    let bounds = mesh.bounding_box();
    let volumes = groups.combinations.len() as u64;
    out.text("$Entities\n")?;
    out.sizes(&[groups.points.len() as u64, 0, groups.faces.len() as u64, volumes])?;
    for group in &groups.points {
        out.entity(group.tag, &bounds.min, &[group.tag])?;
        out.end()?;
    }
    let corners = [bounds.min, bounds.max];
    let faces = groups.faces.iter().map(|group| (group.tag, vec![group.tag]));
    let combinations = (1..).zip(groups.combinations.iter().cloned());
    for (tag, list) in faces.chain(combinations) {
        out.entity(tag, corners.as_flattened(), &list)?;
        out.size(0)?;
        out.end()?;
    }
    out.end_section("Entities")
}
