//! Fields on the surface of the solid.

use std::borrow::Cow;

use topopt_mesh::Places;
use topopt_mesh::vector::length;
use topopt_surface::TriangleSurface;

use crate::color_map::viridis;
use crate::picture::Shape;

/// A field that a picture shows by colors.
#[derive(Debug, Clone, PartialEq)]
pub struct NodalField {
    /// Name of the field.
    pub title: String,
    /// The unit of the values; empty for none.
    pub unit: String,
    /// Values at the nodes, `[n_nodes]`.
    pub values: Vec<f64>,
    /// Value up to which all colors are that of the least.
    pub lowest: f64,
    /// Value from which on all colors are that of the greatest.
    pub highest: f64,
    /// Whether there are values above that.
    pub is_exceeded: bool,
    /// Displacements of the nodes, `[n_nodes][3]`, where the shape is shown deformed.
    pub displacements: Option<Vec<[f64; 3]>>,
    /// Vectors at the nodes, `[n_nodes][3]`, where arrows show their directions.
    pub arrows: Option<Vec<[f64; 3]>>,
}

/// The largest displacement that is drawn, as a share of the diagonal of the part.
const LARGEST: f64 = 0.06;

impl NodalField {
    /// The surface with the colors of the field, and the factor of its deformation, if there is one.
    pub(crate) fn shape<'a>(
        &self,
        surface: &'a TriangleSurface,
        places: &Places,
        diagonal: f64,
    ) -> (Shape<'a>, Option<f64>) {
        let values: Vec<[f64; 1]> = self.values.iter().map(|&value| [value]).collect();
        let range = (self.highest - self.lowest).max(f64::MIN_POSITIVE);
        let color = |[value]: [f64; 1]| viridis((value - self.lowest) / range);
        let colors: Vec<_> = places.values(&values).into_iter().map(color).collect();

        let (deformed, factor) = match &self.displacements {
            None => (Cow::Borrowed(surface), None),
            Some(displacements) => {
                let (deformed, factor) = deformed(surface, &places.values(displacements), diagonal);
                (Cow::Owned(deformed), Some(factor))
            }
        };
        let of_triangle =
            |triangle: usize| surface.triangles()[triangle].map(|vertex| colors[vertex as usize]);
        (Shape::of_corners(deformed, of_triangle).legible(), factor)
    }
}

/// The surface moved by a round factor times the displacements, `[n_vertices][3]`, and that factor.
fn deformed(
    surface: &TriangleSurface,
    displacements: &[[f64; 3]],
    diagonal: f64,
) -> (TriangleSurface, f64) {
    let largest = displacements.iter().map(|u| length(*u)).fold(0.0, f64::max);
    let factor = if largest > 0.0 { round_down(LARGEST * diagonal / largest) } else { 1.0 };
    let moved = surface.vertices().iter().zip(displacements);
    let moved = moved.map(|(x, u)| std::array::from_fn(|i| x[i] + factor * u[i])).collect();
    (TriangleSurface::new(moved, surface.triangles().to_vec()), factor)
}

/// The largest of 1, 2 and 5 times a power of ten that is not above `x`.
fn round_down(x: f64) -> f64 {
    let power = 10f64.powf(x.log10().floor());
    [5.0, 2.0, 1.0].map(|digit| digit * power).into_iter().find(|y| *y <= x).unwrap_or(power)
}

#[cfg(test)]
mod tests {
    use topopt_mesh::generate::{Benchmark, Resolution};
    use topopt_surface::Part;

    use super::*;

    #[test]
    fn factors_are_round() {
        for (x, expected) in [(7.3, 5.0), (0.049, 0.02), (199.0, 100.0), (2.0, 2.0)] {
            assert!((round_down(x) / expected - 1.0).abs() < 1e-12, "{x}: {}", round_down(x));
        }
    }

    #[test]
    fn a_linear_field_colors_and_moves_the_surface_where_it_is() {
        let mesh = Benchmark::Cantilever.generate(Resolution::Elements(250)).unwrap();
        let part = Part::of_mesh(&mesh).unwrap();
        let surface = part.surface().clone();
        let places = Places::of(&mesh, surface.vertices());
        let x = mesh.coordinates();

        let field = NodalField {
            title: String::new(),
            unit: String::new(),
            values: x.iter().map(|x| x[0]).collect(),
            lowest: 1.0,
            highest: 2.0,
            is_exceeded: true,
            displacements: Some(x.iter().map(|x| [0.0, 0.001 * x[0], 0.0]).collect()),
            arrows: None,
        };

        let (shape, factor) = field.shape(&surface, &places, 10.0);
        // 0.6 are to be drawn, and 0.01 are there: 60.
        assert!((factor.unwrap() - 50.0).abs() < 1e-9, "{factor:?}");
        for (triangle, colors) in surface.triangles().iter().zip(&shape.colors) {
            for (&vertex, color) in triangle.iter().zip(colors) {
                let [x, y] = [&surface, &shape.surface].map(|s| s.vertices()[vertex as usize]);
                assert!((y[1] - x[1] - 0.05 * x[0]).abs() < 1e-9);
                let expected = viridis(x[0] - 1.0);
                assert!((0..3).all(|i| (color[i] - expected[i]).abs() < 1e-5), "{x:?}");
            }
        }
    }
}
