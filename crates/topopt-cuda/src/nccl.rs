//! Ranks with a GPU each that reach one another by NCCL.

use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use cudarc::driver::{CudaSlice, DevicePtr, DeviceRepr};
use cudarc::nccl::result::{NcclError, group_end, group_start};
use cudarc::nccl::safe::{Comm, Id, NcclType, ReduceOp};
use cudarc::nccl::sys::is_culib_present;
use topopt_linalg::{BackendError, Communicator, Exchange, Halo, Parcel};

use crate::halo::{entries, on_device_halo};
use crate::scalars::Scalar;
use crate::vector::{DeviceVector, Real};
use crate::{Cuda, Device, DeviceHalo};

/// The name of a group of ranks that join each other, which the first of them makes.
pub type NcclId = [u8; 128];

/// One rank of several; each has a GPU and a process of its own. All that crosses goes from device
/// to device, on the stream of the work, so that it is ordered with that and can be recorded.
pub struct Nccl {
    device: Arc<Device>,
    comm: Mutex<Group>,
    rank: usize,
    size: usize,
    failure: OnceLock<String>,
}

struct Group(Comm);

// SAFETY: a communicator may be used from any thread, by one at a time, which the lock around it
// sees to.
unsafe impl Send for Group {}

impl Nccl {
    /// A name for a new group.
    ///
    /// # Errors
    /// [`BackendError`] if there is no NCCL.
    pub fn id() -> Result<NcclId, BackendError> {
        check_library()?;
        let id = Id::new().map_err(|error| failed("making a group", &error))?;
        Ok(id.internal().map(|byte| byte as u8))
    }

    /// Joins the group `id` of `size` ranks as `rank`; waits for all others.
    ///
    /// # Errors
    /// [`BackendError`] if there is no NCCL, or the group does not come about.
    pub fn join(
        device: &Arc<Device>,
        rank: usize,
        size: usize,
        id: &NcclId,
    ) -> Result<Self, BackendError> {
        check_library()?;
        device.bind()?;
        let id = Id::uninit(id.map(|byte| byte as std::ffi::c_char));
        let comm = Comm::from_rank(device.stream().clone(), rank, size, id)
            .map_err(|error| failed("joining the other ranks", &error))?;
        let comm = Mutex::new(Group(comm));
        Ok(Self { device: device.clone(), comm, rank, size, failure: OnceLock::new() })
    }

    /// Uses the group; what fails is kept for the next check.
    fn with(&self, work: impl FnOnce(&Comm) -> Result<(), NcclError>) {
        let comm = self.comm.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = work(&comm.0) {
            self.device.fail(failed("exchanging with other ranks", &error));
        }
    }

    /// Uses the group on `numbers` of the host, which cross by way of the device.
    fn with_numbers(
        &self,
        numbers: &[f64],
        work: impl FnOnce(&Comm, &mut CudaSlice<f64>) -> Result<(), NcclError>,
    ) -> Vec<f64> {
        let crossed = self.device.upload(numbers).and_then(|mut buffer| {
            self.with(|comm| work(comm, &mut buffer));
            self.device.download(&buffer)
        });
        crossed.unwrap_or_else(|error| {
            self.device.fail(error);
            numbers.to_vec()
        })
    }

    fn reduce(&self, values: &mut [f64], by: &ReduceOp) {
        if !values.is_empty() {
            let reduced = self.with_numbers(values, |comm, buffer| {
                comm.all_reduce_in_place(buffer, by).map(drop)
            });
            values.copy_from_slice(&reduced);
        }
    }

    /// Reduces a scalar where it is.
    fn reduce_scalar(&self, scalar: &Scalar, by: &ReduceOp) {
        let stream = self.device.stream();
        let place = scalar.values().device_ptr(stream).0 + 8 * u64::from(scalar.index());
        // SAFETY: one double of an array that lives as long as its scalars, and is not given back here.
        let mut value = unsafe { stream.upgrade_device_ptr::<f64>(place, 1) };
        self.with(|comm| comm.all_reduce_in_place(&mut value, by).map(drop));
        value.leak();
    }
}

impl Communicator for Nccl {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn sum(&self, values: &mut [f64]) {
        self.reduce(values, &ReduceOp::Sum);
    }

    fn max(&self, values: &mut [f64]) {
        self.reduce(values, &ReduceOp::Max);
    }

    fn exchange(&self, parcels: &mut [Parcel]) {
        // All that is sent, then all that is received.
        let sent: Vec<f64> = parcels.iter().flat_map(|parcel| &parcel.sent).copied().collect();
        let n_received: usize = parcels.iter().map(|parcel| parcel.received.len()).sum();
        let all = [&sent[..], &vec![0.0; n_received]].concat();
        if all.is_empty() {
            return;
        }

        let crossed = self.with_numbers(&all, |comm, buffer| {
            let (mut out, mut back) = buffer.split_at_mut(sent.len());
            let (mut first, mut first_back) = (0, 0);
            grouped(|| {
                for parcel in &*parcels {
                    let end = first + parcel.sent.len();
                    if first < end {
                        comm.send(&out.slice_mut(first..end), parcel.rank as i32)?;
                    }
                    let end_back = first_back + parcel.received.len();
                    if first_back < end_back {
                        comm.recv(&mut back.slice_mut(first_back..end_back), parcel.rank as i32)?;
                    }
                    (first, first_back) = (end, end_back);
                }
                Ok(())
            })
        });

        let mut rest = &crossed[sent.len()..];
        for parcel in parcels {
            let (received, others) = rest.split_at(parcel.received.len());
            parcel.received.copy_from_slice(received);
            rest = others;
        }
    }

    fn gather(&self, own: &[f64], counts: &[usize], all: &mut [f64]) {
        let first: usize = counts[..self.rank].iter().sum();
        all[first..first + own.len()].copy_from_slice(own);
        if all.is_empty() {
            return;
        }
        let ranges = entries(counts, all.len());
        let gathered = self.with_numbers(all, |comm, buffer| broadcast(comm, &ranges, buffer));
        all.copy_from_slice(&gathered);
    }

    fn fail(&self, message: &str) {
        let _ = self.failure.set(message.into());
    }

    fn check(&self) -> Result<(), BackendError> {
        let message = self.failure.get().map(|message| BackendError {
            device: format!("rank {}", self.rank),
            operation: "its work".into(),
            message: message.clone(),
        });
        message.map_or_else(|| self.device.check(), Err)
    }
}

impl<R: Real + NcclType> Exchange<Cuda<R>> for Nccl {
    on_device_halo! {}

    fn refresh(&self, _: &Cuda<R>, halo: &DeviceHalo<R>, part: &mut DeviceVector<R>) {
        let mut messages = halo.messages();
        halo.pack(part, &mut messages);
        self.with(|comm| {
            grouped(|| {
                for peer in halo.peers() {
                    let other = peer.rank as i32;
                    if !peer.sent.is_empty() {
                        comm.send(&messages.sent.slice(peer.sent.clone()), other)?;
                    }
                    if !peer.received.is_empty() {
                        comm.recv(&mut messages.received.slice_mut(peer.received.clone()), other)?;
                    }
                }
                Ok(())
            })
        });
        halo.unpack(part, &messages);
    }

    fn share(&self, _: &Cuda<R>, counts: &[usize], level: &mut DeviceVector<R>) {
        let ranges = entries(counts, level.len());
        self.with(|comm| broadcast(comm, &ranges, &mut level.values));
    }

    fn sum_scalar(&self, _: &Cuda<R>, scalar: &mut Scalar) {
        self.reduce_scalar(scalar, &ReduceOp::Sum);
    }

    fn max_scalar(&self, _: &Cuda<R>, scalar: &mut Scalar) {
        self.reduce_scalar(scalar, &ReduceOp::Max);
    }
}

/// Sends the entries of each rank, by rank, to all others.
fn broadcast<T: NcclType + DeviceRepr>(
    comm: &Comm,
    ranges: &[Range<usize>],
    buffer: &mut CudaSlice<T>,
) -> Result<(), NcclError> {
    grouped(|| {
        for (root, range) in ranges.iter().enumerate().filter(|(_, range)| !range.is_empty()) {
            comm.broadcast_in_place(&mut buffer.slice_mut(range.clone()), root as i32)?;
        }
        Ok(())
    })
}

/// Does `work`, whose messages start together when it ends; a group that was begun is always ended.
fn grouped(work: impl FnOnce() -> Result<(), NcclError>) -> Result<(), NcclError> {
    group_start()?;
    let done = work();
    group_end()?;
    done
}

/// Looks for the library, as its first use without it would panic.
fn check_library() -> Result<(), BackendError> {
    // SAFETY: loading the library runs its initialization, which has no requirements.
    if unsafe { is_culib_present() } {
        return Ok(());
    }
    Err(BackendError {
        device: "NCCL".into(),
        operation: "loading its library".into(),
        message: "`libnccl.so.2` is not there; install NCCL 2.18 or later, or use one GPU".into(),
    })
}

fn failed(operation: &str, error: &NcclError) -> BackendError {
    BackendError {
        device: "NCCL".into(),
        operation: operation.into(),
        message: format!("{:?}; NCCL_DEBUG=INFO shows more", error.0),
    }
}
