//! Another shape of a surface that goes back to the first one where it would cross itself.

use rayon::prelude::*;

use crate::TriangleSurface;

/// Rounds of looking for crossings and undoing them: another one may appear beside.
const ROUNDS: usize = 8;

/// Triangles across which a surface goes over from one shape to the other.
const RINGS: usize = 4;

impl TriangleSurface {
    /// The vertices in `moved`, back in their own places around triangles that cross there; none if
    /// they cross all the same.
    pub(crate) fn moved_without_crossings(&self, moved: Self) -> Option<Self> {
        let (mut found, mut shares) = (moved.clone(), vec![1.0_f64; self.vertices.len()]);
        // Triangles that have moved since crossings were last looked for.
        let mut is_new = vec![true; self.triangles.len()];
        for _ in 0..ROUNDS {
            let crossings = found.crossings_of(|triangle| is_new[triangle as usize]);
            if crossings.is_empty() {
                return Some(found);
            }

            let crossed = crossings.as_flattened().iter().map(|&t| t as usize);
            for corner in crossed.clone().flat_map(|t| self.triangles[t]) {
                shares[corner as usize] = 0.0;
            }
            self.limit_slope(&mut shares);

            let mut has_moved = vec![false; self.vertices.len()];
            for (vertex, &share) in shares.iter().enumerate().filter(|(_, share)| **share < 1.0) {
                let (own, other) = (self.vertices[vertex], moved.vertices[vertex]);
                let between = [0, 1, 2].map(|i| own[i] + share * (other[i] - own[i]));
                has_moved[vertex] = found.vertices[vertex] != between;
                found.vertices[vertex] = between;
            }

            let moves = |corners: &[u32; 3]| corners.iter().any(|&v| has_moved[v as usize]);
            is_new = self.triangles.iter().map(moves).collect();
            // These cross all the same where nothing is left to move.
            crossed.for_each(|t| is_new[t] = true);
        }
        None
    }

    /// Lowers `shares`, `[n_vertices]`, so that they rise by at most 1 across [`RINGS`] triangles.
    fn limit_slope(&self, shares: &mut [f64]) {
        for _ in 0..RINGS {
            for &[a, b, c] in &self.triangles {
                let corners = [a, b, c].map(|vertex| vertex as usize);
                let least = corners.iter().map(|&v| shares[v]).fold(f64::INFINITY, f64::min);
                let most = least + 1.0 / RINGS as f64;
                corners.iter().for_each(|&vertex| shares[vertex] = shares[vertex].min(most));
            }
        }
    }

    /// Parts vertices in the same place, where the surface touches itself: each goes a little
    /// towards its own neighbors.
    pub(crate) fn part_touching(&mut self) {
        // Adding 0 takes the sign from zero: what is equal has the same bits.
        let bits = |vertex: u32| self.vertices[vertex as usize].map(|x| (x + 0.0).to_bits());
        let mut sorted: Vec<u32> = (0..self.vertices.len() as u32).collect();
        sorted.par_sort_unstable_by_key(|&vertex| (bits(vertex), vertex));
        let mut touches = vec![false; self.vertices.len()];
        for pair in sorted.windows(2).map(|pair| [pair[0] as usize, pair[1] as usize]) {
            if self.vertices[pair[0]] == self.vertices[pair[1]] {
                pair.iter().for_each(|&vertex| touches[vertex] = true);
            }
        }

        // Sums of the neighbors' coordinates, each neighbor once for each of two triangles.
        let mut around = vec![([0.0; 3], 0.0); self.vertices.len()];
        for corners in &self.triangles {
            for (i, &vertex) in corners.iter().enumerate().filter(|(_, v)| touches[**v as usize]) {
                for other in [corners[(i + 1) % 3], corners[(i + 2) % 3]] {
                    let (sum, n) = &mut around[vertex as usize];
                    (0..3).for_each(|i| sum[i] += self.vertices[other as usize][i]);
                    *n += 1.0;
                }
            }
        }
        for (x, (sum, n)) in self.vertices.iter_mut().zip(around).filter(|(_, (_, n))| *n > 0.0) {
            *x = [0, 1, 2].map(|i| x[i] + PARTED * (sum[i] / n - x[i]));
        }
    }
}

/// Share of the way to the mean of its neighbors that a vertex goes to touch no other.
const PARTED: f64 = 0.2;

#[cfg(test)]
mod tests {
    use super::*;

    /// Corners of an octahedron around (`x`, 0, 0).
    fn corners(x: f64) -> [[f64; 3]; 6] {
        [0, 1, 2, 3, 4, 5].map(|corner| {
            let sign = if corner % 2 == 0 { 1.0 } else { -1.0 };
            [0, 1, 2]
                .map(|i| if i == 0 { x } else { 0.0 } + if i == corner / 2 { sign } else { 0.0 })
        })
    }

    /// Triangles of an octahedron whose first corner has the number `first`.
    fn sides(first: u32) -> [[u32; 3]; 8] {
        [0, 1, 2, 3, 4, 5, 6, 7].map(|octant: u32| {
            let [a, b, c] = [0, 1, 2].map(|i| first + 2 * i + (octant >> i & 1));
            if octant.count_ones().is_multiple_of(2) { [a, b, c] } else { [a, c, b] }
        })
    }

    /// Two octahedra beside each other, the second one shifted by `shift`.
    fn octahedra(shift: f64) -> TriangleSurface {
        let vertices = [corners(0.0), corners(2.5 + shift)].concat();
        TriangleSurface::new(vertices, [sides(0), sides(6)].concat())
    }

    #[test]
    fn a_crossing_is_undone_and_nothing_else() {
        let (apart, crossing) = (octahedra(0.0), octahedra(-1.0));
        assert!(apart.crossings().is_empty() && !crossing.crossings().is_empty());
        let found = apart.moved_without_crossings(crossing).unwrap();
        assert!(found.crossings().is_empty());
        let closer = octahedra(-0.25);
        assert_eq!(apart.moved_without_crossings(closer.clone()).unwrap(), closer);
        // Where it crosses itself already, nothing can be undone.
        let crossing = octahedra(-1.0);
        assert_eq!(crossing.moved_without_crossings(crossing.clone()), None);
    }

    #[test]
    fn touching_vertices_are_parted() {
        let mut touching = octahedra(-0.5);
        assert!(!touching.crossings().is_empty());
        touching.part_touching();
        assert!(touching.crossings().is_empty());
        assert_eq!(touching.vertices.iter().filter(|x| (x[0] - 1.0).abs() < 0.5).count(), 2);
        let mut apart = octahedra(0.0);
        apart.part_touching();
        assert_eq!(apart, octahedra(0.0));
    }
}
