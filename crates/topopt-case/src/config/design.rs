//! The keys of `[design]`, `[filter]`, `[projection]`, `[[continuation]]` and `[optimizer]`.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toml::Spanned;

/// Design to optimize. `volume_fraction` may be left out where `[[constraints]]` limit the design.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Design {
    /// Share of the design volume that the material may fill.
    #[schemars(with = "Option<f64>", extend("exclusiveMinimum" = 0, "maximum" = 1))]
    pub volume_fraction: Option<Spanned<f64>>,
    /// Share of the design volume that material fills at the start, whatever its limit is; by
    /// default the largest allowed, else 0.5.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1))]
    pub initial_volume_fraction: Option<f64>,
    /// Purpose of the design, which chooses values for keys that are left out.
    pub style: Style,
    /// How long the style `crisp` may take where material goes down to one limit.
    pub quality: Quality,
    /// How the part is made, which chooses the entries of `[[manufacturing]]` that go with it, the
    /// density filter, and a radius of 2.5 elements where `[filter]` has none. Entries of the same
    /// kind given by the case file stay in their place.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Making>")]
    pub method: Option<Spanned<Making>>,
    /// Direction of build, of draw, of the tool or of extrusion, of any length; with `method`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<[f64; 3]>")]
    pub direction: Option<Spanned<[f64; 3]>>,
    /// Least width of members (length), of three elements at least; with `method`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<f64>", extend("exclusiveMinimum" = 0))]
    pub least_width: Option<Spanned<f64>>,
    /// Whether the design is symmetric about the planes about which mesh, materials, supports and
    /// loads are; by default so with the stages of the style `crisp` for the least compliance. They
    /// are looked for through the center of mass, across axes, diagonals and principal axes, unless
    /// `[[manufacturing]]` makes densities equal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_symmetry: Option<bool>,
    /// The law between density and stiffness; `ramp` by default with `gravity`, `angular_velocity`
    /// or `temperature`, where no penalty is given.
    pub interpolation: Interpolation,
    /// Parameter of the law: p of SIMP, q of RAMP.
    #[schemars(extend("minimum" = 1))]
    pub penalty: f64,
    /// Smallest density, which represents void; 0.001 by default with the style `crisp`.
    #[schemars(extend("minimum" = 0, "exclusiveMaximum" = 1))]
    pub density_min: f64,
    /// Stiffness of density 0 as a share of that of the solid, to which the law adds the rest. With
    /// 1e-9 and `density_min = 0` the law `simp` is the modified SIMP of the literature.
    #[schemars(extend("minimum" = 0, "exclusiveMaximum" = 1))]
    pub void_stiffness: f64,
    /// Element sets that stay solid; they do not belong to the design volume.
    #[schemars(with = "Vec<String>", extend("uniqueItems" = true))]
    pub solid: Vec<Spanned<String>>,
    /// Whether elements at loads and supports stay solid, too, so that what is built can take them.
    #[serde(skip_serializing_if = "KeepLoaded::is_not_designed")]
    pub keep_loaded: KeepLoaded,
    /// Element sets that stay at `density_min`; they do not belong to the design volume.
    #[schemars(with = "Vec<String>", extend("uniqueItems" = true))]
    pub void: Vec<Spanned<String>>,
}

/// Which elements at loads and supports stay solid. Those at the nodes of a loaded set do: of
/// forces, moments, pressures, heat into faces and nodes, springs, moved supports and the output of
/// a mechanism. So do those at supports that hold in every direction, on up to 5 % of the part's
/// surface. They do not belong to the design volume.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum KeepLoaded {
    /// `"solid"`: the elements at these nodes; `"free"`: none.
    Named(Keep),
    /// A length: also elements whose centers are within it of one of these nodes.
    #[schemars(extend("exclusiveMinimum" = 0))]
    Thickness(f64),
}

/// Whether elements at loads and supports stay solid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Keep {
    /// A layer of one element.
    Solid,
    /// They are designed like all others.
    Free,
}

impl KeepLoaded {
    /// Setting of an analysis, which no case file can give.
    pub(crate) const NOT_DESIGNED: Self = Self::Thickness(0.0);

    fn is_not_designed(&self) -> bool {
        *self == Self::NOT_DESIGNED
    }
}

impl Default for KeepLoaded {
    fn default() -> Self {
        Self::Named(Keep::Solid)
    }
}

/// Purpose of a design.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Style {
    /// Grey edges; in force where a case has no style, but a `filter.kind` other than `density`, a
    /// `[projection]` or `[[continuation]]`.
    Smooth,
    /// Nearly solid or empty everywhere: `filter.kind = "density"`, `density_min = 0.001`, and
    /// stages that depend on the problem.
    ///
    /// For the least compliance under one limit of material, 60 iterations from nearly solid to
    /// that limit, 240 if it is below 0.15, by `oc`, `mma` and `oc_adaptive`; one and a half times
    /// as many for members or gaps of a least width. For all else, and with a `[projection]`,
    /// `[[continuation]]` or `optimizer.method` of its own, `optimizer.move_limit = 0.05`, without
    /// stages of its own `optimizer.max_iterations = 120`, and, without a `[projection]` of its
    /// own, the sharpness 1, which doubles every 12 iterations from iteration 21 on up to 64.
    #[default]
    Crisp,
}

/// How a part is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Making {
    /// Printed upwards without props, and powder comes out of every void: `overhang` and
    /// `open_voids`.
    Printed,
    /// Cast in a mold that opens along the direction and against it: `casting` with two sides.
    Cast,
    /// Milled by tools along the direction and against it: `milling`.
    Milled,
    /// Extruded along the direction: `extrusion`.
    Extruded,
}

/// Time for better designs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Quality {
    /// 60 iterations, and 240 where less than 0.15 of the volume may be filled.
    #[default]
    Usual,
    /// 240 iterations, for stiffer designs.
    Best,
}

/// A law between density and stiffness.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Interpolation {
    /// E = density^p * youngs_modulus.
    #[default]
    Simp,
    /// E = density / (1 + q (1 - density)) * youngs_modulus: thin material bears its own weight.
    Ramp,
}

/// The filter. All filters except `none` need one of `radius` and `radius_in_elements`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Filter {
    /// The filter; `density` by default with the style `crisp`, with `gravity`, `angular_velocity`
    /// or `temperature`, and for problems other than the least compliance under limits of volume
    /// and mass.
    pub kind: FilterKind,
    /// Weights of the elements around an element.
    pub weights: FilterWeights,
    /// Radius as a length.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub radius: Option<f64>,
    /// Radius in element widths; a width is the cube root of an element's volume, averaged over the
    /// volume of the part.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub radius_in_elements: Option<f64>,
    /// Memory in MB for the lists of neighbors; if they need more, or more than 300 bytes per
    /// element, neighbors are searched in every iteration instead.
    pub neighbor_memory_mb: usize,
}

/// A filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FilterKind {
    /// Sigmund's sensitivity filter, on sensitivities per volume, weighted by volume.
    Sensitivity,
    /// Sensitivities without volumes, as in Ratnakar's thesis: for meshes of equal elements only;
    /// on other meshes small elements fill and large ones empty.
    SensitivityUnweighted,
    /// The density filter: what is solved and written is the filtered density.
    Density,
    /// No filter: the result depends on the mesh.
    None,
}

/// The weights of a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FilterWeights {
    /// Radius minus distance.
    Cone,
    /// By a Helmholtz equation on the mesh, which blurs as much as a cone of that radius: no more
    /// time or memory for a larger radius, and nothing across gaps.
    Helmholtz,
}

/// The projection of the filtered density, which makes it nearly solid or empty; it needs the
/// filter `density`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Projection {
    /// Sharpness beta: 1 is nearly linear, 32 nearly a step. Raised in stages of `[[continuation]]`
    /// it gives better designs.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 256))]
    pub sharpness: f64,
    /// Threshold eta: filtered densities below it are lowered, those above it raised.
    #[serde(default = "half")]
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub threshold: f64,
}

/// Settings that change during the run. A value holds until a later entry changes it; the
/// optimizer's tolerances count from the last entry on.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Continuation {
    /// Iteration from which the values hold.
    #[schemars(range(min = 1))]
    pub from: usize,
    /// Replaces `design.penalty`.
    #[serde(default)]
    #[schemars(schema_with = "penalties")]
    pub penalty: Option<Course>,
    /// Replaces `filter.radius`.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub filter_radius: Option<f64>,
    /// Replaces `filter.radius_in_elements`.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub filter_radius_in_elements: Option<f64>,
    /// Replaces `projection.sharpness`.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 256))]
    pub sharpness: Option<f64>,
    /// Replaces the sharpness from here on by half the width of the surface in element widths: what
    /// is further from it is solid or empty.
    pub half_width: Option<Course>,
    /// Material allowed, as a multiple of what the limits say; has to come down to 1.
    pub excess: Option<Course>,
    /// Replaces `optimizer.method`.
    pub method: Option<Method>,
    /// Replaces `optimizer.move_limit`.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1))]
    pub move_limit: Option<f64>,
    /// Replaces both tolerances of `[solver]`.
    #[serde(default)]
    #[schemars(schema_with = "tolerances")]
    pub tolerance: Option<Course>,
}

/// A value, or one that changes from iteration to iteration by equal factors.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Course {
    /// A value.
    Constant(#[schemars(extend("exclusiveMinimum" = 0))] f64),
    /// Such as `{ start = 3, end = 0.55, over = 10 }`.
    Changing(Changing),
}

/// A value that changes from iteration to iteration by equal factors.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Changing {
    /// Value in the first iteration of the stage.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub start: f64,
    /// Value that it comes to, and keeps.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub end: f64,
    /// Number of iterations until then.
    #[schemars(range(min = 1))]
    pub over: usize,
}

fn penalties(_: &mut SchemaGenerator) -> Schema {
    course_within(&json!({ "type": "number", "minimum": 1 }))
}

fn tolerances(_: &mut SchemaGenerator) -> Schema {
    course_within(&json!({ "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1 }))
}

/// Schema of a [`Course`] whose values have that of `value`.
fn course_within(value: &Value) -> Schema {
    json_schema!({ "anyOf": [value, {
        "type": "object",
        "additionalProperties": false,
        "properties": { "start": value, "end": value, "over": { "type": "integer", "minimum": 1 } },
        "required": ["start", "end", "over"],
    }] })
}

impl Course {
    /// The first value.
    pub fn start(self) -> f64 {
        topopt_design::Course::from(self).start
    }

    /// The value that is kept.
    pub fn end(self) -> f64 {
        topopt_design::Course::from(self).end
    }
}

impl From<Course> for topopt_design::Course {
    fn from(course: Course) -> Self {
        match course {
            Course::Constant(value) => Self::constant(value),
            Course::Changing(Changing { start, end, over }) => Self { start, end, over },
        }
    }
}

/// The optimizer. It stops at `max_iterations`, or as soon as any of the tolerances is met; a
/// tolerance of 0 is off.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Optimizer {
    /// Method of the update; by default `oc` for the least compliance under one limit of the volume
    /// or the mass without a projection, `gravity`, `angular_velocity` or `temperature`, and `mma`
    /// for all else.
    pub method: Method,
    /// Mesh of the first iterations.
    #[serde(skip_serializing_if = "Start::is_usual")]
    pub start: Start,
    /// Largest number of iterations; 60, 120 or 240, and 90 or 360 for least widths, by default
    /// with the stages of the style `crisp`.
    #[schemars(range(min = 1))]
    pub max_iterations: usize,
    /// Largest change of a design variable in one iteration; with a projection, 0.05 keeps designs
    /// from oscillating, and is the default with the style `crisp` where its sharpness doubles.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1))]
    pub move_limit: f64,
    /// Exponent eta of the optimality criteria; other methods have none.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1))]
    pub damping: f64,
    /// Stop when no design variable changes by more than this.
    #[schemars(extend("minimum" = 0))]
    pub change_tolerance: f64,
    /// Stop when the objective, the compliance by default, changes by less than this share of
    /// itself.
    #[schemars(extend("minimum" = 0))]
    pub compliance_tolerance: f64,
    /// Stop when the objective changes by less than this, in its own unit. The rule of
    /// Ratnakar's thesis is 1e-2 here, 0 for the other two tolerances, and 150 iterations.
    #[schemars(extend("minimum" = 0))]
    pub absolute_compliance_tolerance: f64,
    /// Stop when the KKT residual, which is in history.csv, is less than this: the share of the
    /// objective's range that an optimum may still be away to first order.
    #[schemars(extend("minimum" = 0))]
    pub kkt_tolerance: f64,
}

/// The mesh of the first iterations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Start {
    /// The mesh of the case.
    #[default]
    Fine,
    /// Elements of twice the edge until the second stage, or for 20 iterations without stages, where
    /// the case makes its mesh itself.
    Coarse,
}

impl Start {
    fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

/// A method of the update.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Optimality criteria.
    Oc,
    /// Optimality criteria with a move limit per element, which falls where a density goes back and
    /// forth.
    OcAdaptive,
    /// Optimality criteria, accelerated by mixing the last designs.
    OcAnderson,
    /// The method of moving asymptotes.
    Mma,
    /// Its globally convergent form: a design is solved again until no approximation is too low,
    /// so that the compliance falls in every iteration. Not with filtered sensitivities.
    Gcmma,
    /// SiMPL, mirror descent with a line search, so that the compliance falls in every iteration;
    /// it has no move limit. Not with filtered sensitivities.
    Simpl,
}

impl Method {
    /// Returns the name of the method in the case file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Oc => "oc",
            Self::OcAdaptive => "oc_adaptive",
            Self::OcAnderson => "oc_anderson",
            Self::Mma => "mma",
            Self::Gcmma => "gcmma",
            Self::Simpl => "simpl",
        }
    }

    /// Whether the method needs gradients of one sign.
    pub fn is_of_criteria(self) -> bool {
        matches!(self, Self::Oc | Self::OcAdaptive | Self::OcAnderson)
    }

    /// Whether the method compares values with predictions by gradients.
    pub(super) fn needs_gradients(self) -> bool {
        matches!(self, Self::Gcmma | Self::Simpl)
    }

    /// Whether it takes constraints besides one of the material.
    pub(super) fn takes_constraints(self) -> bool {
        matches!(self, Self::Mma | Self::Gcmma)
    }
}

impl Optimizer {
    /// These settings with a number of iterations alone to stop by.
    pub(super) fn without_tolerances(&self) -> Self {
        Self {
            change_tolerance: 0.0,
            compliance_tolerance: 0.0,
            absolute_compliance_tolerance: 0.0,
            kkt_tolerance: 0.0,
            ..self.clone()
        }
    }
}

impl Design {
    /// The smallest modulus as a share of the largest, for a penalty of `penalty`.
    pub fn contrast(&self, penalty: f64) -> f64 {
        let of_law = match self.interpolation {
            Interpolation::Simp => self.density_min.powf(penalty),
            Interpolation::Ramp => self.density_min / (1.0 + penalty * (1.0 - self.density_min)),
        };
        self.void_stiffness + (1.0 - self.void_stiffness) * of_law
    }
}

impl FilterKind {
    /// Whether sensitivities are filtered.
    pub fn is_of_sensitivities(self) -> bool {
        matches!(self, Self::Sensitivity | Self::SensitivityUnweighted)
    }
}

impl Default for Filter {
    fn default() -> Self {
        Self {
            kind: FilterKind::Sensitivity,
            weights: FilterWeights::Cone,
            radius: None,
            radius_in_elements: None,
            neighbor_memory_mb: 512,
        }
    }
}

impl Default for Design {
    fn default() -> Self {
        Self {
            volume_fraction: None,
            initial_volume_fraction: None,
            style: Style::Crisp,
            quality: Quality::Usual,
            method: None,
            direction: None,
            least_width: None,
            keep_symmetry: None,
            interpolation: Interpolation::Simp,
            penalty: 3.0,
            density_min: 0.01,
            void_stiffness: 0.0,
            solid: Vec::new(),
            keep_loaded: KeepLoaded::default(),
            void: Vec::new(),
        }
    }
}

impl Default for Optimizer {
    fn default() -> Self {
        Self {
            method: Method::Oc,
            start: Start::default(),
            max_iterations: 150,
            move_limit: 0.2,
            damping: 0.5,
            change_tolerance: 1e-2,
            compliance_tolerance: 1e-4,
            absolute_compliance_tolerance: 0.0,
            kkt_tolerance: 0.0,
        }
    }
}

fn half() -> f64 {
    0.5
}
