//! Nearly flat tetrahedra made better by moving their corners a little.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use super::{Cells, NO_NODE, Shape};
use crate::hexahedron::determinant;
use crate::vector::{cross, difference, dot, length};

/// Tetrahedra of a smaller scaled Jacobian are nearly flat.
const FLAT: f64 = 0.05;

/// Scaled Jacobian that they are to have afterwards.
const TARGET: f64 = 0.15;

/// Corners move by at most this share of the shortest edge of their tetrahedron.
const FARTHEST: f64 = 0.15;

/// Boundary faces whose normals differ by less are in one plane.
const PLANE: f64 = 1e-6;

/// Rounds over all nearly flat tetrahedra, at most.
const ROUNDS: usize = 6;

/// Corners that were moved.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Moved {
    /// Number of corners moved.
    pub count: usize,
    /// Largest distance that a corner was moved (length).
    pub distance: f64,
}

/// Moves corners of nearly flat tetrahedra at `coordinates`, `[n_nodes][3]`, with the middles of
/// their edges, until they are less so: inside the part in any direction, on plane parts of its
/// boundary along them, elsewhere not. No other cell becomes nearly flat by it.
pub(super) fn relax(cells: &Cells, coordinates: &mut [[f64; 3]]) -> Moved {
    let flat: Vec<usize> = (0..cells.len())
        .into_par_iter()
        .filter(|&cell| cells.get(cell).shape == Shape::Tetrahedron)
        .filter(|&cell| cells.get(cell).scaled_jacobian(coordinates) < FLAT)
        .collect();
    if flat.is_empty() {
        return Moved::default();
    }

    let given = coordinates.to_vec();
    let mut relaxed = Relaxed { stars: stars(cells, &flat), cells, x: coordinates };
    let normals = relaxed.boundary();
    for _ in 0..ROUNDS {
        let moved = flat.iter().filter(|&&cell| relaxed.improve(cell, &normals)).count();
        if moved == 0 {
            break;
        }
    }
    let ways = relaxed.stars.keys().map(|&node| node as usize);
    let ways = ways.map(|node| length(difference(relaxed.x[node], given[node])));
    let moved: Vec<f64> = ways.filter(|way| *way > 0.0).collect();
    Moved { count: moved.len(), distance: moved.iter().copied().fold(0.0, f64::max) }
}

/// The cells at every corner of the `flat` ones.
fn stars(cells: &Cells, flat: &[usize]) -> BTreeMap<u32, Vec<usize>> {
    let corners = flat.iter().flat_map(|&cell| cells.get(cell).corners.to_vec());
    let mut stars: BTreeMap<u32, Vec<usize>> = corners.map(|node| (node, Vec::new())).collect();
    for (number, cell) in cells.iter().enumerate() {
        for node in cell.corners {
            if let Some(star) = stars.get_mut(node) {
                star.push(number);
            }
        }
    }
    stars
}

struct Relaxed<'a> {
    cells: &'a Cells,
    stars: BTreeMap<u32, Vec<usize>>,
    x: &'a mut [[f64; 3]],
}

impl Relaxed<'_> {
    /// The unit normal of the boundary at every corner that may move, if it is on a plane.
    fn boundary(&self) -> BTreeMap<u32, Option<[f64; 3]>> {
        let mut planes = BTreeMap::new();
        for (&node, star) in &self.stars {
            if star.iter().any(|&cell| self.cells.get(cell).shape != Shape::Tetrahedron) {
                continue;
            }
            let normals = self.boundary_at(node, star);
            if normals.iter().all(|normal| length(difference(*normal, normals[0])) < PLANE) {
                planes.insert(node, normals.first().copied());
            }
        }
        planes
    }

    /// The unit normals of the boundary faces at a corner, whose cells are `star`.
    fn boundary_at(&self, node: u32, star: &[usize]) -> Vec<[f64; 3]> {
        let mut faces = BTreeMap::<[u32; 4], (usize, [f64; 3])>::new();
        for cell in star.iter().map(|&cell| self.cells.get(cell)) {
            for face in cell.shape.faces() {
                let corners = [face[0], face[1], face[2]].map(|a| cell.corners[a]);
                if corners.contains(&node) {
                    let [a, b, c] = corners.map(|corner| self.x[corner as usize]);
                    let normal = cross(difference(b, a), difference(c, a));
                    faces.entry(cell.face_key(face)).or_insert((0, normal)).0 += 1;
                }
            }
        }
        let outer = faces.into_values().filter(|(count, _)| *count == 1);
        outer.map(|(_, normal)| normal.map(|x| x / length(normal))).collect()
    }

    /// Moves the corners of a nearly flat tetrahedron so that its volume grows; false if it need
    /// not or cannot be.
    fn improve(&mut self, number: usize, normals: &BTreeMap<u32, Option<[f64; 3]>>) -> bool {
        let corners: [u32; 4] = std::array::from_fn(|a| self.cells.get(number).corners[a]);
        let before = self.cells.get(number).scaled_jacobian(self.x);
        if before >= FLAT {
            return false;
        }
        let x = corners.map(|node| self.x[node as usize]);
        let gradients = gradients(&x);
        let ways: [[f64; 3]; 4] = std::array::from_fn(|a| match normals.get(&corners[a]) {
            None => [0.0; 3],
            Some(None) => gradients[a],
            Some(Some(normal)) => {
                let across = dot(gradients[a], *normal);
                std::array::from_fn(|i| gradients[a][i] - across * normal[i])
            }
        });

        // The scaled Jacobian grows as the volume does while the edges stay.
        let volume = six_volumes(&x);
        let wanted = TARGET * volume.abs() / before.abs().max(f64::MIN_POSITIVE) - volume;
        let slope: f64 = ways.iter().zip(gradients).map(|(way, slope)| dot(*way, slope)).sum();
        let step = wanted / slope;
        let longest = ways.iter().map(|way| step * length(*way)).fold(0.0, f64::max);
        if !(step.is_finite() && longest > 0.0 && longest <= FARTHEST * shortest_edge(&x)) {
            return false;
        }
        self.try_moves(corners, ways.map(|way| way.map(|x| step * x)))
    }

    /// Moves `corners` by `ways`, unless a cell at them gets worse and nearly flat.
    fn try_moves(&mut self, corners: [u32; 4], ways: [[f64; 3]; 4]) -> bool {
        let at = |node: &u32| self.stars.get(node).into_iter().flatten().copied();
        let around: BTreeSet<usize> = corners.iter().flat_map(at).collect();
        let jacobian = |cell: &usize, x: &[[f64; 3]]| self.cells.get(*cell).scaled_jacobian(x);
        let before: Vec<f64> = around.iter().map(|cell| jacobian(cell, self.x)).collect();
        let mut shifts = BTreeMap::<u32, [f64; 3]>::new();
        for (node, way) in corners.into_iter().zip(ways) {
            shifts.insert(node, way);
            let middles: BTreeSet<u32> =
                at(&node).flat_map(|cell| middles_at(self.cells, cell, node)).collect();
            for middle in middles {
                let shift = shifts.entry(middle).or_default();
                *shift = std::array::from_fn(|i| shift[i] + 0.5 * way[i]);
            }
        }

        let known: Vec<(u32, [f64; 3])> =
            shifts.keys().map(|&node| (node, self.x[node as usize])).collect();
        for (&node, shift) in &shifts {
            let x = &mut self.x[node as usize];
            *x = std::array::from_fn(|i| x[i] + shift[i]);
        }
        let after = around.iter().map(|cell| self.cells.get(*cell).scaled_jacobian(self.x));
        let is_better = before.iter().zip(after).all(|(before, after)| after >= before.min(TARGET));
        if !is_better {
            known.into_iter().for_each(|(node, x)| self.x[node as usize] = x);
        }
        is_better
    }
}

/// The middles of the edges of a cell at a corner.
fn middles_at(cells: &Cells, cell: usize, node: u32) -> Vec<u32> {
    let cell = cells.get(cell);
    let edges = cell.shape.edges().iter().zip(cell.middles);
    let here = edges.filter(|(edge, _)| edge.iter().any(|&a| cell.corners[a] == node));
    here.map(|(_, &middle)| middle).filter(|&middle| middle != NO_NODE).collect()
}

fn shortest_edge(x: &[[f64; 3]; 4]) -> f64 {
    let edges = (0..4).flat_map(|a| (0..a).map(move |b| length(difference(x[a], x[b]))));
    edges.fold(f64::INFINITY, f64::min)
}

/// Six times the volume of a tetrahedron.
fn six_volumes([a, b, c, d]: &[[f64; 3]; 4]) -> f64 {
    determinant(&[difference(*b, *a), difference(*c, *a), difference(*d, *a)])
}

/// The gradients of six times the volume by the places of the corners.
fn gradients([a, b, c, d]: &[[f64; 3]; 4]) -> [[f64; 3]; 4] {
    let edge = |from: &[f64; 3], to: &[f64; 3]| difference(*to, *from);
    [
        cross(edge(b, d), edge(b, c)),
        cross(edge(a, c), edge(a, d)),
        cross(edge(a, d), edge(a, b)),
        cross(edge(a, b), edge(a, c)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gradients_are_those_of_the_volume() {
        let x = [[0.1, 0.2, 0.0], [1.0, -0.1, 0.3], [0.2, 1.1, 0.1], [0.3, 0.4, 0.9]];
        for (a, gradient) in gradients(&x).into_iter().enumerate() {
            for i in 0..3 {
                let moved = |h: f64| {
                    let mut x = x;
                    x[a][i] += h;
                    six_volumes(&x)
                };
                let difference = (moved(0.5) - moved(-0.5)) / 1.0;
                assert!((difference - gradient[i]).abs() < 1e-12, "{a} {i}");
            }
        }
    }

    /// A square of four corners, nearly flat, with points above and below it.
    #[test]
    fn a_sliver_opens_and_nothing_else_flattens() {
        let flat = 1e-3;
        let mut x = vec![
            [1.0, 0.0, flat],
            [-1.0, 0.0, flat],
            [0.0, 1.0, 0.0],
            [0.0, -1.0, 0.0],
            [0.0, 0.0, 1.5],
            [0.0, 0.0, -1.5],
        ];
        let mut cells = Cells::default();
        // The sliver, then the four on its faces, all right-handed.
        for corners in [[0, 1, 2, 3], [0, 1, 4, 2], [1, 0, 4, 3], [2, 3, 5, 0], [3, 2, 5, 1]] {
            let mut corners: [u32; 4] = corners;
            if six_volumes(&corners.map(|node| x[node as usize])) < 0.0 {
                corners.swap(0, 1);
            }
            cells.push(Shape::Tetrahedron, &corners, &[]);
        }

        let least = |x: &[[f64; 3]]| {
            cells.iter().map(|cell| cell.scaled_jacobian(x)).fold(f64::INFINITY, f64::min)
        };

        // All corners are on several planes of the boundary: nothing may move.
        assert_eq!(relax(&cells, &mut x), Moved::default());
        assert!(least(&x) < FLAT);
    }

    /// A flat tetrahedron across a plate, whose corners stand in a vertical plane: they slide along
    /// the faces of the plate.
    #[test]
    fn corners_slide_along_planes() {
        let (n, flat) = (4, 0.001);
        let at = |i: usize, j: usize, k: usize| ((i * n + j) * 2 + k) as u32;
        let mut x: Vec<[f64; 3]> = (0..n * n * 2)
            .map(|p| [(p / 2 / n) as f64, (p / 2 % n) as f64, (p % 2) as f64])
            .collect();
        let mut cells = Cells::default();
        let mut add = |[a, b, c, d]: [u32; 4], x: &[[f64; 3]]| {
            let is_left = six_volumes(&[a, b, c, d].map(|node| x[node as usize])) < 0.0;
            let [a, b] = if is_left { [b, a] } else { [a, b] };
            cells.push(Shape::Tetrahedron, &[a, b, c, d], &[]);
        };

        // Cubes of six tetrahedra each around the diagonal. Two of one are replaced, so that its
        // face has the other diagonal, and a sliver lies in front of it.
        for (i, j) in (0..n - 1).flat_map(|i| (0..n - 1).map(move |j| (i, j))) {
            let c = |a: usize, b: usize, k: usize| at(i + a, j + b, k);
            let (low, high) = (c(0, 0, 0), c(1, 1, 1));
            let ring = [c(1, 0, 0), c(1, 1, 0), c(0, 1, 0), c(0, 1, 1), c(0, 0, 1), c(1, 0, 1)];
            let is_other = (i, j) == (2, 1);
            for s in (0..6).filter(|s| !(is_other && [2, 3].contains(s))) {
                add([low, ring[s], ring[(s + 1) % 6], high], &x);
            }
            if is_other {
                add([low, ring[2], ring[4], high], &x);
                add([ring[2], ring[3], ring[4], high], &x);
            }
        }

        let sliver = [at(2, 1, 0), at(2, 2, 0), at(2, 2, 1), at(2, 1, 1)];
        x[sliver[3] as usize][0] += flat;
        add(sliver, &x);

        let before = cells.get(cells.len() - 1).scaled_jacobian(&x);
        let given = x.clone();
        let moved = relax(&cells, &mut x);
        let after = cells.get(cells.len() - 1).scaled_jacobian(&x);
        assert!(before < 0.01 && after >= FLAT, "{before} {after}");
        assert!(moved.count > 0 && moved.distance < FARTHEST, "{moved:?}");
        assert!(x.iter().zip(&given).all(|(x, given)| x[2] == given[2]), "off the plate");
        assert!(cells.iter().all(|cell| cell.scaled_jacobian(&x) >= FLAT));
    }
}
