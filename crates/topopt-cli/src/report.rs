//! What the user is told when the input is wrong: message, place in the file, remedy.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use miette::{GraphicalReportHandler, GraphicalTheme, MietteHandlerOpts, NamedSource};
use miette::{ReportHandler, SourceSpan};

/// One thing that is wrong with the input, with its place in a file where there is one.
#[derive(Debug, Clone, thiserror::Error, miette::Diagnostic)]
#[error("{message}")]
pub struct Finding {
    message: String,
    #[source_code]
    code: Option<Arc<NamedSource<String>>>,
    #[label("{label}")]
    span: Option<SourceSpan>,
    label: String,
    #[help]
    remedy: Option<String>,
}

impl Finding {
    /// A finding without a place in a file.
    pub fn new(message: impl Into<String>) -> Self {
        let message = message.into();
        Self { message, code: None, span: None, label: String::new(), remedy: None }
    }

    /// The finding at `span` of `source`.
    pub(crate) fn at(self, source: &Source, span: Range<usize>, label: impl Into<String>) -> Self {
        let (code, span) = source.locate(span);
        Self { code: Some(code), span: Some(span), label: label.into(), ..self }
    }

    /// The finding with what to do about it.
    pub fn remedy(self, remedy: impl Into<String>) -> Self {
        Self { remedy: Some(remedy.into()), ..self }
    }
}

/// Everything that is wrong with the user's input; at least one finding.
#[derive(Debug, Clone)]
pub struct InputError {
    findings: Vec<Finding>,
}

impl InputError {
    /// `Ok` if there is no finding.
    pub(crate) fn if_any(findings: Vec<Finding>) -> Result<(), Self> {
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

/// How findings are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drawing {
    /// For a terminal: colors, Unicode and width as the terminal has them.
    Terminal,
    /// For a file or a pipe: ASCII, no colors, 100 columns.
    Plain,
}

/// The text that shows `findings` to the user.
pub fn render(findings: &[Finding], drawing: Drawing) -> String {
    let draw = |finding: &Finding| Drawn { finding, drawing }.to_string();
    findings.iter().map(draw).collect::<Vec<_>>().join("\n")
}

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

/// `x` to six digits as people write it: with an exponent where it is very large or small.
pub(crate) fn shown(x: f64) -> String {
    let x = rounded(x);
    match x.abs() {
        size if !size.is_finite() => "beyond the range of numbers".into(),
        size if size != 0.0 && !(1e-5..1e15).contains(&size) => format!("{x:e}"),
        _ => x.to_string(),
    }
}

/// `x` to six digits.
pub(crate) fn rounded(x: f64) -> f64 {
    format!("{x:.5e}").parse().unwrap_or(x)
}

struct Drawn<'a> {
    finding: &'a Finding,
    drawing: Drawing,
}

impl fmt::Display for Drawn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.drawing {
            Drawing::Terminal => MietteHandlerOpts::new().build().debug(self.finding, f),
            Drawing::Plain => GraphicalReportHandler::new_themed(GraphicalTheme::none())
                .with_width(100)
                .with_links(false)
                .render_report(f, self.finding),
        }
    }
}

/// The case file and the `--set` arguments behind it. Positions count through all of these texts
/// one after the other, so that a position alone says where a value comes from.
#[derive(Debug, Clone, Default)]
pub(crate) struct Source {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone)]
struct Piece {
    start: usize,
    text: String,
    /// The text as it may be shown.
    code: Arc<NamedSource<String>>,
}

impl Source {
    /// The texts in order, each with its name.
    pub(crate) fn new(texts: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut start = 0;
        let mut pieces = Vec::new();
        for (name, text) in texts {
            let end = start + text.len() + 1;
            let code = Arc::new(NamedSource::new(name, printable(&text)));
            pieces.push(Piece { start, code, text });
            start = end;
        }
        Self { pieces }
    }

    /// The texts with the position at which each begins.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (usize, &str)> {
        self.pieces.iter().map(|piece| (piece.start, piece.text.as_str()))
    }

    /// Name of the case file, the first text.
    pub(crate) fn file_name(&self) -> &str {
        self.pieces.first().map_or("", |piece| piece.code.name())
    }

    fn locate(&self, span: Range<usize>) -> (Arc<NamedSource<String>>, SourceSpan) {
        let after = self.pieces.partition_point(|piece| piece.start <= span.start);
        let piece = &self.pieces[after - 1];
        let local = span.start - piece.start..span.end - piece.start;
        (piece.code.clone(), local.into())
    }
}
