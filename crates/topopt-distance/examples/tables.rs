//! Tables after the dissertation from which the methods come \[Fu2013\]: the order of the eikonal
//! solver (4.1), its work (4.2 and 4.9), distances and evolution in a band (6.3).
//!
//!     cargo run --release -p topopt-distance --example tables

use std::time::Instant;

use topopt_distance::{
    Coefficient, DistanceError, Flow, Motion, Patches, Speed, Steps, Tensor, Tetrahedra, arrival,
    curvature_flow, evolve, signed_distance,
};

#[path = "../tests/distance/cubes.rs"]
mod cubes;

use cubes::{apart, cube, largest, mean_error, sphere};

const SPHERE: Tensor = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0];
/// The tensor of sqrt(x^2 + 4 y^2 + 9 z^2).
const ELLIPSOID: Tensor = [1.0, 1.0 / 4.0, 1.0 / 9.0, 0.0, 0.0, 0.0];

fn main() -> Result<(), DistanceError> {
    order("sphere", SPHERE)?;
    order("ellipsoid", ELLIPSOID)?;
    work()?;
    level_sets()
}

/// The mean error of the distance from {length = 40} in a cube of 256^3.
fn order(name: &str, tensor: Tensor) -> Result<(), DistanceError> {
    let length = |x: [f64; 3]| (0..3).map(|d| x[d] * x[d] / tensor[d]).sum::<f64>().sqrt();
    let expected = |x: [f64; 3]| (length(x) - 40.0).abs();
    println!("{name}: vertices per side; error and order from exact values, and from zeros");

    let mut previous = [f64::NAN; 2];
    for n in [16, 32, 64, 128] {
        let patches = Patches::new(cube(n, 256.0));
        let solve = |is_exact| {
            let sources = sources(patches.tetrahedra(), length, is_exact);
            let found = arrival(&patches, &Speed::UniformTensor(tensor), &sources)?;
            Ok(mean_error(patches.tetrahedra(), &found.times, expected))
        };
        let errors = [solve(true)?, solve(false)?];
        let [a, b] = [0, 1].map(|kind: usize| (previous[kind] / errors[kind]).log2());
        println!("{:5} {:9.4} {a:5.2} {:9.4} {b:5.2}", n + 1, errors[0], errors[1]);
        previous = errors;
    }
    Ok(())
}

/// The corners of the tetrahedra that {length = 40} cuts with their exact values; or, as in the
/// dissertation, those of them that are nearest to it, with zero.
fn sources(
    tetrahedra: &Tetrahedra,
    length: impl Fn([f64; 3]) -> f64,
    is_exact: bool,
) -> Vec<(u32, f64)> {
    let mut sources = Vec::new();
    for corners in tetrahedra.cells() {
        let distances = corners.map(|v| length(tetrahedra.points()[v as usize]) - 40.0);
        if distances.iter().any(|d| *d < 0.0) && distances.iter().any(|d| *d >= 0.0) {
            let nearest = distances.iter().fold(f64::INFINITY, |least, d| least.min(d.abs()));
            for (corner, distance) in corners.iter().zip(distances) {
                if is_exact {
                    sources.push((*corner, distance.abs()));
                } else if distance.abs() == nearest {
                    sources.push((*corner, 0.0));
                }
            }
        }
    }
    sources
}

/// Local solves and rounds from the middle of a cube of 63^3 cells and others.
fn work() -> Result<(), DistanceError> {
    println!("from the middle: tetrahedra, tensor, local solves per vertex, rounds, seconds");
    for n in [16, 32, 63, 128] {
        let patches = Patches::new(cube(n, n as f64));
        let points = patches.tetrahedra().points();
        let middle = (points.len() / 2) as u32;
        for (name, tensor) in [("unit", SPHERE), ("diagonal", [1.0, 4.0, 9.0, 0.0, 0.0, 0.0])] {
            let start = Instant::now();
            let found = arrival(&patches, &Speed::UniformTensor(tensor), &[(middle, 0.0)])?;
            let solves = found.local_solves as f64 / points.len() as f64;
            let (n_cells, seconds) = (patches.order().len(), start.elapsed().as_secs_f64());
            println!("{n_cells:9} {name:8} {solves:6.1} {:4} {seconds:7.3}", found.rounds);
        }
    }
    Ok(())
}

/// A sphere in a cube of 63^3 cells of width 1: its distance, then ten cells to the right, then
/// smoothed.
fn level_sets() -> Result<(), DistanceError> {
    let patches = Patches::new(cube(63, 63.0));
    let field = |x: f64, radius: f64| move |at: [f64; 3]| sphere([x, 31.5, 31.5], radius, at);
    let at_points = |field: &dyn Fn([f64; 3]) -> f64| -> Vec<f64> {
        patches.tetrahedra().points().iter().map(|&at| field(at)).collect()
    };
    let error = |found: &[f64], expected: &dyn Fn([f64; 3]) -> f64| {
        let near = largest(patches.tetrahedra().points(), |vertex, x| {
            if expected(x).abs() < 2.0 { found[vertex] - expected(x) } else { 0.0 }
        });
        format!("{near:7.4} {:7.4}", apart(patches.tetrahedra(), found, expected))
    };
    let (start, band) = (at_points(&field(25.0, 15.0)), 5.0);

    println!(
        "a sphere of radius 15 in 63^3 cells, band 5: seconds, errors near to it and of itself"
    );
    let clock = Instant::now();
    let found = signed_distance(&patches, &start, band)?;
    let seconds = clock.elapsed().as_secs_f64();
    println!("distance  {seconds:7.3} {}", error(&found.values, &field(25.0, 15.0)));

    let motion = Motion { velocity: Coefficient::Uniform([1.0, 0.0, 0.0]), ..Motion::REST };
    let clock = Instant::now();
    let found = evolve(&patches, &start, &motion, &Steps { time: 10.0, band, most: 1000 })?;
    let seconds = clock.elapsed().as_secs_f64();
    let wrong = error(&found.values, &field(35.0, 15.0));
    println!("advection {seconds:7.3} {wrong} {} steps", found.n_steps);

    let smaller = (15f64 * 15.0 - 4.0 * 8.0).sqrt();
    let motion = Motion { curvature: Coefficient::Uniform(1.0), ..Motion::REST };
    let clock = Instant::now();
    let found = evolve(&patches, &start, &motion, &Steps { time: 8.0, band, most: 1000 })?;
    let seconds = clock.elapsed().as_secs_f64();
    let wrong = error(&found.values, &field(25.0, smaller));
    println!("curvature {seconds:7.3} {wrong} {} steps", found.n_steps);

    let clock = Instant::now();
    let found = curvature_flow(&patches, &start, &Flow { time: 8.0, n_steps: 4, band: 8.0 })?;
    let seconds = clock.elapsed().as_secs_f64();
    let wrong = error(&found.values, &field(25.0, smaller));
    println!("implicit  {seconds:7.3} {wrong} 4 steps, {} iterations", found.n_iterations);
    Ok(())
}
