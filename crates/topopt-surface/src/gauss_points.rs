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
        let per_element = mesh.integration_points().len();
        let of_element = |element: usize| of_element(mesh, element);
        let points: Vec<_> = (0..mesh.n_elements()).into_par_iter().map(of_element).collect();
        let mut all = Self { places: vec![], volumes: vec![], widths: vec![], per_element };
        for (places, volumes, width) in points {
            all.places.extend(places);
            all.volumes.extend(volumes);
            all.widths.extend(std::iter::repeat_n(width, per_element));
        }
        all
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

/// Places, volumes and width of the points of an element.
fn of_element(mesh: &HexMesh, element: usize) -> (Vec<[f64; 3]>, Vec<f64>, f64) {
    // Reference volumes: 8 of the cube, 1/6 of the tetrahedron.
    let weight = if mesh.shape() == Shape::Tetrahedron { 1.0 / 24.0 } else { 1.0 };
    let xi = mesh.integration_points();
    let center = mesh.point(element, mesh.reference_center());
    let places: Vec<[f64; 3]> = xi.iter().map(|&xi| mesh.point(element, xi)).collect();
    let distance = |x: &[f64; 3]| length(difference(*x, center));
    // The points of a cube lie half an edge from its center.
    let width = 2.0 * places.iter().map(distance).fold(0.0, f64::max);
    let volume = |&xi: &[f64; 3]| weight * mesh.determinant(element, xi).abs();
    (places, xi.iter().map(volume).collect(), width)
}
