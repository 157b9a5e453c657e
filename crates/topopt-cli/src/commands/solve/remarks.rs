//! Notes and warnings of an analysis.

use std::io::Write;

/// Prints notes and then warnings.
pub(super) fn remarks(
    notes: &[String],
    warnings: &[String],
    out: &mut impl Write,
) -> std::io::Result<()> {
    notes.iter().try_for_each(|note| writeln!(out, "  note: {note}"))?;
    warnings.iter().try_for_each(|warning| writeln!(out, "  warning: {warning}"))
}
