//! Amounts of the full part beside those of the design.

use topopt_report::{Table, number};
use topopt_study::design_file::DesignFile;
use topopt_study::summary::Summary;
use topopt_study::verification::Compared;

use crate::commands::pages::wording::{DIGITS, Units};

/// Volume, and where all of the part is of one material with a mass density, mass; `found`: the
/// volumes of a verification.
pub(super) fn table(
    file: &DesignFile,
    found: Option<Compared>,
    summary: &Summary,
    units: &Units,
) -> Table {
    let volumes = file.mesh.volumes();
    let full: f64 = volumes.iter().sum();
    let grey = || file.density.iter().zip(&volumes).map(|(density, v)| density * v).sum();
    let design: f64 = found.map_or_else(grey, |volume| volume.verified);

    let cubic = if units.length.is_empty() { "" } else { "\u{b3}" };
    let volume =
        |v: f64| format!("{} {}{cubic}", number(v, DIGITS), units.length).trim_end().into();
    let saved = format!("{} %", number(100.0 * (1.0 - design / full), DIGITS));
    let mut rows = vec![vec!["Volume".into(), volume(full), volume(design), saved.clone()]];
    rows.extend(density(summary).map(|density| {
        vec!["Mass".into(), units.mass(density * full), units.mass(density * design), saved]
    }));
    let columns = ["", "Full part", "Design", "Saved"].map(String::from).to_vec();
    Table { columns, rows }
}

/// The mass density of the only material.
fn density(summary: &Summary) -> Option<f64> {
    let [material] = &summary.materials[..] else { return None };
    material
        .mass_density
        .filter(|density| density.least == density.most)
        .map(|density| density.least)
}
