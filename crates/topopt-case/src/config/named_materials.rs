//! Materials by name.

use toml::Spanned;

use super::material_names::{MaterialName, Properties};
use super::{Conductivity, Config, Property, ThermalExpansion, Units};
use crate::finding::Finding;

/// Gives named materials the properties that the case leaves out.
///
/// # Errors
/// A finding if the case has no units.
pub(super) fn resolve(config: &mut Config) -> Result<(), Finding> {
    let own = config.materials.iter().filter_map(|material| material.name.as_ref());
    let own = own.chain(config.candidates.iter().filter_map(|candidate| candidate.name.as_ref()));
    let Some(named) = config.material.name.iter().chain(own).next() else { return Ok(()) };
    let Some(units) = config.units else {
        return Err(Finding::new("a material by name needs the units of the case")
            .at(config.source(), named.span(), "no number without them")
            .remedy("add [units] with `length` and `force`"));
    };

    let is_elastic = config.physics.kind.data().has_forces;
    let has_modulus = config.gives("material.youngs_modulus");
    let has_ratio = config.gives("material.poissons_ratio");
    let all = &mut config.material;
    if let Some(name) = &all.name {
        let has_law = all.laws().iter().any(|given| given.law.modulus().is_some());
        let own = Slots {
            mass_density: &mut all.mass_density,
            thermal_expansion: &mut all.thermal_expansion,
            yield_strength: &mut all.yield_strength,
            conductivity: &mut all.conductivity,
            heat_capacity: &mut all.heat_capacity,
        }
        .filled(name, units, is_elastic);
        if is_elastic && !has_modulus && !has_law {
            all.youngs_modulus = own.youngs_modulus;
        }
        if is_elastic && !has_ratio {
            all.poissons_ratio = own.poissons_ratio;
        }
    }

    for set in &mut config.materials {
        let Some(name) = &set.name else { continue };
        let has_law = set.laws().iter().any(|given| given.law.modulus().is_some());
        let own = Slots {
            mass_density: &mut set.mass_density,
            thermal_expansion: &mut set.thermal_expansion,
            yield_strength: &mut set.yield_strength,
            conductivity: &mut set.conductivity,
            heat_capacity: &mut set.heat_capacity,
        }
        .filled(name, units, is_elastic);
        if is_elastic && !has_law {
            set.youngs_modulus.get_or_insert(own.youngs_modulus);
            let ratio = || Spanned::new(name.span(), own.poissons_ratio);
            set.poissons_ratio.get_or_insert_with(ratio);
        }
    }

    for candidate in &mut config.candidates {
        let Some(name) = &candidate.name else { continue };
        let own = name.get_ref().in_units(units);
        candidate.youngs_modulus.get_or_insert(own.youngs_modulus);
        candidate.poissons_ratio.get_or_insert(own.poissons_ratio);
        candidate.mass_density.get_or_insert_with(|| Spanned::new(name.span(), own.mass_density));
        candidate.yield_strength.get_or_insert(own.yield_strength);
    }
    Ok(())
}

/// Properties that `[material]` and `[[materials]]` may leave out alike.
struct Slots<'a> {
    mass_density: &'a mut Option<Spanned<Property>>,
    thermal_expansion: &'a mut Option<Spanned<ThermalExpansion>>,
    yield_strength: &'a mut Option<f64>,
    conductivity: &'a mut Option<Spanned<Conductivity>>,
    heat_capacity: &'a mut Option<Spanned<Property>>,
}

impl Slots<'_> {
    /// Fills those that are left out and belong to the physics; returns all properties.
    fn filled(self, name: &Spanned<MaterialName>, units: Units, is_elastic: bool) -> Properties {
        let own = name.get_ref().in_units(units);
        let number = |value| Spanned::new(name.span(), Property::Number(value));
        self.mass_density.get_or_insert_with(|| number(own.mass_density));
        if is_elastic {
            self.yield_strength.get_or_insert(own.yield_strength);
            let expansion = ThermalExpansion::Isotropic(own.thermal_expansion);
            self.thermal_expansion.get_or_insert_with(|| Spanned::new(name.span(), expansion));
        } else {
            let conductivity = Conductivity::Isotropic(Property::Number(own.conductivity));
            self.conductivity.get_or_insert_with(|| Spanned::new(name.span(), conductivity));
            self.heat_capacity.get_or_insert_with(|| number(own.heat_capacity));
        }
        own
    }
}
