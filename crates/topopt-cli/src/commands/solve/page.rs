//! The page of an analysis, from its numbers and files.

use std::io::Write;
use std::path::Path;

use topopt_case::config::PhysicsKind;
use topopt_case::finding::{Finding, InputError};
use topopt_io::atomic;
use topopt_report::{Analysis as Page, Curve, Fact, States, count, number};
use topopt_study::analysis::Analysis;
use topopt_study::built_shape::BuiltShape;
use topopt_study::design_file::DesignFile;
use topopt_study::failure::Failure;
use topopt_study::history::History;
use topopt_study::part_file::PartFile;
use topopt_study::result_files::{ANALYSIS_FIELDS, ANALYSIS_PAGE, CASE, TRANSIENT};
use topopt_surface::Shaping;

use crate::commands::pages::wording::{DIGITS, Units, pictured, read, sentence, unreadable};
use crate::commands::pages::{part, problem, warnings};
use crate::commands::physics::{CaseNumbers, Shown};

/// Tables of the case file that an analysis does not use.
const UNUSED: [&str; 3] = ["filter", "continuation", "optimizer"];

/// Writes the page of the analysis in `folder`, see [`page`].
///
/// # Errors
/// A file that cannot be read or written.
pub(super) fn write<K: Shown<N>, const N: usize>(
    folder: &Path,
    found: &Analysis<K::Case>,
    physics: PhysicsKind,
) -> Result<(), Failure> {
    let page = page::<K, N>(folder, found, physics)?;
    Ok(atomic::write(&folder.join(ANALYSIS_PAGE), |file| file.write_all(page.as_bytes()))?)
}

/// The page of the analysis of a `physics` in `folder` that has `found` this.
///
/// # Errors
/// A file that cannot be read.
fn page<K: Shown<N>, const N: usize>(
    folder: &Path,
    found: &Analysis<K::Case>,
    physics: PhysicsKind,
) -> Result<String, InputError> {
    let case_path = folder.join(CASE);
    let case = read(&case_path)?;
    let mut table: toml::Table = case.parse().map_err(|error| unreadable(&case_path, &error))?;
    table.retain(|key, _| !UNUSED.contains(&key));
    if found.design.is_none() {
        table.remove("design");
    }

    let units = &Units::of(found.units.as_ref(), physics);
    let file = DesignFile::read(&folder.join(ANALYSIS_FIELDS))?;
    let body = PartFile::read(None, &file.mesh)?;
    let BuiltShape { solid, shape, .. } = BuiltShape::of(&file, &body, &Shaping::default())?;
    let names: Vec<&str> = found.load_cases.iter().map(CaseNumbers::name).collect();
    let (what, option) = match &found.design {
        Some(design) => (format!("the densities of {design}"), format!(" --design {design}")),
        None => ("the full part".into(), String::new()),
    };
    let command = format!("topopt solve {}{option}", case_path.display());
    let page = Page {
        title: found.title.clone().unwrap_or_else(|| "Analysis".into()),
        subtitle: format!("{} \u{b7} {what}, solved once", found.case),
        headline: headline::<K, N>(found, units),
        warnings: warnings::sentences(&found.warnings),
        states: states::<K, N>(folder, found, solid.threshold(), units)?,
        mesh: &file.mesh,
        surface: &shape.surface,
        part: part::of::<K, N>(&file, &names, units)?,
        problem: problem::groups(&table, &found.into(), &file.mesh, units),
        repeat: vec![
            Fact::new("Command", command),
            Fact::new("Version", format!("topopt {}", found.topopt)),
        ],
        case,
    };
    Ok(page.html())
}

fn headline<K: Shown<N>, const N: usize>(found: &Analysis<K::Case>, units: &Units) -> Vec<Fact> {
    let mut facts = K::Case::headline(&found.load_cases, units);
    facts.extend(found.mass.map(|mass| Fact::new("Mass", units.mass(mass))));
    facts.push(match &found.transient {
        Some(time) => {
            let steps = count(time.steps);
            Fact::new("Time", format!("{} in {steps} steps", number(time.end, DIGITS)))
        }
        None => Fact::new("Load cases", count(found.load_cases.len())),
    });
    facts.push(Fact::new("Elements", count(found.elements)));
    facts
}

/// The states that were solved for; `threshold` is the density at the surface of the pictures.
///
/// # Errors
/// A file that cannot be read.
fn states<K: Shown<N>, const N: usize>(
    folder: &Path,
    found: &Analysis<K::Case>,
    threshold: f64,
    units: &Units,
) -> Result<States, Finding> {
    let cases = &found.load_cases;
    let (shown, left_out) = pictured(cases);
    let path = folder.join(ANALYSIS_FIELDS);
    let is_in_time = found.transient.is_some();
    let numbers = if is_in_time { Some(IN_TIME) } else { K::OF_NUMBERS };
    let notes = numbers.into_iter().chain([K::ABOUT]).map(str::to_owned);
    Ok(States {
        title: K::TITLE.into(),
        fields: K::pictures(&path, shown, threshold, units)?,
        cases: K::Case::table(cases, found.pcg_residual, units),
        curves: if is_in_time { curves(folder)? } else { Vec::new() },
        notes: notes.chain(left_out).chain(found.rounding.as_deref().map(sentence)).collect(),
    })
}

const IN_TIME: &str = "Temperatures are those at the end. Heat is per time, in the last step: \
                       positive where it comes into the part.";

/// Reads the curves over time from the table of the steps, the probes first.
fn curves(folder: &Path) -> Result<Vec<Curve>, Finding> {
    let path = folder.join(TRANSIENT);
    let table = History::parse(&read(&path)?).map_err(|error| unreadable(&path, &error))?;
    let place = |name: &str| table.columns.iter().position(|column| column == name);
    let curve = |(title, y): (String, usize)| {
        let points = place("time")
            .into_iter()
            .flat_map(|x| table.rows.iter().map(move |row| [row[x], row[y]]));
        Curve { title, unit: None, points: points.collect() }
    };
    let own = [
        ("hottest", "Highest temperature"),
        ("coldest", "Lowest temperature"),
        ("heat_stored", "Heat stored per time"),
    ];
    let own = own.into_iter().filter_map(|(name, title)| Some((title.to_owned(), place(name)?)));
    let first = place("pcg_iterations").map_or(table.columns.len(), |last| last + 1);
    let probes = table.columns.iter().enumerate().skip(first);
    let probes = probes.map(|(y, name)| (format!("Temperature of {name}"), y));
    Ok(probes.chain(own).map(curve).collect())
}
