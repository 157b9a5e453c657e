//! Values that follow from those of levels before, by `cuda/cascade.cu`.

use cudarc::driver::CudaSlice;
use rayon::prelude::*;
use topopt_linalg::{Backend, BackendError, Cascade, Levels, Sample};
use topopt_mesh::counting_sort::{Grouped, grouped};
use topopt_mesh::filled_rows;

use crate::kernel::Grid::Threads;
use crate::vector::{DeviceVector, Real};
use crate::{Cuda, kernels};

/// Levels on the device.
pub(crate) struct DeviceCascade<R> {
    kernels: kernels::Cascade<R>,
    ends: Vec<usize>,
    fills: u32,
    order: CudaSlice<u32>,
    starts: CudaSlice<u32>,
    points: CudaSlice<u32>,
    weights: CudaSlice<f64>,
    /// Lists of each point: places in the order, and corners of samples, that have it.
    from: CudaSlice<u32>,
    places: CudaSlice<u32>,
    corners: CudaSlice<u32>,
    standing: CudaSlice<u32>,
    n_standing: usize,
    /// Sample that each place has its value of, and the derivatives there.
    chosen: CudaSlice<u32>,
    total: CudaSlice<f64>,
}

impl<R: Real> DeviceCascade<R> {
    /// Builds `levels` on the device of `backend`; none where samples are more than 32 bits can
    /// number.
    pub fn new(backend: &Cuda<R>, levels: &Levels) -> Result<Option<Self>, BackendError> {
        let n_corners = 4 * levels.samples.len();
        if u32::try_from(n_corners).is_err() {
            return Ok(None);
        }
        let device = backend.device();
        let users = Users::of(levels);
        let starts: Vec<u32> = levels.starts.par_iter().map(|&start| start as u32).collect();
        let samples = levels.samples.par_iter();
        let points: Vec<[u32; 4]> = samples.clone().map(|sample| sample.points).collect();
        let weights: Vec<[f64; 4]> = samples.map(|sample| sample.weights).collect();
        let mut stands = vec![true; levels.n_points];
        levels.order.iter().for_each(|&point| stands[point as usize] = false);
        let standing: Vec<u32> =
            (0..levels.n_points as u32).filter(|&point| stands[point as usize]).collect();

        let n_places = levels.order.len().max(1);
        Ok(Some(Self {
            kernels: kernels::Cascade::load(device)?,
            ends: levels.ends.to_vec(),
            fills: u32::from(levels.fills),
            order: device.upload_list(levels.order)?,
            starts: device.upload(&starts)?,
            points: device.upload_list(points.as_flattened())?,
            weights: device.upload(if weights.is_empty() {
                &[0.0]
            } else {
                weights.as_flattened()
            })?,
            from: device.upload(&users.from)?,
            places: device.upload_list(&users.places)?,
            corners: device.upload_list(&users.corners)?,
            n_standing: standing.len(),
            standing: device.upload_list(&standing)?,
            chosen: device.zeros(n_places)?,
            total: device.zeros(n_places)?,
        }))
    }

    /// First place of each level, and the number of its places.
    fn levels(&self) -> impl DoubleEndedIterator<Item = (usize, usize)> + '_ {
        let first = |level: usize| if level == 0 { 0 } else { self.ends[level - 1] };
        (0..self.ends.len()).map(move |level| (first(level), self.ends[level] - first(level)))
    }
}

/// Corners of samples by the point that they are at.
struct Users {
    /// First of each point, and the end of the last, `[n_points + 1]`.
    from: Vec<u32>,
    places: Vec<u32>,
    corners: Vec<u32>,
}

impl Users {
    fn of(levels: &Levels) -> Self {
        let n = levels.n_points;
        // Corners without a weight come last, as those of a point beyond all others.
        let point = |sample: &Sample, corner: usize| {
            if sample.weights[corner] > 0.0 { sample.points[corner] } else { n as u32 }
        };
        let of_sample = |sample: &Sample| std::array::from_fn(|corner| point(sample, corner));
        let keys: Vec<[u32; 4]> = levels.samples.par_iter().map(of_sample).collect();
        let Grouped { offsets, values: mut corners } =
            grouped(keys.as_flattened(), n + 1, |corner| corner as u32);
        corners.truncate(offsets[n]);

        let place_of: Vec<u32> = filled_rows(levels.starts, |k, places| places.fill(k as u32));
        let places = corners.par_iter().map(|&corner| place_of[corner as usize / 4]).collect();
        let from = offsets[..=n].par_iter().map(|&offset| offset as u32).collect();
        Self { from, places, corners }
    }
}

impl<R: Real> Cascade<Cuda<R>> for DeviceCascade<R> {
    fn forward(&mut self, backend: &Cuda<R>, x: &DeviceVector<R>, p: &mut DeviceVector<R>) {
        backend.copy(x, p);
        let Self { kernels, fills, order, starts, points, weights, .. } = &*self;
        for (first, n) in self.levels() {
            let (grid, p) = (Threads(n), &mut *p);
            let chosen = &self.chosen;
            kernels.cascade_level(
                grid, n, first, *fills, order, starts, points, weights, x, p, chosen,
            );
        }
    }

    fn backward(&mut self, _: &Cuda<R>, dp: &DeviceVector<R>, dx: &mut DeviceVector<R>) {
        let Self { kernels, order, starts, from, places, corners, weights, .. } = &*self;
        let (chosen, total) = (&self.chosen, &self.total);
        for (first, n) in self.levels().rev() {
            let (grid, dx) = (Threads(n), &mut *dx);
            kernels.cascade_level_backward(
                grid, n, first, order, starts, from, places, corners, weights, chosen, dp, total,
                dx,
            );
        }

        let (n, standing) = (self.n_standing, &self.standing);
        if n > 0 {
            kernels.cascade_standing_backward(
                Threads(n),
                n,
                standing,
                starts,
                from,
                places,
                corners,
                weights,
                chosen,
                total,
                dp,
                dx,
            );
        }
    }
}
