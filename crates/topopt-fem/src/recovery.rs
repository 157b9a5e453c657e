//! Fields recovered at nodes from values of the elements around, by superconvergent patches
//! \[ZienkiewiczZhu1992\], and the error of the elements' values beside them.
//!
//! At the center of a hexahedron stresses and fluxes converge faster than elsewhere in it. A linear
//! field through the centers of a patch of elements is therefore as accurate at its node as the
//! centers are. Across a member of one layer the centers say nothing, and the slope is that of the
//! elements, which is right in bending. Through tetrahedra go [quadratic fields](crate::tetrahedra).

use nalgebra::{Matrix3, Vector3};
use rayon::prelude::*;
use topopt_mesh::cells::Shape;
use topopt_mesh::hexahedron::{determinant, gauss_points, jacobian, map};
use topopt_mesh::surface::face_neighbors;
use topopt_mesh::{Face, HexMesh, NodeToElements};

use crate::elements::Corners;
use crate::stress::CENTER;
use crate::tetrahedra;

/// Values of elements from which nodal ones are recovered, with C components.
#[derive(Debug, Clone)]
pub struct Samples<const C: usize> {
    /// Values at the centers, `[n_elements][C]`.
    pub values: Vec<[f64; C]>,
    /// Slopes of the elements' own fields along x, y and z, `[n_elements][3][C]`.
    pub slopes: Vec<[[f64; C]; 3]>,
    /// Material of each element, `[n_elements]`: no patch has two. None where an element counts
    /// for nothing, as one that is empty.
    pub materials: Vec<Option<u32>>,
}

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

/// Second moment of the centers of a patch about their mean, over that of a single element, from
/// which on they say how the field varies in a direction: three for two layers, zero for one.
const VARIED: f64 = 0.75;

impl<const C: usize> Recovered<C> {
    /// The values at the nodes of `element`; [`NO_VALUE`] where it does not count.
    pub fn of_element(&self, element: usize) -> &[u32] {
        &self.of_elements[self.nodes_per_element * element..][..self.nodes_per_element]
    }
}

/// Volume, center and second moments about it of an element.
struct Body {
    volume: f64,
    center: Vector3<f64>,
    moments: Matrix3<f64>,
}

impl Body {
    fn of(x: &Corners) -> Self {
        let points = gauss_points().map(|xi| (map(x, xi), determinant(&jacobian(x, xi))));
        let volume: f64 = points.iter().map(|(_, weight)| weight).sum();
        let center = Vector3::from(map(x, CENTER));
        let moments = points.iter().map(|(at, weight)| {
            let arm = Vector3::from(*at) - center;
            *weight * arm * arm.transpose()
        });
        Self { volume, center, moments: moments.sum() }
    }
}

impl<const C: usize> Samples<C> {
    /// Recovers the nodal values on `mesh`.
    pub fn recovered(&self, mesh: &HexMesh) -> Recovered<C> {
        let around = Around {
            mesh,
            materials: &self.materials,
            adjacency: NodeToElements::new(mesh),
            neighbors: face_neighbors(mesh),
        };
        let at_nodes = match mesh.shape() {
            Shape::Tetrahedron => tetrahedra::at_nodes(self, &around),
            _ => at_nodes(self, &around),
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

/// Materials at every node, ascending, each with its value.
pub(crate) type AtNodes<const C: usize> = Vec<Vec<(u32, [f64; C])>>;

/// The values at the nodes of hexahedra.
fn at_nodes<const C: usize>(samples: &Samples<C>, around: &Around) -> AtNodes<C> {
    let mesh = around.mesh;
    let body = |e: usize| Body::of(&mesh.element_coordinates(e));
    let bodies = (0..mesh.n_elements()).into_par_iter().map(body).collect();
    let patches = Patches { samples, bodies };
    let of_node = |node: usize| {
        let x = Vector3::from(mesh.coordinates()[node]);
        let value = |material| (material, patches.value(&around.patch(node, material), x));
        around.materials_at(node).into_iter().map(value).collect()
    };
    (0..mesh.n_nodes()).into_par_iter().map(of_node).collect()
}

/// The elements around nodes.
pub(crate) struct Around<'a> {
    pub mesh: &'a HexMesh,
    materials: &'a [Option<u32>],
    pub adjacency: NodeToElements,
    neighbors: Vec<[u32; 6]>,
}

impl Around<'_> {
    /// The materials around `node`, ascending.
    pub fn materials_at(&self, node: usize) -> Vec<u32> {
        let around = self.adjacency.elements_of(node).iter();
        let mut found: Vec<u32> = around.filter_map(|&e| self.materials[e as usize]).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The elements of `material` around `node`; where it lies on their surface, those behind too:
    /// a patch of one layer says nothing of the direction across.
    pub fn patch(&self, node: usize, material: u32) -> Vec<u32> {
        let is_own = |e: &u32| self.materials.get(*e as usize) == Some(&Some(material));
        let around = self.adjacency.elements_of(node).iter().copied().filter(is_own);
        let mut patch: Vec<u32> = around.collect();
        let has_node = |face: &[u32; 4]| face.contains(&(node as u32));
        let is_free = |&element: &u32| {
            (0..self.mesh.n_faces()).any(|local| {
                let nodes = Face { element, local }.nodes(self.mesh);
                let behind = self.neighbors[element as usize][local as usize];
                has_node(&nodes) && !is_own(&behind)
            })
        };
        if patch.iter().any(is_free) {
            let behind = patch.iter().flat_map(|&e| self.neighbors[e as usize]).filter(is_own);
            let behind: Vec<u32> = behind.collect();
            patch.extend(behind);
        }
        patch.sort_unstable();
        patch.dedup();
        patch
    }
}

/// Patches of hexahedra.
struct Patches<'a, const C: usize> {
    samples: &'a Samples<C>,
    bodies: Vec<Body>,
}

impl<const C: usize> Patches<'_, C> {
    /// The value at `x` of the linear field through a patch.
    fn value(&self, patch: &[u32], x: Vector3<f64>) -> [f64; C] {
        let of = |e: &u32| &self.bodies[*e as usize];
        let volume: f64 = patch.iter().map(|e| of(e).volume).sum();
        let mean = patch.iter().map(|e| of(e).volume * of(e).center).sum::<Vector3<f64>>() / volume;
        let own: Matrix3<f64> = patch.iter().map(|e| of(e).moments).sum();
        let between: Matrix3<f64> = patch
            .iter()
            .map(|e| {
                let arm = of(e).center - mean;
                of(e).volume * arm * arm.transpose()
            })
            .sum();

        let values = &self.samples.values;
        let mut value = [0.0; C];
        for e in patch {
            (0..C).for_each(|i| value[i] += of(e).volume / volume * values[*e as usize][i]);
        }
        // Directions in which the arms of the centers are independent, in units of an element.
        let Some(root) = own.cholesky().map(|cholesky| cholesky.l()) else { return value };
        let Some(inverse) = root.try_inverse() else { return value };
        let eigen = (inverse * between * inverse.transpose()).symmetric_eigen();
        for (k, &share) in eigen.eigenvalues.iter().enumerate() {
            let direction = eigen.eigenvectors.column(k);
            let arm = |x: Vector3<f64>| direction.dot(&(inverse * (x - mean)));
            let along = root * direction;
            let scale = if share > VARIED { arm(x) / share } else { arm(x) / volume };
            for e in patch {
                let factor = scale * of(e).volume;
                for i in 0..C {
                    let slope = if share > VARIED {
                        arm(of(e).center) * values[*e as usize][i]
                    } else {
                        (0..3).map(|j| along[j] * self.samples.slopes[*e as usize][j][i]).sum()
                    };
                    value[i] += factor * slope;
                }
            }
        }
        value
    }
}
