//! What a surface is worth: whether it is closed, its pieces, widths and roughness.

use topopt_mesh::numbers::shown;
use topopt_surface::{Roughness, Shape, Topology, Widths};

use crate::design_file::DesignFile;
use crate::part_file::PartFile;

/// Measures of the surface of a design.
#[derive(Debug, Clone, PartialEq)]
pub struct SurfaceMeasures {
    /// Pairs of triangles that cross.
    pub crossings: usize,
    /// Pieces, cavities and handles of the surface, and of the design before it was made smooth.
    pub topology: [Topology; 2],
    /// Volume inside.
    pub volume: f64,
    /// Widths of the members, and of the gaps, besides at elements with a fixed density.
    pub widths: [Option<Widths>; 2],
    /// Bends of the edges.
    pub roughness: Roughness,
    /// Width of an element.
    pub element_width: f64,
    /// Whether the surface of the part is that of its geometry.
    pub is_exact: bool,
}

impl SurfaceMeasures {
    /// Measures the surface of `shape`, which is that of the design in `file` within a `part`.
    pub fn of(shape: &Shape, part: &PartFile, file: &DesignFile) -> Self {
        let surface = &shape.surface;
        let (widths, roughness) = rayon::join(
            || shape.widths(&file.mesh, &file.is_passive()),
            || shape.roughness(&part.part),
        );
        Self {
            crossings: shape.crossings.len(),
            topology: [surface.topology(), shape.level_set],
            volume: surface.volume(),
            widths,
            roughness,
            element_width: file.mesh.element_width(),
            is_exact: part.is_exact,
        }
    }

    /// Names and values, a line each.
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        let [Topology { pieces, cavities, genus }, before] = self.topology;
        let crossings = match self.crossings {
            0 => "closed, without crossings".into(),
            n => format!("closed, {n} pairs of triangles cross"),
        };
        let changed = if self.topology[0] == before {
            String::new()
        } else {
            let Topology { pieces, cavities, genus } = before;
            format!("; before smoothing {pieces}, {cavities} and {genus}")
        };
        let [members, gaps] = self.widths.map(|widths| self.width(widths));
        let Roughness { edge, bent, steep, near, on_part, deviation, .. } = self.roughness;
        let percent = |share: f64| shown((1e4 * share).round() / 100.0);
        let end = if self.is_exact { "its geometry" } else { "its mesh" };
        vec![
            ("surface", crossings),
            ("pieces, cavities, handles", format!("{pieces}, {cavities}, {genus}{changed}")),
            ("members", members),
            ("gaps", gaps),
            (
                "edges bent by 10 to 45\u{b0}",
                format!(
                    "{} %, by more {} %, near the part {} %, on it {} %, at edges of {} elements",
                    percent(bent),
                    percent(steep),
                    percent(near),
                    percent(on_part),
                    percent(edge / self.element_width / 100.0)
                ),
            ),
            ("deviation of normals", format!("{deviation:.2}\u{b0}")),
            ("the part ends at", end.into()),
        ]
    }

    /// Warns of members that are too thin for their elements.
    pub fn thin_member(&self) -> Option<String> {
        let [members, _] = self.widths;
        thin_member(members?.first_percentile, self.element_width, "")
    }

    fn width(&self, widths: Option<Widths>) -> String {
        widths.map_or("none".into(), |Widths { first_percentile, median, .. }| {
            let elements = first_percentile / self.element_width;
            format!(
                "1 % up to {} wide ({elements:.1} elements), half up to {}",
                shown(first_percentile),
                shown(median)
            )
        })
    }
}

/// Warns of members that are less wide than elements of the `element_width`, at a place in words.
pub(crate) fn thin_member(width: f64, element_width: f64, place: &str) -> Option<String> {
    (width < element_width).then(|| {
        format!(
            "the thinnest members are {} wide, less than an element ({}){place}: they may be much \
             softer than computed, and a finer mesh tells",
            shown(width),
            shown(element_width)
        )
    })
}
