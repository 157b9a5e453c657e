//! `ElementOperator`: a sum of element matrices as an operator, on any backend.

use topopt_linalg::{Backend, LinearOperator};

/// The operator y = K x with K = sum_e sum_t c_et K_et [Ratnakar2022, Eq. 2.3], with the identity
/// in the rows and columns of held components: y = P K P x + (1 - P) x.
///
/// The terms t are those of its [`crate::ElementKernel`]: of elasticity one, whose coefficients are
/// Young's moduli; of diffusion two, conductivities and capacities.
pub trait ElementOperator<B: Backend>: LinearOperator<B> {
    /// Name as on the command line: `mf`, `ebe`, `nbn`, `bsr`.
    fn strategy(&self) -> &'static str;

    /// Takes the coefficients c_et, one field per term, each `[n_elements]`.
    fn set_coefficients(&mut self, terms: &[&B::Vector]);

    /// Writes the diagonal of K, 1 at held components, `[n_nodes][unknowns]`.
    fn diagonal(&self, out: &mut B::Vector);

    /// Writes v_e^T K_et u_e at unit coefficient of one term for every element, `[n_elements]`;
    /// with v = u twice the energy. Held components of `v` and `u` count like free ones: they may
    /// be displaced.
    fn element_work(&self, term: usize, v: &B::Vector, u: &B::Vector, out: &mut B::Vector);

    /// K without springs by the assembled matrix that this operator stores, with its coefficients
    /// as they are set last: a preconditioner reads it more often than the solve. None where K is
    /// not assembled.
    fn assembled(&self) -> Option<Box<dyn LinearOperator<B>>> {
        None
    }
}
