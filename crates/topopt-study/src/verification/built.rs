//! The shape that is built, in numbers.

use serde::{Deserialize, Serialize};
use topopt_case::manufacturing::Made;
use topopt_case::model::Model;
use topopt_case::physics::Physics;
use topopt_case::tags::Tags;
use topopt_mesh::numbers::{place, shown};

use super::compared::Compared;
use super::measures::{Width, sorted_shares};
use super::shape::Shape;
use crate::summary::Summary;
use crate::surface_measures::thin_member;

/// The shape that is built, and what was optimized beside it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Built {
    /// Density at which the surface of the solid lies.
    pub threshold: f64,
    /// Volume of material, passive elements included.
    pub volume: Compared,
    /// Material besides that of passive elements, as a share of the design elements' volume.
    pub volume_fraction: Compared,
    /// The measure of non-discreteness of the optimized design \[Sigmund2007\],
    /// sum 4 rho (1 - rho) v / sum v over the design elements: 0 where all are solid or void.
    pub grey_level: f64,
    /// Shares of the solid's volume of its connected pieces, largest first.
    pub parts: Vec<f64>,
    /// Widths of the members; see [`Shape::widths`](topopt_surface::Shape::widths).
    pub smallest_member: Option<Width>,
    /// Widths of the gaps; see the same.
    pub smallest_gap: Option<Width>,
    /// Mean width of an element: what widths are uncertain by.
    pub element_width: f64,
    /// Measures of what `[[manufacturing]]` asks for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub made: Vec<Made>,
}

impl Built {
    /// Measures `shape` and compares it with the run's `summary`.
    pub(super) fn of<K: Physics<N>, const N: usize>(
        shape: &Shape,
        model: &Model<K, N>,
        tags: Option<&Tags>,
        summary: &Summary,
    ) -> Self {
        let [member, gap] = shape.widths;
        let width = |found| Width::of(found, tags);
        Self {
            threshold: shape.threshold,
            volume: shape.volume,
            volume_fraction: shape.volume_fraction,
            grey_level: summary.done.grey_level.unwrap_or(f64::NAN),
            parts: sorted_shares(shape.pieces.clone()),
            smallest_member: member.map(width),
            smallest_gap: gap.map(width),
            element_width: model.element_width,
            made: shape.made.clone(),
        }
    }

    /// Warns that the built part falls into pieces.
    pub(super) fn pieces(&self) -> Option<String> {
        let [largest, _, ..] = self.parts[..] else { return None };
        let (n, percent) = (self.parts.len(), shown((1e3 * largest).round() / 10.0));
        Some(format!(
            "the built part falls into {n} pieces, the largest of {percent} % of its volume"
        ))
    }

    /// Warns that a member is too thin for its elements.
    pub(super) fn thin_member(&self) -> Option<String> {
        let Width { width, element, at, .. } = self.smallest_member?;
        thin_member(width, self.element_width, &format!(", as at element {element}, {}", place(at)))
    }
}
