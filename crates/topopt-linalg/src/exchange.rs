//! Exchange of vectors and scalars that lie on a backend, between ranks.

use std::ops::Range;

use crate::cpu::dot;
use crate::{Backend, BackendError, Communicator, Cpu, Halo, Parcel};

/// A communicator for what lies on the backend `B`: it may cross from device to device, or through
/// the host.
pub trait Exchange<B: Backend>: Communicator {
    /// A halo as the backend takes it, for so many unknowns per point.
    type Lists: Send + Sync;

    /// Prepares to exchange `unknowns` numbers per point.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    fn lists(&self, backend: &B, halo: &Halo, unknowns: usize)
    -> Result<Self::Lists, BackendError>;

    /// Writes the own entries to `part`, whose ghosts stay as they are.
    fn place(&self, backend: &B, lists: &Self::Lists, own: &B::Vector, part: &mut B::Vector);

    /// Writes the entries of the ghosts, which come from their ranks, to `part`, which has its own ones.
    fn refresh(&self, backend: &B, lists: &Self::Lists, part: &mut B::Vector);

    /// Writes the own entries of `part` to `own`.
    fn contract(&self, backend: &B, lists: &Self::Lists, part: &B::Vector, own: &mut B::Vector);

    /// Writes the own entries and those of the ghosts, which come from their ranks, to `part`.
    fn expand(&self, backend: &B, lists: &Self::Lists, own: &B::Vector, part: &mut B::Vector) {
        self.place(backend, lists, own, part);
        self.refresh(backend, lists, part);
    }

    /// Gives every rank all of a vector of a [`Layout::Level`](crate::Layout::Level), whose points
    /// the ranks hold in turn, `counts` each.
    fn share(&self, backend: &B, counts: &[usize], level: &mut B::Vector);

    /// Computes out = x^T y over all ranks; each has some entries of the vectors of a level.
    fn dot_own(
        &self,
        backend: &B,
        entries: Range<usize>,
        x: &B::Vector,
        y: &B::Vector,
        out: &mut B::Scalar,
    );

    /// Sums a scalar over all ranks.
    fn sum_scalar(&self, backend: &B, scalar: &mut B::Scalar);

    /// Makes a scalar the largest over all ranks.
    fn max_scalar(&self, backend: &B, scalar: &mut B::Scalar);

    /// Whether a device can record what it does, to be replayed.
    fn is_recorded(&self) -> bool {
        true
    }
}

/// A halo for so many unknowns per point.
#[derive(Debug, Clone)]
pub struct CpuLists {
    halo: Halo,
    unknowns: usize,
}

impl<C: Communicator> Exchange<Cpu> for C {
    type Lists = CpuLists;

    fn lists(&self, _: &Cpu, halo: &Halo, unknowns: usize) -> Result<CpuLists, BackendError> {
        Ok(CpuLists { halo: halo.clone(), unknowns })
    }

    fn place(&self, _: &Cpu, lists: &CpuLists, own: &Vec<f64>, part: &mut Vec<f64>) {
        let CpuLists { halo, unknowns: n } = lists;
        part[n * halo.own.start..n * halo.own.end].copy_from_slice(own);
    }

    fn refresh(&self, _: &Cpu, lists: &CpuLists, part: &mut Vec<f64>) {
        let CpuLists { halo, unknowns: n } = lists;
        let own = &part[n * halo.own.start..n * halo.own.end];
        let row = |point: u32| *n * point as usize..*n * (point as usize + 1);
        let parcel = |neighbor: &crate::Neighbor| Parcel {
            rank: neighbor.rank,
            sent: neighbor.sent.iter().flat_map(|&point| &own[row(point)]).copied().collect(),
            received: vec![0.0; n * neighbor.received.len()],
        };
        let mut parcels: Vec<Parcel> = halo.neighbors.iter().map(parcel).collect();
        self.exchange(&mut parcels);
        for (neighbor, parcel) in halo.neighbors.iter().zip(&parcels) {
            let values = parcel.received.chunks_exact(*n);
            for (&point, values) in neighbor.received.iter().zip(values) {
                part[row(point)].copy_from_slice(values);
            }
        }
    }

    fn contract(&self, _: &Cpu, lists: &CpuLists, part: &Vec<f64>, own: &mut Vec<f64>) {
        let CpuLists { halo, unknowns: n } = lists;
        own.copy_from_slice(&part[n * halo.own.start..n * halo.own.end]);
    }

    fn share(&self, _: &Cpu, counts: &[usize], level: &mut Vec<f64>) {
        let n = level.len() / counts.iter().sum::<usize>().max(1);
        let sizes: Vec<usize> = counts.iter().map(|count| n * count).collect();
        let first: usize = sizes[..self.rank()].iter().sum();
        let own = level[first..first + sizes[self.rank()]].to_vec();
        self.gather(&own, &sizes, level);
    }

    fn dot_own(&self, _: &Cpu, entries: Range<usize>, x: &Vec<f64>, y: &Vec<f64>, out: &mut f64) {
        *out = dot(&x[entries.clone()], &y[entries]);
        self.sum(std::slice::from_mut(out));
    }

    fn sum_scalar(&self, _: &Cpu, scalar: &mut f64) {
        self.sum(std::slice::from_mut(scalar));
    }

    fn max_scalar(&self, _: &Cpu, scalar: &mut f64) {
        self.max(std::slice::from_mut(scalar));
    }
}
