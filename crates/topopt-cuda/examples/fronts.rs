//! Fronts through a million hexahedra on one GPU: seconds of each, local solves, rounds and errors.
//!
//!     cargo run --release -p topopt-cuda --example fronts [SOURCE PRECISION SWEEPS WINDOW REPEATS]
//!
//! Without arguments: all sources in both precisions by the default schedule, seven times. Times
//! are the median, from the sources on the host to the arrivals on the host. Errors are those at
//! the 101^3 nodes, in widths of an element.

use std::error::Error;
use std::time::Instant;

use topopt_cuda::distance::{Eikonal, Schedule};
use topopt_cuda::{Device, Real};
use topopt_distance::{Speed, Tetrahedra};
use topopt_testing::fronts::{DISTANCES, cube, errors, sources};

/// Hexahedra along an edge of the cube.
const SIDE: usize = 100;

/// Fronts per source; their median is given.
const REPEATS: usize = 7;

fn main() -> Result<(), Box<dyn Error>> {
    let tetrahedra = Tetrahedra::of_mesh(&cube())?;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => {
            let (all, schedule) = (DISTANCES.map(|(name, _)| name), Schedule::default());
            measure::<f64>(&tetrahedra, &all, schedule, REPEATS)?;
            measure::<f32>(&tetrahedra, &all, schedule, REPEATS)
        }
        [source, precision, sweeps, window, repeats] => {
            let schedule = Schedule { sweeps: sweeps.parse()?, window: window.parse()? };
            let repeats = repeats.parse()?;
            match *precision {
                "f64" => measure::<f64>(&tetrahedra, &[source], schedule, repeats),
                _ => measure::<f32>(&tetrahedra, &[source], schedule, repeats),
            }
        }
        _ => Err("arguments: none, or SOURCE PRECISION SWEEPS WINDOW REPEATS".into()),
    }
}

/// The fronts from `chosen` sources in the precision `R`.
fn measure<R: Real>(
    tetrahedra: &Tetrahedra,
    chosen: &[&str],
    schedule: Schedule,
    repeats: usize,
) -> Result<(), Box<dyn Error>> {
    let device = Device::open(0)?;
    let clock = Instant::now();
    let eikonal = Eikonal::<R>::new(&device, tetrahedra.clone(), &Speed::Uniform(1.0))?;
    let mut eikonal = eikonal.with_schedule(schedule);
    let (made, n_patches) = (clock.elapsed().as_secs_f64(), eikonal.patches().len());
    let (points, cells) = (tetrahedra.points(), tetrahedra.cells());
    println!(
        "{}-bit: {} tetrahedra, {} vertices, {n_patches} patches; patches and upload {made:.2} s; {schedule:?}",
        8 * size_of::<R>(),
        cells.len(),
        points.len()
    );

    for (name, distance) in DISTANCES.into_iter().filter(|(name, _)| chosen.contains(name)) {
        let sources = sources(points, cells, distance);
        let mut solve = || {
            let clock = Instant::now();
            let found = eikonal.arrival(&sources)?;
            Ok::<_, Box<dyn Error>>((1e3 * clock.elapsed().as_secs_f64(), found))
        };
        let mut all = (0..repeats).map(|_| solve()).collect::<Result<Vec<_>, _>>()?;
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (median, found) = &all[repeats / 2];
        let solves = found.local_solves as f64 / points.len() as f64;
        let [mean, most] = errors(&points[..(SIDE + 1).pow(3)], &found.times, distance);
        println!(
            "  {name:6} {median:6.2} ms ({:.2} to {:.2}), {solves:5.1} local solves per vertex, \
             {:4} rounds; {mean:.4} {most:.4}",
            all[0].0,
            all[repeats - 1].0,
            found.rounds
        );
    }
    Ok(())
}
