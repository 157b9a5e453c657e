//! Reads numbers and section marks from the bytes of a file, text and binary alike.

use super::error::Problem;
use crate::read_error::{self, Fault, Parsed, Place};

/// A position in the bytes of a file. In a text file a record is a line; in a binary one numbers
/// follow each other without separators.
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    position: usize,
    /// Whether the file is binary.
    pub binary: bool,
    /// Whether numbers are text in spite of that.
    text: bool,
    section: String,
}

impl<'a> Cursor<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0, binary: false, text: false, section: String::new() }
    }

    /// A fault at the current position.
    pub fn fault(&self, problem: impl Into<read_error::Problem>) -> Fault {
        let place = if self.binary {
            Place::Byte(self.position)
        } else {
            let before = &self.bytes[..self.position.min(self.bytes.len())];
            Place::Line(1 + before.iter().filter(|&&b| b == b'\n').count())
        };
        Fault { place: Some(place), problem: Box::new(problem.into()) }
    }

    /// Moves over blanks and line ends; `false` at the end of the file.
    pub fn skip_blanks(&mut self) -> bool {
        let blanks = self.rest().iter().take_while(|b| b.is_ascii_whitespace()).count();
        self.position += blanks;
        self.position < self.bytes.len()
    }

    /// Enters the section that begins here and gives its name, without the `$`.
    pub fn begin_section(&mut self) -> Parsed<String> {
        if self.rest().first() != Some(&b'$') {
            return Err(self.malformed("the mark of the next section ($...)", self.line_here()));
        }
        self.section = self.text_line()[1..].trim().to_owned();
        Ok(self.section.clone())
    }

    /// Leaves the section: only its end mark may stand here.
    pub fn end_section(&mut self) -> Parsed<()> {
        if !self.skip_blanks() {
            return Err(self.fault(Problem::Truncated(self.section.clone())));
        }
        let mark = format!("$End{}", self.section);
        if !self.rest().starts_with(mark.as_bytes()) {
            let expected = "the end of the section (or the count is wrong)";
            return Err(self.malformed(expected, self.line_here()));
        }
        self.position += mark.len();
        Ok(())
    }

    /// Moves behind the end mark of a section whose content is not wanted.
    pub fn skip_section(&mut self) -> Parsed<()> {
        let mark = format!("$End{}", self.section);
        match self.rest().windows(mark.len()).position(|w| w == mark.as_bytes()) {
            Some(offset) => self.position += offset + mark.len(),
            None => return Err(self.fault(Problem::Truncated(self.section.clone()))),
        }
        Ok(())
    }

    /// The rest of the line as text, and over its end.
    pub fn text_line(&mut self) -> String {
        let rest = self.rest();
        let length = rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
        self.position += (length + 1).min(rest.len());
        String::from_utf8_lossy(&rest[..length]).into_owned()
    }

    /// Runs `read` on numbers that are text even in a binary file.
    pub fn as_text<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.text = true;
        let value = read(self);
        self.text = false;
        value
    }

    /// A 32-bit integer.
    pub fn int(&mut self, expected: &'static str) -> Parsed<i64> {
        if self.reads_binary() {
            Ok(i32::from_le_bytes(self.take()?).into())
        } else {
            self.token(expected, |text| text.parse().ok())
        }
    }

    /// A 64-bit unsigned integer.
    pub fn size(&mut self, expected: &'static str) -> Parsed<u64> {
        if self.reads_binary() {
            Ok(u64::from_le_bytes(self.take()?))
        } else {
            self.token(expected, |text| text.parse().ok())
        }
    }

    /// A floating-point number.
    pub fn double(&mut self, expected: &'static str) -> Parsed<f64> {
        if self.reads_binary() {
            Ok(f64::from_le_bytes(self.take()?))
        } else {
            self.token(expected, |text| text.parse().ok())
        }
    }

    /// The rest of the line, which must be text in quotation marks.
    pub fn quoted(&mut self, expected: &'static str) -> Parsed<String> {
        let start = self.position;
        let line = self.text_line();
        match line.trim().strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
            Some(text) => Ok(text.to_owned()),
            None => {
                self.position = start;
                Err(self.malformed(expected, self.line_here()))
            }
        }
    }

    /// The coordinates of node `tag`, which must be finite.
    pub fn coordinates(&mut self, tag: u64) -> Parsed<[f64; 3]> {
        let mut coordinates = [0.0; 3];
        for x in &mut coordinates {
            *x = self.double("a coordinate")?;
        }
        if coordinates.iter().all(|x| x.is_finite()) {
            Ok(coordinates)
        } else {
            Err(self.fault(read_error::Problem::NotFinite { node: tag, coordinates }))
        }
    }

    /// Ends a record: in a text file nothing may be left on the line.
    pub fn end_record(&mut self) -> Parsed<()> {
        if self.reads_binary() {
            return Ok(());
        }
        self.end_line()?;
        self.skip_blanks();
        Ok(())
    }

    /// Moves over the end of the line, and no further: binary numbers may follow.
    pub fn end_line(&mut self) -> Parsed<()> {
        self.skip_spaces();
        match self.rest().first() {
            None => Ok(()),
            Some(b'\n') => {
                self.position += 1;
                Ok(())
            }
            Some(_) => Err(self.malformed("the end of the line", self.line_here())),
        }
    }

    /// `announced` as a length, after checking that so many things of at least `text` or `binary`
    /// bytes each can still follow. Nothing may be allocated by a count that was not checked.
    pub fn count(
        &self,
        announced: u64,
        what: &'static str,
        text: usize,
        binary: usize,
    ) -> Parsed<usize> {
        let each = if self.reads_binary() { binary } else { text };
        let left = self.rest().len();
        if announced > (left / each) as u64 {
            let section = self.section.clone();
            return Err(self.fault(Problem::Count { section, what, announced, left }));
        }
        Ok(announced as usize)
    }

    /// A fault that names what should stand here and what does.
    pub fn malformed(&self, expected: &'static str, found: String) -> Fault {
        self.fault(Problem::Malformed { section: self.section.clone(), expected, found })
    }

    fn reads_binary(&self) -> bool {
        self.binary && !self.text
    }

    fn rest(&self) -> &'a [u8] {
        &self.bytes[self.position..]
    }

    fn take<const N: usize>(&mut self) -> Parsed<[u8; N]> {
        match self.rest().first_chunk::<N>() {
            Some(chunk) => {
                self.position += N;
                Ok(*chunk)
            }
            None => Err(self.fault(Problem::Truncated(self.section.clone()))),
        }
    }

    fn skip_spaces(&mut self) {
        let blank = |b: &&u8| b.is_ascii_whitespace() && **b != b'\n';
        self.position += self.rest().iter().take_while(blank).count();
    }

    /// The next word of this line, parsed.
    fn token<T>(
        &mut self,
        expected: &'static str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Parsed<T> {
        self.skip_spaces();
        let rest = self.rest();
        let length = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        if rest.is_empty() {
            return Err(self.fault(Problem::Truncated(self.section.clone())));
        }
        match std::str::from_utf8(&rest[..length]).ok().and_then(parse) {
            Some(value) => {
                self.position += length;
                Ok(value)
            }
            None => Err(self.malformed(expected, self.line_here())),
        }
    }

    /// What stands here, for a message: at most 40 characters of the line, in quotation marks.
    fn line_here(&self) -> String {
        let rest = self.rest();
        let line = rest.iter().take(80).take_while(|&&b| b != b'\n').copied().collect::<Vec<_>>();
        let text = String::from_utf8_lossy(&line);
        let text = text.trim();
        if text.is_empty() {
            return if rest.is_empty() { "the end of the file" } else { "the end of the line" }
                .into();
        }
        let shown: String =
            text.chars().take(40).map(|c| if c.is_control() { '?' } else { c }).collect();
        format!("`{shown}`")
    }
}
