//! The lines of a text.

/// Lines of a text that were not taken yet, counted from 1.
#[derive(Default)]
pub(crate) struct TextLines<'a> {
    rest: &'a [u8],
    taken: usize,
}

impl<'a> TextLines<'a> {
    /// The lines of `bytes`, without a byte order mark before them.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes), taken: 0 }
    }

    /// The next line without its end, which stays; none behind the last.
    pub fn peek(&self) -> Option<&'a [u8]> {
        let end = self.rest.iter().position(|&b| b == b'\n').unwrap_or(self.rest.len());
        (!self.rest.is_empty()).then(|| &self.rest[..end])
    }

    /// The next line without its end; none behind the last.
    pub fn take(&mut self) -> Option<&'a [u8]> {
        let line = self.peek()?;
        self.rest = self.rest.get(line.len() + 1..).unwrap_or_default();
        self.taken += 1;
        Some(line)
    }

    /// Number of the line that was taken last.
    pub fn number(&self) -> usize {
        self.taken
    }
}
