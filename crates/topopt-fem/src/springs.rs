//! Springs between nodes and the ground, added to any operator.

use std::sync::Mutex;

use topopt_linalg::{Backend, BackendError, Cost, LinearOperator, Space};

use crate::{Discretization, ElementKernel, ElementOperator};

/// K + S: an operator and the springs of its problem, if there are any. The works are those
/// of the elements alone.
pub struct WithSprings<'a, B: Backend, O: ?Sized> {
    backend: &'a B,
    operator: Box<O>,
    springs: Option<Springs<B>>,
}

/// The diagonal matrix S, zero at held components.
struct Springs<B: Backend> {
    stiffness: B::Vector,
    scratch: Mutex<B::Vector>,
}

impl<'a, B: Backend, O: LinearOperator<B> + ?Sized> WithSprings<'a, B, O> {
    /// `operator`, which is of `problem`, with the springs of its constraints.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new<K: ElementKernel<N>, const N: usize>(
        backend: &'a B,
        problem: &Discretization<K, N>,
        operator: Box<O>,
    ) -> Result<Self, BackendError> {
        Self::of(backend, problem.constraints().springs(), operator)
    }

    /// `operator` with springs of `stiffness`, `[n_nodes][n]`, zero at held components; none of them
    /// where another rank has the values.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn of(
        backend: &'a B,
        stiffness: Option<&[f64]>,
        operator: Box<O>,
    ) -> Result<Self, BackendError> {
        let space = operator.space();
        let springs = stiffness.map(|stiffness| {
            let scratch = Mutex::new(backend.zeros(space)?);
            Ok(Springs { stiffness: backend.upload(stiffness, space)?, scratch })
        });
        Ok(Self { backend, operator, springs: springs.transpose()? })
    }

    /// The operator without the springs.
    pub fn elements(&self) -> &O {
        &self.operator
    }

    /// Operator without the springs, mutable.
    pub fn elements_mut(&mut self) -> &mut O {
        &mut self.operator
    }

    /// Takes another operator in the place of that without the springs.
    pub fn replace(&mut self, operator: Box<O>) {
        self.operator = operator;
    }

    /// The diagonal matrix S, zero at held components; none without springs.
    pub fn stiffness(&self) -> Option<&B::Vector> {
        self.springs.as_ref().map(|springs| &springs.stiffness)
    }
}

impl<B: Backend + Sync, O: LinearOperator<B> + ?Sized> LinearOperator<B> for WithSprings<'_, B, O> {
    fn space(&self) -> Space {
        self.operator.space()
    }

    fn apply(&self, x: &B::Vector, y: &mut B::Vector) {
        self.operator.apply(x, y);
        if let Some(Springs { stiffness, scratch }) = &self.springs {
            let mut forces = scratch.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            self.backend.multiply(stiffness, x, &mut forces);
            self.backend.axpby(1.0, &forces, 1.0, y);
        }
    }

    fn apply_to_direction(
        &self,
        backend: &B,
        d: &B::Vector,
        q: &mut B::Vector,
        dq: &mut B::Scalar,
    ) {
        if self.springs.is_none() {
            return self.operator.apply_to_direction(backend, d, q, dq);
        }
        self.apply(d, q);
        backend.dot_into(d, q, dq);
    }

    fn cost(&self) -> Cost {
        let mut cost = self.operator.cost();
        if self.springs.is_some() {
            let n = self.dimension() as f64;
            cost.bytes_read += 32.0 * n;
            cost.bytes_written += 16.0 * n;
            cost.flops += 2.0 * n;
        }
        cost
    }
}

impl<B: Backend + Sync, O: ElementOperator<B> + ?Sized> ElementOperator<B>
    for WithSprings<'_, B, O>
{
    fn strategy(&self) -> &'static str {
        self.operator.strategy()
    }

    fn set_coefficients(&mut self, terms: &[&B::Vector]) {
        self.operator.set_coefficients(terms);
    }

    fn diagonal(&self, out: &mut B::Vector) {
        self.operator.diagonal(out);
        if let Some(Springs { stiffness, .. }) = &self.springs {
            self.backend.axpby(1.0, stiffness, 1.0, out);
        }
    }

    fn element_work(&self, term: usize, v: &B::Vector, u: &B::Vector, out: &mut B::Vector) {
        self.operator.element_work(term, v, u, out);
    }

    fn assembled(&self) -> Option<Box<dyn LinearOperator<B>>> {
        self.operator.assembled()
    }
}
