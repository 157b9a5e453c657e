//! Fields recovered at nodes from values of the elements around, by superconvergent patches
//! [ZienkiewiczZhu1992], and the error of the elements' values beside them.
//!
//! At the center of an element stresses and fluxes converge faster than elsewhere in it. A linear
//! field through the centers of a patch of elements is therefore as accurate at its node as the
//! centers are. Across a member of one layer the centers say nothing, and the slope is that of the
//! elements, which is right in bending.

use nalgebra::{Matrix3, Vector3};
use rayon::prelude::*;
use topopt_mesh::hexahedron::{determinant, gauss_points, jacobian, map};
use topopt_mesh::surface::face_neighbors;
use topopt_mesh::{Face, HexMesh, NodeToElements};

use crate::elements::Corners;
use crate::stress::CENTER;

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
    /// The value at each corner of an element; [`NO_VALUE`] where the element does not count.
    pub of_corners: Vec<[u32; 8]>,
}

/// In [`Recovered::of_corners`]: no value.
pub const NO_VALUE: u32 = u32::MAX;

/// Second moment of the centers of a patch about their mean, over that of a single element, from
/// which on they say how the field varies in a direction: three for two layers, zero for one.
const VARIED: f64 = 0.75;

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
        let body = |e: usize| Body::of(&mesh.element_coordinates(e));
        let bodies = (0..mesh.n_elements()).into_par_iter().map(body).collect();
        let (adjacency, neighbors) = (NodeToElements::new(mesh), face_neighbors(mesh));
        let patches = Patches { samples: self, mesh, bodies, adjacency, neighbors };
        let of_node = |node: usize| patches.at(node);
        let at_nodes: Vec<Vec<(u32, [f64; C])>> =
            (0..mesh.n_nodes()).into_par_iter().map(of_node).collect();

        let mut firsts = vec![0];
        at_nodes.iter().for_each(|values| firsts.push(firsts[firsts.len() - 1] + values.len()));
        let corner = |node: u32, material: u32| {
            let of_material = |(other, _): &(u32, _)| *other == material;
            let place = at_nodes[node as usize].iter().position(of_material);
            place.map_or(NO_VALUE, |place| (firsts[node as usize] + place) as u32)
        };
        let elements = mesh.hexes().par_iter().zip(&self.materials);
        let of_corners = elements.map(|(hex, material)| {
            material.map_or([NO_VALUE; 8], |material| hex.map(|node| corner(node, material)))
        });

        Recovered {
            of_corners: of_corners.collect(),
            nodes: (0..)
                .zip(&at_nodes)
                .flat_map(|(node, all)| all.iter().map(move |_| node))
                .collect(),
            values: at_nodes.into_iter().flatten().map(|(_, value)| value).collect(),
        }
    }
}

/// Patches of elements around nodes.
struct Patches<'a, const C: usize> {
    samples: &'a Samples<C>,
    mesh: &'a HexMesh,
    bodies: Vec<Body>,
    adjacency: NodeToElements,
    neighbors: Vec<[u32; 6]>,
}

impl<const C: usize> Patches<'_, C> {
    /// The materials around `node`, ascending, each with its value.
    fn at(&self, node: usize) -> Vec<(u32, [f64; C])> {
        let materials = &self.samples.materials;
        let around = self.adjacency.elements_of(node).iter();
        let mut found: Vec<u32> = around.filter_map(|&e| materials[e as usize]).collect();
        found.sort_unstable();
        found.dedup();
        let x = Vector3::from(self.mesh.coordinates()[node]);
        found
            .into_iter()
            .map(|material| (material, self.value(&self.patch(node, material), x)))
            .collect()
    }

    /// The elements of `material` around `node`; where it lies on their surface, those behind too:
    /// a patch of one layer says nothing of the direction across.
    fn patch(&self, node: usize, material: u32) -> Vec<u32> {
        let is_own = |e: &u32| self.samples.materials.get(*e as usize) == Some(&Some(material));
        let around = self.adjacency.elements_of(node).iter().copied().filter(is_own);
        let mut patch: Vec<u32> = around.collect();
        let has_node = |face: &[u32; 4]| face.contains(&(node as u32));
        let is_free = |&element: &u32| {
            (0..6).any(|local| {
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
