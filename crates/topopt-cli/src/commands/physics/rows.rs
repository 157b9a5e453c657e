//! Rows of a table with a column for each load case.

use topopt_report::{Table, number};

use crate::commands::pages::wording::DIGITS;

/// Rows of the numbers of load cases.
pub struct Rows<'a, C> {
    cases: &'a [C],
    rows: Vec<Vec<String>>,
}

impl<'a, C> Rows<'a, C> {
    pub fn of(cases: &'a [C]) -> Self {
        Self { cases, rows: Vec::new() }
    }

    /// Adds a row with a name, and the `value` of each load case.
    pub fn add(&mut self, name: impl Into<String>, value: impl Fn(&C) -> String) {
        self.rows.push(std::iter::once(name.into()).chain(self.cases.iter().map(value)).collect());
    }

    /// The table of these rows; `name` is that of a load case.
    pub fn table(self, name: impl Fn(&C) -> &str) -> Table {
        let names = self.cases.iter().map(|case| format!("Load case {}", name(case)));
        Table { columns: std::iter::once(String::new()).chain(names).collect(), rows: self.rows }
    }
}

/// A number as tables show it.
pub fn short(x: f64) -> String {
    number(x, DIGITS)
}
