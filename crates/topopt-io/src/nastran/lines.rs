//! Lines of a deck, and entries of several lines with their fields.

use std::borrow::Cow;
use std::ops::Range;

use super::error::Fault;
use super::field;
use crate::lines::TextLines;
use crate::quote::quoted;
use crate::read_error::{Located, Parsed};

/// The lines of a file, without comments and empty ones.
pub(super) struct Lines<'a>(TextLines<'a>);

/// A line without its comment and the blanks behind it; a tab is blanks up to the next field.
pub(super) struct Line<'a> {
    pub text: Cow<'a, [u8]>,
    /// From 1.
    pub number: usize,
}

/// A bulk data entry: its name and its fields, over all its lines.
pub(super) struct Card {
    /// In capitals.
    pub name: String,
    /// First line of the entry, from 1.
    pub line: usize,
    text: Vec<u8>,
    fields: Vec<Range<usize>>,
}

/// Columns of a field in small format.
const SMALL: usize = 8;

impl<'a> Lines<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(TextLines::new(bytes))
    }

    /// The next line that says something.
    pub fn take(&mut self) -> Option<Line<'a>> {
        loop {
            let line = without_comment(self.0.take()?);
            if !line.is_empty() {
                return Some(Line { text: expanded(line), number: self.0.number() });
            }
        }
    }

    /// The next line if it continues an entry.
    fn take_continuation(&mut self) -> Option<Line<'a>> {
        loop {
            let line = without_comment(self.0.peek()?);
            if !line.is_empty() {
                return if is_continuation(line) { self.take() } else { None };
            }
            self.0.take();
        }
    }

    /// The entry that `line` begins, with the lines that continue it.
    pub fn card(&mut self, line: &Line) -> Parsed<Card> {
        let first = Split::of(line)?;
        if is_continuation(&line.text) {
            return Err(Located::at_line(line.number, Fault::NothingToContinue));
        }
        let name = String::from_utf8_lossy(first.head).trim_end_matches('*').trim().to_uppercase();
        let mut card = Card { name, line: line.number, text: Vec::new(), fields: Vec::new() };
        let mut mark = card.add(&first);
        while let Some(line) = self.take_continuation() {
            let next = Split::of(&line)?;
            let found = next.head[1.min(next.head.len())..].trim_ascii();
            if !mark.is_empty() && !found.is_empty() && !mark.eq_ignore_ascii_case(found) {
                let [expected, found] = [&mark, found].map(|m| quoted(&String::from_utf8_lossy(m)));
                return Err(Located::at_line(line.number, Fault::Continuation { expected, found }));
            }
            mark = card.add(&next);
        }
        Ok(card)
    }
}

/// `line` without its comment and the blanks behind it.
fn without_comment(line: &[u8]) -> &[u8] {
    let comment = line.iter().position(|&byte| byte == b'$').unwrap_or(line.len());
    line[..comment].trim_ascii_end()
}

/// Whether a line continues the entry before it: its first field is blank or a mark.
fn is_continuation(line: &[u8]) -> bool {
    let end = line.iter().position(|&byte| byte == b',' || byte == b'\t');
    let first = &line[..end.unwrap_or(SMALL).min(line.len())];
    matches!(line.first(), Some(b'+' | b'*')) || first.trim_ascii().is_empty()
}

/// `line` with blanks in place of tabs.
fn expanded(line: &[u8]) -> Cow<'_, [u8]> {
    if !line.contains(&b'\t') || line.contains(&b',') {
        return line.into();
    }
    let mut text = Vec::new();
    for &byte in line {
        match byte {
            b'\t' => text.resize((text.len() / SMALL + 1) * SMALL, b' '),
            _ => text.push(byte),
        }
    }
    text.into()
}

/// The parts of a line.
struct Split<'a> {
    /// Name of the entry or mark of a continuation.
    head: &'a [u8],
    /// The fields behind it.
    fields: Vec<&'a [u8]>,
    /// Number of fields that fit on the line: 8, or 4 wide ones.
    room: usize,
    /// Mark of the continuation to come.
    mark: &'a [u8],
}

impl<'a> Split<'a> {
    fn of(line: &'a Line) -> Parsed<Self> {
        let text: &[u8] = &line.text;
        if text.contains(&b',') {
            return Self::free(text).map_err(|fault| Located::at_line(line.number, fault));
        }

        let between = |start: usize, end: usize| {
            text[start.min(text.len())..end.min(text.len())].trim_ascii()
        };
        let head = between(0, SMALL);
        let room = room(head);
        let width = 8 * SMALL / room;
        let field = |i: usize| between(SMALL + i * width, SMALL + (i + 1) * width);
        let fields = (0..room).map(field).collect();
        Ok(Self { head, fields, room, mark: marked(between(9 * SMALL, 10 * SMALL)) })
    }

    /// Splits a line of fields between commas.
    fn free(text: &'a [u8]) -> Result<Self, Fault> {
        let mut parts = text.split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
        let head = parts.next().unwrap_or_default();
        let room = room(head);
        let mut fields: Vec<&[u8]> = parts.by_ref().take(room).collect();
        let mut mark = parts.next().unwrap_or_default();
        if parts.any(|part| !part.is_empty()) {
            return Err(Fault::LongLine);
        }

        // A line may end with the mark before all its fields are used.
        let is_mark = |part: &[u8]| {
            part.first().is_some_and(|sign| b"+*".contains(sign)) && field::real(part).is_none()
        };
        if let Some(last) = fields.pop_if(|last| is_mark(last)) {
            mark = last;
        }
        Ok(Self { head, fields, room, mark: marked(mark) })
    }
}

/// Number of fields after `head`; a star in it marks wide ones.
fn room(head: &[u8]) -> usize {
    if head.starts_with(b"*") || head.ends_with(b"*") { 4 } else { 8 }
}

/// The name of a mark such as `+A1`; other text in the last columns is a comment.
fn marked(text: &[u8]) -> &[u8] {
    match text {
        [b'+' | b'*', mark @ ..] => mark.trim_ascii(),
        _ => &[],
    }
}

impl Card {
    /// Adds the fields of a line; gives the mark at its end.
    fn add(&mut self, line: &Split) -> Vec<u8> {
        // A line of small fields is equivalent to two of wide ones.
        let before = self.fields.len().next_multiple_of(line.room);
        self.fields.resize(before, 0..0);
        for field in &line.fields {
            let start = self.text.len();
            self.text.extend_from_slice(field);
            self.fields.push(start..self.text.len());
        }
        self.fields.resize(before + line.room, 0..0);
        line.mark.to_vec()
    }

    /// The entry for people: `MATT1 (line 7)`.
    pub fn label(&self) -> String {
        format!("{} (line {})", self.name, self.line)
    }

    /// Number of fields after the name, up to the last one that is not blank.
    pub fn n_fields(&self) -> usize {
        self.fields.iter().rposition(|field| !field.is_empty()).map_or(0, |last| last + 1)
    }

    /// Field `number`, 1 being the name; empty if there is none.
    pub fn text(&self, number: usize) -> &[u8] {
        self.fields.get(number - 2).map_or(&[], |field| &self.text[field.clone()])
    }

    /// Whether a field has a word, such as `THRU`.
    pub fn is_word(&self, number: usize, word: &str) -> bool {
        self.text(number).eq_ignore_ascii_case(word.as_bytes())
    }

    /// Whether a field is blank.
    pub fn is_blank(&self, number: usize) -> bool {
        self.text(number).is_empty()
    }

    /// A number of a grid, an element or the like, which is at least 1.
    pub fn tag(&self, number: usize, expected: &'static str) -> Parsed<u64> {
        let tag = field::integer(self.text(number)).filter(|tag| *tag > 0);
        tag.ok_or_else(|| self.malformed(number, expected))
    }

    /// A number that is 0 where the field is blank.
    pub fn number(&self, number: usize, expected: &'static str) -> Parsed<u64> {
        if self.is_blank(number) {
            return Ok(0);
        }
        field::integer(self.text(number)).ok_or_else(|| self.malformed(number, expected))
    }

    /// A real number; `blank` where the field is.
    pub fn real_or(&self, number: usize, blank: f64, expected: &'static str) -> Parsed<f64> {
        if self.is_blank(number) { Ok(blank) } else { self.real(number, expected) }
    }

    /// A real number; none where the field is blank.
    pub fn real_if_any(&self, number: usize, expected: &'static str) -> Parsed<Option<f64>> {
        if self.is_blank(number) { Ok(None) } else { self.real(number, expected).map(Some) }
    }

    /// A real number.
    pub fn real(&self, number: usize, expected: &'static str) -> Parsed<f64> {
        field::real(self.text(number)).ok_or_else(|| self.malformed(number, expected))
    }

    /// Three real numbers from this field on; 0 where it is blank.
    pub fn vector(&self, number: usize, expected: &'static str) -> Parsed<[f64; 3]> {
        let mut vector = [0.0; 3];
        for (i, x) in vector.iter_mut().enumerate() {
            *x = self.real_or(number + i, 0.0, expected)?;
        }
        Ok(vector)
    }

    /// Components 1 to 6.
    pub fn components(&self, number: usize) -> Parsed<[bool; 6]> {
        let expected = "components as digits from 1 to 6";
        field::components(self.text(number)).ok_or_else(|| self.malformed(number, expected))
    }

    /// A fault that names what should stand in a field and what does.
    pub fn malformed(&self, number: usize, expected: &'static str) -> Located {
        let found = quoted(&String::from_utf8_lossy(self.text(number)));
        let entry = crate::quote::excerpt(&self.name);
        Located::at_line(self.line, Fault::Malformed { entry, field: number, expected, found })
    }
}
