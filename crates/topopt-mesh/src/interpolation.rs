//! Values of the elements of a mesh at any point: from one mesh of a part to another.

use rayon::prelude::*;
use rstar::primitives::{GeomWithData, Rectangle};
use rstar::{PointDistance, RTree};

use crate::cells::Shape;
use crate::inverse_map::{TOLERANCE, local_coordinates};
use crate::vector::dot;
use crate::{BoundingBox, HexMesh, hexahedron, tetrahedron};

/// Values of elements, interpolated.
///
/// Inside an element, at the reference coordinates xi, the value is
/// sum_a N_a(xi) v_a + (v_e - sum_a v_a / 8) (1 - max_i |xi_i|), with v_e the element's value and
/// v_a the mean of the elements around node a: continuous, v_e at the center, and a linear function
/// wherever the v_a and v_e are of one. In a tetrahedron likewise between its four vertices, with
/// four times the least barycentric coordinate as the last factor. Beyond the mesh it is the value
/// of the nearest element.
#[derive(Debug, Clone)]
pub struct ElementInterpolation<'a> {
    mesh: &'a HexMesh,
    values: &'a [f64],
    nodes: Vec<f64>,
    boxes: RTree<ElementBox>,
}

/// The box around an element, and its number.
type ElementBox = GeomWithData<Rectangle<[f64; 3]>, u32>;

impl<'a> ElementInterpolation<'a> {
    /// Builds the interpolation of the element `values`, `[n_elements]`, on `mesh`.
    pub fn new(mesh: &'a HexMesh, values: &'a [f64]) -> Self {
        let nodes = nodal_means(mesh, values);
        let boxes = (0..mesh.n_elements()).into_par_iter().map(|e| element_box(mesh, e));
        Self { mesh, values, nodes, boxes: RTree::bulk_load(boxes.collect()) }
    }

    /// The values at `points`, the same on any number of threads.
    pub fn at(&self, points: &[[f64; 3]]) -> Vec<f64> {
        points.par_iter().map(|&point| self.value(point)).collect()
    }

    /// Share of the volume of `other` whose elements have their centers farther than `distance`
    /// from the boxes around the elements of this mesh.
    pub fn share_beyond(&self, distance: f64, other: &HexMesh) -> f64 {
        let is_beyond = |center: &[f64; 3]| {
            let nearest = self.boxes.nearest_neighbor(*center);
            nearest.is_none_or(|nearest| nearest.distance_2(center) > distance * distance)
        };
        let beyond: Vec<bool> = other.centers().par_iter().map(is_beyond).collect();
        let volumes = other.volumes();
        let outside: f64 = volumes.iter().zip(beyond).filter(|(_, b)| *b).map(|(v, _)| v).sum();
        outside / volumes.iter().sum::<f64>()
    }

    fn value(&self, point: [f64; 3]) -> f64 {
        let mut near: Vec<u32> = self.boxes.locate_all_at_point(point).map(|b| b.data).collect();
        // On a face all give the same value except for rounding: the lowest number decides.
        near.sort_unstable();
        let inside = near.into_iter().find_map(|element| {
            if self.mesh.shape() == Shape::Tetrahedron {
                return self.value_in_tetrahedron(element as usize, point);
            }
            let x = self.mesh.element_coordinates(element as usize);
            let xi = local_coordinates(&x, point)?;
            Some(self.value_in(element as usize, xi))
        });
        inside.unwrap_or_else(|| {
            let nearest = self.boxes.nearest_neighbor(point);
            nearest.map_or(f64::NAN, |nearest| self.values[nearest.data as usize])
        })
    }

    fn value_in(&self, element: usize, xi: [f64; 3]) -> f64 {
        let nodes = self.mesh.hexes()[element].map(|node| self.nodes[node as usize]);
        let linear: f64 =
            hexahedron::shape_functions(xi).iter().zip(nodes).map(|(shape, v)| shape * v).sum();
        let bubble = 1.0 - xi.into_iter().fold(0.0, |a: f64, b| a.max(b.abs()));
        linear + (self.values[element] - nodes.iter().sum::<f64>() / 8.0) * bubble
    }

    /// The value at a point of a tetrahedron, whose edges are taken as straight; none outside.
    fn value_in_tetrahedron(&self, element: usize, point: [f64; 3]) -> Option<f64> {
        let at = tetrahedron::barycentric(&self.mesh.tetrahedron_coordinates(element), point);
        let least = at.into_iter().fold(f64::INFINITY, f64::min);
        if least < -TOLERANCE {
            return None;
        }
        let nodes = self.mesh.corners(element).iter().map(|&node| self.nodes[node as usize]);
        let nodes: Vec<f64> = nodes.collect();
        let linear: f64 = at.iter().zip(&nodes).map(|(at, value)| at * value).sum();
        let rest = self.values[element] - nodes.iter().sum::<f64>() / 4.0;
        Some(linear + rest * (4.0 * least).max(0.0))
    }
}

/// At every node the mean of the `values`, `[n_elements]`, of the elements around it: by the
/// inverse of the distance of their centers, and inside the mesh corrected so that a linear
/// function is exact \[HolmesConnell1989\]. Means by volume would give the value of the larger
/// elements, whose centers are farther away.
pub fn nodal_means(mesh: &HexMesh, values: &[f64]) -> Vec<f64> {
    let mut around = vec![Around::default(); mesh.n_nodes()];
    for ((nodes, center), &value) in mesh.elements().zip(mesh.centers()).zip(values) {
        for node in hexahedron::distinct(nodes) {
            let x = mesh.coordinates()[node as usize];
            around[node as usize].add(std::array::from_fn(|i| center[i] - x[i]), value);
        }
    }
    around.iter().map(Around::mean).collect()
}

/// Sums over the elements around a node, with weights w, places d from the node, and values f.
#[derive(Debug, Clone)]
struct Around {
    /// sum w (1, d).
    first: [f64; 4],
    /// sum w d d^T in the order xx, yy, zz, xy, yz, zx.
    second: [f64; 6],
    /// sum w f (1, d).
    weighted: [f64; 4],
    /// Smallest and largest value.
    range: [f64; 2],
}

fn element_box(mesh: &HexMesh, element: usize) -> ElementBox {
    let nodes = mesh.element(element).iter();
    let bounds = BoundingBox::of(nodes.map(|&node| mesh.coordinates()[node as usize]));
    let margin = TOLERANCE * bounds.extent().into_iter().fold(0.0, f64::max);
    let (low, high) = (bounds.min.map(|x| x - margin), bounds.max.map(|x| x + margin));
    ElementBox::new(Rectangle::from_corners(low, high), element as u32)
}

/// Share of the weights that must be left after the correction. On the surface all centers lie on
/// one side, and none would be; between elements of 1 to 5 in size 0.96 are.
const LEFT: f64 = 0.5;

impl Default for Around {
    fn default() -> Self {
        let range = [f64::INFINITY, f64::NEG_INFINITY];
        Self { first: [0.0; 4], second: [0.0; 6], weighted: [0.0; 4], range }
    }
}

impl Around {
    fn add(&mut self, d: [f64; 3], value: f64) {
        let weight = d.iter().map(|v| v * v).sum::<f64>().sqrt().recip();
        for (i, factor) in [1.0, d[0], d[1], d[2]].into_iter().enumerate() {
            self.first[i] += weight * factor;
            self.weighted[i] += weight * factor * value;
        }
        for i in 0..3 {
            self.second[i] += weight * d[i] * d[i];
            self.second[3 + i] += weight * d[i] * d[(i + 1) % 3];
        }
        self.range = [self.range[0].min(value), self.range[1].max(value)];
    }

    /// sum w' f / sum w' with w' = w (1 + lambda . d), lambda such that sum w' d = 0.
    fn mean(&self) -> f64 {
        let Self { first: [weight, rest @ ..], weighted: [value, moments @ ..], .. } = self;
        let lambda = self.solve(rest).map(|v| -v);
        let left = weight + dot(lambda, *rest);
        let mean = if left >= LEFT * weight {
            (value + dot(lambda, *moments)) / left
        } else {
            value / weight
        };
        // Neither the correction nor rounding takes a mean beyond the values: a plateau stays one.
        mean.max(self.range[0]).min(self.range[1])
    }

    /// (sum w d d^T)^-1 `b`; not finite where the centers lie in a plane.
    fn solve(&self, b: &[f64; 3]) -> [f64; 3] {
        let [xx, yy, zz, xy, yz, zx] = self.second;
        let matrix = [[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]];
        let inverse = hexahedron::inverse(&matrix, hexahedron::determinant(&matrix));
        inverse.map(|row| row[0] * b[0] + row[1] * b[1] + row[2] * b[2])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Benchmark, Resolution};

    /// The cantilever of size 1 x 1/2 x 1/2, its nodes moved by `place`.
    fn cantilever(elements: usize, place: impl Fn([f64; 3]) -> [f64; 3]) -> HexMesh {
        let mesh = Benchmark::Cantilever.generate(Resolution::Elements(elements)).unwrap();
        let length = mesh.bounding_box().extent()[0];
        let coordinates = mesh.coordinates().iter().map(|x| place(x.map(|v| v / length))).collect();
        HexMesh::new(coordinates, mesh.hexes().into(), mesh.sets().clone()).unwrap()
    }

    fn wave(x: [f64; 3]) -> [f64; 3] {
        let sin = |x: f64| 0.02 * (20.0 * x).sin();
        [x[0] + sin(x[1]), x[1] + sin(x[0] + x[2]), x[2] + sin(x[1] + 1.0)]
    }

    fn sheared([x, y, z]: [f64; 3]) -> [f64; 3] {
        [x + 0.3 * y - 0.1 * z, y + 0.2 * z, z - 0.1 * x]
    }

    /// Centers of a cantilever farther than 0.1 from its sides, two elements where there are 2000.
    fn inner_points() -> Vec<[f64; 3]> {
        let centers = cantilever(5000, |x| x).centers();
        let length = [1.0, 0.5, 0.5];
        centers.into_iter().filter(|x| (0..3).all(|i| x[i].min(length[i] - x[i]) > 0.1)).collect()
    }

    #[test]
    fn on_the_same_mesh_every_value_is_kept() {
        let mesh = cantilever(250, wave);
        let values: Vec<f64> = (0..250).map(|e| (e as f64).sin()).collect();
        let found = ElementInterpolation::new(&mesh, &values).at(&mesh.centers());
        for (found, value) in found.iter().zip(&values) {
            assert!((found - value).abs() < 1e-12, "{found} is not {value}");
        }
    }

    #[test]
    fn linear_functions_are_exact_inside_and_smooth_ones_of_second_order() {
        let linear = |[x, y, z]: [f64; 3]| 0.3 + 0.1 * x - 0.2 * y + 0.05 * z;
        let mesh = cantilever(2000, sheared);
        let values: Vec<f64> = mesh.centers().into_iter().map(linear).collect();
        let points: Vec<_> = inner_points().into_iter().map(sheared).collect();

        assert!(points.len() > 500);
        let found = ElementInterpolation::new(&mesh, &values).at(&points);
        for (found, &point) in found.iter().zip(&points) {
            assert!((found - linear(point)).abs() < 1e-12, "{point:?}");
        }

        let smooth = |[x, y, z]: [f64; 3]| (6.0 * x).sin() * (5.0 * y).cos() + z * z;
        let points = inner_points();
        let [coarse, fine] = [2000, 16_000].map(|elements| {
            let mesh = cantilever(elements, |x| x);
            let values: Vec<f64> = mesh.centers().into_iter().map(smooth).collect();
            let found = ElementInterpolation::new(&mesh, &values).at(&points);
            let errors = found.iter().zip(&points).map(|(v, &x)| (v - smooth(x)).abs());
            errors.fold(0.0, f64::max)
        });

        let order = (coarse / fine).log2();
        assert!((1.6..2.6).contains(&order), "order {order}");
    }

    #[test]
    fn nodal_means_of_a_linear_function_are_exact_inside_between_elements_of_any_size() {
        let linear = |[x, y, z]: [f64; 3]| 0.3 + x - 2.0 * y + 0.5 * z;
        // Layers of 1 to 4 in turn, then sheared.
        let graded = |x: f64| x + 0.02 * (x * 31.4).sin();
        let mesh = cantilever(16_000, |[x, y, z]| sheared([graded(x), graded(y), graded(z)]));
        let volumes = mesh.volumes();
        let [least, most] = [f64::min, f64::max].map(|f| volumes.iter().copied().fold(0.1, f));
        assert!(most > 5.0 * least, "{least} to {most}");
        let values: Vec<f64> = mesh.centers().into_iter().map(linear).collect();
        let on_surface: std::collections::BTreeSet<u32> = crate::surface::boundary_faces(&mesh)
            .iter()
            .flat_map(|face| face.nodes(&mesh))
            .collect();
        let means = nodal_means(&mesh, &values);
        for (node, mean) in means.iter().enumerate() {
            if !on_surface.contains(&(node as u32)) {
                assert!((mean - linear(mesh.coordinates()[node])).abs() < 1e-12, "{node}");
            }
        }
    }

    #[test]
    fn beyond_the_mesh_the_nearest_element_counts() {
        let mesh = cantilever(250, |x| x);
        let BoundingBox { min, max } = mesh.bounding_box();
        let values: Vec<f64> = (0..250).map(f64::from).collect();
        let interpolation = ElementInterpolation::new(&mesh, &values);
        let center = mesh.centers()[7];
        let below = [center[0], min[1] - 0.3 * (max[1] - min[1]), center[2]];
        let nearest = (0..250)
            .min_by(|&a, &b| {
                let [a, b] = [a, b].map(|e: usize| mesh.centers()[e].distance_2(&below));
                a.total_cmp(&b)
            })
            .unwrap();
        assert_eq!(interpolation.at(&[below]), [values[nearest]]);
    }

    #[test]
    fn what_lies_beyond_is_measured() {
        let mesh = cantilever(250, |x| x);
        let values = vec![0.5; 250];
        let interpolation = ElementInterpolation::new(&mesh, &values);
        let share = |shift: f64, distance: f64| {
            let other = cantilever(2000, |[x, y, z]| [x + shift, y, z]);
            interpolation.share_beyond(distance, &other)
        };
        assert_eq!((share(0.0, 0.0), share(3.0, 0.5)), (0.0, 1.0));
        assert!((share(0.3, 0.0) - 0.3).abs() < 1e-9);
        assert!((share(0.3, 0.1) - 0.2).abs() < 1e-9);
    }
}
