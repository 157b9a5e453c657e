//! The JSON schema of the case file.

use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use serde_json::Value;

use super::Config;

/// The JSON schema of the case file. Only conditions, which contain conditions, are referred to.
pub fn schema() -> Value {
    let settings = SchemaSettings::draft2020_12()
        .with(|settings| settings.inline_subschemas = true)
        .with_transform(WithoutNull)
        .with_transform(OneLine);
    settings.into_generator().into_root_schema_for::<Config>().to_value()
}

/// A description is one line, however its source is wrapped.
#[derive(Debug, Clone)]
struct OneLine;

impl Transform for OneLine {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        if let Some(Value::String(text)) = schema.get_mut("description") {
            *text = text.replace('\n', " ");
        }
    }
}

/// TOML has no null: a key that may be left out is just not required.
#[derive(Debug, Clone)]
struct WithoutNull;

impl Transform for WithoutNull {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        let Some(object) = schema.as_object_mut() else { return };
        if object.get("default") == Some(&Value::Null) {
            object.remove("default");
        }

        let is_null = |kind: &Value| kind == "null" || kind.get("type") == Some(&"null".into());
        if let Some(Value::Array(types)) = object.get_mut("type") {
            types.retain(|kind| !is_null(kind));
            if let [only] = types.as_slice() {
                let only = only.clone();
                object.insert("type".into(), only);
            }
        }

        if let Some(Value::Array(mut choices)) = object.remove("anyOf") {
            choices.retain(|kind| !is_null(kind));
            // A choice of choices is one.
            let flat = choices.into_iter().flat_map(|kind| match kind.get("anyOf") {
                Some(Value::Array(inner)) => inner.clone(),
                _ => vec![kind],
            });
            let mut choices: Vec<Value> = flat.collect();
            if let [Value::Object(only)] = choices.as_mut_slice() {
                // The key's own description stays, not that of its type.
                let description = object.get("description").cloned();
                object.append(only);
                object.extend(description.map(|text| ("description".into(), text)));
            } else {
                object.insert("anyOf".into(), choices.into());
            }
        }
    }
}
