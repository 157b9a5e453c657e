//! Names, notes and errors show what a file says and do nothing to a terminal.

use std::fs;

use topopt_io::{ImportedMesh, ReadError, read_mesh};
use topopt_testing::files::{BLOCK_CDB as BLOCK, CUBE_MSH as CUBE};

const ABAQUS: &str = "*NODE\n1, 0, 0, 0\n2, 1, 0, 0\n3, 1, 1, 0\n4, 0, 1, 0\n5, 0, 0, 1\n\
    6, 1, 0, 1\n7, 1, 1, 1\n8, 0, 1, 1\n*ELEMENT, TYPE=C3D8, ELSET=NAME\n7, 1, 2, 3, 4, 5, 6, 7, 8\n\
    *NSET, NSET=NAME\n1, 9\n";

/// Sets the title of a window, clears it, and turns what follows around.
const NAME: &str = "a\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}m\u{202e}b";
const SHOWN: &str = "a?]0;owned??[2J?m?b";

fn read(name: &str, text: &str) -> Result<ImportedMesh, ReadError> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(name);
    fs::write(&path, text).unwrap();
    read_mesh(&path)
}

#[track_caller]
fn assert_shown(name: &str, text: &str) {
    let imported = read(name, text).unwrap();
    let sets = imported.mesh.sets().summary();
    assert!(sets.iter().any(|(name, ..)| name == SHOWN), "{sets:?}");
    let all = sets.into_iter().map(|(name, ..)| name).chain(imported.notes);
    all.for_each(|text| {
        assert!(!text.contains(|c: char| c.is_control() || c == '\u{202e}'), "{text:?}")
    });
}

#[test]
fn sets_and_notes() {
    assert_shown("a.msh", &CUBE.replace("\"all\"", &format!("\"{NAME}\"")));
    let section = "$a\u{1b}[2J\n$Enda\u{1b}[2J\n";
    assert_shown("a.msh", &format!("{}{section}", CUBE.replace("\"all\"", &format!("\"{NAME}\""))));
    let abaqus = ABAQUS.replace("1, 9", "1").replace("NAME", NAME);
    assert_shown("a.inp", &format!("{abaqus}*MATERIAL, NAME=x\u{1b}[2J\n*ELASTIC\n1, 0.3\n"));
    let component = BLOCK.lines().find(|line| line.starts_with("CMBLOCK")).unwrap();
    let name = component.split(',').nth(1).unwrap();
    assert_shown("a.cdb", &BLOCK.replace(component, &component.replacen(name, NAME, 1)));
}

#[test]
fn errors() {
    for (name, text) in [
        ("a.inp", ABAQUS.replace("NAME", NAME)),
        ("a.msh", CUBE.replace("\"all\"", &format!("\"{NAME}\"")).replace("7 5 2", "7 4 2")),
        ("a.msh", CUBE.replace("$EndNodes", &format!("$End{NAME}"))),
        ("a.vtu", format!("<VTKFile type=\"{NAME}\"></VTKFile>")),
    ] {
        let error = read(name, &text).unwrap_err().to_string();
        let acts = |c: char| c.is_control() || c == '\u{202e}';
        assert!(!error.contains(acts), "{error:?}");
    }
}
