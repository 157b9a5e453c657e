//! The case file: what it accepts, and what it says about what it does not.

mod continuation;
mod design;
mod filter;
mod keys;
mod mesh;
mod overrides;
mod schema;
mod solver;
mod style;
mod supports_and_loads;
mod whole;

use std::path::Path;

use topopt_case::config::Config;
use topopt_cli::render::{Drawing, render};

const CASE: &str = r#"[mesh]
generator = "cantilever"
size = 1

[[supports]]
set = "fixed"

[[loads]]
set = "load"
force = [0, -1, 0]

[design]
style = "smooth"
volume_fraction = 0.3

[filter]
radius = 3
"#;

fn parse(text: String, overrides: &[&str]) -> Result<Config, String> {
    let overrides: Vec<String> = overrides.iter().map(|&o| o.to_owned()).collect();
    Config::parse(Path::new("cases/case.toml"), text, &overrides)
        .map_err(|error| render(error.findings(), Drawing::Plain))
}

/// The message about `CASE` with `old` replaced by `new`.
fn refused(old: &str, new: &str) -> String {
    assert!(CASE.contains(old), "{old} is not in the case");
    parse(CASE.replacen(old, new, 1), &[]).unwrap_err()
}

/// The message about `CASE` with the overrides.
fn override_refused(overrides: &[&str]) -> String {
    parse(CASE.to_owned(), overrides).unwrap_err()
}
