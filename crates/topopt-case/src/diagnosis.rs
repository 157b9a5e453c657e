//! Warnings about a mesh and its loads with which a run is possible.

use std::cmp::Reverse;
use std::collections::HashSet;

use topopt_fem::DIM;
use topopt_mesh::cells::Shape;
use topopt_mesh::numbers::{place, shown, without_rounding};
use topopt_mesh::quality::{LEAST_OF_STRESSES, Quality, QualitySummary};
use topopt_mesh::{Components, Face, coincident_nodes, hanging_nodes};

use crate::case::Case;
use crate::case_loads::CaseLoads;
use crate::config::Config;

/// Quality, connectivity and warnings of a case, known before a problem is made of it.
#[derive(Debug, Clone)]
pub struct Diagnosis {
    /// Shape of the elements.
    pub quality: QualitySummary,
    /// Numbers in the mesh file of its worst elements.
    pub worst_elements: Vec<u64>,
    /// Parts of the mesh that share no node.
    pub connected_parts: usize,
    /// Pairs of nodes in the same place.
    pub coincident_nodes: usize,
    /// Nodes on faces that they are no corner of.
    pub hanging_nodes: usize,
    /// Warnings about mesh and loads, one sentence each.
    pub warnings: Vec<String>,
}

/// Hexahedra of a smaller scaled Jacobian are reported: of a mesh that was made elsewhere, and may
/// be improved there, and of one that was made here, in several ways until it was good enough.
/// Tetrahedra of ten nodes move rightly however flat they are: see [`LEAST_OF_STRESSES`].
const POOR: f64 = 0.2;
const POOR_OF_GEOMETRY: f64 = 0.05;

/// Elements of a mesh in which nodes that are not joined are searched unasked: the search takes a
/// third of the time before the first iteration, and grows in proportion.
const MOST_EXAMINED: usize = 2_000_000;

impl Diagnosis {
    /// Looks at mesh and loads; the elements have this quality.
    pub fn of<const N: usize>(config: &Config, case: &Case<N>, of_elements: &Quality) -> Self {
        let quality = of_elements.summary();
        let worst_elements: Vec<u64> =
            quality.worst.iter().map(|&element| case.element_number(element)).collect();
        let components = Components::of(&case.mesh);
        let is_examined = case.is_examined || case.mesh.n_elements() <= MOST_EXAMINED;
        let (pairs, hanging) = match is_examined {
            true => (coincident_nodes(&case.mesh), hanging_nodes(&case.mesh)),
            false => Default::default(),
        };

        let mut warnings = Vec::new();
        warnings.extend(poor_elements(config, case, of_elements));
        warnings.extend(separate_parts(&components));
        warnings.extend(pairs.first().map(|pair| {
            let [a, b] = pair.map(|node| case.node_number(node));
            let n = pairs.len();
            format!(
                "{n} pairs of nodes are in the same place, the first {a} and {b}: the parts that \
                 meet there are not joined; merge the nodes in the mesher (Coherence in Gmsh) if \
                 they should be"
            )
        }));

        warnings.extend(not_conforming(case, &hanging));

        let is_in_void = in_void(case);
        for load in &case.load_cases {
            warnings.extend(held(case, load));
            warnings.extend(on_void(case, load, &is_in_void));
        }

        let connected_parts = components.n_components();
        let (coincident_nodes, hanging_nodes) = (pairs.len(), hanging.len());
        Self { quality, worst_elements, connected_parts, coincident_nodes, hanging_nodes, warnings }
    }
}

/// Elements that are nearly flat, with places; those of a file by its numbers too, each once.
fn poor_elements<const N: usize>(
    config: &Config,
    case: &Case<N>,
    quality: &Quality,
) -> Option<String> {
    let is_own = config.mesh.get_ref().is_of_geometry();
    let (limit, what) = match (case.mesh.shape(), is_own) {
        (Shape::Tetrahedron, _) => (LEAST_OF_STRESSES, "stresses"),
        (_, true) => (POOR_OF_GEOMETRY, states::<N>()),
        (_, false) => (POOR, states::<N>()),
    };
    let jacobian = &quality.scaled_jacobian;
    let mut poor: Vec<u32> =
        (0..).zip(jacobian).filter(|(_, j)| **j < limit).map(|(e, _)| e).collect();
    let by_jacobian = |a: &u32, b: &u32| jacobian[*a as usize].total_cmp(&jacobian[*b as usize]);
    poor.sort_by(|a, b| by_jacobian(a, b).then(a.cmp(b)));
    let mut seen = HashSet::new();
    poor.retain(|&element| seen.insert(case.element_number(element)));

    let least = jacobian[*poor.first()? as usize];
    let shown = poor.iter().take(5).map(|&element| {
        let center = case.mesh.center(element as usize);
        let at = format!("at {}", place(center));
        if is_own { at } else { format!("{} {at}", case.element_number(element)) }
    });
    let remedy = if is_own { "another `element_size` may help" } else { "improve the mesh there" };
    Some(format!(
        "poor elements: the scaled Jacobian goes down to {least:.3}; the worst of {} below {limit} are \
         {}: {what} near them are inaccurate; {remedy}",
        poor.len(),
        shown.collect::<Vec<_>>().join(", ")
    ))
}

/// The unknowns of the physics of N components.
fn states<const N: usize>() -> &'static str {
    if N == DIM { "displacements" } else { "temperatures" }
}

fn separate_parts(components: &Components) -> Option<String> {
    let n = components.n_components();
    (n > 1).then(|| {
        let mut sizes = vec![0_usize; n];
        components.of_element().iter().for_each(|&part| sizes[part as usize] += 1);
        sizes.sort_unstable_by_key(|&size| Reverse(size));
        let shown: Vec<_> = sizes.iter().take(5).map(usize::to_string).collect();
        let more = if n > 5 { ", ..." } else { "" };
        let shown = shown.join(", ");
        format!(
            "the mesh has {n} parts that share no node, of {shown}{more} elements: each must be \
             held separately; merge nodes in the mesher if they belong together"
        )
    })
}

/// Warns of hanging nodes, where grids of different size meet.
fn not_conforming<const N: usize>(case: &Case<N>, hanging: &[(u32, Face)]) -> Option<String> {
    let &(node, face) = hanging.first()?;
    let [x, y, z] = case.mesh.coordinates()[node as usize].map(shown);
    let (n, node, element) =
        (hanging.len(), case.node_number(node), case.element_number(face.element));
    Some(format!(
        "{n} nodes lie on faces without being corners of them; the first is {node} at ({x}, {y}, \
         {z}) on a face of element {element}: the mesh is not joined there; make it conforming \
         (Coherence or BooleanFragments in Gmsh)"
    ))
}

/// Forces that supports take, so that the structure does not feel them. Of heat, what a film brings
/// to held nodes is among them.
fn held<const N: usize>(case: &Case<N>, load: &CaseLoads<N>) -> Option<String> {
    if N != DIM {
        return None;
    }
    let mut lost = [0.0; N];
    let mut nodes = 0;
    for (node, force) in &load.forces {
        let is_held = |i: usize| force[i] != 0.0 && case.fixed[i].binary_search(node).is_ok();
        (0..N).filter(|&i| is_held(i)).for_each(|i| lost[i] += force[i]);
        nodes += usize::from((0..N).any(is_held));
    }
    (nodes > 0).then(|| {
        let size: f64 = load.forces.iter().flat_map(|(_, force)| force).map(|f| f.abs()).sum();
        let lost = without_rounding(lost, size).map(shown).join(", ");
        let (n, name) = (load.forces.len(), &load.name);
        format!(
            "load case `{name}`: {nodes} of its {n} nodes are loaded in a direction in which they \
             are held; ({lost}) in sum goes directly into the supports, and is no part of the sums \
             of `topopt check`; keep sets of loads and supports apart, unless this is intended"
        )
    })
}

/// Whether all elements of a node are void, `[n_nodes]`; empty where none is.
fn in_void<const N: usize>(case: &Case<N>) -> Vec<bool> {
    if case.void.is_empty() {
        return Vec::new();
    }
    let mut is_in_void = vec![true; case.mesh.n_nodes()];
    let is_void = |element: usize| case.void.binary_search(&(element as u32)).is_ok();
    let others = case.mesh.elements().enumerate().filter(|(element, _)| !is_void(*element));
    others.flat_map(|(_, nodes)| nodes).for_each(|&node| is_in_void[node as usize] = false);
    is_in_void
}

/// Forces on nodes that have no other elements than void ones.
fn on_void<const N: usize>(
    case: &Case<N>,
    load: &CaseLoads<N>,
    is_in_void: &[bool],
) -> Option<String> {
    let loaded = load.forces.iter().filter(|(_, force)| *force != [0.0; N]).map(|(node, _)| *node);
    let is_lost = |node: &u32| is_in_void.get(*node as usize) == Some(&true);
    let nodes: Vec<u32> = loaded.filter(is_lost).collect();
    nodes.first().map(|&first| {
        let (n, name, first) = (nodes.len(), &load.name, case.node_number(first));
        format!(
            "load case `{name}` acts on void elements: {n} of its nodes lie in it, the first is \
             {first}; load other nodes, or remove the elements there from `design.void`"
        )
    })
}
