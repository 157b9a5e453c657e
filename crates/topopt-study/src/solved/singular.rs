//! Places where stresses grow with every refinement of the mesh: edges of supports, supports of
//! edges and points, and concentrated loads.

use std::collections::{HashMap, HashSet};

use topopt_case::physics::Physics;
use topopt_fem::{DIM, Elasticity};
use topopt_mesh::surface::{area_vector, face_center, face_coordinates, face_neighbors};
use topopt_mesh::vector::{difference, dot, length};
use topopt_mesh::{Face, HexMesh};

use super::part::{Part, Solved};
use super::restraints::{Hold, Restraint, RestraintKind};

/// Places of a load case, and the nodes near them.
pub struct Places {
    /// Name of each place, such as `support wall`.
    pub names: Vec<String>,
    /// The place within an element of a node, `[n_nodes]` in the order of the problem.
    pub of_node: Vec<Option<u32>>,
}

impl Places {
    /// Places of load case `case`; `edges`: see [`at_edges`].
    pub fn of(solved: &Solved<Elasticity, DIM>, case: usize, edges: &[Option<u32>]) -> Self {
        let part = &solved.part;
        let restraints = &part.given.restraints;
        let mut names: Vec<String> = restraints.iter().map(Restraint::name).collect();
        let mut of_node = edges.to_vec();
        let mut mark = |nodes: Vec<usize>, place: u32| {
            nodes.into_iter().for_each(|node| _ = of_node[node].get_or_insert(place));
        };
        for (place, restraint) in (0..).zip(restraints) {
            if let Hold::Stiffness(nodes) = &restraint.hold {
                mark(concentrated(part, nodes.iter().map(|(node, _)| *node)), place);
            }
        }

        let name = &part.model.problem.load_cases()[case].name;
        for load in Elasticity::nodal_loads(&part.lookup()) {
            if load.case == *name && !load.is_within {
                let loaded = load.forces.iter().filter(|(_, force)| length(*force) > 0.0);
                mark(concentrated(part, loaded.map(|(node, _)| *node)), names.len() as u32);
                names.push(load.set.map_or("load".into(), |set| format!("load {set}")));
            }
        }
        Self { names, of_node: with_neighbors(part.model.problem.mesh(), &of_node) }
    }
}

impl Restraint {
    /// Kind and set, such as `support wall`.
    pub fn name(&self) -> String {
        match self.kind {
            RestraintKind::Support => format!("support {}", self.set),
            RestraintKind::Springs => format!("springs {}", self.set),
        }
    }
}

/// The nodes among `nodes`, as the user numbers them, that are in no face with all of its corners
/// among them or all in the middles of its edges, in the order of the problem. A pressure has
/// forces on corners of quadrilaterals and in the middles of edges of triangles.
fn concentrated(part: &Part<Elasticity, DIM>, nodes: impl Iterator<Item = u32>) -> Vec<usize> {
    let (mesh, new_node) = (part.model.problem.mesh(), part.model.renumbering.new_nodes());
    let mut is_meant = vec![false; mesh.n_nodes()];
    nodes.for_each(|node| is_meant[new_node[node as usize] as usize] = true);
    let mut is_spread = vec![false; mesh.n_nodes()];
    for element in 0..mesh.n_elements() as u32 {
        for face in (0..mesh.n_faces()).map(|local| Face { element, local }) {
            let nodes: Vec<u32> = face.all_nodes(mesh).collect();
            let (corners, middles) = nodes.split_at(4);
            for nodes in [corners, middles] {
                if nodes.iter().all(|&node| is_meant[node as usize]) {
                    nodes.iter().for_each(|&node| is_spread[node as usize] = true);
                }
            }
        }
    }
    (0..mesh.n_nodes()).filter(|&node| is_meant[node] && !is_spread[node]).collect()
}

/// The marks of nodes, and on all other nodes of their elements too.
fn with_neighbors(mesh: &HexMesh, marks: &[Option<u32>]) -> Vec<Option<u32>> {
    let mut all = marks.to_vec();
    for nodes in mesh.elements() {
        let mark = nodes.iter().find_map(|&node| marks[node as usize]);
        for &node in nodes {
            all[node as usize] = all[node as usize].or(mark);
        }
    }
    all
}

/// A face of the surface with held nodes.
struct HeldFace {
    /// Components that all of its nodes are held in.
    held: [bool; DIM],
    /// Normal to the outside, of unit length.
    normal: [f64; 3],
    center: [f64; 3],
}

/// Components held of a node: the entry of the restraints that holds each, by node of the problem.
type Held = HashMap<u32, [Option<u32>; DIM]>;

/// The support, by its entry in the restraints, at whose edge a node of the problem lies,
/// `[n_nodes]`. Faces are those around all elements that `counts`.
///
/// A plane of symmetry has no such edge: its mirror image is a part without a support.
pub fn at_edges(part: &Part<Elasticity, DIM>, counts: &[bool]) -> Vec<Option<u32>> {
    let (mesh, new_node) = (part.model.problem.mesh(), part.model.renumbering.new_nodes());
    let mut held = Held::new();
    for (entry, restraint) in (0..).zip(&part.given.restraints) {
        let Hold::Components(components) = &restraint.hold else { continue };
        for &(node, i) in components {
            held.entry(new_node[node as usize]).or_default()[i] = Some(entry);
        }
    }

    let mut around: HashMap<u32, Vec<HeldFace>> = HashMap::new();
    for face in free_faces(mesh, counts) {
        for node in face.all_nodes(mesh).collect::<HashSet<u32>>() {
            if held.contains_key(&node) {
                around.entry(node).or_default().push(HeldFace::of(mesh, face, &held));
            }
        }
    }
    let mut at_edges = vec![None; mesh.n_nodes()];
    for (node, by) in &held {
        let faces = around.get(node).map_or(&[][..], Vec::as_slice);
        let component = (0..DIM).find(|&i| by[i].is_some() && ends(faces, i));
        at_edges[*node as usize] = component.and_then(|i| by[i]);
    }
    at_edges
}

fn free_faces(mesh: &HexMesh, counts: &[bool]) -> Vec<Face> {
    let mut faces = Vec::new();
    let neighbors = face_neighbors(mesh);
    for (element, behind) in (0..).zip(neighbors).filter(|(e, _)| counts[*e as usize]) {
        let is_free = |(_, other): &(u8, u32)| counts.get(*other as usize) != Some(&true);
        let free = (0..).zip(behind).filter(is_free);
        faces.extend(free.map(|(local, _)| Face { element, local }));
    }
    faces
}

/// Whether a support of component `i` ends at a node with these faces around it, or holds none.
fn ends(faces: &[HeldFace], i: usize) -> bool {
    let (inside, outside): (Vec<_>, Vec<_>) = faces.iter().partition(|face| face.held[i]);
    let is_edge = |inside: &&HeldFace| outside.iter().any(|other| !inside.is_mirrored(other));
    inside.is_empty() || inside.iter().any(is_edge)
}

/// Cosine below which normals are at a right angle, or nearly so.
const RIGHT: f64 = 0.2;

impl HeldFace {
    fn of(mesh: &HexMesh, face: Face, held: &Held) -> Self {
        let x = face_coordinates(mesh, face);
        let area = area_vector(&x);
        let size = length(area);
        let nodes = face.nodes(mesh);
        let is_held =
            |i: usize| nodes.iter().all(|node| held.get(node).is_some_and(|by| by[i].is_some()));
        Self {
            held: std::array::from_fn(is_held),
            normal: area.map(|a| a / size),
            center: face_center(&x),
        }
    }

    /// Whether this face or the `other` is on a plane of symmetry, and the other at a right angle.
    fn is_mirrored(&self, other: &Self) -> bool {
        let is_right = dot(self.normal, other.normal) < RIGHT;
        let is_convex = dot(self.normal, difference(other.center, self.center)) < 0.0;
        is_right && is_convex && (self.is_symmetric() || other.is_symmetric())
    }

    /// Whether it is held along its normal alone.
    fn is_symmetric(&self) -> bool {
        (0..DIM).all(|i| self.held[i] == (self.normal[i].abs() > 1.0 - 1e-6))
    }
}
