//! The schema, and keys by their old names.

use topopt_case::config::schema;

use crate::{CASE, parse};

#[test]
fn schema_describes_every_key() {
    let schema = schema();
    let template = include_str!("../../src/commands/template.toml");
    let keys = described_keys(&schema, "");
    assert!(keys.len() > 40, "{keys:?}");
    for key in keys {
        let name = key.rsplit('.').next().unwrap();
        let forms = [format!("{name} = "), format!("[{name}]")];
        assert!(forms.iter().any(|form| template.contains(form)), "{key} is not in the template");
    }
    let solver = &schema["properties"]["solver"]["properties"];
    assert_eq!(solver["strategy"]["default"], "auto");
    assert_eq!(solver["max_iterations"]["minimum"], 1);
    assert_eq!(solver["strategy"]["oneOf"][1]["const"], "mf");
}

/// Every key below `schema` by its dotted path; each must have a type and a description.
fn described_keys(schema: &serde_json::Value, name: &str) -> Vec<String> {
    let below = if schema["type"] == "array" { &schema["items"] } else { schema };
    let Some(keys) = below["properties"].as_object() else { return Vec::new() };
    assert_eq!(below["additionalProperties"], false, "{name}");
    let mut found = Vec::new();
    for (key, schema) in keys {
        let path = format!("{name}.{key}").trim_start_matches('.').to_owned();
        let text = schema["description"].as_str().unwrap_or_default();
        assert!(text.len() > 5 && !text.contains('\n'), "{path} has no description in a line");
        assert!(has_type(schema), "{path}: {schema}");
        found.extend(described_keys(schema, &path));
        found.push(path);
    }
    found
}

fn has_type(schema: &serde_json::Value) -> bool {
    schema["type"].is_string()
        || ["oneOf", "anyOf"].iter().any(|choices| schema[choices].is_array())
        || schema["$ref"] == "#/$defs/Condition"
}

#[test]
fn keys_by_their_old_names_are_read() {
    let select = "[[select]]\nname = \"ball\"\nkind = \"nodes\"\nsphere = { centre = [0, 0, 0], radius = 1 }\n";
    let old = CASE.replacen("radius = 3\n", "radius = 3\nneighbour_memory_mb = 7\n", 1) + select;
    let new = old.replace("neighbour", "neighbor").replace("centre", "center");
    let [of_old, of_new] = [old, new].map(|text| parse(text, &[]).unwrap().to_toml().unwrap());
    assert_eq!(of_old, of_new);
    assert!(of_new.contains("neighbor_memory_mb = 7") && of_new.contains("center"));

    let overridden = parse(CASE.to_owned(), &["filter.neighbour_memory_mb=9"]).unwrap();
    assert_eq!(overridden.filter.get_ref().neighbor_memory_mb, 9);
}
