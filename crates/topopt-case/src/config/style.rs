//! Values that `design.style` gives to keys that the user left out.

use super::{Config, Continuation, FilterKind, Projection, Style};

/// With 0.01 the void alone counts 2.8 % grey at a volume fraction of 0.3, and takes 2 % of the volume.
const DENSITY_MIN: f64 = 1e-3;

/// With 0.2 projected designs oscillate.
const MOVE_LIMIT: f64 = 0.05;

/// Some designs swing between two shapes that differ by a thousandth of the compliance, and never
/// stop by a tolerance; of the others none took more than 84.
const MAX_ITERATIONS: usize = 120;

/// Iteration at which the first stage begins, iterations per stage, and number of stages. The
/// first holds the sharpness 2, each other twice that of the one before it.
const FIRST_STAGE: usize = 21;
const STAGE_LENGTH: usize = 12;
const N_STAGES: usize = 6;

/// Gives the keys that the user left out the values of the style, so that all that follows sees
/// plain values. A projection or a continuation of the user's replaces that of the style as a
/// whole; stages of the style are for its own projection alone.
pub(super) fn resolve(config: &mut Config) {
    if config.design.style == Style::Smooth {
        return;
    }

    let is_left_out = |key: &str| !config.gives(key);
    let [density_min, kind, move_limit, max_iterations, projection, continuation] = [
        "design.density_min",
        "filter.kind",
        "optimizer.move_limit",
        "optimizer.max_iterations",
        "projection",
        "continuation",
    ]
    .map(is_left_out);

    if density_min {
        config.design.density_min = DENSITY_MIN;
    }
    if kind {
        config.filter.get_mut().kind = FilterKind::Density;
    }
    if move_limit {
        config.optimizer.move_limit = MOVE_LIMIT;
    }
    // Stages of the user's may begin later.
    if max_iterations && continuation {
        config.optimizer.max_iterations = MAX_ITERATIONS;
    }
    if projection {
        config.projection = Some(Projection { sharpness: 1.0, threshold: 0.5 });
    }
    if projection && continuation {
        config.continuation = stages();
    }
}

/// A sharpness of 2, 4, ... 64.
fn stages() -> Vec<Continuation> {
    let stage = |i: usize| Continuation {
        from: FIRST_STAGE + i * STAGE_LENGTH,
        penalty: None,
        filter_radius: None,
        filter_radius_in_elements: None,
        sharpness: Some((2 << i) as f64),
        tolerance: None,
    };
    (0..N_STAGES).map(stage).collect()
}
