use std::time::Instant;
use topopt_distance::*;
fn main() {
    let n: usize = std::env::args().nth(1).unwrap().parse().unwrap();
    let mesh = topopt_testing::mapped_cube(n, |x| x);
    for case in 0..2 {
        let t = Instant::now();
        let tets = Tetrahedra::of_mesh(&mesh).unwrap();
        print!("tets {:.2} ", t.elapsed().as_secs_f64());
        let t1 = Instant::now();
        let patches = Patches::new(tets);
        print!(
            "patches {:.2} ({} copies {:.2}) ",
            t1.elapsed().as_secs_f64(),
            patches.len(),
            patches.n_copies() as f64 / patches.tetrahedra().points().len() as f64
        );
        let src: Vec<(u32, f64)> = if case == 0 {
            vec![(0, 0.0)]
        } else {
            (0..mesh.n_nodes() as u32)
                .filter(|&v| mesh.coordinates()[v as usize][2] == 0.0)
                .map(|v| (v, 0.0))
                .collect()
        };
        let t2 = Instant::now();
        let a = arrival(&patches, &Speed::Uniform(1.0), &src).unwrap();
        println!(
            "solve {:.2} total {:.2}: solves/vertex {:.2} rounds {}",
            t2.elapsed().as_secs_f64(),
            t.elapsed().as_secs_f64(),
            a.local_solves as f64 / a.times.len() as f64,
            a.rounds
        );
        if n <= 20 {
            let r = reference::arrival(patches.tetrahedra(), &Speed::Uniform(1.0), &src).unwrap();
            println!(
                "diff {:e}",
                a.times.iter().zip(&r).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
            );
        }
    }
}
