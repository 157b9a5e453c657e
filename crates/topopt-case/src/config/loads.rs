//! The keys of `[[supports]]`, `[[springs]]`, `[[loads]]` and `[[load_cases]]`.

use std::ops::Deref;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::{Spanned, Value};
use topopt_mesh::vector::{cross, difference};

use super::own_keys::OwnKeys;
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
    /// Kind of the set if several have this name: nodes, faces or elements. When left out,
    /// the first kind that exists.
    pub kind: Option<SelectKind>,
    /// The directions in which its nodes are held.
    #[serde(default = "all_axes")]
    #[schemars(length(min = 1), extend("uniqueItems" = true))]
    pub fix: Vec<Axis>,
    /// Displacement [x, y, z] of its nodes, 0 in directions that are not held.
    #[schemars(with = "Option<[f64; 3]>")]
    pub displacement: Option<Spanned<[f64; 3]>>,
    /// Small rotation [x, y, z] of its nodes in radians about an axis through `center`, besides
    /// `displacement`.
    #[schemars(with = "Option<[f64; 3]>")]
    pub rotation: Option<Spanned<[f64; 3]>>,
    /// A point [x, y, z] on the axis of `rotation`; by default the origin.
    #[schemars(with = "Option<[f64; 3]>")]
    pub center: Option<Spanned<[f64; 3]>>,
    /// Temperature of its nodes; 0 by default.
    #[schemars(with = "Option<f64>")]
    pub temperature: Option<Spanned<f64>>,
    /// Factors of the temperature over time, `[time, factor]` by increasing time: linear between,
    /// constant beyond the ends.
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
    /// Kind of the set if several have this name: nodes, faces or elements. When left out,
    /// the first kind that exists; `stiffness_per_area` takes faces.
    pub kind: Option<SelectKind>,
    /// Force per displacement [x, y, z] on each node of the set.
    #[schemars(with = "Option<[f64; 3]>")]
    pub stiffness: Option<Spanned<[f64; 3]>>,
    /// Force per displacement and area [x, y, z] on the faces of the set: an elastic foundation.
    #[schemars(with = "Option<[f64; 3]>")]
    pub stiffness_per_area: Option<Spanned<[f64; 3]>>,
}

/// An entry of `[[loads]]`; [`crate::loads`] has the table of its kinds.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "OwnKeys", into = "OwnKeys")]
pub struct Load {
    /// Name of the set that it acts on.
    pub set: Option<Spanned<String>>,
    /// Kind of the set that is meant where several have this name.
    pub kind: Option<SelectKind>,
    /// Factors over time.
    pub over_time: Option<Spanned<OverTime>>,
    /// Name of its load case.
    pub case: String,
    /// Keys of the kinds of loads.
    own: OwnKeys,
}

/// Number of nodes of a set that all have a load or a spring.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodesOfSet {
    /// Name of the set.
    pub set: String,
    /// Kind that is asked for.
    pub kind: Option<SelectKind>,
    /// Number of nodes.
    pub n: usize,
}

impl TryFrom<OwnKeys> for Load {
    type Error = toml::de::Error;

    fn try_from(mut own: OwnKeys) -> Result<Self, toml::de::Error> {
        own.with_floats();
        Ok(Self {
            set: own.taken("set")?,
            kind: own.taken("kind")?.map(Spanned::into_inner),
            over_time: own.taken("over_time")?,
            case: own.taken("case")?.map_or_else(|| "default".into(), Spanned::into_inner),
            own,
        })
    }
}

impl From<Load> for OwnKeys {
    fn from(load: Load) -> Self {
        let mut keys = load.own;
        keys.put("set", load.set.map(|set| set.into_inner().into()));
        keys.put("kind", load.kind.and_then(|kind| Value::try_from(kind).ok()));
        let table = load.over_time.map(Spanned::into_inner);
        keys.put("over_time", table.and_then(|table| Value::try_from(table).ok()));
        keys.put("case", Some(load.case.into()));
        keys
    }
}

impl Deref for Load {
    type Target = OwnKeys;

    fn deref(&self) -> &OwnKeys {
        &self.own
    }
}

impl Load {
    /// Replaces the value of `key`.
    pub(super) fn set(&mut self, key: &str, value: Option<Value>) {
        self.own.put(key, value);
    }

    /// Replaces the key `old` by the vector of another one.
    pub(crate) fn replace(&mut self, old: &str, key: &str, vector: [f64; 3]) {
        self.own.put(old, None);
        self.own.put(key, Some(Value::Array(vector.map(Value::Float).into())));
    }
}

impl Support {
    /// Whether it moves nodes.
    pub fn moves(&self) -> bool {
        let motions = [&self.displacement, &self.rotation].into_iter().flatten();
        motions.into_iter().any(|motion| *motion.get_ref() != [0.0; 3])
    }

    /// Displacement of a node at `x`.
    pub fn displacement_at(&self, x: [f64; 3]) -> [f64; 3] {
        let of = |key: &Option<Spanned<_>>| key.as_ref().map_or([0.0; 3], |key| *key.get_ref());
        let (shift, turn) = (of(&self.displacement), of(&self.rotation));
        let turned = cross(turn, difference(x, of(&self.center)));
        std::array::from_fn(|i| shift[i] + turned[i])
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

fn one() -> f64 {
    1.0
}
