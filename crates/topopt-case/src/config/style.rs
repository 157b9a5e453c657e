//! Values that `design.style` gives to keys that the user left out.

use super::{
    Changing, Config, Continuation, Course, FilterKind, Interpolation, Method, Optimizer,
    Projection, Quality, Style,
};
use crate::manufacturing;

/// With 0.01 the void alone counts 2.8 % grey at a volume fraction of 0.3, and takes 2 % of the volume.
const DENSITY_MIN: f64 = 1e-3;

/// Gives the keys that the user left out the values of the style, so that all that follows sees
/// plain values. A case without a word on the style is a crisp one, unless it names a filter that
/// no projection goes with, or a projection or stages of its own. A projection or a continuation of
/// the user's replaces that of the style as a whole; stages of the style are for its own projection
/// alone.
pub(super) fn resolve(config: &mut Config) {
    let filter = config.filter.get_ref();
    if filter.radius.is_none() && filter.radius_in_elements.is_none() {
        config.filter.get_mut().radius = manufacturing::radius(config);
    }
    if !config.gives("design.style") && has_own_way(config) {
        config.design.style = Style::Smooth;
    }
    if config.design.style == Style::Smooth {
        return;
    }

    if !config.gives("design.density_min") {
        config.design.density_min = DENSITY_MIN;
    }
    if !config.gives("filter.kind") {
        config.filter.get_mut().kind = FilterKind::Density;
    }
    match config.volume_bound().filter(|_| suits_falling_volume(config)) {
        Some(volume) => falling_volume(config, volume),
        None => doubling_sharpness(config),
    }
}

/// Whether the user says how the density comes about.
fn has_own_way(config: &Config) -> bool {
    let is_given = ["filter.kind", "projection", "continuation"].map(|key| config.gives(key));
    let [kind, projection, continuation] = is_given;
    kind && config.filter.get_ref().kind != FilterKind::Density || projection || continuation
}

/// Whether a run may begin nearly solid and lose material: for the least compliance of forces under
/// one limit of material, by an optimizer and stages that the user left open.
///
/// A sheet has little material from the start, and moves.
///
/// Heat of sources in elements that become empty has nowhere to go: a sink ended at 1.6e9, and with
/// a sharpness that doubles at 854.
fn suits_falling_volume(config: &Config) -> bool {
    let is_open = ["optimizer.method", "projection", "continuation"];
    config.only_stiffens()
        && !config.is_stamped()
        && config.design.interpolation == Interpolation::Simp
        && is_open.iter().all(|key| !config.gives(key))
}

/// Iterations of a run, until the volume is reached, until the surface becomes narrow, and until it
/// is made final.
const ITERATIONS: usize = 60;
const VOLUME_REACHED: usize = 22;
const NARROWING: usize = 25;
const FINISHING: usize = 50;
/// Iterations in which the surface becomes narrow, and of the last stage those until it is as
/// narrow as it becomes.
const NARROWED: usize = 10;
const FINISHED: usize = 8;

/// Factor of these numbers for better designs, and for those of less than that volume: their members
/// are about as thick as the filter's radius, and come off where the surface moves fast. A beam of
/// a tenth of its volume was torn in 60 iterations, also with small moves, and not in 240.
const SLOWLY: usize = 4;
const THIN: f64 = 0.15;

impl Config {
    /// The quality of crisp designs: the best where little may be filled.
    pub fn quality(&self) -> Quality {
        let is_thin = self.volume_bound().is_some_and(|volume| volume < THIN);
        if is_thin { Quality::Best } else { self.design.quality }
    }
}

/// Penalty of the stage in which the surface becomes narrow, and iterations of the last stage until
/// it has risen to that of the case: members of grey elements would come off at once.
const MOVING_PENALTY: f64 = 1.5;
const HARDENED: usize = 4;

/// Move limit of the last stage, in which the design settles.
const SETTLING: f64 = 0.03;

/// Stages of a design that loses material from nearly solid on, grey at first, then with a surface
/// that becomes narrow while the design still moves, and at last settles.
///
/// The penalty of 1.5 lets elements at the surface carry what they hold, so that it moves; with 3
/// it hardly does, and with 1 grey pays. Move limits fall at last since the surface would swing.
fn falling_volume(config: &mut Config, volume: f64) {
    let factor = match config.quality() {
        Quality::Usual => 1,
        Quality::Best => SLOWLY,
    };
    if !config.gives("optimizer.max_iterations") {
        let iterations = if config.has_sizes() { SEPARATED } else { ITERATIONS };
        config.optimizer.max_iterations = factor * iterations;
    }
    if !config.gives("optimizer.move_limit") {
        config.optimizer.move_limit = Optimizer::default().move_limit;
    }
    config.design.keep_symmetry.get_or_insert(true);
    config.projection = Some(Projection { sharpness: 1.0, threshold: 0.5 });

    let loose = config.solver.early_tolerance();
    let start = config.design.initial_volume_fraction.unwrap_or_else(|| start_volume(volume));
    config.design.initial_volume_fraction = Some(start);
    let falling = Continuation {
        from: 1,
        // By MMA printed plates come out up to 17 % more compliant; members of a least width, and
        // parts that are cast, the other way round.
        method: (config.is_printed() && !config.has_sizes()).then_some(Method::Oc),
        excess: changing(factor, (start / volume).max(1.0), 1.0, VOLUME_REACHED),
        tolerance: Some(Course::Constant(loose)),
        ..Continuation::default()
    };
    let later = match config.is_swept() {
        _ if config.has_sizes() => separating(config, factor),
        true => sharpening(config, factor),
        false => narrowing(config, factor),
    };
    config.continuation = std::iter::once(falling).chain(later).collect();
}

fn changing(factor: usize, start: f64, end: f64, over: usize) -> Option<Course> {
    Some(Course::Changing(Changing { start, end, over: factor * over }))
}

/// Iterations of a sharpness that is twice the one before.
const SHARPENED: usize = 5;

/// Stages in which the projection of a part that is printed, cast or milled becomes sharper. A
/// surface of a given width would not do: a member that nothing holds up decays to half before that
/// shows, and its mean over corners holds the next one up.
fn sharpening(config: &Config, factor: usize) -> Vec<Continuation> {
    (0..N_STAGES).map(|i| sharper(config, factor, i)).collect()
}

fn sharper(config: &Config, factor: usize, i: usize) -> Continuation {
    let [loose, tight] = [config.solver.early_tolerance(), config.solver.tolerance];
    let is_last = i + 1 == N_STAGES;
    // Moves of 0.05, or a penalty of 1.5 at first, leave some printed designs grey, and a third of
    // them is lost; by MMA their volume swings at the last sharpness.
    let (method, move_limit) = match (config.is_printed(), i) {
        (true, 0) => (Some(Method::Mma), None),
        (true, _) if is_last => (Some(Method::OcAdaptive), Some(SETTLING)),
        (false, 0) => (Some(Method::Mma), Some(MOVE_LIMIT)),
        _ => (None, None),
    };
    Continuation {
        from: 1 + factor * (NARROWING + i * SHARPENED),
        sharpness: Some((2 << i) as f64),
        method,
        move_limit,
        tolerance: changing(factor, loose, tight, SHARPENED).filter(|_| is_last),
        ..Continuation::default()
    }
}

/// Iterations of a run for members and gaps of a least width, and the first ones, counted from 0,
/// and sharpnesses of its stages.
const SEPARATED: usize = 90;
const SEPARATING: [(usize, f64); 4] = [(25, 8.0), (45, 16.0), (65, 32.0), (80, 64.0)];

/// Stages for members and gaps of a least width, whose thresholds move apart as the projection
/// becomes sharper. The thinner design then loses members that are thin, and others have to become
/// thick before it falls apart: stages of 5 iterations, or moves of 0.05, do not let them, nor
/// does a penalty that comes late. Volumes at the last sharpness swing by MMA.
fn separating(config: &Config, factor: usize) -> Vec<Continuation> {
    (0..SEPARATING.len()).map(|i| separated(config, factor, i)).collect()
}

fn separated(config: &Config, factor: usize, i: usize) -> Continuation {
    let [loose, tight] = [config.solver.early_tolerance(), config.solver.tolerance];
    let (from, sharpness) = SEPARATING[i];
    let is_last = i + 1 == SEPARATING.len();
    let method = if is_last { Method::OcAdaptive } else { Method::Mma };
    Continuation {
        from: 1 + factor * from,
        sharpness: Some(sharpness),
        method: (i == 0 || is_last).then_some(method),
        move_limit: is_last.then_some(SETTLING),
        tolerance: changing(factor, loose, tight, SHARPENED).filter(|_| is_last),
        ..Continuation::default()
    }
}

/// Stages in which the surface becomes narrow, and settles.
fn narrowing(config: &Config, factor: usize) -> Vec<Continuation> {
    let changing = |start, end, over| changing(factor, start, end, over);
    let loose = config.solver.early_tolerance();
    let penalty = config.design.penalty;
    let moving = MOVING_PENALTY.min(penalty);
    vec![
        Continuation {
            from: 1 + factor * NARROWING,
            penalty: Some(Course::Constant(moving)),
            half_width: changing(3.0, 0.55, NARROWED),
            method: Some(Method::Mma),
            ..Continuation::default()
        },
        Continuation {
            from: 1 + factor * FINISHING,
            penalty: changing(moving, penalty, HARDENED),
            tolerance: changing(loose, config.solver.tolerance, FINISHED),
            half_width: changing(0.55, 0.1, FINISHED),
            method: Some(Method::OcAdaptive),
            move_limit: Some(SETTLING),
            ..Continuation::default()
        },
    ]
}

impl Config {
    /// Leaves out that a style begins with more material than its limit, for a run that starts from
    /// a design.
    pub fn begin_at_limit(&mut self) {
        if self.gives("continuation") || self.gives("design.initial_volume_fraction") {
            return;
        }
        let excess = self.continuation.first_mut().and_then(|first| first.excess.take());
        if excess.is_some() {
            self.design.initial_volume_fraction = self.volume_bound();
        }
    }
}

/// Volume from which a run falls to the share `volume`: nearly all, but at most 6.4 % more in each
/// of 22 iterations, since what goes faster leaves pieces behind.
fn start_volume(volume: f64) -> f64 {
    (3.88 * volume).min(0.97).max(volume)
}

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

/// Stages of a growing sharpness, for problems in which material is not only a cost.
fn doubling_sharpness(config: &mut Config) {
    let is_left_out = |key: &str| !config.gives(key);
    let [move_limit, max_iterations, projection, continuation] =
        ["optimizer.move_limit", "optimizer.max_iterations", "projection", "continuation"]
            .map(is_left_out);

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
        config.continuation = (0..N_STAGES).map(|i| doubled(config, i)).collect();
    }
}

/// Stage of a sharpness of 2, 4, ... 64.
///
/// Densities go from void to solid over about 1 / sharpness of a variable. Where limits of states
/// hold the material, moves are not longer: MMA would not see what lies beyond, members would go
/// at once, and their displacements hide what else it takes. Longer moves carry a sheet past where
/// it is.
fn doubled(config: &Config, i: usize) -> Continuation {
    let sharpness = (2 << i) as f64;
    let move_limit = Some(1.0 / sharpness);
    let is_careful = config.limits_states() || config.is_stamped();
    let is_shorter = |limit: &f64| *limit < config.optimizer.move_limit;
    Continuation {
        from: FIRST_STAGE + i * STAGE_LENGTH,
        sharpness: Some(sharpness),
        move_limit: move_limit.filter(|limit| is_careful && is_shorter(limit)),
        ..Continuation::default()
    }
}
