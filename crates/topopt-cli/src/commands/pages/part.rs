//! Picture of the supports and loads of a part, from the arrays of the design.

use topopt_case::finding::Finding;
use topopt_report::{Load, Part};
use topopt_study::design_file::DesignFile;

use super::wording::{DIGITS, Units, vector};
use crate::commands::physics::Shown;

/// The part of the picture with supports and loads in the load cases `names`. A file without
/// forces, as one of heat, has no arrows.
///
/// # Errors
/// A file that cannot be read.
pub(in crate::commands) fn of<K: Shown<N>, const N: usize>(
    file: &DesignFile,
    names: &[&str],
    units: &Units,
) -> Result<Part, Finding> {
    let forces = file.forces(names)?;
    let load = |(name, forces): (&&str, Option<Vec<[f64; 3]>>)| {
        let forces = forces?;
        let name = legend(name, &forces, units);
        Some(Load { name, forces })
    };
    Ok(Part { marks: K::marks(file), loads: names.iter().zip(forces).filter_map(load).collect() })
}

fn legend(name: &str, forces: &[[f64; 3]], units: &Units) -> String {
    let total = |i: usize| forces.iter().map(|force| force[i]).sum::<f64>();
    let size: f64 = forces.as_flattened().iter().map(|force| force.abs()).sum();
    if size == 0.0 {
        return format!("load case {name}: no nodal forces, see Loads below");
    }
    // What is left of forces that cancel is rounding.
    let sum = [0, 1, 2].map(total).map(|f| if f.abs() <= 1e-9 * size { 0.0 } else { f });
    let sum = format!("{} {}", vector(sum, DIGITS), units.force);
    format!("load case {name}: forces add up to {}", sum.trim_end())
}
