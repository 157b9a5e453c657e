//! Materials of the elements, from `[material]` and `[[materials]]`.

use std::fmt;

use serde::{Deserialize, Serialize};
use toml::Spanned;
use topopt_fem::{DIM, Elasticity, ElementFactors, nodal_body_forces};
use topopt_mesh::numbers::shown;

use crate::case::Case;
use crate::case_loads::CaseLoads;
use crate::config::{Config, PhysicsKind as Kind, SetMaterial, number};
use crate::fields::{Fields, others};
use crate::finding::Finding;
use crate::lookup::Lookup;
use crate::physics::Physics;

/// A material that elements are made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MaterialShare {
    /// Element set of the material; none for `[material]`, which all other elements are made of.
    pub set: Option<String>,
    /// Young's modulus (force per area), of an elastic part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub youngs_modulus: Option<Extent>,
    /// Conductivity (heat flow per length and temperature), of a part that conducts heat.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conductivity: Option<ConductivityExtent>,
    /// Mass per volume.
    pub mass_density: Option<Extent>,
    /// Number of its elements.
    pub elements: usize,
}

/// The least and the most that a property is in elements; in files a number where they are equal,
/// else a list of both.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(from = "ExtentInFile", into = "ExtentInFile")]
pub struct Extent {
    /// The least.
    pub least: f64,
    /// The most.
    pub most: f64,
}

/// Range of the conductivity in elements; in files one [`Extent`], or a list of three.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ConductivityExtent {
    /// Equal in all directions.
    Isotropic(Extent),
    /// Along x, y and z.
    Orthotropic([Extent; 3]),
}

impl ConductivityExtent {
    /// Along all axes.
    fn overall(&self) -> Extent {
        match self {
            Self::Isotropic(extent) => *extent,
            Self::Orthotropic([x, y, z]) => Extent {
                least: x.least.min(y.least).min(z.least),
                most: x.most.max(y.most).max(z.most),
            },
        }
    }
}

impl fmt::Display for ConductivityExtent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Isotropic(extent) => extent.fmt(f),
            Self::Orthotropic([x, y, z]) => write!(f, "{x} along x, {y} along y, {z} along z"),
        }
    }
}

impl From<f64> for Extent {
    fn from(value: f64) -> Self {
        Self { least: value, most: value }
    }
}

/// Form of an [`Extent`] in files.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum ExtentInFile {
    One(f64),
    Range([f64; 2]),
}

impl From<Extent> for ExtentInFile {
    fn from(Extent { least, most }: Extent) -> Self {
        if least == most { Self::One(least) } else { Self::Range([least, most]) }
    }
}

impl From<ExtentInFile> for Extent {
    fn from(written: ExtentInFile) -> Self {
        match written {
            ExtentInFile::One(value) => value.into(),
            ExtentInFile::Range([least, most]) => Self { least, most },
        }
    }
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown(self.least))?;
        if self.least == self.most { Ok(()) } else { write!(f, " to {}", shown(self.most)) }
    }
}

impl MaterialShare {
    /// Returns the name of the material in messages.
    pub fn name(&self) -> String {
        self.set.as_ref().map_or("[material]".into(), |set| format!("set `{set}`"))
    }

    /// Young's modulus or conductivity, along all axes.
    pub fn coefficient(&self) -> Extent {
        let conductivity = self.conductivity.map(|conductivity| conductivity.overall());
        self.youngs_modulus.or(conductivity).unwrap_or_else(|| 0.0.into())
    }

    /// The materials of a case that have elements, `[material]` first.
    pub fn all<K: Physics<N>, const N: usize>(config: &Config, case: &Case<N>) -> Vec<Self> {
        let share = |number: f64, density: Option<f64>, has_mass: bool, elements: &[u32]| {
            let own = extent(K::coefficient_field(&case.fields), elements, number);
            let is_heat = config.physics.kind == Kind::Heat;
            let conductivity = is_heat.then(|| conductivity(&case.fields, elements, own));
            let masses = case.fields.mass_density.as_deref();
            Self {
                set: None,
                youngs_modulus: (!is_heat).then_some(own),
                conductivity,
                mass_density: has_mass.then(|| extent(masses, elements, density.unwrap_or(1.0))),
                elements: elements.len(),
            }
        };

        let density = config.material.mass_density.as_ref();
        let others = others(case.mesh.n_elements(), &case.materials);
        let others = share(K::coefficient(config), number(density), density.is_some(), &others);
        let of_sets = config.materials.iter().zip(&case.materials).map(|(material, elements)| {
            let coefficient = K::coefficient_of(material).unwrap_or(K::coefficient(config));
            let set = Some(material.set.get_ref().clone());
            let density = material.mass_density.as_ref();
            Self { set, ..share(coefficient, number(density), density.is_some(), elements) }
        });

        std::iter::once(others).chain(of_sets).filter(|share| share.elements > 0).collect()
    }
}

/// Returns the range of `field` in `elements`, which may be empty; `number` if there is no field.
fn extent(field: Option<&[f64]>, elements: &[u32], number: f64) -> Extent {
    field.map_or(number.into(), |field| extent_of(elements, |e| field[e]))
}

fn extent_of(elements: &[u32], value: impl Fn(usize) -> f64) -> Extent {
    let values = elements.iter().map(|&e| value(e as usize));
    let least = values.clone().fold(f64::INFINITY, f64::min);
    Extent { least, most: values.fold(0.0, f64::max) }
}

/// The conductivity in `elements`, which is `own` where it is the same along all axes everywhere.
fn conductivity(fields: &Fields, elements: &[u32], own: Extent) -> ConductivityExtent {
    let Some(along) = &fields.conductivity_along else { return ConductivityExtent::Isotropic(own) };
    let axes = [0, 1, 2].map(|axis| extent_of(elements, |e| along[e][axis]));
    match axes {
        [x, y, z] if x == y && y == z => ConductivityExtent::Isotropic(x),
        _ => ConductivityExtent::Orthotropic(axes),
    }
}

/// The mass per volume that factors of the mass are multiples of.
pub fn reference_density(config: &Config) -> f64 {
    number(config.material.mass_density.as_ref()).unwrap_or(1.0)
}

/// Moduli in multiples of that of `[material]`, masses in multiples of [`reference_density`], for
/// elements by their numbers in the mesh; none where all are 1.
pub(crate) fn factors<K: Physics<N>, const N: usize>(
    config: &Config,
    case: &Case<N>,
) -> ElementFactors {
    let of = |factors: Vec<f64>| {
        if factors.iter().all(|&factor| factor == 1.0) {
            return None;
        }
        let mut all = vec![1.0; case.mesh.n_elements()];
        for (factor, elements) in factors.into_iter().zip(&case.materials) {
            elements.iter().for_each(|&e| all[e as usize] = factor);
        }
        Some(all)
    };

    let (coefficient, density) = (K::coefficient(config), reference_density(config));
    let relative = |material| K::coefficient_of(material).map_or(1.0, |own| own / coefficient);
    let relative_mass = |material: &SetMaterial| {
        number(material.mass_density.as_ref()).map_or(1.0, |own| own / density)
    };
    let field = |values: Option<&[f64]>, reference: f64| {
        values.map(|values| values.iter().map(|value| value / reference).collect())
    };

    let materials = || config.materials.iter();
    ElementFactors {
        stiffness: field(K::coefficient_field(&case.fields), coefficient)
            .or_else(|| of(materials().map(relative).collect())),
        mass: field(case.fields.mass_density.as_deref(), density)
            .or_else(|| of(materials().map(relative_mass).collect())),
    }
}

/// Forces of gravity and rotations in a load case of `case`, where all elements are solid,
/// `[n_nodes][3]`.
pub fn body_forces(config: &Config, case: &Case, load: &CaseLoads) -> Vec<[f64; 3]> {
    let mass = factors::<Elasticity, DIM>(config, case).mass;
    let force = load.acceleration().scaled(reference_density(config));
    nodal_body_forces(&case.mesh, mass.as_deref(), &force)
}

impl Lookup<'_> {
    /// The elements of each of `[[materials]]`, sorted. Elements of two are reported.
    pub(crate) fn materials(&self, findings: &mut Vec<Finding>) -> Vec<Vec<u32>> {
        let materials = &self.config.materials;
        let mut sets: Vec<Vec<u32>> = Vec::with_capacity(materials.len());
        for material in materials {
            let set = crate::lookup::sorted(self.elements(&material.set, findings));
            let shared =
                |other: &Vec<u32>| set.iter().filter(|e| other.binary_search(e).is_ok()).count();
            let shared: Vec<usize> = sets.iter().map(shared).collect();

            if let Some(first) = shared.iter().position(|&n| n > 0) {
                findings.push(self.shared_by(shared[first], &materials[first].set, &material.set));
            }
            sets.push(set);
        }
        sets
    }

    /// Reports `n` elements that are in the sets of two materials.
    fn shared_by(&self, n: usize, first: &Spanned<String>, second: &Spanned<String>) -> Finding {
        let are = if n == 1 { "element is" } else { "elements are" };
        let (a, b) = (first.get_ref(), second.get_ref());
        Finding::new(format!("{n} {are} in the sets of two materials, `{a}` and `{b}`"))
            .at(self.config.source(), second.span(), "the second material")
            .remedy("give [[materials]] sets that share no element")
    }

    /// Materials without mass, where a load acts on it or a response is of it.
    pub(crate) fn massless(&self, is_heavy: bool, sets: &[Vec<u32>]) -> Vec<Finding> {
        let config = self.config;
        let needs = match is_heavy {
            true => "gravity and rotation need",
            false if config.inertia_relief => "inertia relief needs",
            false if config.measures_mass() => "the response `mass` needs",
            false => return Vec::new(),
        };
        let remedy = "add `mass_density = ...`: mass per volume of solid material";
        let without = config.materials.iter().filter(|material| material.mass_density.is_none());
        let mut findings: Vec<Finding> = without
            .map(|material| {
                let name = material.set.get_ref();
                let message = format!("{needs} the mass of the material of set `{name}`");
                Finding::new(message)
                    .at(config.source(), material.set.span(), "has no `mass_density`")
                    .remedy(remedy)
            })
            .collect();

        let others = self.mesh.n_elements() - sets.iter().map(Vec::len).sum::<usize>();
        if others > 0 && config.material.mass_density.is_none() {
            let message = format!(
                "{needs} the mass of all material: {others} elements are in no set of \
                 [[materials]], and [material] has no `mass_density`"
            );
            let span = config.loads.iter().find(|load| load.on_mass().is_some()).map(|l| l.span());
            let finding = Finding::new(message).remedy("add `mass_density = ...` to [material]");
            findings.push(match span {
                Some(span) => finding.at(config.source(), span, "acts on the whole part"),
                None => finding,
            });
        }
        findings
    }
}
