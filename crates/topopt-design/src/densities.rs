//! `Densities` of a design: as it is built, solved, and counted.

use topopt_linalg::{BackendError, Pointwise, Space};

use crate::{Chain, Dependence, DesignTransform, Realization, Sizes, Transformed};

/// Physical densities of one design, `[n_elements]` each; besides the built one those of thinner
/// and thicker designs, where [`Sizes`] ask for them.
pub(crate) struct Densities<B: Pointwise> {
    /// x̄
    pub built: B::Vector,
    eroded: Option<B::Vector>,
    dilated: Option<B::Vector>,
}

impl<B: Pointwise> Densities<B> {
    /// Zeros.
    pub fn zeros(backend: &B, elements: Space, sizes: Option<Sizes>) -> Result<Self, BackendError> {
        let of = |is_there: bool| is_there.then(|| backend.zeros(elements)).transpose();
        Ok(Self {
            built: backend.zeros(elements)?,
            eroded: of(sizes.is_some_and(|sizes| sizes.eroded > 0.5))?,
            dilated: of(sizes.is_some_and(|sizes| sizes.dilated < 0.5))?,
        })
    }

    /// Makes the densities of the variables `design`. Afterwards the transform is that of the built
    /// one.
    pub fn make(
        &mut self,
        backend: &B,
        transform: &mut Chain<B>,
        design: &B::Vector,
    ) -> Transformed {
        let others =
            [(Realization::Eroded, &mut self.eroded), (Realization::Dilated, &mut self.dilated)];
        for (realization, density) in others {
            if let Some(density) = density {
                transform.realize(realization);
                transform.forward(backend, design, density)?;
            }
        }
        transform.realize(Realization::Built);
        transform.forward(backend, design, &mut self.built)
    }

    /// Takes one `density` for all.
    pub fn take(&mut self, backend: &B, density: B::Vector) {
        for other in [&mut self.eroded, &mut self.dilated].into_iter().flatten() {
            backend.copy(&density, other);
        }
        self.built = density;
    }

    /// The density that is solved.
    pub fn solved(&self) -> &B::Vector {
        self.eroded.as_ref().unwrap_or(&self.built)
    }

    /// The thicker density, which is solved as well where a second equation is there.
    pub fn thicker(&self) -> &B::Vector {
        self.dilated.as_ref().unwrap_or(&self.built)
    }

    /// The density that a response has its value of: those of the states the solved one, and those
    /// of the material the built one.
    pub fn valued(&self, dependence: Dependence) -> &B::Vector {
        match dependence {
            Dependence::States => self.solved(),
            Dependence::ThickerStates => self.thicker(),
            Dependence::Linear | Dependence::Density => &self.built,
        }
    }

    /// The design, with its density, that a response is differentiated by: the solved one, and for
    /// material the thicker one.
    pub fn differentiated(&self, dependence: Dependence) -> (Realization, &B::Vector) {
        match (dependence, &self.eroded, &self.dilated) {
            (Dependence::States, Some(eroded), _) => (Realization::Eroded, eroded),
            (Dependence::Linear | Dependence::ThickerStates, _, Some(dilated)) => {
                (Realization::Dilated, dilated)
            }
            _ => (Realization::Built, &self.built),
        }
    }
}
