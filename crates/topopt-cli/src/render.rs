//! Findings as the user sees them: with the line of the file that they are about.

use std::fmt;

use miette::{
    Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteHandlerOpts,
    NamedSource, ReportHandler, SourceCode,
};
use topopt_case::finding::Finding;

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
    let drawn: Vec<_> = findings
        .iter()
        .map(|finding| Drawn { shown: Shown::of(finding), drawing }.to_string())
        .collect();
    drawn.join("\n")
}

/// A finding with its text, as miette wants it.
#[derive(Debug)]
struct Shown<'a> {
    finding: &'a Finding,
    text: Option<NamedSource<String>>,
}

impl<'a> Shown<'a> {
    fn of(finding: &'a Finding) -> Self {
        let place = finding.place.as_ref();
        let text =
            place.map(|place| NamedSource::new(&place.text.name, place.text.content.clone()));
        Self { finding, text }
    }
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.finding.message)
    }
}

impl std::error::Error for Shown<'_> {}

impl Diagnostic for Shown<'_> {
    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.text.as_ref().map(|text| text as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let place = self.finding.place.as_ref()?;
        let label = LabeledSpan::new_with_span(Some(place.label.clone()), place.span.clone());
        Some(Box::new(std::iter::once(label)))
    }

    fn help<'h>(&'h self) -> Option<Box<dyn fmt::Display + 'h>> {
        self.finding.remedy.as_ref().map(|remedy| Box::new(remedy) as Box<dyn fmt::Display>)
    }
}

struct Drawn<'a> {
    shown: Shown<'a>,
    drawing: Drawing,
}

impl fmt::Display for Drawn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.drawing {
            Drawing::Terminal => MietteHandlerOpts::new().build().debug(&self.shown, f),
            Drawing::Plain => GraphicalReportHandler::new_themed(GraphicalTheme::none())
                .with_width(100)
                .with_links(false)
                .render_report(f, &self.shown),
        }
    }
}
