//! The filter that a case asks for, planned once for all who need to know of it.

use serde::{Deserialize, Serialize};
use topopt_design::LocalVolume;
use topopt_linalg::Cpu;

use crate::config::{self, Config, FilterKind, FilterWeights};

/// Quantity that the filter averages, with radius and weights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum FilterPlan {
    /// Nothing.
    None,
    /// The sensitivities.
    Sensitivity {
        /// Radius at the begin of the run.
        radius: f64,
        /// How neighbors count.
        weights: Weights,
        /// Whether they count by their volume as well.
        by_volume: bool,
    },
    /// The design variables, which makes the density.
    Density {
        /// Radius at the begin of the run.
        radius: f64,
        /// How neighbors count.
        weights: Weights,
        /// Projection that makes the filtered density crisp.
        projection: Option<config::Projection>,
        /// Largest width of members, where they have one (length).
        largest: Option<f64>,
    },
}

/// How neighbors count.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Weights {
    /// Cone weights; neighbors are stored where they take at most `budget` bytes.
    Cone {
        /// Bytes.
        budget: usize,
    },
    /// Weights of the scalar Helmholtz equation of \[LazarovSigmund2011\].
    Helmholtz,
}

impl FilterPlan {
    /// The filter of a case on a mesh with elements of that mean width.
    pub fn of(config: &Config, element_width: f64) -> Self {
        let filter = config.filter.get_ref();
        let in_elements = || filter.radius_in_elements.map(|widths| widths * element_width);
        let Some(radius) = filter.radius.or_else(in_elements) else { return Self::None };
        let radius = config.filter_radius(radius, element_width);
        let weights = match filter.weights {
            FilterWeights::Helmholtz => Weights::Helmholtz,
            FilterWeights::Cone => {
                Weights::Cone { budget: filter.neighbor_memory_mb.saturating_mul(1 << 20) }
            }
        };
        match filter.kind {
            FilterKind::None => Self::None,
            FilterKind::Density => {
                let (projection, largest) = (config.projection.clone(), config.largest_width());
                Self::Density { radius, weights, projection, largest }
            }
            kind => {
                Self::Sensitivity { radius, weights, by_volume: kind == FilterKind::Sensitivity }
            }
        }
    }

    /// Whether filtered densities are projected.
    pub fn is_projected(&self) -> bool {
        matches!(self, Self::Density { projection: Some(_), .. })
    }

    /// Radius of the means by which members have a largest width, where they have one.
    pub fn local_radius(&self) -> Option<f64> {
        match self {
            Self::Density { largest, .. } => largest.map(LocalVolume::<Cpu>::radius),
            _ => None,
        }
    }

    /// Radius at the begin of the run, if there is a filter.
    pub fn radius(&self) -> Option<f64> {
        self.weights().map(|(_, radius)| radius)
    }

    /// How neighbors count, and the radius at the begin of the run, if there is a filter.
    pub fn weights(&self) -> Option<(Weights, f64)> {
        match *self {
            Self::None => None,
            Self::Sensitivity { radius, weights, .. } | Self::Density { radius, weights, .. } => {
                Some((weights, radius))
            }
        }
    }
}
