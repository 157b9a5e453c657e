//! What is doubtful about a mesh and its loads, though a run is possible.

use std::cmp::Reverse;

use topopt_mesh::numbers::shown;
use topopt_mesh::{Components, Face, NodeToElements, coincident_nodes, hanging_nodes};
use topopt_study::case::Case;
use topopt_study::case_loads::CaseLoads;

use super::info::Shape;

/// What there is to know of a case before a problem is made of it.
pub(super) struct Diagnosis {
    /// Shape of the elements.
    pub quality: Shape,
    /// Parts of the mesh that share no node.
    pub connected_parts: usize,
    /// Pairs of nodes in the same place.
    pub coincident_nodes: usize,
    /// Nodes on faces that they are no corner of.
    pub hanging_nodes: usize,
    /// What is doubtful, a sentence each.
    pub warnings: Vec<String>,
}

/// Elements of a smaller scaled Jacobian are reported.
const POOR_JACOBIAN: f64 = 0.2;

impl Diagnosis {
    /// Looks at the mesh of `case` and at its `loads`.
    pub fn of<const N: usize>(case: &Case<N>, loads: &[CaseLoads<N>]) -> Self {
        let quality = Shape::of(&case.mesh, |element| case.element_number(element));
        let components = Components::of(&case.mesh);
        let pairs = coincident_nodes(&case.mesh);

        let mut warnings = Vec::new();
        warnings.extend(poor_elements(&quality));
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

        let hanging = hanging_nodes(&case.mesh);
        warnings.extend(not_conforming(case, &hanging));

        let adjacency = NodeToElements::new(&case.mesh);
        for load in loads {
            warnings.extend(held(case, load));
            warnings.extend(on_void(case, load, &adjacency));
        }

        let connected_parts = components.n_components();
        let (coincident_nodes, hanging_nodes) = (pairs.len(), hanging.len());
        Self { quality, connected_parts, coincident_nodes, hanging_nodes, warnings }
    }
}

fn poor_elements(quality: &Shape) -> Option<String> {
    let least = quality.scaled_jacobian.min;
    (least < POOR_JACOBIAN).then(|| {
        let worst: Vec<_> = quality.worst_elements.iter().take(5).map(u64::to_string).collect();
        format!(
            "poor elements: the scaled Jacobian goes down to {least:.3}; the worst of {} below \
             {POOR_JACOBIAN} are {}: displacements near them are inaccurate; improve the mesh \
             there",
            quality.histogram[..2].iter().sum::<usize>(),
            worst.join(", ")
        )
    })
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

/// Where grids of different size meet.
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

/// Loads that supports take, so that the part does not feel them.
fn held<const N: usize>(case: &Case<N>, load: &CaseLoads<N>) -> Option<String> {
    let mut lost = [0.0; N];
    let mut nodes = 0;
    for (node, force) in &load.forces {
        let is_held = |i: usize| force[i] != 0.0 && case.fixed[i].binary_search(node).is_ok();
        (0..N).filter(|&i| is_held(i)).for_each(|i| lost[i] += force[i]);
        nodes += usize::from((0..N).any(is_held));
    }
    let lost = lost.map(shown).join(", ");
    let (how, lost) = match N {
        1 => ("are heated, and their temperature is held", lost),
        _ => ("are loaded in a direction in which they are held", format!("({lost})")),
    };
    (nodes > 0).then(|| {
        let (n, name) = (load.forces.len(), &load.name);
        format!(
            "load case `{name}`: {nodes} of its {n} nodes {how}; {lost} in sum goes directly into \
             the supports; remove those nodes from the set of the load, unless this is intended"
        )
    })
}

/// Loads on nodes that have no other elements than void ones.
fn on_void<const N: usize>(
    case: &Case<N>,
    load: &CaseLoads<N>,
    adjacency: &NodeToElements,
) -> Option<String> {
    let is_void = |element: &u32| case.void.binary_search(element).is_ok();
    let in_void = |node: u32| adjacency.elements_of(node as usize).iter().all(is_void);
    let loaded = load.forces.iter().filter(|(_, force)| *force != [0.0; N]);
    let nodes: Vec<u32> = loaded.map(|(node, _)| *node).filter(|&node| in_void(node)).collect();
    nodes.first().map(|&first| {
        let (n, name, first) = (nodes.len(), &load.name, case.node_number(first));
        format!(
            "load case `{name}` acts on void elements: {n} of its nodes lie in it, the first is \
             {first}; load other nodes, or remove the elements there from `design.void`"
        )
    })
}
