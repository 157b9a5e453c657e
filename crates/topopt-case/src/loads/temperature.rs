//! Temperatures that elements expand with.

use super::kind::{LoadKey, LoadKind, Place, Shape};

/// The load `temperature`.
pub(super) const TEMPERATURE: LoadKind = LoadKind::new(
    &[
        LoadKey::new(
            "temperature",
            Shape::Temperature,
            "Temperature of the elements or nodes of the set; elements expand by the \
             `thermal_expansion` of their material: a number, an expression in x, y and z, or \
             `{ file = \"heat.toml\" }`, that of a thermal case; without `set` of all that no other one \
             of the load case names.",
        ),
        LoadKey {
            alone: ["of what?", "which it is subtracted from"],
            ..LoadKey::new(
                "reference_temperature",
                Shape::Number,
                "Temperature at which there is no thermal strain, with `temperature`; 0 by \
                 default.",
            )
        },
    ],
    " (of elements that expand)",
    Place::Elements,
    |_, _, _| vec![],
);
