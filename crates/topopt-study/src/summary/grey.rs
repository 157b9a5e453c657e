//! Warning about grey material in a design.

use topopt_case::config;

/// Context in which a grey design is reported.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    /// Whether responses are of states in time, which are not verified.
    pub is_in_time: bool,
    /// Whether the mass is asked for.
    pub has_weight: bool,
    /// Style of the design, `smooth` or `crisp`.
    pub style: config::Style,
}

/// How grey a design is, from 0 to 1, and what that means.
pub(super) fn grey_text(grey: f64, seen: Seen) -> String {
    let text = format!("grey level {:.1} %", 100.0 * grey);
    if grey <= GREY {
        return text;
    }
    let meaning = if seen.has_weight {
        "grey material has all of its weight and little of its stiffness, so the built part will have \
         another mass and stiffness"
    } else {
        "the built part will perform differently"
    };
    let proof = (!seen.is_in_time).then_some("run `topopt verify` to see by how much");
    let remedy = match seen.style {
        config::Style::Smooth => Some("use `design.style = \"crisp\"`"),
        config::Style::Crisp => None,
    };
    let advice: Vec<&str> = proof.into_iter().chain(remedy).collect();
    let advice =
        if advice.is_empty() { String::new() } else { format!(": {}", advice.join(", or ")) };
    format!("{text}: {meaning}{advice}")
}

/// Grey level from which on a built part is another than the optimized design: the verified
/// compliance was 0.99 of the optimized one at 1 %, 0.93 at 9 and 11 %, 0.76 at 28 %.
pub(super) const GREY: f64 = 0.1;
