//! Geometries that may run programs or write files are refused before Gmsh is started. Cases marked
//! with `Gmsh` were tried with Gmsh 4.15.2, which wrote the file.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use topopt_io::gmsh::{ElementSize, Hexes, Meshing, MeshingError, mesh};

/// Returns the error for `text` as the geometry `name` beside the files `others`; nothing if it may
/// be meshed.
fn refusal(name: &str, text: &str, others: &[(&str, &str)]) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(name), text).unwrap();
    others.iter().for_each(|(name, text)| fs::write(folder.path().join(name), text).unwrap());
    let meshing = Meshing {
        program: Some("no-such-gmsh".into()),
        hexes: Hexes::Auto,
        size: ElementSize::OfGeometry,
        finer: Vec::new(),
        length_unit: "MM",
        timeout: Duration::from_secs(20),
        trust: false,
        surface: None,
    };
    let geometry = folder.path().join(name);
    let error = |meshing: &Meshing| mesh(&geometry, meshing, &AtomicBool::new(false)).unwrap_err();
    let trusting = Meshing { trust: true, ..meshing.clone() };
    assert!(matches!(error(&trusting), MeshingError::Program { .. }), "it is not trusted");
    match error(&meshing) {
        MeshingError::Program { .. } => None,
        error => {
            assert!(matches!(error, MeshingError::Untrusted { .. }), "{error}");
            Some(error.to_string().replace(&format!("{}/", folder.path().display()), ""))
        }
    }
}

#[track_caller]
fn assert_refused(text: &str, line: usize, word: &str) {
    let said = format!("a.geo: line {line}: `{word}` may run programs or write files");
    assert_eq!(refusal("a.geo", text, &[]).as_deref(), Some(said.as_str()), "{text}");
}

#[test]
fn what_runs_programs_or_writes_files() {
    for (command, word) in [
        ("SystemCall \"id\";", "SystemCall"),
        ("NonBlockingSystemCall \"id\";", "NonBlockingSystemCall"),
        ("System \"id\";", "System"),
        ("OnelabRun(\"x\", \"id\");", "OnelabRun"),
        ("Save \"file\";", "Save"),
        ("Save View[0] \"file\";", "Save"),
        ("Print \"file\";", "Print"),
        ("CreateDir \"d\";", "CreateDir"),
        ("Plugin(Homology).Run;", "Plugin"),
        ("Field[1] = ExternalProcess;", "ExternalProcess"),
        ("Print.ParameterCommand = \"SystemCall 'id';\";", "ParameterCommand"),
        ("Solver.Executable0 = \"id\";", "Solver"),
        ("Printf(\"x\") > \"file\";", "Printf"),
        ("Printf(\"%g\", 1) >> Str[\"fi\", \"le\"];", "Printf"),
        ("Printf(\"a;b\")/* */\n > \"file\";", "Printf"),
    ] {
        assert_refused(&format!("// a box\nBox(1) = {{0, 0, 0, 1, 1, 1}};\n{command}\n"), 3, word);
    }
}

/// An environment variable would become the name of a set, and go with results to others.
#[test]
fn what_reads_the_surroundings() {
    for (command, word) in [
        ("Physical Volume(GetEnv(\"HOME\")) = {1};", "GetEnv"),
        ("Printf(CurrentDirectory);", "CurrentDirectory"),
        ("s = Str(CurrentDir);", "CurrentDir"),
        ("s = AbsolutePath(\"a\");", "AbsolutePath"),
        ("s = GmshExecutableName;", "GmshExecutableName"),
        ("x() = ListFromFile(\"/etc/hostname\");", "ListFromFile"),
        ("If (FileExists(\"/etc/passwd\")) x = 1; EndIf", "FileExists"),
        ("Physical Volume(General.RecentFile0) = {1};", "RecentFile0"),
        ("Field[1] = Structured; Field[1].FileName = \"numbers\";", "FileName"),
        ("Merge \"/home/other/part.step\";", "Merge"),
        ("Include \"/home/other/part.geo\";", "Include"),
    ] {
        let said = format!("a.geo: line 2: `{word}` may read what is outside the geometry");
        let text = format!("// a box\n{command}\n");
        assert_eq!(refusal("a.geo", &text, &[]).as_deref(), Some(said.as_str()), "{text}");
    }
}

#[test]
fn what_is_no_harm() {
    for text in [
        "// Save this, or SystemCall \"id\";\n/* Print \"x\";\n Save */ Point(1) = {0, 0, 0};",
        "Physical Surface(\"Save\") = {1}; Physical Curve('SystemCall') = {1};",
        "Mesh.SaveAll = 1; Print.GeoLabels = 0; Printf(\"%g\", x); Error(\"no\"); Exit; Abort;",
        "For i In {1:2} // twice\n/* over\nlines */ Point(i) = {i, 0, 0};\nEndFor",
        "x = 1; /* over\nlines */ SetOrder 2; save = 1;",
        "If (x > 1) Printf(\"large\"); EndIf",
        "Printf(CurrentFileName); n = DefineNumber[2, Name \"n\"]; DefineConstant[s = 3];",
    ] {
        assert_eq!(refusal("a.geo", text, &[]), None, "{text}");
    }
    let meshes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../meshes");
    for name in ["michell.geo", "connecting_rod.geo"] {
        let text = fs::read_to_string(meshes.join(name)).unwrap();
        assert_eq!(refusal(name, &text, &[]), None, "{name}");
    }
}

/// Texts and comments that Gmsh ends elsewhere than it seems.
#[test]
fn what_gmsh_reads_in_another_way() {
    assert_refused("// a \\\" \"\nSave \"file\";", 2, "Save");
    assert_refused("x = \"\\\"; Save 'file';", 1, "Save");
    assert_refused(&format!("x = \"{}\";", "a".repeat(1023)), 1, "a text of more than 1023 bytes");
    assert_refused("/* \0 Save \"file\"; */", 1, "a NUL byte");
    // Gmsh: the second time the loop begins within the comment.
    let over = "a comment or text over several lines, behind code";
    assert_refused("For i In {1:2} /*\nPrintf(\"x\") > \"file\"; */\nEndFor", 1, over);
    // Gmsh
    let within = "a carriage return within a line";
    assert_refused("For i In {1:2} // \r Printf(\"x\") > \"file\";\nEndFor", 1, within);
    assert_refused("If (0)\nEndIfSave \"file\";", 2, "EndIfSave");
    assert_refused("x = 1e5Save \"file\";", 1, "e5Save");
}

#[test]
fn files_that_a_geometry_reads_are_looked_at_too() {
    let harmful = &[("b.geo", "x = 1;\nSave \"file\";"), ("b.step", "Save"), ("c.pos", "x = 1;")];
    let said = "b.geo: line 2: `Save` may run programs or write files";
    for text in ["Include \"b.geo\";", "Merge 'b.geo';", "MergeWithBoundingBox \"b.geo\";"] {
        assert_eq!(refusal("a.geo", text, harmful).as_deref(), Some(said), "{text}");
    }
    for text in ["Merge \"b.step\";", "v() = ShapeFromFile(\"b.step\");", "Merge \"c.pos\";"] {
        assert_eq!(refusal("a.geo", text, harmful), None, "{text}");
    }
    for text in ["Merge Str(\"b.\", \"step\");", "Merge \"c\";", "Merge \"c.geo.gz\";"] {
        let said = "a.geo: line 1: `Merge` may run programs or write files";
        assert_eq!(refusal("a.geo", text, harmful).as_deref(), Some(said), "{text}");
    }
    assert_eq!(refusal("a.geo", "Include \"a.geo\";", &[]), None, "itself");
    let missing = refusal("a.geo", "Include \"d.geo\";", &[]);
    assert!(missing.unwrap().starts_with("d.geo: line 1: `a file that cannot be read`"));
    // Gmsh merges the options beside a file without being asked.
    let options = &[("a.step.opt", "Save \"file\";")];
    let said = "a.step.opt: line 1: `Save` may run programs or write files";
    assert_eq!(refusal("a.step", "ISO-10303-21;", options).as_deref(), Some(said));
    // Gmsh minds the case of extensions, and reads what it does not know as a script.
    let said = "a.sTeP: line 1: `Save` may run programs or write files";
    assert_eq!(refusal("a.sTeP", "Save \"file\";", &[]).as_deref(), Some(said));
    assert_eq!(refusal("a.STEP", "Save \"file\";", &[]), None);
}
