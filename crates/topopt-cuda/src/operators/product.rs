//! An operator of the thesis: the product by one strategy, with diagonal and energies, which no
//! strategy needs its stored values for.

use std::sync::Arc;

use topopt_fem::ElementOperator;
use topopt_linalg::{BackendError, Cost, LinearOperator, Space};

use super::ProblemOnDevice;
use super::from_coordinates::FromCoordinates;
use crate::Cuda;
use crate::vector::DeviceVector;

/// y = K(E) x by one strategy.
pub(crate) trait Product: Send + Sync {
    /// Name of the strategy.
    fn strategy(&self) -> &'static str;

    /// Takes changed moduli, \[n_elements\], where something is derived from them.
    fn set_moduli(&mut self, _problem: &ProblemOnDevice, _moduli: &DeviceVector<f64>) {}

    /// Writes K x with the identity at held components.
    fn apply(
        &self,
        problem: &ProblemOnDevice,
        moduli: &DeviceVector<f64>,
        x: &DeviceVector<f64>,
        y: &mut DeviceVector<f64>,
    );

    /// Returns the counted cost of one application.
    fn cost(&self, problem: &ProblemOnDevice) -> Cost;
}

/// An elasticity operator whose product is `P`.
pub(crate) struct Operator<P> {
    problem: Arc<ProblemOnDevice>,
    moduli: DeviceVector<f64>,
    from_coordinates: FromCoordinates<f64>,
    product: P,
}

impl<P: Product> Operator<P> {
    /// With all moduli zero.
    pub fn new(problem: &Arc<ProblemOnDevice>, product: P) -> Result<Self, BackendError> {
        let n = problem.mesh.n_elements;
        let moduli = DeviceVector { space: Space::elements(n), values: problem.device.zeros(n)? };
        let mut operator = Self {
            problem: problem.clone(),
            moduli,
            from_coordinates: FromCoordinates::load(&problem.device)?,
            product,
        };
        operator.product.set_moduli(problem, &operator.moduli);
        Ok(operator)
    }
}

impl<P: Product> LinearOperator<Cuda<f64>> for Operator<P> {
    fn space(&self) -> Space {
        self.problem.space()
    }

    fn apply(&self, x: &DeviceVector<f64>, y: &mut DeviceVector<f64>) {
        self.product.apply(&self.problem, &self.moduli, x, y);
    }

    fn cost(&self) -> Cost {
        self.product.cost(&self.problem)
    }
}

impl<P: Product> ElementOperator<Cuda<f64>> for Operator<P> {
    fn strategy(&self) -> &'static str {
        self.product.strategy()
    }

    fn set_coefficients(&mut self, terms: &[&DeviceVector<f64>]) {
        let moduli = terms[0];
        let device = &self.problem.device;
        let copied = device.stream().memcpy_dtod(&moduli.values, &mut self.moduli.values);
        device.record("copying moduli", copied);
        self.product.set_moduli(&self.problem, &self.moduli);
    }

    fn diagonal(&self, out: &mut DeviceVector<f64>) {
        self.from_coordinates.diagonal(&self.problem, &self.moduli, out);
    }

    fn element_work(
        &self,
        _: usize,
        v: &DeviceVector<f64>,
        u: &DeviceVector<f64>,
        out: &mut DeviceVector<f64>,
    ) {
        self.from_coordinates.work(&self.problem, [v, u], out);
    }
}
