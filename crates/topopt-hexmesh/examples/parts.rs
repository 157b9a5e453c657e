//! Meshes the test parts and prints a table: `parts CELLS DEGREES [NAME ...]`, with cells along the
//! longest edge of the part.

use std::time::Instant;

use topopt_hexmesh::mesh;

#[path = "../tests/hexmesh/parts.rs"]
mod parts;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number =
        |n: usize, default: f64| arguments.get(n).map_or(default, |a| a.parse().expect("a number"));
    let (cells, degrees) = (number(0, 20.0), number(1, 0.0));
    let names = arguments.get(2..).unwrap_or_default();
    println!(
        "| part | bodies | elements | min | 5 % | mean | volume % | planes | s | tried before |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for (name, extent, script) in parts::PARTS.into_iter().chain(parts::ASSEMBLIES) {
        if !names.is_empty() && !names.iter().any(|wanted| wanted == name) {
            continue;
        }
        let size = extent / cells;
        let Some(surface) = parts::surface(script, size, degrees) else { return };
        let bodies = surface.n_bodies();
        let start = Instant::now();
        let found = mesh(&surface, size, 1e9);
        let time = start.elapsed().as_secs_f64();
        match found {
            Ok(meshed) => {
                let (n, report) = (meshed.hexes.len(), meshed.report);
                println!(
                    "| {name} | {bodies} | {n} | {:.3} | {:.2} | {:.3} | {:.2} | {} | {time:.1} | {} |",
                    report.least,
                    report.fifth_percentile,
                    report.mean,
                    100.0 * report.worst_volume_error(),
                    report.mirrors.len(),
                    report.failed.join("; ")
                );
            }
            Err(error) => {
                println!("| {name} | {bodies} | - | - | - | - | - | - | {time:.1} | {error} |")
            }
        }
    }
}
