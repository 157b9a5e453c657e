//! The keys of `[mesh.design_space]`.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::finding::{Finding, Source};

/// The space that a design may fill: around kept parts, and clear of keep-outs. Files are closed
/// bodies (.stl, .step, .stp, .brep, .iges, .igs, or .geo of OpenCASCADE), relative to the folder
/// of the case file.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DesignSpace {
    /// Parts that stay as they are, each a file. Elements with their center in one become a set of
    /// the name of the file without its extension, all together the set `kept`, which is among
    /// `design.solid`. Of `{ file = "...", near = { set = "seat", distance = 3.0 } }` only elements
    /// within the distance of the faces of a selection or of a group of faces are in `kept`. Needed
    /// for `"box"` and `"hull"`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<KeptPart>")]
    pub kept: Vec<Spanned<KeptPart>>,
    /// Outer bound: `"box"` around the kept parts, their convex `"hull"`, or `{ file = "..." }`.
    #[schemars(with = "Within")]
    pub within: Spanned<Within>,
    /// Distance from the kept parts to the box or the hull on each side.
    #[schemars(with = "Option<f64>", range(min = 0))]
    pub margin: Option<Spanned<f64>>,
    /// Bodies that stay free, such as screws and tools.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keep_out: Vec<KeepOut>,
}

/// A part that stays.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "a file, or { file = \"...\", near = { set = ..., distance = ... } }"
)]
pub enum KeptPart {
    /// File of a part that stays as it is.
    Whole(PathBuf),
    /// Part with a layer that stays; the rest may be designed.
    Layer(KeptLayer),
}

/// A part with a layer that stays.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeptLayer {
    /// File of the part.
    pub file: PathBuf,
    /// Layer of it that stays.
    pub near: NearFaces,
}

/// Layer at faces.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NearFaces {
    /// A `[[select]]` by `faces`, `form`, `same_as` or `box`, or a group of faces of the body.
    pub set: String,
    /// Largest distance of the centers of elements from these faces.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub distance: f64,
}

/// A body that stays free.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeepOut {
    /// File of the body.
    #[schemars(with = "PathBuf")]
    pub file: Spanned<PathBuf>,
    /// Distance around the body that stays free, too, where nothing is kept.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub clearance: f64,
}

/// Outer bound of a design space.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "\"box\", \"hull\" or { file = \"...\" }")]
pub enum Within {
    /// A bound that follows from the kept parts.
    Around(Around),
    /// `{ file = "..." }`: a body. Beside `file`, `fill = "holes"` fills all bores of it, through
    /// and blind with their counterbores, of up to the `largest_diameter`, if given; `fill =
    /// ["pocket"]` fills the holes with the faces of selections or groups of faces.
    Envelope(Envelope),
}

/// Bound that follows from the kept parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Around {
    /// The box around them.
    Box,
    /// Their convex hull.
    Hull,
}

/// A body that bounds a design space.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Envelope {
    /// File of the body.
    pub file: PathBuf,
    /// Holes of the body that are filled: `"holes"`, which is all bores, through and blind, with
    /// their counterbores; or the faces of holes of any shape, each list entry a `[[select]]` by
    /// `faces`, `form`, `same_as` or `box`, or a group of faces of the body.
    pub fill: Option<Fill>,
    /// Largest diameter of bores that `fill = "holes"` fills; by default any.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub largest_diameter: Option<f64>,
}

/// Holes of a body that are filled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "\"holes\", or a list of selections of faces")]
pub enum Fill {
    /// All bores.
    All(AllHoles),
    /// Holes with these faces.
    #[schemars(extend("minItems" = 1))]
    Sets(Vec<String>),
}

/// All bores of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AllHoles {
    /// Bores, through and blind.
    Holes,
}

impl Fill {
    /// All bores.
    pub const ALL: Self = Self::All(AllHoles::Holes);
}

impl KeptPart {
    /// File of the part.
    pub fn file(&self) -> &Path {
        match self {
            Self::Whole(file) | Self::Layer(KeptLayer { file, .. }) => file,
        }
    }

    fn file_mut(&mut self) -> &mut PathBuf {
        match self {
            Self::Whole(file) | Self::Layer(KeptLayer { file, .. }) => file,
        }
    }
}

/// Name of the set of all elements in kept parts.
pub const KEPT: &str = "kept";

impl DesignSpace {
    /// Name of the set of a kept part: that of its file without the extension.
    pub fn name(file: &Path) -> String {
        file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Files of the bodies, as the case file names them.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        let envelope = match self.within.get_ref() {
            Within::Envelope(envelope) => Some(envelope.file.as_path()),
            Within::Around(_) => None,
        };
        let kept = self.kept.iter().map(|part| part.get_ref().file());
        let keep_out = self.keep_out.iter().map(|body| body.file.get_ref().as_path());
        kept.chain(keep_out).chain(envelope)
    }

    /// Whether a selection chooses faces of bodies by this name, which the space need not have.
    pub fn chooses(&self, set: &str) -> bool {
        let filled = match self.within.get_ref() {
            Within::Envelope(Envelope { fill: Some(Fill::Sets(sets)), .. }) => &sets[..],
            _ => &[],
        };
        let is_of_layer = |part: &Spanned<KeptPart>| match part.get_ref() {
            KeptPart::Layer(layer) => layer.near.set == set,
            KeptPart::Whole(_) => false,
        };
        filled.iter().any(|name| name == set) || self.kept.iter().any(is_of_layer)
    }

    /// Makes the paths of the files absolute, which are relative to `folder`.
    pub(super) fn make_absolute(&mut self, folder: &Path) {
        let envelope = match self.within.get_mut() {
            Within::Envelope(envelope) => Some(&mut envelope.file),
            Within::Around(_) => None,
        };
        let kept = self.kept.iter_mut().map(|part| part.get_mut().file_mut());
        let keep_out = self.keep_out.iter_mut().map(|body| body.file.get_mut());
        for file in kept.chain(keep_out).chain(envelope) {
            if let Ok(absolute) = std::path::absolute(folder.join(&*file)) {
                *file = absolute;
            }
        }
    }

    /// Refuses two parts of one name, a bound around nothing, and keys that nothing has.
    pub(super) fn check(&self, source: &Source) -> Option<Finding> {
        for (i, part) in self.kept.iter().enumerate() {
            let name = Self::name(part.get_ref().file());
            let is_same = |other: &Spanned<KeptPart>| Self::name(other.get_ref().file()) == name;
            let is_twice = self.kept[..i].iter().any(is_same);
            if is_twice || name == KEPT {
                let message = format!("two sets would have the name `{name}`");
                let finding = Finding::new(message).at(source, part.span(), "the second");
                return Some(finding.remedy(format!(
                    "rename the file: the elements of each part become a set of the name of its \
                     file, and those of all the set `{KEPT}`"
                )));
            }
        }

        let finding = |message: &str, span: std::ops::Range<usize>, label: &str, remedy: &str| {
            Some(Finding::new(message).at(source, span, label).remedy(remedy))
        };
        let span = self.within.span();
        match (self.within.get_ref(), &self.margin) {
            (Within::Around(_), _) if self.kept.is_empty() => finding(
                "there are no kept parts to be within",
                span,
                "around nothing",
                "name parts that stay in `kept`, or a body here: `within = { file = \"...\" }`",
            ),
            (Within::Envelope(_), Some(margin)) => finding(
                "a body in `within` has no `margin`",
                margin.span(),
                "for \"box\" and \"hull\" only",
                "remove `margin`, or choose \"box\" or \"hull\"",
            ),
            (Within::Envelope(Envelope { fill, largest_diameter: Some(_), .. }), None)
                if *fill != Some(Fill::ALL) =>
            {
                finding(
                    "`largest_diameter` is for `fill = \"holes\"` only",
                    span,
                    "in this table",
                    "add `fill = \"holes\"`, or remove `largest_diameter`",
                )
            }
            _ => None,
        }
    }
}
