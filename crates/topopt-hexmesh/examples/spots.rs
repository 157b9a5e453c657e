//! Meshes a test part with smaller elements in boxes, and prints a row: `spots PART CELLS DEGREES`,
//! then for each box its middle, half of its edge and the size in it, as shares of the extent.

use std::time::Instant;

use topopt_hexmesh::{Finer, Sizes, mesh};

#[path = "../tests/hexmesh/parts.rs"]
mod parts;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let numbers: Vec<f64> = arguments[1..].iter().map(|a| a.parse().expect("a number")).collect();
    let mut all = parts::PARTS.into_iter().chain(parts::ASSEMBLIES);
    let (_, extent, script) = all.find(|part| part.0 == arguments[0]).expect("a part");
    let usual = extent / numbers[0];
    let finer: Vec<Finer> = numbers[2..]
        .chunks(5)
        .map(|own| Finer {
            low: [0, 1, 2].map(|k| extent * (own[k] - own[3])),
            high: [0, 1, 2].map(|k| extent * (own[k] + own[3])),
            size: usual * own[4],
        })
        .collect();
    let sizes = Sizes { usual, across: 1, finer };
    let Some(surface) = parts::surface(script, sizes.smallest(), numbers[1]) else { return };
    let start = Instant::now();
    match mesh(&surface, sizes, 1e9) {
        Ok(meshed) => {
            let report = &meshed.report;
            println!(
                "{}: {} elements, {:.3} {:.3} {:.3}, volume {:.2} %, {:?}, mirrors {}, {:.1} s; {}",
                arguments[0],
                meshed.hexes.len(),
                report.least,
                report.fifth_percentile,
                report.mean,
                100.0 * report.worst_volume_error(),
                report.refinement,
                report.mirrors.len(),
                start.elapsed().as_secs_f64(),
                report.failed.join("; ")
            );
        }
        Err(error) => println!("{}: {error}", arguments[0]),
    }
}
