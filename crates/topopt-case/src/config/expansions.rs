//! Expansions of the materials of a case.

use std::ops::Range;

use toml::Spanned;
use topopt_fem::strain::Strain;

use super::elastic_laws::GivenLaw;
use super::elastic_laws::frame::axes;
use super::elastic_laws::law::NoMaterial;
use super::{Config, SetMaterial, ThermalExpansion};
use crate::finding::Finding;

/// Expansions of all materials: that of `[material]`, and that of each of `[[materials]]`.
pub type Expansions = (Option<Strain>, Vec<Option<Strain>>);

impl Config {
    /// Strains of a unit change of temperature of the materials that have an expansion.
    ///
    /// # Errors
    /// A finding for axes that are none.
    pub fn expansions(&self) -> Result<Expansions, Finding> {
        let of_set =
            |set: &SetMaterial| self.expansion(set.thermal_expansion.as_ref(), set.laws().first());
        let of_all =
            self.expansion(self.material.thermal_expansion.as_ref(), self.material.laws().first())?;
        Ok((of_all, self.materials.iter().map(of_set).collect::<Result<_, _>>()?))
    }

    fn expansion(
        &self,
        given: Option<&Spanned<ThermalExpansion>>,
        law: Option<&GivenLaw>,
    ) -> Result<Option<Strain>, Finding> {
        let Some(expansion) = given else { return Ok(None) };
        let refused = |NoMaterial { why, remedy }: NoMaterial, place: Range<usize>| {
            Finding::new(why).at(self.source(), place, "here").remedy(remedy)
        };
        if let (Some(given), ThermalExpansion::Orthotropic([first, second, _])) =
            (law, expansion.get_ref())
            && given.law.is_round()
            && first != second
        {
            return Err(Finding::new("a `layered` material expands alike within its layers")
                .at(self.source(), expansion.span(), "the first two differ")
                .remedy("give [a, a, b]: twice within the layers, then across; or `orthotropic` with a `frame`"));
        }
        let axes = match law {
            Some(given) => given.law.axes().map_err(|error| refused(error, given.span.clone()))?,
            None => axes(None).map_err(|error| refused(error, expansion.span()))?,
        };
        Ok(Some(expansion.get_ref().strain(&axes)))
    }
}
