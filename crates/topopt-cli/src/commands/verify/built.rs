//! The lines on the shape that is built.

use std::io::Write;

use topopt_mesh::numbers::{place, shown};
use topopt_study::verification::{Built, Compared, Width};

/// Volumes of the optimized design and of the shape, with their names.
pub(super) fn compared(built: &Built) -> [(&'static str, Compared); 2] {
    [("volume", built.volume), ("volume fraction", built.volume_fraction)]
}

/// Prints numbers of the optimized design beside those of the verified one.
pub(super) fn print_compared(
    compared: impl IntoIterator<Item = (&'static str, Compared)>,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    writeln!(out, "  {:<21}  {:>12}  {:>12}  {:>7}", "", "optimized", "verified", "ratio")?;
    for (name, Compared { optimized, verified, ratio }) in compared {
        let (optimized, verified) = (shown(optimized), shown(verified));
        writeln!(out, "  {name:<21}  {optimized:>12}  {verified:>12}  {ratio:>7.4}")?;
    }
    Ok(())
}

/// Prints lines with a name each.
pub(super) fn print_rows(
    rows: Vec<(&'static str, String)>,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    rows.into_iter().try_for_each(|(name, text)| writeln!(out, "  {name:<21}  {text}"))
}

/// Where the surface lies.
pub(super) fn solid(built: &Built) -> String {
    format!("the surface at density {}", shown(built.threshold))
}

/// Grey level, pieces and widths.
pub(super) fn rows(built: &Built) -> [(&'static str, String); 4] {
    let Built { grey_level, parts: shares, element_width, .. } = built;
    [
        ("grey level", format!("{:.2} % of the optimized design", 100.0 * grey_level)),
        ("connected parts", parts(shares)),
        ("smallest member", width(&built.smallest_member, *element_width)),
        ("smallest gap", width(&built.smallest_gap, *element_width)),
    ]
}

/// How it was solved.
pub(super) fn solve(iterations: usize, device: &str, residual: f64) -> String {
    format!("{iterations} iterations on {device}, relative residual {residual:.1e}")
}

fn width(width: &Option<Width>, element_width: f64) -> String {
    width.map_or("none".into(), |Width { width, element, at }| {
        let widths = width / element_width;
        let (width, at) = (shown(width), place(at));
        format!("{width}, {widths:.1} element widths, at element {element}, {at}")
    })
}

/// How many parts there are, and the shares of the largest.
fn parts(shares: &[f64]) -> String {
    const SHOWN: usize = 5;
    let percent: Vec<_> =
        shares.iter().take(SHOWN).map(|share| format!("{:.2} %", 100.0 * share)).collect();
    let more = if shares.len() > SHOWN { ", ..." } else { "" };
    match shares.len() {
        1 => "1".into(),
        n => format!("{n}, with {}{more} of the volume", percent.join(", ")),
    }
}
