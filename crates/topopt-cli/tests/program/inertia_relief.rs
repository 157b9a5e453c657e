//! Free parts: numbers of analyses, designs on other devices, and what is refused.

use topopt_case::config::Generator;

use crate::gpu_ranks::agree_elsewhere;
use crate::messages::{assert_snapshot, message};
use crate::solve::numbers;
use crate::support_loads::folder as folder_of;
use crate::verify::assert_near;
use crate::{CASE, Folder, topopt};

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
