//! `Places` of points in a mesh, to take fields of the mesh there.

use rayon::prelude::*;

use crate::box_tree::BoxTree;
use crate::vector::{difference, dot, length};
use crate::{BoundingBox, HexMesh};

/// Points by the elements that they lie in; those outside, as on a bulge of the part that the mesh
/// cuts short, by the nearest one.
#[derive(Debug, Clone)]
pub struct Places<'a> {
    mesh: &'a HexMesh,
    /// Element and shares of its nodes for each point, `[n_points]`.
    shares: Vec<(u32, Vec<f64>)>,
}

/// Elements around a point that are tried, those of the smallest numbers.
const TRIES: usize = 64;

/// Elements near a point outside, of which that with the nearest center is taken.
const NEAR: usize = 8;

impl<'a> Places<'a> {
    /// Places of `points`, `[n_points][3]`, in `mesh`.
    pub fn of(mesh: &'a HexMesh, points: &[[f64; 3]]) -> Self {
        let bounds = |element| BoundingBox::of(mesh.corner_coordinates(element as usize));
        let elements = (0..mesh.n_elements() as u32).into_par_iter();
        let tree = BoxTree::new(elements.map(|element| (bounds(element), element)).collect());
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

type Boxes = BoxTree<(BoundingBox, u32)>;

/// Element of a point, and the shares of its nodes.
fn place(mesh: &HexMesh, tree: &Boxes, x: [f64; 3]) -> (u32, Vec<f64>) {
    let mut around = Few::<u32, TRIES>::default();
    tree.in_box(&BoundingBox { min: x, max: x }, |(_, element)| around.insert(*element));
    let local = |&element: &u32| Some((element, mesh.local_coordinates(element as usize, x)?));
    let inside = around.iter().find_map(local);
    let (element, xi) = inside.unwrap_or_else(|| nearest(mesh, tree, x));
    (element, mesh.shape_functions(xi))
}

/// The least of many values, in rising order.
struct Few<T, const N: usize> {
    values: [T; N],
    n: usize,
}

impl<T: Copy + Default, const N: usize> Default for Few<T, N> {
    fn default() -> Self {
        Self { values: [T::default(); N], n: 0 }
    }
}

impl<T: Copy + PartialOrd, const N: usize> Few<T, N> {
    fn insert(&mut self, value: T) {
        let place = self.iter().take_while(|other| **other < value).count();
        if place < N {
            self.n = (self.n + 1).min(N);
            self.values[place..self.n].rotate_right(1);
            self.values[place] = value;
        }
    }

    fn iter(&self) -> impl Iterator<Item = &T> {
        self.values[..self.n].iter()
    }
}

/// The element with the nearest box, and the place of it on the way from `x` to its center.
fn nearest(mesh: &HexMesh, tree: &Boxes, x: [f64; 3]) -> (u32, [f64; 3]) {
    let mut near = Few::<(f64, u32), NEAR>::default();
    tree.outwards(x, |(bounds, element)| {
        near.insert((bounds.squared_distance(x), *element));
        near.iter().nth(NEAR - 1).map_or(f64::INFINITY, |(farthest, _)| *farthest)
    });
    let way = |&element: &u32| difference(mesh.center(element as usize), x);
    let distance = |element: &u32| dot(way(element), way(element));
    let near = near.iter().map(|(_, element)| *element);
    let found = near.min_by(|a, b| distance(a).total_cmp(&distance(b)));
    let Some(found) = found else { return (0, mesh.reference_center()) };
    let (element, center) = (found as usize, mesh.center(found as usize));
    let on_way = (0..=8).find_map(|step| {
        let share = f64::from(step) / 8.0;
        let place = [0, 1, 2].map(|i| x[i] + share * (center[i] - x[i]));
        mesh.local_coordinates(element, place)
    });
    (found, on_way.unwrap_or_else(|| mesh.reference_center()))
}
