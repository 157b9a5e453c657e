//! The lines on the shape that is built.

use std::io::Write;

use topopt_case::config::PhysicsKind;
use topopt_mesh::numbers::{place, shown};
use topopt_study::verification::{Built, Compared, Limits, Width};

/// Prints numbers of the optimized design beside those of the verified one.
pub(super) fn print_compared(
    compared: impl IntoIterator<Item = (String, Compared)>,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    writeln!(out, "  {:<21}  {:>12}  {:>12}  {:>7}", "", "optimized", "verified", "ratio")?;
    for (name, Compared { optimized, verified, ratio }) in compared {
        let name = name.replace('_', " ");
        let (optimized, verified) = (shown(optimized), shown(verified));
        writeln!(out, "  {name:<21}  {optimized:>12}  {verified:>12}  {ratio:>7.4}")?;
    }
    Ok(())
}

/// Prints objective and limits with their values in both designs, unless it is the compliance alone
/// under a limit of the volume that is kept.
pub(super) fn print_limits(
    limits: &Limits,
    physics: PhysicsKind,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let Limits { objective, constraints, .. } = limits;
    let is_usual = objective.response == "compliance"
        && constraints.iter().all(|limit| limit.response == "volume" && limit.met);
    if is_usual {
        return Ok(());
    }

    let goal = format!("{} {}", objective.goal, physics.in_words(&objective.response));
    let goal = (goal, objective.compared, objective.largest, String::new());
    let limited = constraints.iter().map(|limit| {
        let met = if limit.met { "met" } else { "NOT MET" };
        let text = format!("{}: {met}", limit.limit());
        (physics.in_words(&limit.response), limit.compared, limit.largest, text)
    });
    let rows: Vec<_> = std::iter::once(goal).chain(limited).collect();
    let width = rows.iter().map(|(name, ..)| name.len()).max().unwrap_or(0);

    writeln!(out, "  {:<width$}  {:>12}  {:>12}", "asked for", "optimized", "verified")?;
    for (name, Compared { optimized, verified, .. }, largest, text) in rows {
        let (optimized, verified) = (shown(optimized), shown(verified));
        let itself = largest.map(|largest| format!("the largest itself {}", shown(largest)));
        let parts: Vec<String> = [Some(text), itself].into_iter().flatten().collect();
        let text = parts.iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>();
        let line =
            format!("  {name:<width$}  {optimized:>12}  {verified:>12}  {}", text.join("; "));
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// Text on the density at which the surface lies.
pub(super) fn solid(built: &Built) -> String {
    format!("the surface at density {}", shown(built.threshold))
}

/// Grey level, pieces and widths, and measures of what the making asks for.
pub(super) fn rows(built: &Built) -> Vec<(&'static str, String)> {
    let Built { grey_level, parts: shares, element_width, made, .. } = built;
    let mut rows = vec![
        ("grey level", format!("{:.2} % of the optimized design", 100.0 * grey_level)),
        ("connected parts", parts(shares)),
        ("members", width(&built.smallest_member, *element_width)),
        ("gaps", width(&built.smallest_gap, *element_width)),
    ];
    rows.extend(made.iter().map(|made| ("as made", made.in_words())));
    rows
}

fn width(width: &Option<Width>, element_width: f64) -> String {
    width.map_or("none".into(), |Width { width, median, element, at }| {
        let widths = width / element_width;
        let [width, median] = [width, median].map(shown);
        let at = place(at);
        format!(
            "1 % up to {width} wide ({widths:.1} elements), as at element {element}, {at}; half up \
             to {median}"
        )
    })
}

/// Number of parts, and the shares of the largest.
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
