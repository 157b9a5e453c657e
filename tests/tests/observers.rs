//! Observers of a run from data in memory, against the files of the same run.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;

use topopt_case::config::{Config, Generator};
use topopt_case::interrupt::Interrupt;
use topopt_case::meshing::Gmsh;
use topopt_case::own::Own;
use topopt_design::ObserverError;
use topopt_io::WriteError;
use topopt_mesh::HexMesh;

use topopt_study::design_file::DesignFile;
use topopt_study::observer::{Evaluated, Fields, StudyObserver, Wanted};
use topopt_study::output_folder::Earlier;
use topopt_study::ranks::Team;
use topopt_study::run::{Request, run};
use topopt_study::summary::{RunSummary, Summary};

const CASE: &str = r#"
mesh = { generator = "cantilever", elements = 250 }
supports = [{ set = "fixed" }]
loads = [{ set = "load", force = [0, -1, 0] }]
design.volume_fraction = 0.3
filter.radius_in_elements = 1.5
optimizer = { max_iterations = 4, change_tolerance = 0, compliance_tolerance = 0 }
solver.device = "cpu"
output = { snapshot_every = 1, checkpoint_every = 0 }
"#;

/// Keeps all that it receives, and ends the run after an iteration.
struct Collector {
    wanted: Wanted,
    until: usize,
    /// Density of each iteration, `[n_iterations][n_elements]`.
    densities: Vec<Vec<f64>>,
    /// Displacements of the iterations whose fields came, `[n_nodes][3]` each.
    displacements: Vec<Vec<f64>>,
    last: Option<(usize, Fields)>,
    summary: Option<Summary>,
}

impl Collector {
    fn new(wanted: Wanted, until: usize) -> Self {
        let (densities, displacements) = (Vec::new(), Vec::new());
        Self { wanted, until, densities, displacements, last: None, summary: None }
    }

    fn status(&self) -> &str {
        &self.summary.as_ref().unwrap().status
    }
}

impl StudyObserver for Collector {
    fn wanted(&self, _: usize) -> Wanted {
        self.wanted
    }

    fn evaluated(&mut self, design: &Evaluated) -> Result<ControlFlow<()>, ObserverError> {
        self.densities.extend(design.density.map(<[f64]>::to_vec));
        self.displacements.extend(design.fields.map(|fields| displacement(fields).to_vec()));
        let is_over = design.report.iteration == self.until;
        Ok(if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    fn last(&mut self, iteration: usize, fields: &Fields) -> Result<(), ObserverError> {
        self.last = Some((iteration, fields.clone()));
        Ok(())
    }

    fn end(&mut self, run: &RunSummary) -> Result<(), WriteError> {
        self.summary = Some(run.record.clone());
        Ok(())
    }
}

fn displacement(fields: &Fields) -> &[f64] {
    &fields.nodal.iter().find(|(name, _)| name == "displacement").unwrap().1
}

/// Runs the case of a folder on so many ranks.
fn observed(
    folder: &Path,
    files: Option<Earlier>,
    mesh: Option<HexMesh>,
    ranks: usize,
    mut collector: Collector,
) -> Collector {
    let directory = format!("output.directory={:?}", folder.join("out"));
    let config = Config::parse(&folder.join("case.toml"), CASE.into(), &[directory]).unwrap();
    let team = Team::of_threads(NonZeroUsize::new(ranks).unwrap()).unwrap();
    let request =
        Request { files, mesh, own: Own::default(), start_from: None, gmsh: Gmsh::default(), team };
    run(&config, &request, &mut collector, &Interrupt::new()).unwrap();
    collector
}

fn mesh() -> HexMesh {
    Generator::Cantilever.generate(None, Some(250)).unwrap()
}

#[test]
fn observed_designs_are_those_of_the_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let written =
        observed(path, Some(Earlier::Keep), None, 1, Collector::new(Wanted::Numbers, usize::MAX));
    let all = Collector::new(Wanted::Fields, usize::MAX);
    let in_memory = observed(&path.join("none"), None, Some(mesh()), 1, all);

    // Snapshots fetch the fields also where this observer wants numbers alone.
    assert_eq!(written.densities, in_memory.densities);
    assert_eq!(written.displacements, in_memory.displacements);
    assert_eq!((in_memory.densities.len(), in_memory.status()), (4, "done"));

    let results = path.join("out");
    let (iteration, last) = in_memory.last.unwrap();
    assert_eq!(iteration, 4);
    for (k, density) in in_memory.densities.iter().enumerate().take(3) {
        let snapshot = results.join(format!("snapshots/design_{:04}.vtu", k + 1));
        assert_eq!(DesignFile::read(&snapshot).unwrap().density, *density);
    }
    assert_eq!(DesignFile::read(&results.join("design.vtu")).unwrap().density, last.density);
    assert_eq!(in_memory.densities[3], last.density);
    assert_eq!(in_memory.displacements[3], displacement(&last));
    assert!(!path.join("none").exists());
}

#[test]
fn an_observer_ends_a_run_on_all_ranks() {
    let nowhere = Path::new("none");
    let of_ranks = [1, 2].map(|ranks| {
        let collector = Collector::new(Wanted::Density, 2);
        let ended = observed(nowhere, None, Some(mesh()), ranks, collector);
        let (iteration, last) = ended.last.as_ref().unwrap();
        assert_eq!((*iteration, ended.densities.len(), ended.status()), (2, 2, "interrupted"));
        assert_eq!(ended.densities[1], last.density);
        assert!(ended.displacements.is_empty());
        ended.densities
    });

    let [one, two] = of_ranks.map(|densities| densities.concat());
    let differences = one.iter().zip(&two).map(|(a, b)| (a - b).abs());
    let largest = differences.fold(0.0, f64::max);
    assert!(one.len() == two.len() && largest < 1e-4, "{largest}");
    assert!(!nowhere.exists());
}

/// Interrupts a run in its last iteration, before the design is solved as it is built.
struct Late<'a> {
    interrupt: &'a Interrupt,
    compliance: f64,
    /// Density of the last iteration, `[n_elements]`.
    density: Vec<f64>,
    last: Vec<f64>,
    summary: Option<Summary>,
}

impl StudyObserver for Late<'_> {
    fn wanted(&self, _: usize) -> Wanted {
        Wanted::Density
    }

    fn evaluated(&mut self, design: &Evaluated) -> Result<ControlFlow<()>, ObserverError> {
        self.compliance = design.report.compliance;
        self.density = design.density.unwrap().to_vec();
        if design.report.iteration == LAST {
            self.interrupt.signal();
        }
        Ok(ControlFlow::Continue(()))
    }

    fn last(&mut self, _: usize, fields: &Fields) -> Result<(), ObserverError> {
        self.last.clone_from(&fields.density);
        Ok(())
    }

    fn end(&mut self, run: &RunSummary) -> Result<(), WriteError> {
        self.summary = Some(run.record.clone());
        Ok(())
    }
}

/// Last iteration of a run with a least width, which solves thinner designs than it builds.
const LAST: usize = 3;

#[test]
fn an_interruption_before_the_last_solve_is_no_end_of_the_run() {
    let keys = [
        &format!("optimizer.max_iterations={LAST}"),
        "mesh.elements=2000",
        "filter={kind=\"density\"}",
        "manufacturing=[{kind=\"member_size\",minimum=4}]",
    ];
    let keys = keys.map(String::from);
    let config = Config::parse(Path::new("case.toml"), CASE.into(), &keys).unwrap();
    for ranks in [1, 2] {
        let team = Team::of_threads(NonZeroUsize::new(ranks).unwrap()).unwrap();
        let gmsh = Gmsh::default();
        let request =
            Request { files: None, mesh: None, own: Own::default(), start_from: None, gmsh, team };
        let interrupt = Interrupt::new();
        let (density, last) = (Vec::new(), Vec::new());
        let mut late =
            Late { interrupt: &interrupt, compliance: 0.0, density, last, summary: None };
        let failure = run(&config, &request, &mut late, &interrupt).unwrap_err();
        assert_eq!(failure.exit_status(), 130, "{failure}");

        let summary = late.summary.unwrap();
        assert_eq!(
            (summary.status.as_str(), summary.done.compliance),
            ("interrupted", Some(late.compliance))
        );
        assert_eq!(late.last, late.density);
    }
}
