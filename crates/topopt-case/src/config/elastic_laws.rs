//! Laws of elasticity that a material has in place of one Young's modulus and Poisson's ratio, a
//! file each.

pub(super) mod frame;
pub(super) mod law;
pub(super) mod layered;
pub(super) mod matrix;
pub(super) mod orthotropic;

use std::ops::Range;

use toml::Spanned;
use topopt_fem::{Law, Material as Isotropic};

use super::{Config, Material, SetMaterial};
use crate::finding::Finding;
use law::{ElasticLaw, NoMaterial};
use layered::Layered;
use matrix::Anisotropic;
use orthotropic::Orthotropic;

/// A law with its key and its place in the case file.
pub struct GivenLaw<'a> {
    /// Key of the law.
    pub key: &'static str,
    /// The law.
    pub law: &'a dyn ElasticLaw,
    /// Place of the key.
    pub span: Range<usize>,
}

impl<'a> GivenLaw<'a> {
    fn of<L: ElasticLaw>(key: &'static str, given: Option<&'a Spanned<L>>) -> Option<Self> {
        given.map(|law| Self { key, law: law.get_ref(), span: law.span() })
    }
}

impl Material {
    /// The laws that are given.
    pub fn laws(&self) -> Vec<GivenLaw<'_>> {
        let Self { orthotropic, layered, anisotropic, .. } = self;
        listed(orthotropic.as_ref(), layered.as_ref(), anisotropic.as_ref())
    }

    /// Modulus of its law, by default Young's modulus.
    pub fn modulus(&self) -> f64 {
        self.laws().first().and_then(|given| given.law.modulus()).unwrap_or(self.youngs_modulus)
    }
}

impl SetMaterial {
    /// The laws that are given.
    pub fn laws(&self) -> Vec<GivenLaw<'_>> {
        let Self { orthotropic, layered, anisotropic, .. } = self;
        listed(orthotropic.as_ref(), layered.as_ref(), anisotropic.as_ref())
    }

    /// Modulus of its law, by default Young's modulus.
    pub fn modulus(&self) -> Option<f64> {
        self.laws().first().and_then(|given| given.law.modulus()).or(self.youngs_modulus)
    }
}

/// All laws, a line each.
fn listed<'a>(
    orthotropic: Option<&'a Spanned<Orthotropic>>,
    layered: Option<&'a Spanned<Layered>>,
    anisotropic: Option<&'a Spanned<Anisotropic>>,
) -> Vec<GivenLaw<'a>> {
    let all = [
        GivenLaw::of("orthotropic", orthotropic),
        GivenLaw::of("layered", layered),
        GivenLaw::of("anisotropic", anisotropic),
    ];
    all.into_iter().flatten().collect()
}

impl Config {
    /// Laws of `[material]` and of each of `[[materials]]` that the kernel of `[material]`'s
    /// Poisson's ratio does not have.
    ///
    /// # Errors
    /// A finding for constants of no material.
    pub fn elastic_laws(&self) -> Result<(Option<Law>, Vec<Option<Law>>), Finding> {
        let ratio_of_all = self.material.poissons_ratio;
        let of_all = match self.material.laws().first() {
            Some(given) => Some(self.law(given, ratio_of_all)?),
            None => None,
        };
        let of_set = |material| self.law_of_set(material, of_all.is_some());
        let of_sets = self.materials.iter().map(of_set).collect::<Result<_, Finding>>()?;
        Ok((of_all, of_sets))
    }

    /// The law of a set; where all else has one, an isotropic set has one as well.
    fn law_of_set(&self, set: &SetMaterial, all_have: bool) -> Result<Option<Law>, Finding> {
        let ratio_of_all = self.material.poissons_ratio;
        let ratio = set.poissons_ratio.as_ref().map_or(ratio_of_all, |ratio| *ratio.get_ref());
        match set.laws().first() {
            Some(given) => self.law(given, ratio).map(Some),
            None if ratio == ratio_of_all && !all_have => Ok(None),
            None => Ok(Isotropic::new(1.0, ratio).map(Law::Isotropic)),
        }
    }

    fn law(&self, given: &GivenLaw, ratio: f64) -> Result<Law, Finding> {
        let refused = |NoMaterial { why, remedy }| {
            Finding::new(why).at(self.source(), given.span.clone(), "here").remedy(remedy)
        };
        given.law.stiffness(ratio).map(Law::Anisotropic).map_err(refused)
    }

    /// Whether the case says how stiff `[material]` is.
    pub fn gives_elasticity(&self) -> bool {
        let has_name = self.material.name.is_some();
        has_name || !self.material.laws().is_empty() || self.gives("material.youngs_modulus")
    }
}

/// Refuses constants of no material, and keys that a law takes no notice of.
pub(super) fn elastic_laws(config: &Config) -> Vec<Finding> {
    let mut findings: Vec<Finding> = config.elastic_laws().err().into_iter().collect();
    let Material { youngs_modulus, .. } = config.material;
    let is_default = youngs_modulus == Material::default().youngs_modulus;
    let of_all = (config.material.laws(), (!is_default).then_some("youngs_modulus"));
    let of_sets = config.materials.iter().map(|material| {
        let ratio = material.poissons_ratio.as_ref().map(|_| "poissons_ratio");
        (material.laws(), material.youngs_modulus.map(|_| "youngs_modulus").or(ratio))
    });

    for (laws, isotropic) in std::iter::once(of_all).chain(of_sets) {
        let [first, rest @ ..] = &laws[..] else { continue };
        let has_all = first.law.modulus().is_some();
        let other = rest.first().map(|law| law.key).or(isotropic.filter(|_| has_all));
        let Some(other) = other else { continue };
        let message = format!("a material has `{}` and `{other}`", first.key);
        let finding = Finding::new(message).at(config.source(), first.span.clone(), "one law");
        findings.push(finding.remedy(format!("remove one of them: `{}` says it all", first.key)));
    }
    findings
}
