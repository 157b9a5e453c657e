//! The lines and numbers of a legacy file, as text or as big-endian bytes.

use super::read_error::Fault;
use crate::quote::quoted;
use crate::read_error::{self, Located, Place};

/// A file that is read from its beginning to its end.
pub(super) struct Stream<'a> {
    bytes: &'a [u8],
    at: usize,
    pub is_binary: bool,
}

/// A number type of a legacy file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// So many bytes, with a sign or without.
    Integer(usize, bool),
    /// So many bytes.
    Float(usize),
    /// Eight in a byte.
    Bit,
}

impl Kind {
    /// From its name; VTK writes vtkIdType as int.
    pub fn of(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "bit" => Self::Bit,
            "char" | "signed_char" | "vtktypeint8" => Self::Integer(1, true),
            "unsigned_char" | "vtktypeuint8" => Self::Integer(1, false),
            "short" | "vtktypeint16" => Self::Integer(2, true),
            "unsigned_short" | "vtktypeuint16" => Self::Integer(2, false),
            "int" | "vtkidtype" | "vtktypeint32" => Self::Integer(4, true),
            "unsigned_int" | "vtktypeuint32" => Self::Integer(4, false),
            "long" | "vtktypeint64" => Self::Integer(8, true),
            "unsigned_long" | "vtktypeuint64" => Self::Integer(8, false),
            "float" | "vtktypefloat32" => Self::Float(4),
            "double" | "vtktypefloat64" => Self::Float(8),
            _ => return None,
        })
    }

    pub fn is_integer(self) -> bool {
        !matches!(self, Self::Float(_))
    }

    /// Bytes of `count` numbers.
    fn length(self, count: u64) -> Option<usize> {
        let length = match self {
            Self::Bit => Some(count.div_ceil(8)),
            Self::Integer(width, _) | Self::Float(width) => count.checked_mul(width as u64),
        };
        length.and_then(|length| usize::try_from(length).ok())
    }

    fn integer(self, bytes: &[u8]) -> i64 {
        let value = bytes.iter().fold(0_u64, |value, &byte| value << 8 | u64::from(byte));
        match self {
            Self::Integer(1, true) => i64::from(value as i8),
            Self::Integer(2, true) => i64::from(value as i16),
            Self::Integer(4, true) => i64::from(value as i32),
            Self::Integer(8, true) => value as i64,
            _ => i64::try_from(value).unwrap_or(i64::MAX),
        }
    }

    fn float(self, bytes: &[u8]) -> f64 {
        match (self, bytes) {
            (Self::Float(4), &[a, b, c, d]) => f32::from_be_bytes([a, b, c, d]).into(),
            (Self::Float(_), bytes) => bytes.try_into().map_or(f64::NAN, f64::from_be_bytes),
            _ => self.integer(bytes) as f64,
        }
    }
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

    /// `count` integers; that so many can be there is known before there is memory for them.
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
        Located { place: Some(place), fault: Box::new(fault.into()) }
    }

    /// A fault that names what should stand here and what does.
    pub fn unexpected(&self, expected: &'static str, found: &str) -> Located {
        self.fault(Fault::Unexpected { expected, found: quoted(found) })
    }
}
