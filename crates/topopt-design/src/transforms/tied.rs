//! Elements that share design variables, such as those of a symmetric or extruded design.

use rayon::prelude::*;
use topopt_linalg::{BackendError, Csr, Gather, Space};

use crate::{DesignTransform, Transformed};

/// $y_e = \sum_v G_{ev} x_v$ with weights G >= 0 whose rows add up to 1: elements with equal rows
/// have the same density.
pub struct Tied<B: Gather> {
    spaces: [Space; 2],
    to_elements: B::Map,
    /// Rows with the elements of each variable; none on ranks without values.
    elements_of: Csr,
    to_variables: B::Map,
    /// Weights of elements in means over those of a variable, `[n_elements]`, > 0.
    weights: Vec<f64>,
}

/// Weight of a passive element in the mean over those of a variable, beside 1 of a designed one:
/// it counts where there are no others.
const PASSIVE: f64 = 1e-12;

impl<B: Gather> Tied<B> {
    /// Ties elements by the rows `shares` of G. Each variable has an element at least. Elements of
    /// no `design_volumes`, `[n_elements]`, are passive. `sizes` are the numbers of variables and
    /// of elements. On ranks the lists of the first one count.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(
        backend: &B,
        shares: &Csr,
        design_volumes: Vec<f64>,
        sizes: [usize; 2],
    ) -> Result<Self, BackendError> {
        let [variables, elements] = [Space::variables(sizes[0]), Space::elements(sizes[1])];
        let elements_of = shares.transposed(sizes[0]);
        let weight = |volume: f64| if volume > 0.0 { 1.0 } else { PASSIVE };
        Ok(Self {
            spaces: [variables, elements],
            to_elements: backend.map(shares, [variables, elements])?,
            to_variables: backend.map(&elements_of, [elements, variables])?,
            elements_of,
            weights: design_volumes.into_par_iter().map(weight).collect(),
        })
    }
}

impl<B: Gather> Tied<B> {
    /// Mean of `outputs` over the elements of a variable.
    fn mean(&self, variable: usize, outputs: &[f64]) -> f64 {
        let weighted = self.elements_of.row(variable);
        let weighted = weighted.map(|(e, share)| (e as usize, share * self.weights[e as usize]));
        let sum = |(sum, total), (e, weight)| (sum + weight * outputs[e], total + weight);
        let (sum, total) = weighted.fold((0.0, 0.0), sum);
        sum / total
    }
}

impl<B: Gather> DesignTransform<B> for Tied<B> {
    fn inputs(&self) -> Space {
        self.spaces[0]
    }

    fn outputs(&self) -> Space {
        self.spaces[1]
    }

    fn forward(&mut self, backend: &B, x: &B::Vector, y: &mut B::Vector) -> Transformed {
        backend.gather(&mut self.to_elements, x, y);
        Ok(())
    }

    fn backward(&mut self, backend: &B, dy: &B::Vector, dx: &mut B::Vector) -> Transformed {
        backend.gather(&mut self.to_variables, dy, dx);
        Ok(())
    }

    /// The mean over the elements of each variable that are designed, if any are.
    fn inputs_for(&self, outputs: Vec<f64>) -> Vec<f64> {
        if outputs.is_empty() {
            return outputs;
        }
        let variables = (0..self.elements_of.n_rows()).into_par_iter();
        variables.map(|v| self.mean(v, &outputs)).collect()
    }
}
