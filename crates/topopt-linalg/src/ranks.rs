//! `Ranks`: a backend of several ranks that each own a share of every vector.

use std::ops::Range;

use crate::{
    Approximation, ApproximationSums, AsymptoteRules, Backend, BackendError, Exchange, Layout,
    MovingAsymptotes, Parcel, Pointwise, Share, Shares, SmoothStep, Space, SubpixelStep,
};

/// Ranks that hold vectors together: each the entries that it owns, on a backend of its own.
///
/// Values on the host, of `upload` and `download`, are those of all ranks, on the first one, so
/// that whoever reads and writes them knows of no ranks. Only operators know ghosts. Vectors of a
/// [`Layout::Level`] are whole on every rank, and the same.
pub struct Ranks<B: Backend, C> {
    backend: B,
    communicator: C,
    shares: Shares,
}

/// A vector whose entries are divided among ranks.
pub struct RankVector<V> {
    own: V,
    space: Space,
}

impl<V> RankVector<V> {
    /// The entries that this rank owns.
    pub fn own(&self) -> &V {
        &self.own
    }

    /// Entries that this rank owns, mutable.
    pub fn own_mut(&mut self) -> &mut V {
        &mut self.own
    }
}

impl<B: Backend, C: Exchange<B>> Ranks<B, C> {
    /// Builds the backend of a rank that computes on `backend`; all ranks give the same shares.
    pub fn new(backend: B, communicator: C, shares: Shares) -> Self {
        Self { backend, communicator, shares }
    }

    /// Backend of the own entries.
    pub fn inner(&self) -> &B {
        &self.backend
    }

    /// How ranks reach each other.
    pub fn communicator(&self) -> &C {
        &self.communicator
    }

    /// Number of points of a shared layout, over all ranks.
    pub fn n_points(&self, layout: Layout) -> usize {
        self.shares.of(layout).map_or(0, Share::n_points)
    }

    /// How ranks share the points of `space`; none where every rank has all of them.
    fn share(&self, space: Space) -> Option<Share> {
        match space.layout {
            Layout::Variables => Some(Share::even(space.points, self.communicator.size())),
            layout => self.shares.of(layout).cloned(),
        }
    }

    /// The space of the own entries of a vector of `space`.
    pub fn own_space(&self, space: Space) -> Space {
        let share = self.share(space);
        debug_assert!(share.as_ref().is_none_or(|share| share.n_points() == space.points));
        let points = share.map_or(space.points, |share| share.counts()[self.communicator.rank()]);
        Space { points, ..space }
    }

    /// A vector of `space` whose own entries are `own` on this rank.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn of_own(&self, own: &[f64], space: Space) -> Result<RankVector<B::Vector>, BackendError> {
        Ok(RankVector { own: self.backend.upload(own, self.own_space(space))?, space })
    }

    /// The own ones of `values`, which the first rank has, `[points][unknowns]`.
    fn scatter(
        &self,
        values: &[f64],
        share: &Share,
        unknowns: usize,
    ) -> Result<Vec<f64>, BackendError> {
        let (rank, size) = (self.communicator.rank(), self.communicator.size());
        let mut own = Vec::new();
        if rank == 0 {
            own = share.take(values, unknowns, share.own(0));
        }

        for round in 0..share.n_rounds(unknowns) {
            let points = |rank| share.in_round(round, unknowns, rank);
            let sent = |rank| Parcel::sending(rank, share.take(values, unknowns, points(rank)));
            let mut parcels: Vec<Parcel> = match rank {
                0 => (1..size).map(sent).collect(),
                _ => vec![Parcel::receiving(0, unknowns * points(rank).len())],
            };
            self.communicator.exchange(&mut parcels);
            parcels.iter().for_each(|parcel| own.extend_from_slice(&parcel.received));
        }
        self.communicator.check()?;
        Ok(own)
    }

    /// The values of all ranks on the first one, and none on the others, from the `own` ones.
    fn collect(
        &self,
        own: &[f64],
        share: &Share,
        unknowns: usize,
    ) -> Result<Vec<f64>, BackendError> {
        let (rank, size) = (self.communicator.rank(), self.communicator.size());
        let mut values = Vec::new();
        if rank == 0 {
            values = vec![0.0; unknowns * share.n_points()];
            share.put(own, unknowns, share.own(0), &mut values);
        }

        let first = share.own(rank).start;
        for round in 0..share.n_rounds(unknowns) {
            let points = |rank| share.in_round(round, unknowns, rank);
            let received = |rank| Parcel::receiving(rank, unknowns * points(rank).len());
            let Range { start, end } = points(rank);
            let mut parcels: Vec<Parcel> = match rank {
                0 => (1..size).map(received).collect(),
                _ => {
                    let entries = unknowns * (start - first)..unknowns * (end - first);
                    vec![Parcel::sending(0, own[entries].to_vec())]
                }
            };
            self.communicator.exchange(&mut parcels);
            for parcel in parcels.iter().filter(|_| rank == 0) {
                share.put(&parcel.received, unknowns, points(parcel.rank), &mut values);
            }
        }
        self.communicator.check()?;
        Ok(values)
    }

    /// Sums what each rank has found of its own entries of a vector.
    fn sum(&self, x: &RankVector<B::Vector>, scalar: &mut B::Scalar) {
        if x.space.layout != Layout::Level {
            self.communicator.sum_scalar(&self.backend, scalar);
        }
    }
}

impl<B: Backend, C: Exchange<B>> Backend for Ranks<B, C> {
    type Vector = RankVector<B::Vector>;
    type Scalar = B::Scalar;
    type Recording = B::Recording;

    fn name(&self) -> String {
        format!("{} ranks of {}", self.communicator.size(), self.backend.name())
    }

    fn zeros(&self, space: Space) -> Result<Self::Vector, BackendError> {
        Ok(RankVector { own: self.backend.zeros(self.own_space(space))?, space })
    }

    fn upload(&self, values: &[f64], space: Space) -> Result<Self::Vector, BackendError> {
        let own = match self.share(space) {
            None => self.backend.upload(values, space)?,
            Some(share) => {
                let own = self.scatter(values, &share, space.unknowns)?;
                self.backend.upload(&own, self.own_space(space))?
            }
        };
        Ok(RankVector { own, space })
    }

    fn download(&self, x: &Self::Vector) -> Result<Vec<f64>, BackendError> {
        let own = self.backend.download(&x.own)?;
        let Some(share) = self.share(x.space) else { return Ok(own) };
        self.collect(&own, &share, x.space.unknowns)
    }

    fn has_values(&self) -> bool {
        self.communicator.rank() == 0
    }

    fn decide(&self, values: Vec<f64>) -> Result<Vec<f64>, BackendError> {
        let first = if self.has_values() { values } else { Vec::new() };
        let decided = self.communicator.gather_all(&first).swap_remove(0);
        self.communicator.check()?;
        Ok(decided)
    }

    fn scalar(&self) -> Self::Scalar {
        self.backend.scalar()
    }

    fn value(&self, scalar: &Self::Scalar) -> Result<f64, BackendError> {
        self.communicator.check()?;
        self.backend.value(scalar)
    }

    fn copy(&self, x: &Self::Vector, y: &mut Self::Vector) {
        self.backend.copy(&x.own, &mut y.own);
    }

    fn fill(&self, value: f64, x: &mut Self::Vector) {
        self.backend.fill(value, &mut x.own);
    }

    fn axpby(&self, a: f64, x: &Self::Vector, b: f64, y: &mut Self::Vector) {
        self.backend.axpby(a, &x.own, b, &mut y.own);
    }

    fn dot_into(&self, x: &Self::Vector, y: &Self::Vector, out: &mut Self::Scalar) {
        self.backend.dot_into(&x.own, &y.own, out);
        self.sum(x, out);
    }

    fn multiply(&self, x: &Self::Vector, y: &Self::Vector, z: &mut Self::Vector) {
        self.backend.multiply(&x.own, &y.own, &mut z.own);
    }

    fn multiply_dot(
        &self,
        x: &Self::Vector,
        y: &Self::Vector,
        z: &mut Self::Vector,
        yz: &mut Self::Scalar,
    ) {
        self.backend.multiply_dot(&x.own, &y.own, &mut z.own, yz);
        self.sum(x, yz);
    }

    fn cg_step(
        &self,
        alpha: [&Self::Scalar; 2],
        d: &Self::Vector,
        q: &Self::Vector,
        u: &mut Self::Vector,
        r: &mut Self::Vector,
        rr: &mut Self::Scalar,
    ) {
        self.backend.cg_step(alpha, &d.own, &q.own, &mut u.own, &mut r.own, rr);
        self.sum(d, rr);
    }

    fn cg_direction(
        &self,
        sign: f64,
        beta: [&Self::Scalar; 2],
        z: &Self::Vector,
        d: &mut Self::Vector,
    ) {
        self.backend.cg_direction(sign, beta, &z.own, &mut d.own);
    }

    fn repeat(&self, recording: &mut Option<Self::Recording>, work: &mut dyn FnMut()) {
        if self.communicator.is_recorded() { self.backend.repeat(recording, work) } else { work() }
    }

    fn check_interval(&self) -> usize {
        self.backend.check_interval()
    }
}

impl<B: Pointwise, C: Exchange<B>> Pointwise for Ranks<B, C> {
    fn divide(&self, x: &Self::Vector, y: &Self::Vector, z: &mut Self::Vector) {
        self.backend.divide(&x.own, &y.own, &mut z.own);
    }

    fn power(&self, a: f64, x: &Self::Vector, p: f64, y: &mut Self::Vector) {
        self.backend.power(a, &x.own, p, &mut y.own);
    }

    fn positive_part(&self, a: f64, x: &Self::Vector, y: &mut Self::Vector) {
        self.backend.positive_part(a, &x.own, &mut y.own);
    }

    fn scale_within(
        &self,
        a: f64,
        x: &Self::Vector,
        bounds: [&Self::Vector; 2],
        y: &mut Self::Vector,
    ) {
        self.backend.scale_within(a, &x.own, bounds.map(RankVector::own), &mut y.own);
    }

    fn dot_scaled_within(
        &self,
        a: f64,
        x: &Self::Vector,
        bounds: [&Self::Vector; 2],
        w: &Self::Vector,
    ) -> Self::Scalar {
        let bounds = bounds.map(RankVector::own);
        let mut total = self.backend.dot_scaled_within(a, &x.own, bounds, &w.own);
        self.sum(x, &mut total);
        total
    }

    fn smooth_step(&self, step: &SmoothStep, x: &Self::Vector, y: &mut Self::Vector) {
        self.backend.smooth_step(step, &x.own, &mut y.own);
    }

    fn smooth_step_slope(&self, step: &SmoothStep, x: &Self::Vector, y: &mut Self::Vector) {
        self.backend.smooth_step_slope(step, &x.own, &mut y.own);
    }

    fn subpixel_step(
        &self,
        step: &SubpixelStep,
        v: &Self::Vector,
        squares: &Self::Vector,
        y: &mut Self::Vector,
    ) {
        self.backend.subpixel_step(step, &v.own, &squares.own, &mut y.own);
    }

    fn subpixel_slopes(
        &self,
        step: &SubpixelStep,
        v: &Self::Vector,
        squares: &Self::Vector,
        y: &mut Self::Vector,
        z: &mut Self::Vector,
    ) {
        self.backend.subpixel_slopes(step, &v.own, &squares.own, &mut y.own, &mut z.own);
    }

    fn sigmoid(
        &self,
        shift: f64,
        largest: f64,
        x: &Self::Vector,
        bounds: [&Self::Vector; 2],
        y: &mut Self::Vector,
    ) {
        self.backend.sigmoid(shift, largest, &x.own, bounds.map(RankVector::own), &mut y.own);
    }

    fn logit(
        &self,
        largest: f64,
        x: &Self::Vector,
        bounds: [&Self::Vector; 2],
        y: &mut Self::Vector,
    ) {
        self.backend.logit(largest, &x.own, bounds.map(RankVector::own), &mut y.own);
    }

    fn softplus(&self, x: &Self::Vector, y: &mut Self::Vector) {
        self.backend.softplus(&x.own, &mut y.own);
    }

    fn max_difference(&self, x: &Self::Vector, y: &Self::Vector) -> Self::Scalar {
        let mut largest = self.backend.max_difference(&x.own, &y.own);
        if x.space.layout != Layout::Level {
            self.communicator.max_scalar(&self.backend, &mut largest);
        }
        largest
    }
}

impl<B: MovingAsymptotes, C: Exchange<B>> MovingAsymptotes for Ranks<B, C> {
    fn move_asymptotes(
        &self,
        rules: &AsymptoteRules,
        design: &Self::Vector,
        before: Option<[&Self::Vector; 2]>,
        bounds: [&Self::Vector; 2],
        asymptotes: [&mut Self::Vector; 2],
        limits: [&mut Self::Vector; 2],
    ) {
        self.backend.move_asymptotes(
            rules,
            &design.own,
            before.map(|before| before.map(RankVector::own)),
            bounds.map(RankVector::own),
            asymptotes.map(RankVector::own_mut),
            limits.map(RankVector::own_mut),
        );
    }

    fn minimize_approximation(
        &self,
        approximation: &Approximation<Self::Vector>,
        weights: &[f64],
        minimum: Option<&mut Self::Vector>,
    ) -> Result<ApproximationSums, BackendError> {
        let functions = approximation.functions.iter();
        let own = Approximation {
            design: &approximation.design.own,
            bounds: approximation.bounds.map(RankVector::own),
            asymptotes: approximation.asymptotes.map(RankVector::own),
            limits: approximation.limits.map(RankVector::own),
            functions: functions.map(|(g, scale, rho)| (&g.own, *scale, *rho)).collect(),
        };
        let minimum = minimum.map(RankVector::own_mut);
        let sums = self.backend.minimize_approximation(&own, weights, minimum)?;

        // All sums over the variables in one message.
        let ApproximationSums { changes, coupling, distance } = sums;
        let mut all = [&changes[..], &coupling, &[distance]].concat();
        self.communicator.sum(&mut all);
        self.communicator.check()?;
        let coupling = all.split_off(changes.len());
        let (coupling, distance) = coupling.split_at(coupling.len() - 1);
        let (coupling, distance) = (coupling.to_vec(), distance[0]);
        Ok(ApproximationSums { changes: all, coupling, distance })
    }
}

mod gather;

#[cfg(test)]
mod tests;
