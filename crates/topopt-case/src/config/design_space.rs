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
    /// `design.solid`.
    #[schemars(with = "Vec<PathBuf>", length(min = 1))]
    pub kept: Vec<Spanned<PathBuf>>,
    /// Outer bound: `"box"` around the kept parts, their convex `"hull"`, or `{ file = "..." }`.
    #[schemars(with = "Within")]
    pub within: Spanned<Within>,
    /// Distance by which the box or the hull is larger than the kept parts on each side.
    #[schemars(with = "Option<f64>", range(min = 0))]
    pub margin: Option<Spanned<f64>>,
    /// Bodies that stay free, such as screws and tools.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keep_out: Vec<KeepOut>,
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
    /// `{ file = "..." }`: a body.
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
        let kept = self.kept.iter().map(|file| file.get_ref().as_path());
        let keep_out = self.keep_out.iter().map(|body| body.file.get_ref().as_path());
        kept.chain(keep_out).chain(envelope)
    }

    /// Makes the paths of the files absolute, which are relative to `folder`.
    pub(super) fn make_absolute(&mut self, folder: &Path) {
        let envelope = match self.within.get_mut() {
            Within::Envelope(envelope) => Some(&mut envelope.file),
            Within::Around(_) => None,
        };
        let kept = self.kept.iter_mut().map(Spanned::get_mut);
        let keep_out = self.keep_out.iter_mut().map(|body| body.file.get_mut());
        for file in kept.chain(keep_out).chain(envelope) {
            if let Ok(absolute) = std::path::absolute(folder.join(&*file)) {
                *file = absolute;
            }
        }
    }

    /// Refuses two parts of one name, and a margin that nothing has.
    pub(super) fn check(&self, source: &Source) -> Option<Finding> {
        for (i, file) in self.kept.iter().enumerate() {
            let name = Self::name(file.get_ref());
            let is_twice = self.kept[..i].iter().any(|other| Self::name(other.get_ref()) == name);
            if is_twice || name == KEPT {
                let message = format!("two sets would have the name `{name}`");
                let finding = Finding::new(message).at(source, file.span(), "the second");
                return Some(finding.remedy(format!(
                    "rename the file: the elements of each part become a set of the name of its \
                     file, and those of all the set `{KEPT}`"
                )));
            }
        }
        let is_body = matches!(self.within.get_ref(), Within::Envelope(_));
        self.margin.as_ref().filter(|_| is_body).map(|margin| {
            Finding::new("a body in `within` has no `margin`")
                .at(source, margin.span(), "for \"box\" and \"hull\" only")
                .remedy("remove `margin`, or choose \"box\" or \"hull\"")
        })
    }
}
