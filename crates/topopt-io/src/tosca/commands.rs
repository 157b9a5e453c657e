//! The commands of a parameter file.

use super::error::Fault;
use crate::lines::TextLines;
use crate::quote::excerpt;
use crate::read_error::{Located, Parsed};

/// A command, from its word to END_.
pub(super) struct Command {
    /// The word, in capitals.
    pub word: String,
    /// Line of the word.
    pub line: usize,
    pub items: Vec<Item>,
    /// Entries between LIST_BEGIN and the end.
    pub list: Vec<String>,
}

/// A line `KEY = value, value`.
pub(super) struct Item {
    /// In capitals.
    pub key: String,
    pub values: Vec<String>,
    pub line: usize,
}

/// Returns the commands of a text.
pub(super) fn commands(text: &str) -> Parsed<Vec<Command>> {
    let mut all: Vec<Command> = Vec::new();
    let (mut is_open, mut is_list) = (false, false);
    let mut lines = TextLines::new(text.as_bytes());
    while let Some(bytes) = lines.take() {
        let (text, line) = (String::from_utf8_lossy(bytes), lines.number());
        let text = text.split('!').next().unwrap_or_default().trim();
        if text.is_empty() {
            continue;
        }
        let word = text.to_ascii_uppercase();
        let Some(command) = all.last_mut().filter(|_| is_open) else {
            if !is_word(&word) {
                return Err(Located::at_line(line, Fault::NotTosca(excerpt(text))));
            }
            all.push(Command { word, line, items: Vec::new(), list: Vec::new() });
            (is_open, is_list) = (true, false);
            continue;
        };

        match word.as_str() {
            "END_" => is_open = false,
            "LIST_BEGIN" => is_list = true,
            "LIST_END" => is_list = false,
            _ if is_list => command.list.extend(parts(text, &[',', ' ', '\t'])),
            _ => command.items.push(item(command, text, line)?),
        }
    }
    match all.last().filter(|_| is_open) {
        Some(command) => Err(Located::at_line(command.line, Fault::Open(command.word.clone()))),
        None if all.is_empty() => Err(Fault::NotTosca("nothing".into()).into()),
        None => Ok(all),
    }
}

fn is_word(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

fn item(command: &Command, text: &str, line: usize) -> Parsed<Item> {
    match text.split_once('=') {
        Some((key, values)) => {
            let key = key.trim().to_ascii_uppercase();
            Ok(Item { key, values: parts(values, &[',']).collect(), line })
        }
        None => {
            let fault = Fault::Malformed {
                command: command.word.clone(),
                expected: "`NAME = value` or `END_`".into(),
                found: excerpt(text),
            };
            Err(Located::at_line(line, fault))
        }
    }
}

/// Entries between separators.
fn parts<'a>(text: &'a str, separators: &'a [char]) -> impl Iterator<Item = String> + 'a {
    let parts = text.split(separators).map(|part| part.trim().trim_matches(['"', '\'']).to_owned());
    parts.filter(|part| !part.is_empty())
}

impl Command {
    /// The items `key`; some commands have several.
    pub fn all<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a Item> + Clone {
        self.items.iter().filter(move |item| item.key == key)
    }

    pub fn first(&self, key: &str) -> Option<&Item> {
        self.items.iter().find(|item| item.key == key)
    }

    /// The first item `key`, which must be there and have a value.
    pub fn needed(&self, key: &'static str, expected: &'static str) -> Parsed<&Item> {
        let command = self.to_string();
        let Some(item) = self.first(key) else {
            let fault = Fault::Missing { command, item: key, expected };
            return Err(Located::at_line(self.line, fault));
        };
        if item.values.is_empty() {
            let (expected, found) = (format!("{expected} as {key}"), "nothing".into());
            return Err(Located::at_line(item.line, Fault::Malformed { command, expected, found }));
        }
        Ok(item)
    }

    /// The first value of the item `key`, in capitals; blank if there is none.
    pub fn keyword(&self, key: &str) -> String {
        let value = self.first(key).and_then(|item| item.values.first());
        value.map_or_else(String::new, |value| value.to_ascii_uppercase())
    }

    /// The first number of the item `key`.
    pub fn number(&self, key: &str) -> Parsed<Option<f64>> {
        let Some(item) = self.first(key) else { return Ok(None) };
        item.number(0, &self.to_string()).map(Some)
    }

    /// The first number of the item `key`, which must be above 0.
    pub fn positive(&self, key: &str) -> Parsed<Option<f64>> {
        let Some(item) = self.first(key) else { return Ok(None) };
        let number = item.number(0, &self.to_string())?;
        (number > 0.0).then_some(Some(number)).ok_or_else(|| {
            let fault = Fault::Malformed {
                command: self.to_string(),
                expected: format!("a number above 0 as {key}"),
                found: item.values[0].clone(),
            };
            Located::at_line(item.line, fault)
        })
    }

    /// Name of the command, for others to find it.
    pub fn name(&self) -> &str {
        let value = self.first("ID_NAME").and_then(|item| item.values.first());
        value.map_or("", String::as_str)
    }

    /// Whether the command is the `word` of this name.
    pub fn is(&self, word: &str, name: &str) -> bool {
        self.word == word && self.name().eq_ignore_ascii_case(name)
    }
}

impl std::fmt::Display for Command {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { word, line, .. } = self;
        match self.name() {
            "" => write!(f, "{word} (line {line})"),
            name => write!(f, "{word} {} (line {line})", excerpt(name)),
        }
    }
}

impl Item {
    /// The value at a `place` from 0, which must be a finite number.
    pub fn number(&self, place: usize, command: &str) -> Parsed<f64> {
        let value = self.values.get(place);
        let number = value.and_then(|value| value.parse().ok()).filter(|x: &f64| x.is_finite());
        number.ok_or_else(|| {
            let fault = Fault::Malformed {
                command: command.into(),
                expected: format!("a number as value {} of {}", place + 1, self.key),
                found: value.map_or_else(|| "nothing".into(), |value| excerpt(value)),
            };
            Located::at_line(self.line, fault)
        })
    }

    /// The last three values; none may be missing.
    pub fn vector(&self, command: &str) -> Parsed<[f64; 3]> {
        let first = self.values.len().saturating_sub(3);
        let number = |i| self.number(first + i, command);
        Ok([number(0)?, number(1)?, number(2)?])
    }
}
