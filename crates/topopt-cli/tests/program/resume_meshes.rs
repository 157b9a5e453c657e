//! Runs and solves that go on after something in their mesh file has changed.

use crate::{Finished, Folder, topopt};

/// A bar of 6 x 2 x 2 cubes along x: node sets `left`, `right` and `moved`, whose nodes have the x
/// of `at`; element sets `some`, those from x = `at` on, and the array `field`, which is `value`
/// there and 1 elsewhere.
fn bar(at: f64, value: f64) -> String {
    let grid = |n: [usize; 3]| {
        move |number: usize| [number % n[0], number / n[0] % n[1], number / n[0] / n[1]]
    };
    let (place, cube) = (grid([7, 3, 3]), grid([6, 2, 2]));
    let node = |[i, j, k]: [usize; 3]| i + 7 * (j + 3 * k);
    let corners = |e: usize| {
        let [i, j, k] = cube(e);
        [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]]
            .map(|[a, b, c]| node([i + a, j + b, k + c]).to_string())
            .join(" ")
    };
    let array = |kind: &str, name: &str, more: &str, values: Vec<String>| {
        format!(
            "<DataArray type=\"{kind}\" Name=\"{name}\" format=\"ascii\"{more}>{}</DataArray>\n",
            values.join(" ")
        )
    };
    let nodes = |name: &str, x: f64| {
        let is_there = |n: usize| u8::from(place(n)[0] as f64 == x).to_string();
        array("Int32", name, "", (0..63).map(is_there).collect())
    };
    let is_beyond = |e: usize| cube(e)[0] as f64 >= at;
    let some = (0..24).map(|e| u8::from(is_beyond(e)).to_string()).collect();
    let field = (0..24).map(|e| (if is_beyond(e) { value } else { 1.0 }).to_string()).collect();
    let points = (0..63).map(|n| place(n).map(|x| x.to_string()).join(" ")).collect();
    let offsets = (1..=24).map(|e| (8 * e).to_string()).collect();
    [
        "<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\">\n\
         <UnstructuredGrid><Piece NumberOfPoints=\"63\" NumberOfCells=\"24\">\n<PointData>"
            .into(),
        nodes("left", 0.0) + &nodes("right", 6.0) + &nodes("moved", at),
        "</PointData><CellData>".into(),
        array("Int32", "some", "", some) + &array("Float64", "field", "", field),
        "</CellData><Points>".into(),
        array("Float64", "Points", " NumberOfComponents=\"3\"", points),
        "</Points><Cells>".into(),
        array("Int64", "connectivity", "", (0..24).map(corners).collect()),
        array("Int64", "offsets", "", offsets),
        array("UInt8", "types", "", vec!["12".into(); 24]),
        "</Cells></Piece></UnstructuredGrid></VTKFile>\n".into(),
    ]
    .concat()
}

const ELASTIC: &str = "[mesh]\nfile = \"bar.vtu\"\n[[supports]]\nset = \"left\"\n\
    [[loads]]\nset = \"right\"\nforce = [0, -1, 0]\n[filter]\nradius_in_elements = 1.5\n\
    [optimizer]\nmethod = \"mma\"\nmax_iterations = 2\nchange_tolerance = 0\ncompliance_tolerance = 0\n\
    [solver]\ndevice = \"cpu\"\n";
const VOLUME: &str = "[design]\nstyle = \"smooth\"\nvolume_fraction = 0.5\n";
const HEAT: &str = "[physics]\nkind = \"heat\"\n[mesh]\nfile = \"bar.vtu\"\n[[supports]]\nset = \"left\"\n\
    [[loads]]\nset = \"right\"\ntotal_heat = 5\n[filter]\nradius_in_elements = 1.5\n\
    [optimizer]\nmax_iterations = 2\nchange_tolerance = 0\ncompliance_tolerance = 0\n\
    [solver]\ndevice = \"cpu\"\n";
const CONDUCTING: &str = "[material]\nconductivity = 1\nmass_density = 1\nheat_capacity = 1\n";
const TRANSIENT: &str = "[transient]\nend = 1\nstep = 0.1\n";

/// Runs or solves `case`, and goes on after the file has changed.
fn changed(command: &str, case: &str, before: [f64; 2], after: [f64; 2]) -> Finished {
    let folder = Folder::new();
    folder.write("case.toml", case);
    folder.write("bar.vtu", &bar(before[0], before[1]));
    let more = ["--set", "output.checkpoint_every=4"];
    let (first, next): (&[&str], &[&str]) = match command {
        "run" => (&[], &["--set", "optimizer.max_iterations=4"]),
        _ => (&more, &more),
    };
    let args = [&[command, "case.toml", "-o", "out"], first].concat();
    let (status, out, err) = topopt(&folder.path(""), &args);
    assert_eq!(status, 0, "{case}\n{out}{err}");
    folder.write("bar.vtu", &bar(after[0], after[1]));
    let args = [&[command, "case.toml", "-o", "out", "--resume"], next].concat();
    let (status, out, err) = topopt(&folder.path(""), &args);
    Finished { status, out, err }
}

/// Every table of a case that names a set or an array.
#[test]
fn changed_sets_and_arrays_are_refused() {
    let elastic = |tables: &str| format!("{VOLUME}{ELASTIC}{tables}");
    let heat = |tables: &str| format!("{VOLUME}{HEAT}{CONDUCTING}{tables}");
    let mean = "[objective]\nminimize = \"mean_temperature\"\nset = \"right\"\n";
    let in_time = |tables: &str| heat(&format!("{TRANSIENT}{tables}"));
    let capacity =
        "[material]\nconductivity = 1\nmass_density = 1\nheat_capacity = { array = \"field\" }\n";
    let conductivity = "[material]\nconductivity = { array = \"field\" }\n";
    for (command, case) in [
        ("run", elastic("[[springs]]\nset = \"moved\"\nstiffness = [0, 0.001, 0]\n")),
        (
            "run",
            elastic(
                "[[springs]]\nset = \"moved\"\nstiffness = [0, 0.001, 0]\n[output]\npieces = 2\n",
            ),
        ),
        ("run", elastic("[[loads]]\nset = \"moved\"\nforce = [0, 0, 1]\n")),
        ("run", elastic("[[supports]]\nset = \"moved\"\nfix = [\"z\"]\n")),
        (
            "run",
            elastic("[[supports]]\nset = \"moved\"\nfix = [\"z\"]\ndisplacement = [0, 0, 0.1]\n"),
        ),
        (
            "run",
            elastic(
                "[[constraints]]\nresponse = \"displacement\"\nset = \"moved\"\nat_most = 1e6\n",
            ),
        ),
        ("run", elastic("[[constraints]]\nresponse = \"volume\"\nset = \"some\"\nat_most = 0.9\n")),
        ("run", elastic("[[materials]]\nset = \"some\"\nyoungs_modulus = 2\n")),
        (
            "run",
            format!(
                "[design]\nstyle = \"smooth\"\nvolume_fraction = 0.5\nsolid = [\"some\"]\n{ELASTIC}"
            ),
        ),
        (
            "run",
            format!(
                "[design]\nstyle = \"smooth\"\nvolume_fraction = 0.5\nvoid = [\"some\"]\n{ELASTIC}"
            ),
        ),
        (
            "run",
            heat(
                "[[select]]\nname = \"warm\"\nkind = \"faces\"\nnear = { set = \"moved\", distance = 1.1 }\n[[convection]]\nset = \"warm\"\nfilm_coefficient = 1\nambient = 0\n",
            ),
        ),
        (
            "run",
            heat(
                "[[select]]\nname = \"warm\"\nkind = \"faces\"\nnear = { set = \"moved\", distance = 1.1 }\n[[convection]]\nset = \"warm\"\nfilm_coefficient = 1\nambient = 3\n",
            ),
        ),
        ("run", heat("[[loads]]\nset = \"some\"\nheat_source = 1\n")),
        ("run", heat("[[supports]]\nset = \"moved\"\ntemperature = 0\n")),
        ("run", format!("{VOLUME}{HEAT}{conductivity}")),
        ("run", format!("{VOLUME}{HEAT}{capacity}{TRANSIENT}{mean}")),
        ("run", in_time(&mean.replace("right", "moved"))),
        ("solve", format!("{HEAT}{capacity}{TRANSIENT}")),
        (
            "solve",
            format!(
                "{HEAT}{CONDUCTING}{TRANSIENT}[[select]]\nname = \"warm\"\nkind = \"faces\"\nnear = {{ set = \"moved\", distance = 1.1 }}\n[[convection]]\nset = \"warm\"\nfilm_coefficient = 1\nambient = 0\n"
            ),
        ),
        (
            "solve",
            format!(
                "{HEAT}{CONDUCTING}{TRANSIENT}[[loads]]\nset = \"moved\"\ntotal_heat = 1\nover_time = [[0, 0], [1, 1]]\n"
            ),
        ),
    ] {
        let is_array = case.contains("field");
        let after = if is_array { [3.0, 4.0] } else { [2.0, 2.0] };
        let Finished { status, err, .. } = changed(command, &case, [3.0, 2.0], after);
        let message = err.replace('|', " ").split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            status == 1 && message.contains("its sets") && message.contains("arrays"),
            "{case}\n{err}"
        );
    }
}

/// Resumes although parts of the mesh changed that the case does not use, or used ones kept their
/// values.
#[test]
fn what_is_the_same_goes_on() {
    let case = format!("{VOLUME}{ELASTIC}");
    assert_eq!(changed("run", &case, [3.0, 2.0], [2.0, 4.0]).status, 0);
    let springs = case + "[[springs]]\nset = \"moved\"\nstiffness = [0, 0.001, 0]\n";
    assert_eq!(changed("run", &springs, [3.0, 2.0], [3.0, 4.0]).status, 0);
}

#[test]
fn a_checkpoint_of_another_version_says_so() {
    let folder = Folder::new();
    folder.run_well(&["output.checkpoint_every=3"]);
    let path = folder.path("out/checkpoints/iteration_0003.ckpt");
    let mut bytes = std::fs::read(&path).unwrap();
    // As it was called before.
    let key = b"\"model\":";
    let at = bytes.windows(key.len()).position(|window| window == key).unwrap();
    bytes[at..at + key.len()].copy_from_slice(b"\"other\":");
    let end = bytes.len() - 4;
    let sum = crc32fast::hash(&bytes[..end]);
    bytes[end..].copy_from_slice(&sum.to_le_bytes());
    std::fs::write(&path, bytes).unwrap();
    let Finished { status, err, .. } =
        folder.run(&["output.checkpoint_every=3", "optimizer.max_iterations=4"], &["--resume"]);
    assert!(status == 1 && err.contains("was written by another version"), "{err}");
    assert!(err.contains("run without --resume"), "{err}");
}
