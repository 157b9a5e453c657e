//! The keys of `[[supports]]`, `[[springs]]`, `[[loads]]` and `[[load_cases]]`.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::select::SelectKind;

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

/// Nodes that are held, or moved by a displacement.
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
    /// Name of the load case that the displacement belongs to; in the others the nodes are held;
    /// by default it belongs to all.
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
/// `gravity` and `angular_velocity`. Loads of the same case act together.
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
}

impl Load {
    /// The quantities given, with their places; a case file that was read has one.
    pub fn quantities(&self) -> Vec<(LoadQuantity, Range<usize>)> {
        let vector = |value: &Option<Spanned<[f64; 3]>>, kind: fn([f64; 3]) -> LoadQuantity| {
            value.as_ref().map(|value| (kind(*value.get_ref()), value.span()))
        };
        let pressure = self.pressure.as_ref();
        let all = [
            vector(&self.force, LoadQuantity::Force),
            vector(&self.total_force, LoadQuantity::TotalForce),
            vector(&self.moment, LoadQuantity::Moment),
            vector(&self.bearing, LoadQuantity::Bearing),
            vector(&self.traction, LoadQuantity::Traction),
            pressure.map(|value| (LoadQuantity::Pressure(*value.get_ref()), value.span())),
            vector(&self.gravity, LoadQuantity::Gravity),
            vector(&self.angular_velocity, LoadQuantity::AngularVelocity),
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
