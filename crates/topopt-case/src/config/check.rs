//! Holds a case file against the JSON schema: unknown and missing keys, types, ranges, choices.

use std::ops::Range;

use serde_json::Value;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use crate::finding::{Finding, InputError, Source};

/// Everything in `table` that the schema of the case file does not allow.
pub(super) fn check(table: &Spanned<DeTable>, source: &Source) -> Result<(), InputError> {
    let schema = super::schema();
    let mut checker = Checker { source, root: &schema, findings: Vec::new() };
    checker.table(table.get_ref(), table.span(), &schema, "");
    checker.findings.sort_by_key(|(start, _)| *start);
    InputError::if_any(checker.findings.into_iter().map(|(_, finding)| finding).collect())
}

/// The one of `known` that `word` is most likely meant to be.
pub fn closest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let distance = |other: &str| edit_distance(&word.to_lowercase(), other);
    let nearest = known.into_iter().min_by_key(|other| distance(other))?;
    (distance(nearest) <= 1 + word.len() / 4).then_some(nearest)
}

/// A case file may come from somebody else, and names no program to run.
const NO_PROGRAM: &str = "remove the key, and choose Gmsh on the command line by \
                          `--gmsh PROGRAM`, or by the variable GMSH";

struct Checker<'a> {
    source: &'a Source,
    /// The whole schema, which conditions of selections refer to.
    root: &'a Value,
    findings: Vec<(usize, Finding)>,
}

impl Checker<'_> {
    fn push(&mut self, finding: Finding, span: Range<usize>, label: &str, remedy: String) {
        let start = span.start;
        self.findings.push((start, finding.at(self.source, span, label).remedy(remedy)));
    }

    /// `name`: dotted path of the table, empty for the whole file.
    fn table(&mut self, table: &DeTable, span: Range<usize>, schema: &Value, name: &str) {
        let Some(keys) = schema["properties"].as_object() else { return };
        let mut misspelt = Vec::new();
        for (key, value) in table {
            let path = join(name, key.get_ref());
            match keys.get(key.get_ref().as_ref()) {
                Some(schema) => self.value(value, schema, &path),
                None => {
                    let absent = keys.keys().filter(|known| !table.contains_key(known.as_str()));
                    let near = closest(key.get_ref(), absent.map(String::as_str));
                    misspelt.extend(near);
                    self.unknown(key, near, keys.keys(), name);
                }
            }
        }
        for key in strings(&schema["required"]) {
            if !table.contains_key(key) && !misspelt.contains(&key) {
                self.missing(key, &keys[key], span.clone(), name);
            }
        }
    }

    fn unknown<'k>(
        &mut self,
        key: &Spanned<DeString>,
        near: Option<&str>,
        known: impl Iterator<Item = &'k String>,
        name: &str,
    ) {
        let place = if name.is_empty() { "the case file" } else { &format!("[{name}]") };
        let known = || known.map(String::as_str).collect::<Vec<_>>().join(", ");
        let remedy = match near {
            _ if (name, key.get_ref().as_ref()) == ("mesh", "gmsh") => NO_PROGRAM.into(),
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("{place} may have the keys {}", known()),
        };
        let finding = Finding::new(format!("unknown key `{}` in {place}", key.get_ref()));
        self.push(finding, key.span(), "not a known key", remedy);
    }

    fn missing(&mut self, key: &str, schema: &Value, span: Range<usize>, name: &str) {
        let about = schema["description"].as_str().unwrap_or_default();
        let about = lower_first(about.trim_end_matches('.'));
        if name.is_empty() {
            let is_list = schema["type"] == "array";
            let table = if is_list { format!("[[{key}]]") } else { format!("[{key}]") };
            let finding = Finding::new(format!("{} has no {table}", self.source.file_name()));
            self.findings.push((span.start, finding.remedy(format!("add {table}: {about}"))));
        } else {
            let allowed = allowed(schema).map(|allowed| format!(" ({allowed})"));
            let remedy = format!("add `{key} = ...`: {about}{}", allowed.unwrap_or_default());
            self.push(Finding::new(format!("[{name}] has no `{key}`")), span, "here", remedy);
        }
    }

    fn value(&mut self, value: &Spanned<DeValue>, schema: &Value, name: &str) {
        if let Some(place) = schema["$ref"].as_str() {
            let root = self.root;
            let target = root.pointer(place.trim_start_matches('#')).unwrap_or(&Value::Null);
            return self.value(value, target, name);
        }
        if let Some(choices) = schema["anyOf"].as_array() {
            return self.one_of(value, choices, name);
        }

        let kind = schema["type"].as_str().unwrap_or("string");
        match (kind, value.get_ref()) {
            ("object", DeValue::Table(table)) => self.table(table, value.span(), schema, name),
            ("array", DeValue::Array(array)) => self.array(array, value.span(), schema, name),
            ("integer" | "number", DeValue::Integer(_)) | ("number", DeValue::Float(_)) => {
                self.number(value, schema, name);
            }
            // A terminal takes some for commands, wherever the text is printed.
            ("string", DeValue::String(text)) if text.contains(char::is_control) => {
                let finding = Finding::new(format!("`{name}` has control characters"));
                let remedy = "write it without line ends, tabs and escape sequences".into();
                self.push(finding, value.span(), "not printable", remedy);
            }
            ("string", DeValue::String(text)) => {
                if let Some(choices) = choices(schema)
                    && !choices.contains(&text.as_ref())
                {
                    self.choice(text, value.span(), &choices, schema, name);
                }
            }
            ("boolean", DeValue::Boolean(_)) => {}
            (_, found) => {
                let (wanted, found) = (wanted(kind), describe(found));
                let finding = Finding::new(format!("`{name}` must be {wanted}, not {found}"));
                let allowed = allowed(schema).map(|allowed| format!(", {allowed}"));
                let remedy = format!("give {wanted}{}", allowed.unwrap_or_default());
                self.push(finding, value.span(), found, remedy);
            }
        }
    }

    /// A value that may be of several types, each with its schema.
    fn one_of(&mut self, value: &Spanned<DeValue>, choices: &[Value], name: &str) {
        // Of names with a meaning each the type is left out.
        let kinds = || choices.iter().map(|choice| choice["type"].as_str().unwrap_or("string"));
        let is_of = |kind: &str| match value.get_ref() {
            DeValue::Integer(_) => matches!(kind, "number" | "integer"),
            DeValue::Float(_) => kind == "number",
            DeValue::String(_) => kind == "string",
            DeValue::Table(_) => kind == "object",
            DeValue::Array(_) => kind == "array",
            _ => false,
        };
        match choices.iter().zip(kinds()).find(|(_, kind)| is_of(kind)) {
            Some((schema, _)) => self.value(value, schema, name),
            None => {
                let wanted = kinds().map(wanted).collect::<Vec<_>>().join(" or ");
                let found = describe(value.get_ref());
                let finding = Finding::new(format!("`{name}` must be {wanted}, not {found}"));
                self.push(finding, value.span(), found, format!("give {wanted}"));
            }
        }
    }

    fn array(
        &mut self,
        array: &[Spanned<DeValue>],
        span: Range<usize>,
        schema: &Value,
        name: &str,
    ) {
        let bound = |key: &str| schema[key].as_u64().map(|n| n as usize);
        let (least, most) = (bound("minItems").unwrap_or(0), bound("maxItems"));
        if array.len() < least || most.is_some_and(|most| array.len() > most) {
            let wanted = if most == Some(least) { "exactly" } else { "at least" };
            let n = array.len();
            let finding = Finding::new(format!("`{name}` needs {wanted} {least} entries, not {n}"));
            self.push(finding, span.clone(), "this list", about(schema));
        }

        for (i, entry) in array.iter().enumerate() {
            let in_table = matches!(entry.get_ref(), DeValue::Table(_));
            let path = if in_table { name.to_owned() } else { format!("{name}[{i}]") };
            self.value(entry, &schema["items"], &path);
            let text = entry.get_ref().as_str();
            if schema["uniqueItems"] == true
                && text.is_some()
                && array[..i].iter().any(|other| other.get_ref().as_str() == text)
            {
                let finding = Finding::new(format!("`{name}` lists an entry twice"));
                self.push(finding, entry.span(), "a second time", "remove one of them".into());
            }
        }
    }

    fn number(&mut self, value: &Spanned<DeValue>, schema: &Value, name: &str) {
        let number = match value.get_ref() {
            DeValue::Integer(n) => {
                i128::from_str_radix(n.as_str(), n.radix()).ok().map(|n| n as f64)
            }
            DeValue::Float(x) => x.as_str().parse().ok(),
            _ => None,
        };

        let bound = |key: &str| schema[key].as_f64();
        let inside = number.is_some_and(|x: f64| {
            bound("minimum").is_none_or(|least| x >= least)
                && bound("exclusiveMinimum").is_none_or(|limit| x > limit)
                && bound("maximum").is_none_or(|most| x <= most)
                && bound("exclusiveMaximum").is_none_or(|limit| x < limit)
        });

        if !number.is_some_and(f64::is_finite) {
            let finding = Finding::new(format!("`{name}` must be a finite number"));
            let allowed = allowed(schema).map(|allowed| format!(", {allowed}"));
            let remedy = format!("give a number{}", allowed.unwrap_or_default());
            self.push(finding, value.span(), "not finite", remedy);
        } else if !inside {
            let finding = Finding::new(format!("`{name}` is out of range"));
            let allowed = allowed(schema).unwrap_or_default();
            self.push(finding, value.span(), &format!("must be {allowed}"), about(schema));
        }
    }

    fn choice(
        &mut self,
        text: &str,
        span: Range<usize>,
        choices: &[&str],
        schema: &Value,
        name: &str,
    ) {
        let finding = Finding::new(format!("`{name}` cannot be \"{text}\""));
        let remedy = match (schema["x-remedy"].as_str(), closest(text, choices.iter().copied())) {
            (Some(remedy), _) => remedy.to_owned(),
            (None, Some(near)) => format!("did you mean \"{near}\"?"),
            (None, None) => about(schema),
        };
        let label = format!("must be {}", allowed(schema).unwrap_or_default());
        self.push(finding, span, &label, remedy);
    }
}

/// The remedy that the key's own schema has, else its description.
fn about(schema: &Value) -> String {
    let text = schema["x-remedy"].as_str().or(schema["description"].as_str());
    text.unwrap_or_default().to_owned()
}

/// Returns the values that the schema allows, in words; none if it allows all of its type.
fn allowed(schema: &Value) -> Option<String> {
    if let Some(choices) = choices(schema) {
        let quoted: Vec<_> = choices.iter().map(|choice| format!("\"{choice}\"")).collect();
        return Some(quoted.join(" or "));
    }
    let words = [
        ("exclusiveMinimum", "greater than"),
        ("minimum", "at least"),
        ("exclusiveMaximum", "less than"),
        ("maximum", "at most"),
    ];
    let bounds: Vec<_> = words
        .iter()
        .filter_map(|(key, word)| schema[key].as_f64().map(|bound| format!("{word} {bound}")))
        .collect();
    (!bounds.is_empty()).then(|| bounds.join(" and "))
}

/// The strings that the schema allows, if it allows only some.
fn choices(schema: &Value) -> Option<Vec<&str>> {
    if let Some(described) = schema["oneOf"].as_array() {
        return Some(described.iter().filter_map(|choice| choice["const"].as_str()).collect());
    }
    schema["enum"].is_array().then(|| strings(&schema["enum"]).collect())
}

fn strings(array: &Value) -> impl Iterator<Item = &str> {
    array.as_array().into_iter().flatten().filter_map(Value::as_str)
}

fn wanted(kind: &str) -> &'static str {
    match kind {
        "object" => "a table",
        "array" => "a list",
        "integer" => "a whole number",
        "number" => "a number",
        "boolean" => "true or false",
        _ => "text in quotes",
    }
}

fn describe(value: &DeValue) -> &'static str {
    match value {
        DeValue::String(_) => "text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

fn join(name: &str, key: &str) -> String {
    if name.is_empty() { key.to_owned() } else { format!("{name}.{key}") }
}

fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_lowercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

/// Levenshtein distance.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, letter) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for j in 0..b.len() {
            let replaced = diagonal + usize::from(letter != b[j]);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
