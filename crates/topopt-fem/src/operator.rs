//! What every elasticity operator offers, on any backend.

use topopt_linalg::{Backend, LinearOperator};

/// The operator y = K(E) x with K = sum_e E_e K_e [Ratnakar2022, Eq. 2.3], with the identity in
/// the rows and columns of held components: y = P K P x + (1 - P) x.
pub trait ElementOperator<B: Backend>: LinearOperator<B> {
    /// Name as on the command line: `mf`, `ebe`, `nbn`.
    fn strategy(&self) -> &'static str;

    /// Takes the moduli E_e, \[n_elements\].
    fn set_moduli(&mut self, moduli: &B::Vector);

    /// Writes the diagonal of K, 1 at held components, \[n_nodes\] x 3.
    fn diagonal(&self, out: &mut B::Vector);

    /// Writes u_e^T K_e u_e at unit modulus for every element, \[n_elements\]. Held components of
    /// `u` count like free ones: they may be displaced.
    fn element_energies(&self, u: &B::Vector, out: &mut B::Vector);
}
