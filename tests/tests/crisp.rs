//! Crisp designs of problems of the literature, judged by the compliance of the solid and empty
//! elements that they become, beside the bidirectional evolution of structures \[HuangXie2010\].
//!
//! One layer of hexahedra in plane strain is a sheet in plane stress of E = 1 and nu = 0.3.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;

use topopt_analysis::{Linear, Solver};
use topopt_case::case::Case;
use topopt_case::config::Config;
use topopt_case::interrupt::Interrupt;
use topopt_case::meshing::Gmsh;
use topopt_case::model::Model;
use topopt_case::own::Own;
use topopt_design::ObserverError;
use topopt_fem::{Elasticity, Multigrid, Strategy};
use topopt_io::WriteError;
use topopt_linalg::{Cpu, CycleKind};
use topopt_mesh::generate::block;
use topopt_mesh::{CellList, Components, HexMesh, Sets};
use topopt_study::observer::{Evaluated, Fields, StudyObserver, Wanted};
use topopt_study::ranks::Team;
use topopt_study::run::{Request, run};
use topopt_study::summary::RunSummary;

/// Half of a beam on two supports, by symmetry about its middle, in elements of size 1.
fn half_beam([nx, ny]: [usize; 2]) -> HexMesh {
    let (coordinates, hexes) = block([nx, ny, 1], |at| at.map(|i| i as f64));
    let at = |is_there: &dyn Fn([f64; 3]) -> bool| {
        let places = coordinates.iter().enumerate();
        places.filter(|(_, x)| is_there(**x)).map(|(node, _)| node as u32).collect::<Vec<_>>()
    };
    let [right, top] = [nx, ny].map(|n| n as f64);
    let mut sets = Sets::default();
    for (name, nodes) in [
        ("all", at(&|_| true)),
        ("middle", at(&|x| x[0] == 0.0)),
        ("roller", at(&|x| x[0] == right && x[1] == 0.0)),
        ("load", at(&|x| x[0] == 0.0 && x[1] == top)),
    ] {
        sets.nodes.insert(name.into(), nodes);
    }
    HexMesh::new(coordinates, hexes, sets).unwrap()
}

const VOLUME: f64 = 0.5;
const RADIUS: f64 = 2.4;

const CASE: &str = r#"
mesh = { generator = "cantilever", elements = 250 }
material = { youngs_modulus = 0.9467455621301775, poissons_ratio = 0.23076923076923075 }
elements.kind = "full"
supports = [
    { set = "all", fix = ["z"] },
    { set = "middle", fix = ["x"] },
    { set = "roller", fix = ["y"] },
]
loads = [{ set = "load", force = [0, -0.5, 0] }]
design = { volume_fraction = 0.5, keep_loaded = "free", density_min = 0, void_stiffness = 1e-9 }
filter.radius = 2.4
solver.device = "cpu"
output = { vti_spacing = 0, checkpoint_every = 0, directory = "out" }
"#;

/// Density of the last design, `[n_elements]`, and the compliance of each.
#[derive(Default)]
struct Last {
    density: Vec<f64>,
    compliance: Vec<f64>,
}

impl StudyObserver for Last {
    fn wanted(&self, _: usize) -> Wanted {
        Wanted::Numbers
    }

    fn evaluated(&mut self, design: &Evaluated) -> Result<ControlFlow<()>, ObserverError> {
        self.compliance.push(design.report.compliance);
        Ok(ControlFlow::Continue(()))
    }

    fn last(&mut self, _: usize, fields: &Fields) -> Result<(), ObserverError> {
        self.density.clone_from(&fields.density);
        Ok(())
    }

    fn end(&mut self, _: &RunSummary) -> Result<(), WriteError> {
        Ok(())
    }
}

fn config(keys: &[&str]) -> Config {
    let keys: Vec<String> = keys.iter().map(|&key| key.into()).collect();
    Config::parse(Path::new("case.toml"), CASE.into(), &keys).unwrap()
}

fn optimized(mesh: &HexMesh, keys: &[&str]) -> Last {
    let mut last = Last::default();
    let team = Team::of_threads(NonZeroUsize::MIN).unwrap();
    let mesh = Some(mesh.clone());
    let request = Request {
        files: None,
        mesh,
        own: Own::default(),
        start_from: None,
        gmsh: Gmsh::default(),
        team,
    };
    run(&config(keys), &request, &mut last, &Interrupt::new()).unwrap();
    last
}

/// Solver for designs of solid and empty elements.
struct Judge {
    model: Model,
}

impl Judge {
    fn new(mesh: &HexMesh) -> Self {
        let config = config(&[]);
        let case = Case::on::<Elasticity>(&config, mesh.clone()).unwrap();
        Self { model: Model::build(&config, case, false).unwrap() }
    }

    /// Returns the compliance of a design of zeros and ones, and the energy of each element at
    /// modulus 1.
    fn solve(&self, density: &[f64]) -> (f64, Vec<f64>) {
        let Model { problem, renumbering, .. } = &self.model;
        let moduli = density.iter().map(|x| 1e-9 + (1.0 - 1e-9) * x).collect::<Vec<f64>>();
        let moduli = renumbering.elements_from_original(&moduli);
        let solver = Solver {
            operator: Strategy::Mf.build(problem),
            preconditioner: Box::new(Multigrid::new(problem, CycleKind::K).unwrap()),
            whole: None,
            tolerance: 1e-8,
            max_iterations: 2000,
        };
        let mut linear = Linear::new(&Cpu, problem, solver).unwrap();
        let mut states = linear.start().unwrap();
        linear.assemble(&moduli, &moduli).unwrap();
        linear.update_preconditioner(&moduli).unwrap();
        linear.solve(&mut states, &mut |_| ControlFlow::Continue(())).unwrap();

        let n = density.len();
        let (mut scratch, mut energies) = (vec![0.0; n], vec![0.0; n]);
        linear.energies(&states, &mut scratch, &mut energies).unwrap();
        let compliance = linear.compliances(&moduli, &states, &mut scratch).unwrap()[0];
        (compliance, renumbering.elements_to_original(&energies))
    }

    /// Returns the compliance of the densest elements that fill the volume.
    fn judge(&self, density: &[f64]) -> f64 {
        self.solve(&fullest(density, (VOLUME * density.len() as f64) as usize)).0
    }
}

/// Density 1 for the `n` elements of the largest values, else 0.
fn fullest(values: &[f64], n: usize) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*b].total_cmp(&values[*a]));
    let mut density = vec![0.0; values.len()];
    order[..n].iter().for_each(|&element| density[element] = 1.0);
    density
}

/// Share of the elements that are within 0.05 of solid or empty.
fn crispness(density: &[f64]) -> f64 {
    let crisp = density.iter().filter(|x| !(0.05..=0.95).contains(*x));
    crisp.count() as f64 / density.len() as f64
}

/// Number of pieces of solid elements that share faces.
fn pieces(mesh: &HexMesh, density: &[f64]) -> usize {
    let roots = Components::roots_by_faces(mesh, |element| density[element as usize] > 0.5);
    let is_root = |&element: &usize| density[element] > 0.5 && roots[element] as usize == element;
    (0..density.len()).filter(is_root).count()
}

/// Designs by bidirectional evolution: elements of the least filtered energy go, by 3 % of the
/// volume in each step, and those come back whose energy has become larger.
fn evolved(mesh: &HexMesh, judge: &Judge) -> Vec<f64> {
    let centers = mesh.centers();
    let list = CellList::new(&centers, RADIUS);
    let filtered = |energies: &[f64]| -> Vec<f64> {
        let mean = |center: &[f64; 3]| {
            let (mut sum, mut weights) = (0.0, 0.0);
            list.for_each_within(*center, |element, distance| {
                sum += (RADIUS - distance) * energies[element as usize];
                weights += RADIUS - distance;
            });
            sum / weights
        };
        centers.iter().map(mean).collect()
    };

    let n = mesh.n_elements() as f64;
    let mut density = vec![1.0; mesh.n_elements()];
    let mut before: Option<Vec<f64>> = None;
    let mut volume: f64 = 1.0;
    for _ in 0..50 {
        let (_, energies) = judge.solve(&density);
        let of_solid: Vec<f64> = energies.iter().zip(&density).map(|(e, x)| e * x).collect();
        let mut numbers = filtered(&of_solid);
        if let Some(before) = &before {
            numbers.iter_mut().zip(before).for_each(|(now, before)| *now = (*now + before) / 2.0);
        }
        volume = (0.97 * volume).max(VOLUME);
        density = fullest(&numbers, (volume * n) as usize);
        before = Some(numbers);
    }
    density
}

/// Values of [`crispness`] and compliance that the method is known to meet at this size.
#[test]
fn a_beam_is_as_stiff_as_known_and_crisp_after_sixty_iterations() {
    let mesh = half_beam([180, 60]);
    let found = optimized(&mesh, &[]);
    let judge = Judge::new(&mesh);
    let compliance = judge.judge(&found.density);
    assert!(found.compliance.len() <= 60, "{}", found.compliance.len());
    assert!(compliance < 186.0, "{compliance}");
    assert!(crispness(&found.density) > 0.985, "{}", crispness(&found.density));
    assert_eq!(pieces(&mesh, &found.density), 1);

    let volume = found.density.iter().sum::<f64>() / found.density.len() as f64;
    assert!((volume - VOLUME).abs() < 1e-4, "{volume}");
    let last = &found.compliance[found.compliance.len() - 10..];
    let [least, most] = [f64::min, f64::max].map(|pick| last.iter().copied().reduce(pick).unwrap());
    assert!(most / least < 1.01, "{last:?}");
}

#[test]
fn a_design_is_as_stiff_as_by_evolution_and_stiffer_than_from_a_uniform_start() {
    let mesh = half_beam([90, 30]);
    let judge = Judge::new(&mesh);
    let of = |keys: &[&str]| judge.judge(&optimized(&mesh, keys).density);
    let crisp = of(&[]);
    let uniform = of(&["design.initial_volume_fraction=0.5"]);
    let (evolved, _) = judge.solve(&evolved(&mesh, &judge));
    println!("crisp {crisp}, from a uniform start {uniform}, evolved {evolved}");
    assert!(crisp < 1.01 * evolved, "{crisp} for {evolved}");
    assert!(crisp < uniform, "{crisp} for {uniform}");
}
