//! Keyword lines and data lines of an input file.

use std::borrow::Cow;

use super::error::Fault;
use crate::quote::quoted;
use crate::read_error::{Located, Parsed, Place};

/// The lines of a file, without comments and empty ones.
pub(super) struct Lines<'a> {
    rest: &'a [u8],
    /// How many lines were taken.
    taken: usize,
}

/// `*NAME, PARAMETER=VALUE, PARAMETER`, with all its continuation lines.
#[derive(Clone)]
pub(super) struct Keyword {
    /// In capitals, without blanks and star.
    pub name: String,
    /// The words as they are written, in capitals.
    pub written: String,
    /// The parameters: names as that of the keyword, values as they stand.
    parameters: Vec<(String, Option<String>)>,
    /// First line of the keyword, from 1.
    pub line: usize,
}

/// A data line: fields between commas.
pub(super) struct Data<'a> {
    pub text: Cow<'a, str>,
    /// From 1.
    pub line: usize,
}

impl<'a> Lines<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        let rest = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        Self { rest, taken: 0 }
    }

    /// The next keyword, over the data lines before it.
    pub fn keyword(&mut self) -> Option<Keyword> {
        loop {
            let (start, line) = self.peek()?;
            self.take();
            if start == b'*' {
                return Some(self.parse_keyword(&line));
            }
        }
    }

    /// The next data line of the current keyword.
    pub fn data(&mut self) -> Option<Data<'a>> {
        match self.peek()? {
            (b'*', _) => None,
            (_, text) => {
                self.take();
                Some(Data { text, line: self.taken })
            }
        }
    }

    fn parse_keyword(&mut self, first: &str) -> Keyword {
        let line = self.taken;
        let mut text = first.trim().to_owned();
        while text.ends_with(',') {
            match self.peek() {
                Some((start, more)) if start.is_ascii_alphabetic() => {
                    self.take();
                    text.push_str(more.trim());
                }
                _ => break,
            }
        }
        let mut fields = fields(text.trim_start_matches('*'));
        let first = fields.next().unwrap_or_default();
        let (name, written) = (capitals(first), first.trim().to_uppercase());
        let parameter = |field: &str| match field.split_once('=') {
            Some((name, value)) => (capitals(name), Some(unquoted(value.trim()).to_owned())),
            None => (capitals(field), None),
        };
        let parameters = fields.filter(|field| !field.is_empty()).map(parameter).collect();
        Keyword { name, written, parameters, line }
    }

    /// The first character of the next line that says something, and the line.
    fn peek(&mut self) -> Option<(u8, Cow<'a, str>)> {
        loop {
            let line = &self.rest[..self.line_length()];
            let text = line.trim_ascii();
            if let Some(&start) = text.first().filter(|_| !text.starts_with(b"**")) {
                return Some((start, String::from_utf8_lossy(text)));
            }
            if self.rest.is_empty() {
                return None;
            }
            self.take();
        }
    }

    fn take(&mut self) {
        self.rest = &self.rest[(self.line_length() + 1).min(self.rest.len())..];
        self.taken += 1;
    }

    fn line_length(&self) -> usize {
        self.rest.iter().position(|&b| b == b'\n').unwrap_or(self.rest.len())
    }
}

impl Keyword {
    /// The value of a parameter, which may not be left out.
    pub fn required(&self, parameter: &'static str) -> Parsed<&str> {
        self.get(parameter).filter(|value| !value.is_empty()).ok_or_else(|| {
            self.fault(Fault::MissingParameter { keyword: self.name.clone(), parameter })
        })
    }

    /// The value of a parameter.
    pub fn get(&self, parameter: &str) -> Option<&str> {
        self.parameters.iter().find(|(name, _)| name == parameter)?.1.as_deref()
    }

    /// Whether a parameter stands there, with a value or without.
    pub fn has(&self, parameter: &str) -> bool {
        self.parameters.iter().any(|(name, _)| name == parameter)
    }

    /// The names of its parameters.
    pub fn parameters(&self) -> impl Iterator<Item = &str> {
        self.parameters.iter().map(|(name, _)| name.as_str())
    }

    /// A fault at the keyword.
    pub fn fault(&self, fault: Fault) -> Located {
        at_line(self.line, fault)
    }
}

impl Data<'_> {
    /// The fields, without blanks around them; an empty one behind the last comma is none.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        let text = self.text.trim_end();
        fields(text.strip_suffix(',').unwrap_or(text))
    }

    /// `field` as the number of a node, an element or a direction.
    pub fn tag(&self, keyword: &Keyword, field: &str, expected: &'static str) -> Parsed<u64> {
        let tag = field.parse().ok().filter(|&tag| tag > 0);
        tag.ok_or_else(|| self.malformed(keyword, field, expected))
    }

    /// `field` as a number; a `D` may begin the exponent as in Fortran.
    pub fn double(&self, keyword: &Keyword, field: &str, expected: &'static str) -> Parsed<f64> {
        let number = field.parse().or_else(|_| field.replace(['d', 'D'], "e").parse());
        number.map_err(|_| self.malformed(keyword, field, expected))
    }

    /// A fault that names what should stand here and what does.
    pub fn malformed(&self, keyword: &Keyword, field: &str, expected: &'static str) -> Located {
        let (keyword, found) = (keyword.name.clone(), quoted(field));
        at_line(self.line, Fault::Malformed { keyword, expected, found })
    }
}

/// A fault at a line.
pub(super) fn at_line(line: usize, fault: impl Into<crate::Fault>) -> Located {
    Located { place: Some(Place::Line(line)), fault: Box::new(fault.into()) }
}

/// `name` in capitals without blanks: keywords, parameters and labels are compared so.
pub(super) fn capitals(name: &str) -> String {
    name.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_uppercase).collect()
}

/// `text` without the quotation marks around it.
pub(super) fn unquoted(text: &str) -> &str {
    text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(text)
}

/// The text between commas; a comma within quotation marks does not count.
fn fields(text: &str) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    let separates = move |c| {
        quoted ^= c == '"';
        c == ',' && !quoted
    };
    text.split(separates).map(str::trim)
}
