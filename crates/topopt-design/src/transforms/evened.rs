//! Densities made equal again where elements share design variables.

use rayon::prelude::*;
use topopt_linalg::{BackendError, Csr, Gather, Space};

use crate::{DesignTransform, Transformed};

/// $y = G M x$: means M over the elements of each design variable, by volume, taken back to the
/// elements by the weights G of [`Tied`](super::Tied). A filter leaves elements of one variable
/// with different densities: near the ends of a profile, or where the mesh does not repeat itself.
pub struct Evened<B: Gather> {
    elements: Space,
    /// G and its transpose.
    shares: [B::Map; 2],
    /// M and its transpose.
    means: [B::Map; 2],
    /// Means of the variables.
    between: B::Vector,
}

impl<B: Gather> Evened<B> {
    /// Evens out elements with these `volumes`, `[n_elements]`, and rows `shares` of G. `sizes` are
    /// the numbers of variables and of elements. On ranks the lists of the first one count.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(
        backend: &B,
        shares: &Csr,
        volumes: &[f64],
        sizes: [usize; 2],
    ) -> Result<Self, BackendError> {
        let [variables, elements] = [Space::variables(sizes[0]), Space::elements(sizes[1])];
        let back = shares.transposed(sizes[0]);
        let means = means(&back, volumes);
        let spread = means.transposed(sizes[1]);
        let (to, from) = ([elements, variables], [variables, elements]);
        Ok(Self {
            elements,
            shares: [backend.map(shares, from)?, backend.map(&back, to)?],
            means: [backend.map(&means, to)?, backend.map(&spread, from)?],
            between: backend.zeros(variables)?,
        })
    }
}

/// Weights of means over the elements in each row of `elements_of`, by their share and `volumes`.
fn means(elements_of: &Csr, volumes: &[f64]) -> Csr {
    let variables = (0..elements_of.n_rows()).into_par_iter();
    let values = variables.flat_map_iter(|v| weights_of_mean(elements_of, v, volumes)).collect();
    Csr { starts: elements_of.starts.clone(), columns: elements_of.columns.clone(), values }
}

fn weights_of_mean(
    elements_of: &Csr,
    variable: usize,
    volumes: &[f64],
) -> impl Iterator<Item = f64> {
    let weights = elements_of.row(variable).map(|(e, share)| share * volumes[e as usize]);
    let total: f64 = weights.clone().sum();
    weights.map(move |weight| weight / total)
}

impl<B: Gather> DesignTransform<B> for Evened<B> {
    fn inputs(&self) -> Space {
        self.elements
    }

    fn forward(&mut self, backend: &B, x: &B::Vector, y: &mut B::Vector) -> Transformed {
        backend.gather(&mut self.means[0], x, &mut self.between);
        backend.gather(&mut self.shares[0], &self.between, y);
        Ok(())
    }

    fn backward(&mut self, backend: &B, dy: &B::Vector, dx: &mut B::Vector) -> Transformed {
        backend.gather(&mut self.shares[1], dy, &mut self.between);
        backend.gather(&mut self.means[1], &self.between, dx);
        Ok(())
    }
}
