//! Ranks with a GPU each that reach one another through the host.

use std::ops::Range;

use topopt_linalg::{Backend, BackendError, Communicator, Exchange, Halo, Parcel};

use crate::halo::{entries, on_device_halo};
use crate::scalars::Scalar;
use crate::vector::{DeviceVector, Real};
use crate::{Cuda, DeviceHalo};

/// Messages of a device through the host, by a communicator that knows no device. Ranks may share a
/// GPU, which those of NCCL may not.
pub struct Staged<C>(pub C);

impl<C: Communicator> Communicator for Staged<C> {
    fn rank(&self) -> usize {
        self.0.rank()
    }

    fn size(&self) -> usize {
        self.0.size()
    }

    fn sum(&self, values: &mut [f64]) {
        self.0.sum(values);
    }

    fn max(&self, values: &mut [f64]) {
        self.0.max(values);
    }

    fn exchange(&self, parcels: &mut [Parcel]) {
        self.0.exchange(parcels);
    }

    fn gather(&self, own: &[f64], counts: &[usize], all: &mut [f64]) {
        self.0.gather(own, counts, all);
    }

    fn fail(&self, message: &str) {
        self.0.fail(message);
    }

    fn check(&self) -> Result<(), BackendError> {
        self.0.check()
    }
}

impl<C: Communicator> Staged<C> {
    /// Reports a failure to the device and the other ranks.
    fn note<R: Real>(&self, backend: &Cuda<R>, done: Result<(), BackendError>) {
        if let Err(error) = done {
            self.0.fail(&error.to_string());
            backend.device().fail(error);
        }
    }

    /// Changes a scalar on the host.
    fn change<R: Real>(&self, backend: &Cuda<R>, scalar: &Scalar, change: impl FnOnce(&mut [f64])) {
        let changed = backend.value(scalar).and_then(|value| {
            let mut value = [value];
            change(&mut value);
            backend.set(scalar, value)
        });
        self.note(backend, changed);
    }
}

impl<R: Real, C: Communicator> Exchange<Cuda<R>> for Staged<C> {
    on_device_halo! {}

    fn refresh(&self, backend: &Cuda<R>, halo: &DeviceHalo<R>, part: &mut DeviceVector<R>) {
        let device = backend.device();
        let mut messages = halo.messages();
        halo.pack(part, &mut messages);
        let exchanged = device.download(&messages.sent).and_then(|sent| {
            let parcel = |peer: &crate::halo::Peer| Parcel {
                rank: peer.rank,
                sent: sent[peer.sent.clone()].iter().map(|&value| value.to_f64()).collect(),
                received: vec![0.0; peer.received.len()],
            };
            let mut parcels: Vec<Parcel> = halo.peers().iter().map(parcel).collect();
            self.0.exchange(&mut parcels);
            let received = parcels.iter().flat_map(|parcel| &parcel.received);
            let received: Vec<R> = received.map(|&value| R::from_f64(value)).collect();
            match received.is_empty() {
                true => Ok(()),
                false => device.overwrite(&mut messages.received, &received),
            }
        });
        self.note(backend, exchanged);
        halo.unpack(part, &messages);
    }

    fn share(&self, backend: &Cuda<R>, counts: &[usize], level: &mut DeviceVector<R>) {
        let device = backend.device();
        let ranges = entries(counts, level.len());
        let sizes: Vec<usize> = ranges.iter().map(Range::len).collect();
        let shared = device.download(&level.values).and_then(|values| {
            let mut all: Vec<f64> = values.iter().map(|value| value.to_f64()).collect();
            let own = all[ranges[self.0.rank()].clone()].to_vec();
            self.0.gather(&own, &sizes, &mut all);
            let all: Vec<R> = all.into_iter().map(R::from_f64).collect();
            device.overwrite(&mut level.values, &all)
        });
        self.note(backend, shared);
    }

    fn sum_scalar(&self, backend: &Cuda<R>, scalar: &mut Scalar) {
        self.change(backend, scalar, |value| self.0.sum(value));
    }

    fn max_scalar(&self, backend: &Cuda<R>, scalar: &mut Scalar) {
        self.change(backend, scalar, |value| self.0.max(value));
    }

    fn is_recorded(&self) -> bool {
        false
    }
}
