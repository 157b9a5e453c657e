//! Ranks that share a GPU, or the emulated driver.

use topopt_cuda::{Probe, probe};

use crate::continuation::NARROWING;
use crate::gpu::beam_of_tetrahedra;
use crate::heat::part;
use crate::{Folder, difference};

/// Asserts that so many ranks on a GPU give the compliances of one on the processor, with solves
/// this exact.
fn agree(folder: &Folder, set: &[&str], sizes: &[usize]) {
    let set = [&["solver.tolerance=1e-10", "solver.early_tolerance=1e-10"], set].concat();
    folder.run_well(&set);
    let expected = ["compliance", "volume_fraction"].map(|name| (name, folder.history(name)));
    for size in sizes {
        let size = size.to_string();
        let finished = folder.run(&set, &["--device", "gpu", "--ranks", &size]);
        assert_eq!((finished.status, finished.err.as_str()), (0, ""), "{}", finished.out);
        for (name, expected) in &expected {
            let off = difference(&folder.history(name), expected);
            assert!(off < 1e-9, "{set:?} on {size} ranks, {name}: off by {off:e}");
        }
    }
}

/// Asserts that a run with `keys` has the same history and design on two and three ranks, and on a
/// GPU where there is one, and what `also` asserts of the results there; returns the history.
pub fn agree_elsewhere(folder: &Folder, keys: &[&str], also: impl Fn(&[&str])) -> Vec<f64> {
    folder.run_well(keys);
    let (alone, density) =
        (folder.history("compliance"), folder.array("out/design.vtu", "density"));
    let is_gpu = matches!(probe(), Probe::Found { .. });
    let gpu: &[&str] = &["--device", "gpu"];
    for place in [&["--ranks", "2"][..], &["--ranks", "3"]].into_iter().chain(is_gpu.then_some(gpu))
    {
        let finished = folder.run(keys, place);
        assert_eq!((finished.status, finished.err.as_str()), (0, ""), "{place:?}");
        assert!(difference(&folder.history("compliance"), &alone) < 1e-9, "{place:?}");
        let found = folder.array("out/design.vtu", "density");
        assert!(difference(&found, &density) < 1e-6, "{place:?}");
        also(place);
    }
    alone
}

fn is_skipped() -> bool {
    let is_skipped = !matches!(probe(), Probe::Found { .. });
    if is_skipped {
        println!("skipped: no CUDA device");
    }
    is_skipped
}

#[test]
fn every_strategy_on_ranks_gives_the_history_of_the_cpu() {
    if is_skipped() {
        return;
    }
    let folder = Folder::new();
    let few = ["mesh.elements=60", "optimizer.max_iterations=1", "solver.preconditioner=jacobi"];
    let set = [&few[..], &["solver.tolerance=1e-10", "design.solid=[]"]].concat();
    folder.run_well(&set);
    let expected = folder.history("compliance");
    for strategy in topopt_cuda::Strategy::ALL {
        let args = ["--device", "gpu", "--ranks", "3", "--strategy", strategy.name()];
        let finished = folder.run(&set, &args);
        assert_eq!((finished.status, finished.err.as_str()), (0, ""), "{}", finished.out);
        let off = difference(&folder.history("compliance"), &expected);
        assert!(off < 1e-9, "{}: off by {off:e}", strategy.name());
    }
}

#[test]
fn preconditioners_filters_and_methods_on_ranks_give_the_history_of_the_cpu() {
    if is_skipped() {
        return;
    }
    let once = "optimizer.max_iterations=1";
    agree(&Folder::new(), &[], &[2]);
    agree(&beam_of_tetrahedra(), &[], &[2]);
    agree(&Folder::new(), &["solver.preconditioner=block-jacobi", "mesh.elements=60", once], &[2]);
    agree(&Folder::new(), &["design.density_min=0.001", once], &[2]);
    let density = "filter.kind=density";
    agree(&Folder::new(), &[density, "filter.radius_in_elements=4.5", once], &[5]);
    agree(&Folder::new(), &[density, "filter.weights=helmholtz", once], &[2]);
    let narrowing = [density, "optimizer.max_iterations=7", NARROWING[0], NARROWING[1]];
    agree(&Folder::new(), &narrowing, &[2]);
    agree(&Folder::new(), &[density, "optimizer.method=mma", "optimizer.max_iterations=2"], &[2]);
}

/// Printed material, and two materials on one rank, on hexahedra and tetrahedra.
#[test]
fn materials_with_a_direction_on_ranks_give_the_history_of_the_cpu() {
    if is_skipped() {
        return;
    }
    let layered = "material.layered={ build_direction = [1, 2, 3], knock_down = 0.5 }";
    let few = ["mesh.elements=60", "optimizer.max_iterations=2"];
    agree(&Folder::new(), &[&few[..], &[layered]].concat(), &[2]);
    let half = "select=[{ name = \"half\", kind = \"elements\", \
                box = { min = [0, 0, 0], max = [3, 99, 99] } }]";
    let other = "materials=[{ set = \"half\", youngs_modulus = 2, poissons_ratio = 0.4 }]";
    agree(&Folder::new(), &[&few[..], &[half, other]].concat(), &[3]);
    agree(&beam_of_tetrahedra(), &[layered], &[2]);
}

#[test]
fn heat_on_ranks_gives_the_history_of_the_cpu() {
    if is_skipped() {
        return;
    }
    let folder = part(
        [8, 4, 4],
        |[x, y, z]| [8.0 * x + 0.3 * y * z, 4.0 * y, 4.0 * z],
        "[material]\nconductivity = 3\n[[supports]]\nset = \"low\"\ntemperature = 5\n\
        [[convection]]\nset = \"sides\"\nfilm_coefficient = 0.02\nambient = 1\n\
        [[loads]]\nheat_source = 1\n[design]\nstyle = \"smooth\"\nvolume_fraction = 0.4\n\
        [filter]\nradius_in_elements = 2.5\n[optimizer]\nmax_iterations = 2\n",
    );
    agree(&folder, &[], &[2]);
}

#[test]
fn several_ranks_are_not_deterministic_on_a_gpu() {
    if is_skipped() {
        return;
    }
    let refused =
        Folder::new().run(&["solver.deterministic=true"], &["--device", "gpu", "--ranks", "2"]);
    assert_eq!(refused.status, 1);
    assert!(refused.err.contains("`solver.deterministic`"), "{}", refused.err);
    let refused = Folder::new().run(&[], &["--device", "gpu", "--ranks", "100"]);
    assert_eq!(refused.status, 1);
    assert!(refused.err.contains("100 ranks are too many on GPUs"), "{}", refused.err);
}
