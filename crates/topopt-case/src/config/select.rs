//! The keys of `[[select]]`: sets by where nodes, faces and elements lie.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Spanned;

/// A set of the nodes, surface faces or elements that satisfy conditions; of several conditions,
/// all must hold.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub struct Select {
    /// Name of the set, for supports, loads and the design; the mesh must have no set of that name.
    #[schemars(with = "String")]
    pub name: Spanned<String>,
    /// Entities to select.
    pub kind: SelectKind,
    /// The conditions.
    #[serde(flatten)]
    pub condition: Condition,
}

/// Entities of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SelectKind {
    /// Nodes; a selection takes those that satisfy the conditions.
    Nodes,
    /// Faces; a selection takes those of the surface whose nodes all satisfy the conditions.
    Faces,
    /// Elements; a selection takes those whose center satisfies the conditions.
    Elements,
}

/// Conditions that must all hold. Lengths below a millionth of the mesh size count as 0.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    /// Inside a box along the axes.
    #[serde(rename = "box")]
    pub bounds: Option<Bounds>,
    /// On a plane.
    pub plane: Option<Plane>,
    /// Inside an infinite cylinder, or between it and a thinner one.
    pub cylinder: Option<Cylinder>,
    /// Inside a sphere.
    pub sphere: Option<Sphere>,
    /// Nearest to the point [x, y, z]; all that are equally near.
    pub nearest: Option<[f64; 3]>,
    /// Facing a direction; for faces only.
    pub normal: Option<Normal>,
    /// Nodes by their numbers in the mesh file; faces and elements whose nodes are all among them.
    #[schemars(length(min = 1))]
    pub nodes: Option<Vec<u64>>,
    /// On faces of the geometry that the mesh is made of, by their numbers, or by their names in
    /// the file; `topopt info FILE --faces` lists them. Elements that have a side there.
    #[schemars(length(min = 1))]
    pub faces: Option<Vec<FaceName>>,
    /// On faces of the geometry of a form, such as all cylinders of a radius.
    pub form: Option<FaceForm>,
    /// On faces of the geometry of the same form, sizes and area as this one, such as all bores of
    /// a pattern.
    pub same_as: Option<FaceName>,
    /// Body of a design space that `faces`, `form` and `same_as` beside it are of, by the name of
    /// its file without the extension; without these, on any face of the body.
    pub body: Option<String>,
    /// In a set of the mesh, or in a selection above this one.
    pub set: Option<String>,
    /// Within a distance of a set of the mesh, or of a selection above this one.
    pub near: Option<Near>,
    /// Satisfying every one of these tables of conditions.
    #[schemars(length(min = 1))]
    pub all: Option<Vec<Condition>>,
    /// Satisfying at least one of these tables of conditions.
    #[schemars(length(min = 1))]
    pub any: Option<Vec<Condition>>,
    /// Not satisfying this table of conditions.
    pub not: Option<Box<Condition>>,
}

/// A face of a geometry: its number, or its name in the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "a number of a face, or its name in the file")]
pub enum FaceName {
    /// Number, as `topopt info FILE --faces` lists it.
    #[schemars(extend("minimum" = 1, "maximum" = u32::MAX))]
    Number(u32),
    /// Name; of several faces if they have the same.
    Name(String),
}

/// Faces of a form.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FaceForm {
    /// Kind of surface.
    pub kind: FaceKind,
    /// Radius of a cylinder or a sphere, or of the tube of a torus, as of a fillet.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub radius: Option<f64>,
    /// Largest difference from the radius; by default a hundredth of it.
    #[schemars(extend("minimum" = 0))]
    pub tolerance: Option<f64>,
    /// Whether the material is outside of the curvature, as around a bore (true), or inside, as in
    /// a pin (false). When left out, both.
    pub hollow: Option<bool>,
}

/// Kind of surface that a face lies on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FaceKind {
    /// A plane.
    Plane,
    /// A cylinder.
    Cylinder,
    /// A cone.
    Cone,
    /// A sphere.
    Sphere,
    /// A torus.
    Torus,
    /// Any other surface.
    Other,
}

/// A box along the axes.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// Smallest coordinates [x, y, z].
    pub min: [f64; 3],
    /// Largest coordinates [x, y, z].
    pub max: [f64; 3],
}

/// A plane.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plane {
    /// A point of the plane [x, y, z].
    pub point: [f64; 3],
    /// Normal [x, y, z], of any length.
    pub normal: [f64; 3],
    /// Largest distance from the plane.
    #[serde(default)]
    #[schemars(extend("minimum" = 0))]
    pub tolerance: f64,
}

/// A cylinder without ends; a box or planes cut it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cylinder {
    /// A point of the axis [x, y, z].
    pub point: [f64; 3],
    /// Direction of the axis [x, y, z], of any length.
    pub axis: [f64; 3],
    /// Radius.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub radius: f64,
    /// Radius of a thinner cylinder that is excluded.
    #[serde(default)]
    #[schemars(extend("minimum" = 0))]
    pub inner_radius: f64,
}

/// A sphere.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sphere {
    /// Center [x, y, z].
    pub center: [f64; 3],
    /// Radius.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub radius: f64,
}

/// Surroundings of a set.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Near {
    /// A set of the mesh, or a selection above this one.
    pub set: String,
    /// Kind of the set if several have this name: nodes, faces or elements. When left out,
    /// the first kind that exists.
    pub kind: Option<SelectKind>,
    /// Largest distance from the nearest node of the set.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub distance: f64,
}

/// A direction that faces look in.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Normal {
    /// The direction [x, y, z], of any length.
    pub direction: [f64; 3],
    /// Largest angle between it and the outward normal of the face, in degrees.
    #[serde(default = "thirty")]
    #[schemars(extend("minimum" = 0, "maximum" = 180))]
    pub angle: f64,
}

fn thirty() -> f64 {
    30.0
}
