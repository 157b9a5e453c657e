//! The cone-weighted sum over neighbors on several ranks on processors.

use std::sync::{Mutex, PoisonError};

use topopt_fem::{Averaging, AveragingError};
use topopt_linalg::{
    BackendError, Communicator, Cpu, CpuLists, Exchange, Halo, LinearOperator, Neighbor, Parcel,
    RankVector, Ranks, Space,
};
use topopt_mesh::BoundingBox;

use crate::{Cone, NeighborStorage};

/// A [`Cone`] of which every rank has the rows of its own elements. What is near them comes from as
/// many ranks as it takes, whatever the radius.
pub struct RankCone<'a, C> {
    ranks: &'a Ranks<Cpu, C>,
    space: Space,
    cone: Cone,
    lists: CpuLists,
    /// Values of own elements and those nearby, and their sums.
    work: Mutex<[Vec<f64>; 2]>,
}

impl<'a, C: Communicator> RankCone<'a, C> {
    /// For the `centers` of the own elements of this rank, of `n_elements` in all, and radius R > 0
    /// (length); neighbor lists take at most `budget` bytes on a rank.
    ///
    /// # Errors
    /// [`BackendError`] if another rank has failed.
    pub fn new(
        ranks: &'a Ranks<Cpu, C>,
        n_elements: usize,
        centers: &[[f64; 3]],
        radius: f64,
        budget: usize,
    ) -> Result<Self, BackendError> {
        let communicator = ranks.communicator();
        let (halo, near) = within(communicator, centers, radius)?;
        let n_points = near.len();
        Ok(Self {
            ranks,
            space: Space::elements(n_elements),
            cone: Cone::of_rows(near, halo.own.clone(), radius, budget),
            lists: communicator.lists(&Cpu, &halo, 1)?,
            work: Mutex::new([vec![0.0; n_points], vec![0.0; n_points]]),
        })
    }

    /// Whether this rank has lists.
    pub fn storage(&self) -> NeighborStorage {
        self.cone.storage()
    }

    /// Neighbors of an element of this rank on average, itself included, estimated from a sample.
    pub fn mean_neighbors(&self) -> f64 {
        self.cone.mean_neighbors()
    }
}

impl<C: Communicator> Averaging<Ranks<Cpu, C>> for RankCone<'_, C> {
    fn space(&self) -> Space {
        self.space
    }

    fn apply(
        &self,
        x: &RankVector<Vec<f64>>,
        y: &mut RankVector<Vec<f64>>,
    ) -> Result<(), AveragingError> {
        let communicator = self.ranks.communicator();
        let mut work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        let [values, sums] = &mut *work;
        communicator.expand(&Cpu, &self.lists, x.own(), values);
        LinearOperator::apply(&self.cone, values, sums);
        communicator.contract(&Cpu, &self.lists, sums, y.own_mut());
        Ok(())
    }
}

/// The own `centers` and those of other ranks that may be within `radius` of one of them, in the
/// order of the ranks, and how values there are exchanged.
fn within(
    communicator: &impl Communicator,
    centers: &[[f64; 3]],
    radius: f64,
) -> Result<(Halo, Vec<[f64; 3]>), BackendError> {
    let rank = communicator.rank();
    let own = BoundingBox::of(centers.iter().copied());
    let boxes = communicator.gather_all(&[own.min, own.max].concat());

    // What others may need: the elements near the box around theirs.
    let near = |other: usize| -> Vec<u32> {
        if other == rank {
            return Vec::new();
        }
        let distance = |x: &[f64; 3]| -> f64 {
            let beyond = |i: usize| (boxes[other][i] - x[i]).max(x[i] - boxes[other][3 + i]);
            (0..3).map(|i| beyond(i).max(0.0).powi(2)).sum::<f64>().sqrt()
        };
        // A center on the border is taken.
        let reach = radius * (1.0 + 1e-12);
        (0..).zip(centers).filter(|(_, x)| distance(x) <= reach).map(|(e, _)| e).collect()
    };
    communicator.check()?;
    let sent: Vec<Vec<u32>> = (0..communicator.size()).map(near).collect();

    let counts: Vec<f64> = sent.iter().map(|list| list.len() as f64).collect();
    let counts = communicator.gather_all(&counts);
    communicator.check()?;
    let parcel = |other: usize| Parcel {
        rank: other,
        sent: sent[other].iter().flat_map(|&e| centers[e as usize]).collect(),
        received: vec![0.0; 3 * counts[other][rank] as usize],
    };
    let mut parcels: Vec<Parcel> = (0..communicator.size()).map(parcel).collect();
    communicator.exchange(&mut parcels);
    communicator.check()?;

    let (mut points, mut neighbors) = (Vec::new(), Vec::new());
    let mut start = 0;
    for (Parcel { rank: other, received, .. }, sent) in parcels.iter().zip(sent) {
        if *other == rank {
            start = points.len();
            points.extend_from_slice(centers);
            continue;
        }
        let first = points.len() as u32;
        points.extend_from_slice(received.as_chunks().0);
        let received: Vec<u32> = (first..points.len() as u32).collect();
        if !(sent.is_empty() && received.is_empty()) {
            neighbors.push(Neighbor { rank: *other, sent, received });
        }
    }
    let own = start..start + centers.len();
    Ok((Halo { own, n_points: points.len(), neighbors }, points))
}
