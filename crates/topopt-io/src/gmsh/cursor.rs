//! Reads numbers and section marks from a file as it comes, text and binary alike.

use std::io::Read;
use std::str::FromStr;

use super::error::Fault;
use crate::import::finite;
use crate::quote::quoted;
use crate::read_error::{self, Located, Parsed, Place};

/// Bytes that are read at once.
const CHUNK: usize = 1 << 20;

/// No line and no word of a file is longer.
const LONGEST: usize = 1 << 16;

/// A lower bound of the bytes of a record, by encoding.
#[derive(Debug, Clone, Copy)]
pub(super) struct Least {
    pub text: u64,
    pub binary: u64,
}

/// A position in a file that is in memory piece by piece. In a text file a record is a line; in
/// a binary one numbers follow each other without separators.
pub(super) struct Cursor<'a> {
    source: &'a mut dyn Read,
    /// Bytes that were read, from `start` on not used yet.
    buffer: Vec<u8>,
    start: usize,
    /// Bytes of the file before the buffer, and lines.
    bytes_before: u64,
    lines_before: usize,
    /// Bytes of the file.
    length: u64,
    /// Whether the source has no more bytes.
    ended: bool,
    /// Whether the file is binary.
    pub binary: bool,
    /// Whether numbers are text in spite of that.
    text: bool,
    section: String,
}

impl<'a> Cursor<'a> {
    /// The begin of `source`, which has `length` bytes.
    pub fn new(source: &'a mut dyn Read, length: u64) -> Self {
        Self {
            source,
            buffer: Vec::new(),
            start: 0,
            bytes_before: 0,
            lines_before: 0,
            length,
            ended: false,
            binary: false,
            text: false,
            section: String::new(),
        }
    }

    /// A fault at the current position.
    pub fn fault(&self, fault: impl Into<read_error::Fault>) -> Located {
        let place = if self.binary {
            Place::Byte(self.bytes_before as usize + self.start)
        } else {
            Place::Line(1 + self.lines_before + n_lines(&self.buffer[..self.start]))
        };
        Located::at(place, fault)
    }

    /// Moves over blanks and line ends; `false` at the end of the file.
    pub fn skip_blanks(&mut self) -> Parsed<bool> {
        loop {
            let rest = self.look(LONGEST)?;
            let (length, blanks) = (rest.len(), leading_blanks(rest, |_| true));
            self.start += blanks;
            if blanks < length || length == 0 {
                return Ok(length > 0);
            }
        }
    }

    /// Enters the section that begins here and gives its name, without the `$`.
    pub fn begin_section(&mut self) -> Parsed<String> {
        if self.look(LONGEST)?.first() != Some(&b'$') {
            return Err(self.malformed("the mark of the next section ($...)", self.line_here()));
        }
        self.section = self.text_line()?[1..].trim().to_owned();
        Ok(self.section.clone())
    }

    /// Leaves the section: only its end mark may stand here.
    pub fn end_section(&mut self) -> Parsed<()> {
        if !self.skip_blanks()? {
            return Err(self.fault(Fault::Truncated(self.section.clone())));
        }
        let mark = format!("$End{}", self.section);
        if !self.look(LONGEST)?.starts_with(mark.as_bytes()) {
            let expected = "the end of the section (or the count is wrong)";
            return Err(self.malformed(expected, self.line_here()));
        }
        self.start += mark.len();
        Ok(())
    }

    /// Moves behind the end mark of a section whose content is not wanted.
    pub fn skip_section(&mut self) -> Parsed<()> {
        let mark = format!("$End{}", self.section);
        loop {
            let rest = self.look(LONGEST.max(2 * mark.len()))?;
            if let Some(offset) = rest.windows(mark.len()).position(|w| w == mark.as_bytes()) {
                self.start += offset + mark.len();
                return Ok(());
            }
            if rest.len() < mark.len() {
                return Err(self.fault(Fault::Truncated(self.section.clone())));
            }
            self.start += rest.len() - (mark.len() - 1);
        }
    }

    /// The rest of the line as text, and over its end.
    pub fn text_line(&mut self) -> Parsed<String> {
        let rest = self.look(LONGEST)?;
        let length = rest.iter().position(|&b| b == b'\n');
        if length.is_none() && rest.len() >= LONGEST {
            return Err(self.malformed("a line of text", self.line_here()));
        }
        let length = length.unwrap_or(rest.len());
        let (text, over) = (String::from_utf8_lossy(&rest[..length]).into(), rest.len());
        self.start += (length + 1).min(over);
        Ok(text)
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
        self.number(expected, |bytes| i32::from_le_bytes(bytes).into())
    }

    /// A 64-bit unsigned integer.
    pub fn size(&mut self, expected: &'static str) -> Parsed<u64> {
        self.number(expected, u64::from_le_bytes)
    }

    /// A floating-point number.
    pub fn double(&mut self, expected: &'static str) -> Parsed<f64> {
        self.number(expected, f64::from_le_bytes)
    }

    /// The rest of the line, which must be text in quotation marks.
    pub fn quoted(&mut self, expected: &'static str) -> Parsed<String> {
        self.look(LONGEST)?;
        let start = self.start;
        let line = self.text_line()?;
        match line.trim().strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
            Some(text) => Ok(text.to_owned()),
            None => {
                self.start = start;
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
        finite(tag, coordinates).map_err(|fault| self.fault(fault))
    }

    /// Ends a record: in a text file nothing may be left on the line.
    pub fn end_record(&mut self) -> Parsed<()> {
        if self.reads_binary() {
            return Ok(());
        }
        self.end_line()?;
        self.skip_blanks().map(drop)
    }

    /// Moves over the end of the line, and no further: binary numbers may follow.
    pub fn end_line(&mut self) -> Parsed<()> {
        self.skip_spaces()?;
        match self.rest().first() {
            None => Ok(()),
            Some(b'\n') => {
                self.start += 1;
                Ok(())
            }
            Some(_) => Err(self.malformed("the end of the line", self.line_here())),
        }
    }

    /// Converts `announced` to a length, after checking that so many items of at least `least`
    /// bytes can still follow. No memory may be allocated by an unchecked count.
    pub fn count(&self, announced: u64, what: &'static str, least: Least) -> Parsed<usize> {
        let each = if self.reads_binary() { least.binary } else { least.text };
        let left = self.length.saturating_sub(self.bytes_before + self.start as u64);
        if announced > left / each {
            let section = self.section.clone();
            return Err(self.fault(Fault::Count { section, what, announced, left }));
        }
        Ok(announced as usize)
    }

    /// A fault that names what should stand here and what does.
    pub fn malformed(&self, expected: &'static str, found: String) -> Located {
        self.fault(Fault::Malformed { section: self.section.clone(), expected, found })
    }

    fn reads_binary(&self) -> bool {
        self.binary && !self.text
    }

    /// The bytes in memory from here on.
    fn rest(&self) -> &[u8] {
        &self.buffer[self.start..]
    }

    /// Returns the bytes from here on: at least `wanted` of them, unless the file ends before.
    fn look(&mut self, wanted: usize) -> Parsed<&[u8]> {
        if self.rest().len() < wanted && !self.ended {
            self.fill(wanted)?;
        }
        Ok(self.rest())
    }

    fn fill(&mut self, wanted: usize) -> Parsed<()> {
        if !self.binary {
            self.lines_before += n_lines(&self.buffer[..self.start]);
        }
        self.bytes_before += self.start as u64;
        self.buffer.drain(..self.start);
        self.start = 0;
        let missing = CHUNK.max(wanted) - self.buffer.len();
        let read = (&mut *self.source).take(missing as u64).read_to_end(&mut self.buffer);
        self.ended = read.map_err(read_error::Fault::Io)? < missing;
        Ok(())
    }

    #[inline]
    fn take<const N: usize>(&mut self) -> Parsed<[u8; N]> {
        match self.look(N)?.first_chunk::<N>().copied() {
            Some(chunk) => {
                self.start += N;
                Ok(chunk)
            }
            None => Err(self.fault(Fault::Truncated(self.section.clone()))),
        }
    }

    fn skip_spaces(&mut self) -> Parsed<()> {
        self.start += leading_blanks(self.look(LONGEST)?, |b| b != b'\n');
        Ok(())
    }

    #[inline]
    fn number<T: FromStr, const N: usize>(
        &mut self,
        expected: &'static str,
        decode: impl FnOnce([u8; N]) -> T,
    ) -> Parsed<T> {
        if self.reads_binary() { self.take().map(decode) } else { self.token(expected) }
    }

    /// The next word of this line, parsed.
    fn token<T: FromStr>(&mut self, expected: &'static str) -> Parsed<T> {
        self.skip_spaces()?;
        let rest = self.look(LONGEST)?;
        if rest.is_empty() {
            return Err(self.fault(Fault::Truncated(self.section.clone())));
        }
        let length = rest.iter().take(LONGEST).position(u8::is_ascii_whitespace);
        let length = length.unwrap_or(rest.len());
        let word = if length < LONGEST { std::str::from_utf8(&rest[..length]).ok() } else { None };
        match word.and_then(|word| word.parse().ok()) {
            Some(value) => {
                self.start += length;
                Ok(value)
            }
            None => Err(self.malformed(expected, self.line_here())),
        }
    }

    /// Describes the line from here on, for a message: at most 40 characters in quotation marks.
    fn line_here(&self) -> String {
        let rest = self.rest();
        let line = rest.iter().take(80).take_while(|&&b| b != b'\n').copied().collect::<Vec<_>>();
        let text = String::from_utf8_lossy(&line);
        let text = text.trim();
        if text.is_empty() {
            return if rest.is_empty() { "the end of the file" } else { "the end of the line" }
                .into();
        }
        quoted(text)
    }
}

fn n_lines(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&b| b == b'\n').count()
}

/// Number of leading blanks of a kind.
fn leading_blanks(bytes: &[u8], kind: impl Fn(u8) -> bool) -> usize {
    bytes.iter().take_while(|&&b| b.is_ascii_whitespace() && kind(b)).count()
}
