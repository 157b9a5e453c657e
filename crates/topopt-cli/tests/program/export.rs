//! `topopt export`: surfaces as VTK reads them, and what is refused.

use std::path::{Path, PathBuf};

use serde_json::Value;
use topopt_io::vtk::{Array, Compression, Values, vtu};
use topopt_mesh::HexMesh;

use crate::meshes::distorted;
use crate::vtk::{number, read_back};
use crate::{Finished, Folder, program};

fn export(folder: &Folder, args: &[&str]) -> Finished {
    let mut command = program(&folder.path(""));
    command.arg("export").args(args).output().unwrap().into()
}

/// Exports, which must succeed; returns the output.
fn export_well(folder: &Folder, args: &[&str]) -> String {
    let finished = export(folder, args);
    assert_eq!((finished.status, finished.err.as_str()), (0, ""), "{}", finished.out);
    finished.out
}

/// Closed, a manifold, turned outwards, of one unit and of `volume` up to 0.5 %.
fn assert_printable(surface: &Value, volume: f64) {
    for count in ["open_edges", "nonmanifold_edges", "turned_edges", "other_cells"] {
        assert_eq!(surface[count], 0, "{count}: {surface}");
    }
    assert!(number(&surface["triangles"]) > 1000.0, "{surface}");
    for name in ["volume", "signed_volume"] {
        assert!((number(&surface[name]) / volume - 1.0).abs() < 5e-3, "{volume} {surface}");
    }
}

#[test]
fn the_four_benchmarks_are_printable() {
    let folder = Folder::new();
    let names = ["cantilever", "connecting_rod", "l_beam", "michell"];
    let mut files = Vec::new();
    for name in names {
        let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benchmarks");
        let case = std::fs::read_to_string(case.join(name).with_extension("toml")).unwrap();
        folder.write("case.toml", &case.replace("size = 1", "elements = 1500"));

        let unit = if name == "michell" { "in" } else { "mm" };
        let units = format!("units={{length=\"{unit}\", force=\"N\"}}");
        let settings = ["optimizer.max_iterations=8", "filter.radius_in_elements=1.5", &units];
        folder.run_well(&settings);

        for format in FORMATS {
            let file = format!("{name}.{format}");
            let mut args = vec!["out", "-o", &file];
            if format == "few.obj" {
                args.extend(["--decimate", "0.45"]);
            }

            let told = export_well(&folder, &args);
            assert!(told.contains(&format!("wrote {file}: ")), "{told}");
            assert!(told.contains("+0.00 %"), "{told}");
            let told_unit = told.contains(&format!("unit of the file: {unit}\n"));
            assert_eq!(told_unit, format == "3mf", "{told}");
            files.push(folder.path(&file));
        }

        std::fs::rename(folder.path("out"), folder.path(name)).unwrap();
    }

    let Some(surfaces) = read_back("VTK", "surface_readback.py", &files) else { return };
    let surfaces = surfaces.as_array().unwrap().chunks(FORMATS.len());
    for (name, surfaces) in names.iter().zip(surfaces) {
        let unit = if *name == "michell" { "inch" } else { "millimeter" };
        assert_eq!(surfaces[1]["unit"], unit);
        assert_same_part(&folder.path(name).join("design.vtu"), surfaces);
    }
}

/// The surface is made once, and again where the design is another or the file is damaged.
#[test]
fn the_surface_is_kept_until_the_design_changes() {
    let folder = Folder::new();
    folder.run_well(&["optimizer.max_iterations=5"]);
    let kept = folder.path("out/surface.bin");
    let exported = |name: &str| {
        export_well(&folder, &["out", "-o", name]);
        std::fs::read(folder.path(name)).unwrap()
    };
    let first = exported("first.ply");
    let bytes = std::fs::read(&kept).unwrap();
    assert_eq!(exported("again.ply"), first);

    // What is kept is what is exported: another threshold is no concern of it.
    export_well(&folder, &["out", "-o", "other.ply", "--threshold", "0.6"]);
    assert_ne!(std::fs::read(folder.path("other.ply")).unwrap(), first);
    assert_eq!(std::fs::read(&kept).unwrap(), bytes);

    for damaged in [&bytes[..bytes.len() / 2], b"", &[&bytes[..99], b"~", &bytes[100..]].concat()] {
        std::fs::write(&kept, damaged).unwrap();
        assert_eq!(exported("mended.ply"), first);
        assert_eq!(std::fs::read(&kept).unwrap(), bytes);
    }

    // A kept surface of another design is not taken.
    let design = std::fs::read(folder.path("out/design.vtu")).unwrap();
    folder.run_well(&["optimizer.max_iterations=7"]);
    assert!(!kept.exists());
    let other = exported("other.ply");
    assert_ne!(other, first);
    std::fs::write(folder.path("out/design.vtu"), design).unwrap();
    assert_eq!(exported("back.ply"), first);
}

/// Extensions of the surfaces of a design, of which the last is decimated.
const FORMATS: [&str; 6] = ["stl", "3mf", "obj", "ply", "vtp", "few.obj"];

/// The surfaces of a design in all formats.
fn assert_same_part(design: &Path, surfaces: &[Value]) {
    let design = vtu::read_with_cell_data(design, &["density"]);
    let (file, data) = design.unwrap();
    let volume = data[0].iter().zip(file.mesh.volumes()).map(|(d, v)| d * v).sum();
    surfaces.iter().for_each(|surface| assert_printable(surface, volume));

    let bounds = file.mesh.bounding_box();
    for (k, surface) in surfaces.iter().enumerate() {
        let bound = |i: usize| number(&surface["bounds"][i]);
        for i in 0..3 {
            // Except for single precision.
            let size = 1e-6 * bounds.extent()[i];
            assert!(bound(2 * i) >= bounds.min[i] - size, "{surface}");
            assert!(bound(2 * i + 1) <= bounds.max[i] + size, "{surface}");
        }

        assert_eq!(surface["regions"], surfaces[0]["regions"]);
        if k + 1 < FORMATS.len() {
            assert_eq!(surface["points"], surfaces[0]["points"]);
            assert_eq!(surface["triangles"], surfaces[0]["triangles"]);
        }
    }

    let [whole, few] = [0, FORMATS.len() - 1].map(|k| number(&surfaces[k]["triangles"]));
    assert!(few < 0.85 * whole, "{few} {whole}");
}

/// A design of `mesh` with a `density` by the centers, moved by `shift` in all directions.
fn write_design(path: &Path, mesh: &HexMesh, shift: f64, density: impl Fn([f64; 3]) -> f64) {
    let density: Vec<f64> = mesh.centers().into_iter().map(density).collect();
    let data = [Array { name: "density", components: 1, values: Values::F64(&density) }];
    let coordinates: Vec<_> = mesh.coordinates().iter().map(|x| x.map(|x| x + shift)).collect();
    vtu::write(path, &coordinates, mesh.hexes(), &[], &data, Compression::default()).unwrap();
}

/// A mesh and a design of it with solid ends, one longer than the other.
fn two_ends(folder: &Folder) -> (PathBuf, HexMesh) {
    let (path, mesh) = (folder.path("ends.vtu"), distorted());
    write_design(&path, &mesh, 0.0, |x| if x[0] < 2.0 || x[0] > 7.0 { 1.0 } else { 0.0 });
    (path, mesh)
}

/// The volume is that of the file, which single precision moves.
#[test]
fn rounding_far_from_the_origin_is_told() {
    let folder = Folder::new();
    let solid = |x: [f64; 3]| if x[0] < 2.0 || x[0] > 7.0 { 1.0 } else { 0.0 };
    write_design(&folder.path("far.vtu"), &distorted(), 4e3, solid);

    let args = |file| ["far.vtu", "-o", file, "--threshold", "0.5"];
    let told = ["far.stl", "far.obj"].map(|file| export_well(&folder, &args(file)));
    let warned = told.each_ref().map(|told| told.contains("warning: this format holds single"));
    assert_eq!(warned, [true, false], "{told:?}");

    let volume = |told: &str| {
        let (_, rest) = told.split_once("volume ").unwrap();
        rest.split(',').next().unwrap().parse::<f64>().unwrap()
    };

    let bytes = std::fs::read(folder.path("far.stl")).unwrap();
    let value = |at: usize| f64::from(f32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()));
    let corner = |at: usize| [0, 4, 8].map(|i| value(at + i) - 4e3);
    let cone = |triangle: usize| {
        let [a, b, c] = [12, 24, 36].map(|at| corner(84 + 50 * triangle + at));
        topopt_mesh::hexahedron::determinant(&[a, b, c]) / 6.0
    };

    let in_file: f64 = (0..(bytes.len() - 84) / 50).map(cone).sum();
    let [stl, obj] = told.each_ref().map(|told| volume(told));
    assert!((stl / in_file - 1.0).abs() < 1e-5, "{stl} {in_file}");
    assert!((stl / obj - 1.0).abs() < 1e-4, "{stl} {obj}");
}

#[test]
fn loose_pieces_are_told_and_dropped() {
    let folder = Folder::new();
    let (_, mesh) = two_ends(&folder);
    let all = export_well(&folder, &["ends.vtu", "-o", "all.obj", "--threshold", "0.5"]);
    assert!(all.contains("warning: 2 disconnected pieces"), "{all}");
    assert!(all.contains("`--largest-piece` keeps only the largest"), "{all}");
    let args = ["ends.vtu", "-o", "one.obj", "--threshold", "0.5", "--largest-piece"];
    let one = export_well(&folder, &args);
    assert!(one.contains("all except the largest were dropped"), "{one}");
    let files = ["all.obj", "one.obj"].map(|name| folder.path(name));
    let Some(surfaces) = read_back("VTK", "surface_readback.py", &files) else { return };
    assert_eq!((&surfaces[0]["regions"], &surfaces[1]["regions"]), (&2.into(), &1.into()));
    let total: f64 = mesh.volumes().iter().sum();
    let share = |i: usize| number(&surfaces[i]["signed_volume"]) / total;
    assert!((share(0) - 0.5).abs() < 0.05 && (share(1) - 0.3).abs() < 0.05, "{surfaces}");
}

#[test]
fn decimation_and_quality_change_the_number_of_triangles() {
    let folder = Folder::new();
    two_ends(&folder);
    let triangles = |args: &[&str]| {
        let whole = [&["ends.vtu", "-o", "ends.obj", "--threshold", "0.5"], args].concat();
        let told = export_well(&folder, &whole);
        assert!(told.contains("surface: closed, without crossings\n"), "{told}");
        let (_, rest) = told.split_once("wrote ends.obj: ").unwrap();
        rest.split(' ').next().unwrap().parse::<usize>().unwrap()
    };
    let all = triangles(&[]);
    let few = ["0.5", "0.1"].map(|share| triangles(&["--decimate", share]));
    assert!(few[0] < all && few[1] < few[0], "{all} {few:?}");
    assert!(triangles(&["--quality", "draft"]) < all);

    for share in ["0", "1", "-0.1", "nan", "few"] {
        let option = format!("--decimate={share}");
        let finished = export(&folder, &["ends.vtu", "-o", "part.stl", &option]);
        let message = "give a share of the triangles between 0 and 1, such as 0.1";
        assert!(finished.err.contains(message), "{share}: {}", finished.err);
        assert!(!folder.path("part.stl").exists());
    }
}

#[test]
fn what_cannot_be_exported_is_refused() {
    let folder = Folder::new();
    two_ends(&folder);
    folder.run_well(&["optimizer.max_iterations=1", "design.keep_loaded=free"]);
    std::fs::copy(folder.path("out/design.vtu"), folder.path("flat.vtu")).unwrap();
    std::fs::create_dir(folder.path("empty")).unwrap();

    let mesh = distorted();
    let bare = folder.path("bare.vtu");
    vtu::write(&bare, mesh.coordinates(), mesh.hexes(), &[], &[], Compression::None).unwrap();
    write_design(&folder.path("solid.vtu"), &mesh, 0.0, |_| 1.0);
    // A solid end, and single elements.
    let is_speck = |x: f64| (x / 3.0).fract() * 3.0 > 1.0 && (x / 3.0).fract() * 3.0 < 2.0;
    let specks = |x: [f64; 3]| f64::from(u8::from(x[0] < 2.0 || x.into_iter().all(is_speck)));
    write_design(&folder.path("specks.vtu"), &mesh, 0.0, specks);
    write_design(&folder.path("far.vtu"), &mesh, 1e8, |x| (x[0] / 10.0).fract().abs());

    // The surface is kept, whatever becomes of it.
    export(&folder, &["out", "-o", "part.stl"]);
    let before = folder.files();
    let cases: [(&[&str], &[&str]); 13] = [
        (
            &["ends.vtu", "-o", "part.step"],
            &["format of part.step", ".stl, .3mf, .obj, .ply, .glb or .vtp"],
        ),
        (&["none", "-o", "part.stl"], &["none is not a results folder", "no such folder"]),
        (&["empty", "-o", "part.stl"], &["empty is not a results folder", "topopt run"]),
        (
            &["bare.vtu", "-o", "part.stl"],
            &["no scalar cell array `density`", "design.vtu of a run"],
        ),
        (&["case.toml", "-o", "part.stl"], &["case.toml: not a VTK XML file"]),
        (&["out", "-o", "part.stl"], &["has the density 0.3", "run more iterations"]),
        (
            &["ends.vtu", "-o", "part.stl", "--threshold", "1.5"],
            &["the threshold 1.5 keeps nothing of ends.vtu", "densities are from 0 to 1"],
        ),
        (
            &["ends.vtu", "-o", "part.stl", "--threshold", "0"],
            &["the threshold 0 keeps everything of ends.vtu", "choose a threshold between"],
        ),
        (
            &["ends.vtu", "-o", "part.stl", "--threshold", "-1"],
            &["the threshold -1 keeps everything of ends.vtu", "choose a threshold between"],
        ),
        (
            &["ends.vtu", "-o", "nowhere/part.stl"],
            &["cannot write nowhere/part.stl", "choose an existing, writable folder"],
        ),
        (
            &["specks.vtu", "-o", "part.stl"],
            &["specks.vtu has fallen apart", "% of its material", "with `--threshold`"],
        ),
        (
            &["solid.vtu", "-o", "part.stl"],
            &["all of solid.vtu has the density 1", "a uniform density has no surface"],
        ),
        (
            &["far.vtu", "-o", "part.stl"],
            &[
                "in single precision, the precision of this format",
                "write .3mf, .obj, .ply or .vtp",
            ],
        ),
    ];

    for (args, parts) in cases {
        let finished = export(&folder, args);
        let words =
            |text: &str| text.replace('|', " ").split_whitespace().collect::<Vec<_>>().join(" ");
        for part in parts {
            assert!(words(&finished.err).contains(part), "{args:?}\n{part}\n{}", finished.err);
        }

        let os_error = parts[0].contains("nowhere");
        assert_eq!(
            finished.err.contains("choose an existing, writable folder"),
            os_error,
            "{}",
            finished.err
        );
        assert_eq!((finished.status, finished.out.as_str()), (1, ""), "{args:?}");
        assert_eq!(folder.files(), before, "{args:?}");
    }
}
