//! The cone-weighted sum over neighbors on several ranks.

use std::sync::{Mutex, PoisonError};

use topopt_fem::{Averaging, AveragingError};
use topopt_linalg::{
    Backend, BackendError, Communicator, Exchange, Halo, Neighbor, Parcel, RankVector, Ranks, Space,
};
use topopt_mesh::BoundingBox;

/// Cone divided among ranks, each with the rows of its own elements. What is near them comes from
/// as many ranks as it takes, whatever the radius.
pub struct RankCone<'a, B: Backend, C: Exchange<B>> {
    ranks: &'a Ranks<B, C>,
    space: Space,
    cone: Box<dyn Averaging<B> + 'a>,
    lists: C::Lists,
    /// Values of own elements and those nearby, and their sums.
    work: Mutex<[B::Vector; 2]>,
}

impl<'a, B: Backend, C: Exchange<B>> RankCone<'a, B, C> {
    /// Takes the own rows of the `cone` of the elements of `halo`; there are `n_elements` in all.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(
        ranks: &'a Ranks<B, C>,
        n_elements: usize,
        halo: &Halo,
        cone: Box<dyn Averaging<B> + 'a>,
    ) -> Result<Self, BackendError> {
        let (backend, communicator) = (ranks.inner(), ranks.communicator());
        let zeros = || backend.zeros(Space::elements(halo.n_points));
        Ok(Self {
            ranks,
            space: Space::elements(n_elements),
            cone,
            lists: communicator.lists(backend, halo, 1)?,
            work: Mutex::new([zeros()?, zeros()?]),
        })
    }
}

impl<B: Backend + Sync, C: Exchange<B>> Averaging<Ranks<B, C>> for RankCone<'_, B, C> {
    fn space(&self) -> Space {
        self.space
    }

    fn apply(
        &self,
        x: &RankVector<B::Vector>,
        y: &mut RankVector<B::Vector>,
    ) -> Result<(), AveragingError> {
        let (backend, communicator) = (self.ranks.inner(), self.ranks.communicator());
        let mut work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        let [values, sums] = &mut *work;
        communicator.expand(backend, &self.lists, x.own(), values);
        self.cone.apply(values, sums)?;
        communicator.contract(backend, &self.lists, sums, y.own_mut());
        Ok(())
    }
}

/// The elements that a rank needs for the rows of its own ones.
pub struct Nearby {
    /// How values there are exchanged.
    pub halo: Halo,
    /// The centers of own elements and of those of other ranks, in the order of the ranks.
    pub centers: Vec<[f64; 3]>,
}

impl Nearby {
    /// Collects the elements within `radius` of a box around the own `centers`.
    ///
    /// # Errors
    /// [`BackendError`] if another rank has failed.
    pub fn new(
        communicator: &dyn Communicator,
        centers: &[[f64; 3]],
        radius: f64,
    ) -> Result<Self, BackendError> {
        let (halo, centers) = within(communicator, centers, radius)?;
        Ok(Self { halo, centers })
    }

    /// Returns the elements with own ones before all others.
    #[must_use]
    pub fn own_first(self) -> Self {
        let Self { halo: Halo { own, n_points, mut neighbors }, mut centers } = self;
        centers[..own.end].rotate_left(own.start);
        for place in neighbors.iter_mut().flat_map(|neighbor| &mut neighbor.received) {
            if (*place as usize) < own.start {
                *place += own.len() as u32;
            }
        }
        Self { halo: Halo { own: 0..own.len(), n_points, neighbors }, centers }
    }
}

/// The own `centers` and those of other ranks that may be within `radius` of one of them, in the
/// order of the ranks, and how values there are exchanged.
fn within(
    communicator: &dyn Communicator,
    centers: &[[f64; 3]],
    radius: f64,
) -> Result<(Halo, Vec<[f64; 3]>), BackendError> {
    let rank = communicator.rank();
    let own = BoundingBox::of(centers.iter().copied());
    let boxes = communicator.gather_all(&[own.min, own.max].concat());

    communicator.check()?;

    // What others may need: the elements near the box around theirs.
    let sent = boxes.iter().enumerate().map(|(other, bounds)| {
        if other == rank { Vec::new() } else { near(centers, bounds, radius) }
    });
    let sent: Vec<Vec<u32>> = sent.collect();

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

/// Returns the numbers of the `centers` within `radius` of a box, its lowest corner and its highest.
fn near(centers: &[[f64; 3]], bounds: &[f64], radius: f64) -> Vec<u32> {
    let distance = |x: &[f64; 3]| -> f64 {
        let beyond = |i: usize| (bounds[i] - x[i]).max(x[i] - bounds[3 + i]);
        (0..3).map(|i| beyond(i).max(0.0).powi(2)).sum::<f64>().sqrt()
    };
    // A center on the border is taken.
    let reach = radius * (1.0 + 1e-12);
    (0..).zip(centers).filter(|(_, x)| distance(x) <= reach).map(|(e, _)| e).collect()
}
