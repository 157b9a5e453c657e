//! Warnings of the results, for the box that their page begins with.

use serde_json::Value;

use super::wording::{sentence, text};

/// Beginning of the advice to verify, which a verification has followed.
const ADVICE: &str = ": run `topopt verify`";

/// Sentences about a run, of which `summary` tells, and about its verification, if there is one.
pub(in crate::commands) fn of_run(summary: &Value, found: Option<&Value>) -> Vec<String> {
    let mut all = given(summary);
    if let Some(found) = found {
        let without_advice = |warning: &String| match warning.split_once(ADVICE) {
            Some((warning, _)) => format!("{warning}."),
            None => warning.clone(),
        };
        all = all.iter().map(without_advice).chain(given(found)).collect();
    }
    once(all)
}

/// Sentences about an analysis.
pub(in crate::commands) fn of_analysis(found: &Value) -> Vec<String> {
    once(given(found))
}

/// The warnings that a file of the results holds.
fn given(file: &Value) -> Vec<String> {
    let all = file["warnings"].as_array().into_iter().flatten();
    all.map(|warning| sentence(&text(warning))).collect()
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

    use super::*;

    #[test]
    fn warnings_of_run_and_verification_stand_once_and_without_advice_that_was_followed() {
        let grey = "grey level 30 %: it will differ: run `topopt verify` to see by how much";
        let summary = json!({ "warnings": ["two pieces", "two pieces", grey] });
        let found = json!({ "warnings": ["a load was moved."] });
        let of_both = of_run(&summary, Some(&found));
        assert_eq!(
            of_both,
            ["Two pieces.", "Grey level 30 %: it will differ.", "A load was moved."]
        );
        let advice = "Grey level 30 %: it will differ: run `topopt verify` to see by how much.";
        assert_eq!(of_run(&summary, None), ["Two pieces.", advice]);
    }
}
