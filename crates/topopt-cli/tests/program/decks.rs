//! Decks of solvers become cases that run as they are.

use topopt_testing::files::BLOCK_CDB;

use crate::{Folder, topopt};

/// A deck, and what `topopt init` says of it besides what it wrote.
fn initialized(name: &str, deck: &[u8]) -> (Folder, String) {
    let folder = Folder::new();
    std::fs::write(folder.path(name), deck).unwrap();
    let (status, out, err) = topopt(&folder.path(""), &["init", name]);
    assert_eq!((status, err.as_str()), (0, ""), "{out}");
    (folder, out)
}

fn project_deck(name: &str) -> Vec<u8> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../meshes");
    std::fs::read(std::path::Path::new(root).join(name)).unwrap()
}

#[test]
fn cases_of_decks_run_without_an_edit() {
    // The fixture's own conditions leave its two bricks free to turn.
    let held = BLOCK_CDB.replace("D,      30,ALL", "D,10,ALL\nD,20,ALL\nD,      30,ALL");
    for (name, deck, wrote, cases) in [
        (
            "part.inp",
            project_deck("abaqus_box_assembly.inp"),
            "loads 2, materials 1",
            &["\"Step-1\""][..],
        ),
        ("part.cdb", held.into(), "loads 3, materials 2", &["\"default\""]),
        (
            "part.bdf",
            project_deck("nastran_mixed.bdf"),
            "loads 11, materials 2",
            &["\"pull\"", "\"subcase_2\""],
        ),
    ] {
        let (folder, out) = initialized(name, &deck);
        assert!(out.contains(wrote), "{out}");
        let args = ["run", "part.toml", "--output", "out", "--set", "optimizer.max_iterations=2"];
        let (status, out, err) = topopt(&folder.path(""), &args);
        assert_eq!(status, 0, "{name}: {out}{err}");
        let summary = folder.summary();
        let text = std::fs::read_to_string(folder.path("part.toml")).unwrap();
        let mut found: Vec<_> =
            text.lines().filter_map(|line| line.strip_prefix("case = ")).collect();
        found.sort_unstable();
        found.dedup();
        assert_eq!(found, cases, "{name}");
        assert!(summary["compliance"].as_f64().unwrap() > 0.0, "{name}");
    }
}

/// Steel and aluminum: what a case cannot say is said instead.
#[test]
fn one_poissons_ratio_is_carried_over() {
    let (folder, out) = initialized("part.bdf", &project_deck("nastran_mixed.bdf"));
    let lost = "not carried over: Poisson's ratio 0.3 of material `1`: the materials of a case have one, \
                here 0.33";
    assert!(out.contains(lost), "{out}");
    let case = std::fs::read_to_string(folder.path("part.toml")).unwrap();
    assert_eq!(case.matches("\npoissons_ratio = ").count(), 1, "{case}");
}
