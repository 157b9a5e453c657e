//! Whether the surface of a design is that of the design.

use topopt_case::finding::Finding;
use topopt_mesh::numbers::shown;
use topopt_surface::{Shaping, Solid};

use crate::design_file::DesignFile;

/// Largest relative difference of volumes that passes as kept.
const VOLUME_TOLERANCE: f64 = 5e-3;

/// Share of an element up to which a surface leaves it out, and the largest share of the material
/// in such elements. Of 70 light designs it was up to 4.4 % in those that are at most twice as
/// compliant as built, and 5.1 to 9.2 % in five that are 3 to 195 times as compliant or have no path.
const LEFT_OUT: f64 = 0.1;
const MOST_LOST: f64 = 0.05;

impl DesignFile {
    /// Whether `solid`, with its threshold `given` or found, is that of the design.
    ///
    /// # Errors
    /// A solid that is empty or the whole part; a volume that no threshold keeps; a design that has
    /// fallen apart.
    pub fn check(&self, solid: &Solid, given: Option<f64>) -> Result<(), Finding> {
        let volume = self.volume();
        if !solid.is_cut() {
            return Err(self.all_or_nothing(given));
        }
        let is_kept = (solid.volume() / volume - 1.0).abs() <= VOLUME_TOLERANCE;
        if given.is_some() {
            return Ok(());
        }
        if is_kept {
            return self.fallen_apart(solid).map_or(Ok(()), Err);
        }

        if let Some(undercut) = self.undercut() {
            return Err(undercut);
        }
        let [least, most] = self.range();
        let message = format!(
            "no threshold keeps the volume {} of {}: the nearest, {:.4}, gives {}; much of the \
             density has a single value",
            shown(volume),
            self.path.display(),
            solid.threshold(),
            shown(solid.volume())
        );
        Err(Finding::new(message).remedy(format!(
            "run more iterations, or give `--threshold` between {} and {}",
            shown(least),
            shown(most)
        )))
    }

    /// A finding on a `solid` that leaves out much of the design: members thinner than elements,
    /// and pieces as small, or what fills its undercuts. The others make up for their volume, and
    /// are another design.
    pub fn fallen_apart(&self, solid: &Solid) -> Option<Finding> {
        let ([_, most], shares) = (self.range(), solid.shares());
        let of_element = |((density, share), volume): ((&f64, &f64), f64)| {
            let is_lost = *density > 0.5 * most && *share < LEFT_OUT;
            if is_lost { density * volume } else { 0.0 }
        };
        let elements = self.density.iter().zip(shares).zip(self.mesh.volumes());
        let lost = elements.map(of_element).sum::<f64>() / self.volume();
        (lost > MOST_LOST).then(|| self.undercut().unwrap_or_else(|| self.in_small_pieces(lost)))
    }

    /// Builds the finding on a design with that share of its material too small for a surface.
    fn in_small_pieces(&self, share: f64) -> Finding {
        let message = format!(
            "{} has fallen apart: {} % of its material is in members and pieces too small for the \
             surface, which the others make up for",
            self.path.display(),
            percent(share)
        );
        Finding::new(message).remedy(
            "optimize with a larger `volume_fraction`, a finer mesh or more iterations; with \
             `--threshold` the surface is that of a density, as it is",
        )
    }

    /// A finding on a design that is undercut along the way out of its mold, as solid and void
    /// elements may make it: its surface is filled there, and keeps the volume at a density that
    /// few elements or none have.
    fn undercut(&self) -> Option<Finding> {
        self.draw.as_ref()?;
        let [_, most] = self.range();
        let shaping = Shaping { threshold: Some(0.5 * most), ..Shaping::default() };
        let filled = self.uncut(&shaping).ok()?.solid.volume() / self.volume() - 1.0;
        (filled > MOST_LOST).then(|| {
            let message = format!(
                "{} is undercut along the way out of the mold: what fills the undercuts on the \
                 surface takes {} % of the volume of the design",
                self.path.display(),
                percent(filled)
            );
            Finding::new(message).remedy(
                "void lies behind what stays solid: choose `solid`, `void` or the direction \
                 otherwise; with `--threshold` the surface is that of a density, undercuts filled",
            )
        })
    }

    /// Smallest and largest density.
    fn range(&self) -> [f64; 2] {
        self.density.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], &density| {
            [low.min(density), high.max(density)]
        })
    }

    /// Without a threshold `given`, that which keeps the volume is the least density of all.
    fn all_or_nothing(&self, given: Option<f64>) -> Finding {
        let ([least, most], path) = (self.range(), self.path.display());
        let Some(threshold) = given else {
            return match least < most {
                true => Finding::new(format!(
                    "all of {path} is solid: the densities are from {} to {}, and their volume \
                     is that of the whole part",
                    shown(least),
                    shown(most)
                ))
                .remedy(
                    "optimize for a smaller `volume_fraction`; the surface of the whole part is \
                     that of its mesh",
                ),
                false => Finding::new(format!("all of {path} has the density {}", shown(least)))
                    .remedy("a uniform density has no surface: run more iterations"),
            };
        };

        let what = if threshold > most { "nothing" } else { "everything" };
        let threshold = shown(threshold);
        Finding::new(format!("the threshold {threshold} keeps {what} of {path}")).remedy(format!(
            "the densities are from {} to {}: choose a threshold between, or leave \
             out `--threshold` to keep the volume",
            shown(least),
            shown(most)
        ))
    }
}

/// A share in percent, to a tenth.
fn percent(share: f64) -> String {
    shown((1e3 * share).round() / 10.0)
}
