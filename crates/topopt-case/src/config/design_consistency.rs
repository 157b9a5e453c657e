//! Consistency of the tables of the design and of its optimization.

use super::{Config, Continuation, FilterKind, Style, making};
use crate::finding::Finding;
use crate::manufacturing;

/// Everything about the design that does not fit together.
pub(super) fn design(config: &Config) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(filter(config));
    findings.extend(projection(config));
    findings.extend(style(config));
    findings.extend(continuation(config));
    findings.extend(volume_fraction(config));
    findings.extend(initial_volume_fraction(config));
    findings.extend(keep_symmetry(config));
    findings.extend(making::check(config));
    findings.extend(manufacturing::misused(config));
    findings
}

fn filter(config: &Config) -> Option<Finding> {
    let filter = config.filter.get_ref();
    let message = match (filter.kind, filter.radius, filter.radius_in_elements) {
        (_, Some(_), Some(_)) => "[filter] has both `radius` and `radius_in_elements`",
        (kind, None, None) if kind != FilterKind::None => "[filter] has no radius",
        _ => return None,
    };
    Some(Finding::new(message).at(config.source(), config.filter.span(), "this table").remedy(
        "give either `radius` (a length) or `radius_in_elements` (in element widths); 1.5 to 3 \
         element widths are usual",
    ))
}

fn projection(config: &Config) -> Option<Finding> {
    // With a style the projection need not be the user's.
    let is_wrong = config.projection.is_some()
        && config.design.style == Style::Smooth
        && config.filter.get_ref().kind != FilterKind::Density;
    is_wrong.then(|| {
        Finding::new("[projection] without the density filter")
            .at(config.source(), config.span("projection"), "projects filtered densities")
            .remedy("add `kind = \"density\"` to [filter], or remove [projection]")
    })
}

/// Refuses keys beside `style = "crisp"` that rule out a crisp design; others override the style.
fn style(config: &Config) -> Option<Finding> {
    if config.design.style == Style::Smooth {
        return None;
    }

    let finding = |message: &str, key: &str, label: &str, remedy: &str| {
        let finding = Finding::new(message).at(config.source(), config.span(key), label);
        Some(finding.remedy(remedy))
    };
    if config.filter.get_ref().kind != FilterKind::Density {
        return finding(
            "`design.style = \"crisp\"` without the density filter",
            "filter.kind",
            "another filter",
            "remove `kind` from [filter], or write `kind = \"density\"`; or remove `style`",
        );
    }

    let later = config.continuation.iter().filter_map(|stage| stage.sharpness);
    let first = config.projection.iter().map(|projection| projection.sharpness);
    let sharpest = first.chain(later).fold(0.0, f64::max);
    if sharpest <= 1.0 && !config.has_half_width() {
        return finding(
            "`design.style = \"crisp\"` with a projection that stays nearly linear",
            "design.style",
            "needs a sharpness above 1",
            "raise `sharpness` in stages of [[continuation]], up to 32 or 64; or remove \
             [projection] and [[continuation]], and the style has its own",
        );
    }
    None
}

fn continuation(config: &Config) -> Vec<Finding> {
    let finding = |(i, entry): (usize, &Continuation)| {
        let (key, message, label, remedy) = check_entry(config, i, entry).err()?;
        let span = config.span(&format!("continuation.{i}.{key}"));
        Some(Finding::new(message).at(config.source(), span, label).remedy(remedy))
    };
    config.continuation.iter().enumerate().filter_map(finding).collect()
}

/// Key, message, label and remedy.
type Misplaced = (&'static str, &'static str, &'static str, &'static str);

/// Whether entry `i` of the continuation stands in order and changes what there is.
fn check_entry(config: &Config, i: usize, entry: &Continuation) -> Result<(), Misplaced> {
    let radius = radius_key(entry)?;
    if i > 0 && entry.from <= config.continuation[i - 1].from {
        return Err((
            "from",
            "the entries of [[continuation]] are not in the order of their iterations",
            "not later than the previous entry",
            "sort the entries by `from`, and merge those of the same iteration",
        ));
    }
    if let Some(key) = radius
        && config.filter.get_ref().kind == FilterKind::None
    {
        let message = "[[continuation]] changes a filter that does not exist";
        let remedy = "set `filter.kind` and an initial radius, or remove the key";
        return Err((key, message, "no filter", remedy));
    }
    if entry.sharpness.is_some() && config.projection.is_none() {
        let message = "[[continuation]] changes a projection that does not exist";
        let remedy = "add [projection] with an initial `sharpness`, or remove the key";
        return Err(("sharpness", message, "no [projection]", remedy));
    }

    if entry.half_width.is_some() && config.projection.is_none() {
        let message = "[[continuation]] gives a surface its width without a projection";
        let remedy = "add [projection] with an initial `sharpness`, or remove the key";
        return Err(("half_width", message, "no [projection]", remedy));
    }
    let last_excess = config.continuation.iter().filter_map(|entry| entry.excess).next_back();
    if entry.excess.is_some() && last_excess.is_some_and(|last| last.end() != 1.0) {
        let message = "[[continuation]] leaves more or less material than the limits allow";
        let remedy =
            "let the last `excess` end at 1, as `{ start = 1.9, end = 1, over = 22 }` does";
        return Err(("excess", message, "does not come to 1", remedy));
    }

    let changes = [entry.sharpness, entry.move_limit];
    let courses = [entry.penalty, entry.tolerance, entry.half_width, entry.excess];
    if radius.is_none() && changes == [None; 2] && courses == [None; 4] && entry.method.is_none() {
        return Err((
            "from",
            "an entry of [[continuation]] changes nothing",
            "this entry",
            "give one of `penalty`, `filter_radius`, `filter_radius_in_elements`, `sharpness`, \
             `half_width`, `excess`, `method`, `move_limit` and `tolerance`",
        ));
    }
    Ok(())
}

/// The key by which an entry changes the radius of the filter, if it does.
fn radius_key(entry: &Continuation) -> Result<Option<&'static str>, Misplaced> {
    match (entry.filter_radius, entry.filter_radius_in_elements) {
        (Some(_), Some(_)) => Err((
            "filter_radius_in_elements",
            "[[continuation]] has both `filter_radius` and `filter_radius_in_elements`",
            "one too many",
            "give one of them",
        )),
        (Some(_), None) => Ok(Some("filter_radius")),
        (None, Some(_)) => Ok(Some("filter_radius_in_elements")),
        (None, None) => Ok(None),
    }
}

fn volume_fraction(config: &Config) -> Option<Finding> {
    let design = &config.design;
    let fraction = design.volume_fraction.as_ref()?;
    (*fraction.get_ref() < design.density_min).then(|| {
        Finding::new("`design.volume_fraction` is less than `design.density_min`")
            .at(config.source(), fraction.span(), "too little material")
            .remedy(format!(
                "even void has density {}: raise `volume_fraction` or lower `density_min`",
                design.density_min
            ))
    })
}

fn initial_volume_fraction(config: &Config) -> Option<Finding> {
    let (design, key) = (&config.design, "design.initial_volume_fraction");
    (design.initial_volume_fraction? < design.density_min).then(|| {
        Finding::new(format!("`{key}` is less than `design.density_min`"))
            .at(config.source(), config.span(key), "too little material")
            .remedy(format!("void has density {}: start with more", design.density_min))
    })
}

/// Refuses to look for symmetry where more than supports and loads would have to have it.
fn keep_symmetry(config: &Config) -> Option<Finding> {
    let is_asked = config.design.keep_symmetry == Some(true);
    (is_asked && !config.only_stiffens()).then(|| {
        let message = "planes of symmetry are found only for the least compliance of forces under one \
                       limit of material";
        Finding::new(message)
            .at(config.source(), config.span("design.keep_symmetry"), "another problem")
            .remedy("give the planes by [[manufacturing]] with `kind = \"symmetry\"`")
    })
}
