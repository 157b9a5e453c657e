//! Warnings of the results, for the box that their page begins with.

use super::wording::sentence;

/// Beginning of the advice to verify, which a verification has followed.
const ADVICE: &str = ": run `topopt verify`";

/// Warnings `given` by the run, and of its verification, if there is one, as sentences.
pub(in crate::commands) fn of_run(given: &[String], found: Option<&[String]>) -> Vec<String> {
    let Some(found) = found else { return sentences(given) };
    let without_advice =
        |warning: &String| warning.split_once(ADVICE).map_or(&**warning, |(it, _)| it).to_owned();
    let all = given.iter().map(without_advice).chain(found.iter().cloned());
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
    use super::*;

    #[test]
    fn warnings_of_run_and_verification_stand_once_and_without_advice_that_was_followed() {
        let grey = "grey level 30 %: it will differ: run `topopt verify` to see by how much";
        let given = ["two pieces", "two pieces", grey].map(str::to_owned);
        let found = ["a load was moved.".to_owned()];
        let of_both = of_run(&given, Some(&found));
        assert_eq!(
            of_both,
            ["Two pieces.", "Grey level 30 %: it will differ.", "A load was moved."]
        );
        let advice = "Grey level 30 %: it will differ: run `topopt verify` to see by how much.";
        assert_eq!(of_run(&given, None), ["Two pieces.", advice]);
    }
}
