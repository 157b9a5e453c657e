//! `Openings`: ways through the void from every element to the outside.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use topopt_mesh::surface::{NO_NEIGHBOR, face_neighbors};
use topopt_mesh::{Face, HexMesh};

/// Neighbors of the elements of a mesh behind their faces, by which a void is open to the outside.
///
/// A density x becomes p_e = min over the ways from the outside to e of the largest x on the way:
/// the density at which e is open. So p = max(x_e, min_j p_j) over the neighbors j, and p = x where
/// a face is free. No level of p encloses a void, p >= x, p(p(x)) = p(x), and each p_e is the x of
/// one element, the rim of the lake that e lies in. It is filled in the order of p, as a landscape
/// is flooded from its rim \[Barnes2014\].
///
/// All of this holds to 1e-9, the unit in which heights are compared: an element as high as the way
/// to it has its own density, and a lake with several rims of one height that of the first of them,
/// whoever computes it, in whatever order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Openings {
    /// Elements behind the faces of each one; [`NO_NEIGHBOR`] behind a free face.
    neighbors: Vec<[u32; 6]>,
}

/// Elements with a height, the lowest first; among equal ones that of the lower number.
type Waiting = Reverse<(u32, u32)>;

/// Units of height of a density of 1.
const UNITS: f64 = 1e9;

fn height(x: f64) -> u32 {
    (x.clamp(0.0, 4.0) * UNITS).round_ties_even() as u32
}

/// Elements that lie lower than the way to them, with the first of its rims.
struct Lake {
    rim: u32,
    elements: Vec<u32>,
}

/// Level of an element that no way comes to.
const NONE: u32 = u32::MAX;

impl Openings {
    /// Finds the ways through the elements of `mesh`, whose free faces are open besides those with
    /// all nodes `closed`, `[n_nodes]`; none if there is no such face.
    pub fn new(mesh: &HexMesh, closed: &[bool]) -> Option<Self> {
        let is_closed = |face: Face| face.nodes(mesh).into_iter().all(|node| closed[node as usize]);
        let mut neighbors = face_neighbors(mesh);
        for (element, behind) in (0..).zip(&mut neighbors) {
            for (local, other) in (0..).zip(behind) {
                // Behind a closed face there is the element itself, as behind one without area.
                if *other == NO_NEIGHBOR && is_closed(Face { element, local }) {
                    *other = element;
                }
            }
        }
        let is_open = neighbors.iter().any(|behind| behind.contains(&NO_NEIGHBOR));
        is_open.then_some(Self { neighbors })
    }

    /// Elements behind the faces of each one; [`NO_NEIGHBOR`] behind a free face.
    pub(crate) fn neighbors(&self) -> &[[u32; 6]] {
        &self.neighbors
    }

    /// Bytes of the lists, and of what is waiting in a flood.
    pub(crate) fn bytes(&self) -> usize {
        (size_of::<[u32; 6]>() + size_of::<Waiting>() + 2 * size_of::<u32>()) * self.neighbors.len()
    }

    /// Computes the density p of `x`, `[n_elements]`, and the element that each one has it of. What
    /// no way comes to has its own.
    pub fn flooded(&self, x: &[f64]) -> (Vec<f64>, Vec<u32>) {
        let heights: Vec<u32> = x.par_iter().map(|&x| height(x)).collect();
        let levels = self.levels(&heights);
        let rims = self.rims(&heights, &levels);
        (rims.par_iter().map(|&rim| x[rim as usize]).collect(), rims)
    }

    /// Levels at which elements of these `heights` are open, `[n_elements]`; [`NONE`] where no way
    /// comes to.
    fn levels(&self, heights: &[u32]) -> Vec<u32> {
        let mut levels = vec![NONE; heights.len()];
        let mut waiting: BinaryHeap<Waiting> = BinaryHeap::new();
        let free = |neighbors: &[u32; 6]| neighbors.contains(&NO_NEIGHBOR);
        for (element, _) in (0..).zip(&self.neighbors).filter(|(_, neighbors)| free(neighbors)) {
            levels[element as usize] = heights[element as usize];
            waiting.push(Reverse((heights[element as usize], element)));
        }

        // What lies lower than the way to it has the level of that, and waits for no other.
        let mut lower: VecDeque<u32> = VecDeque::new();
        while let Some(element) = lower.pop_front().or_else(|| Some(waiting.pop()?.0.1)) {
            let level = levels[element as usize];
            for other in self.behind(element) {
                if levels[other as usize] != NONE {
                    continue;
                }
                let height = heights[other as usize];
                levels[other as usize] = height.max(level);
                match height <= level {
                    true => lower.push_back(other),
                    false => waiting.push(Reverse((height, other))),
                }
            }
        }
        levels
    }

    /// First of the rims of the lake that each element lies in, or the element itself where it is
    /// as high as its level, `[n_elements]`.
    fn rims(&self, heights: &[u32], levels: &[u32]) -> Vec<u32> {
        let mut rims: Vec<u32> = (0..heights.len() as u32).collect();
        for Lake { rim, elements } in self.lakes(heights, levels) {
            elements.iter().for_each(|&element| rims[element as usize] = rim);
        }
        rims
    }

    /// Connected elements of one level above their heights.
    fn lakes(&self, heights: &[u32], levels: &[u32]) -> Vec<Lake> {
        let is_below = |e: usize| levels[e] != NONE && heights[e] < levels[e];
        let mut is_left: Vec<bool> = (0..heights.len()).map(is_below).collect();
        let mut all = Vec::new();
        for start in 0..heights.len() {
            if !std::mem::take(&mut is_left[start]) {
                continue;
            }
            let (mut rim, mut elements) = (NONE, vec![start as u32]);
            let mut k = 0;
            while let Some(&element) = elements.get(k) {
                for other in self.behind(element) {
                    let e = other as usize;
                    if levels[e] != levels[start] {
                        continue;
                    }
                    if !is_below(e) {
                        rim = rim.min(other);
                    } else if std::mem::take(&mut is_left[e]) {
                        elements.push(other);
                    }
                }
                k += 1;
            }
            all.push(Lake { rim, elements });
        }
        all
    }

    /// Yields the elements behind the faces of `element`.
    fn behind(&self, element: u32) -> impl Iterator<Item = u32> + '_ {
        self.neighbors[element as usize].iter().copied().filter(|&other| other != NO_NEIGHBOR)
    }

    /// Connected voids that are enclosed, as lists of their elements, where `is_solid` says which
    /// elements are not void, `[n_elements]`.
    pub fn enclosed(&self, is_solid: &[bool]) -> Vec<Vec<u32>> {
        let heights: Vec<u32> = is_solid.iter().map(|&solid| u32::from(solid)).collect();
        let lakes = self.lakes(&heights, &self.levels(&heights));
        lakes.into_iter().map(|lake| lake.elements).collect()
    }
}

#[cfg(test)]
mod tests {
    use topopt_testing::{distorted_cube, distorted_tetrahedra};

    use super::*;

    fn all_open(mesh: &HexMesh) -> Openings {
        Openings::new(mesh, &vec![false; mesh.n_nodes()]).unwrap()
    }

    /// Densities of open ways by their definition, a step at a time.
    fn by_steps(openings: &Openings, x: &[f64]) -> Vec<f64> {
        let way_to = |p: &[f64], e: usize| {
            let behind = openings.neighbors[e].iter();
            let of_behind = behind.map(|&other| p.get(other as usize).copied().unwrap_or(0.0));
            x[e].max(of_behind.fold(f64::INFINITY, f64::min))
        };
        let mut p = vec![f64::INFINITY; x.len()];
        loop {
            let next: Vec<f64> = (0..x.len()).map(|e| way_to(&p, e)).collect();
            if next == p {
                return p;
            }
            p = next;
        }
    }

    #[test]
    fn a_flood_finds_the_best_ways() {
        for mesh in [distorted_cube(7, 0.3, true), distorted_tetrahedra(4, 0.25, true)] {
            let openings = all_open(&mesh);
            let x: Vec<f64> =
                (0..mesh.n_elements()).map(|e| 0.5 + 0.45 * (e as f64 * 1.7).sin()).collect();
            let (p, bottleneck) = openings.flooded(&x);
            assert_eq!(p, by_steps(&openings, &x));
            assert!(p.iter().zip(&bottleneck).all(|(p, &e)| *p == x[e as usize]));
            assert!(p.iter().zip(&x).filter(|(p, x)| p > x).count() > 10);
            assert_eq!(openings.flooded(&p).0, p);
            for level in [0.2, 0.5, 0.8] {
                let is_solid: Vec<bool> = p.iter().map(|&p| p >= level).collect();
                assert_eq!(openings.enclosed(&is_solid), Vec::<Vec<u32>>::new());
            }
        }
    }

    #[test]
    fn enclosed_voids_are_counted_one_by_one() {
        let mesh = distorted_cube(7, 0.0, false);
        let centers = mesh.centers();
        let at = |[i, j, k]: [usize; 3]| {
            let place = [i, j, k].map(|i| (i as f64 + 0.5) / 7.0);
            let is_there = |c: &[f64; 3]| (0..3).all(|i| (c[i] - place[i]).abs() < 1e-6);
            centers.iter().position(is_there).unwrap()
        };
        let mut is_solid = vec![true; 343];
        // Two elements side by side, one that meets them at an edge alone, and a hole from outside.
        let void = [[2, 2, 2], [3, 2, 2], [4, 3, 2], [0, 5, 5], [1, 5, 5]].map(at);
        void.iter().for_each(|&e| is_solid[e] = false);
        let sizes = |openings: &Openings| -> Vec<usize> {
            let mut sizes: Vec<_> = openings.enclosed(&is_solid).iter().map(Vec::len).collect();
            sizes.sort_unstable();
            sizes
        };
        assert_eq!(sizes(&all_open(&mesh)), [1, 2]);

        let x_is = |place: f64| {
            mesh.coordinates().iter().map(|x| (x[0] - place).abs() < 1e-6).collect::<Vec<_>>()
        };
        assert_eq!(sizes(&Openings::new(&mesh, &x_is(0.0)).unwrap()), [1, 2, 2]);
        assert_eq!(sizes(&Openings::new(&mesh, &x_is(1.0)).unwrap()), [1, 2]);
        assert!(Openings::new(&mesh, &vec![true; mesh.n_nodes()]).is_none());
    }
}
