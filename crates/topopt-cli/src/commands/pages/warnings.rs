//! What may be wrong with a result, for the box that its page begins with.

use serde_json::Value;
use topopt_report::Target;

use super::wording::{Units, place, sentence, text, with_unit};

/// Sentences about a run, of which `summary` and `targets` tell, and about its verification, if there
/// is one. Where files of an earlier version have no warnings, they are made of the numbers.
pub(in crate::commands) fn of_run(
    summary: &Value,
    found: Option<&Value>,
    targets: &[Target],
    units: &Units,
) -> Vec<String> {
    let of_run = given(summary);
    let of_verification = found.map(|found| given(found).unwrap_or_else(|| of_shape(found, units)));
    let mut all = of_run.unwrap_or_else(|| {
        targets.iter().filter_map(missed).chain(grey(summary)).collect::<Vec<_>>()
    });
    all.extend(of_verification.unwrap_or_default());
    once(all)
}

/// Sentences about an analysis.
pub(in crate::commands) fn of_analysis(found: &Value) -> Vec<String> {
    once(given(found).unwrap_or_default())
}

/// The warnings that a file of the results holds; none if it is of an earlier version.
fn given(file: &Value) -> Option<Vec<String>> {
    let all = file["warnings"].as_array()?;
    Some(all.iter().map(|warning| sentence(&text(warning))).collect())
}

fn missed(target: &Target) -> Option<String> {
    let Target { name, optimized, verified, limit, is_met } = target;
    (*is_met == Some(false)).then(|| match verified {
        Some(verified) => {
            format!("Limit missed: {name} is {verified} in the verified design, {limit}.")
        }
        None => format!("Limit missed: {name} is {optimized}, {limit}."),
    })
}

/// Grey level from which on the built part differs from the optimized design.
const GREY: f64 = 0.1;

fn grey(summary: &Value) -> Option<String> {
    let grey = summary["grey_level"].as_f64().filter(|grey| *grey > GREY)?;
    Some(format!("Grey level {:.1} %: the built part will perform differently.", 100.0 * grey))
}

/// Loose pieces, thin members and what was left out of a verification.
fn of_shape(found: &Value, units: &Units) -> Vec<String> {
    let mut all = Vec::new();
    let pieces = found["parts"].as_array().map_or(0, Vec::len);
    if pieces > 1 {
        all.push(format!("The built part falls into {pieces} pieces."));
    }
    let (member, width) = (&found["smallest_member"], &found["element_width"]);
    if member["width"].as_f64() < width.as_f64() && member.is_object() {
        all.push(format!(
            "The thinnest member is {} wide, less than an element ({}), at element {} {}.",
            with_unit(&member["width"], &units.length),
            with_unit(width, &units.length),
            member["element"],
            place(member)
        ));
    }
    let notes = found["notes"].as_array().into_iter().flatten();
    all.extend(notes.map(|note| sentence(&text(note))));
    all
}

/// Each sentence once.
fn once(all: Vec<String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    all.into_iter().for_each(|text| {
        if !kept.contains(&text) {
            kept.push(text);
        }
    });
    kept
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use topopt_study::config::PhysicsKind;

    use super::*;

    fn units() -> Units {
        Units::of(&json!({ "units": { "length": "mm" } }), PhysicsKind::Elasticity)
    }

    #[test]
    fn warnings_of_the_files_come_before_those_that_are_gathered() {
        let summary = json!({ "grey_level": 0.3, "warnings": ["two pieces", "two pieces"] });
        let found = json!({ "parts": [0.5, 0.5], "warnings": ["a load was moved."] });
        let all = of_run(&summary, Some(&found), &[], &units());
        assert_eq!(all, ["Two pieces.", "A load was moved."]);
    }

    #[test]
    fn grey_pieces_thin_members_and_missed_limits_are_gathered() {
        let summary = json!({ "grey_level": 0.282 });
        let found = json!({
            "parts": [0.9, 0.1],
            "smallest_member": { "width": 0.24, "element": 7, "at": [1.0, 2.0, 3.0] },
            "element_width": 2.5,
            "notes": ["1 piece that no support holds was left out of the solve"],
        });
        let target = Target {
            name: "Displacement of tip".into(),
            optimized: "0.19 mm".into(),
            verified: Some("0.34 mm".into()),
            limit: "at most 0.2 mm".into(),
            is_met: Some(false),
        };
        let all = of_run(&summary, Some(&found), &[target], &units());
        assert_eq!(all.len(), 5, "{all:?}");
        for (warning, start) in all.iter().zip([
            "Limit missed: Displacement of tip is 0.34 mm in the verified design, at most 0.2 mm.",
            "Grey level 28.2 %: the built part will perform differently.",
            "The built part falls into 2 pieces.",
            "The thinnest member is 0.24 mm wide, less than an element (2.5 mm), at element 7 (1, 2, 3).",
            "1 piece that no support holds was left out of the solve.",
        ]) {
            assert!(warning.starts_with(start), "{warning}");
        }
    }
}
