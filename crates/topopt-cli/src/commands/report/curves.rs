//! The history as curves and as a table.

use std::path::Path;

use topopt_report::{Curve, Table, number};

use super::{Units, read, unreadable, words};
use topopt_study::finding::Finding;

/// The columns of history.csv, which holds numbers only.
pub(super) struct History {
    columns: Vec<String>,
    rows: Vec<Vec<f64>>,
}

impl History {
    /// Reads history.csv.
    ///
    /// # Errors
    /// A file that cannot be read, a row without a number in each column.
    pub fn read(path: &Path) -> Result<Self, Finding> {
        let text = read(path)?;
        let mut lines = text.lines().enumerate();
        let names = lines.next().map_or("", |(_, line)| line);
        let columns: Vec<String> = names.split(',').map(str::to_owned).collect();
        let mut rows = Vec::new();
        for (line, row) in lines {
            let numbers: Option<Vec<f64>> =
                row.split(',').map(|field| field.parse().ok()).collect();
            let Some(row) = numbers.filter(|row| row.len() == columns.len()) else {
                let message = format!("line {} is no row of {} numbers", line + 1, columns.len());
                return Err(unreadable(path, &message));
            };
            rows.push(row);
        }
        Ok(Self { columns, rows })
    }

    /// What is shown over the iterations.
    pub fn curves(&self, units: &Units) -> Vec<Curve> {
        let shown = [
            ("compliance", units.energy.as_str()),
            ("volume_fraction", ""),
            ("change", ""),
            ("grey_level", ""),
            ("pcg_iterations", ""),
        ];
        let place = |name: &str| self.columns.iter().position(|column| column == name);
        let curve = |(name, unit): (&str, &str)| {
            let (x, y) = (place("iteration")?, place(name)?);
            Some(Curve {
                title: words(name),
                unit: (!unit.is_empty()).then(|| unit.into()),
                points: self.rows.iter().map(|row| [row[x], row[y]]).collect(),
            })
        };
        shown.into_iter().filter_map(curve).collect()
    }

    /// The whole of it.
    pub fn table(&self) -> Table {
        let row = |row: &Vec<f64>| row.iter().map(|value| number(*value, 6)).collect();
        let columns = self.columns.iter().map(|name| words(name)).collect();
        Table { columns, rows: self.rows.iter().map(row).collect() }
    }
}
