//! Geometries meshed by Gmsh, from the case file and the command line.
//!
//! Needs the program `gmsh`, or one that the variable GMSH names; without it the tests that run it
//! are skipped, unless `TOPOPT_REQUIRE_GMSH` is set.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;
use topopt_io::Cutting;
use topopt_io::vtk::vtu;
use topopt_mesh::cells::Shape;

use crate::meshes::GENERATED;
use crate::{CASE, Finished, Folder, program, topopt};

/// Whether Gmsh can be run.
pub(crate) fn has_gmsh() -> bool {
    let gmsh = std::env::var_os("GMSH").unwrap_or_else(|| "gmsh".into());
    let version = Command::new(&gmsh).arg("--version").output();
    let works = version.as_ref().is_ok_and(|output| output.status.success());
    if !works {
        let required = std::env::var_os("TOPOPT_REQUIRE_GMSH").is_some();
        assert!(!required, "{} does not run: {version:?}", gmsh.display());
        println!("skipped: {} does not run", gmsh.display());
    }
    works
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A file of the folder `meshes`.
fn geometry(name: &str) -> String {
    root().join("meshes").join(name).display().to_string()
}

/// `topopt` with `args`, which must succeed, and the JSON that it prints.
fn json(folder: &Folder, args: &[&str]) -> Value {
    let (status, out, err) = topopt(&folder.path(""), args);
    assert_eq!((status, err.as_str()), (0, ""));
    serde_json::from_str(&out).unwrap()
}

fn close(value: &Value, expected: f64, tolerance: f64) {
    let value = value.as_f64().unwrap();
    assert!((value / expected - 1.0).abs() < tolerance, "{value} instead of {expected}");
}

fn set<'a>(info: &'a Value, name: &str) -> &'a Value {
    let sets = info["sets"].as_array().unwrap();
    sets.iter().find(|set| set["name"] == name).unwrap_or_else(|| panic!("no {name}: {info}"))
}

#[test]
fn the_recipes_make_hexahedra_of_any_size() {
    if !has_gmsh() {
        return;
    }
    let folder = Folder::new();

    let pi = std::f64::consts::PI;
    let michell = 3.0 * 26.0_f64.powi(2) * (20.0 - 0.5 * pi);
    let ring = |outer: f64, inner: f64| pi * (outer * outer - inner * inner);
    let (rings, outsides) = (ring(40.0, 30.0) + ring(25.0, 17.5), pi * (1600.0 + 625.0));
    let rod = 4.0 * (150.0 * 350.0 - outsides) + 8.0 * rings;

    for (name, volume, sizes) in
        [("michell", michell, ["2", "3.1", "5"]), ("connecting_rod", rod, ["4", "5.3", "7"])]
    {
        for size in sizes {
            let source = geometry(&format!("{name}.geo"));
            let args = ["mesh", &source, "--element-size", size, "-o", "part.msh"];
            let (status, out, err) = topopt(&folder.path(""), &args);
            assert_eq!((status, err.as_str()), (0, ""), "{out}");
            assert!(out.contains("note: meshed by Gmsh ") && !out.contains("cut into"), "{out}");

            let info = json(&folder, &["info", "part.msh", "--json"]);
            close(&info["volume"], volume, 0.02);
            assert_eq!(info["components"], 1);
            assert!(info["quality"]["scaled_jacobian"]["mean"].as_f64().unwrap() > 0.9, "{info}");
            assert!(set(&info, "fixed")["kind"] == "face" && set(&info, "load")["count"] != 0);
        }
    }
}

/// The compliance of the first design against that of the reference mesh, which is about as fine.
#[test]
fn meshes_by_gmsh_are_as_stiff_as_the_reference_meshes() {
    if !has_gmsh() {
        return;
    }
    let folder = Folder::new();
    // Nodes with a unit force each in the reference mesh.
    for (name, loaded) in [("michell", 4.0), ("connecting_rod", 385.0)] {
        let case = root().join(format!("benchmarks/{name}_gmsh.toml")).display().to_string();

        let args =
            ["run", &case, "--output", "out", "--overwrite", "--set", "optimizer.max_iterations=1"];
        let (status, out, err) = topopt(&folder.path(""), &args);
        assert_eq!((status, err.as_str()), (0, ""), "{out}");

        let check = json(&folder, &["check", &case, "--json"]);
        let force = check["loads"][0]["sum_of_forces"][1].as_f64().unwrap();
        let reference = root().join(format!("benchmarks/reference/{name}.json"));
        let reference = std::fs::read_to_string(reference).unwrap();
        let reference: Value = serde_json::from_str(&reference).unwrap();

        let expected = reference["compliance"][0].as_f64().unwrap() * (force / loaded).powi(2);
        close(&folder.summary()["compliance"], expected, 0.02);
        close(&check["elements"], reference["elements"].as_f64().unwrap(), 0.03);
    }
}

const PLATE: &str = "file = \"plate_with_hole.step\"\n\
    [[select]]\nname = \"fixed\"\nkind = \"faces\"\nnormal = { direction = [-1, 0, 0], angle = 1 }\n\
    [[select]]\nname = \"load\"\nkind = \"faces\"\nnormal = { direction = [1, 0, 0], angle = 1 }\n";

/// A plate of 40 x 20 x 5 mm with a hole of diameter 8 mm.
#[test]
fn a_step_file_is_converted_and_cut_into_hexahedra() {
    if !has_gmsh() {
        return;
    }
    let folder = Folder::new();
    std::fs::copy(geometry("plate_with_hole.step"), folder.path("plate_with_hole.step")).unwrap();
    folder.write("case.toml", &CASE.replace(GENERATED, PLATE));

    let steel = "material.youngs_modulus=210e9";
    let check = |set: &[&str]| {
        let set = set.iter().flat_map(|set| ["--set", set]);
        let args: Vec<_> = ["check", "case.toml", "--json"].into_iter().chain(set).collect();
        json(&folder, &args)
    };

    let in_mm = check(&[steel, "design.keep_loaded=free"]);
    close(&in_mm["extent"][0], 40.0, 1e-9);
    close(&in_mm["design_volume"], 5.0 * (800.0 - 16.0 * std::f64::consts::PI), 0.01);
    // Said by `info`, and not again by every command.
    let said = ["no named surfaces", "meshed by Gmsh", "the mesh has the volume 374"];
    let notes = json(&folder, &["info", "plate_with_hole.step", "--json"])["notes"].to_string();
    assert!(said.iter().all(|said| notes.contains(said)), "{notes}");
    let notes = in_mm["notes"].to_string();
    assert!(!said.iter().any(|said| notes.contains(said)), "{notes}");
    assert_eq!(
        in_mm["warnings"][in_mm["warnings"].as_array().unwrap().len() - 1],
        "Young's modulus is 2.1e11 N/mm^2 (MPa), as the STEP file is read in mm: 2.1e17 Pa, more \
         than that of diamond; if 2.1e11 is in Pa, give 2.1e5"
    );

    let units = ["units.length=m", "units.force=N", steel];
    let in_m = check(&units);
    close(&in_m["extent"][0], 0.04, 1e-9);
    assert!(!in_m["warnings"].to_string().contains("Young"), "{in_m}");

    let finer = check(&["mesh.element_size=1.5"]);
    let count = |check: &Value| check["elements"].as_u64().unwrap();
    assert!(count(&finer) > count(&in_mm));
    close(&finer["element_width"], 1.5, 0.5);

    let fewer = check(&["mesh.elements=3000"]);
    close(&fewer["elements"], 3000.0, 0.11);

    let uncut = ["optimizer.max_iterations=1", "output.uncut=true", "solver.strategy=ebe"];
    folder.run_well(&[&units[..], &uncut].concat());
    assert_design_on_tetrahedra(&folder);
    let summary = folder.summary();
    assert_eq!(summary["units"]["stress"], "N/m^2 (Pa)");
    assert_eq!(summary["units"]["compliance"], "N m");
}

/// design_uncut.vtu has a quarter of the elements of design.vtu, and as much material.
fn assert_design_on_tetrahedra(folder: &Folder) {
    let read = |name: &str, array: &str| {
        let path = folder.path("out").join(name);
        let read = vtu::read_with_cell_data_as(&path, &[array], Cutting::Allowed);
        let (mesh, mut arrays) = read.unwrap();
        (mesh, arrays.remove(0))
    };
    let sums = |array: &str, by_volume: bool| {
        let (cut, on_hexes) = read("design.vtu", array);
        let (uncut, on_cells) = read("design_uncut.vtu", array);
        let cells = uncut.uncut.unwrap();
        assert!(cells.cells.shapes().iter().all(|shape| *shape == Shape::Tetrahedron));
        assert_eq!(4 * cells.cells.len(), cut.mesh.n_elements());

        // The reader gives all hexahedra of a cell its value.
        let volumes = uncut.mesh.volumes();
        let of_cells = cells.means(&on_cells, &volumes);
        let (volumes, weights) = (cut.mesh.volumes(), cells.sums(volumes));
        let on_hexes =
            on_hexes.iter().zip(volumes).map(|(v, w)| if by_volume { v * w } else { *v });
        let on_cells =
            of_cells.iter().zip(weights).map(|(v, w)| if by_volume { v * w } else { *v });
        [on_hexes.sum::<f64>(), on_cells.sum::<f64>()]
    };
    let [energy, of_cells] = sums("strain_energy", false);
    assert!(energy > 0.0 && (of_cells / energy - 1.0).abs() < 1e-12, "{of_cells} {energy}");
    // Straight tetrahedra have the volume of their hexahedra except on the bore.
    let [material, of_cells] = sums("density", true);
    assert!((of_cells / material - 1.0).abs() < 0.01, "{of_cells} {material}");
}

/// So coarse that Gmsh leaves two prisms, which are elements too.
#[test]
fn prisms_that_gmsh_leaves_are_wedges() {
    if !has_gmsh() {
        return;
    }
    let folder = Folder::new();
    let source = geometry("michell.geo");
    let args = ["mesh", &source, "--element-size", "30", "-o", "part.msh"];
    let (status, out, err) = topopt(&folder.path(""), &args);
    assert_eq!((status, err.as_str()), (0, ""), "{out}");
    assert!(out.contains("wedges, read as hexahedra of six nodes: 2"), "{out}");
}

#[test]
fn gmsh_that_is_not_there() {
    let folder = Folder::new();
    folder.write("part.geo", "");
    folder.write("case.toml", &CASE.replace(GENERATED, "file = \"part.geo\""));
    let run = |args: &[&str]| -> Finished {
        program(&folder.path("")).args(args).env("GMSH", "no-gmsh").output().unwrap().into()
    };

    insta::assert_snapshot!(run(&["check", "case.toml"]).err, @r#"
      x cannot start `no-gmsh`, which meshes geometries: No such file or directory (os error 2)
       ,-[case.toml:4:8]
     3 | [mesh]
     4 | file = "part.geo"
       :        ^^^^^|^^^^
       :             `-- this mesh
     5 | 
       `----
      help: install Gmsh (`apt install gmsh`, `pip install gmsh`, or from gmsh.info), or say where it
            is with `--gmsh` or the variable GMSH; or mesh the part elsewhere and name the .msh file
    "#);

    let info = run(&["info", "part.geo"]);
    assert!(info.status == 1 && info.err.contains("cannot start `no-gmsh`"), "{}", info.err);
    let asked = run(&["check", "case.toml", "--gmsh", "bin/gmsh"]);
    assert!(asked.err.contains("cannot start `bin/gmsh`"), "{}", asked.err);
}

/// A case file may come from somebody else: it names no program.
#[test]
fn a_case_file_cannot_name_the_program() {
    let folder = Folder::new();
    folder.write("part.geo", "");
    let mesh = "file = \"part.geo\"\ngmsh = \"./evil.sh\"";
    folder.write("case.toml", &CASE.replace(GENERATED, mesh));
    let (status, _, err) = topopt(&folder.path(""), &["check", "case.toml"]);
    assert!(status == 1 && err.contains("unknown key `gmsh` in [mesh]"), "{err}");
    assert!(err.contains("choose Gmsh on the command line by"), "{err}");
}

/// The stand-in runs the geometry as a shell script, in which `Save` is a comment.
#[test]
fn a_geometry_that_may_do_harm_needs_trust() {
    let folder = Folder::new();
    let cube = root().join("crates/topopt-testing/src/files/cube.msh").display().to_string();
    let script = format!("# Save \ntouch {}\ncp {cube} $mesh", folder.path("ran").display());
    folder.write("part.geo", &script);
    let mesh = "file = \"part.geo\"\n[[select]]\nname = \"fixed\"\nkind = \"nodes\"\nbox = { min = \
                [0, 0, 0], max = [0, 1, 1] }";
    folder.write("case.toml", &CASE.replace(GENERATED, mesh));

    let stand_in = root().join("crates/topopt-io/tests/io/gmsh_program/gmsh").display().to_string();
    let help = "if you trust it and everything it reads, give";

    for args in [
        &["info", "part.geo"][..],
        &["mesh", "part.geo", "-o", "part.msh"],
        &["check", "case.toml"],
        &["run", "case.toml", "--output", "out"],
    ] {
        let args = [args, &["--gmsh", &stand_in]].concat();
        let (status, _, err) = topopt(&folder.path(""), &args);
        assert!(status == 1 && err.contains("line 1: `Save` may run"), "{args:?}: {err}");
        assert!(err.contains(help) && !folder.path("ran").exists(), "{args:?}: {err}");
    }

    let args = ["info", "part.geo", "--gmsh", &stand_in, "--trust-geometry"];
    let (status, out, err) = topopt(&folder.path(""), &args);
    assert!(status == 0 && folder.path("ran").exists(), "{out}{err}");
}

#[test]
fn what_topopt_mesh_is_not_for() {
    let folder = Folder::new();
    for (args, part) in [
        (&["part.geo", "--size", "1"][..], "--size is for benchmarks"),
        (&["michell", "--element-size", "1"], "are for geometries"),
        (&["michell"], "the size of the mesh of michell is missing"),
        (&["part.obj"], "neither a benchmark (cantilever, l_beam"),
        (&["part.geo"], "part.geo: cannot read the file: No such file"),
    ] {
        let (status, out, err) = topopt(&folder.path(""), &[&["mesh"], args].concat());
        assert_eq!((status, out.as_str()), (1, ""), "{args:?}");
        assert!(err.contains(part), "{args:?}: {err}");
    }
}

/// A stand-in for Gmsh, which does what the geometry says.
#[test]
fn an_interrupt_ends_gmsh_too() {
    let folder = Folder::new();
    folder.write("part.geo", &format!("echo $$ > {}\nexec sleep 60", folder.path("pid").display()));
    folder.write("case.toml", &CASE.replace(GENERATED, "file = \"part.geo\""));
    let stand_in = root().join("crates/topopt-io/tests/io/gmsh_program/gmsh");

    let mut command = program(&folder.path(""));
    command.args(["run", "case.toml", "--output", "out"]).env("GMSH", stand_in);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();

    let start = Instant::now();
    let pid = loop {
        match std::fs::read_to_string(folder.path("pid")) {
            Ok(pid) if pid.ends_with('\n') => break pid,
            _ => sleep(Duration::from_millis(10)),
        }
        assert!(start.elapsed() < Duration::from_secs(30), "it was never started");
    };

    let signal = |name: &str, pid: &str| {
        Command::new("kill").args([name, pid]).stderr(Stdio::null()).status().unwrap().success()
    };
    assert!(signal("-0", pid.trim()) && signal("-INT", &child.id().to_string()));
    let finished = Finished::from(child.wait_with_output().unwrap());

    assert_eq!(
        (finished.status, finished.err.as_str()),
        (
            130,
            concat!(
                "topopt: interrupted; finishing the current step first. Interrupt again to end at once\n",
                "  x interrupted before the first iteration; nothing is written\n"
            )
        )
    );

    assert!(!signal("-0", pid.trim()), "it is still there");
    assert!(start.elapsed() < Duration::from_secs(50));
}

/// The way from a design to a mesh that is its own, and to displacements in it.
#[test]
fn an_exported_design_is_meshed_and_solved() {
    if !has_gmsh() {
        return;
    }
    let folder = Folder::new();
    folder.run_well(&["optimizer.max_iterations=30", "design.volume_fraction=0.5"]);
    for more in [&[][..], &["--decimate", "0.3"]] {
        let args = [&["export", "out", "--output", "part.stl"], more].concat();
        let (status, out, err) = topopt(&folder.path(""), &args);
        assert_eq!((status, err.as_str()), (0, ""), "{out}");
        // Five elements are kept at the load, besides those that are designed.
        let volume = 5.0 + 245.0 * folder.summary()["volume_fraction"].as_f64().unwrap();

        let again = "file = \"part.stl\"\nelement_size = 0.5\n\
            [[select]]\nname = \"fixed\"\nkind = \"nodes\"\nbox = { min = [-1, -1, -1], max = [0.01, 9, 9] }\n\
            [[select]]\nname = \"load\"\nkind = \"nodes\"\nbox = { min = [9.9, -1, -1], max = [11, 9, 9] }\n";
        folder.write("again.toml", &CASE.replace(GENERATED, again));
        let (status, out, err) =
            topopt(&folder.path(""), &["solve", "again.toml", "--output", "again", "--overwrite"]);
        assert_eq!((status, err.as_str()), (0, ""), "{out}");
        let found: Value = serde_json::from_str(&folder.read("again/analysis.json")).unwrap();
        close(&found["volume"], volume, 0.011);
        assert!(found["elements"].as_u64().unwrap() > 1000, "{found}");
    }
}

/// A cone of radius 5 and height 10 as STL: the mesh reaches its tip, or `info` says how far it
/// goes.
#[test]
fn a_tip_that_is_cut_off_is_said() {
    if !has_gmsh() {
        return;
    }
    const SIDES: usize = 48;
    let rim = |i: usize| {
        let angle = std::f64::consts::TAU * (i % SIDES) as f64 / SIDES as f64;
        format!("vertex {:?} {:?} 0\n", 5.0 * angle.cos(), 5.0 * angle.sin())
    };
    let facet = |corners: [String; 3]| {
        format!("facet normal 0 0 0\nouter loop\n{}endloop\nendfacet\n", corners.concat())
    };
    let of_side = |i: usize| {
        let [tip, middle] = [10, 0].map(|z| format!("vertex 0 0 {z}\n"));
        facet([rim(i), rim(i + 1), tip]) + &facet([rim(i + 1), rim(i), middle])
    };
    let facets: String = (0..SIDES).map(of_side).collect();
    let folder = Folder::new();
    folder.write("cone.stl", &format!("solid cone\n{facets}endsolid cone\n"));

    let info = json(&folder, &["info", "cone.stl", "--json"]);
    let height = info["bounding_box"]["max"][2].as_f64().unwrap();
    let notes: Vec<&str> =
        info["notes"].as_array().unwrap().iter().map(|note| note.as_str().unwrap()).collect();
    let said = notes.iter().any(|note| note.contains("a tip of the part was cut off"));
    assert_eq!(said, height < 9.9, "{height}: {notes:?}");
}

/// A stand-in that has started something; the program is killed, or signalled twice as `timeout`
/// does.
#[cfg(unix)]
#[test]
fn gmsh_ends_with_the_program_however_that_ends() {
    let signal = |name: &str, pid: &str| {
        Command::new("kill").args([name, pid]).stderr(Stdio::null()).status().unwrap().success()
    };
    let lives = |pid: &str| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
        stat.map_or_else(
            |_| !Path::new("/proc/self").exists() && signal("-0", pid),
            |stat| !stat.contains(") Z "),
        )
    };
    for signals in [&["-KILL"][..], &["-TERM", "-TERM"], &["-INT", "-INT"]] {
        let folder = Folder::new();
        let pid = folder.path("pid").display().to_string();
        folder.write("part.geo", &format!("sleep 60 &\necho $! > {pid}\nwait"));
        let stand_in = root().join("crates/topopt-io/tests/io/gmsh_program/gmsh");
        let temporary = folder.path("tmp");
        std::fs::create_dir(&temporary).unwrap();
        let mut command = program(&folder.path(""));
        command.args(["info", "part.geo"]).env("GMSH", stand_in).env("TMPDIR", &temporary);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();

        let start = Instant::now();
        let waits = |what: &str| {
            assert!(start.elapsed() < Duration::from_secs(30), "{signals:?}: {what}");
            sleep(Duration::from_millis(10));
        };
        let pid = loop {
            match std::fs::read_to_string(&pid) {
                Ok(pid) if pid.ends_with('\n') => break pid.trim().to_owned(),
                _ => waits("it was never started"),
            }
        };
        for name in signals {
            signal(name, &child.id().to_string());
        }
        child.wait_with_output().unwrap();
        while lives(&pid) {
            waits("it is still there");
        }
        while std::fs::read_dir(&temporary).unwrap().next().is_some() {
            waits("its folder is still there");
        }
    }
}
