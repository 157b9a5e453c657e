//! Names that stand for sets of several kinds, as Abaqus/CAE writes them: which one is taken.

use std::fs;

use topopt_case::case::Case;
use topopt_case::config::Config;

use crate::built;

/// Two cubes side by side in x. `Set-1` is the nodes at x = 0 and the element behind them, `Set-2`
/// the nodes at x = 2, the element and its face.
const MESH: &str = "*NODE\n1, 0, 0, 0\n2, 1, 0, 0\n3, 2, 0, 0\n4, 0, 1, 0\n5, 1, 1, 0\n\
    6, 2, 1, 0\n7, 0, 0, 1\n8, 1, 0, 1\n9, 2, 0, 1\n10, 0, 1, 1\n11, 1, 1, 1\n12, 2, 1, 1\n\
    *ELEMENT, TYPE=C3D8\n1, 1, 2, 5, 4, 7, 8, 11, 10\n2, 2, 3, 6, 5, 8, 9, 12, 11\n\
    *NSET, NSET=Set-1\n1, 4, 7, 10\n*ELSET, ELSET=Set-1\n1\n\
    *NSET, NSET=Set-2\n3, 6\n*ELSET, ELSET=Set-2\n2\n*SURFACE, NAME=Set-2\n2, S4\n";

fn build(supports: &str, loads: &str, more: &str) -> Result<Case, String> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("part.inp"), MESH).unwrap();
    let case = format!(
        "[mesh]\nfile = \"part.inp\"\n[[supports]]\nset = \"Set-1\"\n{supports}\n[[loads]]\n\
         set = \"Set-2\"\n{loads}\n{more}\n[design]\nvolume_fraction = 0.5\n[filter]\nradius = 1\n"
    );
    let path = folder.path().join("case.toml");
    fs::write(&path, case).unwrap();
    built(Config::load(&path, &[]))
}

/// Nodes held and loaded.
fn counts(supports: &str, loads: &str) -> [usize; 2] {
    let case = build(supports, loads, "").unwrap();
    [case.fixed[0].len(), case.load_cases[0].forces.len()]
}

const NOTE_1: &str =
    "set `Set-1` is 4 nodes, 1 elements: the nodes are used; set `kind` to choose another";

#[test]
fn the_most_specific_kind_is_taken_and_noted() {
    let case = build("", "force = [1, 0, 0]", "").unwrap();
    assert_eq!(case.fixed[0], [0, 3, 6, 9]);
    assert_eq!(case.load_cases[0].forces.len(), 2);
    let note = "set `Set-2` is 2 nodes, 1 faces, 1 elements: the nodes are used; set `kind` to \
                choose another";
    assert_eq!(case.notes, [NOTE_1, note]);
}

#[test]
fn the_case_file_may_say_the_kind() {
    let force = "force = [1, 0, 0]";
    assert_eq!(counts("kind = \"nodes\"", force), [4, 2]);
    assert_eq!(counts("kind = \"elements\"", force), [8, 2]);
    assert_eq!(counts("", &format!("{force}\nkind = \"faces\"")), [4, 4]);
    assert_eq!(counts("", &format!("{force}\nkind = \"elements\"")), [4, 8]);
    let said = build("kind = \"nodes\"", &format!("{force}\nkind = \"nodes\""), "").unwrap();
    assert!(said.notes.is_empty(), "{:?}", said.notes);
    let missing = build("kind = \"faces\"", force, "").unwrap_err();
    assert!(missing.contains("face set `Set-1` is not in the mesh"), "{missing}");
}

/// Loads that need faces take them, and loads that can have faces take them first.
#[test]
fn loads_per_area_take_the_faces() {
    for load in ["pressure = 1", "traction = [1, 0, 0]", "pressure = 1\nkind = \"faces\""] {
        let case = build("", load, "").unwrap();
        assert_eq!((case.load_cases[0].forces.len(), case.notes.len()), (4, 1), "{load}");
    }
    let total = build("", "total_force = [1, 0, 0]", "").unwrap();
    assert_eq!(total.load_cases[0].forces.len(), 4);
    assert!(total.notes[1].contains(": the faces are used"), "{:?}", total.notes);
    assert_eq!(counts("", "total_force = [1, 0, 0]\nkind = \"nodes\""), [4, 2]);
    let refused = build("", "pressure = 1\nkind = \"nodes\"", "").unwrap_err();
    assert!(refused.contains("a load per area needs faces"), "{refused}");
    let gravity = "force = [1, 0, 0]\n[[loads]]\ngravity = [0, 0, 1]\nkind = \"nodes\"";
    let refused = build("", gravity, "").unwrap_err();
    assert!(refused.contains("gravity acts on the whole part"), "{refused}");
}

#[test]
fn springs_and_distances_too() {
    let springs = |keys: &str| {
        let more = format!("[[springs]]\nset = \"Set-2\"\n{keys}");
        build("", "force = [1, 0, 0]", &more).map(|case| case.springs.len())
    };
    assert_eq!(springs("stiffness = [1, 1, 1]"), Ok(2));
    assert_eq!(springs("stiffness = [1, 1, 1]\nkind = \"elements\""), Ok(8));
    assert_eq!(springs("stiffness_per_area = [1, 1, 1]"), Ok(4));
    let refused = springs("stiffness_per_area = [1, 1, 1]\nkind = \"nodes\"").unwrap_err();
    assert!(refused.contains("a stiffness per area needs faces"), "{refused}");
    let near = |kind: &str| {
        let near = format!("near = {{ set = \"Set-1\", distance = 0.1{kind} }}");
        let more = format!("[[select]]\nname = \"near\"\nkind = \"nodes\"\n{near}");
        build("", "force = [1, 0, 0]", &more).unwrap().sets.nodes["near"].len()
    };
    assert_eq!([near(""), near(", kind = \"elements\"")], [4, 8]);
}
