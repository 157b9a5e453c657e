//! The history as curves and as a table.

use std::path::Path;

use topopt_report::{Curve, Table, number};
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

/// What is shown over the iterations.
pub(super) fn curves(history: &History, units: &Units) -> Vec<Curve> {
    let shown = [
        ("compliance", units.energy.as_str()),
        ("volume_fraction", ""),
        ("change", ""),
        ("grey_level", ""),
        ("pcg_iterations", ""),
    ];
    let place = |name: &str| history.columns.iter().position(|column| column == name);
    let curve = |(name, unit): (&str, &str)| {
        let (x, y) = (place("iteration")?, place(name)?);
        Some(Curve {
            title: words(name),
            unit: (!unit.is_empty()).then(|| unit.into()),
            points: history.rows.iter().map(|row| [row[x], row[y]]).collect(),
        })
    };
    shown.into_iter().filter_map(curve).collect()
}

/// The whole of it.
pub(super) fn table(history: &History) -> Table {
    let row = |row: &Vec<f64>| row.iter().map(|value| number(*value, 6)).collect();
    let columns = history.columns.iter().map(|name| words(name)).collect();
    Table { columns, rows: history.rows.iter().map(row).collect() }
}
