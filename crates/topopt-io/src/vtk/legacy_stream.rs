//! The lines and numbers of a legacy file, as text or as big-endian bytes.

use super::kind::Kind;
use super::read_error::Fault;
use crate::quote::quoted;
use crate::read_error::{self, Located, Place};

/// A file that is read from its beginning to its end.
pub(super) struct Stream<'a> {
    bytes: &'a [u8],
    at: usize,
    pub is_binary: bool,
}

impl<'a> Stream<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, is_binary: false }
    }

    /// The next line, without the blanks around it; none at the end of the file.
    pub fn any_line(&mut self) -> Option<String> {
        let rest = &self.bytes[self.at..];
        if rest.is_empty() {
            return None;
        }
        let length = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
        self.at += (length + 1).min(rest.len());
        Some(String::from_utf8_lossy(rest[..length].trim_ascii()).into_owned())
    }

    /// Passes over the lines up to a blank one.
    pub fn skip_paragraph(&mut self) {
        while self.any_line().is_some_and(|line| !line.is_empty()) {}
    }

    /// The next line that is not blank.
    pub fn line(&mut self) -> Option<String> {
        loop {
            let line = self.any_line()?;
            if !line.is_empty() {
                return Some(line);
            }
        }
    }

    /// The next line if it begins with `word`.
    pub fn line_if(&mut self, word: &str) -> Option<String> {
        let before = self.at;
        let line = self.line()?;
        let first = line.split_whitespace().next().unwrap_or("");
        if first.eq_ignore_ascii_case(word) {
            return Some(line);
        }
        self.at = before;
        None
    }

    /// Reads `count` integers; the length of the data is checked before memory is allocated.
    pub fn integers(&mut self, kind: Kind, count: u64) -> Result<Vec<i64>, Located> {
        self.numbers(kind, count, |text| text.parse().ok(), Kind::integer)
    }

    /// `count` numbers.
    pub fn floats(&mut self, kind: Kind, count: u64) -> Result<Vec<f64>, Located> {
        self.numbers(kind, count, |text| text.parse().ok(), Kind::float)
    }

    /// Passes over `count` numbers.
    pub fn skip(&mut self, kind: Kind, count: u64) -> Result<(), Located> {
        if self.is_binary {
            return self.raw(kind, count).map(drop);
        }
        (0..count).try_for_each(|_| self.word().map(drop))
    }

    fn numbers<T>(
        &mut self,
        kind: Kind,
        count: u64,
        parse: impl Fn(&str) -> Option<T>,
        convert: impl Fn(Kind, &[u8]) -> T,
    ) -> Result<Vec<T>, Located> {
        if self.is_binary {
            let raw = self.raw(kind, count)?;
            return Ok(match kind {
                Kind::Bit => {
                    let bit = |i: u64| raw[(i / 8) as usize] >> (7 - i % 8) & 1;
                    (0..count).map(|i| convert(Kind::Integer(1, false), &[bit(i)])).collect()
                }
                Kind::Integer(width, _) | Kind::Float(width) => {
                    raw.chunks_exact(width).map(|bytes| convert(kind, bytes)).collect()
                }
            });
        }

        // A number takes a byte, and a blank stands between two.
        if count > (self.bytes.len() - self.at).div_ceil(2) as u64 {
            return Err(self.fault(Fault::Truncated));
        }
        let mut numbers = Vec::with_capacity(count as usize);
        for _ in 0..count {
            let word = self.word()?;
            let text = String::from_utf8_lossy(word);
            let unexpected = || Fault::Unexpected { expected: "a number", found: quoted(&text) };
            numbers.push(parse(&text).ok_or_else(|| self.fault(unexpected()))?);
        }
        Ok(numbers)
    }

    /// The bytes of `count` numbers.
    fn raw(&mut self, kind: Kind, count: u64) -> Result<&'a [u8], Located> {
        let rest = &self.bytes[self.at..];
        let raw = kind.length(count).and_then(|length| rest.get(..length));
        let raw = raw.ok_or_else(|| self.fault(Fault::Truncated))?;
        self.at += raw.len();
        Ok(raw)
    }

    /// The next word of a text.
    fn word(&mut self) -> Result<&'a [u8], Located> {
        let rest = self.bytes[self.at..].trim_ascii_start();
        if rest.is_empty() {
            return Err(self.fault(Fault::Truncated));
        }
        let length = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        self.at = self.bytes.len() - rest.len() + length;
        Ok(&rest[..length])
    }

    /// A fault at the place that was read last.
    pub fn fault(&self, fault: impl Into<read_error::Fault>) -> Located {
        let place = if self.is_binary {
            Place::Byte(self.at)
        } else {
            let read = self.bytes[..self.at].trim_ascii_end();
            Place::Line(read.iter().filter(|&&byte| byte == b'\n').count() + 1)
        };
        Located::at(place, fault)
    }

    /// A fault that names what should stand here and what does.
    pub fn unexpected(&self, expected: &'static str, found: &str) -> Located {
        self.fault(Fault::Unexpected { expected, found: quoted(found) })
    }
}
