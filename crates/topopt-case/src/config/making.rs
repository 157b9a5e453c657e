//! Entries of `[[manufacturing]]` that `design.method` stands for.

use toml::{Spanned, Value};

use super::{Config, FilterKind, Making, Manufacturing};
use crate::finding::Finding;
use crate::manufacturing;

/// Radius of the filter, in element widths: with 1.5 members of printed and cast parts are one
/// element wide, and built as they are demanded or not by chance.
const RADIUS: f64 = 2.5;

/// Adds what the method of making asks for, so that all that follows sees plain entries. An entry
/// of the case file replaces that of the same kind.
pub(super) fn resolve(config: &mut Config) {
    let Some(method) = &config.design.method else { return };
    let mut demands = demands(config, method);
    let is_given = |demand: &Manufacturing| {
        config.manufacturing.iter().any(|own| own.kind.get_ref() == demand.kind.get_ref())
    };
    demands.retain(|demand| !is_given(demand));
    config.manufacturing.extend(demands);

    if !config.gives("filter.kind") {
        config.filter.get_mut().kind = FilterKind::Density;
    }
    let filter = config.filter.get_ref();
    let has_radius = filter.radius.is_some() || filter.radius_in_elements.is_some();
    if !has_radius && manufacturing::radius(config).is_none() {
        config.filter.get_mut().radius_in_elements = Some(RADIUS);
    }
}

/// Demands on a part that is made by `method`; none without a direction.
fn demands(config: &Config, method: &Spanned<Making>) -> Vec<Manufacturing> {
    let Some(direction) = &config.design.direction else { return Vec::new() };
    let (place, along) = (direction.span(), *direction.get_ref());
    let demand = |kind: &str, keys: Vec<(&'static str, Value)>| {
        let keys = keys.into_iter().map(|(key, value)| (key, place.clone(), value));
        Manufacturing::at(method.span(), kind, keys)
    };
    let vector = |x: [f64; 3]| Value::from(x.to_vec());
    let both = vec![vector(along), vector(along.map(|x| -x))];
    let mut all = match method.get_ref() {
        Making::Printed => vec![
            demand("overhang", vec![("build_direction", vector(along))]),
            demand("open_voids", Vec::new()),
        ],
        Making::Cast => {
            vec![demand("casting", vec![("draw_direction", vector(along)), ("sides", 2.into())])]
        }
        Making::Milled => vec![demand("milling", vec![("tool_directions", both.into())])],
        Making::Extruded => vec![demand("extrusion", vec![("direction", vector(along))])],
    };
    all.extend(config.design.least_width.as_ref().map(|width| {
        let keys = [("minimum", width.span(), (*width.get_ref()).into())];
        Manufacturing::at(width.span(), "member_size", keys)
    }));
    all
}

impl Config {
    /// Says what `design.method` stands for, where it is given.
    pub(crate) fn method_in_words(&self) -> Option<String> {
        let method = self.design.method.as_ref()?;
        let demands = demands(self, method);
        let is_as_demanded = |own: &&Manufacturing| demands.iter().any(|demand| demand.is_as(own));
        let (by_method, own): (Vec<_>, Vec<_>) =
            self.manufacturing.iter().partition(is_as_demanded);
        let of_kind = |kind: &str| own.iter().any(|own| own.kind.get_ref() == kind);
        let replaced = demands.iter().map(|demand| demand.kind.get_ref().as_str());
        let replaced = listed(replaced.filter(|kind| of_kind(kind)));
        let kinds = listed(by_method.iter().map(|demand| demand.kind.get_ref().as_str()));
        let method = Value::try_from(method.get_ref()).ok()?;
        let makes = format!("`design.method = {method}` makes the part by [[manufacturing]]");
        Some(match (kinds.as_str(), replaced.as_str()) {
            (kinds, "") => format!("{makes}: {kinds}"),
            ("", own) => format!("{makes} as the entries of the case file say: {own}"),
            (kinds, own) => {
                format!("{makes}: {kinds}; for {own} the entries of the case file count")
            }
        })
    }
}

/// Lists names of kinds.
fn listed<'a>(kinds: impl Iterator<Item = &'a str>) -> String {
    kinds.map(|kind| format!("`{kind}`")).collect::<Vec<_>>().join(", ")
}

/// Refuses a method without a direction, and keys that only a method has.
pub(super) fn check(config: &Config) -> Option<Finding> {
    let design = &config.design;
    let finding = |message: &str, place, label: &str, remedy: &str| {
        Some(Finding::new(message).at(config.source(), place, label).remedy(remedy))
    };
    let place = design.direction.as_ref().map(Spanned::span);
    let place = place.or(design.least_width.as_ref().map(Spanned::span));
    match (&design.method, &design.direction, place) {
        (Some(method), None, _) => finding(
            "`design.method` has no direction",
            method.span(),
            "along which way",
            "add `direction = [0.0, 0.0, 1.0]` to [design]: that of build, draw, tool or extrusion",
        ),
        (None, _, Some(place)) => finding(
            "[design] has a direction or a least width without a method",
            place,
            "without a method",
            "add `method = \"printed\"`, \"cast\", \"milled\" or \"extruded\" to [design], or use \
             [[manufacturing]]",
        ),
        _ => None,
    }
}
