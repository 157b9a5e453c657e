//! Rows of a table with a column for each load case.

use serde_json::Value;
use topopt_report::Table;

use crate::commands::pages::wording::text;

/// The load cases that were found.
pub(super) struct Rows<'a> {
    pub cases: Vec<&'a Value>,
}

impl<'a> Rows<'a> {
    pub fn of(found: &'a Value) -> Self {
        Self { cases: found["load_cases"].as_array().into_iter().flatten().collect() }
    }

    /// A row with a name, and the `value` of each load case.
    pub fn row(&self, name: String, value: &dyn Fn(&Value) -> String) -> Vec<String> {
        std::iter::once(name).chain(self.cases.iter().map(|case| value(case))).collect()
    }

    /// The table of these rows.
    pub fn table(&self, rows: Vec<Vec<String>>) -> Table {
        let names = self.cases.iter().map(|case| format!("Load case {}", text(&case["name"])));
        Table { columns: std::iter::once(String::new()).chain(names).collect(), rows }
    }
}
