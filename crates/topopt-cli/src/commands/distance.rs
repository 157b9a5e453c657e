//! `topopt distance MESH --from SET -o FILE`

use std::io::Write;
use std::time::Instant;

use topopt_case::finding::{Finding, InputError};
use topopt_case::interrupt::Interrupt;
use topopt_mesh::numbers::{self, shown};
use topopt_study::distance::{Distances, Part, Question};
use topopt_study::failure::Failure;
use topopt_study::place::Place;

use crate::args::DistanceArgs;

/// Writes the distances of nodes from sets.
pub(super) fn distance(
    args: &DistanceArgs,
    out: &mut dyn Write,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let part = Part::read(&args.mesh, &args.output, &(&args.gmsh).into(), interrupt)?;
    let question = Question {
        from: args.from.clone(),
        from_surface: args.from_surface,
        speeds: args.speed.clone(),
        within: args.within.unwrap_or(f64::INFINITY),
    };
    let place = Place::find(args.device).map_err(InputError::from)?;
    let start = Instant::now();
    let found = part.distances(&question, &place)?;
    let seconds = start.elapsed().as_secs_f64();

    let name = if args.speed.is_empty() { "distance" } else { "arrival" };
    part.write(&args.output, name, &found.values).map_err(|error| {
        let remedy = "choose an existing, writable folder with enough space";
        InputError::from(Finding::new(error.to_string()).remedy(remedy))
    })?;

    let (file, nodes, cells) = (args.output.display(), found.values.len(), part.n_cells());
    writeln!(out, "wrote {file}: `{name}` at {nodes} nodes, {cells} elements")?;
    tell_largest(&part, &found, name, out)?;
    writeln!(out, "from {} nodes in {seconds:.2} s, {}", found.n_sources, place.name())?;
    tell_beyond(&found, args.within, out)
}

/// The largest value, and where it is.
fn tell_largest(
    part: &Part,
    found: &Distances,
    name: &str,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    if let Some(farthest) = found.farthest {
        let ((number, at), value) = (part.node(farthest), shown(found.values[farthest]));
        write!(out, "largest {name} {value} at node {number}, {}; ", numbers::place(at))?;
    }
    Ok(())
}

/// The nodes without a value.
fn tell_beyond(found: &Distances, within: Option<f64>, out: &mut dyn Write) -> Result<(), Failure> {
    match (found.n_beyond, within) {
        (0, _) => {}
        (n, Some(within)) => writeln!(out, "{n} nodes lie beyond {} and have NaN", shown(within))?,
        (n, None) => writeln!(
            out,
            "warning: {n} nodes are not reached and have NaN: no way through elements leads there"
        )?,
    }
    Ok(())
}
