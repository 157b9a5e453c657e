//! Distances on a million hexahedra: seconds of each step, local solves and errors.
//!
//!     cargo run --release -p topopt-distance --example million
//!
//! `RAYON_NUM_THREADS` sets the number of threads. Seconds are the least of three solves, and
//! behind them those of processors, which other programs do not prolong. Errors are those at the 101^3
//! nodes, in widths of an element.

use std::time::Instant;

use topopt_distance::{DistanceError, Patches, Speed, Tetrahedra, arrival, reference};
use topopt_mesh::generate::block;
use topopt_mesh::vector::{difference, length};
use topopt_mesh::{HexMesh, Sets};

#[path = "../tests/distance/cubes.rs"]
#[expect(dead_code, reason = "the tests and the tables need more of it")]
mod cubes;

/// Hexahedra along an edge of the cube, and their nodes.
const SIDE: usize = 100;
const NODES: usize = (SIDE + 1) * (SIDE + 1) * (SIDE + 1);

/// Solves of which the fastest counts.
const REPEATS: usize = 3;

const MIDDLE: [f64; 3] = [50.0; 3];
const RADIUS: f64 = 20.0;

fn main() -> Result<(), DistanceError> {
    println!("{} threads; mean and largest error", rayon::current_num_threads());
    let (coordinates, hexes) = block([SIDE; 3], |node| node.map(|i| i as f64));
    let mesh = HexMesh::new(coordinates, hexes, Sets::default()).expect("a cube of cubes");
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
    let (n_points, n_cells) = (patches.tetrahedra().points().len(), patches.order().len());
    println!("{name}: {n_cells}, {n_points} vertices; made in {made:.2} s, patches in {cut:.2} s");

    for (source, distance) in SOURCES {
        let sources = sources(patches.tetrahedra(), distance);
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
        let [mean, most] = errors(patches.tetrahedra(), &found.times, distance);
        println!(
            "  {source:6} {seconds:6.2} s ({of_processors:.2} s), {solves:5.1} local solves per vertex, {:3} rounds; \
             {mean:.4} {most:.4}",
            found.rounds
        );
    }

    let before = processor_seconds();
    let sources = sources(patches.tetrahedra(), from_sphere);
    let times = reference::arrival(patches.tetrahedra(), &Speed::Uniform(1.0), &sources)?;
    let seconds = processor_seconds() - before;
    let [mean, most] = errors(patches.tetrahedra(), &times, from_sphere);
    println!("  sphere ({seconds:.2} s) by one queue of vertices on one core; {mean:.4} {most:.4}");
    Ok(())
}

/// A signed distance; errors are those of its size.
type Distance = fn([f64; 3]) -> f64;

const SOURCES: [(&str, Distance); 4] =
    [("face", |x| x[0]), ("corner", length), ("middle", from_middle), ("sphere", from_sphere)];

fn from_middle(x: [f64; 3]) -> f64 {
    length(difference(x, MIDDLE))
}

fn from_sphere(x: [f64; 3]) -> f64 {
    from_middle(x) - RADIUS
}

/// The vertices where the distance is zero, and the corners of the tetrahedra in which it changes
/// its sign with their exact values.
fn sources(tetrahedra: &Tetrahedra, distance: Distance) -> Vec<(u32, f64)> {
    let mut sources = Vec::new();
    for corners in tetrahedra.cells() {
        let values = corners.map(|v| (v, distance(tetrahedra.points()[v as usize])));
        let is_cut = values.iter().any(|(_, d)| *d < 0.0) && values.iter().any(|(_, d)| *d > 0.0);
        let near = values.into_iter().filter(|(_, d)| is_cut || *d == 0.0);
        sources.extend(near.map(|(vertex, d)| (vertex, d.abs())));
    }
    sources.sort_unstable_by_key(|source| source.0);
    sources.dedup();
    sources
}

/// Mean and largest error at the nodes.
fn errors(tetrahedra: &Tetrahedra, times: &[f64], distance: Distance) -> [f64; 2] {
    let error = |node: usize| (times[node] - distance(tetrahedra.points()[node]).abs()).abs();
    let mean = (0..NODES).map(error).sum::<f64>() / NODES as f64;
    [mean, (0..NODES).map(error).fold(0.0, f64::max)]
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
