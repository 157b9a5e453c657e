//! Pairs of neighboring aggregates and what couples them: the blocks of a coarse matrix off its
//! diagonal, each with the one across it.

use rayon::prelude::*;
use topopt_linalg::BlockPattern;
use topopt_mesh::filled_rows;

use super::{Aggregates, Aggregation};
use crate::{Discretization, ElementKernel};

/// The joints of a level: pairs of aggregates that parts connect. Parts are elements on the first
/// level, and on the others blocks of the finer level, by their places there.
#[derive(Debug, Clone)]
pub struct Joints {
    /// Offset of each row in the blocks off the diagonal, `[n_rows + 1]`.
    pub row_offsets: Vec<u32>,
    /// Their columns, increasing in a row.
    pub columns: Vec<u32>,
    /// Row of every joint: an own one, the first of two own ones. Joints of most parts come first,
    /// so that those that a warp of a GPU takes together have about as many.
    pub rows: Vec<u32>,
    /// Place of its block.
    pub places: Vec<u32>,
    /// Offset of each joint in `parts`, `[n_joints + 1]`.
    pub part_offsets: Vec<u32>,
    /// Parts of all joints, in a fixed order.
    pub parts: Vec<u32>,
}

impl Joints {
    /// The joints of the first level.
    pub fn of_nodes<K: ElementKernel<N>, const N: usize>(
        problem: &Discretization<K, N>,
        structure: &Aggregation,
    ) -> Self {
        let (of, members) = (structure.nodes.of(), structure.nodes.members());
        Self::new(&structure.patterns[0], members, |row, add| {
            for &e in &structure.straddling[row] {
                let mut touched = problem.mesh().hexes()[e as usize].map(|node| of[node as usize]);
                touched.sort_unstable();
                touched.chunk_by(|a, b| a == b).for_each(|same| add(same[0], e));
            }
        })
    }

    /// First block above the diagonal of each row, by its place, `[n_rows]`.
    pub fn uppers(&self) -> Vec<u32> {
        let first = |(row, bounds): (usize, &[u32])| {
            let columns = &self.columns[bounds[0] as usize..bounds[1] as usize];
            bounds[0] + columns.partition_point(|&column| column as usize <= row) as u32
        };
        self.row_offsets.windows(2).enumerate().map(first).collect()
    }

    /// The joints of the level of `parents`, whose coarse matrix has `pattern`, above `children`.
    pub fn of_aggregates(children: &Joints, parents: &Aggregates, pattern: &BlockPattern) -> Self {
        Self::new(pattern, parents.members(), |row, add| {
            for &child in &parents.members()[row] {
                let child = child as usize;
                for k in children.row_offsets[child]..children.row_offsets[child + 1] {
                    add(parents.of()[children.columns[k as usize] as usize], k);
                }
            }
        })
    }

    /// `parts(row, add)` calls `add(column, part)` for all parts that connect a row of `pattern` which
    /// has `members`, as other ranks make the others.
    fn new(
        pattern: &BlockPattern,
        members: &[Vec<u32>],
        parts: impl Fn(usize, &mut dyn FnMut(u32, u32)) + Sync,
    ) -> Self {
        // A row has all its columns but one: itself.
        let row_offsets: Vec<u32> =
            pattern.offsets().iter().enumerate().map(|(row, &k)| (k - row) as u32).collect();

        let is_of_other = |row: u32| members[row as usize].is_empty();
        let rows = (0..pattern.n_rows()).into_par_iter().map(|row| {
            let mut found = Vec::new();
            parts(row, &mut |column, part| {
                // A block and the one across it are made once, in the first of two own rows.
                if column as usize > row || is_of_other(column) {
                    let before = pattern.row(row).partition_point(|&c| c < column);
                    let before = before - usize::from(column as usize > row);
                    found.push((row_offsets[row] + before as u32, part));
                }
            });
            // Stable, as all sorting here: the parts of a joint keep their order.
            found.sort_by_key(|&(place, _)| place);
            found
        });
        let rows: Vec<Vec<(u32, u32)>> = rows.collect();

        let columns = filled_rows(&row_offsets, |row, columns: &mut [u32]| {
            let others = pattern.row(row).iter().filter(|&&c| c as usize != row);
            columns.iter_mut().zip(others).for_each(|(column, &other)| *column = other);
        });

        let by_row = rows.par_iter().enumerate();
        let mut joints: Vec<(usize, &[(u32, u32)])> = by_row
            .flat_map_iter(|(row, found)| {
                found.chunk_by(|a, b| a.0 == b.0).map(move |parts| (row, parts))
            })
            .collect();
        joints.par_sort_by_key(|(_, parts)| std::cmp::Reverse(parts.len()));

        let mut part_offsets = vec![0];
        part_offsets.extend(joints.iter().scan(0, |end, (_, parts)| {
            *end += parts.len() as u32;
            Some(*end)
        }));

        let parts = filled_rows(&part_offsets, |joint, parts: &mut [u32]| {
            parts.iter_mut().zip(joints[joint].1).for_each(|(part, &(_, given))| *part = given);
        });

        Self {
            row_offsets,
            columns,
            rows: joints.par_iter().map(|&(row, _)| row as u32).collect(),
            places: joints.par_iter().map(|(_, parts)| parts[0].0).collect(),
            part_offsets,
            parts,
        }
    }

    /// Row of every block off the diagonal.
    pub fn rows_of_blocks(&self) -> Vec<u32> {
        filled_rows(&self.row_offsets, |row, rows: &mut [u32]| rows.fill(row as u32))
    }
}

/// Aggregates with elements that touch a support.
#[derive(Debug, Clone)]
pub struct Supported {
    /// The aggregates.
    pub rows: Vec<u32>,
    /// Offset of each aggregate in `elements`, `[rows + 1]`.
    pub offsets: Vec<u32>,
    /// Their elements that touch a support.
    pub elements: Vec<u32>,
}

impl Supported {
    /// Finds the aggregates of the first level that have elements at a support.
    pub fn new<K: ElementKernel<N>, const N: usize>(
        problem: &Discretization<K, N>,
        structure: &Aggregation,
    ) -> Self {
        let (mesh, constraints) = (problem.mesh(), problem.constraints());
        let is_held = |&node: &u32| constraints.is_held(node as usize);
        let held = |(row, elements): (usize, &Vec<u32>)| {
            let touches = |e: &u32| mesh.hexes()[*e as usize].iter().any(is_held);
            let held: Vec<u32> = elements.iter().copied().filter(touches).collect();
            (!held.is_empty()).then_some((row as u32, held))
        };
        let found: Vec<(u32, Vec<u32>)> =
            structure.straddling.par_iter().enumerate().filter_map(held).collect();

        let mut supported = Self { rows: Vec::new(), offsets: vec![0], elements: Vec::new() };
        for (row, held) in found {
            supported.elements.extend(held);
            supported.rows.push(row);
            supported.offsets.push(supported.elements.len() as u32);
        }
        supported
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use topopt_mesh::generate::{Benchmark, Resolution};

    use super::super::DIRECT;
    use super::*;
    use crate::{DIM, LoadCase, Material, Problem, Supports};

    fn problem() -> Problem {
        let mesh = Benchmark::Cantilever.generate(Resolution::Elements(9000)).unwrap();
        let mut supports = Supports::none(mesh.n_nodes());
        mesh.hexes()[0]
            .iter()
            .for_each(|&node| (0..DIM).for_each(|i| supports.fix(node as usize, i)));
        let load = LoadCase::new("default", vec![1.0; DIM * mesh.n_nodes()]);
        Problem::new(mesh, Material::new(1.0, 0.3).unwrap(), supports, vec![load]).unwrap()
    }

    /// (row, column, part) of all joints.
    fn parts(joints: &Joints) -> Vec<(u32, u32, u32)> {
        let ends = joints.part_offsets.windows(2);
        let of_joint = |(k, ends): (usize, &[u32])| {
            let (row, column) = (joints.rows[k], joints.columns[joints.places[k] as usize]);
            let parts = &joints.parts[ends[0] as usize..ends[1] as usize];
            parts.iter().map(move |&part| (row, column, part)).collect::<Vec<_>>()
        };
        ends.enumerate().flat_map(of_joint).collect()
    }

    #[test]
    fn every_pair_that_an_element_connects_is_a_joint_with_it() {
        let problem = problem();
        let structure = Aggregation::new(&problem, DIRECT);
        let joints = Joints::of_nodes(&problem, &structure);
        let found = parts(&joints);
        let mut expected = BTreeSet::new();
        for (e, hex) in problem.mesh().hexes().iter().enumerate() {
            let touched = hex.map(|node| structure.nodes.of()[node as usize]);
            for (a, b) in touched.iter().flat_map(|&a| touched.map(|b| (a, b))) {
                if a < b {
                    expected.insert((a, b, e as u32));
                }
            }
        }
        assert_eq!(found.len(), expected.len());
        assert_eq!(found.iter().copied().collect::<BTreeSet<_>>(), expected);
        assert_eq!(joints.columns.len(), 2 * joints.rows.len(), "one block on each side");
        assert!(joints.part_offsets.windows(3).all(|k| k[1] - k[0] >= k[2] - k[1]));

        let rows = joints.rows_of_blocks();
        let next = Joints::of_aggregates(&joints, &structure.coarser[0], &structure.patterns[1]);
        let parent = |point: u32| structure.coarser[0].of()[point as usize];
        let blocks = rows.iter().zip(&joints.columns).enumerate();
        let expected = blocks
            .map(|(k, (&row, &column))| (parent(row), parent(column), k as u32))
            .filter(|(row, column, _)| row < column);
        let found: BTreeSet<_> = parts(&next).into_iter().collect();
        assert_eq!(found, expected.collect());
    }

    #[test]
    fn supported_aggregates_are_those_of_elements_with_held_nodes() {
        let problem = problem();
        let structure = Aggregation::new(&problem, DIRECT);
        let supported = Supported::new(&problem, &structure);
        let held: BTreeSet<u32> = problem.mesh().hexes()[0].into_iter().collect();
        let mut expected = BTreeSet::new();
        for (e, hex) in problem.mesh().hexes().iter().enumerate() {
            if hex.iter().any(|node| held.contains(node)) {
                expected.extend(hex.map(|node| (structure.nodes.of()[node as usize], e as u32)));
            }
        }
        let rows = supported.rows.iter().zip(supported.offsets.windows(2));
        let found = rows.flat_map(|(&row, ends)| {
            supported.elements[ends[0] as usize..ends[1] as usize].iter().map(move |&e| (row, e))
        });
        assert_eq!(found.collect::<BTreeSet<_>>(), expected);
    }
}
