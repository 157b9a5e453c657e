//! Decks of solvers become cases that run as they are.

use topopt_testing::files::BLOCK_CDB;

use crate::{Folder, topopt};

/// A deck, and what `topopt init` says of it besides what it wrote.
fn initialized(name: &str, deck: &[u8]) -> (Folder, String) {
    let folder = Folder::new();
    std::fs::write(folder.path(name), deck).unwrap();
    let (status, out, err) = topopt(&folder.path(""), &["init", name]);
    assert_eq!((status, err.as_str()), (0, ""), "{out}");
    (folder, out)
}

fn project_deck(name: &str) -> Vec<u8> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../meshes");
    std::fs::read(std::path::Path::new(root).join(name)).unwrap()
}

#[test]
fn cases_of_decks_run_without_an_edit() {
    // The fixture's own conditions leave its two bricks free to turn.
    let held = BLOCK_CDB.replace("D,      30,ALL", "D,10,ALL\nD,20,ALL\nD,      30,ALL");
    for (name, deck, wrote, cases) in [
        (
            "part.inp",
            project_deck("abaqus_box_assembly.inp"),
            "loads 2, materials 1",
            &["\"Step-1\""][..],
        ),
        ("part.cdb", held.into(), "loads 3, materials 2", &["\"default\""]),
        (
            "part.bdf",
            project_deck("nastran_mixed.bdf"),
            "loads 11, materials 2",
            &["\"pull\"", "\"subcase_2\""],
        ),
    ] {
        let (folder, out) = initialized(name, &deck);
        assert!(out.contains(wrote), "{out}");
        let args = ["run", "part.toml", "--output", "out", "--set", "optimizer.max_iterations=2"];
        // Nearly solid, what is moved by the supports would have more energy than the loads give.
        let args = [&args[..], &["--set", "design.style=smooth"]].concat();
        // Of two elements nothing would be left to design.
        let free = ["--set", "design.keep_loaded=free"];
        let args = [&args[..], if name == "part.cdb" { &free } else { &[] }].concat();
        let (status, out, err) = topopt(&folder.path(""), &args);
        assert_eq!(status, 0, "{name}: {out}{err}");
        let summary = folder.summary();
        let text = std::fs::read_to_string(folder.path("part.toml")).unwrap();
        let mut found: Vec<_> =
            text.lines().filter_map(|line| line.strip_prefix("case = ")).collect();
        found.sort_unstable();
        found.dedup();
        assert_eq!(found, cases, "{name}");
        assert!(summary["compliance"].as_f64().unwrap() > 0.0, "{name}");
    }
}

/// Steel and aluminum.
#[test]
fn each_material_has_its_poissons_ratio() {
    let (folder, out) = initialized("part.bdf", &project_deck("nastran_mixed.bdf"));
    assert!(!out.contains("Poisson's ratio"), "{out}");
    let case = std::fs::read_to_string(folder.path("part.toml")).unwrap();
    let found = ["0.3", "0.33"].map(|ratio| format!("\npoissons_ratio = {ratio}\n"));
    assert!(found.iter().all(|line| case.contains(line)), "{case}");
}

/// Two cubes of edge 1 and modulus 100 along x, without lateral contraction, pulled by their end.
const STEPS: &str = "*NODE\n1, 0, 0, 0\n2, 1, 0, 0\n3, 2, 0, 0\n4, 0, 1, 0\n5, 1, 1, 0\n6, 2, 1, 0\n\
    7, 0, 0, 1\n8, 1, 0, 1\n9, 2, 0, 1\n10, 0, 1, 1\n11, 1, 1, 1\n12, 2, 1, 1\n\
    *ELEMENT, TYPE=C3D8\n1, 1, 2, 5, 4, 7, 8, 11, 10\n2, 2, 3, 6, 5, 8, 9, 12, 11\n\
    *MATERIAL, NAME=m\n*ELASTIC\n100., 0.\n\
    *NSET, NSET=wall\n1, 4, 7, 10\n*NSET, NSET=end\n3, 6, 9, 12\n\
    *BOUNDARY\nwall, 1, 3\nend, 1, 3\n\
    *STEP\n*BOUNDARY\nend, 1, 1, 0.5\n*END STEP\n\
    *STEP\n*BOUNDARY, OP=NEW\nwall, 1, 3\nend, 1, 1, -1.\n*END STEP\n\
    *STEP\n*CLOAD\n2, 2, 1e-3\n*END STEP\n\
    *STEP\n*BOUNDARY\n3, 1, 1, 0.\n6, 1, 1, 0.\n*END STEP\n";

/// The compliance of a step is what its displacements do: A E u^2 / L.
#[test]
fn displacements_belong_to_their_steps_and_go_on() {
    let (folder, out) = initialized("part.inp", STEPS.as_bytes());
    let some = "what *BOUNDARY holds in some steps only: a case holds it in all load cases";
    assert!(out.contains("supports 6") && out.contains(some), "{out}");
    let solve = ["solve", "part.toml", "-o", "solved", "--json", "--set", "solver.tolerance=1e-12"];
    let (status, out, err) = topopt(&folder.path(""), &solve);
    assert_eq!((status, err.as_str()), (0, ""), "{out}");
    let found: serde_json::Value = serde_json::from_str(&out).unwrap();
    let cases = found["load_cases"].as_array().unwrap();
    let mut pulls: Vec<_> = cases
        .iter()
        .map(|case| (case["name"].as_str().unwrap(), case["reactions"].as_array().unwrap()))
        .map(|(name, all)| {
            let wall = all.iter().find(|r| r["set"] == "boundary_1_3").unwrap();
            (name, (wall["force"][0].as_f64().unwrap() * 1e6).round() / 1e6)
        })
        .collect();
    pulls.sort_by_key(|(name, _)| *name);
    assert_eq!(pulls[..3], [("step_1", -25.0), ("step_2", 50.0), ("step_3", 50.0)]);
    assert_eq!(pulls[3].0, "step_4");
    assert!(pulls[3].1 > 5.0 && pulls[3].1 < 45.0, "{pulls:?}");
}

/// The first step or subcase has temperatures alone, and the second a force.
#[test]
fn load_cases_have_the_order_of_the_deck() {
    let (mesh, _) = STEPS.split_once("*BOUNDARY").unwrap();
    let material = "*ELASTIC\n100., 0.\n*EXPANSION\n1e-3\n";
    let abaqus = mesh.replace("*ELASTIC\n100., 0.\n", material)
        + "*NSET, NSET=all, GENERATE\n1, 12\n*BOUNDARY\nwall, 1, 3\n\
           *STEP, NAME=warm\n*TEMPERATURE\nall, 50.\n*END STEP\n\
           *STEP, NAME=push\n*TEMPERATURE, OP=NEW\n*CLOAD\n12, 2, 1.\n*END STEP\n";
    let nastran = "SOL 101\nCEND\nSPC = 1\nSUBCASE 1\nLABEL = warm\nTEMPERATURE(LOAD) = 4\n\
        SUBCASE 2\nLABEL = push\nLOAD = 2\nBEGIN BULK\n\
        GRID,1,,0.,0.,0.\nGRID,2,,1.,0.,0.\nGRID,3,,1.,1.,0.\nGRID,4,,0.,1.,0.\n\
        GRID,5,,0.,0.,1.\nGRID,6,,1.,0.,1.\nGRID,7,,1.,1.,1.\nGRID,8,,0.,1.,1.\n\
        CHEXA,1,1,1,2,3,4,5,6\n,7,8\nPSOLID,1,1\nMAT1,1,100.,,0.,,1e-3\nTEMPD,4,50.\n\
        SPC1,1,123,1,4,5,8\nFORCE,2,7,,1.,0.,1.,0.\nENDDATA\n";
    for (name, deck) in [("part.inp", abaqus.as_str()), ("part.bdf", nastran)] {
        let (folder, out) = initialized(name, deck.as_bytes());
        assert!(!out.contains("not carried over"), "{out}");
        let case = folder.read("part.toml");
        let cases: Vec<_> = case.lines().filter_map(|line| line.strip_prefix("case = ")).collect();
        assert_eq!(cases, ["\"warm\"", "\"push\""], "{case}");
    }
}

/// Two cubes of a material each; that of the first is not understood.
fn of_two_materials() -> String {
    let second = "*MATERIAL, NAME=wood\n*ELASTIC, TYPE=TRACTION\n1., 1., 1.\n\
                  *ELSET, ELSET=a\n1\n*ELSET, ELSET=b\n2\n*SOLID SECTION, ELSET=a, MATERIAL=wood\n\
                  *SOLID SECTION, ELSET=b, MATERIAL=m\n*NSET, NSET=wall";
    STEPS.replacen("*NSET, NSET=wall", second, 1)
}

#[test]
fn a_material_of_a_set_that_is_not_understood_needs_a_number() {
    let (folder, out) = initialized("part.inp", of_two_materials().as_bytes());
    let what = "not carried over: material `wood`: *ELASTIC, TYPE=TRACTION (line ";
    assert!(out.contains(what), "{out}");
    let case = std::fs::read_to_string(folder.path("part.toml")).unwrap();
    let solve = |case: &str| {
        folder.write("part.toml", case);
        topopt(&folder.path(""), &["solve", "part.toml", "-o", "out"])
    };
    let (status, _, err) = solve(&case);
    assert!(
        status == 1 && err.contains("the material of set `a` has no `youngs_modulus`"),
        "{err}"
    );

    // Without its table it would get the modulus of the other one.
    let start = case.find("[[materials]]").unwrap();
    let end = start + case[start..].find("\n\n").unwrap();
    let (status, _, err) = solve(&(case[..start].to_owned() + &case[end..]));
    assert!(status == 1 && err.contains("for the material `wood` of the mesh file"), "{err}");

    let given = case.replacen("# youngs_modulus = 1.0 ", "youngs_modulus = 5.0 #", 1);
    let (status, out, err) = solve(&given);
    assert_eq!(status, 0, "{out}{err}");
}

#[test]
fn a_deck_of_heat_in_time_becomes_a_case_of_it() {
    let heat = "*MATERIAL, NAME=m\n*CONDUCTIVITY\n3.\n*DENSITY\n2.\n*SPECIFIC HEAT\n5.\n\
                *NSET, NSET=all, GENERATE\n1, 12\n*INITIAL CONDITIONS, TYPE=TEMPERATURE\nall, 20.\n";
    let steps = "*STEP\n*HEAT TRANSFER, DIRECT\n0.5, 2.\n*BOUNDARY\nwall, 11, 11, 20.\n\
                 *CFLUX\nend, 11, 1.\n*END STEP\n";
    let mesh = STEPS.split("*MATERIAL").next().unwrap();
    let sets = "*NSET, NSET=wall\n1, 4, 7, 10\n*NSET, NSET=end\n3, 6, 9, 12\n";
    let deck = format!("{mesh}{sets}{heat}{steps}");
    let (folder, out) = initialized("part.inp", deck.as_bytes());
    assert!(!out.contains("not carried over"), "{out}");
    let case = std::fs::read_to_string(folder.path("part.toml")).unwrap();
    let transient = "[transient]\nend = 2.0\nstep = 0.5\ninitial = 20.0\ntheta = 1.0";
    assert!(case.contains("kind = \"heat\"") && case.contains(transient), "{case}");
    assert!(case.contains("total_heat = 4.0") && case.contains("heat_capacity = 5.0"), "{case}");
    let (status, out, err) = topopt(&folder.path(""), &["solve", "part.toml", "-o", "out"]);
    assert_eq!(status, 0, "{out}{err}");
    assert_eq!(folder.read("out/transient.csv").lines().count(), 6, "four steps and the beginning");
}

/// Forces of 36 free nodes of a row of cubes, each another one, add up as they stand in the deck.
#[test]
fn many_different_forces_are_those_of_the_deck() {
    let mut deck = "*NODE\n".to_owned();
    for i in 0..40 {
        let (x, y, z) = (i / 4, [0, 1, 1, 0][i % 4], [0, 0, 1, 1][i % 4]);
        deck += &format!("{}, {x}, {y}, {z}\n", i + 1);
    }
    deck += "*ELEMENT, TYPE=C3D8\n";
    for i in 0..9 {
        let nodes: Vec<String> = (1..=8).map(|n| (4 * i + n).to_string()).collect();
        deck += &format!("{}, {}\n", i + 1, nodes.join(", "));
    }
    deck += "*MATERIAL, NAME=m\n*ELASTIC\n1., 0.3\n*BOUNDARY\n1, 1, 3\n2, 1, 3\n3, 1, 3\n4, 1, 3\n\
             *STEP\n*STATIC\n*CLOAD\n";
    (1..=40).for_each(|i| deck += &format!("{i}, 2, {i}.5\n"));
    let (folder, out) = initialized("part.inp", (deck + "*END STEP\n").as_bytes());
    assert!(out.contains("loads 1") && !out.contains("not carried over"), "{out}");
    let (status, out, err) = topopt(&folder.path(""), &["check", "part.toml", "--json"]);
    let found: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(status, 0, "{err}");
    assert_eq!(found["loads"][0]["sum_of_forces"], serde_json::json!([0.0, 828.0, 0.0]), "{out}");

    let ranks = ["run", "part.toml", "-o", "out", "--ranks", "2", "--device", "cpu"];
    let short = ["--set", "optimizer.max_iterations=1"];
    let (status, out, err) = topopt(&folder.path(""), &[&ranks[..], &short].concat());
    assert_eq!(status, 0, "{out}{err}");
    let other = folder.read("part.toml").replace("set = \"cload\"", "set = \"boundary_1_3\"");
    folder.write("part.toml", &other);
    let (status, _, err) = topopt(&folder.path(""), &["check", "part.toml"]);
    let why = "the mesh file has no forces on the nodes of a set `boundary_1_3`";
    assert!(status == 1 && err.contains(why), "{err}");
}
