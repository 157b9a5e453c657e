//! `Places` of points in a mesh, to take fields of the mesh there.

use crate::vector::{difference, length};
use crate::{BoundingBox, HexMesh};
use rayon::prelude::*;
use rstar::primitives::{GeomWithData, Rectangle};
use rstar::{AABB, RTree};

/// Points by the elements that they lie in; those outside, as on a bulge of the part that the mesh
/// cuts short, by the nearest one.
#[derive(Debug, Clone)]
pub struct Places<'a> {
    mesh: &'a HexMesh,
    /// Element and shares of its nodes for each point, `[n_points]`.
    shares: Vec<(u32, Vec<f64>)>,
}

/// Elements that are tried, the nearest boxes first, before the nearest is taken.
const TRIES: usize = 64;

impl<'a> Places<'a> {
    /// Places of `points`, `[n_points][3]`, in `mesh`.
    pub fn of(mesh: &'a HexMesh, points: &[[f64; 3]]) -> Self {
        let boxes = (0..mesh.n_elements()).map(|element| {
            let BoundingBox { min, max } = BoundingBox::of(mesh.corner_coordinates(element));
            GeomWithData::new(Rectangle::from_corners(min, max), element as u32)
        });
        let tree = RTree::bulk_load(boxes.collect());
        let place = |x: &[f64; 3]| place(mesh, &tree, *x);
        Self { mesh, shares: points.par_iter().map(place).collect() }
    }

    /// Distances of the `points`, those that these places are of, from the boxes around their
    /// elements, in diagonals of these: 0 inside, `[n_points]`.
    pub fn distances(&self, points: &[[f64; 3]]) -> Vec<f64> {
        let placed = self.shares.par_iter().zip(points);
        placed.map(|((element, _), x)| beyond(self.mesh, *element, x)).collect()
    }

    /// Elements that the points lie in, `[n_points]`.
    pub fn elements(&self) -> impl Iterator<Item = u32> + '_ {
        self.shares.iter().map(|(element, _)| *element)
    }

    /// The `values` of the nodes, `[n_nodes][N]`, at the points, `[n_points][N]`.
    pub fn values<const N: usize>(&self, values: &[[f64; N]]) -> Vec<[f64; N]> {
        self.shares.par_iter().map(|place| self.value(place, values)).collect()
    }

    fn value<const N: usize>(
        &self,
        (element, shares): &(u32, Vec<f64>),
        values: &[[f64; N]],
    ) -> [f64; N] {
        let mut sum = [0.0; N];
        for (&node, share) in self.mesh.element(*element as usize).iter().zip(shares) {
            (0..N).for_each(|i| sum[i] += share * values[node as usize][i]);
        }
        sum
    }
}

/// Distance of `x` from the box around an element, in diagonals of it.
fn beyond(mesh: &HexMesh, element: u32, x: &[f64; 3]) -> f64 {
    let BoundingBox { min, max } = BoundingBox::of(mesh.corner_coordinates(element as usize));
    let outside = [0, 1, 2].map(|i| (min[i] - x[i]).max(x[i] - max[i]).max(0.0));
    length(outside) / length(difference(max, min))
}

type Boxes = RTree<GeomWithData<Rectangle<[f64; 3]>, u32>>;

/// Element of a point, and the shares of its nodes.
fn place(mesh: &HexMesh, tree: &Boxes, x: [f64; 3]) -> (u32, Vec<f64>) {
    let around = tree.locate_in_envelope_intersecting(AABB::from_point(x)).take(TRIES);
    let inside = around
        .map(|found| found.data)
        .find_map(|element| Some((element, mesh.local_coordinates(element as usize, x)?)));
    let (element, xi) = inside.unwrap_or_else(|| nearest(mesh, tree, x));
    (element, mesh.shape_functions(xi))
}

/// The element with the nearest box, and the place of it on the way from `x` to its center.
fn nearest(mesh: &HexMesh, tree: &Boxes, x: [f64; 3]) -> (u32, [f64; 3]) {
    let distance = |found: &GeomWithData<Rectangle<[f64; 3]>, u32>| {
        let center = mesh.center(found.data as usize);
        (0..3).map(|i| (center[i] - x[i]).powi(2)).sum::<f64>()
    };
    let near = tree.nearest_neighbor_iter(x).take(8);
    let found = near.min_by(|a, b| distance(a).total_cmp(&distance(b)));
    let Some(found) = found else { return (0, mesh.reference_center()) };
    let (element, center) = (found.data as usize, mesh.center(found.data as usize));
    let on_way = (0..=8).find_map(|step| {
        let share = f64::from(step) / 8.0;
        let place = [0, 1, 2].map(|i| x[i] + share * (center[i] - x[i]));
        mesh.local_coordinates(element, place)
    });
    (found.data, on_way.unwrap_or_else(|| mesh.reference_center()))
}
