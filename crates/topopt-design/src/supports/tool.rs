//! `Tool`: room for a round tool that comes along a direction.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use topopt_mesh::surface::{area_vector, boundary_faces, face_center, face_coordinates};
use topopt_mesh::vector::{difference, dot, length};
use topopt_mesh::{CellList, HexMesh};

/// Elements that a tool takes away at places of its axis: at the centers of the elements, and
/// beside the part.
///
/// A tool at a place has room for the largest density p of the elements within its radius across
/// the direction that it comes along. An element gets the least of those largest densities at the
/// places from which a tool takes it: the closing of p by the disc of the tool. What only a
/// narrower tool would reach is filled; a void wide enough for the disc stays.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Tool {
    /// First element of each place, and the end of the last.
    starts: Vec<usize>,
    #[serde(skip)]
    elements: Vec<u32>,
}

/// Share of a width by which elements count as within the tool's radius, and as high as its tip.
const RADIUS: f64 = 1.0 + 1e-6;
const HEIGHT: f64 = 0.5;

/// Least sine of the angle between a free face and the tool, beside which a tool stands.
const UPRIGHT: f64 = 0.3;

/// Difference within which densities count as equal.
pub(crate) const EQUAL: f64 = 1e-9;

/// A place of the axis, and the width of the elements there.
type Place = ([f64; 3], f64);

impl Tool {
    /// Lists the elements of `mesh` within `radius` of places of the tool across `direction`, of
    /// length 1.
    pub(super) fn new(mesh: &HexMesh, direction: [f64; 3], radius: f64) -> Self {
        let centers = mesh.centers();
        let widths: Vec<f64> = mesh.volumes().into_iter().map(f64::cbrt).collect();
        let widest = widths.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let list = CellList::new(&centers, RADIUS * radius.hypot(HEIGHT * widest));
        let is_taken = |&(place, width): &Place, e: u32| {
            let arm = difference(centers[e as usize], place);
            let (height, wide) = (dot(arm, direction), width + widths[e as usize]);
            2.0 * height.abs() <= HEIGHT * wide && across(arm, height) <= RADIUS * radius
        };
        let taken = |place: &Place| {
            let mut taken = Vec::new();
            list.for_each_within(place.0, |e, _| taken.extend(is_taken(place, e).then_some(e)));
            taken
        };

        let mut places: Vec<Place> = centers.iter().copied().zip(widths.iter().copied()).collect();
        places.extend(beside(mesh, &widths, direction, radius));
        let lists: Vec<Vec<u32>> = places.par_iter().map(taken).collect();
        let mut starts = vec![0];
        starts.extend(lists.iter().scan(0, |end, list| {
            *end += list.len();
            Some(*end)
        }));
        Self { starts, elements: lists.concat() }
    }

    /// Bytes of the lists, and of the values at places.
    pub(super) fn bytes(&self) -> usize {
        let of_places = 2 * size_of::<usize>() + size_of::<f64>() + size_of::<u32>();
        size_of_val(&self.elements[..]) + of_places * self.starts.len()
    }

    /// Elements of each place.
    fn lists(&self) -> impl IndexedParallelIterator<Item = &[u32]> {
        self.starts.par_windows(2).map(|ends| &self.elements[ends[0]..ends[1]])
    }

    /// Computes the closing of `p`, `[n_elements]`, and the element that each one has its density
    /// of.
    pub(super) fn closed(&self, p: &[f64]) -> (Vec<f64>, Vec<u32>) {
        let largest: Vec<(f64, u32)> = self.lists().map(|list| largest(p, list)).collect();
        let places = || self.starts.windows(2).map(|ends| &self.elements[ends[0]..ends[1]]);
        let mut closed = vec![f64::INFINITY; p.len()];
        for (&(most, _), list) in largest.iter().zip(places()) {
            for &e in list {
                closed[e as usize] = closed[e as usize].min(most);
            }
        }

        // An element that stays as it is takes its own derivative, whatever rounding makes equal.
        let own =
            |(e, (p, closed)): (usize, (&f64, &f64))| (closed - p <= EQUAL).then_some(e as u32);
        let mut held: Vec<Option<u32>> = p.iter().zip(&closed).enumerate().map(own).collect();
        for (&(most, holder), list) in largest.iter().zip(places()) {
            for &e in list.iter().filter(|&&e| most - closed[e as usize] <= EQUAL) {
                held[e as usize].get_or_insert(holder);
            }
        }
        let held = held.into_iter().zip(0..).map(|(holder, e)| holder.unwrap_or(e));
        (closed, held.collect())
    }
}

/// Length of `arm` across a direction along which it has this `height`.
fn across(arm: [f64; 3], height: f64) -> f64 {
    (dot(arm, arm) - height * height).max(0.0).sqrt()
}

/// Takes derivatives by what [`Tool::closed`] has made back to the elements that it `held`.
pub(super) fn closed_backward(held: &[u32], by_closed: &[f64]) -> Vec<f64> {
    let mut gradient = vec![0.0; by_closed.len()];
    held.iter().zip(by_closed).for_each(|(&e, by_value)| gradient[e as usize] += by_value);
    gradient
}

/// Largest of the densities `p` in a `list` of elements, and the first element that has it.
fn largest(p: &[f64], list: &[u32]) -> (f64, u32) {
    let most = list.iter().map(|&e| p[e as usize]).fold(f64::NEG_INFINITY, f64::max);
    let first = list.iter().copied().find(|&e| most - p[e as usize] <= EQUAL);
    (most, first.unwrap_or_default())
}

/// Yields places of a tool that stands beside the part, and takes less than half of its diameter.
fn beside(
    mesh: &HexMesh,
    widths: &[f64],
    direction: [f64; 3],
    radius: f64,
) -> impl Iterator<Item = Place> {
    boundary_faces(mesh).into_iter().flat_map(move |face| {
        let corners = face_coordinates(mesh, face);
        let normal = area_vector(&corners);
        let along = dot(normal, direction);
        let out: [f64; 3] = std::array::from_fn(|i| normal[i] - along * direction[i]);
        let (long, width) = (length(out), widths[face.element as usize]);
        let stands = long > UPRIGHT * length(normal);
        let n = if stands { (radius / width + 0.5).floor() as usize } else { 0 };
        let center = face_center(&corners);
        (0..n).map(move |k| {
            let far = (k as f64 + 0.5) * width / long;
            (std::array::from_fn(|i| center[i] + far * out[i]), width)
        })
    })
}

#[cfg(test)]
mod tests {
    use topopt_testing::distorted_cube;

    use super::*;

    const UP: [f64; 3] = [0.0, 0.0, 1.0];

    /// Share of the void of a slot that a tool leaves, in a block of 12 elements a side: the slot
    /// has elements from `first` to before `end` along x, and goes through the block along y, at
    /// whose ends the tool notches it.
    fn left(mesh: &HexMesh, [first, end]: [usize; 2], diameter: f64) -> f64 {
        let within = |x: f64| (first..end).contains(&((12.0 * x) as usize));
        let solid: Vec<f64> =
            mesh.centers().iter().map(|c| if within(c[0]) { 0.0 } else { 1.0 }).collect();
        let tool = Tool::new(mesh, UP, diameter / 24.0);
        let (closed, held) = tool.closed(&solid);
        assert!(held.iter().zip(&closed).all(|(&e, closed)| solid[e as usize] == *closed));
        assert!(closed.iter().zip(&solid).all(|(closed, solid)| closed >= solid));
        let is_inside = |e: usize| (mesh.centers()[e][1] - 0.5).abs() < 0.2;
        let void = |x: &[f64]| (0..x.len()).filter(|&e| x[e] == 0.0 && is_inside(e)).count() as f64;
        void(&closed) / void(&solid)
    }

    #[test]
    fn slots_as_wide_as_the_tool_stay_and_narrower_ones_are_filled() {
        let mesh = distorted_cube(12, 0.0, false);
        for (slot, diameter, expected) in [
            ([4, 7], 3.0, 1.0),
            ([4, 6], 3.0, 0.0),
            ([4, 9], 5.0, 1.0),
            ([4, 8], 5.0, 0.0),
            ([4, 9], 4.0, 1.0),
            // Beside the part the tool needs no room.
            ([0, 1], 5.0, 1.0),
            ([10, 12], 5.0, 1.0),
        ] {
            assert_eq!(left(&mesh, slot, diameter), expected, "{slot:?} by {diameter}");
        }
    }

    #[test]
    fn a_round_pocket_keeps_its_floor_and_a_square_one_loses_its_corners() {
        let mesh = distorted_cube(12, 0.0, false);
        let pocket = |c: &[f64; 3]| c[2] > 0.5 && c[0].max(c[1]) < 0.75 && c[0].min(c[1]) > 0.25;
        let x: Vec<f64> =
            mesh.centers().iter().map(|c| if pocket(c) { 0.0 } else { 1.0 }).collect();
        let (closed, _) = Tool::new(&mesh, UP, 5.0 / 24.0).closed(&x);
        let filled = |c: &[f64; 3]| pocket(c) && (0..2).all(|i| (c[i] - 0.5).abs() > 0.2);
        for (center, (closed, x)) in mesh.centers().iter().zip(closed.iter().zip(&x)) {
            assert_eq!(*closed, if filled(center) { 1.0 } else { *x }, "{center:?}");
        }
    }
}
