//! Temperatures and heat flux on the page of an analysis.

use topopt_case::finding::Finding;
use topopt_report::{Curve, Fact, States, count, number};
use topopt_study::history::History;
use topopt_study::result_files::TRANSIENT;
use topopt_study::solved_file::ThermalFile;

use super::results::Results;
use crate::commands::pages::wording::{DIGITS, read, unreadable};
use crate::commands::pages::{cases, thermal};

/// The headline, and what was solved for.
///
/// # Errors
/// A file that cannot be read.
pub fn shown(results: &Results) -> Result<(Vec<Fact>, States), Finding> {
    let fields = ThermalFile::of_densities(results.path, results.pictured(), results.threshold)?;
    let is_in_time = results.found["transient"].is_object();
    let about = if is_in_time { IN_TIME } else { STEADY };
    let states = States {
        title: thermal::TITLE.into(),
        fields: thermal::pictures(fields, results.all),
        cases: cases::heat::table(results.found),
        curves: if is_in_time { curves(results)? } else { Vec::new() },
        notes: [about, thermal::ABOUT]
            .map(str::to_owned)
            .into_iter()
            .chain(results.left_out())
            .collect(),
    };
    Ok((headline(results), states))
}

const STEADY: &str = "Heat is per time: positive where it comes into the part.";
const IN_TIME: &str = "Temperatures are those at the end. Heat is per time, in the last step: \
                       positive where it comes into the part.";

fn headline(Results { found, all, .. }: &Results) -> Vec<Fact> {
    let n = |key: &str| count(found[key].as_u64().unwrap_or(0) as usize);
    let mut facts = thermal::extremes(all);
    match found["transient"]["end"].as_f64() {
        Some(end) => {
            let steps = count(found["transient"]["steps"].as_u64().unwrap_or(0) as usize);
            facts.push(Fact::new("Time", format!("{} in {steps} steps", number(end, DIGITS))));
        }
        None => facts.push(Fact::new("Load cases", count(all.len()))),
    }
    facts.push(Fact::new("Elements", n("elements")));
    facts
}

/// Reads the curves over time from the table of the steps, the probes first.
fn curves(results: &Results) -> Result<Vec<Curve>, Finding> {
    let path = results.folder.join(TRANSIENT);
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
