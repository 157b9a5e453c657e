//! The projection onto an interface that is thinner than an element.

use topopt_fem::{Components, CornerMaps};
use topopt_linalg::{BackendError, Pointwise, Space, SubpixelStep};

/// Second-order subpixel-smoothed projection at infinite sharpness \[HammondOskooiHammond2025\]
/// \[RomanoArrietaJohnson2026\]: a [`SubpixelStep`] of the filtered density v with the steepness
/// $n^2 = |\nabla v|^2 + R^2 |\nabla \nabla v|^2$, at the centers of the elements.
///
/// The curvature keeps n above 0 where two surfaces meet, and so the density differentiable. Both
/// derivatives come from means at the corners of the mesh: $\nabla v = D M v$ and
/// $\nabla \nabla v = D M \nabla v$ with the maps of [`CornerMaps`].
pub struct Subpixel<'a, B: Pointwise> {
    maps: Box<dyn CornerMaps<B> + 'a>,
    /// Squares of the widths of elements, cube roots of their volumes.
    widths: B::Vector,
    /// R in widths of an element.
    half_width: f64,
    /// Whether n counts as constant in derivatives.
    is_frozen: bool,
    /// M v and M grad v.
    means: B::Vector,
    slopes: Components<B::Vector>,
    /// Squares of n times the width.
    squares: B::Vector,
    work: Work<B>,
}

/// Vectors of passing use.
struct Work<B: Pointwise> {
    gradient: Components<B::Vector>,
    second: Components<B::Vector>,
    by_square: B::Vector,
    scratch: B::Vector,
    nodal: B::Vector,
}

impl<'a, B: Pointwise> Subpixel<'a, B> {
    /// The projection of elements with these `volumes`, on a mesh of `n_nodes` nodes.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(
        backend: &B,
        maps: Box<dyn CornerMaps<B> + 'a>,
        volumes: &[f64],
        [n_nodes, n_elements]: [usize; 2],
    ) -> Result<Self, BackendError> {
        let element = || backend.zeros(Space::elements(n_elements));
        let node = || backend.zeros(Space::nodes(n_nodes, 1));
        let widths: Vec<f64> = volumes.iter().map(|v| v.cbrt().powi(2)).collect();
        Ok(Self {
            maps,
            widths: backend.upload(&widths, Space::elements(n_elements))?,
            half_width: f64::NAN,
            is_frozen: false,
            means: node()?,
            slopes: [node()?, node()?, node()?],
            squares: element()?,
            work: Work {
                gradient: [element()?, element()?, element()?],
                second: [element()?, element()?, element()?],
                by_square: element()?,
                scratch: element()?,
                nodal: node()?,
            },
        })
    }

    /// Takes R in widths of an element, > 0, and whether derivatives leave out those of n: optimality
    /// criteria need one sign of all entries.
    pub fn set(&mut self, half_width: f64, is_frozen: bool) {
        (self.half_width, self.is_frozen) = (half_width, is_frozen);
    }

    /// Computes y for the field `v`, from `base` to `base + height` at `level`.
    pub fn forward(
        &mut self,
        backend: &B,
        [base, height, level]: [f64; 3],
        v: &B::Vector,
        y: &mut B::Vector,
    ) {
        let Self { maps, widths, half_width, means, slopes, squares, work, .. } = self;
        let Work { gradient, second, by_square: curvature, scratch, .. } = work;
        maps.mean(v, means);
        maps.gradient(means, gradient);
        backend.fill(0.0, squares);
        backend.fill(0.0, curvature);
        for (component, mean) in gradient.iter().zip(slopes) {
            add_square(backend, component, scratch, squares);
            maps.mean(component, mean);
            maps.gradient(mean, second);
            second.iter().for_each(|entry| add_square(backend, entry, scratch, curvature));
        }

        // w^2 (|grad v|^2 + R^2 w^2 |grad grad v|^2)
        backend.multiply(widths, curvature, scratch);
        backend.axpby(half_width.powi(2), scratch, 1.0, squares);
        backend.multiply(widths, squares, scratch);
        std::mem::swap(scratch, squares);
        backend.subpixel_step(&self.step([base, height, level]), v, &self.squares, y);
    }

    /// Computes dC/dv from dC/dy, at the `v` of the last [`Subpixel::forward`].
    pub fn backward(
        &mut self,
        backend: &B,
        range: [f64; 3],
        v: &B::Vector,
        (dy, dv): (&B::Vector, &mut B::Vector),
    ) {
        let step = self.step(range);
        let Self { maps, widths, half_width, means, slopes, squares, work, .. } = self;
        let Work { gradient, second, by_square, scratch, nodal } = work;
        backend.copy(dy, dv);
        backend.subpixel_slopes(&step, v, squares, dv, by_square);
        if self.is_frozen {
            return;
        }

        // 2 w^2 dC/dsquare times the gradient, and that times R^2 w^2 the second derivatives.
        maps.gradient(means, gradient);
        let mut factor = scratch;
        backend.multiply(widths, by_square, factor);
        for component in &mut *gradient {
            backend.multiply(factor, component, by_square);
            backend.axpby(2.0, by_square, 0.0, component);
        }
        backend.multiply(widths, factor, by_square);
        let mut free = by_square;
        std::mem::swap(&mut factor, &mut free);
        for (component, mean) in gradient.iter_mut().zip(slopes) {
            maps.gradient(mean, second);
            for entry in &mut *second {
                backend.multiply(factor, entry, free);
                backend.axpby(2.0 * half_width.powi(2), free, 0.0, entry);
            }
            maps.gradient_transpose(second, nodal);
            maps.mean_transpose(nodal, free);
            backend.axpby(1.0, free, 1.0, component);
        }
        maps.gradient_transpose(gradient, nodal);
        maps.mean_transpose(nodal, free);
        backend.axpby(1.0, free, 1.0, dv);
    }

    fn step(&self, [base, height, level]: [f64; 3]) -> SubpixelStep {
        SubpixelStep { base, height, level, half_width: self.half_width }
    }
}

/// sum += x^2
fn add_square<B: Pointwise>(
    backend: &B,
    x: &B::Vector,
    scratch: &mut B::Vector,
    sum: &mut B::Vector,
) {
    backend.multiply(x, x, scratch);
    backend.axpby(1.0, scratch, 1.0, sum);
}
