//! `Travel`: travel times as plain tables, for fronts on a GPU.

use rayon::prelude::*;

use crate::DistanceError;
use crate::patches::Patches;
use crate::speed::{Metric, Products, Speed, WithMetric};

/// Most tetrahedra sampled for the mean edge.
const SAMPLES: usize = 4096;

/// Travel times along edges, as the root of an inner product of each edge with itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Travel {
    /// Ends of the edges, `[n_points][3]`: the points of the tetrahedra, mapped by F^T where the
    /// speed is uniform.
    pub points: Vec<[f64; 3]>,
    /// Data for the products in tetrahedra, in the order of the patches.
    pub products: Products,
    /// Mean travel time along an edge, from a sample of tetrahedra.
    pub mean_edge: f64,
}

impl Travel {
    /// Prepares the travel times at `speed`.
    ///
    /// # Errors
    /// [`DistanceError`] for a speed that is not positive, or not one for each tetrahedron.
    pub fn new(patches: &Patches, speed: &Speed) -> Result<Self, DistanceError> {
        speed.check(patches.tetrahedra())?;
        let products = Products::new(speed, patches.order());
        let (points, mean_edge) = products.with_metric(Places(patches));
        Ok(Self { points, products, mean_edge })
    }
}

/// Computes the mapped points, and the mean edge between them.
struct Places<'a>(&'a Patches);

impl WithMetric for Places<'_> {
    type Output = (Vec<[f64; 3]>, f64);

    fn with(self, metric: &impl Metric) -> Self::Output {
        let points = self.0.tetrahedra().points();
        let places = points.par_iter().map(|&point| metric.place(point)).collect();
        (places, mean_edge(self.0, metric))
    }
}

/// Computes the mean travel time along an edge, from a sample of tetrahedra.
pub(crate) fn mean_edge(patches: &Patches, metric: &impl Metric) -> f64 {
    let order = patches.order();
    let step = order.len().div_ceil(SAMPLES).max(1);
    let (mut sum, mut count) = (0.0, 0.0);
    for place in (0..order.len()).step_by(step) {
        let corners = patches.tetrahedra().corners(order[place] as usize);
        let corners = corners.map(|x| metric.place(x));
        for corner in &corners[1..] {
            let edge = [0, 1, 2].map(|d| corner[d] - corners[0][d]);
            sum += metric.product(place, edge, edge).sqrt();
            count += 1.0;
        }
    }
    sum / f64::max(count, 1.0)
}
