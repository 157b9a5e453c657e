//! Elements that share design variables, such as those of a symmetric design.

use topopt_linalg::{BackendError, Csr, Gather, Space};

use crate::{DesignTransform, Transformed};

/// $y_e = x_{v(e)}$: elements with the same variable v have the same density.
pub struct Tied<B: Gather> {
    spaces: [Space; 2],
    to_elements: B::Map,
    /// Rows with the elements of each variable; none on ranks without values.
    elements_of: Csr,
    to_variables: B::Map,
}

impl<B: Gather> Tied<B> {
    /// Ties the elements with the same variable in `variable_of`, `[n_elements]`. Each of the
    /// `n_variables` has an element at least. On ranks the list of the first one counts.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(
        backend: &B,
        variable_of: Vec<u32>,
        n_variables: usize,
        n_elements: usize,
    ) -> Result<Self, BackendError> {
        let [variables, elements] = [Space::variables(n_variables), Space::elements(n_elements)];
        let selection = Csr::selection(variable_of);
        let elements_of = selection.transposed(n_variables);
        Ok(Self {
            spaces: [variables, elements],
            to_elements: backend.map(&selection, [variables, elements])?,
            to_variables: backend.map(&elements_of, [elements, variables])?,
            elements_of,
        })
    }
}

impl<B: Gather> Tied<B> {
    /// Mean of `outputs` over the elements of a variable.
    fn mean(&self, variable: usize, outputs: &[f64]) -> f64 {
        let elements = self.elements_of.row(variable);
        let sum = |(sum, n), (e, _)| (sum + outputs[e as usize], n + 1.0);
        let (sum, n) = elements.fold((0.0, 0.0), sum);
        sum / n
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

    /// The mean over the elements of each variable.
    fn inputs_for(&self, outputs: Vec<f64>) -> Vec<f64> {
        if outputs.is_empty() {
            return outputs;
        }
        (0..self.elements_of.n_rows()).map(|v| self.mean(v, &outputs)).collect()
    }
}
