//! An operator with a product of its own, by a strategy that stores numbers or of other materials;
//! diagonal and works are those of `mf`, which no strategy needs its stored values for.

use topopt_fem::ElementOperator;
use topopt_linalg::{BackendError, Cost, LinearOperator, Space};

use super::ProblemOnDevice;
use super::mf::{ElementKernels, MatrixFree, Mf};
use crate::Cuda;
use crate::vector::DeviceVector;

/// y = K x by one strategy.
pub(crate) trait Product<K: MatrixFree<N>, const N: usize>: Send + Sync {
    /// Name of the strategy.
    const NAME: &'static str;

    /// Takes changed coefficients, where something is derived from them.
    fn update(&mut self, _plain: &Mf<f64, K, N>) {}

    /// Writes K x with the identity at held unknowns.
    fn apply(&self, plain: &Mf<f64, K, N>, x: &DeviceVector<f64>, y: &mut DeviceVector<f64>);

    /// Writes v_e^T K_e u_e of a term at unit coefficient, `[n_elements]`.
    fn work(
        &self,
        plain: &Mf<f64, K, N>,
        term: usize,
        [v, u]: [&DeviceVector<f64>; 2],
        out: &mut DeviceVector<f64>,
    ) {
        plain.element_work(term, v, u, out);
    }

    /// Returns the counted cost of one application.
    fn cost(&self, problem: &ProblemOnDevice<K, N>) -> Cost;
}

/// The operator of `plain` whose product is `P`.
struct Operator<P, K: MatrixFree<N>, const N: usize> {
    plain: Mf<f64, K, N>,
    product: P,
}

/// Builds the operator of `plain`, with all coefficients zero, whose product is `product`.
pub(super) fn boxed<P: Product<K, N> + 'static, K: MatrixFree<N>, const N: usize>(
    plain: Mf<f64, K, N>,
    mut product: P,
) -> Result<Box<dyn ElementOperator<Cuda<f64>>>, BackendError> {
    product.update(&plain);
    Ok(Box::new(Operator { plain, product }))
}

impl<P: Product<K, N>, K: MatrixFree<N>, const N: usize> LinearOperator<Cuda<f64>>
    for Operator<P, K, N>
{
    fn space(&self) -> Space {
        self.plain.space()
    }

    fn apply(&self, x: &DeviceVector<f64>, y: &mut DeviceVector<f64>) {
        self.product.apply(&self.plain, x, y);
        self.plain.elements().complete(&self.plain, x, y);
    }

    fn cost(&self) -> Cost {
        let cost = self.product.cost(self.plain.problem());
        let completion = self.plain.elements().completion(&self.plain);
        completion.map_or(cost, |completion| cost.plus(&completion))
    }
}

impl<P: Product<K, N>, K: MatrixFree<N>, const N: usize> ElementOperator<Cuda<f64>>
    for Operator<P, K, N>
{
    fn strategy(&self) -> &'static str {
        P::NAME
    }

    fn set_coefficients(&mut self, terms: &[&DeviceVector<f64>]) {
        self.plain.set_coefficients(terms);
        self.product.update(&self.plain);
    }

    fn diagonal(&self, out: &mut DeviceVector<f64>) {
        self.plain.diagonal(out);
    }

    fn element_work(
        &self,
        term: usize,
        v: &DeviceVector<f64>,
        u: &DeviceVector<f64>,
        out: &mut DeviceVector<f64>,
    ) {
        self.product.work(&self.plain, term, [v, u], out);
    }
}
