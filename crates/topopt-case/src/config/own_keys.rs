//! `OwnKeys`: keys of a table whose kinds declare them in tables of their own.

use std::collections::BTreeMap;
use std::ops::Range;

use schemars::{Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use toml::{Spanned, Value};

use super::select::SelectKind;
use super::temperature::Temperature;
use super::transient::OverTime;

/// Keys and values of a table.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OwnKeys(BTreeMap<String, Spanned<Value>>);

/// Writes whole numbers as floating-point numbers, so that equal tables are equal.
fn with_floats(value: &mut Value) {
    match value {
        Value::Integer(number) => *value = Value::Float(*number as f64),
        Value::Array(values) => values.iter_mut().for_each(with_floats),
        _ => {}
    }
}

impl OwnKeys {
    /// Keys with values that stand at places of the case file.
    pub(super) fn at(keys: impl IntoIterator<Item = (&'static str, Range<usize>, Value)>) -> Self {
        let placed = |(key, place, value): (&str, _, _)| (key.into(), Spanned::new(place, value));
        Self(keys.into_iter().map(placed).collect())
    }

    /// Writes whole numbers as floating-point numbers.
    pub(super) fn with_floats(&mut self) {
        self.0.values_mut().for_each(|value| with_floats(value.get_mut()));
    }

    /// Whether keys and values are the same as those of another table.
    pub(super) fn is_as(&self, other: &Self) -> bool {
        let values = |keys: &Self| -> Vec<(String, Value)> {
            let all = keys.0.iter();
            all.map(|(key, value)| (key.clone(), value.get_ref().clone())).collect()
        };
        values(self) == values(other)
    }

    /// Removes the value of `key`.
    ///
    /// # Errors
    /// A value of another type.
    pub(super) fn taken<T: DeserializeOwned>(
        &mut self,
        key: &str,
    ) -> Result<Option<Spanned<T>>, toml::de::Error> {
        let value = self.0.remove(key);
        value.map(|v| Ok(Spanned::new(v.span(), v.into_inner().try_into()?))).transpose()
    }

    /// Replaces the value of `key`, or removes it.
    pub(super) fn put(&mut self, key: &str, value: Option<Value>) {
        self.0.remove(key);
        self.0.extend(value.map(|value| (key.to_owned(), Spanned::new(0..0, value))));
    }

    /// Yields names and places of the keys.
    pub fn spans(&self) -> impl Iterator<Item = (&str, Range<usize>)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.span()))
    }

    /// Returns the place of `key`, if it is given.
    pub fn span_of(&self, key: &str) -> Option<Range<usize>> {
        self.0.get(key).map(Spanned::span)
    }

    /// Returns the value of `key` if it is given, and of the type that the schema asks for.
    fn value<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        self.0.get(key)?.get_ref().clone().try_into().ok()
    }

    /// Returns the vector of `key`.
    pub fn vector(&self, key: &str) -> Option<[f64; 3]> {
        self.value(key)
    }

    /// Returns the vectors of `key`.
    pub fn vectors(&self, key: &str) -> Option<Vec<[f64; 3]>> {
        self.value(key)
    }

    /// Returns the number of `key`.
    pub fn number(&self, key: &str) -> Option<f64> {
        self.value(key)
    }

    /// Returns whether `key` is true, if it is given.
    pub fn flag(&self, key: &str) -> Option<bool> {
        self.value(key)
    }

    /// Returns the text of `key` with its place.
    pub fn text(&self, key: &str) -> Option<Spanned<String>> {
        let value = self.0.get(key)?;
        Some(Spanned::new(value.span(), value.get_ref().as_str()?.to_owned()))
    }

    /// Returns the value of `key` with its place.
    pub(super) fn spanned<T: DeserializeOwned>(&self, key: &str) -> Option<Spanned<T>> {
        Some(Spanned::new(self.span_of(key)?, self.value(key)?))
    }

    /// Whether `key` is given, and not false.
    pub fn gives(&self, key: &str) -> bool {
        self.0.get(key).is_some_and(|value| value.get_ref().as_bool() != Some(false))
    }
}

/// Type of the value of a key.
#[derive(Debug, Clone, Copy)]
pub enum Shape {
    /// A text.
    Text,
    /// A kind of sets.
    SetKind,
    /// A number.
    Number,
    /// A number above 0.
    Positive,
    /// A number above 0 and below a bound.
    Below(f64),
    /// A whole number from a bound on.
    Count(u32),
    /// A list of three numbers.
    Vector,
    /// A list of lists of three numbers.
    Vectors,
    /// True or false.
    Flag,
    /// A list of pairs of numbers.
    Table,
    /// A temperature.
    Temperature,
}

impl Shape {
    /// Returns the schema of a key with this `description`.
    pub fn schema(self, generator: &mut SchemaGenerator, description: &str) -> Schema {
        let mut schema = match self {
            Self::Text => generator.subschema_for::<String>(),
            Self::SetKind => generator.subschema_for::<SelectKind>(),
            Self::Number | Self::Positive | Self::Below(_) => generator.subschema_for::<f64>(),
            Self::Count(_) => generator.subschema_for::<u32>(),
            Self::Vector => generator.subschema_for::<[f64; 3]>(),
            Self::Vectors => generator.subschema_for::<Vec<[f64; 3]>>(),
            Self::Flag => generator.subschema_for::<bool>(),
            Self::Table => generator.subschema_for::<OverTime>(),
            Self::Temperature => generator.subschema_for::<Temperature>(),
        };
        match self {
            Self::Positive => {
                schema.insert("exclusiveMinimum".into(), 0.into());
            }
            Self::Below(bound) => {
                schema.insert("exclusiveMinimum".into(), 0.into());
                schema.insert("exclusiveMaximum".into(), bound.into());
            }
            Self::Count(least) => {
                schema.insert("minimum".into(), least.into());
            }
            _ => {}
        }
        schema.insert("description".into(), description.into());
        schema
    }
}
