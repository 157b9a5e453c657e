//! Free parts: numbers of analyses, designs on other devices, and what is refused.

use std::f64::consts::TAU;
use std::fmt::Write;

use topopt_case::config::Generator;
use topopt_io::vtk::vtu;

use crate::gpu_ranks::agree_elsewhere;
use crate::messages::{assert_snapshot, message};
use crate::solve::numbers;
use crate::support_loads::folder as folder_of;
use crate::verify::assert_near;
use crate::{CASE, Folder, difference, topopt};

/// A bar of 10 x 5 x 5, without lateral contraction, of the mass 125.
const PULLED: &str = "[material]\nyoungs_modulus = 70\npoissons_ratio = 0\nmass_density = 0.5\n\
    [[loads]]\nset = \"end\"\ntraction = [2, 0, 0]\n";

const EXACT: [&str; 4] = ["--set", "solver.tolerance=1e-13", "--set", "output.compression=none"];

fn bar() -> Folder {
    let folder = folder_of(PULLED);
    let tables = folder.read("case.toml");
    folder.write("case.toml", &format!("inertia_relief = true\n{tables}"));
    folder
}

/// The force F at the end makes the acceleration F / m and the stress F / A x / L.
#[test]
fn a_free_bar_is_as_in_the_book() {
    let folder = bar();
    let found = numbers(&folder, &EXACT);
    let case = &found["load_cases"][0];
    let inertia = &case["inertia"];
    assert_near(&inertia["mass"], 125.0);
    let vector = |of: &serde_json::Value| [0, 1, 2].map(|i| of[i].as_f64().unwrap());
    assert_eq!(vector(&inertia["angular_acceleration"]), [0.0; 3]);
    let [along, across, up] = vector(&inertia["acceleration"]);
    assert!((along - 50.0 / 125.0).abs() < 1e-12 && [across, up] == [0.0; 2], "{inertia}");
    let center = vector(&inertia["center_of_mass"]);
    assert!([5.0, 2.5, 2.5].iter().zip(center).all(|(x, c)| (x - c).abs() < 1e-12), "{inertia}");
    for sum in ["sum", "sum_moment"].map(|key| vector(&case[key])) {
        assert!(sum.iter().all(|f| f.abs() < 1e-9), "{case}");
    }

    let array = |name| folder.array("solved/analysis.vtu", name);
    let mesh = Generator::Cantilever.generate(None, Some(250)).unwrap();
    for (e, stress) in array("stress").chunks(6).enumerate() {
        let expected = 2.0 * mesh.center(e)[0] / 10.0;
        assert!((stress[0] - expected).abs() < 1e-9, "{e}: {stress:?}, {expected}");
        assert!(stress[1..].iter().all(|stress| stress.abs() < 1e-9), "{e}: {stress:?}");
    }
    let balance = array("force").into_iter().zip(array("inertia_force"));
    assert!(balance.map(|(f, inertia)| f + inertia).sum::<f64>().abs() < 1e-9);

    let (status, out, err) = topopt(&folder.path(""), &["check", "case.toml"]);
    assert_eq!((status, err.as_str()), (0, ""));
    assert!(out.contains("inertia relief   balances 6 free rigid motions"), "{out}");
    let (_, out, _) =
        topopt(&folder.path(""), &["solve", "case.toml", "-o", "solved", "--overwrite"]);
    assert!(
        out.contains("acceleration          (0.4, 0, 0) of the center of mass (5, 2.5, 2.5)"),
        "{out}"
    );
    assert!(folder.read("solved/analysis.html").contains("Acceleration of the center of mass"));
}

const RINGS: usize = 16;
const SECTORS: usize = 48;

/// A disc of radius 1 and thickness 0.02 of one layer of elements, which are wedges at its axis.
fn disc() -> String {
    let mut deck = "*NODE\n".to_owned();
    // The polygon has the area of the circle.
    let angle = TAU / SECTORS as f64;
    let outer = (angle / angle.sin()).sqrt();
    let in_layer = 1 + RINGS * SECTORS;
    for layer in 0..2 {
        let (first, z) = (layer * in_layer, 0.02 * layer as f64);
        let _ = writeln!(deck, "{}, 0, 0, {z}", first + 1);
        for n in 0..RINGS * SECTORS {
            let radius = outer * (1 + n / SECTORS) as f64 / RINGS as f64;
            let (y, x) = (angle * (n % SECTORS) as f64).sin_cos();
            let _ = writeln!(deck, "{}, {:?}, {:?}, {z}", first + 2 + n, radius * x, radius * y);
        }
    }

    for (kind, rings) in [("C3D6", 0..1), ("C3D8", 1..RINGS)] {
        let _ = writeln!(deck, "*ELEMENT, TYPE={kind}");
        for (ring, s) in rings.flat_map(|ring| (0..SECTORS).map(move |s| (ring, s))) {
            let mut nodes = vec![node(ring, s), node(ring + 1, s), node(ring + 1, s + 1)];
            if ring > 0 {
                nodes.push(node(ring, s + 1));
            }
            let upper: Vec<usize> = nodes.iter().map(|node| node + in_layer).collect();
            let nodes: Vec<String> = nodes.iter().chain(&upper).map(usize::to_string).collect();
            let _ = writeln!(deck, "{}, {}", 1 + ring * SECTORS + s, nodes.join(", "));
        }
    }
    deck
}

/// The number of a node of the lower layer, whose ring 0 is the axis.
fn node(ring: usize, sector: usize) -> usize {
    match ring {
        0 => 1,
        _ => 2 + SECTORS * (ring - 1) + sector % SECTORS,
    }
}

/// A disc that turns at 3 about its axis, held against rigid motions alone.
const TURNING: &str = "[mesh]\nfile = \"disc.inp\"\n\
    [material]\nyoungs_modulus = 1000\npoissons_ratio = 0.3\nmass_density = 2\n\
    [[loads]]\nangular_velocity = [0, 0, 3]\n[design]\nvolume_fraction = 0.5\n";
const HELD: &str = "[[select]]\nname = \"axis\"\nkind = \"nodes\"\n\
    box = { min = [-0.01, -0.01, -1], max = [0.01, 0.01, 1] }\n\
    [[select]]\nname = \"side\"\nkind = \"nodes\"\n\
    box = { min = [0.99, -0.01, -1], max = [1.01, 0.01, 1] }\n\
    [[select]]\nname = \"center\"\nkind = \"nodes\"\n\
    box = { min = [-0.01, -0.01, -1], max = [0.01, 0.01, 0.01] }\n\
    [[supports]]\nset = \"axis\"\nfix = [\"x\", \"y\"]\n\
    [[supports]]\nset = \"side\"\nfix = [\"y\"]\n\
    [[supports]]\nset = \"center\"\nfix = [\"z\"]\n";

/// A thin disc of radius R has the radial stress (3 + nu) / 8 rho w^2 (R^2 - r^2), and that along
/// its circles is rho w^2 / 8 ((3 + nu) R^2 - (1 + 3 nu) r^2), whether the disc is held or free.
#[test]
fn a_spinning_disc_is_as_in_the_book() {
    let folder = Folder::new();
    folder.write("disc.inp", &disc());
    let (stresses, case) = spun(&folder, &format!("inertia_relief = true\n{TURNING}"));
    let inertia = &case["inertia"];
    for acceleration in [&inertia["acceleration"], &inertia["angular_acceleration"]] {
        let mut all = acceleration.as_array().unwrap().iter();
        assert!(all.all(|a| a.as_f64().unwrap().abs() < 1e-10), "{inertia}");
    }
    let (held, _) = spun(&folder, &format!("{TURNING}{HELD}"));
    let off = difference(&stresses, &held);
    assert!(off < 1e-8, "{off}");

    let (file, _) = vtu::read_with_cell_data(&folder.path("solved/analysis.vtu"), &[]).unwrap();
    let mut at_axis = 0.0;
    for (e, stress) in stresses.chunks(6).enumerate() {
        let [x, y, _] = file.mesh.center(e);
        let square = x * x + y * y;
        let [xx, yy, xy] = [stress[0], stress[1], stress[3]].map(|stress| stress / (2.0 * 9.0));
        let along = (x * x * xx + y * y * yy + 2.0 * x * y * xy) / square;
        let around = xx + yy - along;
        let expected = [3.3 * (1.0 - square) / 8.0, (3.3 - 1.9 * square) / 8.0];
        let off = (along - expected[0]).abs().max((around - expected[1]).abs());
        assert!(off < 2e-3, "{e}: {along} {around}, {expected:?}");
        // Of both stresses the mean falls with the square of the radius; wedges have constant ones.
        if (SECTORS..2 * SECTORS).contains(&e) {
            at_axis += (0.5 * (along + around) + 2.6 * square / 8.0) / SECTORS as f64;
        }
    }
    assert!((at_axis / 0.4125 - 1.0).abs() < 2e-3, "{at_axis}");
}

/// The stresses of a case of the disc, and what its analysis says of the load case.
fn spun(folder: &Folder, case: &str) -> (Vec<f64>, serde_json::Value) {
    folder.write("case.toml", case);
    let mut found = numbers(folder, &[&EXACT[..], &["--overwrite"]].concat());
    (folder.array("solved/analysis.vtu", "stress"), found["load_cases"][0].take())
}

/// A part that turns about z, with a limit of a displacement, on ranks and on a GPU.
#[test]
fn designs_of_free_parts_are_the_same_elsewhere() {
    let folder = Folder::new();
    let limit = "[[constraints]]\nresponse = \"displacement\"\nset = \"load\"\nat_most = 1e3\n";
    let turning = "[[loads]]\nangular_velocity = [0, 0, 0.1]\n";
    folder.write("case.toml", &format!("inertia_relief = true\n{CASE}{turning}{limit}"));
    let keys = [
        "supports=[{set=\"load\",fix=[\"z\"]}]",
        "material.mass_density=0.5",
        "optimizer.max_iterations=4",
        "solver.tolerance=1e-11",
        "solver.early_tolerance=1e-11",
        "output.compression=none",
    ];
    let history = agree_elsewhere(&folder, &keys, |_| ());
    assert!(history[3] < 0.9 * history[0], "{history:?}");

    let (status, out, err) = topopt(&folder.path(""), &["verify", "out"]);
    assert_eq!((status, err.as_str()), (0, ""));
    assert!(out.contains("angular acceleration"), "{out}");
}

#[test]
fn free_parts_are_refused_without_mass_or_without_the_key() {
    let folder = bar();
    let held = "supports=[{set=\"wall\"}]";
    let fall = "loads=[{gravity=[0, 0, -9.81]}]";
    let sets: [&[&str]; 6] = [
        &["inertia_relief=false"],
        &["inertia_relief=false", "supports=[{set=\"wall\",fix=[\"x\"]}]"],
        &["material={youngs_modulus=70.0}"],
        &[held],
        &[fall],
        &["physics.kind=heat"],
    ];
    let messages = sets.map(|set| {
        let set: Vec<&str> = set.iter().flat_map(|value| ["--set", value]).collect();
        message(&folder, &[&["check", "case.toml"], &set[..]].concat())
    });
    assert_snapshot("inertia_relief", &messages);
}
