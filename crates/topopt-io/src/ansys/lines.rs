//! The lines of an archive, counted, and the commands on them.

use std::collections::HashMap;

use super::error::Fault;
use crate::lines::TextLines;
use crate::quote::quoted;
use crate::read_error::{self, Located};

/// The lines of a file that were not read yet.
#[derive(Default)]
pub(super) struct Lines<'a>(TextLines<'a>);

impl<'a> Lines<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(TextLines::new(bytes))
    }

    /// The next line without its end and the blanks before that, or `None` behind the last.
    pub fn next_line(&mut self) -> Option<&'a [u8]> {
        self.0.take().map(<[u8]>::trim_ascii_end)
    }

    /// The next line as it stands in the file, without advancing to it.
    pub fn peek(&self) -> &'a [u8] {
        self.0.peek().unwrap_or_default()
    }

    /// Number of the line read last, from 1.
    pub fn number(&self) -> usize {
        self.0.number()
    }

    /// A fault at the line read last.
    pub fn fault(&self, fault: impl Into<read_error::Fault>) -> Located {
        Located::at_line(self.number(), fault)
    }

    /// A fault at the line read last, which is `line`, that names what should stand there.
    pub fn malformed(&self, block: &'static str, expected: &'static str, line: &[u8]) -> Located {
        self.fault(Fault::Malformed { block, expected, found: shown(line) })
    }
}

/// The commands of a line, which `$` separates; texts and comments are one command.
pub(super) fn commands(line: &[u8]) -> Vec<&[u8]> {
    let is_text = matches!(line.trim_ascii_start().first(), Some(b'/' | b'*' | b'C' | b'c' | b'!'));
    let code = line.split(|&b| b == b'!').next().unwrap_or_default();
    if is_text || !code.contains(&b'$') {
        return vec![line];
    }
    code.split(|&b| b == b'$').collect()
}

/// Numbers by the names that `*SET,name,value` and `name=value` give them.
#[derive(Default)]
pub(super) struct Parameters(HashMap<String, String>);

impl Parameters {
    /// Keeps the parameter that a command sets; false if it sets none.
    pub fn set(&mut self, command: &Command) -> bool {
        let (name, value) = match command.fields.as_slice() {
            [star, name, value, ..] if star.eq_ignore_ascii_case("*SET") => {
                (name.as_str(), value.as_str())
            }
            [star, ..] if star.eq_ignore_ascii_case("*SET") => return true,
            [assigned, ..] if !assigned.starts_with(['/', '*']) => match assigned.split_once('=') {
                Some((name, value)) => (name.trim(), value.trim()),
                None => return false,
            },
            _ => return false,
        };
        self.0.insert(name.to_ascii_uppercase(), value.to_owned());
        true
    }
}

/// `NAME,argument,argument`, without comment.
pub(super) struct Command {
    fields: Vec<String>,
}

/// Characters of the longest command line of Ansys.
const LONGEST: usize = 640;

impl Command {
    pub fn parse(line: &[u8]) -> Self {
        let line = &line[..line.len().min(LONGEST)];
        let code = line.split(|&b| b == b'!').next().unwrap_or_default();
        let fields = code.split(|&b| b == b',');
        let text = |field: &[u8]| String::from_utf8_lossy(field).trim().to_owned();
        Self { fields: fields.map(text).collect() }
    }

    /// Replaces names of parameters by their values.
    pub fn resolve(&mut self, parameters: &Parameters) {
        if parameters.0.is_empty() {
            return;
        }
        for field in self.fields.iter_mut().skip(1) {
            if let Some(value) = parameters.0.get(&field.to_ascii_uppercase()) {
                field.clone_from(value);
            }
        }
    }

    /// The name in capitals, cut to the four characters that Ansys reads.
    pub fn name(&self) -> String {
        self.argument(0).chars().take(4).collect::<String>().to_ascii_uppercase()
    }

    /// Argument `i`, from 1; an empty text if there is none.
    pub fn argument(&self, i: usize) -> &str {
        self.fields.get(i).map_or("", String::as_str)
    }

    /// Argument `i` as the number of a node, an element, a type or a material.
    pub fn number(&self, i: usize) -> Option<u32> {
        self.argument(i).parse().ok()
    }

    /// The arguments from `i` on.
    pub fn arguments_from(&self, i: usize) -> &[String] {
        self.fields.get(i..).unwrap_or_default()
    }

    /// Whether the command ends a list, as `N,R5.3,LOC,-1,`.
    pub fn is_end(&self) -> bool {
        is_release(self.argument(1)) && self.fields.iter().any(|field| field == "-1")
    }
}

/// Whether an argument is a release mark, such as `R5.0`, that CDWRITE puts first.
pub(super) fn is_release(argument: &str) -> bool {
    let mut characters = argument.chars();
    matches!(characters.next(), Some('R' | 'r'))
        && characters.next().is_some_and(|c| c.is_ascii_digit())
}

/// A line for a message: at most 40 characters, in quotation marks.
fn shown(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(&line[..line.len().min(160)]);
    let text = text.trim();
    if text.is_empty() {
        return "a blank line".into();
    }
    quoted(text)
}
