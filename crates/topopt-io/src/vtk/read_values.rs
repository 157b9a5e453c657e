//! The numbers of an array: text, base64 or raw bytes, in one piece or in compressed blocks.

use std::borrow::Cow;

use rayon::prelude::*;

use super::decompress::Compressor;
use super::kind::Kind;
use super::read_error::Fault;
use super::read_xml::{Content, DataArray, Outline};
use crate::quote::{excerpt, quoted};
use crate::read_error::Parsed;

impl Outline<'_> {
    /// The numbers of an array as floating point; there must be `count` of them.
    pub fn floats(&self, array: &DataArray, count: u64) -> Parsed<Vec<f64>> {
        self.numbers(array, count, |text| text.parse().ok(), Kind::float)
    }

    /// The numbers of an array as integers; there must be `count` of them.
    pub fn integers(&self, array: &DataArray, count: u64) -> Parsed<Vec<i64>> {
        self.numbers(array, count, |text| text.parse().ok(), Kind::integer)
    }

    fn numbers<T: Send>(
        &self,
        array: &DataArray,
        count: u64,
        parse: impl Fn(&str) -> Option<T>,
        convert: impl Fn(Kind, &[u8]) -> T + Sync,
    ) -> Parsed<Vec<T>> {
        let result = match array.content {
            Content::Ascii(text) => parsed(array, text, count, parse),
            _ => self.decoded(array, count, convert),
        };
        result.map_err(|fault| self.fault_in(array, fault))
    }

    fn decoded<T: Send>(
        &self,
        array: &DataArray,
        count: u64,
        convert: impl Fn(Kind, &[u8]) -> T + Sync,
    ) -> Result<Vec<T>, Fault> {
        let (kind, width) = kind_of(array)?;
        let expected = u128::from(count) * width as u128;
        let mut bytes = self.bytes(array, expected)?;
        if !self.big_endian {
            bytes.par_chunks_exact_mut(width).for_each(<[u8]>::reverse);
        }
        let mut values = room(array, bytes.len() / width)?;
        values.par_extend(bytes.par_chunks_exact(width).map(|bytes| convert(kind, bytes)));
        Ok(values)
    }

    /// Number of values of an array by the lengths in front of its data, before anything is
    /// decoded; none for text, which has no such lengths.
    pub fn declared(&self, array: &DataArray) -> Parsed<Option<u128>> {
        if matches!(array.content, Content::Ascii(_)) {
            return Ok(None);
        }
        let declared = || {
            let length = self.lengths(array, &mut self.source(array)?)?;
            Ok(Some(length.total() / kind_of(array)?.1 as u128))
        };
        declared().map_err(|fault: Fault| self.fault_in(array, fault))
    }

    /// The bytes of an array, as long as `expected`; no more are decoded or allocated.
    fn bytes(&self, array: &DataArray, expected: u128) -> Result<Vec<u8>, Fault> {
        let mut source = self.source(array)?;
        let lengths = self.lengths(array, &mut source)?;
        let total = lengths.total();
        if total != expected {
            let found = u64::try_from(total).unwrap_or(u64::MAX);
            let (array, unit) = (excerpt(&array.name), "bytes");
            return Err(Fault::Length { array, found, expected, unit });
        }

        let (n_blocks, size, last, compressor) = match lengths {
            Lengths::Plain(length) => return source.take(length, array).map(Cow::into_owned),
            Lengths::Blocks { count, size, last, compressor } => (count, size, last, compressor),
        };
        let table = source.take(n_blocks.saturating_mul(self.header_width as u64), array)?;
        let lengths = table.chunks_exact(self.header_width).map(|length| self.word(length));
        let mut bytes = zeros(array, usize::try_from(total).unwrap_or(usize::MAX))?;
        let (mut rest, mut blocks) = (&mut bytes[..], Vec::new());
        for (i, length) in (1..).zip(lengths) {
            let size = if i == n_blocks { last } else { size };
            let (own, others) = rest.split_at_mut(size as usize);
            blocks.push((source.take(length, array)?, own));
            rest = others;
        }

        let inflated =
            blocks.into_par_iter().map(|(block, own)| compressor.decompress(&block, own));
        let faults = inflated.filter_map(Result::err);
        faults.find_first(|_| true).map_or(Ok(bytes), |what| Err(data(array, what)))
    }

    /// The lengths in front of the data, which are taken from `source`.
    fn lengths(&self, array: &DataArray, source: &mut Source) -> Result<Lengths, Fault> {
        let mut word = || -> Result<u64, Fault> {
            let bytes = source.take(self.header_width as u64, array)?;
            Ok(self.word(&bytes))
        };
        let Some(compressor) = self.compressor else { return Ok(Lengths::Plain(word()?)) };
        let [count, size, last] = [word()?, word()?, word()?];
        let last = if last == 0 { size } else { last };
        Ok(Lengths::Blocks { count, size, last, compressor })
    }

    /// A number in front of the data.
    fn word(&self, bytes: &[u8]) -> u64 {
        let add = |value: u64, &byte: &u8| value << 8 | u64::from(byte);
        if self.big_endian { bytes.iter().fold(0, add) } else { bytes.iter().rev().fold(0, add) }
    }

    fn source<'b>(&'b self, array: &DataArray<'b>) -> Result<Source<'b>, Fault> {
        match array.content {
            Content::Ascii(text) | Content::Base64(text) => Ok(Source::base64(text.as_bytes())),
            Content::Appended(offset) => {
                let Some(appended) = self.appended else { return Err(Fault::Truncated) };
                let offset = usize::try_from(offset).unwrap_or(usize::MAX);
                let Some(bytes) = appended.bytes.get(offset..) else {
                    return Err(data(array, format!("its offset {offset} is beyond the end")));
                };
                Ok(if appended.base64 { Source::base64(bytes) } else { Source::Raw(bytes) })
            }
        }
    }
}

/// The number type of an array, and its bytes.
fn kind_of(array: &DataArray) -> Result<(Kind, usize), Fault> {
    let kind = Kind::of(&array.kind).and_then(|kind| Some((kind, kind.length(1)?)));
    let what = || format!("its type is {}, not a number", quoted(&array.kind));
    kind.ok_or_else(|| data(array, what()))
}

fn parsed<T>(
    array: &DataArray,
    text: &str,
    count: u64,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Vec<T>, Fault> {
    let number = |word: &str| {
        parse(word)
            .ok_or_else(|| data(array, format!("{} is not a number of its type", quoted(word))))
    };
    let numbers = text.split_ascii_whitespace().map(number).collect::<Result<Vec<_>, _>>()?;
    if numbers.len() as u64 == count {
        return Ok(numbers);
    }
    let (array, found, unit) = (excerpt(&array.name), numbers.len() as u64, "numbers");
    Err(Fault::Length { array, found, expected: count.into(), unit })
}

/// An empty list with memory for `count` entries, if there is enough: a file may claim any number.
fn room<T>(array: &DataArray, count: usize) -> Result<Vec<T>, Fault> {
    let mut list = Vec::new();
    let reserved = list.try_reserve_exact(count);
    reserved.map_err(|_| data(array, format!("not enough memory for its {count} entries")))?;
    Ok(list)
}

/// A list of as many zeros, if there is enough memory.
fn zeros(array: &DataArray, count: usize) -> Result<Vec<u8>, Fault> {
    // Pages that come cleared are cleared by the threads that write to them.
    room::<u8>(array, count).map(|_| vec![0; count])
}

fn data(array: &DataArray, what: String) -> Fault {
    Fault::Data { array: excerpt(&array.name), what }
}

/// Lengths of the data of an array, in bytes.
enum Lengths {
    Plain(u64),
    /// Compressed blocks, of `size` bytes each when inflated, and the last of `last`.
    Blocks {
        count: u64,
        size: u64,
        last: u64,
        compressor: Compressor,
    },
}

impl Lengths {
    /// Returns the number of bytes of all the data, inflated.
    fn total(&self) -> u128 {
        match *self {
            Lengths::Plain(length) => length.into(),
            Lengths::Blocks { count: 0, .. } => 0,
            Lengths::Blocks { count, size, last, .. } => {
                u128::from(count - 1) * u128::from(size) + u128::from(last)
            }
        }
    }
}

/// Bytes to take from the front.
enum Source<'a> {
    Raw(&'a [u8]),
    Base64 {
        text: &'a [u8],
        /// Decoded and not taken yet, at most two bytes.
        left: Vec<u8>,
    },
}

impl<'a> Source<'a> {
    fn base64(text: &'a [u8]) -> Self {
        Source::Base64 { text, left: Vec::new() }
    }

    /// Reads the next `count` bytes, after checking that the data are that long.
    fn take(&mut self, count: u64, array: &DataArray) -> Result<Cow<'a, [u8]>, Fault> {
        match self {
            Source::Raw(bytes) => {
                if count > bytes.len() as u64 {
                    return Err(Fault::Truncated);
                }
                let (taken, rest) = bytes.split_at(count as usize);
                *bytes = rest;
                Ok(taken.into())
            }

            Source::Base64 { text, left } => {
                if count > (left.len() + text.len()) as u64 {
                    return Err(Fault::Truncated);
                }
                // Room for `count` bytes, which are known to be there.
                let mut taken = std::mem::take(left);
                taken.reserve(count as usize);
                while (taken.len() as u64) < count {
                    let group = group(text).ok_or(Fault::Truncated)?;
                    decode(group, &mut taken)
                        .ok_or_else(|| data(array, "a character is not base64".into()))?;
                }

                // Groups have three bytes: what is decoded beyond `count` waits for the next call.
                *left = taken.split_off(count as usize);
                Ok(taken.into())
            }
        }
    }
}

/// The next four characters that are no blanks.
fn group(text: &mut &[u8]) -> Option<[u8; 4]> {
    let mut group = [0; 4];
    for character in &mut group {
        let (first, rest) = text.trim_ascii_start().split_first()?;
        *character = *first;
        *text = rest;
    }
    Some(group)
}

/// Appends the one to three bytes of a group, which may be padded by `=`: VTK encodes the header of
/// compressed data by itself, so that padding stands within a text [RFC 4648, section 4].
fn decode(group: [u8; 4], bytes: &mut Vec<u8>) -> Option<()> {
    let padding = group.iter().rev().take_while(|&&c| c == b'=').count();
    if padding > 2 {
        return None;
    }
    let mut value = 0;
    for character in &group[..4 - padding] {
        let digit = match character {
            b'A'..=b'Z' => character - b'A',
            b'a'..=b'z' => character - b'a' + 26,
            b'0'..=b'9' => character - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        value = value << 6 | u32::from(digit);
    }
    value <<= 6 * padding;
    bytes.extend_from_slice(&value.to_be_bytes()[1..4 - padding]);
    Some(())
}
