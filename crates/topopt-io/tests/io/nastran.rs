//! Nastran decks: a mixed mesh against pyNastran, every format of fields, every entry that is read.

use std::fs;
use std::path::{Path, PathBuf};

use topopt_io::deck::{DeckSupport, SetLoad};
use topopt_io::{ImportedMesh, ReadError, read_mesh};
use topopt_mesh::surface::{area_vector, face_coordinates};

pub const NAME: &str = "part.bdf";

pub fn read_as(text: &str, name: &str) -> Result<ImportedMesh, ReadError> {
    crate::damage::read_bytes(text.as_bytes(), name)
}

/// A unit cube, grids 1 to 8 and element 1 of property 7, and then `more`.
pub fn cube(more: &str) -> ImportedMesh {
    read_as(&format!("{CUBE}{more}"), NAME).unwrap()
}

/// Returns the error in the cube with `more`, without the path.
fn error(more: &str) -> String {
    let error = read_as(&format!("{CUBE}{more}"), NAME).unwrap_err().to_string();
    error.split_once(": ").unwrap().1.to_owned()
}

pub const CUBE: &str = "GRID,1,,0.,0.,0.\nGRID,2,,1.,0.,0.\nGRID,3,,1.,1.,0.\nGRID,4,,0.,1.,0.\n\
    GRID,5,,0.,0.,1.\nGRID,6,,1.,0.,1.\nGRID,7,,1.,1.,1.\nGRID,8,,0.,1.,1.\n\
    CHEXA,1,7,1,2,3,4,5,6\n,7,8\n";

pub fn positions(imported: &ImportedMesh, set: &str) -> Vec<u64> {
    let nodes = &imported.mesh.sets().nodes[set];
    nodes.iter().map(|&node| imported.node_tags[node as usize]).collect()
}

/// The sum of the outward area vectors of a face set.
pub fn area(imported: &ImportedMesh, set: &str) -> [f64; 3] {
    let mut sum = [0.0; 3];
    for &face in &imported.mesh.sets().faces[set] {
        let area = area_vector(&face_coordinates(&imported.mesh, face));
        (0..3).for_each(|i| sum[i] += area[i]);
    }
    sum
}

/// The sum of the loads of a case; every face set is flat.
fn resultant(imported: &ImportedMesh, case: &str) -> [f64; 3] {
    let mut sum = [0.0; 3];
    let mut add = |force: [f64; 3], factor: f64| (0..3).for_each(|i| sum[i] += factor * force[i]);
    for load in imported.deck.loads.iter().filter(|load| load.case == case) {
        match &load.load {
            SetLoad::Force { set, force } => {
                add(*force, imported.mesh.sets().nodes[set].len() as f64);
            }
            SetLoad::Pressure { set, pressure } => add(area(imported, set), -pressure),
            SetLoad::Traction { set, traction } => {
                let area = area(imported, set);
                add(*traction, area.iter().map(|a| a * a).sum::<f64>().sqrt());
            }
            other => panic!("{other:?}"),
        }
    }
    sum
}

pub fn close(a: [f64; 3], b: [f64; 3]) {
    assert!((0..3).all(|i| (a[i] - b[i]).abs() < 1e-12 * (1.0 + b[i].abs())), "{a:?} {b:?}");
}

/// Numbers that pyNastran 1.4.1 gives for `nastran_mixed.bdf`, by `nastran_mixed.py`.
#[test]
fn a_mixed_mesh_as_pynastran() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../meshes/nastran_mixed.bdf");
    let imported = read_mesh(&path).unwrap();
    let uncut = imported.uncut.as_ref().unwrap();
    assert_eq!((uncut.coordinates.len(), uncut.cells.len()), (36, 4));
    let mut sum = [0.0; 3];
    for x in &uncut.coordinates[..12] {
        (0..3).for_each(|i| sum[i] += x[i]);
    }
    close(sum, [19.736988110164184, 27.11449705822995, 35.501783534742515]);

    // Elements 5, 14, 21 and 33.
    let mut volumes = [0.0; 4];
    for (volume, &cell) in imported.mesh.volumes().iter().zip(&uncut.of_elements) {
        volumes[cell as usize] += volume;
    }
    for (volume, expected) in volumes.iter().zip([0.19375, 0.75, 2.0, 0.3]) {
        assert!((volume / expected - 1.0).abs() < 1e-12, "{volumes:?}");
    }
    let areas = [
        ("pload4_1_2.5", 2.0),
        ("pload4_1_-1.25", 0.375),
        ("pload4_1_0.75", 1.8027756377319952),
        ("pload4_1_1.5", 0.51478150704935),
        ("pload4_1_3.0", 0.6500600933759895),
        ("pload4_2_traction_1", 2.0),
    ];
    for (set, expected) in areas {
        let area = area(&imported, set).iter().map(|a| a * a).sum::<f64>().sqrt();
        assert!((area / expected - 1.0).abs() < 1e-12, "{set} {area}");
    }
}

/// Sums of the loads that pyNastran gives for the file of [`a_mixed_mesh_as_pynastran`].
#[test]
fn the_loads_of_a_mixed_mesh_as_pynastran() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../meshes/nastran_mixed.bdf");
    let imported = read_mesh(&path).unwrap();
    close(
        resultant(&imported, "pull"),
        [-6.996524452164179, -7.0415893095128546, 25.901249983670212],
    );
    close(
        resultant(&imported, "subcase_2"),
        [5.927933068337089, 10.555644748057578, -10.860242383055649],
    );
    assert_eq!(imported.deck.lost, [""; 0]);
    assert!(imported.notes[0].starts_with("4 of 4 elements were cut"), "{:?}", imported.notes);
    assert_eq!(imported.notes.len(), 1);

    let [steel, other] = imported.deck.materials.as_slice() else { panic!() };
    assert_eq!((steel.name.as_str(), steel.set.as_deref()), ("1", Some("property_7")));
    assert_eq!((steel.youngs_modulus, steel.poissons_ratio), (Some(2.1e5), Some(0.3)));
    assert_eq!((steel.mass_density, other.mass_density), (Some(7.85e-9), None));
    assert_eq!((other.youngs_modulus, other.poissons_ratio), (Some(69160.0), Some(0.33)));
    let held = [true; 3];
    assert_eq!(imported.deck.supports, [support("spc_30_123", held, [0.0; 3])]);
    // Grids 1, 4, 5 and 8, and what the cut puts on their face: its middle and those of its edges.
    assert_eq!(imported.mesh.sets().nodes["spc_30_123"].len(), 9);
}

pub fn support(set: &str, fixed: [bool; 3], displacement: [f64; 3]) -> DeckSupport {
    DeckSupport { set: set.into(), fixed, displacement, ..Default::default() }
}

#[test]
fn the_same_cube_in_every_format_of_fields() {
    let expected = cube("");
    let small = "GRID    1               0.      0.      0.\nGRID           2              1.      0.\n\
        GRID    3               10.-1   .1+1    0.0\nGRID    4               0.      1.D0    0.\n\
        GRID\t5\t\t0.\t0.\t1.\nGRID    6               1.      0.      1.      \n\
        GRID    7               1.      1.      1.      0                               +comment\n\
        \n$ A comment\ngrid    8       0       0.      1.      1.      $ another\n\
        CHEXA   1       7       1       2       3       4       5       6       +A\n\
        +A      7       8\n";
    let wide = "GRID*                  1                              0.              0.*1\n\
        *1                    0.\nGRID*                  2                              1.\n\
        *                     0.\nGRID*,3,,1.,1.\n*,0.\nGRID*,4,,0.,1.,*B\n*B,0.\n\
        GRID,5,,,,1.\nGRID,6,,1.,,1.\nGRID,7,,1.,1.,1.\nGRID,8,,,1.,1.\n\
        CHEXA*                 1               7               1               2\n\
        *                      3               4               5               6\n\
        +       7       8\n";
    for text in [small, wide, &small.replace('\n', "\r\n"), &format!("\u{feff}{small}")] {
        let imported = read_as(text, NAME).unwrap();
        assert_eq!(imported.mesh, expected.mesh, "{text}");
        assert!(imported.notes.is_empty(), "{:?}", imported.notes);
    }
    for name in ["part.dat", "part.NAS", "part.fem"] {
        assert_eq!(read_as(CUBE, name).unwrap().mesh, expected.mesh);
    }
    let ended = cube("ENDDATA\nGRID,nonsense\n");
    assert_eq!(ended.mesh, expected.mesh);
}

#[test]
fn systems_on_systems() {
    // 11 turns x to y, y to z, z to x by the grids 1, 2, 3; 12 is cylindrical in it.
    let systems = "CORD1R,11,1,2,3\nCORD2C,12,11,0.,0.,2.,0.,0.,3.\n,1.,0.,2.\n\
        CORD2S,13,,1.,1.,0.,1.,1.,1.\n,2.,1.,0.\n";
    let text = format!("{systems}{}", CUBE.replace("GRID,2,,1.,0.,0.", "GRID,2,11,0.,0.,1."));
    let text = text.replace("GRID,4,,0.,1.,0.", "GRID,4,12,1.,0.,-2.");
    let text = text.replace("GRID,6,,1.,0.,1.", "GRID,6,13,1.4142135623730951,45.,270.");
    // Of its points, 2 itself may not be given in 11: the points are 21, 22 and 23.
    let text = text.replace("CORD1R,11,1,2,3", "CORD1R,11,21,22,23");
    let text = format!("{text}GRID,21\nGRID,22,,2.\nGRID,23,0,1.,5.,0.\n");
    let imported = read_as(&text, NAME).unwrap();
    for (found, expected) in imported.mesh.coordinates().iter().zip(cube("").mesh.coordinates()) {
        close(*found, *expected);
    }
    assert_eq!(
        imported.notes,
        [
            "3 nodes were left out: each is neither a corner of a solid element nor in the middle of an edge"
        ]
    );
}

#[test]
fn defaults_of_grids() {
    let text = CUBE.replace("GRID,8,,0.,1.,1.", "GRID,8,0,0.,1.,1.,,12");
    let imported = read_as(&format!("GRDSET,,,,,,,3\n{text}"), NAME).unwrap();
    let supports = &imported.deck.supports;
    let fixed = [[true, true, false], [false, false, true]];
    let expected = [support("ps_3", fixed[1], [0.0; 3]), support("ps_12", fixed[0], [0.0; 3])];
    assert_eq!(*supports, expected);
    assert_eq!(positions(&imported, "ps_3"), [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(positions(&imported, "ps_12"), [8]);
}

#[test]
fn sets_properties_and_what_is_left_out() {
    let imported = cube(
        "SET,3,GRID,LIST\n,1,THRU,7,EXCEPT,2,4,8\nSET,4,ELEM\n,1\nSET,5,GRID,FORMULA\n,1\n\
         CQUAD4,30,2,1,2,3,4\nCQUAD4,31,2,1,2,3,4\nCONM2,32,1,,5.\nPSHELL,2,1,.1\nPSOLID,7,9\n\
         MAT9,9\nMPC,1\nPARAM,POST,-1\nPLOAD4,1,30,1.,,,,THRU,31\nPLOAD4,1,30,1.\nnot a line\n",
    );
    assert_eq!(positions(&imported, "set_3"), [1, 3, 5, 6, 7, 8]);
    let elements = &imported.mesh.sets().elements;
    assert_eq!((&elements["set_4"], &elements["property_7"]), (&vec![0], &vec![0]));
    let notes = [
        "CONM2 elements, which are not solids, were left out: 1",
        "CQUAD4 elements, which are not solids, were left out: 2",
        "lines that are no entries were skipped: 1",
    ];
    assert_eq!(imported.notes, notes);
    let lost = [
        "load set 1: PLOAD4 on elements that are not solids: 1",
        "MPC on line 23",
        "PLOAD4 with THRU on line 25",
        "SET on line 15",
        "CONM2 elements, which are no solids: 1; their stiffness and mass are lost",
        "CQUAD4 elements, which are no solids: 2; their stiffness and mass are lost",
    ];
    assert_eq!(imported.deck.lost, lost);
}

#[test]
fn what_is_wrong_is_named() {
    for (more, expected) in [
        (
            "GRID,x",
            "line 11: GRID, field 2: expected the number of a grid, found `x`; correct the entry",
        ),
        (
            "GRID,9,,1.0.0",
            "line 11: GRID, field 4: expected a coordinate, found `1.0.0`; correct the entry",
        ),
        (
            "GRID,9,0,,,,,7",
            "line 11: GRID, field 8: expected components as digits from 1 to 6, found `7`",
        ),
        ("GRID,1", "node 1 is defined twice"),
        (
            "GRID,9,8",
            "grid 9 uses the coordinate system 8, which is not in the deck; export the deck again",
        ),
        ("GRID,9,,1e300,1e300,,\nGRID,9", "node 9 is defined twice"),
        ("CTETRA,2,7,1,2,3,99", "element 2 names node 99, which is not in the file"),
        (
            "CTETRA,2,7,1,2,3",
            "line 11: CTETRA, field 7: expected the number of a grid at a corner, found nothing",
        ),
        (
            "CTETRA,2,7,1,2,3,5,,\n,,,,,5",
            "line 11: CTETRA, field 6 of continuation 1: expected no more grids, found `5`",
        ),
        ("CTETRA,1,7,1,2,3,5", "element 1 is defined twice"),
        (
            "GRID,9,,,,,,,,,1",
            "line 11: the line has more than 10 fields between commas; continue the entry in a second line",
        ),
        (
            "GRID,9,,1.,,,,,,+A\n+B,1",
            "line 12: the line begins with the continuation mark `B`, and the line before it ends with `A`; put",
        ),
        (
            "CORD2R,1,,0.,0.,0.,1.,0.,0.\n,2.,0.,0.",
            "the three points that define the coordinate system 1 are on a line or are not finite; correct them",
        ),
        (
            "CORD2R,1,2,0.,0.,0.,1.,0.,0.\n,0.,1.,0.\nCORD2R,2,1,0.,0.,0.,1.,0.,0.\n,0.,1.,0.",
            "the coordinate system 1 is defined by itself, or through more than 100 others; define it by points",
        ),
        (
            "CORD2R,1,2,0.,0.,0.,1.,0.,0.\n,0.,1.,0.",
            "coordinate system 1 uses the coordinate system 2, which is not in the deck; export",
        ),
        (
            "CORD1R,1,2,3,99",
            "coordinate system 1 uses the grid 99, which is not in the deck; export the deck again with all grids",
        ),
        (
            "CORD1R,1,2,3,4,1,2,3,4",
            "line 11: the coordinate system 1 is defined twice; remove one of them",
        ),
        (
            "FORCE,1,2,8,1.,1.",
            "FORCE of load set 1 uses the coordinate system 8, which is not in the deck",
        ),
        ("RFORCE,1,99,,1.,1.", "RFORCE of load set 1 uses the grid 99, which is not in the deck"),
        (
            "PLOAD4,1,1,1.,,,,1,2",
            "line 11: PLOAD4 names a face of element 1 by grids 1 and 2, and the element has no such face; correct",
        ),
        ("PLOAD4,1,1,1.,,,,1", "line 11: PLOAD4 names a face of element 1 by grid 1, and"),
        (
            "SPC1,1,1,9,THRU,3",
            "line 11: SPC1, field 6: expected a last number that is not below the first, found `3`",
        ),
        (
            "BEGIN SUPER=1",
            "line 11: the deck has superelements or parts (BEGIN SUPER or a second BEGIN); export",
        ),
        ("INCLUDE ''", "line 11: INCLUDE, field 2: expected the name of a file, found nothing"),
        (
            "INCLUDE '../x.bdf'",
            "line 11: INCLUDE names `../x.bdf`, which is not in the folder of the deck or below it; copy the file there and name it relative to the deck",
        ),
        (
            "INCLUDE '/etc/passwd'",
            "line 11: INCLUDE names `/etc/passwd`, which is not in the folder",
        ),
        (
            "INCLUDE 'a/../../x.bdf'",
            "line 11: INCLUDE names `a/../../x.bdf`, which is not in the folder",
        ),
        ("INCLUDE 'none.bdf'", "line 11: INCLUDE: cannot read `none.bdf`: No such file"),
        (
            "INCLUDE '.'",
            "line 11: INCLUDE: cannot read `.`: it is not a file; check its name and its permissions",
        ),
        (
            "INCLUDE 'part.bdf'",
            "line 11: INCLUDE names `part.bdf`, which was read before; include each file once",
        ),
    ] {
        let found = error(&format!("{more}\n"));
        assert!(found.starts_with(expected), "{more}: {found}");
    }
}

#[test]
fn files_without_a_mesh_are_refused() {
    for (text, expected) in [
        ("", "the file is empty; export the model again as Nastran bulk data"),
        ("$ nothing\n\n", "the file is empty; export the model again as Nastran bulk data"),
        (
            "solid cube\nfacet normal\n",
            "not a Nastran deck: it has no bulk data entry such as GRID or CHEXA",
        ),
        ("SOL 101\nCEND\n", "not a Nastran deck"),
        (
            "+,1\n",
            "line 1: the line continues an entry, and there is none before it; restore the first line of the entry",
        ),
        (
            "GRID,1\nCQUAD4,1,1,1,1,1,1\n",
            "the deck has no solid elements (it has: CQUAD4); write a mesh of CHEXA, CPENTA, CTETRA or CPYRAM",
        ),
        ("GRID,1\n", "the deck has no solid elements (it has: no elements)"),
    ] {
        let found = read_as(text, NAME).unwrap_err().to_string();
        let found = found.split_once(": ").unwrap().1;
        assert!(found.starts_with(expected), "{text}: {found}");
    }
}

/// Writes files into a new folder and reads `deck.bdf`.
fn with_files(files: &[(&str, &str)]) -> Result<ImportedMesh, String> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path: PathBuf = folder.path().join("model").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink("../outside.bdf", folder.path().join("model/link.bdf")).unwrap();
    fs::write(folder.path().join("outside.bdf"), "GRID,1\n").unwrap();
    let read = read_mesh(&folder.path().join("model/deck.bdf"));
    read.map_err(|error| error.to_string().split_once(": ").unwrap().1.to_owned())
}

#[test]
fn included_files() {
    let (grids, elements) = CUBE.split_at(CUBE.find("CHEXA").unwrap());
    let control = "SUBCASE 4\nLOAD=1\n";
    let read = |name: &str, elements: &str, below: &str| {
        with_files(&[
            (
                "deck.bdf",
                &format!("INCLUDE control.inc\nBEGIN BULK\n{grids}Include {name}\nENDDATA"),
            ),
            ("control.inc", control),
            ("parts/elements.bdf", &format!("{elements}INCLUDE '../below.bdf'\n")),
            ("below.bdf", below),
        ])
    };
    for name in ["'parts/elements.bdf'", "parts/elements.bdf", "\"parts/\n  elements.bdf\""] {
        let imported = read(name, elements, "FORCE,1,8,,1.,1.,0.,0.\n").unwrap();
        assert_eq!(imported.mesh.n_elements(), 1);
        assert_eq!(imported.deck.loads[0].case, "subcase_4");
    }

    let error = read("parts/elements.bdf", elements, "\n\nFORCE,1,8,,x\n").unwrap_err();
    let expected = "in the included file `../below.bdf`, line 3: FORCE, field 5: expected a force \
                    or a moment, found `x`; correct the entry";
    assert_eq!(error, expected);
    let error = read("parts/elements.bdf", elements, "PLOAD4,1,1,1.,,,,1\n").unwrap_err();
    assert!(error.starts_with("in the included file `../below.bdf`, line 1: PLOAD4 names"));
    let error = read("parts/elements.bdf", elements, "INCLUDE deck.bdf\n").unwrap_err();
    let expected = "in the included file `../below.bdf`, line 1: INCLUDE names `deck.bdf`, which \
                    was read before; include each file once";
    assert_eq!(error, expected);
    #[cfg(unix)]
    {
        let error = read("link.bdf", "", "").unwrap_err();
        assert!(error.contains("INCLUDE names `link.bdf`, which is not in the folder"), "{error}");
    }
}

#[test]
fn files_in_files_have_an_end() {
    let names: Vec<String> = (0..12).map(|i| format!("{i}.bdf")).collect();
    let texts: Vec<String> = (1..13).map(|i| format!("INCLUDE {i}.bdf\n")).collect();
    let mut files = vec![("deck.bdf", "INCLUDE 0.bdf\n")];
    files.extend(names.iter().map(String::as_str).zip(texts.iter().map(String::as_str)));
    let error = with_files(&files).unwrap_err();
    let expected = "in the included file `9.bdf`, line 1: INCLUDE: files include each other more \
                    than 10 deep; join some of them";
    assert_eq!(error, expected);
}

/// Middles that are left out, by blanks or by 0, and what OptiStruct puts behind the grids.
#[test]
fn middles_may_be_left_out() {
    let bricks = [",7,8", ",7,8,,,,,,\n,,,,,,,,\n,CORDM,0", ",7,8,0,0\n,,,0", ",7,8,9"];
    for more in bricks {
        let text = format!("GRID,9,,0.5,0.,0.\n{CUBE}").replace(",7,8\n", &format!("{more}\n"));
        let imported = read_as(&text, NAME).unwrap();
        assert_eq!(imported.mesh.n_elements(), 1, "{more}");
        let is_second = more.ends_with('9');
        let note = "elements of second order, read by their corners: 1".to_owned();
        assert_eq!(imported.notes.contains(&note), is_second, "{:?}", imported.notes);
    }
}

#[test]
fn a_node_in_the_middles_of_two_edges_is_refused() {
    let text = format!("GRID,9,,0.5,0.,0.\n{CUBE}").replace(",7,8\n", ",7,8,9,9\n");
    let error = read_as(&text, NAME).unwrap_err().to_string();
    let expected = "element 1 has node 9 in the middle of an edge, and the node is in the middle \
                    of another edge too; correct the nodes of the element or mesh again";
    assert!(error.ends_with(expected), "{error}");
}
