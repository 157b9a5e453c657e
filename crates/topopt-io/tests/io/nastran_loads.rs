//! Supports, loads, couplings and load cases of Nastran decks.

use crate::nastran::{CUBE, NAME, area, close, cube, positions, read_as, support};
use topopt_io::ImportedMesh;
use topopt_io::deck::SetLoad;

#[test]
fn supports_of_all_kinds() {
    let imported = cube(
        "SPC1,1,123456,1,THRU,2\nSPC1,1,3,3\n,4,,99\nSPC,2,5,2,-0.5,6,12,0.\nSPC,2,7,456\n\
         SPCADD,5,1,2\n",
    );
    let names: Vec<_> = imported.mesh.sets().nodes.keys().collect();
    assert_eq!(names, ["spc_1_123", "spc_1_3", "spc_2_12", "spc_2_2_-0.5"]);
    assert_eq!(positions(&imported, "spc_1_123"), [1, 2]);
    assert_eq!(positions(&imported, "spc_1_3"), [3, 4]);
    assert_eq!(positions(&imported, "spc_2_2_-0.5"), [5]);
    let moved = support("spc_2_2_-0.5", [false, true, false], [0.0, -0.5, 0.0]);
    assert!(imported.deck.supports.contains(&moved));
    assert_eq!(imported.deck.lost, ["SPC 1 holds grids that no solid uses: 1"]);
}

#[test]
fn subcases_select_supports_and_loads() {
    let deck = |control: &str| {
        let bulk = "SPC1,1,1,1\nSPC1,2,2,2\nSPCADD,12,1,2\nFORCE,3,7,,2.,1.,0.,0.\n\
            FORCE,4,8,,-1.,0.,1.,0.\nLOAD,34,2.,1.,3,0.5,4\n";
        read_as(&format!("{control}{CUBE}{bulk}"), NAME).unwrap()
    };
    let cases = |imported: &ImportedMesh| -> Vec<(String, [f64; 3])> {
        let of = |load: &topopt_io::deck::DeckLoad| match &load.load {
            SetLoad::Force { force, .. } => (load.case.clone(), *force),
            other => panic!("{other:?}"),
        };
        imported.deck.loads.iter().map(of).collect()
    };
    let supports = |imported: &ImportedMesh| -> Vec<String> {
        imported.deck.supports.iter().map(|support| support.set.clone()).collect()
    };
    let (x, y) = ([2.0, 0.0, 0.0], [0.0, -1.0, 0.0]);

    let all = deck("");
    assert_eq!(cases(&all), [("load_34".into(), [4.0, 0.0, 0.0]), ("load_34".into(), y)]);
    assert_eq!(supports(&all), ["spc_1_1", "spc_2_2"]);

    let some = deck(
        "SOL 101\nCEND\nTITLE = a\nSET 1 = 1,\nLOAD = 9\nSPC = 12\nLOAD=4\nSUBCASE 1\n\
         SUBTITLE=Two words\n LABEL= First $ why\nSUBCASE 7\n  load 3\nSUBCASE 8\nLABEL=First\n\
         BEGIN BULK\n",
    );
    let expected = [("First".into(), y), ("subcase_7".into(), x), ("subcase_8".into(), y)];
    assert_eq!(cases(&some), expected);
    assert_eq!(supports(&some), ["spc_1_1", "spc_2_2"]);
    assert_eq!(some.deck.lost, [""; 0]);

    let different = deck("SUBCASE 1\nSPC=2\nLOAD=3\nSUBCASE 2\nSPC=1\nLOAD=77\nBEGIN BULK\n");
    assert_eq!(supports(&different), ["spc_2_2"]);
    let lost = [
        "the subcases have different supports (SPC 1, 2): those of SPC 2 are taken for all",
        "load set 77 is in load case `subcase_2`, and has no loads",
    ];
    assert_eq!(different.deck.lost, lost);
    // The sets are there, selected or not.
    assert_eq!(positions(&different, "spc_1_1"), [1]);
}

#[test]
fn forces_are_summed_and_told_apart() {
    let imported = cube(
        "CORD2C,4,,0.,0.,0.,0.,0.,1.\n,1.,0.,0.\nFORCE,1,7,,2.,1.,0.,0.\nFORCE,1,8,,3.,0.,1.,0.\n\
         FORCE,1,8,,2.,1.,-1.5,0.\nFORCE,1,4,4,5.,1.,0.,0.\nFORCE,1,2,4,5.,0.,1.,0.\n\
         FORCE,1,3,,1.,1.,0.,0.\nFORCE,1,3,,-1.,1.,0.,0.\nMOMENT,1,1,,1.,0.,0.,1.\nGRID,50\n\
         FORCE,1,50,,1.,1.,1.,2.\nFORCE,1,51,,1.,1.,1.,2.\n",
    );
    let found: Vec<_> = imported.deck.loads.iter().map(|load| &load.load).collect();
    let force = |set: &str, force| SetLoad::Force { set: set.into(), force };
    assert_eq!(found[0], &force("force_1_1", [0.0, 5.0, 0.0]));
    assert_eq!(found[1..], [&force("force_1_2", [2.0, 0.0, 0.0])]);
    assert_eq!(positions(&imported, "force_1_1"), [2, 4]);
    assert_eq!(positions(&imported, "force_1_2"), [7, 8]);
    let lost = [
        "load set 1: moments on grids, which have no rotations: 1",
        "load set 1: forces and moments on grids that are not there: 1",
        "load set 1: forces on grids that no hexahedron uses: 1, [1.0, 1.0, 2.0] in all",
    ];
    assert_eq!(imported.deck.lost, lost);
}

#[test]
fn accelerations_and_tractions_in_turned_systems() {
    // x of system 5 is y, its y is z.
    let imported = cube(
        "CORD2R,5,,0.,0.,0.,1.,0.,0.\n,0.,1.,0.\nGRAV,1,5,9.81,0.,-1.,0.\n\
         RFORCE,2,7,5,2.,1.,0.,0.,2\nPLOAD4,3,1,2.,,,,5,7\n,5,0.,3.,4.\n\
         PLOAD4,4,1,1.,2.,3.,6.,5,7\nLOAD,9,1.,4.,2,2.,3,1.,1\n,1.,4\n",
    );
    let turn = 4.0 * std::f64::consts::PI;
    let loads: Vec<_> = imported.deck.loads.iter().map(|load| load.load.clone()).collect();
    let expected = [
        SetLoad::Gravity { acceleration: [0.0, 0.0, -9.81] },
        // Four times the force is twice the velocity.
        SetLoad::Centrifugal { center: [1.0; 3], angular_velocity: [0.0, 2.0 * turn, 0.0] },
        SetLoad::Traction { set: "pload4_3_traction_1".into(), traction: [3.2, 0.0, 2.4] },
        SetLoad::Pressure { set: "pload4_4_3.0".into(), pressure: 3.0 },
    ];
    assert_eq!(loads.len(), expected.len());
    for (load, expected) in loads.iter().zip(&expected) {
        match (load, expected) {
            (SetLoad::Traction { traction: a, .. }, SetLoad::Traction { traction: b, .. })
            | (SetLoad::Gravity { acceleration: a }, SetLoad::Gravity { acceleration: b })
            | (
                SetLoad::Centrifugal { angular_velocity: a, .. },
                SetLoad::Centrifugal { angular_velocity: b, .. },
            ) => close(*a, *b),
            _ => assert_eq!(load, expected),
        }
    }
    assert_eq!(area(&imported, "pload4_3_traction_1"), [0.0, 0.0, 1.0]);
    assert_eq!(
        imported.deck.lost,
        ["load set 4: PLOAD4 that vary over a face, read as their mean: 1"]
    );
}

#[test]
fn couplings_spread_loads_and_hold() {
    let imported = cube(
        "GRID,20,,0.5,0.5,3.\nGRID,21,,0.5,0.5,-1.\nGRID,22,,9.,9.,9.\n\
         RBE3,90,,20,123456,1.,123,5,6\n,THRU,8\nRBE2,91,21,123456,1,THRU,4\n\
         RBE2,92,22,123,22\nFORCE,1,20,,2.,1.,0.,0.\nMOMENT,1,20,,3.,0.,0.,1.\n\
         SPC1,1,123456,21\nSPC1,1,12,20\n",
    );
    let names: Vec<_> = imported.mesh.sets().nodes.keys().collect();
    assert_eq!(names, ["rbe2_91", "rbe3_90", "spc_1_123_rbe2_91"]);
    assert_eq!(positions(&imported, "rbe3_90"), [5, 6, 7, 8]);
    assert_eq!(positions(&imported, "spc_1_123_rbe2_91"), [1, 2, 3, 4]);
    assert_eq!(imported.deck.supports, [support("spc_1_123_rbe2_91", [true; 3], [0.0; 3])]);
    let remote = SetLoad::Remote {
        set: "rbe3_90".into(),
        at: [0.5, 0.5, 3.0],
        force: [2.0, 0.0, 0.0],
        moment: [0.0, 0.0, 3.0],
    };
    assert_eq!(imported.deck.loads.len(), 1);
    assert_eq!(imported.deck.loads[0].load, remote);
    let lost = [
        "RBE2 92 couples no grids of solids",
        "SPC 1 holds grids of RBE3, which hold nothing here: 1",
    ];
    assert_eq!(imported.deck.lost, lost);
}

#[test]
fn a_grid_that_is_rigid_with_some_and_the_mean_of_others_is_said() {
    let imported = cube(
        "GRID,20,,0.5,0.5,3.\nRBE3,90,,20,123456,1.,123,5,6\n,7,8\nRBE2,91,20,123456,1,THRU,4\n\
         FORCE,1,20,,2.,1.,0.,0.\n",
    );
    let said = "RBE3 90: its grid is that of RBE2 91, which gets all that acts there";
    assert!(imported.deck.lost.iter().any(|lost| lost == said), "{:?}", imported.deck.lost);
    assert!(
        matches!(&imported.deck.loads[..], [load] if matches!(&load.load, SetLoad::Remote { set, .. } if set == "rbe2_91"))
    );
}

#[test]
fn couplings_that_are_not_carried_over_whole() {
    let imported = cube(
        "GRID,20,,0.5,0.5,3.\nGRID,21,,0.5,0.5,-1.\nRBE3,90,,20,123,1.,123,5,6,\n,2.,123,7,8\n\
         RBE2,91,21,12,1,2,3,99,1.-5\nFORCE,1,21,,2.,1.,0.,0.\nSPC1,1,123,21\n",
    );
    assert_eq!(positions(&imported, "rbe2_91"), [1, 2, 3]);
    let held = support("spc_1_12_rbe2_91", [true, true, false], [0.0; 3]);
    assert_eq!(imported.deck.supports, [held]);
    let lost = [
        "RBE3 90: its grids count equally and in all directions here, by its weights and \
         components they do not",
        "RBE2 91 couples grids that no solid uses: 1",
        "RBE2 91 can turn about its grid, which is held: its nodes are held here, and cannot",
        "RBE2 that are not rigid here: their nodes can move apart: 1",
    ];
    assert_eq!(imported.deck.lost, lost);
    assert!(
        matches!(&imported.deck.loads[0].load, SetLoad::Remote { set, .. } if set == "rbe2_91")
    );
}

#[test]
fn supports_in_turned_systems() {
    let systems =
        "CORD2R,5,,0.,0.,0.,1.,0.,0.\n,0.,1.,0.\nCORD2R,6,,0.,0.,0.,0.,0.,1.\n,1.,1.,0.\n";
    let text = CUBE.replace("GRID,1,,0.,0.,0.", "GRID,1,,0.,0.,0.,5");
    let text = text.replace("GRID,2,,1.,0.,0.", "GRID,2,,1.,0.,0.,6");
    let text = format!("{systems}{text}SPC1,1,1,1,2\nSPC1,1,123,2\n");
    let imported = read_as(&text, NAME).unwrap();
    // x of system 5 is y; system 6 is turned by 45 degrees, but all of its directions are all.
    assert_eq!(positions(&imported, "spc_1_2"), [1]);
    assert_eq!(positions(&imported, "spc_1_123"), [2]);
    assert_eq!(imported.deck.lost, ["SPC 1 holds grids in directions that are not x, y or z: 1"]);
}

#[test]
fn equal_pressures_on_a_face_add_up() {
    let imported = cube(
        "PLOAD4,1,1,10.,,,,5,7\nPLOAD4,1,1,10.,,,,7,5\nPLOAD4,1,1,1.,,,,5,7\nPLOAD4,1,1,2.,,,,1,3\n\
         PLOAD4,1,1,-2.,,,,1,3\n",
    );
    let set = "pload4_1_21.0".to_owned();
    let loads: Vec<_> = imported.deck.loads.iter().map(|load| &load.load).collect();
    assert_eq!(loads, [&SetLoad::Pressure { set, pressure: 21.0 }]);
    assert_eq!(imported.mesh.sets().faces["pload4_1_21.0"].len(), 1);
}

/// A hexahedron of 20 grids: an eighth of a force in the middle of each edge of the top, and -1/12
/// at each corner, have the sum and the moment of a uniform traction.
#[test]
fn forces_in_the_middle_of_edges_go_to_its_ends() {
    let corners =
        [[0, 0, 0], [2, 0, 0], [2, 2, 0], [0, 2, 0], [0, 0, 2], [2, 0, 2], [2, 2, 2], [0, 2, 2]];
    let edges = [
        [0, 1],
        [1, 2],
        [2, 3],
        [3, 0],
        [0, 4],
        [1, 5],
        [2, 6],
        [3, 7],
        [4, 5],
        [5, 6],
        [6, 7],
        [7, 4],
    ];
    let middles =
        edges.map(|[a, b]: [usize; 2]| [0, 1, 2].map(|i| (corners[a][i] + corners[b][i]) / 2));
    let grids: String = (1..)
        .zip(corners.iter().chain(&middles))
        .map(|(tag, [x, y, z])| format!("GRID,{tag},,{x}.,{y}.,{z}.\n"))
        .collect();
    let loads: String = (5..=8)
        .map(|tag| (tag, -1.0))
        .chain((17..=20).map(|tag| (tag, 4.0)))
        .map(|(tag, share)| format!("FORCE,1,{tag},,{share:?},0.,1.,0.\n"))
        .collect();
    let held: String = (9..=12).map(|tag| format!("SPC1,1,123,{tag}\n")).collect();
    let text = format!(
        "{grids}CHEXA,1,7,1,2,3,4,5,6\n,7,8,9,10,11,12,13,14\n,15,16,17,18,19,20\n{loads}{held}"
    );
    let imported = read_as(&text, NAME).unwrap();
    assert_eq!(imported.mesh.n_nodes(), 8);
    let set = "force_1_1".to_owned();
    let force = SetLoad::Force { set: set.clone(), force: [0.0, 3.0, 0.0] };
    assert_eq!(imported.deck.loads[0].load, force);
    assert_eq!(positions(&imported, &set), [5, 6, 7, 8]);
    assert_eq!(imported.deck.given["load_1"].force, [0.0, 12.0, 0.0]);
    // The middles alone are held: the ends are, in their place, which is said.
    assert_eq!(positions(&imported, "spc_1_123"), [1, 2, 3, 4]);
    let lost = "the support `spc_1_123` holds nodes in the middle of edges whose ends it does not hold (4)";
    assert!(imported.deck.lost[0].starts_with(lost), "{:?}", imported.deck.lost);
}

#[test]
fn left_handed_elements_are_turned() {
    let left = CUBE.replace("1,2,3,4,5,6\n,7,8", "1,4,3,2,5,8\n,7,6");
    let imported = read_as(&format!("{left}PLOAD4,1,1,1.,,,,5,7\n"), NAME).unwrap();
    assert!((imported.mesh.volumes()[0] - 1.0).abs() < 1e-14);
    assert_eq!(area(&imported, "pload4_1_1.0"), [0.0, 0.0, 1.0]);
    let note = "left-handed elements, whose grids were put in the order of right-handed ones: 1";
    assert!(imported.notes.iter().any(|n| n == note), "{:?}", imported.notes);
}

#[test]
fn continuations_of_other_case_and_with_tabs() {
    let text = format!(
        "{CUBE}SPC1    7       123     1       2       3       4       5       6       +SP1d\n\
        +SP1D   7       8\nSPC1\t8\t123\t1\t2\t3\t4\t5\t6\t+A\n+a\t7\n"
    );
    let imported = read_as(&text, NAME).unwrap();
    assert_eq!(positions(&imported, "spc_7_123"), [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(positions(&imported, "spc_8_123"), [1, 2, 3, 4, 5, 6, 7]);
}
