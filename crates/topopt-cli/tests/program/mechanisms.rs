//! The benchmarks of mechanisms, with an edge of 20 elements in place of 80.

use serde_json::Value;

use crate::Folder;
use crate::verify::numbers;

/// A benchmark with other lengths, its output box and where that is to move.
struct Mechanism {
    case: &'static str,
    lengths: &'static [(&'static str, &'static str)],
    output: [[f64; 3]; 2],
    direction: [f64; 3],
    /// Output displacement after 30 iterations, as recorded. Moves of about 1e-9 decide between two
    /// paths of the inverter, to 0.86635 and 0.86775, by how coarse levels are smoothed. Solved to
    /// 1e-5 in place of 1e-10 it takes others, to 0.827 to 0.871.
    found: f64,
}

const MECHANISMS: [Mechanism; 2] = [
    Mechanism {
        case: include_str!("../../../../benchmarks/force_inverter.toml"),
        lengths: &[("38", "9"), ("40", "10"), ("80", "20"), ("[0, 4, 4]", "[0, 1, 1]")],
        output: [[20.0, 9.0, 9.0], [20.0, 10.0, 10.0]],
        direction: [-1.0, 0.0, 0.0],
        found: 0.866353,
    },
    Mechanism {
        case: include_str!("../../../../benchmarks/gripper.toml"),
        lengths: &[
            ("12, 10", "3, 2"),
            ("10", "2"),
            ("[0, 2, 2]", "[0, 1, 1]"),
            ("32", "8"),
            ("40", "10"),
            ("60", "15"),
            ("74", "18"),
            ("80", "20"),
        ],
        output: [[20.0, 2.0, 0.0], [20.0, 2.0, 2.0]],
        direction: [0.0, -1.0, 0.0],
        found: 1.980597,
    },
];

/// The case on so many elements.
fn sized(case: &str, elements: usize, lengths: &[(&str, &str)]) -> String {
    let (settings, tables) = case.split_once("elements = 128000").unwrap();
    let mut tables = tables.to_owned();
    for (from, to) in lengths {
        assert!(tables.contains(from), "{from}");
        tables = tables.replace(from, to);
    }
    format!("{settings}elements = {elements}{tables}")
}

#[test]
fn mechanisms_move_their_output_where_it_is_to_go() {
    for Mechanism { case, lengths, output: [low, high], direction, found } in MECHANISMS {
        let folder = Folder::new();
        folder.write("case.toml", &sized(case, 2000, lengths));
        folder.run_well(&[
            "optimizer.max_iterations=30",
            "solver.tolerance=1e-10",
            "solver.device=cpu",
            "output.compression=none",
        ]);

        let objective = folder.history("objective");
        let [first, last] = [objective[0], objective[29]];
        assert!(last > 0.3 && last > 5.0 * first.abs(), "{objective:?}");
        assert!((last / found - 1.0).abs() < 2e-3, "{last}");
        let volume = folder.history("volume_fraction")[29];
        assert!((0.199..0.2 + 1e-6).contains(&volume), "{volume}");

        // The mean at the nodes of the box, from the file.
        let file = "out/design.vtu";
        let [points, moves] = ["Points", "displacement"].map(|name| folder.array(file, name));
        let nodes = points.as_chunks::<3>().0.iter().zip(moves.as_chunks::<3>().0);
        let within = nodes.filter(|(x, _)| (0..3).all(|d| low[d] <= x[d] && x[d] <= high[d]));
        let along = within.map(|(_, u)| (0..3).map(|d| direction[d] * u[d]).sum::<f64>());
        let along: Vec<f64> = along.collect();
        let mean = along.iter().sum::<f64>() / along.len() as f64;
        assert!((mean / last - 1.0).abs() < 1e-6, "{mean} {last}");
    }
}

/// A mechanism with members of a `minimum` width, in the default style.
fn wide(case: &str, minimum: f64) -> Folder {
    let case = case.replace("style = \"smooth\"", "").replace("keep_loaded = \"free\"", "");
    let (case, _) = case.split_once("radius_in_elements = 2.0").unwrap();
    let demand = format!("[[manufacturing]]\nkind = \"member_size\"\nminimum = {minimum}\n");
    let folder = Folder::new();
    folder.write("case.toml", &format!("{case}kind = \"density\"\n{demand}"));
    folder
}

/// The inverter on 2000 elements, with room for a wide member at its support.
fn wide_inverter() -> Folder {
    let Mechanism { case, lengths, .. } = &MECHANISMS[0];
    wide(&sized(case, 2000, lengths).replace("[0, 1, 1]", "[0, 3, 3]"), 3.0)
}

/// Reads the verification of a mechanism, which must be one piece.
fn in_one_piece(folder: &Folder) -> Value {
    let verified = numbers(folder, &[]);
    let [part] = &verified["parts"].as_array().unwrap()[..] else {
        panic!("{}", verified["parts"])
    };
    assert!((part.as_f64().unwrap() - 1.0).abs() < 1e-12, "{part}");
    verified
}

/// Asserts that members have nine tenths of the least width, besides near loads and solid elements.
fn has_wide_members(verified: &Value) {
    let made = &verified["made"][0];
    assert!(made["measure"].as_str().unwrap().starts_with("beside members less than"), "{made}");
    assert!(made["met"] == true, "{made}");
}

/// Joints may be too thin or too thick: with the thinner design alone solved this ends at 0.54.
#[test]
fn mechanisms_with_members_of_a_least_width_move_as_they_are_built() {
    let folder = wide_inverter();
    folder.run_well(&["solver.device=cpu", "optimizer.max_iterations=100"]);

    // The worse of the thinner and the thicker design, and the built one.
    let worse = *folder.history("objective").last().unwrap();
    let built = folder.summary()["objective"]["value"].as_f64().unwrap();
    assert!(worse > 0.1 && built > 0.7, "{worse} {built}");
    let warnings = folder.summary()["warnings"].to_string();
    assert!(!warnings.contains("is cut"), "{warnings}");
    has_wide_members(&in_one_piece(&folder));
}

/// On so few elements the sides of the gripper are narrower than three of them.
#[test]
fn a_gripper_with_members_of_a_least_width_is_one_piece() {
    let Mechanism { case, lengths, .. } = &MECHANISMS[1];
    let folder = wide(&sized(case, 2000, lengths), 3.0);
    folder.run_well(&["solver.device=cpu", "optimizer.max_iterations=100"]);
    let verified = in_one_piece(&folder);
    assert!(verified["objective"]["verified"].as_f64().unwrap() > 1.5, "{}", verified["objective"]);
}

/// Lengths of the benchmarks on boxes of 48 x 24 x 24 elements, with room for members of 4 at
/// supports.
const FINER: [&[(&str, &str)]; 2] = [
    &[("38", "22"), ("40", "24"), ("80", "48"), ("[0, 4, 4]", "[0, 3, 3]")],
    &[
        ("12, 10", "7, 6"),
        ("10", "6"),
        ("32", "19"),
        ("40", "24"),
        ("60", "36"),
        ("74", "44"),
        ("80", "48"),
    ],
];

/// The output as built is the optimized one to 3 %, to 2.2 and 2.1 here. Inverters of 2000 and 8192
/// elements with members of 3 and 5 were off by 9 and 6: steps of their joints are as large as the
/// joints. Ten minutes on two busy cores, so by `TOPOPT_ALL_MECHANISMS=1`.
#[test]
fn mechanisms_of_wide_members_keep_their_output() {
    if std::env::var_os("TOPOPT_ALL_MECHANISMS").is_none() {
        println!("skipped: minutes of computing");
        return;
    }
    for (Mechanism { case, .. }, lengths) in MECHANISMS.iter().zip(FINER) {
        let folder = wide(&sized(case, 27_648, lengths), 4.0);
        folder.run_well(&["solver.device=cpu"]);
        let verified = in_one_piece(&folder);
        has_wide_members(&verified);
        let ratio = verified["objective"]["ratio"].as_f64().unwrap();
        println!("output as built {ratio} of the optimized one, {}", verified["made"][0]);
        assert!((ratio - 1.0).abs() <= 0.03, "{ratio}");
    }
}

/// A projection that is sharp at once leaves nothing between input and output.
#[test]
fn mechanisms_that_are_cut_are_said_to_be() {
    let folder = wide_inverter();
    let sharp = ["design.style=smooth", "projection={sharpness=64}"];
    let short = ["solver.device=cpu", "optimizer.max_iterations=2"];
    folder.run_well(&[sharp, short].concat());
    let warnings = folder.summary()["warnings"].to_string();
    let cut = "is cut: no load reaches the nodes of the output displacement of output";
    let thinner = "the design with thinner members, which is solved for their least width, ";
    let built = "no load reaches the nodes of the output displacement of output: the shape is cut";
    for part in [&format!("{thinner}{cut}"), built] {
        assert!(warnings.contains(part), "{warnings}");
    }
}
