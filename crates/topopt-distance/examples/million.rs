//! Distances on a million hexahedra: seconds of each step, local solves and errors.
//!
//!     cargo run --release -p topopt-distance --example million
//!
//! `RAYON_NUM_THREADS` sets the number of threads. Seconds are the least of three solves, and
//! behind them those of processors, which other programs do not prolong. Errors are those at the
//! 101^3 nodes, in widths of an element.

use std::time::Instant;

use topopt_distance::{DistanceError, Patches, Speed, Tetrahedra, arrival, reference};
use topopt_testing::fronts::{DISTANCES, cube, errors, sources};

#[path = "../tests/distance/cubes.rs"]
#[expect(dead_code, reason = "the tests and the tables need more of it")]
mod cubes;

/// Hexahedra along an edge of the cube, and their nodes.
const SIDE: usize = 100;
const NODES: usize = (SIDE + 1) * (SIDE + 1) * (SIDE + 1);

/// Solves of which the fastest counts.
const REPEATS: usize = 3;

fn main() -> Result<(), DistanceError> {
    println!("{} threads; mean and largest error", rayon::current_num_threads());
    let mesh = cube();
    measure("12 tetrahedra per hexahedron", || Tetrahedra::of_mesh(&mesh))?;
    measure("6 tetrahedra per hexahedron", || Ok(cubes::cube(SIDE, SIDE as f64)))
}

/// All sources on the tetrahedra that `make` makes.
fn measure(
    name: &str,
    make: impl Fn() -> Result<Tetrahedra, DistanceError>,
) -> Result<(), DistanceError> {
    let clock = Instant::now();
    let tetrahedra = make()?;
    let made = clock.elapsed().as_secs_f64();
    let clock = Instant::now();
    let patches = Patches::new(tetrahedra);
    let cut = clock.elapsed().as_secs_f64();
    let (points, cells) = (patches.tetrahedra().points(), patches.tetrahedra().cells());
    let (n_points, n_cells) = (points.len(), cells.len());
    println!("{name}: {n_cells}, {n_points} vertices; made in {made:.2} s, patches in {cut:.2} s");

    for (source, distance) in DISTANCES {
        let sources = sources(points, cells, distance);
        let solve = || {
            let (clock, before) = (Instant::now(), processor_seconds());
            let found = arrival(&patches, &Speed::Uniform(1.0), &sources)?;
            Ok((clock.elapsed().as_secs_f64(), processor_seconds() - before, found))
        };
        let (mut seconds, mut of_processors, found) = solve()?;
        for _ in 1..REPEATS {
            let (s, p, _) = solve()?;
            (seconds, of_processors) = (seconds.min(s), of_processors.min(p));
        }
        let solves = found.local_solves as f64 / n_points as f64;
        let [mean, most] = errors(&points[..NODES], &found.times, distance);
        println!(
            "  {source:6} {seconds:6.2} s ({of_processors:.2} s), {solves:5.1} local solves per vertex, {:3} rounds; \
             {mean:.4} {most:.4}",
            found.rounds
        );
    }

    let (before, (_, from_sphere)) = (processor_seconds(), DISTANCES[3]);
    let sources = sources(points, cells, from_sphere);
    let times = reference::arrival(patches.tetrahedra(), &Speed::Uniform(1.0), &sources)?;
    let seconds = processor_seconds() - before;
    let [mean, most] = errors(&points[..NODES], &times, from_sphere);
    println!("  sphere ({seconds:.2} s) by one queue of vertices on one core; {mean:.4} {most:.4}");
    Ok(())
}

/// Seconds that processors have worked for this program, as Linux counts them in hundredths; NaN
/// elsewhere.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Behind the name come the state and ten numbers, then the times in user and in system mode.
    let times = text.rsplit_once(')').map(|(_, after)| after.split_whitespace().skip(11).take(2));
    let times = times.map(|times| times.filter_map(|n| n.parse::<f64>().ok()).sum::<f64>());
    times.map_or(f64::NAN, |hundredths| hundredths / 100.0)
}
