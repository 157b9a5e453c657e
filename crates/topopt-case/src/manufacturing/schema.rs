//! Keys of `[[manufacturing]]` in the schema of the case file, and those that a kind does not have.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use super::kind::Key;
use super::kinds::KINDS;
use crate::config::{Config, FilterKind, Manufacturing};
use crate::finding::Finding;

impl JsonSchema for Manufacturing {
    fn schema_name() -> Cow<'static, str> {
        "Manufacturing".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let kinds = KINDS
            .iter()
            .map(|kind| json!({ "const": kind.name, "description": kind.text, "type": "string" }));
        let kind = json!({ "description": "The demand.", "oneOf": kinds.collect::<Vec<_>>() });
        let mut properties = Map::from_iter([("kind".to_owned(), kind)]);
        for key in KINDS.iter().flat_map(|kind| kind.keys) {
            let text = format!("{} Of {}.", key.text, kinds_with(key.name).join(", "));
            properties.insert(key.name.into(), key.shape.schema(generator, &text).into());
        }
        json_schema!({
            "description": "A demand of the way in which the part is made.",
            "type": "object",
            "properties": Value::Object(properties),
            "required": ["kind"],
            "additionalProperties": false,
        })
    }
}

/// Names of the kinds with a key, in quotes.
fn kinds_with(key: &str) -> Vec<String> {
    let has = |keys: &[Key]| keys.iter().any(|other| other.name == key);
    let kinds = KINDS.iter().filter(|kind| has(kind.keys));
    kinds.map(|kind| format!("`{}`", kind.name)).collect()
}

/// Refuses keys that an entry needs and has not, and those that belong to other kinds.
pub(crate) fn misused(config: &Config) -> Vec<Finding> {
    let of_entry = |entry| of_entry(config, entry);
    config.manufacturing.iter().flat_map(of_entry).collect()
}

fn of_entry(config: &Config, entry: &Manufacturing) -> Vec<Finding> {
    let Some(kind) = KINDS.iter().find(|kind| kind.name == entry.kind.get_ref()) else {
        return Vec::new();
    };
    let missing = kind.keys.iter().filter(|key| key.is_required && !entry.gives(key.name));
    let missing = missing.map(|key| {
        let message = format!("`kind = \"{}\"` needs `{}`", kind.name, key.name);
        let finding = Finding::new(message).at(config.source(), entry.kind.span(), "here");
        finding.remedy(format!("add `{} = ...`: {}", key.name, key.text))
    });

    let is_own = |name: &str| kind.keys.iter().any(|key| key.name == name);
    let foreign = entry.spans().filter(|(name, _)| !is_own(name)).map(|(name, span)| {
        let message = format!("`{name}` does not belong to `kind = \"{}\"`", kind.name);
        let finding = Finding::new(message).at(config.source(), span, "of another kind");
        finding.remedy(format!("remove the key: it belongs to {}", kinds_with(name).join(", ")))
    });
    let at_kind = |message: String, label: &str, remedy: &str| {
        Finding::new(message).at(config.source(), entry.kind.span(), label).remedy(remedy)
    };
    let unsuited = (kind.suits)(config, entry);
    let unsuited = unsuited.map(|[message, label, remedy]| at_kind(message.into(), label, remedy));
    let name = kind.name;
    let unprojected = not_followed(config).filter(|_| kind.follows && unsuited.is_none());
    let unprojected = unprojected.map(|[message, label, remedy]| {
        at_kind(format!("`kind = \"{name}\"` {message}"), label, remedy)
    });
    missing.chain(foreign).chain(unsuited).chain(unprojected).collect()
}

/// End of a message, label and remedy where densities cannot follow from those of other elements.
fn not_followed(config: &Config) -> Option<[&'static str; 3]> {
    if config.filter.get_ref().kind != FilterKind::Density {
        return Some([
            "needs the density filter",
            "with another filter",
            "add `kind = \"density\"` to [filter]",
        ]);
    }
    config.has_half_width().then_some([
        "does not go with a surface of a given width",
        "with `half_width` in [[continuation]]",
        "give `sharpness` there: means over corners would undo the demand",
    ])
}
