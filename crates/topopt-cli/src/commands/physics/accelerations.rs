//! Accelerations of free parts, for people and on pages.

use topopt_mesh::numbers::place;
use topopt_study::solved::{Inertia, SolvedCase};

use super::rows::Rows;
use crate::commands::pages::wording::{DIGITS, Units, of, place_text, vector};

/// Name and text of the lines on the accelerations of a free part.
pub(super) fn lines(of: &Inertia) -> [(String, String); 2] {
    let [linear, angular, center] =
        [of.acceleration, of.angular_acceleration, of.center_of_mass].map(place);
    [
        ("acceleration".into(), format!("{linear} of the center of mass {center}")),
        ("angular acceleration".into(), format!("{angular} in radians per time squared")),
    ]
}

/// Adds rows for the accelerations of a free part.
pub(super) fn add(rows: &mut Rows<SolvedCase>, units: &Units) {
    let inertia = |case: &SolvedCase, text: fn(&Inertia) -> String| {
        case.balance.inertia.as_ref().map_or_else(String::new, text)
    };
    let [linear, angular] = units.accelerations();
    rows.add(of("Acceleration of the center of mass", &linear), |case| {
        inertia(case, |of| {
            let at = place_text(of.center_of_mass);
            format!("{}\n{at}", vector(of.acceleration, DIGITS))
        })
    });
    rows.add(of("Angular acceleration", &angular), |case| {
        inertia(case, |of| vector(of.angular_acceleration, DIGITS))
    });
}
