//! Errors in the user's input as data: message, place in the file, remedy.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// One thing that is wrong with the input, with its place in a file where there is one.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Finding {
    /// Description of the error, in one sentence.
    pub message: String,
    /// Place of the value in the case file or in an override, if it is about one.
    pub place: Option<Place>,
    /// Advice to the user.
    pub remedy: Option<String>,
}

/// A place in the text that the user gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    /// The text, as it may be shown.
    pub text: Arc<Text>,
    /// Bytes of it.
    pub span: Range<usize>,
    /// Label to show at the place.
    pub label: String,
}

/// A text with its name.
#[derive(Debug, PartialEq)]
pub struct Text {
    /// Path of the file, or `--set`.
    pub name: String,
    /// The content.
    pub content: String,
}

impl Finding {
    /// A finding without a place in a file. Words of a file in `message` reach no terminal as
    /// commands.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: printable(&message.into()), place: None, remedy: None }
    }

    /// The finding at `span` of `source`.
    pub fn at(self, source: &Source, span: Range<usize>, label: impl Into<String>) -> Self {
        let (text, span) = source.locate(span);
        Self { place: Some(Place { text, span, label: label.into() }), ..self }
    }

    /// The finding with what to do about it.
    pub fn remedy(self, remedy: impl Into<String>) -> Self {
        Self { remedy: Some(printable(&remedy.into())), ..self }
    }
}

/// Everything that is wrong with the user's input; at least one finding.
#[derive(Debug, Clone)]
pub struct InputError {
    findings: Vec<Finding>,
}

impl InputError {
    /// `Ok` if there is no finding.
    pub fn if_any(findings: Vec<Finding>) -> Result<(), Self> {
        if findings.is_empty() { Ok(()) } else { Err(Self { findings }) }
    }

    /// The findings, in the order of the file.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }
}

impl From<Finding> for InputError {
    fn from(finding: Finding) -> Self {
        Self { findings: vec![finding] }
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let messages: Vec<_> = self.findings.iter().map(|p| p.message.as_str()).collect();
        f.write_str(&messages.join("; "))
    }
}

impl std::error::Error for InputError {}

/// `text` of the same length, with `?` for every byte of what a terminal takes for a command.
fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c.is_control() && c != '\n' && c != '\t' {
            true => shown.extend(std::iter::repeat_n('?', c.len_utf8())),
            false => shown.push(c),
        }
    }
    shown
}

/// The case file and the `--set` arguments behind it. Positions count through all of these texts
/// one after the other, so that a position alone says where a value comes from.
#[derive(Debug, Clone, Default)]
pub struct Source {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone)]
struct Piece {
    start: usize,
    text: String,
    /// The text as it may be shown.
    shown: Arc<Text>,
}

impl Source {
    /// The texts in order, each with its name.
    pub fn new(texts: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut start = 0;
        let mut pieces = Vec::new();
        for (name, text) in texts {
            let end = start + text.len() + 1;
            let shown = Arc::new(Text { name, content: printable(&text) });
            pieces.push(Piece { start, shown, text });
            start = end;
        }
        Self { pieces }
    }

    /// The texts with the position at which each begins.
    pub fn texts(&self) -> impl Iterator<Item = (usize, &str)> {
        self.pieces.iter().map(|piece| (piece.start, piece.text.as_str()))
    }

    /// Name of the case file, the first text.
    pub fn file_name(&self) -> &str {
        self.pieces.first().map_or("", |piece| piece.shown.name.as_str())
    }

    /// The text at a place.
    pub fn text(&self, span: Range<usize>) -> Option<&str> {
        let after = self.pieces.partition_point(|piece| piece.start <= span.start);
        let piece = self.pieces.get(after.checked_sub(1)?)?;
        piece.text.get(span.start - piece.start..span.end.checked_sub(piece.start)?)
    }

    fn locate(&self, span: Range<usize>) -> (Arc<Text>, Range<usize>) {
        let after = self.pieces.partition_point(|piece| piece.start <= span.start);
        let piece = &self.pieces[after - 1];
        (piece.shown.clone(), span.start - piece.start..span.end - piece.start)
    }
}
