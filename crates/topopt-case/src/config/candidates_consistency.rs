//! Consistency of `[[candidates]]`.

use topopt_mesh::numbers::shown;

use super::{Config, number};
use crate::finding::Finding;
use crate::responses::kind;

/// Everything about `[[candidates]]` that does not fit together.
pub(super) fn candidates(config: &Config) -> Vec<Finding> {
    if config.candidates.is_empty() {
        return Vec::new();
    }
    let mut findings: Vec<Finding> = numbers(config).into_iter().collect();
    let all = config.span("candidates");
    let misfits = MISFITS.iter().filter(|(has, ..)| has(config));
    findings.extend(misfits.map(|(_, key, message, remedy)| {
        let span = if config.gives(key) { config.span(key) } else { all.clone() };
        Finding::new(*message).at(config.source(), span, "beside [[candidates]]").remedy(*remedy)
    }));
    findings
}

/// Numbers that are missing, and materials whose lighter one is not the softer one.
fn numbers(config: &Config) -> Option<Finding> {
    let at = |i: usize, message: &str, remedy: &str| {
        let span = config.span(&format!("candidates.{i}"));
        Some(Finding::new(message).at(config.source(), span, "here").remedy(remedy))
    };
    let Some(mass_density) = number(config.material.mass_density.as_ref()) else {
        let remedy = "add `mass_density = ...`, a number, to [material]";
        return at(0, "[[candidates]] need the mass of [material]", remedy);
    };
    let mut all = Vec::new();
    for (i, candidate) in config.candidates.iter().enumerate() {
        let Some([modulus, mass]) = candidate.numbers() else {
            let message = "a candidate without `youngs_modulus` or `mass_density`";
            return at(i, message, "give both, or the `name` of a material in a case with [units]");
        };
        all.push((mass, modulus, i));
    }

    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let solid = (mass_density, config.material.youngs_modulus);
    let heavier = all.iter().skip(1).map(|(mass, modulus, _)| (*mass, *modulus)).chain([solid]);
    let (light, heavy) = all
        .iter()
        .zip(heavier)
        .find(|((mass, modulus, _), (more, stiffer))| mass >= more || modulus >= stiffer)?;
    let message = format!(
        "a material of modulus {} and mass {} beside one of {} and {}: the lighter one is not the \
         softer one",
        shown(light.1),
        shown(light.0),
        shown(heavy.1),
        shown(heavy.0)
    );
    let remedy = "leave the worse one out; [material] is the heaviest and stiffest";
    at(light.2, &message, remedy)
}

/// Whether a case has something that does not go with candidates, its key, message and remedy.
type Misfit = (fn(&Config) -> bool, &'static str, &'static str, &'static str);

const MISFITS: [Misfit; 7] = [
    (
        |config| !config.physics.kind.data().has_forces,
        "physics",
        "[[candidates]] in another physics than elasticity",
        "place materials by [[materials]]",
    ),
    (
        |config| !config.materials.is_empty(),
        "materials",
        "[[candidates]] besides materials of element sets",
        "remove [[materials]], or the candidates",
    ),
    (
        |config| !config.material.laws().is_empty(),
        "material",
        "[[candidates]] beside a material with a direction",
        "give [material] Young's modulus and Poisson's ratio alone",
    ),
    (
        Config::has_temperatures,
        "loads",
        "[[candidates]] under temperatures: what expands would depend on the design",
        "remove the temperatures, or place materials by [[materials]]",
    ),
    (
        limits_volume,
        "design.volume_fraction",
        "[[candidates]] with a response of the volume: a heavy and a light material count alike in it",
        "ask for the mass, as by [[constraints]] with `response = \"mass\"` and `at_most`",
    ),
    (
        has_surface_of_its_own,
        "projection",
        "[[candidates]] with a surface of a given width, or a threshold",
        "leave out `half_width` and `threshold`: thresholds are halfway between the materials",
    ),
    (
        |config| config.has_sizes() || config.is_swept(),
        "manufacturing",
        "[[candidates]] with members of a least width, `overhang`, `casting`, `milling` or `open_voids`",
        "remove that entry of [[manufacturing]]",
    ),
];

/// Whether the volume is minimized, or has a limit.
fn limits_volume(config: &Config) -> bool {
    config.design.volume_fraction.is_some() || config.responses().any(|asked| kind(asked).is_share)
}

/// Whether the projection is another one than that between each two materials.
fn has_surface_of_its_own(config: &Config) -> bool {
    let has_threshold = config.projection.iter().any(|projection| projection.threshold != 0.5);
    config.has_half_width() || has_threshold
}
