//! Conductivities, heat capacities and densities that vary in the part.

use serde_json::Value;
use topopt_cuda::{Probe, probe};
use topopt_io::gmsh;
use topopt_io::vtk::{Array, Compression, Values, vtu};
use topopt_mesh::hexahedron::center;

use crate::heat::{EXACT, error, part, temperatures};
use crate::messages::{assert_snapshot, message};
use crate::solve::numbers;
use crate::verify::assert_near;
use crate::{Folder, difference, topopt};

/// Supports and heat loads of the bent block of [`block`].
const LOADED: &str = "[[supports]]\nset = \"low\"\ntemperature = 10\n\
    [[loads]]\nset = \"high\"\nheat_flux = 3\n[[loads]]\nheat_source = 2\n";

/// Materials of two halves that divide at x = 0.5, as numbers and as fields.
const HALVES: &str = "[material]\nconductivity = 43\nmass_density = 7.6\nheat_capacity = 0.49\n\
    [[materials]]\nset = \"upper half\"\nconductivity = 4\nmass_density = 5\nheat_capacity = 0.33\n";
const FIELDS: &str = "[material]\nconductivity = \"if(x < 0.5, 43, 4)\"\n\
    mass_density = \"5 + (x < 0.5)*2.6\"\nheat_capacity = \"if(x >= 0.5, 0.33, 0.49)\"\n";

/// A block whose layers bend along y and z, and do not move along x.
fn block(tables: &str) -> Folder {
    part([6, 4, 3], |[x, y, z]| [x, y + 0.1 * (3.0 * x).sin(), z + 0.1 * x * y], tables)
}

fn of_nodes(folder: &Folder) -> Vec<f64> {
    temperatures(folder).into_iter().map(|(_, temperature)| temperature).collect()
}

/// Steps on the faces of elements: steady, in time and as a design.
#[test]
fn a_field_with_a_step_is_two_materials() {
    let in_time = "[transient]\nend = 0.2\nstep = 0.05\n";
    for more in ["", in_time] {
        let [expected, found] = [HALVES, FIELDS].map(|materials| {
            let folder = block(&format!("{materials}{LOADED}{more}"));
            let found = numbers(&folder, &EXACT);
            assert!(found["load_cases"][0]["heat"]["sum"].as_f64().unwrap().abs() < 1e-9);
            (of_nodes(&folder), folder.array("solved/analysis.vtu", "heat_flux"))
        });
        assert!(difference(&found.0, &expected.0) < 1e-12, "{more}");
        assert!(difference(&found.1, &expected.1) < 1e-10, "{more}");
    }

    let design = "[design]\nstyle = \"smooth\"\nvolume_fraction = 0.4\n[filter]\nradius_in_elements = 1.5\n\
        [optimizer]\nmax_iterations = 5\n";
    let [expected, found] = [HALVES, FIELDS].map(|materials| {
        let folder = block(&format!("{materials}{LOADED}{design}"));
        folder.run_well(&["solver.tolerance=1e-12", "output.checkpoint_every=0"]);
        // The case among the results has the same fields.
        let args = ["solve", "out/case.toml", "--output", "again"];
        let (status, _, err) = topopt(&folder.path(""), &args);
        assert_eq!((status, err.as_str()), (0, ""));
        folder.history("compliance")
    });
    assert!(difference(&found, &expected) < 1e-9, "{found:?} {expected:?}");
}

/// k = 1 + x with a flux q: T = q ln(1 + x).
#[test]
fn a_linear_conductivity_converges_by_order_two() {
    let tables = "[material]\nconductivity = \"1 + x\"\n[[supports]]\nset = \"low\"\n\
        [[loads]]\nset = \"high\"\nheat_flux = 2\n";
    let errors = [8, 16, 32].map(|n| {
        let folder = part([n, 1, 1], |[x, y, z]| [x, 0.2 * y, 0.2 * z], tables);
        numbers(&folder, &EXACT);
        error(&folder, |[x, ..]| 2.0 * x.ln_1p())
    });
    for pair in errors.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!((1.95..2.05).contains(&order), "{errors:?}");
    }
    assert!(errors[2] < 1e-4, "{errors:?}");
}

/// A case on part.vtu, a block with the arrays `k`, 1 + x² of the centers, and `bad`, which is 0 in
/// an element.
fn with_arrays(conductivity: &str) -> Folder {
    let low = "[[select]]\nname = \"left\"\nkind = \"faces\"\nplane = { point = [0, 0, 0], normal = \
        [1, 0, 0], tolerance = 1e-6 }\n[[supports]]\nset = \"left\"\n[[loads]]\nheat_source = 2\n";
    let folder =
        part([5, 3, 2], |x| x, &format!("[material]\nconductivity = {conductivity}\n{low}"));
    let mesh = gmsh::read(&folder.path("part.msh"), topopt_io::Cutting::Allowed).unwrap().mesh;
    let squares = |e: usize| 1.0 + center(&mesh.element_coordinates(e))[0].powi(2);
    let k: Vec<f64> = (0..mesh.n_elements()).map(squares).collect();
    let mut bad = k.clone();
    bad[7] = 0.0;
    let arrays = [("k", &k), ("bad", &bad)];
    let arrays =
        arrays.map(|(name, values)| Array { name, components: 1, values: Values::F64(values) });
    let path = folder.path("part.vtu");
    vtu::write(&path, mesh.coordinates(), mesh.hexes(), &[], &arrays, Compression::None).unwrap();
    let case = folder.read("case.toml").replace("part.msh", "part.vtu");
    folder.write("case.toml", &case);
    folder
}

/// The elements of a block are symmetric: the mean of x² is that of its center and h² / 12.
#[test]
fn an_array_of_the_mesh_is_the_field_of_its_values() {
    let [found, expected] = ["{ array = \"k\" }", "\"1 + x^2 - 0.2^2/12\""].map(|conductivity| {
        let folder = with_arrays(conductivity);
        numbers(&folder, &EXACT);
        of_nodes(&folder)
    });
    assert!(difference(&found, &expected) < 1e-12);
    assert!(found.iter().any(|temperature| *temperature > 0.1));
}

#[test]
fn fields_on_a_gpu_are_those_of_the_processor() {
    let Probe::Found { .. } = probe() else {
        println!("skipped: no CUDA device");
        return;
    };
    for more in ["", "[transient]\nend = 0.2\nstep = 0.05\n"] {
        let folder = block(&format!("{FIELDS}{LOADED}{more}"));
        let [cpu, gpu] = ["cpu", "gpu"].map(|device| {
            let args = [&EXACT[..], &["--device", device, "--overwrite"]].concat();
            numbers(&folder, &args);
            of_nodes(&folder)
        });
        assert!(difference(&gpu, &cpu) < 1e-9);
    }
}

#[test]
fn check_has_the_range_of_a_field() {
    let folder = block(&format!("{FIELDS}{LOADED}"));
    let check = |args: &[&str]| {
        let (status, out, err) =
            topopt(&folder.path(""), &[&["check", "case.toml"], args].concat());
        assert_eq!((status, err.as_str()), (0, ""));
        out
    };
    let out = check(&[]);
    assert!(out.contains("72 elements, conductivity 4 to 43\n"), "{out}");
    let json: Value = serde_json::from_str(&check(&["--json"])).unwrap();
    let material = &json["materials"][0];
    assert_near(&material["conductivity"][0], 4.0);
    assert_near(&material["conductivity"][1], 43.0);
    assert_near(&material["mass_density"][1], 7.6);
}

/// The lines are those of an elastic part; what the ambient brings is told apart from the loads.
#[test]
fn a_thermal_case_is_checked_as_an_elastic_one() {
    let tables = "title = \"Sink\"\n[material]\nconductivity = 2\n\
        [[convection]]\nset = \"sides\"\nfilm_coefficient = 0.5\nambient = 10\n\
        [[loads]]\nset = \"high\"\ntotal_heat = 20\n\
        [design]\nstyle = \"smooth\"\nvolume_fraction = 0.5\nsolid = [\"upper half\"]\n\
        [filter]\nradius_in_elements = 1.5\n";
    let folder = part([4, 2, 2], |[x, y, z]| [4.0 * x, 2.0 * y, 2.0 * z], "");
    let head = folder.read("case.toml");
    let (title, rest) = tables.split_once('\n').unwrap();
    folder.write("case.toml", &format!("{title}\n{head}{rest}"));
    let (status, out, err) = topopt(&folder.path(""), &["check", "case.toml"]);
    assert_eq!((status, err.as_str()), (0, ""));
    for line in [
        "case.toml: Sink",
        "  elements         16 of mean width 1",
        "  nodes            45",
        "  extent           4 x 2 x 2",
        "  unknowns         45 temperatures",
        "  load case        default: heat input 20 on 9 nodes, convection from ambient 160, weight 1",
        "  made of          [material]: 16 elements, conductivity 2",
        "  solid elements   8",
        "  material         0.5 of the design volume 8",
        "  results          results/case",
        "ready for `topopt run case.toml`",
    ] {
        assert!(out.lines().any(|found| found == line), "{line}\n{out}");
    }
    for name in ["filter", "iterations", "device", "strategy", "memory", "time"] {
        assert!(
            out.lines().any(|line| line.starts_with(&format!("  {name:<15}  "))),
            "{name}\n{out}"
        );
    }
    let (_, json, _) = topopt(&folder.path(""), &["check", "case.toml", "--json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_near(&json["loads"][0]["heat"], 20.0);
    assert_near(&json["loads"][0]["heat_from_ambient"], 160.0);
}

/// `[material]` needs a conductivity where elements are made of it.
#[test]
fn a_material_that_no_element_has_needs_no_conductivity() {
    let covered = |set: &str| {
        block(&format!("[[materials]]\nset = \"{set}\"\nconductivity = \"3 + x\"\n{LOADED}"))
    };
    let [found, expected] =
        [covered("all"), block(&format!("[material]\nconductivity = \"3 + x\"\n{LOADED}"))].map(
            |folder| {
                numbers(&folder, &EXACT);
                of_nodes(&folder)
            },
        );
    assert!(difference(&found, &expected) < 1e-12);
    let message = message(&covered("upper half"), &["check", "case.toml"]);
    assert!(message.contains("[material] has no `conductivity`, which elements of no other"));
}

/// Expressions that are none, values that are not positive, and arrays that are not there.
#[test]
fn fields_that_cannot_be_are_refused() {
    let on_block = |tables: String| block(&format!("{tables}{LOADED}"));
    let of = |conductivity: &str| on_block(format!("[material]\nconductivity = {conductivity}\n"));
    let lighter = "[material]\nconductivity = 1\n[[materials]]\nset = \"upper half\"\n\
        conductivity = 2\nmass_density = \"1 - x\"\nheat_capacity = \"1/(y - y)\"\n";

    let folders = [
        of("\"2*w + 1\""),
        of("\"if(x < 0.5, 43, 4\""),
        of("\"43 +\""),
        of("\"0.75 - x\""),
        of("true"),
        of("-1"),
        of("{ name = \"k\" }"),
        of("{ array = \"k\" }"),
        on_block(lighter.to_owned()),
        with_arrays("{ array = \"kappa\" }"),
        with_arrays("{ array = \"bad\" }"),
    ];
    let messages = folders.map(|folder| message(&folder, &["check", "case.toml"]));
    assert_snapshot("fields", &messages);
}
