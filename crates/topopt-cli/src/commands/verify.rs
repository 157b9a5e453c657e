//! `topopt verify RESULT`

use std::io::Write;

use topopt_mesh::numbers::{place, shown};
use topopt_study::failure::Failure;
use topopt_study::finding::InputError;
use topopt_study::interrupt::Interrupt;
use topopt_study::result_files::{VERIFIED, VERIFIED_DESIGN};
use topopt_study::run_directory::RunDirectory;
use topopt_study::thread_pool::thread_pool;
use topopt_study::verification::{Compared, Request, Verification, Width};

use super::load_cases::{displacement, forces, largest, numbers, percentiles};
use crate::args::VerifyArgs;

/// Solves the design of a run again as solid and void, and says what became of it.
pub(super) fn verify(
    args: &VerifyArgs,
    out: &mut impl Write,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let results = RunDirectory::open(&args.results).map_err(InputError::from)?;
    let mut config = results.config()?;
    config.solver.device = args.device.unwrap_or(config.solver.device);
    let request =
        Request { threshold: args.threshold, smooth: args.smooth, gmsh: (&args.gmsh).into() };
    let verification = thread_pool(config.solver.threads)?
        .install(|| Verification::of(&results, &config, &request, interrupt))?;
    if args.json {
        serde_json::to_writer_pretty(&mut *out, &verification).map_err(std::io::Error::from)?;
        return Ok(writeln!(out)?);
    }
    writeln!(out, "{}", results.path().display())?;
    print(&verification, out)?;
    let folder = results.path().display();
    Ok(writeln!(out, "written to {VERIFIED} and {VERIFIED_DESIGN} in {folder}")?)
}

fn print(found: &Verification, out: &mut impl Write) -> std::io::Result<()> {
    writeln!(out, "  {:<21}  {:>12}  {:>12}  {:>7}", "", "optimized", "verified", "ratio")?;
    let compared = [
        ("compliance", found.compliance),
        ("volume", found.volume),
        ("volume fraction", found.volume_fraction),
    ];
    for (name, Compared { optimized, verified, ratio }) in compared {
        let (optimized, verified) = (shown(optimized), shown(verified));
        writeln!(out, "  {name:<21}  {optimized:>12}  {verified:>12}  {ratio:>7.4}")?;
    }
    for (name, text) in rows(found) {
        writeln!(out, "  {name:<21}  {text}")?;
    }
    // The numbers of a single load case stand above.
    let with_numbers = found.load_cases.len() > 1;
    for case in &found.load_cases {
        writeln!(out, "  load case {}", case.name)?;
        let numbers = if with_numbers { numbers(case) } else { Vec::new() };
        for (name, text) in numbers.into_iter().chain(forces(case, found.pcg_residual)) {
            writeln!(out, "    {name:<19}  {text}")?;
        }
    }
    found.notes.iter().try_for_each(|note| writeln!(out, "  note: {note}"))
}

/// Name and text of each line below the numbers compared.
fn rows(found: &Verification) -> Vec<(&'static str, String)> {
    let Verification { largest_displacement: moved, von_mises: stress, .. } = found;
    let mut rows = vec![
        ("solid", format!("the surface at density {}", shown(found.threshold))),
        ("void", format!("{:e} of the stiffness", found.void_stiffness)),
    ];
    rows.extend(found.mass.map(|mass| ("mass", shown(mass))));
    rows.extend([
        ("largest displacement", format!("{}, load case {}", displacement(moved), moved.load_case)),
        ("von Mises stress", percentiles(stress)),
        ("", format!("{}, load case {}", largest(stress), stress.load_case)),
        ("grey level", format!("{:.2} % of the optimized design", 100.0 * found.grey_level)),
        ("connected parts", parts(&found.parts)),
        ("smallest member", width(&found.smallest_member, found.element_width)),
        ("smallest gap", width(&found.smallest_gap, found.element_width)),
        (
            "solve",
            format!(
                "{} iterations on {}, relative residual {:.1e}",
                found.pcg_iterations, found.device, found.pcg_residual
            ),
        ),
    ]);
    rows
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
