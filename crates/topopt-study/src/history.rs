//! The table of the iterations.

use std::time::Duration;

use topopt_case::responses::posed::Posed;
use topopt_design::IterationReport;
use topopt_io::csv;

/// The columns that every table has.
const COLUMNS: [&str; 15] = [
    "iteration",
    "stage",
    "compliance",
    "volume_fraction",
    "grey_level",
    "change",
    "kkt_residual",
    "pcg_iterations",
    "pcg_residual",
    "setup_seconds",
    "pcg_seconds",
    "sensitivity_seconds",
    "filter_seconds",
    "update_seconds",
    "output_seconds",
];

/// The columns of the table for a problem: besides those of every table a column per response that
/// is neither the compliance nor the volume.
pub fn columns(posed: &Posed) -> Vec<String> {
    let another = |name: String| match COLUMNS.contains(&name.as_str()) {
        true => format!("{name}_2"), // a response of the caller's
        false => name,
    };
    let own = posed.columns().into_iter().map(another);
    COLUMNS.into_iter().map(str::to_owned).chain(own).collect()
}

/// Returns the numbers of an iteration in [`columns`], where its output took so long.
pub fn row(posed: &Posed, report: &IterationReport, output: Duration) -> Vec<f64> {
    let times = &report.times;
    let seconds = [times.setup, times.pcg, times.sensitivity, times.filter, times.update, output];
    let numbers = [
        report.iteration as f64,
        report.stage as f64,
        report.compliance,
        report.volume_fraction,
        report.grey_level,
        report.change,
        report.kkt_residual,
        report.pcg_iterations as f64,
        report.pcg_residual,
    ];
    let own = posed.own_values(report);
    numbers.into_iter().chain(seconds.map(|time| time.as_secs_f64())).chain(own).collect()
}

/// A table of finite numbers, a row per iteration.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// `[n_iterations][n_columns]`.
    pub rows: Vec<Vec<f64>>,
}

impl History {
    /// The table in the text of a history.csv.
    ///
    /// # Errors
    /// The first line that is not a row of finite numbers, one per column.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut lines = text.lines();
        let columns = csv::fields(lines.next().unwrap_or_default())
            .ok_or("line 1 has quotation marks that are not closed")?;
        let finite = |field: &str| field.parse().ok().filter(|x: &f64| x.is_finite());
        let row = |(line, row): (usize, &str)| {
            let numbers: Option<Vec<f64>> = row.split(',').map(finite).collect();
            numbers.filter(|row| row.len() == columns.len()).ok_or_else(|| {
                format!("line {} is not a row of {} finite numbers", line + 2, columns.len())
            })
        };
        let rows = lines.enumerate().map(row).collect::<Result<_, _>>()?;
        Ok(Self { columns, rows })
    }

    /// Whether it is what a run for `posed` has written that has come to `iteration`.
    pub(crate) fn is_of_run(&self, posed: &Posed, iteration: usize) -> bool {
        let iterations = self.rows.iter().map(|row| row[0]);
        self.columns == columns(posed) && iterations.eq((1..=iteration).map(|n| n as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_of_finite_numbers_one_per_column() {
        let history = History::parse("iteration,change\n1,0.5\n2,0.25\n").unwrap();
        assert_eq!(history.rows, [[1.0, 0.5], [2.0, 0.25]]);
        for (row, why) in [("3,1e999", "not finite"), ("3", "too short"), ("3,x", "no number")] {
            let bad = format!("iteration,change\n1,0.5\n{row}\n");
            let error = History::parse(&bad).unwrap_err();
            assert_eq!(error, "line 3 is not a row of 2 finite numbers", "{why}");
        }
    }

    #[test]
    fn a_run_counts_its_iterations_from_one() {
        let text = |numbers: &[usize]| {
            let row = |n: &usize| format!("{n}{}\n", ",0".repeat(COLUMNS.len() - 1));
            COLUMNS.join(",") + "\n" + &numbers.iter().map(row).collect::<String>()
        };
        let is_of_run = |numbers: &[usize]| {
            History::parse(&text(numbers)).unwrap().is_of_run(&Posed::default(), 3)
        };
        assert!(is_of_run(&[1, 2, 3]));
        assert!(!is_of_run(&[1, 2]) && !is_of_run(&[1, 3, 2]) && !is_of_run(&[0, 1, 2]));
    }
}
