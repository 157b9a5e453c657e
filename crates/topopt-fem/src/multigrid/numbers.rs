//! Aggregates numbered through all ranks.

use std::collections::BTreeMap;
use std::ops::Range;

use topopt_linalg::{BackendError, Communicator, Cpu, Exchange, Halo};

use super::Aggregates;
use super::aggregates::offsets;
use crate::DIM;

/// Numbering of the aggregates of all ranks.
pub(super) struct Numbers {
    /// Number of aggregates per rank.
    pub counts: Vec<usize>,
    /// Global numbers of the ghosts, increasing, which follow the own aggregates. Empty where every
    /// rank holds all aggregates.
    pub ghosts: Vec<u32>,
}

impl Numbers {
    /// Numbers of the aggregates that `rank` owns.
    pub fn own(&self, rank: usize) -> Range<usize> {
        Self::own_of(&self.counts, rank)
    }

    fn own_of(counts: &[usize], rank: usize) -> Range<usize> {
        let first = counts[..rank].iter().sum();
        first..first + counts[rank]
    }

    /// The rank that has a ghost.
    pub fn rank_of(&self, ghost: usize) -> usize {
        let mut end = 0;
        let is_beyond = |count: &&usize| {
            end += **count;
            end <= self.ghosts[ghost] as usize
        };
        self.counts.iter().take_while(is_beyond).count()
    }
}

impl Aggregates {
    /// Numbers these aggregates of own points through all ranks, and adds those of the ghosts that
    /// `halo` names among the points, at `positions`; or those of all ranks, unless they
    /// `are_divided`. Members of an aggregate are own points.
    ///
    /// # Errors
    /// [`BackendError`] if another rank has failed.
    pub(super) fn among_ranks(
        self,
        positions: &[[f64; DIM]],
        halo: &Halo,
        communicator: &impl Communicator,
        are_divided: bool,
    ) -> Result<(Self, Numbers), BackendError> {
        let counts = communicator.gather_all(&[self.len() as f64]);
        let counts: Vec<usize> = counts.iter().flatten().map(|&count| count as usize).collect();
        let own = Numbers::own_of(&counts, communicator.rank());

        // Number and center of the aggregate of every point.
        let lists = communicator.lists(&Cpu, halo, 1 + DIM)?;
        let of_point = |&aggregate: &u32| {
            let [x, y, z] = self.centers[aggregate as usize];
            [(own.start + aggregate as usize) as f64, x, y, z]
        };
        let known: Vec<f64> = self.of.iter().flat_map(of_point).collect();
        let mut found = vec![0.0; (1 + DIM) * positions.len()];
        communicator.expand(&Cpu, &lists, &known, &mut found);
        let found: &[[f64; 1 + DIM]] = found.as_chunks().0;
        let number = |&[number, ..]: &[f64; 1 + DIM]| number as u32;

        let (of, members, centers, ghosts): (Vec<u32>, _, Vec<_>, _) = if are_divided {
            let beyond = found[halo.own.end..].iter();
            let ghosts: BTreeMap<u32, [f64; DIM]> =
                beyond.map(|at @ &[_, x, y, z]| (number(at), [x, y, z])).collect();
            let (ghosts, at_ghosts): (Vec<u32>, Vec<_>) = ghosts.into_iter().unzip();
            let local = |at| match ghosts.binary_search(&number(at)) {
                Ok(ghost) => (self.len() + ghost) as u32,
                Err(_) => number(at) - own.start as u32,
            };
            let of = found.iter().map(local).collect();
            let mut members = self.members;
            members.resize(members.len() + ghosts.len(), Vec::new());
            (of, members, [self.centers, at_ghosts].concat(), ghosts)
        } else {
            let centers = communicator.gather_all(self.centers.as_flattened()).concat();
            let mut members = vec![Vec::new(); counts.iter().sum()];
            members[own].clone_from_slice(&self.members);
            (
                found.iter().map(number).collect(),
                members,
                centers.as_chunks().0.to_vec(),
                Vec::new(),
            )
        };
        communicator.check()?;
        let offsets = offsets(positions, &of, &centers);
        Ok((Self { of, offsets, members, centers }, Numbers { counts, ghosts }))
    }
}
