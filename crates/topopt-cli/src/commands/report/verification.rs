//! Results of `topopt verify`, for the report.

use std::path::Path;

use topopt_case::finding::Finding;
use topopt_case::manufacturing::Made;
use topopt_report::{Fact, NodalField, Table, Verification, number};
use topopt_study::result_files::{VERIFIED, VERIFIED_DESIGN};
use topopt_study::run_directory::RunDirectory;
use topopt_study::solved_file;
use topopt_study::verification::{self, Compared, Limits, VerifiedLimit, Width};

use crate::commands::pages::wording::{
    DIGITS, Units, pictured, place_text, read as read_text, sentence, unreadable, with_unit,
};
use crate::commands::physics::{CaseNumbers, OverallNumbers, Shown};

/// Numbers of a verification of a physics.
pub(super) type Found<K, const N: usize> = verification::Verification<
    <K as verification::Verified<N>>::Overall,
    <K as topopt_study::solved::Measured<N>>::Case,
>;

/// Numbers with the fields that pictures show.
type WithFields<K, const N: usize> = (Found<K, N>, Vec<NodalField>);

/// Reads verify.json, if it is there, and the fields of verify.vtu.
///
/// # Errors
/// A file that cannot be read.
pub(super) fn read<K: Shown<N>, const N: usize>(
    results: &RunDirectory,
    units: &Units,
) -> Result<Option<WithFields<K, N>>, Finding> {
    let path = results.path().join(VERIFIED);
    if !path.is_file() {
        return Ok(None);
    }
    let found = serde_json::from_str(&read_text(&path)?);
    let found: Found<K, N> = found.map_err(|error| unreadable(&path, &error))?;
    let (cases, _) = pictured(&found.load_cases);
    let path = results.path().join(VERIFIED_DESIGN);
    let mut fields = K::verified_pictures(&path, &found.overall, cases, units)?;
    if found.built.made.iter().any(Made::is_seen) {
        fields.push(missed(&path)?);
    }
    Ok(Some((found, fields)))
}

/// How to get a verification; it shows these `pictures`.
pub(super) fn remedy(results: &RunDirectory, pictures: &str, is_in_time: bool) -> String {
    if is_in_time {
        return "Not verified: `topopt verify` solves steady states.".into();
    }
    let folder = results.path().display();
    format!(
        "Not verified yet: `topopt verify {folder}` solves the exported shape, and `topopt report \
         {folder}` then shows its {pictures} here."
    )
}

/// The proof that was `found`, with its `fields`; `threshold` is that of the pictures.
pub(super) fn of<K: Shown<N>, const N: usize>(
    found: &Found<K, N>,
    fields: Vec<NodalField>,
    threshold: f64,
    units: &Units,
) -> Verification {
    let (_, left_out) = pictured(&found.load_cases);
    let mut notes: Vec<String> = found.notes.iter().map(|note| sentence(note)).collect();
    notes.extend(left_out);

    let verified = found.built.threshold;
    if (verified - threshold).abs() > 1e-6 {
        notes.push(format!(
            "Verified with the surface at the density {}, the pictures have it at {}.",
            number(verified, 3),
            number(threshold, 3)
        ));
    }
    Verification {
        compared: compared::<K, N>(found, units),
        limits: limits(&found.limits, units),
        cases: K::Case::table(&found.load_cases, found.pcg_residual, units),
        fields,
        facts: facts::<K, N>(found, units),
        notes,
    }
}

/// Reads the picture of where the part misses what its making demands, such as the props that it
/// still needs.
fn missed(path: &Path) -> Result<NodalField, Finding> {
    Ok(NodalField {
        title: "Misses what its making demands: share of the element".into(),
        unit: String::new(),
        values: solved_file::missed(path)?,
        lowest: 0.0,
        highest: 1.0,
        is_exceeded: false,
        displacements: None,
        arrows: None,
    })
}

fn compared<K: Shown<N>, const N: usize>(found: &Found<K, N>, units: &Units) -> Table {
    let cubic = if units.length.is_empty() { String::new() } else { format!("{}³", units.length) };
    let row = |(key, numbers, unit): (&str, Compared, &str)| {
        let unit = if unit.is_empty() { String::new() } else { format!(" [{unit}]") };
        let Compared { optimized, verified, ratio } = numbers;
        let mut row = vec![units.words(key) + &unit];
        row.extend([optimized, verified, ratio].map(|value| number(value, DIGITS)));
        row
    };
    let mut rows = vec![row(("compliance", found.compliance, &units.energy))];
    rows.extend(found.overall.compared().into_iter().map(|(key, of)| row((key, of, ""))));
    rows.push(row(("volume", found.built.volume, &cubic)));
    rows.push(row(("volume_fraction", found.built.volume_fraction, "")));
    Table { columns: ["", "Optimized", "Verified", "Ratio"].map(String::from).to_vec(), rows }
}

/// Objective and limits of the optimized and of the built shape.
fn limits(Limits { objective, constraints, .. }: &Limits, units: &Units) -> Table {
    let row = |(response, of, largest): (&str, Compared, Option<f64>), limit: String, met: &str| {
        let itself = largest.map(|v| format!(" (largest {})", number(v, 4))).unwrap_or_default();
        let (optimized, verified) = (number(of.optimized, DIGITS), number(of.verified, DIGITS));
        vec![units.words(response), optimized, verified + &itself, limit, met.to_owned()]
    };
    let asked = (objective.response.as_str(), objective.compared, objective.largest);
    let mut rows = vec![row(asked, objective.goal.clone(), "")];
    rows.extend(constraints.iter().map(|limited| {
        let VerifiedLimit { response, compared, largest, at_most, at_least, met } = limited;
        let limit = match (at_most, at_least) {
            (Some(limit), _) => format!("at most {}", number(*limit, 6)),
            (None, limit) => format!("at least {}", number(limit.unwrap_or(f64::NAN), 6)),
        };
        row((response, *compared, *largest), limit, if *met { "met" } else { "not met" })
    }));
    let columns = ["Asked for", "Optimized", "Built", "Limit", ""];
    Table { columns: columns.map(String::from).to_vec(), rows }
}

fn facts<K: Shown<N>, const N: usize>(found: &Found<K, N>, units: &Units) -> Vec<Fact> {
    let built = &found.built;
    let width = |width: &Option<Width>| match width {
        None => "none".into(),
        Some(Width { width, median, element, at }) => {
            let [width, median] = [width, median].map(|width| with_unit(*width, &units.length));
            let at = place_text(*at);
            format!("1 % up to {width} wide, as at element {element} {at}, half up to {median}")
        }
    };
    let threshold = number(built.threshold, DIGITS);
    let mut facts = vec![
        Fact::new("Solid", format!("density of at least {threshold}")),
        found.overall.fact(units),
        Fact::new("Connected parts", built.parts.len().to_string()),
        Fact::new("Members", width(&built.smallest_member)),
        Fact::new("Gaps", width(&built.smallest_gap)),
    ];

    facts.extend(built.made.iter().map(|made| Fact::new("As made", made.in_words())));
    facts.extend(found.mass.map(|mass| Fact::new("Mass", units.mass(mass))));
    if let Some(remeshed) = &found.remeshed {
        let [compliance, ratio] = [remeshed.compliance, remeshed.verified_over_remeshed]
            .map(|value| number(value, DIGITS));
        let text = format!("compliance {compliance} on {} elements", remeshed.elements);
        facts.push(Fact::new("Meshed anew", format!("{text}; verified over it {ratio}")));
    }
    facts
}
