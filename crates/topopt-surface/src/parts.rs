//! Connected parts of the solid and of what it leaves empty.

use topopt_mesh::{HexMesh, surface, tetrahedra};

use crate::cut::Cut;
use crate::threshold::Volumes;

/// The vertices of the tetrahedra by connected parts, solid or empty: those of one kind that an
/// edge joins belong together.
pub(crate) struct Parts {
    /// Number of the part of every vertex, `[n_nodes + n_elements]`, in the order of their first
    /// vertices.
    pub of_vertex: Vec<u32>,
    /// Whether a part is solid.
    pub is_solid: Vec<bool>,
}

impl Parts {
    pub fn of(cut: &Cut) -> Self {
        let n_vertices = cut.mesh.n_nodes() + cut.mesh.n_elements();
        let mut union = Union { parent: (0..n_vertices as u32).collect() };
        let is_solid: Vec<bool> = (0..n_vertices as u32).map(|v| cut.is_inside(v)).collect();
        for element in 0..cut.mesh.n_elements() {
            let center = (cut.mesh.n_nodes() + element) as u32;
            if !cut.is_cut(element) {
                cut.mesh.element(element).iter().for_each(|&node| union.join(center, node));
                continue;
            }
            for [center, a, b, c] in tetrahedra::of_element(cut.mesh, element) {
                for (p, q) in [(center, a), (center, b), (center, c), (a, b), (b, c), (c, a)] {
                    if is_solid[p as usize] == is_solid[q as usize] {
                        union.join(p, q);
                    }
                }
            }
        }

        let mut parts = Self { of_vertex: vec![0; n_vertices], is_solid: Vec::new() };
        for vertex in 0..n_vertices as u32 {
            // The root is the smallest vertex of its part, so that it comes first.
            let root = union.root(vertex);
            parts.of_vertex[vertex as usize] = if root == vertex {
                parts.is_solid.push(is_solid[vertex as usize]);
                parts.is_solid.len() as u32 - 1
            } else {
                parts.of_vertex[root as usize]
            };
        }
        parts
    }

    /// The volume of every part, enclosed by exactly the triangles of the surface, and the mean
    /// volume of the elements that it reaches into.
    pub fn volumes(&self, cut: &Cut, elements: &Volumes) -> Vec<[f64; 2]> {
        let n_parts = self.is_solid.len();
        let (mut volumes, mut reached) = (vec![0.0; n_parts], vec![[0.0; 2]; n_parts]);
        let part = |vertex: u32| self.of_vertex[vertex as usize] as usize;
        let mut here = Vec::new();

        for element in 0..cut.mesh.n_elements() {
            let (whole, center) = (elements.of_element(element), cut.mesh.n_nodes() + element);
            here.clear();
            here.push(part(center as u32));
            if !cut.is_cut(element) {
                volumes[here[0]] += whole;
            } else {
                for (tetrahedron, volume) in tetrahedra::with_volumes(cut.mesh, element) {
                    let inside = cut.share_inside(tetrahedron);
                    // All solid vertices of a tetrahedron are of one part, so are the empty ones.
                    for (is_solid, share) in [(true, inside), (false, 1.0 - inside)] {
                        let vertex = tetrahedron.iter().find(|&&v| cut.is_inside(v) == is_solid);
                        if let Some(&vertex) = vertex {
                            volumes[part(vertex)] += share * volume;
                            here.push(part(vertex));
                        }
                    }
                }
            }

            here.sort_unstable();
            here.dedup();
            for &part in &here {
                reached[part] = [reached[part][0] + whole, reached[part][1] + 1.0];
            }
        }

        let means = reached.iter().map(|[sum, count]| sum / count);
        volumes.into_iter().zip(means).map(|(volume, mean)| [volume, mean]).collect()
    }

    /// Whether a part has a vertex on the boundary of the mesh.
    pub fn on_boundary(&self, mesh: &HexMesh) -> Vec<bool> {
        let mut on_boundary = vec![false; self.is_solid.len()];
        for face in surface::boundary_faces(mesh) {
            for node in face.nodes(mesh) {
                on_boundary[self.of_vertex[node as usize] as usize] = true;
            }
        }
        on_boundary
    }
}

/// Sets that are joined, each by its smallest member.
struct Union {
    parent: Vec<u32>,
}

impl Union {
    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b) as usize] = a.min(b);
    }

    fn root(&mut self, mut vertex: u32) -> u32 {
        while self.parent[vertex as usize] != vertex {
            let above = self.parent[self.parent[vertex as usize] as usize];
            self.parent[vertex as usize] = above;
            vertex = above;
        }
        vertex
    }
}
