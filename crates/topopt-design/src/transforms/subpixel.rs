//! The projection onto an interface that is thinner than an element.

use rayon::prelude::*;
use topopt_fem::{Components, CornerMaps};
use topopt_linalg::{BackendError, Pointwise, Space, SubpixelStep};

/// Second-order subpixel-smoothed projection at infinite sharpness \[HammondOskooiHammond2025\]
/// \[RomanoArrietaJohnson2026\] of the field $\phi = M x$ of corners, x the filtered density and M
/// the mean over the elements around a corner.
///
/// An element has the mean v of $\phi$ over its corners, and at its center the steepness
/// $n^2 = |\nabla \phi|^2 + R^2 |\nabla M \nabla \phi|^2$ of a [`SubpixelStep`] of v. The curvature
/// keeps n above 0 where two surfaces meet, and so the density differentiable: it has to belong to
/// the same field as v does.
pub struct Subpixel<'a, B: Pointwise> {
    maps: Box<dyn CornerMaps<B> + 'a>,
    /// Squares of the widths of elements, cube roots of their volumes.
    widths: B::Vector,
    /// Sums of the maps, and of their transposes, of ones; at nodes that are no corners > 0, too.
    sums: B::Vector,
    transpose_sums: B::Vector,
    /// R in widths of an element.
    half_width: f64,
    /// Whether n counts as constant in derivatives.
    is_frozen: bool,
    /// phi, and M grad phi.
    field: B::Vector,
    slopes: Components<B::Vector>,
    /// Squares of n times the width.
    squares: B::Vector,
    work: Work<B>,
}

/// Vectors of passing use: two components by element, two scalars by element and two by node.
struct Work<B: Pointwise> {
    gradient: Components<B::Vector>,
    second: Components<B::Vector>,
    elements: [B::Vector; 2],
    nodes: [B::Vector; 2],
}

/// Squared radius of a cone, in squared widths of an element, that blurs as much as the way to
/// the corners and back does.
const BLUR: f64 = 3.0;

/// Radius of a cone filter before a [`Subpixel`] projection, which with the projection's own blur
/// makes up for one of `radius`, on elements of that `width`.
pub fn radius_before(radius: f64, width: f64) -> f64 {
    let square = radius.powi(2) - BLUR * width.powi(2);
    // A cone that reaches no neighbor leaves a field as it is.
    square.max(1e-6 * width.powi(2)).sqrt()
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
        let squares: Vec<f64> = volumes.par_iter().map(|v| v.cbrt().powi(2)).collect();
        let [mut elements, mut nodes] = [[element()?, element()?], [node()?, node()?]];
        let (mut sums, mut transpose_sums) = (node()?, element()?);

        backend.fill(1.0, &mut elements[0]);
        maps.sum(&elements[0], &mut nodes[0]);
        backend.fill(f64::MIN_POSITIVE, &mut sums);
        backend.axpby(1.0, &nodes[0], 1.0, &mut sums);
        backend.fill(1.0, &mut nodes[0]);
        maps.sum_transpose(&nodes[0], &mut transpose_sums);
        Ok(Self {
            maps,
            widths: backend.upload(&squares, Space::elements(n_elements))?,
            sums,
            transpose_sums,
            half_width: f64::NAN,
            is_frozen: false,
            field: node()?,
            slopes: [node()?, node()?, node()?],
            squares: element()?,
            work: Work {
                gradient: [element()?, element()?, element()?],
                second: [element()?, element()?, element()?],
                elements,
                nodes,
            },
        })
    }

    /// Takes R in widths of an element, > 0, and whether derivatives leave out those of n:
    /// optimality criteria need one sign of all entries.
    pub fn set(&mut self, half_width: f64, is_frozen: bool) {
        (self.half_width, self.is_frozen) = (half_width, is_frozen);
    }

    /// Computes v of the filtered density `x`.
    pub fn values(&mut self, backend: &B, x: &B::Vector, v: &mut B::Vector) {
        let [node, _] = &mut self.work.nodes;
        self.maps.sum(x, node);
        backend.divide(node, &self.sums, &mut self.field);
        let [element, _] = &mut self.work.elements;
        self.maps.sum_transpose(&self.field, element);
        backend.divide(element, &self.transpose_sums, v);
    }

    /// Computes the density y by a step from `base` to `base + height` at `level`, for the `v` of
    /// the last [`Subpixel::values`].
    pub fn step(&mut self, backend: &B, range: [f64; 3], v: &B::Vector, y: &mut B::Vector) {
        let step = self.step_of(range);
        let Self { maps, widths, half_width, sums, field, slopes, squares, work, .. } = self;
        let Work { gradient, second, elements: [curvature, scratch], nodes: [node, _] } = work;
        maps.gradient(field, gradient);
        backend.fill(0.0, squares);
        backend.fill(0.0, curvature);
        for (component, slope) in gradient.iter().zip(slopes) {
            add_square(backend, component, scratch, squares);
            maps.sum(component, node);
            backend.divide(node, sums, slope);
            maps.gradient(slope, second);
            second.iter().for_each(|entry| add_square(backend, entry, scratch, curvature));
        }

        // w^2 (|grad phi|^2 + R^2 w^2 |grad M grad phi|^2)
        backend.multiply(widths, curvature, scratch);
        backend.axpby(half_width.powi(2), scratch, 1.0, squares);
        backend.multiply(widths, squares, scratch);
        std::mem::swap(scratch, squares);
        backend.subpixel_step(&step, v, squares, y);
    }

    /// Computes dC/dx from dC/dy of the last [`Subpixel::step`].
    pub fn step_backward(
        &mut self,
        backend: &B,
        range: [f64; 3],
        v: &B::Vector,
        (dy, dx): (&B::Vector, &mut B::Vector),
    ) {
        let step = self.step_of(range);
        backend.copy(dy, dx);
        backend.subpixel_slopes(&step, v, &self.squares, dx, &mut self.work.elements[0]);
        if self.is_frozen {
            return self.values_backward(backend, dx);
        }

        // 2 w^2 dC/dsquare times the gradient, and that times R^2 w^2 the second derivatives.
        let Self { maps, widths, half_width, sums, field, slopes, work, .. } = self;
        let Work { gradient, second, elements: [by_square, factor], nodes: [node, quotient] } =
            work;
        maps.gradient(field, gradient);
        backend.multiply(widths, by_square, factor);
        for component in &mut *gradient {
            backend.multiply(factor, component, by_square);
            backend.axpby(2.0, by_square, 0.0, component);
        }
        backend.multiply(widths, factor, by_square);
        let (factor, scratch) = (by_square, factor);
        for (component, slope) in gradient.iter_mut().zip(slopes) {
            maps.gradient(slope, second);
            for entry in &mut *second {
                backend.multiply(factor, entry, scratch);
                backend.axpby(2.0 * half_width.powi(2), scratch, 0.0, entry);
            }
            maps.gradient_transpose(second, node);
            backend.divide(node, sums, quotient);
            maps.sum_transpose(quotient, scratch);
            backend.axpby(1.0, scratch, 1.0, component);
        }
        maps.gradient_transpose(gradient, node);
        self.add_from_field(backend, dx);
    }

    /// Computes dC/dx from dC/dv in place.
    pub fn values_backward(&mut self, backend: &B, dx: &mut B::Vector) {
        backend.fill(0.0, &mut self.work.nodes[0]);
        self.add_from_field(backend, dx);
    }

    /// Computes dC/dx from dC/dv in place; the first nodal vector is what comes to phi besides.
    fn add_from_field(&mut self, backend: &B, dx: &mut B::Vector) {
        let Self { maps, sums, transpose_sums, work, .. } = self;
        let Work { elements: [element, _], nodes: [field, node], .. } = work;
        backend.divide(dx, transpose_sums, element);
        maps.sum(element, node);
        backend.axpby(1.0, node, 1.0, field);
        backend.divide(field, sums, node);
        maps.sum_transpose(node, dx);
    }

    fn step_of(&self, [base, height, level]: [f64; 3]) -> SubpixelStep {
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
