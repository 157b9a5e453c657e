//! The history as curves and as a table.

use std::path::Path;

use topopt_report::{Curve, Table, number};
use topopt_study::config::PhysicsKind;
use topopt_study::finding::Finding;
use topopt_study::history::History;

use crate::commands::pages::wording::{Units, read, unreadable, words};

/// Reads history.csv.
///
/// # Errors
/// A file that cannot be read, a row without a finite number in each column.
pub(super) fn read_history(path: &Path) -> Result<History, Finding> {
    History::parse(&read(path)?).map_err(|error| unreadable(path, &error))
}

/// The last column of every table; those of responses that a case asks for follow.
const LAST_OF_ALL: &str = "output_seconds";

/// What is shown over the iterations.
pub(super) fn curves(history: &History, units: &Units, physics: PhysicsKind) -> Vec<Curve> {
    let shown = [
        ("compliance", units.energy.as_str()),
        ("volume_fraction", ""),
        ("change", ""),
        ("kkt_residual", ""),
        ("grey_level", ""),
        ("pcg_iterations", ""),
    ];
    // Objective and responses with limits come last.
    let last = history.columns.iter().skip_while(|name| *name != LAST_OF_ALL).skip(1);
    let own = last.map(|name| (name.as_str(), ""));
    let place = |name: &str| history.columns.iter().position(|column| column == name);
    let curve = |(name, unit): (&str, &str)| {
        let (x, y) = (place("iteration")?, place(name)?);
        Some(Curve {
            title: words(&physics.in_words(name)),
            unit: (!unit.is_empty()).then(|| unit.into()),
            points: history.rows.iter().map(|row| [row[x], row[y]]).collect(),
        })
    };
    own.chain(shown).filter_map(curve).collect()
}

/// The whole of it.
pub(super) fn table(history: &History, physics: PhysicsKind) -> Table {
    let row = |row: &Vec<f64>| row.iter().map(|value| number(*value, 6)).collect();
    let columns = history.columns.iter().map(|name| words(&physics.in_words(name))).collect();
    Table { columns, rows: history.rows.iter().map(row).collect() }
}
