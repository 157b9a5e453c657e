//! Warnings of the results, for the box that their page begins with.

use serde_json::Value;

use super::wording::{sentence, text};

/// Beginning of the advice to verify, which a verification has followed.
const ADVICE: &str = ": run `topopt verify`";

/// Warnings of the run in `summary`, and of its verification, if there is one, as sentences.
pub(in crate::commands) fn of_run(summary: &Value, found: Option<&[String]>) -> Vec<String> {
    let given = summary["warnings"].as_array().into_iter().flatten().map(text);
    let Some(found) = found else { return sentences(&given.collect::<Vec<_>>()) };
    let without_advice = |warning: String| match warning.split_once(ADVICE) {
        Some((warning, _)) => warning.to_owned(),
        None => warning,
    };
    let all = given.map(without_advice).chain(found.iter().cloned());
    sentences(&all.collect::<Vec<_>>())
}

/// Warnings as sentences, each once.
pub(in crate::commands) fn sentences(warnings: &[String]) -> Vec<String> {
    once(warnings.iter().map(|warning| sentence(warning)).collect())
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
        let found = ["a load was moved.".to_owned()];
        let of_both = of_run(&summary, Some(&found));
        assert_eq!(
            of_both,
            ["Two pieces.", "Grey level 30 %: it will differ.", "A load was moved."]
        );
        let advice = "Grey level 30 %: it will differ: run `topopt verify` to see by how much.";
        assert_eq!(of_run(&summary, None), ["Two pieces.", advice]);
    }
}
