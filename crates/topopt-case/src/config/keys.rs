//! The case file as a whole. Ranges of keys stand in the structs here and beside and nowhere else,
//! as attributes that go into the JSON schema; `x-remedy` is what an error about the key says
//! besides.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use toml::Spanned;

use super::candidates::Candidate;
use super::design::{Continuation, Design, Filter, Optimizer, Projection};
use super::elastic_laws::layered::Layered;
use super::elastic_laws::matrix::Anisotropic;
use super::elastic_laws::orthotropic::Orthotropic;
use super::elements::Elements;
use super::loads::{Load, LoadCase, NodesOfSet, Spring, Support};
use super::manufacturing::Manufacturing;
use super::material_names::MaterialName;
use super::mesh::Mesh;
use super::objective::{Constraint, Objective};
use super::output::Output;
use super::physics::{Convection, Physics};
use super::property::{Conductivity, Property};
use super::select::Select;
use super::solver::Solver;
use super::thermal_expansion::ThermalExpansion;
use super::transient::Transient;
use super::units::Units;
use crate::finding::Source;
use crate::nodal_temperatures::SolvedTemperatures;

/// A topology optimization of a part: without `[objective]` and `[[constraints]]` its least
/// compliance for a given volume.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "topopt case")]
pub struct Config {
    /// A line of text that names the case in the results.
    pub title: Option<String>,
    /// Whether inertia balances the loads where supports and springs leave the part free (inertia
    /// relief); needs `mass_density`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub inertia_relief: bool,
    /// The units of lengths and forces; when left out, any consistent ones.
    pub units: Option<Units>,
    /// The physics; elasticity by default.
    #[serde(default)]
    pub physics: Physics,
    /// The mesh: read from a file or made by a generator.
    #[schemars(with = "Mesh")]
    pub mesh: Spanned<Mesh>,
    /// The material of all elements, or of those that `[[materials]]` leaves out.
    #[serde(default)]
    pub material: Material,
    /// Other materials of element sets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub materials: Vec<SetMaterial>,
    /// Materials lighter and softer than `[material]` that the design may give to any element.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<Candidate>,
    /// The elements; in elasticity.
    pub elements: Option<Elements>,
    /// Sets by where nodes, faces and elements lie, besides those of the mesh.
    #[serde(default)]
    pub select: Vec<Select>,
    /// Supports of the part.
    #[serde(default)]
    pub supports: Vec<Support>,
    /// Springs between the part and the ground.
    #[serde(default)]
    pub springs: Vec<Spring>,
    /// Convection at faces.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub convection: Vec<Convection>,
    /// The forces on the part, or the heat.
    #[serde(default)]
    pub loads: Vec<Load>,
    /// Weights of the load cases; a case that is not listed has weight 1.
    #[serde(default)]
    pub load_cases: Vec<LoadCase>,
    /// Heat in time.
    pub transient: Option<Transient>,
    /// Amount of material, and where it must stay.
    #[serde(default)]
    pub design: Design,
    /// The objective; without this table the compliance is minimized.
    pub objective: Option<Objective>,
    /// Limits that the design must keep, besides `design.volume_fraction`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<Constraint>,
    /// Demands of the way in which the part is made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub manufacturing: Vec<Manufacturing>,
    /// The filter, which sets the smallest feature size and prevents checkerboards; only an
    /// analysis needs none.
    #[serde(default = "left_out")]
    #[schemars(with = "Filter")]
    pub filter: Spanned<Filter>,
    /// The projection, which takes grey out of the design.
    pub projection: Option<Projection>,
    /// Settings that change in the course of the run, in the order of their iterations.
    #[serde(default)]
    pub continuation: Vec<Continuation>,
    /// The optimizer and when it stops.
    #[serde(default)]
    pub optimizer: Optimizer,
    /// The linear solver.
    #[serde(default)]
    pub solver: Solver,
    /// The results.
    #[serde(default)]
    pub output: Output,
    /// Ranks that compute the case; the command line says how many. 0 counts as one.
    #[serde(skip)]
    pub ranks: usize,
    /// Numbers of nodes of sets with the elements that the case asks for, where it has coarser ones.
    #[serde(skip)]
    pub(super) coarsening: Option<Vec<NodesOfSet>>,
    /// Temperatures of the thermal cases that loads name, once these are solved.
    #[serde(skip)]
    pub solved_temperatures: SolvedTemperatures,
    #[serde(skip)]
    pub(super) source: Source,
    #[serde(skip)]
    pub(super) path: PathBuf,
}

/// The material; in elasticity isotropic, unless a law says otherwise.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Material {
    /// Name of a material, whose properties hold where this table leaves them out; with `[units]`.
    #[schemars(with = "Option<MaterialName>")]
    pub name: Option<Spanned<MaterialName>>,
    /// Young's modulus of solid material.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub youngs_modulus: f64,
    /// Poisson's ratio.
    #[schemars(extend(
        "exclusiveMinimum" = -1,
        "exclusiveMaximum" = 0.5,
        "x-remedy" = "0.5 is an incompressible material, for which these elements lock; for rubber \
                      take 0.49"
    ))]
    pub poissons_ratio: f64,
    /// An orthotropic law of elasticity, in place of `youngs_modulus` and `poissons_ratio`.
    #[schemars(with = "Option<Orthotropic>")]
    pub orthotropic: Option<Spanned<Orthotropic>>,
    /// A law of elasticity of a part that is built in layers, beside `youngs_modulus`.
    #[schemars(with = "Option<Layered>")]
    pub layered: Option<Spanned<Layered>>,
    /// An anisotropic law of elasticity, in place of `youngs_modulus` and `poissons_ratio`.
    #[schemars(with = "Option<Anisotropic>")]
    pub anisotropic: Option<Spanned<Anisotropic>>,
    /// Mass per volume of solid material, for gravity, rotation and inertia relief.
    #[schemars(with = "Option<Property>")]
    pub mass_density: Option<Spanned<Property>>,
    /// Thermal expansion: strain per temperature, a number or `[a1, a2, a3]` along the axes of the
    /// material; needed with a temperature.
    #[schemars(with = "Option<ThermalExpansion>")]
    pub thermal_expansion: Option<Spanned<ThermalExpansion>>,
    /// Stress at which the material yields; with it, analyses and verifications give safety factors.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub yield_strength: Option<f64>,
    /// Conductivity of solid material: heat per time, length and temperature.
    #[schemars(with = "Option<Conductivity>")]
    pub conductivity: Option<Spanned<Conductivity>>,
    /// Heat per mass and temperature, for heat in time; with `mass_density`.
    #[schemars(with = "Option<Property>")]
    pub heat_capacity: Option<Spanned<Property>>,
}

impl Material {
    /// Reads a material from a format without places of values, such as JSON.
    ///
    /// # Errors
    /// Keys or values that are not those of a material.
    pub fn deserialize_plain<'de, D: Deserializer<'de>>(plain: D) -> Result<Self, D::Error> {
        let mut keys = serde_json::Map::deserialize(plain)?;
        keys.retain(|_, value| !value.is_null());
        let text = toml::to_string(&keys).map_err(D::Error::custom)?;
        toml::from_str(&text).map_err(D::Error::custom)
    }
}

/// The material of an element set; in elasticity isotropic, unless a law says otherwise. An element
/// may be in one such set.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetMaterial {
    /// Name of an element set of the mesh, or of a selection.
    #[schemars(with = "String")]
    pub set: Spanned<String>,
    /// Name of a material, whose properties hold where this table leaves them out; with `[units]`.
    #[schemars(with = "Option<MaterialName>")]
    pub name: Option<Spanned<MaterialName>>,
    /// Young's modulus of solid material; needed in elasticity.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub youngs_modulus: Option<f64>,
    /// Thermal expansion: strain per temperature, a number or `[a1, a2, a3]` along the axes of the
    /// material; needed with a temperature.
    #[schemars(with = "Option<ThermalExpansion>")]
    pub thermal_expansion: Option<Spanned<ThermalExpansion>>,
    /// Conductivity of solid material; needed for heat.
    #[schemars(with = "Option<Conductivity>")]
    pub conductivity: Option<Spanned<Conductivity>>,
    /// Heat per mass and temperature; needed for heat in time.
    #[schemars(with = "Option<Property>")]
    pub heat_capacity: Option<Spanned<Property>>,
    /// Poisson's ratio; that of `[material]` by default.
    #[schemars(
        with = "Option<f64>",
        extend("exclusiveMinimum" = -1, "exclusiveMaximum" = 0.5)
    )]
    pub poissons_ratio: Option<Spanned<f64>>,
    /// An anisotropic law of elasticity, in place of `youngs_modulus` and `poissons_ratio`.
    #[schemars(with = "Option<Anisotropic>")]
    pub anisotropic: Option<Spanned<Anisotropic>>,
    /// A law of elasticity of a part that is built in layers, beside `youngs_modulus`.
    #[schemars(with = "Option<Layered>")]
    pub layered: Option<Spanned<Layered>>,
    /// An orthotropic law of elasticity, in place of `youngs_modulus` and `poissons_ratio`.
    #[schemars(with = "Option<Orthotropic>")]
    pub orthotropic: Option<Spanned<Orthotropic>>,
    /// Mass per volume of solid material; needed with gravity, rotation and inertia relief.
    #[schemars(with = "Option<Property>")]
    pub mass_density: Option<Spanned<Property>>,
    /// Stress at which the material yields; with it, there are safety factors of the set.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub yield_strength: Option<f64>,
}

impl Default for Material {
    fn default() -> Self {
        Self {
            name: None,
            youngs_modulus: 1.0,
            poissons_ratio: 0.3,
            orthotropic: None,
            layered: None,
            anisotropic: None,
            mass_density: None,
            thermal_expansion: None,
            yield_strength: None,
            conductivity: None,
            heat_capacity: None,
        }
    }
}

fn is_false(value: &bool) -> bool {
    !value
}

/// The filter of a case without one.
fn left_out() -> Spanned<Filter> {
    Spanned::new(0..0, Filter::default())
}
