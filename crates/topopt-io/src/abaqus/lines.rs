//! Keyword lines and data lines of an input file.

use std::borrow::Cow;
use std::rc::Rc;

use super::error::Fault;
use crate::lines::TextLines;
use crate::quote::quoted;
use crate::read_error::{Located, Parsed};

/// The lines of a file, without comments and empty ones.
pub(super) struct Lines<'a> {
    text: TextLines<'a>,
    /// Name of the last keyword.
    keyword: Rc<str>,
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
    /// Name of the keyword above it.
    keyword: Rc<str>,
}

impl<'a> Lines<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { text: TextLines::new(bytes), keyword: "".into() }
    }

    /// The next keyword, over the data lines before it.
    pub fn keyword(&mut self) -> Option<Keyword> {
        loop {
            let (start, line) = self.peek()?;
            self.text.take();
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
                self.text.take();
                Some(Data { text, line: self.text.number(), keyword: self.keyword.clone() })
            }
        }
    }

    fn parse_keyword(&mut self, first: &str) -> Keyword {
        let line = self.text.number();
        let mut text = first.trim().to_owned();
        while text.ends_with(',') {
            match self.peek() {
                Some((start, more)) if start.is_ascii_alphabetic() => {
                    self.text.take();
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
        self.keyword = name.as_str().into();
        Keyword { name, written, parameters, line }
    }

    /// The first character of the next line that says something, and the line.
    fn peek(&mut self) -> Option<(u8, Cow<'a, str>)> {
        loop {
            let text = self.text.peek()?.trim_ascii();
            if let Some(&start) = text.first().filter(|_| !text.starts_with(b"**")) {
                return Some((start, String::from_utf8_lossy(text)));
            }
            self.text.take();
        }
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
        Located::at_line(self.line, fault)
    }
}

impl Data<'_> {
    /// The fields, without blanks around them; an empty one behind the last comma is none.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        let text = self.text.trim_end();
        fields(text.strip_suffix(',').unwrap_or(text))
    }

    /// Field `i`, from 0; an empty text if there is none.
    pub fn field(&self, i: usize) -> &str {
        self.fields().nth(i).unwrap_or("")
    }

    /// `field` as the number of a node, an element or a direction.
    pub fn tag(&self, field: &str, expected: &'static str) -> Parsed<u64> {
        let tag = field.parse().ok().filter(|&tag| tag > 0);
        tag.ok_or_else(|| self.malformed(field, expected))
    }

    /// Field `i` as a tag; `blank` where it is.
    pub fn tag_or(&self, i: usize, blank: u64, expected: &'static str) -> Parsed<u64> {
        match self.field(i) {
            "" => Ok(blank),
            field => self.tag(field, expected),
        }
    }

    /// `field` as a number; a `D` may begin the exponent as in Fortran.
    pub fn double(&self, field: &str, expected: &'static str) -> Parsed<f64> {
        let number = field.parse().or_else(|_| field.replace(['d', 'D'], "e").parse());
        number.map_err(|_| self.malformed(field, expected))
    }

    /// Field `i` as a number; `blank` where it is.
    pub fn double_or(&self, i: usize, blank: f64, expected: &'static str) -> Parsed<f64> {
        match self.field(i) {
            "" => Ok(blank),
            field => self.double(field, expected),
        }
    }

    /// The numbers from field `from` on; 0 where it is blank.
    pub fn doubles<const N: usize>(&self, from: usize, expected: &'static str) -> Parsed<[f64; N]> {
        let mut numbers = [0.0; N];
        let fields = self.fields().skip(from);
        for (number, field) in numbers.iter_mut().zip(fields).filter(|(_, f)| !f.is_empty()) {
            *number = self.double(field, expected)?;
        }
        Ok(numbers)
    }

    /// A fault that names what should stand here and what does.
    pub fn malformed(&self, field: &str, expected: &'static str) -> Located {
        let (keyword, found) = (self.keyword.to_string(), quoted(field));
        Located::at_line(self.line, Fault::Malformed { keyword, expected, found })
    }
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
