//! Design settings of a run, as `topopt check` reports them.

use std::path::PathBuf;

use serde::Serialize;
use topopt_case::config::{
    Changing, Config, Continuation, Course, FilterKind, FilterWeights, PhysicsKind, Projection,
};
use topopt_case::model::Model;
use topopt_mesh::numbers::shown;
use topopt_study::duration::Duration;
use topopt_study::failure::Failure;
use topopt_study::output_folder;
use topopt_study::place::Place;
use topopt_study::studied::Studied;

/// The design that is sought, and how.
#[derive(Debug, Serialize)]
pub(super) struct Designed {
    design_volume: f64,
    /// Share of the design volume that material may fill, where that has a limit.
    volume_fraction: Option<f64>,
    /// Share of the design volume that material fills at the start.
    initial_volume_fraction: f64,
    /// Objective, in words.
    objective: String,
    /// Limits of `[[constraints]]`, in words.
    limits: Vec<String>,
    filter: FilterKind,
    filter_weights: FilterWeights,
    filter_radius: Option<f64>,
    projection: Option<Projection>,
    /// Settings that change in the course of the run.
    continuation: Vec<Continuation>,
    max_iterations: usize,
    #[serde(skip)]
    element_width: f64,
    time: Duration,
    output_directory: PathBuf,
    replaces_results: bool,
}

impl Designed {
    pub fn of<K: Studied<N>, const N: usize>(
        config: &Config,
        model: &Model<K, N>,
        place: &Place,
    ) -> Result<Self, Failure> {
        Ok(Self {
            design_volume: model.space.design_volume(),
            volume_fraction: config.volume_bound(),
            initial_volume_fraction: model.space.initial_volume_fraction,
            objective: model.posed.goal(),
            limits: model.posed.limits().collect(),
            filter: config.filter.get_ref().kind,
            filter_weights: config.filter.get_ref().weights,
            filter_radius: model.filter.radius(),
            projection: config.projection.clone(),
            continuation: config.continuation.clone(),
            max_iterations: config.optimizer.max_iterations,
            element_width: model.element_width,
            time: K::duration(config, model, place)?,
            replaces_results: output_folder::holds_results(&config.output_directory()),
            output_directory: config.output_directory(),
        })
    }

    /// Name and text of the lines on the design.
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        let mut rows = vec![("material", self.material_text())];
        if self.objective != USUAL {
            rows.push(("objective", self.objective.clone()));
        }
        rows.extend(self.limits.iter().map(|limit| ("limit", limit.clone())));

        rows.push(("filter", self.filter_text()));
        rows.extend(self.projection.iter().map(|Projection { sharpness, threshold }| {
            let (sharpness, threshold) = (shown(*sharpness), shown(*threshold));
            ("projection", format!("sharpness {sharpness}, threshold {threshold}"))
        }));
        rows.extend(self.continuation.iter().map(|stage| ("stage", stage_text(stage))));
        rows.push(("iterations", format!("at most {}", self.max_iterations)));
        rows
    }

    /// Name and text of the lines on the time of a run and its results.
    pub fn outlook(&self) -> [(&'static str, String); 2] {
        [("time", self.time.text()), ("results", self.results_text())]
    }

    fn results_text(&self) -> String {
        let replaced = if self.replaces_results {
            ", which already holds results: give --overwrite or --resume"
        } else {
            ""
        };
        format!("{}{replaced}", self.output_directory.display())
    }

    fn material_text(&self) -> String {
        let (start, volume) = (self.initial_volume_fraction, shown(self.design_volume));
        match self.volume_fraction {
            Some(share) if share == start => {
                format!("{} of the design volume {volume}", shown(share))
            }
            Some(share) => format!(
                "at most {} of the design volume {volume}, {} at the start",
                shown(share),
                shown(start)
            ),
            None => format!("{} of the design volume {volume} at the start", shown(start)),
        }
    }

    fn filter_text(&self) -> String {
        let name = match self.filter {
            FilterKind::Sensitivity => "sensitivity",
            FilterKind::SensitivityUnweighted => "sensitivity_unweighted",
            FilterKind::Density => "density",
            FilterKind::None => "none",
        };
        self.filter_radius.map_or(name.into(), |radius| {
            let (widths, radius) = (shown(radius / self.element_width), shown(radius));
            let weights = match self.filter_weights {
                FilterWeights::Cone => "",
                FilterWeights::Helmholtz => " by a Helmholtz equation",
            };
            format!("{name}{weights}, radius {radius} ({widths} element widths)")
        })
    }
}

/// The objective where the case does not say.
const USUAL: &str = "minimize compliance";

/// Describes the changes of a stage, by the keys of the case file.
fn stage_text(stage: &Continuation) -> String {
    let constant = |value: Option<f64>| value.map(Course::Constant);
    let changes = [
        ("penalty", stage.penalty),
        ("filter_radius", constant(stage.filter_radius)),
        ("filter_radius_in_elements", constant(stage.filter_radius_in_elements)),
        ("sharpness", constant(stage.sharpness)),
        ("half_width", stage.half_width),
        ("excess", stage.excess),
        ("move_limit", constant(stage.move_limit)),
        ("tolerance", stage.tolerance),
    ];
    let changing = |(key, course): (&str, Option<Course>)| Some(course_text(key, course?));
    let method = stage.method.map(|method| format!("method {}", method.name()));
    let there: Vec<_> = changes.into_iter().filter_map(changing).chain(method).collect();
    format!("from iteration {}: {}", stage.from, there.join(", "))
}

/// Describes a value that may change from iteration to iteration.
fn course_text(key: &str, course: Course) -> String {
    match course {
        Course::Constant(value) => format!("{key} {}", shown(value)),
        Course::Changing(Changing { start, end, over }) => {
            format!("{key} from {} to {} in {over} iterations", shown(start), shown(end))
        }
    }
}

/// Whether a case is one for `topopt run`, and not for `topopt solve` alone.
pub(super) fn is_designed(config: &Config) -> bool {
    let has_filter = config.physics.kind == PhysicsKind::Elasticity && config.gives("filter");
    config.gives("design") || has_filter
}
