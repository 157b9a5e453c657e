//! `GaussPoints` of a mesh: where the densities of its elements are sampled.

use rayon::prelude::*;
use topopt_mesh::HexMesh;
use topopt_mesh::cells::Shape;
use topopt_mesh::vector::{difference, length};

/// Integration points of all elements, element by element: eight, or four of a tetrahedron. One
/// point per element would print the outline of the elements on the surface.
pub(crate) struct GaussPoints {
    /// `[n_points][3]`.
    pub places: Vec<[f64; 3]>,
    /// Volumes that the points stand for, `[n_points]`.
    pub volumes: Vec<f64>,
    /// Distance across which the points of the same element lie, `[n_points]`: the edge of a cube.
    pub widths: Vec<f64>,
    /// Points of one element.
    pub per_element: usize,
}

impl GaussPoints {
    pub fn of(mesh: &HexMesh) -> Self {
        let xi = mesh.integration_points();
        let (per_element, n) = (xi.len(), xi.len() * mesh.n_elements());
        let (mut places, mut volumes, mut widths) = (vec![[0.0; 3]; n], vec![0.0; n], vec![0.0; n]);
        let places_of = places.par_chunks_mut(per_element);
        let of_elements =
            volumes.par_chunks_mut(per_element).zip(widths.par_chunks_mut(per_element));
        of_elements.zip(places_of).enumerate().for_each(
            |(element, ((volumes, widths), places))| {
                widths.fill(fill(mesh, element, &xi, (places, volumes)));
            },
        );
        Self { places, volumes, widths, per_element }
    }

    /// Values of elements at their points.
    pub fn spread(&self, of_elements: &[f64]) -> Vec<f64> {
        let values = of_elements.par_iter();
        values.flat_map_iter(|&value| std::iter::repeat_n(value, self.per_element)).collect()
    }

    /// Densities at the points where elements of `mesh` are solid as they lie in a part of space,
    /// in which its nodes have a `depth`, `[n_nodes]`: that part ends within the elements, and goes
    /// on in those beside them, whose centers lie outside.
    pub fn end_at(&self, mesh: &HexMesh, depth: &[f64], density: &mut [f64]) {
        let (xi, center) = (mesh.integration_points(), mesh.reference_center());
        let elements = density.par_chunks_mut(self.per_element).enumerate();
        elements.for_each(|(element, density)| {
            let nodes = mesh.element(element);
            let depth_at = |xi: [f64; 3]| -> f64 {
                let shares = mesh.shape_functions(xi).into_iter().zip(nodes);
                shares.map(|(share, &node)| share * depth[node as usize]).sum()
            };
            let is_chosen = depth_at(center) >= 0.0;
            let first = element * self.per_element;
            for ((density, xi), volume) in density.iter_mut().zip(&xi).zip(&self.volumes[first..]) {
                let filled = (0.5 + depth_at(*xi) / volume.cbrt()).clamp(0.0, 1.0);
                *density = if is_chosen { filled } else { density.max(filled) };
            }
        });
    }
}

/// Finds the places and volumes of the points of an element, which are at `xi` in it; returns their
/// width.
fn fill(
    mesh: &HexMesh,
    element: usize,
    xi: &[[f64; 3]],
    (places, volumes): (&mut [[f64; 3]], &mut [f64]),
) -> f64 {
    // Reference volumes: 8 of the cube, 1/6 of the tetrahedron.
    let weight = if mesh.shape() == Shape::Tetrahedron { 1.0 / 24.0 } else { 1.0 };
    let center = mesh.point(element, mesh.reference_center());
    let mut farthest = 0.0_f64;
    for ((place, volume), &xi) in places.iter_mut().zip(volumes).zip(xi) {
        *place = mesh.point(element, xi);
        *volume = weight * mesh.determinant(element, xi).abs();
        farthest = farthest.max(length(difference(*place, center)));
    }
    // The points of a cube lie half an edge from its center.
    2.0 * farthest
}
