//! Messages between ranks, packed and unpacked on the device.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cudarc::driver::CudaSlice;
use topopt_linalg::{BackendError, Halo, Neighbor};

use crate::kernel::Grid::Threads;
use crate::vector::{DeviceVector, Real};
use crate::{Device, kernels};

/// A halo with room for its messages on the device. Own points are the first of the part.
pub struct DeviceHalo<R> {
    kernels: kernels::Halo<R>,
    n_own: usize,
    n_points: usize,
    unknowns: usize,
    peers: Vec<Peer>,
    /// Points whose values are sent, by peer, and where received values go.
    sent: Points,
    received: Points,
    messages: Mutex<Messages<R>>,
}

/// The functions of an `Exchange` that touch a halo alone, whoever carries its messages.
macro_rules! on_device_halo {
    () => {
        type Lists = DeviceHalo<R>;

        fn lists(
            &self,
            backend: &Cuda<R>,
            halo: &Halo,
            unknowns: usize,
        ) -> Result<DeviceHalo<R>, BackendError> {
            DeviceHalo::new(backend.device(), halo, unknowns)
        }

        fn place(
            &self,
            _: &Cuda<R>,
            halo: &DeviceHalo<R>,
            own: &DeviceVector<R>,
            part: &mut DeviceVector<R>,
        ) {
            halo.place(own, part);
        }

        fn contract(
            &self,
            _: &Cuda<R>,
            halo: &DeviceHalo<R>,
            part: &DeviceVector<R>,
            own: &mut DeviceVector<R>,
        ) {
            halo.contract(part, own);
        }

        fn dot_own(
            &self,
            backend: &Cuda<R>,
            entries: Range<usize>,
            x: &DeviceVector<R>,
            y: &DeviceVector<R>,
            out: &mut Scalar,
        ) {
            backend.dot_within(entries, x, y, out);
            Exchange::<Cuda<R>>::sum_scalar(self, backend, out);
        }
    };
}
pub(crate) use on_device_halo;

/// The entries of a whole level's vector by rank: each rank owns the next `counts` points.
pub(crate) fn entries(counts: &[usize], n_entries: usize) -> Vec<Range<usize>> {
    let n = n_entries / counts.iter().sum::<usize>().max(1);
    let next = |end: &mut usize, count: &usize| {
        let first = *end;
        *end += n * count;
        Some(first..*end)
    };
    counts.iter().scan(0, next).collect()
}

/// Message entries exchanged with one other rank.
pub(crate) struct Peer {
    pub rank: usize,
    pub sent: Range<usize>,
    pub received: Range<usize>,
}

/// A list of points on the device, with an entry at least.
struct Points {
    list: CudaSlice<u32>,
    n: usize,
}

/// Messages to and from all peers, `[points][unknowns]` one after the other, an entry at least.
pub(crate) struct Messages<R> {
    pub sent: CudaSlice<R>,
    pub received: CudaSlice<R>,
}

impl Points {
    fn of<'h>(
        device: &Device,
        lists: impl Iterator<Item = &'h Vec<u32>>,
    ) -> Result<Self, BackendError> {
        let all: Vec<u32> = lists.flatten().copied().collect();
        Ok(Self { list: device.upload_list(&all)?, n: all.len() })
    }
}

impl<R: Real> DeviceHalo<R> {
    /// Copies `halo` to the device, for a number of unknowns per point.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    ///
    /// # Panics
    /// If own points are not the first of the part.
    pub(crate) fn new(
        device: &std::sync::Arc<Device>,
        halo: &Halo,
        unknowns: usize,
    ) -> Result<Self, BackendError> {
        assert_eq!(halo.own.start, 0, "own points are the first of a part");
        let sent = Points::of(device, halo.neighbors.iter().map(|peer| &peer.sent))?;
        let received = Points::of(device, halo.neighbors.iter().map(|peer| &peer.received))?;
        let message = |points: &Points| device.zeros((unknowns * points.n).max(1));
        let messages = Messages { sent: message(&sent)?, received: message(&received)? };

        let mut ends = [0, 0];
        let mut peer = |neighbor: &Neighbor| {
            let [sent, received] =
                [(0, neighbor.sent.len()), (1, neighbor.received.len())].map(|(k, n)| {
                    let first = ends[k];
                    ends[k] += unknowns * n;
                    first..ends[k]
                });
            Peer { rank: neighbor.rank, sent, received }
        };
        Ok(Self {
            kernels: kernels::Halo::load(device)?,
            n_own: halo.n_own(),
            n_points: halo.n_points,
            unknowns,
            peers: halo.neighbors.iter().map(&mut peer).collect(),
            sent,
            received,
            messages: Mutex::new(messages),
        })
    }

    /// Ranks with which messages are exchanged.
    pub(crate) fn peers(&self) -> &[Peer] {
        &self.peers
    }

    /// The messages, which are written by [`DeviceHalo::pack`] and read by [`DeviceHalo::unpack`].
    pub(crate) fn messages(&self) -> MutexGuard<'_, Messages<R>> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes own values to those of the part.
    pub(crate) fn place(&self, own: &DeviceVector<R>, part: &mut DeviceVector<R>) {
        let Self { kernels, n_own, n_points, unknowns, .. } = self;
        let n = n_own * unknowns;
        if n > 0 {
            kernels.copy_rows(Threads(n), n, *n_own, *n_own, *n_points, own, part);
        }
    }

    /// Writes those values of the part that are sent to the message.
    pub(crate) fn pack(&self, part: &DeviceVector<R>, messages: &mut Messages<R>) {
        let Self { kernels, n_points, unknowns, sent, .. } = self;
        let n = sent.n * unknowns;
        if n > 0 {
            let packed = &mut messages.sent;
            kernels.pack(Threads(n), n, *unknowns as u32, *n_points, &sent.list, part, packed);
        }
    }

    /// Writes received values to those of the part.
    pub(crate) fn unpack(&self, part: &mut DeviceVector<R>, messages: &Messages<R>) {
        let Self { kernels, n_points, unknowns, received, .. } = self;
        let n = received.n * unknowns;
        if n > 0 {
            let (unknowns, points) = (*unknowns as u32, &received.list);
            kernels.unpack(Threads(n), n, unknowns, *n_points, points, &messages.received, part);
        }
    }

    /// Writes the own values of the part to `own`.
    pub(crate) fn contract(&self, part: &DeviceVector<R>, own: &mut DeviceVector<R>) {
        let Self { kernels, n_own, n_points, unknowns, .. } = self;
        let n = n_own * unknowns;
        if n > 0 {
            kernels.copy_rows(Threads(n), n, *n_own, *n_points, *n_own, part, own);
        }
    }
}
