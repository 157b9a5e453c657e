//! `topopt-lab smoothers`: multigrid with every smoother and cycle, on regular cubes of rising contrast.

use std::io::Write;

use clap::ValueEnum;
use topopt_case::config::ElementKind;
use topopt_case::finding::{Finding, InputError};
use topopt_design::{CHANGED, StructureState};
use topopt_fem::{Constraints, Diffusion, Discretization, LoadCase, Problem};
use topopt_io::csv::CsvFile;
use topopt_linalg::{CycleKind, SmootherKind, StopReason};
use topopt_mesh::generate::block;
use topopt_mesh::{HexMesh, Renumbering, Sets};
use topopt_study::computer::Solvable;
use topopt_study::failure::Failure;
use topopt_study::place::Place;

use crate::args::{SmootherTest, SmoothersArgs};
use crate::smoothed::{By, Measured, OPTIONS, Posed, on_cpu, on_gpu};
use crate::subject;

/// Edge of the cube [Fu2013, table 5.1].
const EDGE: f64 = 4.0;

/// Four balls of the better conducting material.
const BALLS: [[f64; 3]; 4] = [[1.0, 1.2, 1.1], [2.9, 2.7, 3.0], [1.1, 2.9, 2.6], [3.0, 1.0, 1.4]];
const RADIUS: f64 = 0.7;

const FU_CONTRASTS: [f64; 3] = [1.0, 10.0, 100.0];
const CONTRASTS: [f64; 4] = [1.0, 1e3, 1e6, 1e9];

/// Columns of the CSV file.
const COLUMNS: [&str; 11] = [
    "test",
    "device",
    "contrast",
    "unknowns",
    "cycle",
    "smoother",
    "iterations",
    "converged",
    "setup_seconds",
    "cycle_seconds",
    "solve_seconds",
];

pub(crate) fn smoothers(args: &SmoothersArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let csv = args.output.table(&COLUMNS)?;
    let place = args.output.place()?;
    let n = usize::from(args.size);
    let (coordinates, hexes) = block([n; 3], |at| at.map(|i| EDGE * i as f64 / n as f64));
    let mesh = HexMesh::new(coordinates, hexes, Sets::default());
    let mesh = mesh.map_err(|error| InputError::from(Finding::new(error.to_string())))?;
    let mesh = Renumbering::on_import(&mesh).apply(&mesh);

    let (name, tolerance) = (place.name(), OPTIONS.tolerance);
    let threads = rayon::current_num_threads();
    writeln!(
        out,
        "cube of {n}^3 elements; {name}, {threads} threads; relative residual {tolerance:e}\n\n\
         | test | contrast | cycle | smoother | iterations | setup ms | cycle ms | solve s |\n\
         |---|---|---|---|---|---|---|---|"
    )?;
    let mut table = Table { out, csv, place: &place };
    for test in SmootherTest::value_variants() {
        match test {
            _ if !args.tests.is_empty() && !args.tests.contains(test) => {}
            SmootherTest::Fu => fu(&mesh, &mut table)?,
            SmootherTest::Heat => heat(&mesh, &mut table)?,
            SmootherTest::Elasticity => elasticity(&mesh, &mut table)?,
        }
    }
    writeln!(
        table.out,
        "\n[Fu2013, tables 5.4 and 5.5] on tetrahedra, to the same residual: Regular, this cube with 274,625 \
         nodes: patches 19 iterations,\nsmoothed aggregation with Jacobi 36, plain conjugate gradients 329; \
         Blobs, 277,657 nodes, contrast 1, 10, 100:\npatches 23, 31, 60, Jacobi 50, 60, 122, plain 1048, 2419, \
         7071"
    )?;
    Ok(())
}

/// -div(s grad u) + u = 1 without held nodes [Fu2013, 5.6].
fn fu(mesh: &HexMesh, table: &mut Table) -> Result<(), Failure> {
    let constraints = Constraints::none(mesh.n_nodes());
    let problem = posed(
        mesh,
        Diffusion::by(ElementKind::default().into()),
        constraints,
        vec![1.0; mesh.n_nodes()],
    )?;
    let is_inside = |x: &[f64; 3]| {
        let square = |c: &[f64; 3]| (0..3).map(|i| (x[i] - c[i]).powi(2)).sum::<f64>();
        BALLS.iter().any(|center| square(center) < RADIUS * RADIUS)
    };
    for contrast in FU_CONTRASTS {
        let value = |x: &[f64; 3]| if is_inside(x) { contrast } else { 1.0 };
        let conductivities: Vec<f64> = mesh.centers().iter().map(value).collect();
        let capacities = vec![1.0; conductivities.len()];
        let coefficients = &[conductivities, capacities];
        let system = Posed { problem: &problem, coefficients, contrast, void: None };
        table.all("Fu", &system)?;
    }
    Ok(())
}

fn heat(mesh: &HexMesh, table: &mut Table) -> Result<(), Failure> {
    let (constraints, f) = held::<1>(mesh);
    let problem = posed(mesh, Diffusion::by(ElementKind::default().into()), constraints, f)?;
    for contrast in CONTRASTS {
        let conductivities = bars(mesh, contrast);
        let capacities = vec![0.0; conductivities.len()];
        let void = StructureState::default().changed(&conductivities, CHANGED);
        let coefficients = &[conductivities, capacities];
        table.all("heat", &Posed { problem: &problem, coefficients, contrast, void })?;
    }
    Ok(())
}

fn elasticity(mesh: &HexMesh, table: &mut Table) -> Result<(), Failure> {
    let (constraints, f) = held::<3>(mesh);
    let problem = posed(mesh, subject::elasticity(ElementKind::default())?, constraints, f)?;
    for contrast in CONTRASTS {
        let moduli = bars(mesh, contrast);
        let void = StructureState::default().changed(&moduli, CHANGED);
        let coefficients = &[moduli];
        table.all("elasticity", &Posed { problem: &problem, coefficients, contrast, void })?;
    }
    Ok(())
}

fn posed<K: Solvable<N>, const N: usize>(
    mesh: &HexMesh,
    kernel: K,
    constraints: Constraints<N>,
    f: Vec<f64>,
) -> Result<Problem<K, N>, InputError> {
    let discretization = Discretization::new(mesh.clone(), kernel, constraints);
    let problem = Problem::evolving(discretization, vec![LoadCase::new("default", f)]);
    problem.map_err(|error| Finding::new(error.to_string()).into())
}

/// Bars of 1 in void of 1 / contrast.
fn bars(mesh: &HexMesh, contrast: f64) -> Vec<f64> {
    let is_solid = |x: &[f64; 3]| (3.0 * x[0]).sin() + (2.3 * x[1]).cos() > 0.0 || x[2] > 3.4;
    let value = |x: &[f64; 3]| if is_solid(x) { 1.0 } else { 1.0 / contrast };
    mesh.centers().iter().map(value).collect()
}

/// Constraints that hold a face of the cube, and a load on all other nodes in one direction.
fn held<const N: usize>(mesh: &HexMesh) -> (Constraints<N>, Vec<f64>) {
    let mut constraints = Constraints::none(mesh.n_nodes());
    let mut f = vec![0.0; N * mesh.n_nodes()];
    for (node, x) in mesh.coordinates().iter().enumerate() {
        if x[2] > (1.0 - 1e-9) * EDGE {
            (0..N).for_each(|i| constraints.fix(node, i));
        } else {
            f[N * node + N / 2] = 1.0;
        }
    }
    (constraints, f)
}

/// A Markdown table that grows as it is measured, and a CSV file.
struct Table<'a> {
    out: &'a mut dyn Write,
    csv: Option<CsvFile>,
    place: &'a Place,
}

impl Table<'_> {
    /// With every cycle and smoother, and without a preconditioner.
    fn all<K: Solvable<N>, const N: usize>(
        &mut self,
        test: &str,
        system: &Posed<K, N>,
    ) -> Result<(), Failure> {
        let pairs = CycleKind::ALL.iter().flat_map(|&c| SmootherKind::ALL.map(|s| (c, s)));
        for by in pairs.map(Some).chain([None]) {
            let measured = match self.place {
                Place::Cpu { .. } => on_cpu(system, by)?,
                Place::Gpu(gpu) => on_gpu(gpu.device(), system, by)?,
            };
            self.row(test, system, by, &measured)?;
        }
        Ok(())
    }

    fn row<K: Solvable<N>, const N: usize>(
        &mut self,
        test: &str,
        system: &Posed<K, N>,
        by: By,
        Measured { outcome, seconds: [setup, of_cycle, seconds] }: &Measured,
    ) -> Result<(), Failure> {
        let (cycle, smoother) = by.map_or(("-", "none"), |(c, s)| (c.name(), s.name()));
        let (iterations, converged) = (outcome.iterations, outcome.reason == StopReason::Converged);
        let (mark, contrast) = (if converged { "" } else { ", stopped" }, system.contrast);
        let [setup_ms, cycle_ms] = [1e3 * setup, 1e3 * of_cycle];

        writeln!(
            self.out,
            "| {test} | {contrast:e} | {cycle} | {smoother} | {iterations}{mark} | {setup_ms:.1} | {cycle_ms:.2} \
             | {seconds:.3} |"
        )?;

        let Some(csv) = &mut self.csv else { return Ok(()) };
        let (device, unknowns) = (self.place.name(), system.problem.n_dofs());
        Ok(csv.row(&[
            &test,
            &device,
            &contrast,
            &unknowns,
            &cycle,
            &smoother,
            &iterations,
            &converged,
            setup,
            of_cycle,
            seconds,
        ])?)
    }
}
