//! The guide's page of the case file is what the schema says.
//!
//! `TOPOPT_WRITE=1 cargo test --workspace --test documents case_file` writes it again.

use std::fmt::Write;

use serde_json::Value;
use topopt_case::config::schema;
use topopt_tests::{root, text};

const PAGE: &str = "docs/guide/src/case-file.md";

const INTRODUCTION: &str = "\
# The case file

A case file is one TOML file. It is checked as a whole before anything is computed: unknown keys, types,
ranges, and what fits together. This page lists every key; it is made from what `topopt schema` prints.

Keys without a default may be left out unless they are required. Any key can be set on the command line:
`--set solver.tolerance=1e-6`, `--set loads.0.pressure=2`. A list of three numbers is a vector [x, y, z].
Tables in double brackets, such as `[[loads]]`, may occur several times.

## At the top of the file

";

/// The order of the tables: as one writes a case.
const TABLES: [&str; 14] = [
    "units",
    "mesh",
    "material",
    "select",
    "supports",
    "springs",
    "loads",
    "load_cases",
    "design",
    "filter",
    "projection",
    "continuation",
    "optimizer",
    "solver",
];

#[test]
fn the_guide_lists_every_key_of_the_case_file() {
    let page = page(&schema());
    if std::env::var_os("TOPOPT_WRITE").is_some() {
        std::fs::write(root().join(PAGE), &page).unwrap();
    }
    let remedy = "write it again: TOPOPT_WRITE=1 cargo test --workspace --test documents case_file";
    assert!(text(PAGE) == page, "{PAGE} is not what the schema says; {remedy}");
}

/// The page of the case file.
fn page(schema: &Value) -> String {
    let tables = schema["properties"].as_object().expect("the case file has keys");
    let has_keys = |value: &Value| !keys_of(value).is_null();
    let mut page = INTRODUCTION.to_owned();
    let plain = tables.iter().filter(|(_, value)| !has_keys(value));
    add_rows(&mut page, plain, &schema["required"]);

    let others =
        tables.iter().filter(|(name, value)| has_keys(value) && !TABLES.contains(&name.as_str()));
    let first = TABLES.iter().map(|name| (*name, &tables[*name]));
    for (name, table) in first.chain(others.map(|(name, value)| (name.as_str(), value))) {
        add_table(&mut page, name, table);
    }
    add_conditions(&mut page, &schema["$defs"]["Condition"]);
    page
}

/// The keys of a table, or of each table in a list; null for what is no table.
fn keys_of(schema: &Value) -> &Value {
    &body(schema)["properties"]
}

/// What each entry of a list must be, or the schema itself.
fn body(schema: &Value) -> &Value {
    if schema["type"] == "array" { &schema["items"] } else { schema }
}

fn add_table(page: &mut String, name: &str, table: &Value) {
    let heading =
        if table["type"] == "array" { format!("[[{name}]]") } else { format!("[{name}]") };
    let description = body(table)["description"].as_str().or(table["description"].as_str());
    let _ = write!(page, "\n## `{heading}`\n\n{}\n\n", description.unwrap_or_default());
    let keys = keys_of(table).as_object().expect("a table has keys");
    // Conditions have a table of their own.
    let is_condition = |key: &str| name == "select" && key != "name" && key != "kind";
    let keys = keys.iter().filter(|(key, _)| !is_condition(key));
    add_rows(page, keys.clone(), &body(table)["required"]);
    if matches!(name, "material" | "mesh") {
        keys.for_each(|(name, key)| add_inner(page, name, key));
    }
    if name == "select" {
        page.push_str("\nIn addition, the [conditions](#conditions) of a selection.\n");
    }
}

fn add_conditions(page: &mut String, condition: &Value) {
    let description = condition["description"].as_str().unwrap_or_default();
    let _ = write!(page, "\n## Conditions\n\n{description}\n\n");
    let keys = condition["properties"].as_object().expect("conditions have keys");
    add_rows(page, keys, &Value::Null);
    keys.iter().for_each(|(name, key)| add_inner(page, name, key));
}

/// Rows of the keys of a table within a table, or of each in a list of tables.
fn add_inner(page: &mut String, name: &str, key: &Value) {
    let Some(inner) = keys_of(key).as_object() else { return };
    let [open, close] = if key["type"] == "array" { ["[{", "}]"] } else { ["{", "}"] };
    let _ = write!(page, "\n### `{name} = {open} ... {close}`\n\n");
    add_rows(page, inner, &body(key)["required"]);
    inner.iter().for_each(|(name, key)| add_inner(page, name, key));
}

/// A row for each key: name, type and range, default, meaning.
fn add_rows<'a>(
    page: &mut String,
    keys: impl IntoIterator<Item = (&'a String, &'a Value)>,
    required: &Value,
) {
    page.push_str("| key | value | default | meaning |\n|---|---|---|---|\n");
    for (key, schema) in keys {
        let is_required = required.as_array().is_some_and(|all| all.contains(&key.as_str().into()));
        let default = match &schema["default"] {
            Value::Null if is_required => "required".to_owned(),
            Value::Null => String::new(),
            value => format!("`{value}`"),
        };
        let meaning = cell(schema["description"].as_str().unwrap_or_default());
        let choices = choices(schema);
        let _ = writeln!(page, "| `{key}` | {} | {default} | {meaning}{choices} |", value(schema));
    }
}

/// Type and range of a key.
fn value(schema: &Value) -> String {
    let bound = |name: &str, sign: &str| {
        let bound = &schema[name];
        if bound.is_null() { String::new() } else { format!(", {sign} {bound}") }
    };
    let range = bound("minimum", "≥")
        + &bound("exclusiveMinimum", ">")
        + &bound("maximum", "≤")
        + &bound("exclusiveMaximum", "<");

    if let Some(choices) = schema["anyOf"].as_array() {
        return choices.iter().map(value).collect::<Vec<_>>().join("; or ");
    }
    let kind = match schema["type"].as_str() {
        Some("number") => "number",
        Some("integer") => "whole number",
        Some("boolean") => "`true` or `false`",
        Some("string") => "text",
        Some("object") => "table",
        Some("array") => return list(schema),
        _ if schema["oneOf"].is_array() => "one of",
        _ if schema["$ref"] == "#/$defs/Condition" => "table of conditions",
        _ => "",
    };
    format!("{kind}{range}")
}

/// A list: of how many of what.
fn list(schema: &Value) -> String {
    let of = plural(body(schema));
    match schema["maxItems"].as_u64() {
        Some(n) => format!("{n} {of}"),
        None => format!("list of {of}"),
    }
}

/// Several entries of a list.
fn plural(schema: &Value) -> String {
    if let Some(choices) = schema["anyOf"].as_array() {
        return choices.iter().map(plural).collect::<Vec<_>>().join(" or ");
    }
    match schema["type"].as_str() {
        Some("number") => "numbers".into(),
        Some("integer") => "whole numbers".into(),
        Some("string") => "texts".into(),
        Some("array") => match schema["maxItems"].as_u64() {
            Some(n) => format!("lists of {n} {}", plural(&schema["items"])),
            None => format!("lists of {}", plural(&schema["items"])),
        },
        None if schema["oneOf"].is_array() => "choices".into(),
        _ => "tables".into(),
    }
}

/// The values to choose from, each with its meaning.
fn choices(schema: &Value) -> String {
    let all = [schema, body(schema)].into_iter().find_map(|s| s["oneOf"].as_array());
    let text = |choice: &Value| {
        let meaning = cell(choice["description"].as_str().unwrap_or_default());
        format!("<br>`{}`: {meaning}", choice["const"])
    };
    let is_described = |choice: &&Value| !choice["description"].is_null();
    let of_types = schema["anyOf"].as_array().into_iter().flatten().filter(is_described);
    let of_type = |choice: &Value| {
        let meaning = cell(choice["description"].as_str().unwrap_or_default());
        format!("<br>{}: {meaning}", value(choice))
    };
    all.into_iter().flatten().map(text).chain(of_types.map(of_type)).collect()
}

/// Text that stands in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace("[x, y, z]", "(x, y, z)").replace('<', "&lt;")
}
