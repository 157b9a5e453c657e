//! Loads on the mass of the whole part.

use super::kind::{LoadKey, LoadKind, OnMass, Place, Shape};
use crate::case_loads::Rotation;

/// The load `gravity`.
pub(super) const GRAVITY: LoadKind = LoadKind {
    on_mass: |load| load.vector("gravity").map(OnMass::Gravity),
    ..LoadKind::new(
        &[LoadKey::new(
            "gravity",
            Shape::Vector,
            "Acceleration [x, y, z] of the whole part by gravity; its weight follows the density.",
        )],
        " (on the whole part)",
        Place::WholePart("gravity"),
        |_, _, _| vec![],
    )
};

/// The load `angular_velocity`.
pub(super) const ANGULAR_VELOCITY: LoadKind = LoadKind {
    on_mass: |load| {
        let angular_velocity = load.vector("angular_velocity")?;
        let center = load.vector("center").unwrap_or_default();
        Some(OnMass::Rotation(Rotation { angular_velocity, center }))
    },
    ..LoadKind::new(
        &[
            LoadKey::new(
                "angular_velocity",
                Shape::Vector,
                "Angular velocity [x, y, z] of the whole part in radians per time, for its \
                 centrifugal force, which follows the density.",
            ),
            LoadKey {
                alone: ["center of what?", "which turns about it; a force at a point has `at`"],
                ..LoadKey::new(
                    "center",
                    Shape::Vector,
                    "A point [x, y, z] on the axis of `angular_velocity`; by default the origin.",
                )
            },
        ],
        " (on the whole part)",
        Place::WholePart("a rotation"),
        |_, _, _| vec![],
    )
};
