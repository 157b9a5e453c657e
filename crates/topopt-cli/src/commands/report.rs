//! `topopt report RESULT`

mod curves;
mod thermal;
mod verification;

use std::io::Write;

use serde_json::Value;
use toml::Table;
use topopt_io::atomic;
use topopt_report::{Fact, PICTURE_BYTES, Report, count, number};
use topopt_study::config::PhysicsKind;
use topopt_study::design_file::DesignFile;
use topopt_study::failure::Failure;
use topopt_study::finding::{Finding, InputError};
use topopt_study::free_memory;
use topopt_study::output_folder;
use topopt_study::result_files::{CASE, REPORT, SUMMARY};
use topopt_study::run_directory::RunDirectory;
use topopt_study::summary::{Seen, grey_text};

use super::pages::wording::{
    Units, case_names, read, sentence, text, unreadable, with_unit, words,
};
use super::pages::{part, problem};
use crate::args::ReportArgs;

/// Writes the report of a run.
pub(super) fn report(args: &ReportArgs, out: &mut impl Write) -> Result<(), Failure> {
    let results = RunDirectory::open(&args.result).map_err(InputError::from)?;
    let path = args.output.clone().unwrap_or_else(|| results.path().join(REPORT));
    output_folder::check_file(&path, &["html", "htm"], &[]).map_err(InputError::from)?;
    free_memory::check_page(PICTURE_BYTES).map_err(InputError::from)?;
    let page = page(&results)?;
    atomic::write(&path, |file| file.write_all(page.as_bytes())).map_err(|error| {
        let remedy = "choose another file with `--output FILE`";
        InputError::from(Finding::new(error.to_string()).remedy(remedy))
    })?;
    Ok(writeln!(out, "wrote {}: {:.1} MB", path.display(), page.len() as f64 / 1e6)?)
}

fn page(results: &RunDirectory) -> Result<String, InputError> {
    let summary = results.summary()?;
    let case_path = results.path().join(CASE);
    let case = read(&case_path)?;
    let table: Table = case.parse().map_err(|error| unreadable(&case_path, &error))?;

    let history = curves::read_history(&results.history())?;
    let file = DesignFile::read(&results.design())?;
    let solid = file.solid(None, None)?;
    let found = verification::read(results)?;
    let (physics, names) = (physics(&summary), case_names(&summary));
    let units = Units::of(&summary, physics);

    let report = Report {
        title: summary["title"].as_str().unwrap_or("Topology optimization").into(),
        subtitle: subtitle(results, &summary),
        headline: headline(&summary, found.as_ref(), &units),
        problem: problem::groups(&table, &summary, &file.mesh, &units),
        solid: &solid,
        density: &file.density,
        remarks: remarks(&summary, table.contains_key("transient")),
        states: match physics {
            PhysicsKind::Elasticity => None,
            PhysicsKind::Heat => Some(thermal::states(results, &file, solid.threshold(), &names)?),
        },
        part: part::of(&file, &names, &units, physics)?,
        curves: curves::curves(&history, &units, physics),
        iterations: curves::table(&history, physics),
        seconds: seconds(&summary["seconds"]),
        verification: match &found {
            Some(found) => {
                Ok(verification::of(found, results, solid.threshold(), &names, &units, physics)?)
            }
            None => Err(verification::remedy(results, physics, table.contains_key("transient"))),
        },
        repeat: vec![
            Fact::new("Command", format!("topopt run {}", case_path.display())),
            Fact::new("Version", format!("topopt {}", text(&summary["topopt"]))),
        ],
        case,
    };

    report.html().map_err(|error| unreadable(&results.design(), &error).into())
}

fn subtitle(results: &RunDirectory, summary: &Value) -> String {
    let written = std::fs::metadata(results.path().join(SUMMARY)).and_then(|file| file.modified());
    let date = written.map(|time| {
        let date = humantime::format_rfc3339_seconds(time).to_string();
        format!("finished {} UTC", date.replace('T', " ").trim_end_matches('Z'))
    });
    let rule = summary["stopped_by"]
        .as_str()
        .map(|rule| format!("stopped by {}", words(&physics(summary).in_words(rule))));
    let ended = rule.unwrap_or_else(|| words(&text(&summary["status"]))).to_lowercase();
    [Some(text(&summary["case"])), date.ok(), Some(ended)]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" \u{b7} ")
}

/// What the last lines of the run say of the design.
fn remarks(summary: &Value, is_in_time: bool) -> Vec<String> {
    let settings = &summary["settings"];
    let style = serde_json::from_value(settings["style"].clone()).unwrap_or_default();
    let limited = summary["constraints"].as_array().into_iter().flatten();
    let mut responses = limited.chain([&summary["objective"]]);
    let has_weight = responses.any(|of| text(&of["response"]).starts_with("mass"));
    let seen = Seen { is_in_time, has_weight, style };
    let grey = summary["grey_level"].as_f64().map(|grey| grey_text(grey, seen));
    grey.map(|text| sentence(&text)).into_iter().collect()
}

/// Elasticity where a summary of an earlier version does not say.
fn physics(summary: &Value) -> PhysicsKind {
    serde_json::from_value(summary["settings"]["physics"].clone()).unwrap_or_default()
}

/// `found`: what a verification has found.
fn headline(summary: &Value, found: Option<&Value>, units: &Units) -> Vec<Fact> {
    let n = |key: &str| count(summary[key].as_u64().unwrap_or(0) as usize);
    let percent = |key: &str| {
        summary[key].as_f64().map_or("\u{2013}".into(), |x| format!("{:.2} %", 100.0 * x))
    };
    let mass = found.and_then(|found| found["mass"].as_f64()).map(|mass| units.mass(mass));
    let mut facts = asked(summary);
    facts.extend([
        Fact::new(
            words(&physics(summary).in_words("compliance")),
            with_unit(&summary["compliance"], &units.energy),
        ),
        Fact::new("Volume fraction", percent("volume_fraction")),
        Fact::new("Grey level", percent("grey_level")),
        Fact::new("Iterations", n("iterations")),
        Fact::new("Time", duration(summary["seconds"]["total"].as_f64().unwrap_or(f64::NAN))),
    ]);
    facts.extend(mass.map(|mass| Fact::new("Mass", mass)));
    facts
}

/// The objective and the responses with limits, except for compliance and volume fraction, which are
/// shown anyway.
fn asked(summary: &Value) -> Vec<Fact> {
    let kind = physics(summary);
    let limited = summary["constraints"].as_array().into_iter().flatten();
    let all = [&summary["objective"]].into_iter().chain(limited);
    let fact = |found: &Value| {
        let response = found["response"].as_str()?;
        let value = number(found["value"].as_f64()?, 5);
        let limit = [("at_most", "at most"), ("at_least", "at least")].into_iter();
        let limit = limit.filter_map(|(key, word)| {
            Some(format!(" ({word} {})", number(found[key].as_f64()?, 5)))
        });
        Some(Fact::new(words(&kind.in_words(response)), value + &limit.collect::<String>()))
    };
    let is_own = |found: &&Value| !["compliance", "volume"].contains(&&*text(&found["response"]));
    all.filter(is_own).filter_map(fact).collect()
}

fn duration(seconds: f64) -> String {
    match seconds {
        s if s >= 5400.0 => format!("{:.1} h", s / 3600.0),
        s if s >= 100.0 => format!("{:.1} min", s / 60.0),
        s => format!("{} s", number(s, 3)),
    }
}

/// The steps in the order of a run, and what is between them.
fn seconds(seconds: &Value) -> Vec<(String, f64)> {
    let steps = ["preprocess", "setup", "pcg", "sensitivity", "filter", "update", "output"];
    let mut all: Vec<(String, f64)> =
        steps.into_iter().filter_map(|step| Some((words(step), seconds[step].as_f64()?))).collect();
    let known: f64 = all.iter().map(|(_, seconds)| seconds).sum();
    let rest = seconds["total"].as_f64().unwrap_or(0.0) - known;
    if rest > 0.0 {
        all.push(("Other".into(), rest));
    }
    all
}
