//! The sheet that is left of a part that is drawn over a die.

use std::sync::Arc;

use topopt_linalg::{Pointwise, Space};

use super::host::on_host;
use crate::supports::Chosen;
use crate::{DesignSpace, DesignTransform, Sheet, Transformed};

/// Densities of a [`Sheet`]. They are computed on the host, whatever the backend.
pub struct Stamped {
    sheet: Arc<Sheet>,
    elements: Space,
    /// Density of the void.
    void: f64,
    /// Samples that elements have their densities of, at the last forward.
    chosen: Chosen,
}

impl Stamped {
    /// The transform of the elements of `space`; of several ranks the first one has the `sheet`.
    pub fn new(sheet: Arc<Sheet>, space: &DesignSpace) -> Self {
        let elements = Space::elements(space.n_elements());
        Self { sheet, elements, void: space.density_min, chosen: Chosen::default() }
    }

    fn values(&mut self, filled: Vec<f64>) -> Vec<f64> {
        let (values, chosen) = self.sheet.cut(filled, self.void);
        self.chosen = chosen;
        values
    }
}

impl<B: Pointwise> DesignTransform<B> for Stamped {
    fn inputs(&self) -> Space {
        self.elements
    }

    fn forward(&mut self, backend: &B, x: &B::Vector, y: &mut B::Vector) -> Transformed {
        on_host(backend, self.elements, x, y, |filled| self.values(filled))
    }

    fn backward(&mut self, backend: &B, dy: &B::Vector, dx: &mut B::Vector) -> Transformed {
        let back = |by_values| self.sheet.cut_backward(&self.chosen, by_values);
        on_host(backend, self.elements, dy, dx, back)
    }
}
