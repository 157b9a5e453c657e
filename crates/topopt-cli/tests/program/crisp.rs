//! Crisp designs of many problems, and of members that break as they become solid and void.

use topopt_case::config::Generator;

use crate::Folder;
use crate::objectives::unlimited;
use crate::resume::Bits;

/// Keys of a crisp design of few elements.
const CRISP: [&str; 4] = [
    "mesh.elements=250",
    "filter={kind=\"density\",radius_in_elements=1.5}",
    "output.compression=none",
    "optimizer.max_iterations=60",
];

/// Key of as many iterations as problems other than the least compliance get, and of small moves.
const LONG: &str = "optimizer={max_iterations=120,change_tolerance=0,compliance_tolerance=0}";

/// Runs `CASE` with a `design` table and other keys; the design must be nearly solid or empty, hang
/// together and keep its limits. Returns its compliance and volume.
fn whole(folder: &Folder, design: &str, keys: &[&str]) -> [f64; 2] {
    let design = format!("design={{style=\"crisp\",{design}}}");
    folder.run_well(&[&CRISP[..], &[design.as_str()], keys].concat());
    let summary = folder.summary();
    let [compliance, volume, grey] =
        ["compliance", "volume_fraction", "grey_level"].map(|key| summary[key].as_f64().unwrap());
    assert!(grey < 0.15, "{design} {keys:?}: grey level {grey}");

    let warnings = summary["warnings"].to_string();
    let broken = ["not connected", "float", "no load reaches", "violated", "requested"];
    assert!(!broken.iter().any(|word| warnings.contains(word)), "{design} {keys:?}: {warnings}");
    [compliance, volume]
}

#[test]
fn limits_from_a_tenth_to_six_tenths_of_the_volume_are_met_by_designs_that_hang_together() {
    let mut before = f64::INFINITY;
    for limit in [0.1, 0.2, 0.4, 0.6] {
        // Small volumes take four times as long.
        let iterations = if limit < 0.15 { 240 } else { 60 };
        let iterations = format!("optimizer.max_iterations={iterations}");
        let design = format!("volume_fraction={limit}");
        let [compliance, volume] = whole(&Folder::new(), &design, &[iterations.as_str()]);
        assert!((volume - limit).abs() < 1e-3 * limit, "{limit}: {volume}");
        assert!(compliance < 0.8 * before, "{limit}: {compliance} after {before}");
        before = compliance;
    }
}

#[test]
fn passive_elements_keep_their_density_and_count_for_no_limit() {
    let folder = Folder::new();
    let select = "select=[{name=\"plate\",kind=\"elements\",box={min=[0,0,0],max=[11,1,5]}},\
                  {name=\"hole\",kind=\"elements\",box={min=[4,2,0],max=[6,4,5]}}]";
    let design = "volume_fraction=0.3,solid=[\"plate\"],void=[\"hole\"]";
    let [_, volume] = whole(&folder, design, &[select]);
    assert!((volume - 0.3).abs() < 3e-4, "{volume}");
    let density = folder.array("out/design.vtu", "density");
    let mesh = Generator::Cantilever.generate(None, Some(250)).unwrap();
    let centers = mesh.centers();
    let within = |is_in: &dyn Fn(&[f64; 3]) -> bool| -> Vec<f64> {
        let found = centers.iter().zip(&density).filter(|(center, _)| is_in(center));
        found.map(|(_, density)| *density).collect()
    };
    let plate = within(&|x| x[1] < 1.0);
    let hole = within(&|x| (4.0..6.0).contains(&x[0]) && (2.0..4.0).contains(&x[1]));
    assert!(plate.len() == 50 && plate.iter().all(|x| *x == 1.0), "{plate:?}");
    assert!(hole.len() == 20 && hole.iter().all(|x| *x <= 1e-3), "{hole:?}");
}

#[test]
fn two_load_cases_make_one_design() {
    let cases = "loads=[{set=\"load\",force=[0,-1,0],case=\"down\"},\
                 {set=\"load\",force=[0,0,-1],case=\"side\"}]";
    let weights = "load_cases=[{name=\"down\"},{name=\"side\",weight=0.5}]";
    let folder = Folder::new();
    let [_, volume] = whole(&folder, "volume_fraction=0.4", &[cases, weights]);
    assert!((volume - 0.4).abs() < 4e-4, "{volume}");
    assert_eq!(folder.summary()["settings"]["continuation"].as_array().unwrap().len(), 3);
}

/// Limits of states take a sharpness that doubles.
#[test]
fn a_limit_of_a_displacement_is_kept() {
    let folder = unlimited();
    let limit = "constraints=[{response=\"displacement\",set=\"load\",direction=[0,-1,0],\
                 at_most=110}]";
    let [_, volume] =
        whole(&folder, "penalty=3", &["objective={minimize=\"volume\"}", limit, LONG]);
    let summary = folder.summary();
    let found = summary["constraints"][0]["value"].as_f64().unwrap();
    assert!((104.0..110.2).contains(&found), "{found}");
    assert!((0.3..0.5).contains(&volume), "{volume}");
    assert_eq!(summary["settings"]["continuation"].as_array().unwrap().len(), 6);
}

/// Keys of the least volume for a limit of how far the load moves down, at which members are about
/// one element wide.
fn light(at_most: f64) -> [String; 3] {
    let limit = format!(
        "constraints=[{{response=\"displacement\",set=\"load\",direction=[0,-1,0],at_most={at_most}}}]"
    );
    ["objective={minimize=\"volume\"}".into(), limit, "optimizer={max_iterations=120}".into()]
}

/// With moves that stay the same members go at once at the last sharpness, or limits stay missed.
#[test]
fn light_designs_keep_their_limit_as_the_surface_becomes_sharp() {
    for (generator, elements, at_most, volumes) in
        [("cantilever", 250, 800.0, 0.09..0.11), ("michell", 600, 214.0, 0.11..0.14)]
    {
        let folder = unlimited();
        let keys = light(at_most);
        let mesh = format!("mesh={{generator=\"{generator}\",elements={elements}}}");
        let keys: Vec<&str> = keys.iter().chain([&mesh]).map(String::as_str).collect();
        let [_, volume] = whole(&folder, "penalty=3", &keys);
        let summary = folder.summary();
        assert!(volumes.contains(&volume), "{generator}: {volume}");
        assert_eq!(summary["constraints"][0]["met"], true);
        assert!(summary["went_back_to"].is_null());
    }
}

/// Runs a light crisp design over so many iterations, with a checkpoint of each; what it prints.
fn run_light(folder: &Folder, iterations: usize, arguments: &[&str]) -> String {
    let [objective, limit, _] = light(800.0);
    let iterations = format!("optimizer.max_iterations={iterations}");
    let own = ["design={style=\"crisp\"}", "output.checkpoint_every=1", &objective, &limit];
    let finished = folder.run(&[&CRISP[..], &own, &[iterations.as_str()]].concat(), arguments);
    assert_eq!((finished.status, finished.err.as_str()), (0, ""), "{}", finished.out);
    finished.out
}

/// The sharpness doubles in iteration 57, after which the limit is missed at first.
#[test]
fn a_run_that_ends_beyond_its_limit_goes_back_and_a_resumed_one_to_the_same_bits() {
    let whole = unlimited();
    let out = run_light(&whole, 61, &[]);
    let kept = whole.summary()["went_back_to"].as_u64().unwrap();
    assert!((50..60).contains(&kept), "{kept}");
    assert!(
        out.contains(&format!("went back to that of iteration {kept}, which keeps all")),
        "{out}"
    );
    assert_eq!(whole.summary()["constraints"][0]["met"], true);
    let [.., last] = whole.history("compliance")[..] else { unreachable!() };
    assert!(last > 1.02 * 6.0 * 800.0, "{last}");

    let parts = unlimited();
    run_light(&parts, 60, &[]);
    run_light(&parts, 61, &["--resume"]);
    assert_eq!(Bits::of(&parts), Bits::of(&whole));

    let on_ranks = unlimited();
    let out = run_light(&on_ranks, 61, &["--ranks", "2"]);
    assert!(out.contains("which keeps all"), "{out}");
}

/// A cantilever of five elements in height, whose members would be less than one wide.
const THIN: [&str; 8] = [
    "mesh.elements=250",
    "design={style=\"crisp\",volume_fraction=0.15}",
    "filter={kind=\"density\",radius_in_elements=2}",
    "manufacturing=[{kind=\"extrusion\",direction=[0,1,0]}]",
    "solver.max_iterations=200",
    "optimizer.max_iterations=60",
    "output.compression=none",
    "output.checkpoint_every=1",
];

fn warning(folder: &Folder) -> String {
    let warnings = folder.summary()["warnings"].as_array().unwrap().clone();
    let said = warnings.iter().filter_map(|text| text.as_str());
    let said: Vec<&str> = said.filter(|text| text.contains("the run went back")).collect();
    assert_eq!(said.len(), 1, "{warnings:?}");
    said[0].to_owned()
}

#[test]
fn a_run_goes_back_to_the_last_whole_design_and_a_resumed_one_to_the_same_bits() {
    let whole = Folder::new();
    let out = whole.run_well(&THIN).out;
    let summary = whole.summary();
    assert_eq!((&summary["went_back_to"], &summary["status"]), (&50.into(), &"done".into()));
    let said = warning(&whole);
    assert!(said.contains("the design of iteration 50") && out.contains(&said), "{said}");
    assert!(!out.contains("ended before its stage"), "{out}");

    // The design is solved with the penalty of the end.
    let history = whole.history("compliance");
    let [kept, last] = [history[49], history[history.len() - 1]];
    let compliance = summary["compliance"].as_f64().unwrap();
    assert!(kept < compliance && compliance < 10.0 * kept && last > 100.0 * kept, "{history:?}");
    assert!((summary["volume_fraction"].as_f64().unwrap() - 0.15).abs() < 1e-4);

    // Before and after the kept design was evaluated.
    for iterations in [48, 53] {
        let parts = Folder::new();
        let key = format!("optimizer.max_iterations={iterations}");
        parts.run_well(&[&THIN[..], &[key.as_str()]].concat());
        let finished = parts.run(&THIN, &["--resume"]);
        assert_eq!((finished.status, finished.err.as_str()), (0, ""), "{}", finished.out);
        assert_eq!(Bits::of(&parts), Bits::of(&whole));
        assert_eq!(warning(&parts), said);
    }
}

#[test]
fn ranks_go_back_together() {
    let folder = Folder::new();
    let finished = folder.run(&THIN, &["--ranks", "2"]);
    assert_eq!((finished.status, finished.err.as_str()), (0, ""), "{}", finished.out);
    assert!(finished.out.contains(&warning(&folder)));
    let written = folder.array("out/design.vtu", "density");
    let volume = written.iter().sum::<f64>() / written.len() as f64;
    assert!(written.len() == 250 && (volume - 0.15).abs() < 0.02, "{volume}");
}
