//! A deck of OptiStruct beside pyNastran, which reads its mesh, loads, responses and limits, and
//! passes over DTPL: the case that `topopt init` makes has the same numbers.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};
use topopt_io::{ImportedMesh, read_mesh};

use crate::vtk::read_back;
use crate::{Folder, topopt};

const DECK: &str = "optistruct_block.fem";

/// The case of the deck.
fn case_of(deck: &Path) -> toml::Table {
    let folder = Folder::new();
    std::fs::copy(deck, folder.path(DECK)).unwrap();
    let (status, out, err) = topopt(&folder.path(""), &["init", DECK]);
    assert_eq!((status, err.as_str()), (0, ""), "{out}");
    assert!(!out.contains("not carried over"), "{out}");
    let case = folder.read("optistruct_block.toml");
    let (status, out, err) = topopt(&folder.path(""), &["check", "optistruct_block.toml"]);
    assert_eq!((status, err.as_str()), (0, ""), "{out}");
    case.parse().unwrap()
}

fn near(found: f64, expected: &Value) {
    let expected = expected.as_f64().unwrap();
    assert!((found - expected).abs() < 1e-12 * (1.0 + expected.abs()), "{found} {expected}");
}

fn numbers(list: &toml::Value) -> Vec<f64> {
    list.as_array().unwrap().iter().map(|x| x.as_float().unwrap()).collect()
}

/// Numbers of the deck's grids in a set of the mesh.
fn grids(imported: &ImportedMesh, set: &toml::Value) -> Vec<u64> {
    let nodes = &imported.mesh.sets().nodes[set.as_str().unwrap()];
    nodes.iter().map(|&node| imported.node_tags[node as usize]).collect()
}

#[test]
fn the_case_of_an_optistruct_deck_has_the_numbers_that_pynastran_reads() {
    let deck = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../meshes").join(DECK);
    let Some(theirs) = read_back("pyNastran", "pynastran_readback.py", &[&deck]) else { return };
    let (case, imported) = (case_of(&deck), read_mesh(&deck).unwrap());
    has_the_mesh(&imported, &theirs);
    has_the_loads(&case, &imported, &theirs);
    has_the_optimization(&case, &imported, &theirs);
}

fn has_the_mesh(imported: &ImportedMesh, theirs: &Value) {
    let mesh = &imported.mesh;
    assert_eq!(mesh.n_nodes(), theirs["nodes"]);
    for (property, n) in theirs["elements"].as_object().unwrap() {
        let elements = &mesh.sets().elements[&format!("property_{property}")];
        assert_eq!(elements.len(), *n);
        near(imported.volume_of(elements.iter().copied()), &theirs["volumes"][property]);
    }
    for d in 0..3 {
        let along = || mesh.coordinates().iter().map(|x| x[d]);
        near(along().fold(f64::INFINITY, f64::min), &theirs["low"][d]);
        near(along().fold(f64::NEG_INFINITY, f64::max), &theirs["high"][d]);
    }
}

/// Materials, supports, and the forces of each load case with their moments about the origin.
fn has_the_loads(case: &toml::Table, imported: &ImportedMesh, theirs: &Value) {
    for material in [&case["material"], &case["materials"][0]] {
        let keys = ["youngs_modulus", "poissons_ratio", "mass_density"];
        let found = keys.map(|key| material[key].as_float().unwrap());
        assert_eq!(json!(found), theirs["material"]);
    }

    let supports = case["supports"].as_array().unwrap();
    assert_eq!((supports.len(), theirs["held"].as_object().unwrap().len()), (1, 1));
    assert_eq!(supports[0]["fix"], toml::Value::from(vec!["x", "y", "z"]));
    assert_eq!(json!(grids(imported, &supports[0]["set"])), theirs["held"]["123"]);

    let mut sums: BTreeMap<&str, [f64; 6]> = BTreeMap::new();
    for load in case["loads"].as_array().unwrap() {
        let (force, sum) =
            (numbers(&load["force"]), sums.entry(load["case"].as_str().unwrap()).or_default());
        for &node in &imported.mesh.sets().nodes[load["set"].as_str().unwrap()] {
            let at = imported.mesh.coordinates()[node as usize];
            for d in 0..3 {
                let [e, f] = [(d + 1) % 3, (d + 2) % 3];
                sum[d] += force[d];
                sum[3 + d] += at[e] * force[f] - at[f] * force[e];
            }
        }
    }
    let subcases = theirs["subcases"].as_array().unwrap();
    let weights = case["load_cases"].as_array().unwrap();
    assert_eq!([sums.len(), weights.len()], [subcases.len(); 2]);
    for (subcase, weight) in subcases.iter().zip(weights) {
        let label = subcase["label"].as_str().unwrap();
        assert_eq!(weight["name"].as_str(), Some(label));
        let theirs: f64 = subcase["weight"].as_str().unwrap().parse().unwrap();
        assert_eq!(weight["weight"].as_float(), Some(theirs));
        for d in 0..3 {
            near(sums[label][d], &subcase["force"][d]);
            near(sums[label][3 + d], &subcase["moment"][d]);
        }
    }
}

/// Objective, limits, and the demands of DTPL.
fn has_the_optimization(case: &toml::Table, imported: &ImportedMesh, theirs: &Value) {
    let response = |number: &Value| &theirs["responses"][number.to_string()];
    let [sense, objective] = [&theirs["objective"][0], response(&theirs["objective"][1])];
    assert_eq!([sense, &objective[0]], ["MIN", "WCOMP"]);
    assert_eq!(case["objective"]["minimize"].as_str(), Some("compliance"));

    let bounds = theirs["bounds"].as_array().unwrap();
    let bound = |set: &Value| bounds.iter().find(|bound| bound[0] == *set).unwrap();
    let share = bound(&theirs["limits"]);
    assert_eq!(response(&share[1])[0], "VOLFRAC");
    near(case["design"]["volume_fraction"].as_float().unwrap(), &share[3]);
    let tip = bound(&theirs["subcases"][0]["limits"]);
    let limit = &case["constraints"][0];
    let along = numbers(&limit["direction"]).iter().position(|x| *x == 1.0).unwrap();
    assert_eq!(*response(&tip[1]), json!(["DISP", 1 + along, grids(imported, &limit["set"])]));
    near(limit["at_least"].as_float().unwrap(), &tip[2]);
    assert_eq!(limit["case"].as_str().unwrap(), theirs["subcases"][0]["label"]);

    let demands = theirs["demands"].as_array().unwrap();
    let fields = |word: &str| demands.iter().find(|line| line[1] == word).unwrap();
    let real = |field: &Value| field.as_str().unwrap().parse::<f64>().unwrap();
    let demand = |kind: &str| {
        let mut all = case["manufacturing"].as_array().unwrap().iter();
        all.find(|entry| entry["kind"].as_str() == Some(kind)).unwrap()
    };
    assert_eq!(demand("member_size")["minimum"].as_float(), Some(real(&fields("MEMBSIZ")[2])));
    let (plane, draw) = (fields("PATRN"), fields("DRAW"));
    let three =
        |line: &Value, first: usize| (0..3).map(|i| real(&line[first + i])).collect::<Vec<_>>();
    let (anchor, other) = (three(plane, 3), three(plane, 6));
    assert_eq!(numbers(&demand("symmetry")["point"]), anchor);
    let across: Vec<_> = anchor.iter().zip(&other).map(|(a, b)| b - a).collect();
    assert_eq!(numbers(&demand("symmetry")["normal"]), across);
    let draw: Vec<_> = three(draw, 3).iter().zip(three(draw, 6)).map(|(a, b)| b - a).collect();
    assert_eq!(numbers(&demand("casting")["draw_direction"]), draw);
    assert_eq!(demand("casting")["sides"].as_integer(), Some(2));
    let kept = format!("property_{}", fields("OBST")[2].as_str().unwrap());
    assert_eq!(case["design"]["solid"], toml::Value::from(vec![kept]));
}
