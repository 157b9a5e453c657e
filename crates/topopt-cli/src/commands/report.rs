//! `topopt report RESULT`

mod curves;
mod saved;
mod verification;

use std::io::Write;

use toml::Table;
use topopt_case::config::PhysicsKind;
use topopt_case::finding::{Finding, InputError};
use topopt_case::{free_memory, of_physics};
use topopt_io::atomic;
use topopt_report::{Fact, PICTURE_BYTES, Report, Target, count, number};
use topopt_study::built_shape::BuiltShape;
use topopt_study::design_file::DesignFile;
use topopt_study::done::{CoarseStart, Seconds};
use topopt_study::failure::Failure;
use topopt_study::output_folder;
use topopt_study::part_file::PartFile;
use topopt_study::result_files::{CASE, REPORT, SUMMARY};
use topopt_study::run_directory::RunDirectory;
use topopt_study::summary::{Summary, rule_text};
use topopt_study::surface_measures::SurfaceMeasures;
use topopt_surface::{MeanDensity, Shaping, Solid, TriangleSurface};

use super::pages::wording::{DIGITS, Units, read, unreadable, with_unit, words};
use super::pages::{part, problem, targets, warnings};
use super::physics::{CaseNumbers, Shown};
use crate::args::ReportArgs;
use verification::Found;

/// Writes the report of a run.
pub(super) fn report(args: &ReportArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let results = RunDirectory::open(&args.result).map_err(InputError::from)?;
    let path = args.output.clone().unwrap_or_else(|| results.path().join(REPORT));
    output_folder::check_file(&path, &["html", "htm"], &[]).map_err(InputError::from)?;
    free_memory::check_page(PICTURE_BYTES).map_err(InputError::from)?;
    let summary = results.summary().map_err(InputError::from)?;
    let physics = summary.settings.physics;
    let page = of_physics!(physics, page(&results, &summary, physics))?;
    atomic::write(&path, |file| file.write_all(page.as_bytes())).map_err(|error| {
        let remedy = "choose another file with `--output FILE`";
        InputError::from(Finding::new(error.to_string()).remedy(remedy))
    })?;
    Ok(writeln!(out, "wrote {}: {:.1} MB", path.display(), page.len() as f64 / 1e6)?)
}

fn page<K: Shown<N>, const N: usize>(
    results: &RunDirectory,
    summary: &Summary,
    physics: PhysicsKind,
) -> Result<String, InputError> {
    let case_path = results.path().join(CASE);
    let case = read(&case_path)?;
    let table: Table = case.parse().map_err(|error| unreadable(&case_path, &error))?;

    let history = curves::read_history(&results.history())?;
    let file = DesignFile::read(&results.design())?.made_by(&results.config()?);
    let units = Units::of(summary.units.as_ref(), physics);
    let shaped = || Shaped::of(&file, results);
    let (shaped, found) = rayon::join(shaped, || verification::read::<K, N>(results, &units));
    let (Shaped { solid, surface, measures, density }, found) = (shaped?, found?);
    let (found, fields) = found.unzip();
    let fact = |(name, value): (&str, String)| Fact::new(words(name), value);
    let names: Vec<&str> = summary.load_cases.iter().map(String::as_str).collect();
    let targets = targets::all(
        &summary.objective,
        &summary.constraints,
        found.as_ref().map(|found| &found.limits),
        &units,
    );
    let is_in_time = table.contains_key("transient");
    let mut warnings =
        warnings::of_run(&summary.warnings, found.as_ref().map(|found| &found.warnings[..]));
    if found.is_none() {
        let fallen_apart = file.fallen_apart(&solid).map(|finding| finding.message);
        let doubt = fallen_apart.or_else(|| measures.thin_member());
        warnings.extend(warnings::sentences(doubt.as_slice()));
    }

    let report = Report {
        title: summary.title.as_deref().unwrap_or("Topology optimization").into(),
        subtitle: subtitle(results, summary),
        headline: headline::<K, N>(summary, found.as_ref(), &targets, &units),
        saved: saved::table(&file, found.as_ref().map(|f| f.built.volume), summary, &units),
        targets,
        problem: problem::groups(&table, &summary.into(), &file.mesh, &units),
        mesh: &file.mesh,
        threshold: solid.threshold(),
        density: &density,
        surface: &surface,
        measures: measures.rows().into_iter().map(fact).collect(),
        states: K::states(results, &file, solid.threshold(), &names, &units)?,
        part: part::of::<K, N>(&file, &names, &units)?,
        curves: curves::curves(&history, &summary.objective.response, &units),
        iterations: curves::table(&history, physics),
        seconds: seconds(&summary.done.seconds),
        verification: match found.as_ref().zip(fields) {
            Some((found, fields)) => {
                let mut proof = verification::of::<K, N>(found, fields, solid.threshold(), &units);
                proof.notes.retain(|note| !warnings.contains(note));
                Ok(proof)
            }
            None => Err(verification::remedy(results, K::PICTURES, is_in_time)),
        },
        warnings,
        repeat: vec![
            Fact::new("Command", format!("topopt run {}", case_path.display())),
            Fact::new("Version", format!("topopt {}", summary.topopt)),
        ],
        case,
    };

    Ok(report.html())
}

/// A design with its shape.
struct Shaped<'a> {
    solid: Solid<'a>,
    surface: TriangleSurface,
    measures: SurfaceMeasures,
    density: MeanDensity,
}

impl<'a> Shaped<'a> {
    /// The shape of the design in `file`, which is kept with the `results`.
    fn of(file: &'a DesignFile, results: &RunDirectory) -> Result<Self, Finding> {
        let body = PartFile::read(Some(results.path()), &file.mesh)?;
        let mut built = BuiltShape::of(file, &body, &Shaping::default())?;
        let mean = built.mean.take();
        let (density, measures) = rayon::join(
            || mean.map_or_else(|| file.mean_density(), Ok),
            || SurfaceMeasures::of(&built.shape, &body, file),
        );
        let BuiltShape { solid, shape, .. } = built;
        Ok(Self { solid, surface: shape.surface, measures, density: density? })
    }
}

fn subtitle(results: &RunDirectory, summary: &Summary) -> String {
    let written = std::fs::metadata(results.path().join(SUMMARY)).and_then(|file| file.modified());
    let date = written.map(|time| {
        let date = humantime::format_rfc3339_seconds(time).to_string();
        format!("finished {} UTC", date.replace('T', " ").trim_end_matches('Z'))
    });
    let rule = summary.stopped_by.as_deref().map(|rule| rule_text(rule).to_owned());
    let ended = rule.unwrap_or_else(|| summary.status.replace('_', " "));
    let version = format!("topopt {}", summary.topopt);
    [Some(summary.case.clone()), date.ok(), Some(ended), Some(version)]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" \u{b7} ")
}

/// `found`: what a verification has found.
fn headline<K: Shown<N>, const N: usize>(
    summary: &Summary,
    found: Option<&Found<K, N>>,
    targets: &[Target],
    units: &Units,
) -> Vec<Fact> {
    let percent = |share: Option<f64>| {
        share.map_or("\u{2013}".into(), |x| format!("{} %", number(100.0 * x, DIGITS)))
    };
    let done = &summary.done;
    let with_unit = |value: f64| with_unit(value, &units.energy);

    let coarse = done.coarse.as_ref().map(CoarseStart::said);
    let verified = found.map(|found| format!("verified {}", with_unit(found.compliance.verified)));
    let compliance = with_unit(done.compliance.unwrap_or(f64::NAN));
    let mut facts = asked(targets, units);
    let has_mass = facts.iter().any(|fact| fact.name == "Mass");

    facts.extend([
        Fact::new(units.words("compliance"), compliance).noted(verified.unwrap_or_default()),
        Fact::new("Volume fraction", percent(done.volume_fraction)),
        Fact::new("Grey level", percent(done.grey_level)),
        Fact::new("Iterations", count(done.iterations)).noted(coarse.unwrap_or_default()),
        Fact::new("Time", duration(done.seconds.total)),
    ]);

    let mass = found.and_then(|found| found.mass).filter(|_| !has_mass);
    facts.extend(mass.map(|mass| Fact::new("Mass", units.mass(mass))));
    facts.extend(found.and_then(|found| K::Case::least_safety(&found.load_cases)));
    facts
}

/// The objective and the responses with limits, except for compliance and volume fraction, which
/// are shown anyway.
fn asked(targets: &[Target], units: &Units) -> Vec<Fact> {
    let usual = ["compliance", "volume"].map(|response| targets::name(response, units));
    let own = targets.iter().filter(|target| !usual.contains(&target.name));
    let fact = |target: &Target| {
        let Target { name, optimized, verified, limit, is_met } = target;
        let verified = verified.as_ref().map(|value| format!("verified {value}, "));
        let mark = is_met.map_or("", |is_met| if is_met { " \u{2713}" } else { " \u{2717}" });
        let note = format!("{}{limit}{mark}", verified.unwrap_or_default());
        Fact::new(name, optimized).noted(note)
    };
    own.map(fact).collect()
}

fn duration(seconds: f64) -> String {
    match seconds {
        s if s >= 5400.0 => format!("{:.1} h", s / 3600.0),
        s if s >= 100.0 => format!("{:.1} min", s / 60.0),
        s => format!("{} s", number(s, 3)),
    }
}

/// The steps in the order of a run, and what is between them.
fn seconds(seconds: &Seconds) -> Vec<(String, f64)> {
    let Seconds { preprocess, setup, pcg, sensitivity, filter, update, output, total } = *seconds;
    let steps = [
        ("preprocess", preprocess),
        ("setup", setup),
        ("pcg", pcg),
        ("sensitivity", sensitivity),
        ("filter", filter),
        ("update", update),
        ("output", output),
    ];
    let known: f64 = steps.iter().map(|(_, seconds)| seconds).sum();
    let mut all: Vec<(String, f64)> = steps.map(|(step, seconds)| (words(step), seconds)).into();
    if total > known {
        all.push(("Other".into(), total - known));
    }
    all
}
