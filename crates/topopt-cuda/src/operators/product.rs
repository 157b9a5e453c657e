//! An operator of the thesis: the product by one strategy, with diagonal and energies, which no
//! strategy needs its stored values for.

use std::sync::Arc;

use topopt_fem::ElementOperator;
use topopt_linalg::{BackendError, Cost, LinearOperator, Space};

use super::MeshOnDevice;
use super::diagonal::Diagonal;
use super::energies::Energies;
use crate::Cuda;
use crate::vector::DeviceVector;

/// y = K(E) x by one strategy.
pub(crate) trait Product: Send + Sync {
    /// Name of the strategy.
    fn strategy(&self) -> &'static str;

    /// Takes changed moduli, \[n_elements\], where something is derived from them.
    fn set_moduli(&mut self, _mesh: &MeshOnDevice, _moduli: &DeviceVector<f64>) {}

    /// Writes K x with the identity at held components.
    fn apply(
        &self,
        mesh: &MeshOnDevice,
        moduli: &DeviceVector<f64>,
        x: &DeviceVector<f64>,
        y: &mut DeviceVector<f64>,
    );

    /// What one application moves and computes.
    fn cost(&self, mesh: &MeshOnDevice) -> Cost;
}

/// An elasticity operator whose product is `P`.
pub(crate) struct Operator<P> {
    mesh: Arc<MeshOnDevice>,
    moduli: DeviceVector<f64>,
    diagonal: Diagonal,
    energies: Energies,
    product: P,
}

impl<P: Product> Operator<P> {
    /// With all moduli zero.
    pub fn new(mesh: &Arc<MeshOnDevice>, product: P) -> Result<Self, BackendError> {
        let space = Space::elements(mesh.n_elements);
        let moduli = DeviceVector { space, values: mesh.device.zeros(mesh.n_elements)? };
        let mut operator = Self {
            mesh: mesh.clone(),
            moduli,
            diagonal: Diagonal::load::<f64>(&mesh.device)?,
            energies: Energies::load::<f64>(&mesh.device)?,
            product,
        };
        operator.product.set_moduli(mesh, &operator.moduli);
        Ok(operator)
    }
}

impl<P: Product> LinearOperator<Cuda<f64>> for Operator<P> {
    fn space(&self) -> Space {
        self.mesh.space()
    }

    fn apply(&self, x: &DeviceVector<f64>, y: &mut DeviceVector<f64>) {
        self.product.apply(&self.mesh, &self.moduli, x, y);
    }

    fn cost(&self) -> Cost {
        self.product.cost(&self.mesh)
    }
}

impl<P: Product> ElementOperator<Cuda<f64>> for Operator<P> {
    fn strategy(&self) -> &'static str {
        self.product.strategy()
    }

    fn set_coefficients(&mut self, terms: &[&DeviceVector<f64>]) {
        let moduli = terms[0];
        let device = &self.mesh.device;
        let copied = device.stream().memcpy_dtod(&moduli.values, &mut self.moduli.values);
        device.record("copying moduli", copied);
        self.product.set_moduli(&self.mesh, &self.moduli);
    }

    fn diagonal(&self, out: &mut DeviceVector<f64>) {
        self.diagonal.write(&self.mesh, &self.moduli, out);
    }

    fn element_work(
        &self,
        _: usize,
        v: &DeviceVector<f64>,
        u: &DeviceVector<f64>,
        out: &mut DeviceVector<f64>,
    ) {
        self.energies.write(&self.mesh, [v, u], out);
    }
}
