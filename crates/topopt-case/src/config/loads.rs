//! The keys of `[[supports]]`, `[[springs]]`, `[[loads]]` and `[[load_cases]]`.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::select::SelectKind;
use super::transient::OverTime;

/// One direction of the coordinate system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Axis {
    /// Along x.
    X,
    /// Along y.
    Y,
    /// Along z.
    Z,
}

/// Nodes that are held, or moved by a displacement; of heat, nodes whose temperature is held.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Support {
    /// Name of a node, face or element set of the mesh, or of a selection.
    #[schemars(with = "String")]
    pub set: Spanned<String>,
    /// Which set is meant where several have this name: of nodes, faces or elements. When left out,
    /// the first kind that exists.
    pub kind: Option<SelectKind>,
    /// The directions in which its nodes are held.
    #[serde(default = "all_axes")]
    #[schemars(length(min = 1), extend("uniqueItems" = true))]
    pub fix: Vec<Axis>,
    /// Displacement [x, y, z] of its nodes, 0 in directions that are not held.
    #[schemars(with = "Option<[f64; 3]>")]
    pub displacement: Option<Spanned<[f64; 3]>>,
    /// Temperature of its nodes; 0 by default.
    #[schemars(with = "Option<f64>")]
    pub temperature: Option<Spanned<f64>>,
    /// Factors of the temperature over time, `[time, factor]` by increasing time: linear between, constant beyond
    /// the ends.
    #[schemars(with = "Option<Vec<[f64; 2]>>")]
    pub over_time: Option<Spanned<OverTime>>,
    /// Name of the load case that the displacement or temperature belongs to; in the others the
    /// nodes are held at 0; by default it belongs to all.
    #[schemars(with = "Option<String>")]
    pub case: Option<Spanned<String>>,
}

/// Springs between nodes and the ground: exactly one of `stiffness` and `stiffness_per_area`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spring {
    /// Name of a node, face or element set of the mesh, or of a selection.
    #[schemars(with = "String")]
    pub set: Spanned<String>,
    /// Which set is meant where several have this name: of nodes, faces or elements. When left out,
    /// the first kind that exists; `stiffness_per_area` takes faces.
    pub kind: Option<SelectKind>,
    /// Force per displacement [x, y, z] on each node of the set.
    #[schemars(with = "Option<[f64; 3]>")]
    pub stiffness: Option<Spanned<[f64; 3]>>,
    /// Force per displacement and area [x, y, z] on the faces of the set: an elastic foundation.
    #[schemars(with = "Option<[f64; 3]>")]
    pub stiffness_per_area: Option<Spanned<[f64; 3]>>,
}

/// A load: exactly one of `force`, `total_force`, `moment`, `bearing`, `traction`, `pressure`,
/// `gravity` and `angular_velocity`; of heat, of `heat_flux`, `heat_source` and `total_heat`; of
/// either `from_mesh`. Loads of the same case act together.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// Name of a node, face or element set of the mesh, or of a selection; not with `gravity`
    /// or `angular_velocity`.
    #[schemars(with = "Option<String>")]
    pub set: Option<Spanned<String>>,
    /// Which set is meant where several have this name: of nodes, faces or elements. When left out,
    /// the first kind that exists; `traction`, `pressure` and `bearing` take faces,
    /// and so do `total_force` and `moment` if there are any.
    pub kind: Option<SelectKind>,
    /// Force [x, y, z] on each node of the set.
    #[schemars(with = "Option<[f64; 3]>")]
    pub force: Option<Spanned<[f64; 3]>>,
    /// Force [x, y, z] on the set as a whole: on faces as a uniform traction, on nodes in equal
    /// shares; with `at` by least squares.
    #[schemars(with = "Option<[f64; 3]>")]
    pub total_force: Option<Spanned<[f64; 3]>>,
    /// Point [x, y, z] at which `total_force` acts: the nodes take its moment as well, as by an
    /// RBE3 element.
    #[schemars(with = "Option<[f64; 3]>")]
    pub at: Option<Spanned<[f64; 3]>>,
    /// Moment [x, y, z] on the set as a whole, as forces on its nodes by least squares.
    #[schemars(with = "Option<[f64; 3]>")]
    pub moment: Option<Spanned<[f64; 3]>>,
    /// Force [x, y, z] of a pin on the faces of a bore: a pressure by the cosine of the angle from
    /// the force, on the side to which it points.
    #[schemars(with = "Option<[f64; 3]>")]
    pub bearing: Option<Spanned<[f64; 3]>>,
    /// Force per area [x, y, z] on the faces of the set.
    #[schemars(with = "Option<[f64; 3]>")]
    pub traction: Option<Spanned<[f64; 3]>>,
    /// Force per area on the faces of the set, along their normals; positive pushes.
    #[schemars(with = "Option<f64>")]
    pub pressure: Option<Spanned<f64>>,
    /// Acceleration [x, y, z] of the whole part by gravity; its weight follows the density.
    #[schemars(with = "Option<[f64; 3]>")]
    pub gravity: Option<Spanned<[f64; 3]>>,
    /// Angular velocity [x, y, z] of the whole part in radians per time, for its centrifugal force,
    /// which follows the density.
    #[schemars(with = "Option<[f64; 3]>")]
    pub angular_velocity: Option<Spanned<[f64; 3]>>,
    /// A point [x, y, z] on the axis of `angular_velocity`; by default the origin.
    #[schemars(with = "Option<[f64; 3]>")]
    pub center: Option<Spanned<[f64; 3]>>,
    /// Heat per time and area into the faces of the set.
    #[schemars(with = "Option<f64>")]
    pub heat_flux: Option<Spanned<f64>>,
    /// Heat per time and volume in the elements of the set; without `set` in the whole part.
    #[schemars(with = "Option<f64>")]
    pub heat_source: Option<Spanned<f64>>,
    /// Heat per time into the set as a whole: into faces by their areas, into nodes in equal shares.
    #[schemars(with = "Option<f64>")]
    pub total_heat: Option<Spanned<f64>>,
    /// Take the force on each node of the set, or the heat per time into it, from the mesh file: a
    /// solver's deck with more different forces than sets should have. `topopt init` writes it.
    #[schemars(with = "Option<bool>")]
    pub from_mesh: Option<Spanned<bool>>,
    /// Factors of the heat over time, `[time, factor]` by increasing time: linear between, constant beyond
    /// the ends.
    #[schemars(with = "Option<Vec<[f64; 2]>>")]
    pub over_time: Option<Spanned<OverTime>>,
    /// Name of the load case that the force belongs to.
    #[serde(default = "default_case")]
    pub case: String,
}

/// How large a load is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LoadQuantity {
    /// Force on each node.
    Force([f64; 3]),
    /// Force on the set as a whole.
    TotalForce([f64; 3]),
    /// Moment on the set as a whole.
    Moment([f64; 3]),
    /// Force of a pin in a bore.
    Bearing([f64; 3]),
    /// Force per area.
    Traction([f64; 3]),
    /// Force per area against the outward normal.
    Pressure(f64),
    /// Acceleration of the whole part.
    Gravity([f64; 3]),
    /// Angular velocity of the whole part.
    AngularVelocity([f64; 3]),
    /// Heat per area.
    HeatFlux(f64),
    /// Heat per volume.
    HeatSource(f64),
    /// Heat into the set as a whole.
    TotalHeat(f64),
    /// Forces on nodes, or heat into them, as the mesh file has them.
    FromMesh,
}

impl LoadQuantity {
    /// Returns the key of the quantity in the case file.
    pub fn key(self) -> &'static str {
        match self {
            Self::Force(_) => "force",
            Self::TotalForce(_) => "total_force",
            Self::Moment(_) => "moment",
            Self::Bearing(_) => "bearing",
            Self::Traction(_) => "traction",
            Self::Pressure(_) => "pressure",
            Self::Gravity(_) => "gravity",
            Self::AngularVelocity(_) => "angular_velocity",
            Self::HeatFlux(_) => "heat_flux",
            Self::HeatSource(_) => "heat_source",
            Self::TotalHeat(_) => "total_heat",
            Self::FromMesh => "from_mesh",
        }
    }

    /// Whether it is heat, and no force; none if it may be either.
    pub fn is_heat(self) -> Option<bool> {
        match self {
            Self::FromMesh => None,
            Self::HeatFlux(_) | Self::HeatSource(_) | Self::TotalHeat(_) => Some(true),
            _ => Some(false),
        }
    }
}

impl Load {
    /// The quantities given, with their places; a case file that was read has one.
    pub fn quantities(&self) -> Vec<(LoadQuantity, Range<usize>)> {
        let vector = |value: &Option<Spanned<[f64; 3]>>, kind: fn([f64; 3]) -> LoadQuantity| {
            value.as_ref().map(|value| (kind(*value.get_ref()), value.span()))
        };
        let number = |value: &Option<Spanned<f64>>, kind: fn(f64) -> LoadQuantity| {
            value.as_ref().map(|value| (kind(*value.get_ref()), value.span()))
        };
        let from_mesh = self.from_mesh.as_ref().filter(|key| *key.get_ref());
        let all = [
            vector(&self.force, LoadQuantity::Force),
            vector(&self.total_force, LoadQuantity::TotalForce),
            vector(&self.moment, LoadQuantity::Moment),
            vector(&self.bearing, LoadQuantity::Bearing),
            vector(&self.traction, LoadQuantity::Traction),
            number(&self.pressure, LoadQuantity::Pressure),
            vector(&self.gravity, LoadQuantity::Gravity),
            vector(&self.angular_velocity, LoadQuantity::AngularVelocity),
            number(&self.heat_flux, LoadQuantity::HeatFlux),
            number(&self.heat_source, LoadQuantity::HeatSource),
            number(&self.total_heat, LoadQuantity::TotalHeat),
            from_mesh.map(|key| (LoadQuantity::FromMesh, key.span())),
        ];
        all.into_iter().flatten().collect()
    }

    /// Whether it acts on the mass of the whole part.
    pub fn is_of_whole_part(&self) -> bool {
        self.gravity.is_some() || self.angular_velocity.is_some()
    }

    /// Place of the quantity.
    pub fn span(&self) -> Range<usize> {
        let set = || self.set.as_ref().map_or(0..0, |set| set.span());
        self.quantities().first().map_or_else(set, |(_, span)| span.clone())
    }
}

/// The weight of a load case in the compliance, which is a weighted sum over the load cases.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoadCase {
    /// Name, as in `case` of the loads.
    #[schemars(with = "String")]
    pub name: Spanned<String>,
    /// Weight.
    #[serde(default = "one")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub weight: f64,
}

fn all_axes() -> Vec<Axis> {
    vec![Axis::X, Axis::Y, Axis::Z]
}

fn default_case() -> String {
    "default".into()
}

fn one() -> f64 {
    1.0
}
