//! The eikonal equation on the device: when a front arrives at the vertices of tetrahedra.
//!
//! The equation of [`topopt_distance::arrival()`] and its exact local solver, by the fast iterative
//! method on patches that fit shared memory \[FuKirbyWhitaker2013\]. In a round every patch in
//! which values wait before the limit is advanced by some sweeps; then lowered values go to the
//! copies in other patches. The limit moves on with the earliest value that waits. All of that
//! stays on the device, and the host looks at the front every [`ROUNDS_AT_ONCE`] rounds.
//!
//! In a sweep values are read from one array and lowered in another, by an atomic minimum on the
//! bits of numbers that are not negative. A minimum does not depend on its order, so results have
//! the same bits in every run, and the lists that a gather would read (8 bytes per tetrahedron, as
//! many as all else of a patch) are not needed. Coordinates lie in shared memory: three numbers per
//! copy and four bytes per tetrahedron, against six numbers per tetrahedron for its metric.
//!
//! Bandwidth does not bound it: 12,000,000 tetrahedra take 12 ms on an H200, in which 1.2 GB cross
//! the memory's pins (2 % of what it could move). Half of the instructions that could be issued
//! are, with 17 of 32 threads taking part (benchmarks/results/2026-11-23-h200-fronts).

use std::sync::Arc;

use cudarc::driver::CudaSlice;
use topopt_distance::{
    Arrival, DistanceError, Patches, Products, Speed, Tetrahedra, Travel, checked_sources,
};
use topopt_linalg::BackendError;

use crate::Device;
use crate::kernel::Grid::{Blocks, Threads};
use crate::kernels::{self, FrontView};
use crate::vector::{Real, to_planes};

/// Rounds between two looks at the front; those after its end do nothing.
pub const ROUNDS_AT_ONCE: u32 = 16;

/// Most tetrahedra and vertices of a patch.
const CELLS: usize = defined!("eikonal.cu", "CELLS");
const VERTICES: usize = defined!("eikonal.cu", "VERTICES");

/// Why there is no arrival.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum EikonalError {
    /// Bad input.
    #[error(transparent)]
    Input(#[from] DistanceError),
    /// A device that failed.
    #[error(transparent)]
    Device(#[from] BackendError),
}

/// How a front is advanced. Results differ by rounding only.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Schedule {
    /// Most sweeps of a patch in a round.
    pub sweeps: u32,
    /// Range of a round beyond the earliest waiting value, in mean travel times along an edge.
    pub window: f64,
}

impl Default for Schedule {
    fn default() -> Self {
        Self { sweeps: 4, window: 4.0 }
    }
}

/// The eikonal equation with one speed on tetrahedra, in the precision `R`.
pub struct Eikonal<R> {
    device: Arc<Device>,
    patches: Patches,
    kernels: kernels::Eikonal<R>,
    front_kernels: kernels::Front<R>,
    schedule: Schedule,
    tables: Tables,
    /// The points of the copies from the first one of their patch on, `[3][n_copies]`.
    positions: CudaSlice<R>,
    metric: Metric<R>,
    mean_edge: f64,
    state: State<R>,
}

/// [`Patches`] on the device.
struct Tables {
    first_cells: CudaSlice<u32>,
    first_copies: CudaSlice<u32>,
    corners: CudaSlice<u32>,
    vertices: CudaSlice<u32>,
    owners: CudaSlice<u32>,
    offsets: CudaSlice<u32>,
    slots: CudaSlice<u32>,
}

/// Data from which the products of edges follow.
enum Metric<R> {
    Mapped,
    Isotropic(CudaSlice<R>),
    Anisotropic(CudaSlice<R>),
}

/// The front, as `cuda/eikonal.cu` has it.
struct State<R> {
    values: CudaSlice<R>,
    states: CudaSlice<u8>,
    sends: CudaSlice<u8>,
    changed: CudaSlice<u32>,
    earliest: CudaSlice<R>,
    front: CudaSlice<R>,
    solves: CudaSlice<u32>,
    rounds: CudaSlice<u32>,
    times: CudaSlice<R>,
}

impl<R: Real> Eikonal<R> {
    /// The solver for a speed on `tetrahedra`, which it cuts into patches of its own. What depends
    /// on these is made once and serves any number of fronts.
    ///
    /// # Errors
    /// [`EikonalError`] for a speed that is not positive, or if the device has no room.
    pub fn new(
        device: &Arc<Device>,
        tetrahedra: Tetrahedra,
        speed: &Speed,
    ) -> Result<Self, EikonalError> {
        let patches = Patches::with_limits(tetrahedra, CELLS, VERTICES);
        let travel = Travel::new(&patches, speed)?;

        let upload = |values: &[f64]| {
            let values: Vec<R> = values.iter().map(|&value| R::from_f64(value)).collect();
            device.upload(&values)
        };
        let metric = match &travel.products {
            Products::Mapped(_) => Metric::Mapped,
            Products::Isotropic(squares) => Metric::Isotropic(upload(squares)?),
            Products::Anisotropic(inverses) => {
                Metric::Anisotropic(upload(inverses.as_flattened())?)
            }
        };
        let positions = to_planes::<R>(positions(&patches, &travel.points).as_flattened(), 3);

        Ok(Self {
            kernels: kernels::Eikonal::load(device)?,
            front_kernels: kernels::Front::load(device)?,
            schedule: Schedule::default(),
            tables: Tables::new(device, &patches)?,
            positions: device.upload(&positions)?,
            metric,
            mean_edge: travel.mean_edge,
            state: State::new(device, &patches)?,
            device: device.clone(),
            patches,
        })
    }

    /// Advances fronts by another schedule.
    #[must_use]
    pub fn with_schedule(mut self, schedule: Schedule) -> Self {
        self.schedule = schedule;
        self
    }

    /// The tetrahedra in the patches that were cut for the device.
    pub fn patches(&self) -> &Patches {
        &self.patches
    }

    /// Computes [`topopt_distance::arrival()`]: times at the vertices, `[n_points]`, from `sources`, vertices
    /// and their values.
    ///
    /// In double precision the times are those of the CPU to rounding. In single precision they are
    /// relative to the earliest source, with relative errors below 1e-5 unless tetrahedra are
    /// nearly flat.
    ///
    /// # Errors
    /// [`EikonalError`] for a source that is not a vertex or has no finite value, or for a device
    /// that fails.
    pub fn arrival(&mut self, sources: &[(u32, f64)]) -> Result<Arrival, EikonalError> {
        self.arrival_until(sources, f64::INFINITY)
    }

    /// Computes [`topopt_distance::arrival_until()`]: the front stops at the time `end`.
    ///
    /// # Errors
    /// As [`Eikonal::arrival`].
    pub fn arrival_until(
        &mut self,
        sources: &[(u32, f64)],
        end: f64,
    ) -> Result<Arrival, EikonalError> {
        let sources = checked_sources(self.patches.tetrahedra(), sources)?;
        // No front at all; a device has no array of no numbers.
        if sources.is_empty() {
            let times = vec![f64::INFINITY; self.patches.tetrahedra().points().len()];
            return Ok(Arrival { times, local_solves: 0, rounds: 0 });
        }
        // Bits of numbers have the order of the numbers where these are not negative.
        let start = sources.iter().map(|source| source.1).fold(f64::INFINITY, f64::min);
        self.give(&sources, start)?;
        self.run(R::from_f64(end - start))?;

        let (view, state) = (self.view(), &mut self.state);
        let n_vertices = state.times.len();
        self.front_kernels.front_collect(
            Threads(n_vertices),
            view,
            &state.values,
            &mut state.times,
        );
        let times = self.device.download(&state.times)?;
        let solves = self.device.download(&state.solves)?;
        let rounds = self.device.download(&state.rounds)?;
        Ok(Arrival {
            times: times.into_iter().map(|time| start + time.to_f64()).collect(),
            local_solves: solves.into_iter().map(u64::from).sum(),
            rounds: rounds[0] as usize,
        })
    }

    /// Makes a front of the sources alone, with values from `start` on.
    fn give(&mut self, sources: &[(u32, f64)], start: f64) -> Result<(), BackendError> {
        let (mut copies, mut values) = (Vec::new(), Vec::new());
        for &(vertex, value) in sources {
            let own = self.patches.copies(vertex);
            copies.extend_from_slice(own);
            values.extend(own.iter().map(|_| R::from_f64(value - start)));
        }
        let (copies, values) = (self.device.upload(&copies)?, self.device.upload(&values)?);

        let (view, state) = (self.view(), &mut self.state);
        let n = self.patches.n_copies().max(self.patches.len()).max(state.front.len());
        self.front_kernels.front_clear(
            Threads(n),
            view,
            &mut state.values,
            &mut state.states,
            &mut state.earliest,
            &mut state.solves,
            &mut state.front,
            &mut state.rounds,
        );
        self.front_kernels.front_give(
            Threads(copies.len()),
            view,
            copies.len(),
            &copies,
            &values,
            &mut state.values,
            &mut state.states,
            &mut state.earliest,
            &mut state.front,
        );
        Ok(())
    }

    /// Rounds until nothing waits before `end`. They come to an end: each propagates the earliest
    /// value, and values are only ever lowered.
    fn run(&mut self, end: R) -> Result<(), BackendError> {
        let mut round = 0;
        loop {
            for _ in 0..ROUNDS_AT_ONCE {
                self.advance(round, end);
                self.exchange(round);
                round += 1;
            }
            let front = self.device.download(&self.state.front)?;
            let first = front[round as usize % front.len()].to_f64();
            if first >= end.to_f64() || first == f64::INFINITY {
                return Ok(());
            }
        }
    }

    fn advance(&mut self, round: u32, end: R) {
        let (view, state) = (self.view(), &mut self.state);
        let none = &self.positions;
        let kernels = &self.kernels;

        macro_rules! launch {
            ($kernel:ident, $metric:expr) => {
                kernels.$kernel(
                    Blocks(self.patches.len()),
                    view,
                    &self.positions,
                    $metric,
                    round,
                    self.schedule.sweeps,
                    self.schedule.window * self.mean_edge,
                    end.to_f64(),
                    &mut state.rounds,
                    &mut state.values,
                    &mut state.states,
                    &mut state.sends,
                    &mut state.changed,
                    &mut state.earliest,
                    &mut state.front,
                    &mut state.solves,
                )
            };
        }

        match &self.metric {
            Metric::Mapped => launch!(front_advance, none),
            Metric::Isotropic(squares) => launch!(front_advance_isotropic, squares),
            Metric::Anisotropic(inverses) => launch!(front_advance_anisotropic, inverses),
        }
    }

    fn exchange(&mut self, round: u32) {
        let (view, state) = (self.view(), &mut self.state);
        self.front_kernels.front_exchange(
            Blocks(self.patches.len()),
            view,
            round,
            &mut state.values,
            &mut state.states,
            &mut state.sends,
            &mut state.changed,
            &mut state.earliest,
            &mut state.front,
        );
    }

    fn view(&self) -> FrontView {
        let tables = &self.tables;
        FrontView {
            n_patches: self.patches.len().into(),
            n_copies: self.patches.n_copies().into(),
            n_vertices: self.patches.tetrahedra().points().len().into(),
            first_cells: (&tables.first_cells).into(),
            first_copies: (&tables.first_copies).into(),
            corners: (&tables.corners).into(),
            vertices: (&tables.vertices).into(),
            owners: (&tables.owners).into(),
            offsets: (&tables.offsets).into(),
            slots: (&tables.slots).into(),
        }
    }
}

impl Tables {
    fn new(device: &Device, patches: &Patches) -> Result<Self, BackendError> {
        let corners = patches.cells().iter().map(|cell| u32::from_le_bytes(cell.map(|v| v as u8)));
        let (offsets, slots) = patches.slots();
        let offsets = offsets.iter().map(|&offset| offset as u32);
        let ranges = patches.first_copies().windows(2).zip(0..);
        let owners = ranges.flat_map(|(range, patch)| (range[0]..range[1]).map(move |_| patch));
        Ok(Self {
            first_cells: device.upload(patches.first_cells())?,
            first_copies: device.upload(patches.first_copies())?,
            corners: device.upload(&corners.collect::<Vec<u32>>())?,
            vertices: device.upload(patches.vertices())?,
            owners: device.upload(&owners.collect::<Vec<u32>>())?,
            offsets: device.upload(&offsets.collect::<Vec<u32>>())?,
            slots: device.upload(slots)?,
        })
    }
}

impl<R: Real> State<R> {
    fn new(device: &Device, patches: &Patches) -> Result<Self, BackendError> {
        let (n_copies, n_patches) = (patches.n_copies(), patches.len());
        Ok(Self {
            values: device.zeros(n_copies)?,
            states: device.zeros(n_copies)?,
            sends: device.zeros(n_copies)?,
            changed: device.zeros(n_patches)?,
            earliest: device.zeros(n_patches)?,
            front: device.zeros(3)?,
            solves: device.zeros(n_patches)?,
            rounds: device.zeros(1)?,
            times: device.zeros(patches.tetrahedra().points().len())?,
        })
    }
}

/// The points of the copies from the first one of their patch on, `[n_copies][3]`, so that single
/// precision loses nothing to the distance from the origin.
fn positions(patches: &Patches, points: &[[f64; 3]]) -> Vec<[f64; 3]> {
    let mut positions = Vec::with_capacity(patches.n_copies());
    for patch in 0..patches.len() {
        let vertices = patches.patch(patch).vertices;
        let from = points[vertices[0] as usize];
        let place = |&vertex: &u32| [0, 1, 2].map(|d| points[vertex as usize][d] - from[d]);
        positions.extend(vertices.iter().map(place));
    }
    positions
}
