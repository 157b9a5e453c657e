//! A backend without values, which counts the bytes of its vectors.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::{
    Approximation, ApproximationSums, AsymptoteRules, Backend, BackendError, Csr, Gather,
    MovingAsymptotes, Pointwise, SmoothStep, Space, SubpixelStep,
};

/// Backend of vectors that are sizes: whatever is built on it takes no memory, and tells how much
/// it takes on another backend.
///
/// Operations do nothing. The square of a vector is 0, so that every solve has converged before its
/// first iteration; all other sums are 1, so that an optimizer finds a next design.
#[derive(Debug, Default)]
pub struct Counting {
    now: Arc<AtomicUsize>,
    most: AtomicUsize,
}

/// Size of a vector.
pub struct Counted {
    bytes: usize,
    now: Arc<AtomicUsize>,
}

impl Counting {
    /// Most bytes of vectors at any time so far.
    pub fn most(&self) -> usize {
        self.most.load(Ordering::Relaxed)
    }

    fn counted(&self, bytes: usize) -> Counted {
        let now = bytes + self.now.fetch_add(bytes, Ordering::Relaxed);
        self.most.fetch_max(now, Ordering::Relaxed);
        Counted { bytes, now: self.now.clone() }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.now.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Defines operations that do nothing, by the types of what they take.
macro_rules! idle {
    ($($name:ident($($taken:ty),*);)*) => { $(fn $name(&self, $(_: $taken),*) {})* };
}

impl Backend for Counting {
    type Vector = Counted;
    type Scalar = f64;
    type Recording = ();

    fn name(&self) -> String {
        "counting".into()
    }

    fn zeros(&self, space: Space) -> Result<Counted, BackendError> {
        Ok(self.counted(size_of::<f64>() * space.len()))
    }

    fn upload(&self, _: &[f64], space: Space) -> Result<Counted, BackendError> {
        self.zeros(space)
    }

    fn download(&self, _: &Counted) -> Result<Vec<f64>, BackendError> {
        Ok(Vec::new())
    }

    fn has_values(&self) -> bool {
        false
    }

    fn scalar(&self) -> f64 {
        0.0
    }

    fn value(&self, scalar: &f64) -> Result<f64, BackendError> {
        Ok(*scalar)
    }

    fn dot_into(&self, x: &Counted, y: &Counted, out: &mut f64) {
        *out = if std::ptr::eq(x, y) { 0.0 } else { 1.0 };
    }

    fn repeat(&self, _: &mut Option<()>, work: &mut dyn FnMut()) {
        work();
    }

    idle! {
        copy(&Counted, &mut Counted);
        fill(f64, &mut Counted);
        axpby(f64, &Counted, f64, &mut Counted);
        multiply(&Counted, &Counted, &mut Counted);
        cg_step([&f64; 2], &Counted, &Counted, &mut Counted, &mut Counted, &mut f64);
        cg_direction(f64, [&f64; 2], &Counted, &mut Counted);
    }
}

impl Gather for Counting {
    type Map = Counted;

    fn map(&self, rows: &Csr, _: [Space; 2]) -> Result<Counted, BackendError> {
        Ok(self.counted(rows.bytes()))
    }

    idle! {
        gather(&mut Counted, &Counted, &mut Counted);
    }
}

impl Pointwise for Counting {
    fn dot_scaled_within(&self, _: f64, _: &Counted, _: [&Counted; 2], _: &Counted) -> f64 {
        1.0
    }

    fn max_difference(&self, _: &Counted, _: &Counted) -> f64 {
        1.0
    }

    idle! {
        divide(&Counted, &Counted, &mut Counted);
        power(f64, &Counted, f64, &mut Counted);
        positive_part(f64, &Counted, &mut Counted);
        scale_within(f64, &Counted, [&Counted; 2], &mut Counted);
        smooth_step(&SmoothStep, &Counted, &mut Counted);
        smooth_step_slope(&SmoothStep, &Counted, &mut Counted);
        subpixel_step(&SubpixelStep, &Counted, &Counted, &mut Counted);
        subpixel_slopes(&SubpixelStep, &Counted, &Counted, &mut Counted, &mut Counted);
        sigmoid(f64, f64, &Counted, [&Counted; 2], &mut Counted);
        logit(f64, &Counted, [&Counted; 2], &mut Counted);
        softplus(&Counted, &mut Counted);
    }
}

impl MovingAsymptotes for Counting {
    fn minimize_approximation(
        &self,
        _: &Approximation<Counted>,
        weights: &[f64],
        _: Option<&mut Counted>,
    ) -> Result<ApproximationSums, BackendError> {
        let n = weights.len();
        let coupling = vec![0.0; n * (n - 1) / 2];
        Ok(ApproximationSums { changes: vec![0.0; n], coupling, distance: 1.0 })
    }

    idle! {
        move_asymptotes(
            &AsymptoteRules, &Counted, Option<[&Counted; 2]>, [&Counted; 2], [&mut Counted; 2],
            [&mut Counted; 2]
        );
    }
}
