//! The history of a run as curves and as a table.

use std::path::Path;

use topopt_case::config::PhysicsKind;
use topopt_case::finding::Finding;
use topopt_report::{Curve, Table, count, number};
use topopt_study::history::History;

use crate::commands::pages::wording::{DIGITS, Units, read, unreadable, words};

/// Reads history.csv.
///
/// # Errors
/// A file that cannot be read, a row without a finite number in each column.
pub(super) fn read_history(path: &Path) -> Result<History, Finding> {
    History::parse(&read(path)?).map_err(|error| unreadable(path, &error))
}

/// The last column that every history has; columns of objective and limits follow.
const LAST_OF_ALL: &str = "output_seconds";

/// Returns the curves over the iterations of a run for `objective`, in the units of the pages.
pub(super) fn curves(history: &History, objective: &str, units: &Units) -> Vec<Curve> {
    let shown =
        ["compliance", "volume_fraction", "change", "kkt_residual", "grey_level", "pcg_iterations"];
    // Objective and responses with limits come last.
    let own = history.columns.iter().skip_while(|name| *name != LAST_OF_ALL).skip(1);
    let own = own.map(String::as_str);
    let place = |name: &str| history.columns.iter().position(|column| column == name);

    let curve = |name: &str| {
        let (x, y) = (place("iteration")?, place(name)?);
        let (title, response) = match name {
            "objective" => {
                (format!("Objective: {}", units.lower_words(objective)), objective.to_owned())
            }
            _ => (units.words(name), name.replace('_', " ")),
        };

        let (factor, unit) = units.of_response(&response);
        Some(Curve {
            title,
            unit: (!unit.is_empty()).then(|| unit.into()),
            points: history.rows.iter().map(|row| [row[x], factor * row[y]]).collect(),
        })
    };

    own.chain(shown).filter_map(curve).collect()
}

/// All columns and rows of the history.
pub(super) fn table(history: &History, physics: PhysicsKind) -> Table {
    let row = |row: &Vec<f64>| row.iter().map(|value| shown(*value)).collect();
    let columns = history.columns.iter().map(|name| words(&physics.in_words(name))).collect();
    Table { columns, rows: history.rows.iter().map(row).collect() }
}

/// A value of the table; whole numbers are shown as counts.
fn shown(value: f64) -> String {
    let is_count = value.fract() == 0.0 && (0.0..1e15).contains(&value);
    if is_count { count(value as usize) } else { number(value, DIGITS) }
}
