//! Maps from design variables to the density that is built.
//!
//! The design variables x become the physical density x̄, which is solved, counted as volume and
//! written. In between, the density filter makes the filtered variables x̃.

use topopt_fem::AveragingError;
use topopt_linalg::{Backend, BackendError, Space};

use crate::{Realization, Settings};

/// Outcome of a transform, which fails if the device or the equation of a filter does.
pub type Transformed = Result<(), AveragingError>;

/// A differentiable map y = T(x) from one space to another, with its chain rule.
///
/// Inputs and outputs may differ in number: symmetry and extrusion have fewer inputs.
pub trait DesignTransform<B: Backend> {
    /// Space of x.
    fn inputs(&self) -> Space;

    /// Space of y: that of x, unless the transform says otherwise.
    fn outputs(&self) -> Space {
        self.inputs()
    }

    /// y = T(x).
    ///
    /// # Errors
    /// [`AveragingError`] if a filter fails.
    fn forward(&mut self, backend: &B, x: &B::Vector, y: &mut B::Vector) -> Transformed;

    /// dC/dx = (dT/dx)^T dC/dy at the x of the last [`DesignTransform::forward`].
    ///
    /// # Errors
    /// [`AveragingError`] if a filter fails.
    fn backward(&mut self, backend: &B, dy: &B::Vector, dx: &mut B::Vector) -> Transformed;

    /// Values of x that belong to values of y, none on ranks without values,
    /// for bounds and start designs. It need not be the inverse of T.
    fn inputs_for(&self, outputs: Vec<f64>) -> Vec<f64> {
        outputs
    }

    /// Makes the next [`DesignTransform::forward`] and [`DesignTransform::backward`] those of a
    /// thinner or thicker design, or of the built one, where there are several.
    fn realize(&mut self, _realization: Realization) {}

    /// Takes its part of the `settings` of an iteration.
    ///
    /// # Errors
    /// [`AveragingError`] if the device has no room, or a filter fails.
    fn enter(&mut self, _backend: &B, _settings: &Settings) -> Transformed {
        Ok(())
    }
}

/// Transforms one after another, y = T_k(... T_1(x)); without any, y = x.
pub struct Chain<'a, B: Backend> {
    elements: Space,
    links: Vec<Box<dyn DesignTransform<B> + 'a>>,
    /// Values between consecutive links: outputs on the way forward, gradients on the way back.
    between: Vec<B::Vector>,
}

impl<'a, B: Backend> Chain<'a, B> {
    /// The design variables are the densities of the elements.
    pub fn identity(n_elements: usize) -> Self {
        Self { elements: Space::elements(n_elements), links: Vec::new(), between: Vec::new() }
    }

    /// Chains transforms in the order of [`DesignTransform::forward`]; the last gives the densities
    /// of the elements.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    ///
    /// # Panics
    /// If a transform takes values of another space than the one before gives.
    pub fn new(
        backend: &B,
        n_elements: usize,
        links: Vec<Box<dyn DesignTransform<B> + 'a>>,
    ) -> Result<Self, BackendError> {
        let elements = Space::elements(n_elements);
        let given = links.iter().map(|link| link.outputs());
        let taken = links.iter().skip(1).map(|link| link.inputs()).chain([elements]);
        assert!(given.eq(taken.take(links.len())), "transforms of one chain fit each other");

        let inner = links.iter().skip(1);
        let between = inner.map(|link| backend.zeros(link.inputs())).collect::<Result<_, _>>()?;
        Ok(Self { elements, links, between })
    }

    /// Whether the design variables are the densities.
    pub fn is_identity(&self) -> bool {
        self.links.is_empty()
    }
}

impl<B: Backend> DesignTransform<B> for Chain<'_, B> {
    fn inputs(&self) -> Space {
        self.links.first().map_or(self.elements, |first| first.inputs())
    }

    fn outputs(&self) -> Space {
        self.elements
    }

    fn forward(&mut self, backend: &B, x: &B::Vector, y: &mut B::Vector) -> Transformed {
        let Some((last, links)) = self.links.split_last_mut() else {
            backend.copy(x, y);
            return Ok(());
        };
        for (k, link) in links.iter_mut().enumerate() {
            let (done, rest) = self.between.split_at_mut(k);
            link.forward(backend, done.last().unwrap_or(x), &mut rest[0])?;
        }
        last.forward(backend, self.between.last().unwrap_or(x), y)
    }

    fn backward(&mut self, backend: &B, dy: &B::Vector, dx: &mut B::Vector) -> Transformed {
        let Some((first, links)) = self.links.split_first_mut() else {
            backend.copy(dy, dx);
            return Ok(());
        };
        for (k, link) in links.iter_mut().enumerate().rev() {
            let (rest, done) = self.between.split_at_mut(k + 1);
            link.backward(backend, done.first().unwrap_or(dy), &mut rest[k])?;
        }
        first.backward(backend, self.between.first().unwrap_or(dy), dx)
    }

    fn inputs_for(&self, outputs: Vec<f64>) -> Vec<f64> {
        self.links.iter().rev().fold(outputs, |values, link| link.inputs_for(values))
    }

    fn realize(&mut self, realization: Realization) {
        self.links.iter_mut().for_each(|link| link.realize(realization));
    }

    fn enter(&mut self, backend: &B, settings: &Settings) -> Transformed {
        self.links.iter_mut().try_for_each(|link| link.enter(backend, settings))
    }
}
