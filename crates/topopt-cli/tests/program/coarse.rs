//! `optimizer.start = "coarse"`: runs that begin on elements of twice the edge.

use crate::Folder;
use crate::resume::Bits;

const COARSE: &str = "optimizer.start=coarse";
const CRISP: [&str; 5] = [
    "mesh.elements=2000",
    "design.style=crisp",
    "filter.radius_in_elements=3",
    "optimizer.max_iterations=60",
    "output.compression=none",
];

fn with(more: &[&'static str]) -> Vec<&'static str> {
    [&CRISP[..], more].concat()
}

/// The grey stage is of the coarser mesh, and the result as good and as heavy.
#[test]
fn a_crisp_run_begins_coarse() {
    let [fine, coarse] = [Folder::new(), Folder::new()];
    fine.run_well(&CRISP);
    let out = coarse.run_well(&with(&[COARSE])).out;
    let note = "began coarse: designs 1 to 24 are of 250 elements of about twice the edge";
    assert!(out.contains(note), "{out}");
    let summary = coarse.summary();
    assert_eq!(
        (&summary["coarse"]["designs"], &summary["coarse"]["elements"]),
        (&24.into(), &250.into())
    );
    assert_eq!(summary["elements"], 2000);

    let iterations = coarse.history("iteration");
    assert!(iterations.iter().copied().eq((1..=60).map(f64::from)), "{iterations:?}");
    assert_eq!(coarse.history("stage"), fine.history("stage"));
    let volumes = coarse.history("volume_fraction");
    assert!(volumes[22..].iter().all(|volume| (volume - 0.3).abs() < 1e-3), "{volumes:?}");
    let [of_fine, of_coarse] = [&fine, &coarse].map(|it| it.history("compliance")[59]);
    assert!(of_coarse < 1.01 * of_fine, "{of_coarse} {of_fine}");
}

/// A checkpoint is of the mesh of the case, and the run knows where it began.
#[test]
fn a_run_that_began_coarse_resumes_to_the_same_bits() {
    let every = "output.checkpoint_every=1";
    let [whole, parts] = [Folder::new(), Folder::new()];
    whole.run_well(&with(&[COARSE, every]));
    parts.run_well(&with(&[COARSE, every, "optimizer.max_iterations=40"]));
    let resumed = parts.run(&with(&[COARSE, every]), &["--resume"]);
    assert_eq!((resumed.status, resumed.err.as_str()), (0, ""));
    assert_eq!(Bits::of(&parts), Bits::of(&whole));
    assert_eq!(parts.summary()["coarse"]["designs"], 24);

    let other = parts.run(&with(&[every, "optimizer.max_iterations=70"]), &["--resume"]);
    assert!(other.status != 0 && other.err.contains("optimizer.start"), "{}", other.err);
}

/// The first rank begins alone.
#[test]
fn ranks_begin_with_the_design_of_the_first() {
    let [alone, ranks] = [Folder::new(), Folder::new()];
    alone.run_well(&with(&[COARSE, "optimizer.max_iterations=30"]));
    let set = with(&[COARSE, "optimizer.max_iterations=30"]);
    let finished = ranks.run(&set, &["--ranks", "2"]);
    assert_eq!((finished.status, finished.err.as_str()), (0, ""));
    let [one, two] = [&alone, &ranks].map(|folder| folder.history("compliance"));
    assert_eq!(one[..24], two[..24]);
    for (one, two) in one.iter().zip(&two) {
        assert!((one / two - 1.0).abs() < 1e-3, "{one} {two}");
    }
}

/// Runs without stages begin coarse for twenty iterations, or until a tolerance is met.
#[test]
fn a_smooth_run_begins_coarse() {
    let folder = Folder::new();
    let set = ["mesh.elements=2000", "optimizer.max_iterations=25", COARSE];
    folder.run_well(&set);
    assert_eq!(folder.summary()["coarse"]["designs"], 19);
    assert_eq!(folder.history("iteration").len(), 25);

    folder.run_well(&[&set[..], &["optimizer.compliance_tolerance=0.3"]].concat());
    let designs = folder.summary()["coarse"]["designs"].as_u64().unwrap();
    assert!((1..19).contains(&designs), "{designs}");
}

/// Runs that cannot be coarser begin on their own mesh, and say so.
#[test]
fn others_begin_on_their_own_mesh() {
    let folder = Folder::new();
    let few = folder.run_well(&["optimizer.max_iterations=3", COARSE]).out;
    assert!(few.contains("did not begin on coarser elements: it has too few iterations"), "{few}");
    assert!(folder.summary()["coarse"].is_null());

    let of_coarser = folder.history("compliance");
    folder.run_well(&["optimizer.max_iterations=3"]);
    assert_eq!(folder.history("compliance"), of_coarser);

    std::fs::rename(folder.path("out"), folder.path("first")).unwrap();
    let set = ["optimizer.max_iterations=30", COARSE];
    let started = folder.run(&set, &["--start-from", "first"]);
    assert_eq!((started.status, started.err.as_str()), (0, ""));
    assert!(!started.out.contains("coarse"), "{}", started.out);
    assert!(folder.summary()["coarse"].is_null());
}
