//! Conductivities along x, y and z.

use std::f64::consts::PI;

use serde_json::Value;
use topopt_cuda::{Probe, probe};
use topopt_io::gmsh;
use topopt_io::vtk::{Array, Compression, Values, vtu};

use crate::heat::{EXACT, error, part, temperatures};
use crate::messages::{assert_snapshot, message};
use crate::solve::numbers;
use crate::verify::assert_near;
use crate::{Folder, difference, topopt};

const IN_TIME: &str = "[transient]\nend = 0.2\nstep = 0.05\n";
const DESIGN: &str = "[design]\nstyle = \"smooth\"\nvolume_fraction = 0.4\n[filter]\nkind = \"none\"\n\
    [optimizer]\nmax_iterations = 5\nchange_tolerance = 0\ncompliance_tolerance = 0\n";

fn of_nodes(folder: &Folder) -> Vec<f64> {
    temperatures(folder).into_iter().map(|(_, temperature)| temperature).collect()
}

/// A point of the unit cube, moved within each half along x.
fn wavy([x, y, z]: [f64; 3]) -> [f64; 3] {
    let shift = 0.05 * (2.0 * PI * x).sin() * (PI * y).sin() * (PI * z).sin();
    [x + shift, y - shift, z + 2.0 * shift]
}

/// Flows through all faces of a cube that conducts by `along` in each half, where the temperature
/// is 10 + a x + b y + c z: a jump of a, as the flux along x is the same, and fluxes along y and z
/// of each half. One node is held.
fn linear([a, b, c]: [f64; 3], along: [[f64; 3]; 2]) -> String {
    let mut tables = "[[select]]\nname = \"corner\"\nkind = \"nodes\"\n\
        box = { min = [-1e-6, -1e-6, -1e-6], max = [1e-6, 1e-6, 1e-6] }\n\
        [[supports]]\nset = \"corner\"\ntemperature = 10\n"
        .to_owned();
    let mut add = |axis: usize, value: f64, [from, to]: [f64; 2], flux: f64| {
        let (mut point, mut normal) = ([0.0; 3], [0.0; 3]);
        (point[axis], normal[axis]) = (value, 1.0);
        tables += &format!(
            "[[select]]\nname = \"{axis} {value} {from}\"\nkind = \"faces\"\n\
             plane = {{ point = {point:?}, normal = {normal:?}, tolerance = 1e-6 }}\n\
             box = {{ min = [{from}, -1, -1], max = [{to}, 2, 2] }}\n\
             [[loads]]\nset = \"{axis} {value} {from}\"\nheat_flux = {flux}\n"
        );
    };
    for (half, [x, y, z]) in along.into_iter().enumerate() {
        let range = [[-1e-6, 0.5 + 1e-6], [0.5 - 1e-6, 1.0 + 1e-6]][half];
        let value = half as f64;
        add(0, value, range, (2.0 * value - 1.0) * a * along[0][0]);
        for (value, sign) in [(0.0, -1.0), (1.0, 1.0)] {
            add(1, value, range, sign * b * y);
            add(2, value, range, sign * c * z);
        }
        assert!(x > 0.0);
    }
    tables
}

/// Two layers on distorted hexahedra, as numbers of sets and as expressions.
#[test]
fn layers_with_a_conductivity_along_each_axis_are_exact() {
    let along = [[2.0, 3.0, 0.5], [5.0, 1.0, 4.0]];
    let slopes = [4.0, -2.0, 3.0];
    let numbers_of_sets = "[material]\nconductivity = [2, 3, 0.5]\n\
        [[materials]]\nset = \"upper half\"\nconductivity = [5, 1.0, 4]\n";
    let expressions = "[material]\nconductivity = [\"if(x < 0.5, 2, 5)\", \"3 - 2*(x > 0.5)\", \
        \"if(x > 0.5, 4, 0.5)\"]\n";
    let exact = |[x, y, z]: [f64; 3]| {
        let along_x = 4.0 * x.min(0.5) + 1.6 * (x - 0.5).max(0.0);
        10.0 + along_x - 2.0 * y + 3.0 * z
    };
    for material in [numbers_of_sets, expressions] {
        let folder = part([4, 3, 3], wavy, &format!("{material}{}", linear(slopes, along)));
        let found = numbers(&folder, &EXACT);
        assert!(error(&folder, exact) < 1e-9, "{}", error(&folder, exact));
        let heat = &found["load_cases"][0]["heat"];
        for value in [&heat["sum"], &heat["supports"][0]["heat"]] {
            assert!(value.as_f64().unwrap().abs() < 1e-9, "{heat}");
        }

        let flux = folder.array("solved/analysis.vtu", "heat_flux");
        assert_eq!(flux.len(), 3 * 36);
        let is_exact = |q: &[f64; 3]| {
            let of = |along: [f64; 3], along_x: f64| {
                let expected = [-8.0, 2.0 * along[1], -3.0 * along[2]];
                assert!((along[0] * along_x - 8.0).abs() < 1e-12);
                q.iter().zip(expected).all(|(q, expected)| (q - expected).abs() < 1e-9)
            };
            of(along[0], 4.0) || of(along[1], 1.6)
        };
        assert!(flux.as_chunks::<3>().0.iter().all(is_exact));
    }
}

/// Supports and heat loads of a block, whatever its areas are; volumes stay.
const LOADED: &str = "mass_density = 2\nheat_capacity = 0.7\n[[supports]]\nset = \"low\"\n\
    temperature = 10\n[[loads]]\nset = \"high\"\ntotal_heat = 3\n[[loads]]\nheat_source = 2\n";

/// A block with a conductivity along each axis, after its auxiliary solid \[Stokes1851\]: of one
/// conductivity, half as long along x and twice along z.
fn stretched(more: &str) -> [Folder; 2] {
    let [plain, orthotropic] =
        ["3", "[12, 3, 0.75]"].map(|k| format!("[material]\nconductivity = {k}\n{LOADED}{more}"));
    let n = [7, 4, 3];
    let shorter = |x| {
        let [x, y, z] = wavy(x);
        [0.5 * x, y, 2.0 * z]
    };
    [part(n, shorter, &plain), part(n, wavy, &orthotropic)]
}

/// Steady, in time and as a design, by every strategy.
#[test]
fn it_is_conduction_in_a_stretched_block() {
    for more in ["", IN_TIME] {
        let folders = stretched(more);
        numbers(&folders[0], &EXACT);
        for strategy in ["mf", "ebe", "nbn"] {
            let strategy = format!("solver.strategy={strategy}");
            let args = [&EXACT[..], &["--set", &strategy, "--overwrite"]].concat();
            let found = numbers(&folders[1], &args);
            assert!(found["load_cases"][0]["heat"]["sum"].as_f64().unwrap().abs() < 1e-9);
            let [expected, found] = [0, 1].map(|k| of_nodes(&folders[k]));
            assert!(difference(&found, &expected) < 1e-9, "{strategy} {more}");
        }
    }

    let [expected, found] = stretched(DESIGN).map(|folder| {
        folder.run_well(&["solver.tolerance=1e-12", "output.checkpoint_every=0"]);
        folder.history("compliance")
    });
    assert_eq!(found.len(), 5);
    assert!(difference(&found, &expected) < 1e-9, "{found:?} {expected:?}");
}

#[test]
fn on_a_gpu_it_is_that_of_the_processor() {
    let Probe::Found { .. } = probe() else {
        println!("skipped: no CUDA device");
        return;
    };
    let [_, folder] = stretched(IN_TIME);
    numbers(&folder, &EXACT);
    let expected = of_nodes(&folder);
    for strategy in ["mf", "dbd", "ebe", "nbn", "bsr"] {
        let strategy = format!("solver.strategy={strategy}");
        let args = ["--set", &strategy, "--device", "gpu", "--overwrite"];
        numbers(&folder, &[&EXACT[..], &args].concat());
        assert!(difference(&of_nodes(&folder), &expected) < 1e-9, "{strategy}");
    }

    let [_, folder] = stretched(DESIGN);
    let [cpu, gpu] = ["cpu", "gpu"].map(|device| {
        let device = format!("solver.device={device}");
        folder.run_well(&["solver.tolerance=1e-12", "output.checkpoint_every=0", &device]);
        folder.history("compliance")
    });
    assert!(difference(&gpu, &cpu) < 1e-9, "{gpu:?} {cpu:?}");
}

/// Numbers, expressions and arrays in one list.
#[test]
fn each_axis_has_a_field_of_its_own() {
    let [mixed, expressions] =
        ["[{ array = \"k\" }, 2, \"1 + y\"]", "[\"1.5 + floor(3*z)\", \"2\", \"1 + y\"]"].map(
            |conductivity| {
                let tables = format!("[material]\nconductivity = {conductivity}\n{LOADED}");
                let folder = part([4, 3, 3], |x| x, &tables);
                let mesh =
                    gmsh::read(&folder.path("part.msh"), topopt_io::Cutting::Allowed).unwrap().mesh;
                let center = |e| topopt_mesh::hexahedron::center(&mesh.element_coordinates(e));
                let k: Vec<f64> =
                    (0..mesh.n_elements()).map(|e| 1.5 + (3.0 * center(e)[2]).floor()).collect();
                let array = Array { name: "k", components: 1, values: Values::F64(&k) };
                let (points, hexes) = (mesh.coordinates(), mesh.hexes());
                let path = folder.path("part.vtu");
                vtu::write(&path, points, hexes, &[], &[array], Compression::None).unwrap();
                // A .vtu file has no sets of faces.
                let select = |name: &str, x: usize| {
                    format!(
                        "[[select]]\nname = \"{name}\"\nkind = \"faces\"\n\
                 plane = {{ point = [{x}, 0, 0], normal = [1, 0, 0], tolerance = 1e-6 }}\n"
                    )
                };
                let case = folder.read("case.toml").replace("part.msh", "part.vtu");
                folder.write(
                    "case.toml",
                    &format!("{case}{}{}", select("low", 0), select("high", 1)),
                );
                numbers(&folder, &EXACT);
                of_nodes(&folder)
            },
        );
    assert!(difference(&mixed, &expressions) < 1e-12);
    assert!(mixed.iter().any(|temperature| *temperature > 10.1));
}

#[test]
fn check_has_the_conductivity_along_each_axis() {
    let halves = "[material]\nconductivity = [2, \"1 + x\", 0.5]\n[[materials]]\n\
        set = \"upper half\"\nconductivity = 7\n[[supports]]\nset = \"low\"\n\
        [[loads]]\nheat_source = 1\n";
    let folder = part([4, 1, 1], |x| x, halves);
    let check = |args: &[&str]| {
        let (status, out, err) =
            topopt(&folder.path(""), &[&["check", "case.toml"], args].concat());
        assert_eq!((status, err.as_str()), (0, ""));
        out
    };
    let out = check(&[]);
    let expected = "2 elements, conductivity 2 along x, 1.125 to 1.375 along y, 0.5 along z\n";
    assert!(out.contains(expected) && out.contains("2 elements, conductivity 7\n"), "{out}");
    let json: Value = serde_json::from_str(&check(&["--json"])).unwrap();
    let conductivity = |k: usize| &json["materials"][k]["conductivity"];
    assert_near(&conductivity(0)[0], 2.0);
    assert_near(&conductivity(0)[1][1], 1.375);
    assert_near(conductivity(1), 7.0);
}

#[test]
fn axes_that_cannot_be_are_refused() {
    let of = |material: &str| part([2, 1, 1], |x| x, &format!("[material]\n{material}\n{LOADED}"));
    let elastic = of("conductivity = 1\nyoungs_modulus = [1, 2, 3]");
    let folders = [
        of("conductivity = [1, 2]"),
        of("conductivity = [1, -2, 3]"),
        of("conductivity = [1, [2], 3]"),
        of("conductivity = [1, \"0.75 - x\", \"1/(x - x)\"]"),
        of("conductivity = [1, \"43 +\", \"x + 1\"]"),
        of("conductivity = [1, 2, { array = \"k\" }]"),
        elastic,
    ];
    let messages = folders.map(|folder| message(&folder, &["check", "case.toml"]));
    assert_snapshot("axes", &messages);
}
