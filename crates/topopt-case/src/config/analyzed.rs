//! Reduction of a case to what an analysis uses.

use toml::Spanned;

use super::{Config, Design, Filter, FilterKind, KeepLoaded};

impl Config {
    /// Returns the case of the built part on a mesh of its own, which is solid, and has the sets of
    /// `[[select]]` like any other.
    pub fn of_built(&self) -> Self {
        let mut config = self.clone();
        reduce(&mut config);
        config.design.void.clear();
        config.select.clear();
        config.elements = None;
        config.output.uncut = false;
        config
    }
}

/// Removes the keys that only an optimization uses, so that they are neither resolved nor refused.
/// Stages stay: the stiffness of a design follows from their penalties.
pub(super) fn reduce(config: &mut Config) {
    let design = std::mem::take(&mut config.design);
    config.design = Design {
        interpolation: design.interpolation,
        penalty: design.penalty,
        density_min: design.density_min,
        void_stiffness: design.void_stiffness,
        keep_loaded: KeepLoaded::NOT_DESIGNED,
        void: design.void,
        ..Design::default()
    };

    config.objective = None;
    config.constraints.clear();
    let unfiltered = Filter { kind: FilterKind::None, ..Filter::default() };
    config.filter = Spanned::new(0..0, unfiltered);
    config.projection = None;
    // An analysis writes no design.vti.
    config.output.vti_spacing = Some(0.0);
}
