//! Words and layouts of Ansys files other than those that CDWRITE writes today.

use std::fs;

use topopt_io::deck::{DeckPhysics, SetLoad};
use topopt_io::{ImportedMesh, read_mesh};
use topopt_testing::files::BLOCK_CDB as BLOCK;

fn read(name: &str, text: &str) -> ImportedMesh {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(name);
    fs::write(&path, text).unwrap();
    read_mesh(&path).unwrap()
}

/// A cube, its foot held.
const CUBE: &str = "/PREP7\nET,1,185\nMP,EX,1,210000\nMP,PRXY,1,0.3\nN,1,0,0,0\nN,2,1,0,0\n\
    N,3,1,1,0\nN,4,0,1,0\nN,5,0,0,1\nN,6,1,0,1\nN,7,1,1,1\nN,8,0,1,1\nE,1,2,3,4,5,6,7,8\n\
    D,1,ALL,0,,4\n";

#[test]
fn format_lines_of_several_groups() {
    let lines = BLOCK.lines().map(|line| {
        let is_node = line.len() > 27 && line.starts_with("  ") && line.contains("E+");
        if is_node { format!("{}{}", &line[2..9], &line[9..]) } else { line.to_owned() }
    });
    let text: String = lines.map(|line| line + "\n").collect();
    let text = text.replace("(3i9,6e21.13e3)", "(1i7,2i9,6e21.13)");
    assert_ne!(text, BLOCK);
    // The node at the origin has no coordinates that are written.
    let narrow = text.replace("       10        0        0\n", "     10        0        0\n");
    assert_eq!(read("part.cdb", &narrow).mesh, read("part.cdb", BLOCK).mesh);
}

#[test]
fn decks_of_workbench_by_their_content() {
    let archive = read("part.cdb", BLOCK);
    for name in ["part.dat", "part.DAT", "part.inp"] {
        assert_eq!(read(name, BLOCK), archive, "{name}");
    }
    let words = "/com,--- Workbench\n/wb,file,start\n*set,cid,5\net,cid,174\nkeyo,cid,12,5\n\
        cmblock,_LOADED,node,        2\n(8i10)\n         5         6\ncmsel,s,_LOADED\nf,all,fy,-3.\n\
        nsel,all\nsf,all,pres,0\n/solu\nantype,0\nsolve\nfinish\n";
    let deck = read("part.dat", &format!("{CUBE}{words}"));
    let force = SetLoad::Force { set: "F_1".into(), force: [0.0, -3.0, 0.0] };
    assert_eq!(deck.deck.loads[0].load, force);
    assert_eq!(deck.mesh.sets().nodes["F_1"], [4, 5]);
    assert_eq!(deck.deck.lost, [""; 0]);
}

/// A model of Tosca is read as by itself.
#[test]
fn models_of_a_parameter_file_by_their_content() {
    let archive = read("part.cdb", BLOCK).mesh;
    for name in ["part.dat", "part.DAT", "part.inp", "part.cdb"] {
        let folder = tempfile::tempdir().unwrap();
        let parameters = format!(
            "FEM_INPUT\n  FILE = {name}\nEND_\nDV_TOPO\n  ID_NAME = dv\n  \
             EL_GROUP = ALL_ELEMENTS\nEND_\nOPTIMIZE\n  ID_NAME = task\n  DV = dv\nEND_\n"
        );
        fs::write(folder.path().join(name), BLOCK).unwrap();
        fs::write(folder.path().join("job.par"), parameters).unwrap();
        let optimized = read_mesh(&folder.path().join("job.par")).unwrap();
        assert_eq!(optimized.mesh, archive, "{name}");
        assert!(optimized.deck.design.is_some());
    }
}

/// A -1 ends a list behind a release mark alone.
#[test]
fn minus_one_is_a_number() {
    let moved = CUBE.replace("N,5,0,0,1\n", "N,5,-1,0,1\nN,R5.3,LOC,-1,\n");
    let deck = read("part.cdb", &format!("{moved}CE,1,0,3,UX,1,7,UX,-1\n"));
    assert_eq!(deck.mesh.coordinates()[4], [-1.0, 0.0, 1.0]);
    assert_eq!(deck.deck.lost, ["CE commands: 1, the first on line 16"]);
}

#[test]
fn pressures_at_corners_are_their_mean() {
    let corners = "SFE,1,6,PRES,1,R5.0\n   10.0  20.0  30.0  40.0\n";
    let deck = read("part.cdb", &format!("{CUBE}{corners}")).deck;
    let pressure = |pressure| SetLoad::Pressure { set: "SFE_1".into(), pressure };
    assert_eq!(deck.loads[0].load, pressure(25.0));
    assert_eq!(deck.lost, ["SFE that vary over a face, read as their mean: 1"]);
    let twice = read("part.cdb", &format!("{CUBE}SFE,1,6,PRES,0,10\nSFE,1,6,PRES,0,20\n"));
    assert_eq!(twice.deck.loads[0].load, pressure(20.0));
    assert_eq!((twice.deck.loads.len(), twice.deck.lost.len()), (1, 0));
}

#[test]
fn properties_at_the_temperature_of_the_part() {
    let table =
        "MPTEMP,R5.0, 2, 1,  0.0, 100.0\nMPDATA,R5.0, 2,EX,  1, 1,  200.0, 100.0\nTUNIF,25\n";
    let deck = read("part.cdb", &format!("{CUBE}{table}")).deck;
    assert_eq!(deck.materials[0].youngs_modulus, Some(175.0));
    assert!(deck.lost[0].starts_with("material 1: EX for other temperatures than 25"), "{deck:?}");
    let polynomial = read("part.cdb", &format!("{CUBE}MP,EX,1,200,-2,0.5\nTREF,4\n")).deck;
    assert_eq!(polynomial.materials[0].youngs_modulus, Some(200.0));
}

#[test]
fn rigid_regions_whose_master_is_held() {
    let foot = CUBE.replace("D,1,ALL,0,,4\n", "N,20,0.5,0.5,-1\nCERIG,20,1,ALL\nD,20,ALL\n");
    let text = foot.replace("CERIG,20,1,ALL", "NSEL,S,LOC,Z,0\nCERIG,20,ALL,ALL\nALLSEL");
    let rigid = read("part.cdb", &text);
    assert_eq!(rigid.deck.supports[0].set, "CERIG_1");
    assert_eq!(rigid.mesh.sets().nodes["CERIG_1"], [0, 1, 2, 3]);
    assert_eq!(rigid.deck.lost, [""; 0]);
    let loaded = read("part.cdb", &text.replace("D,20,ALL", "F,20,FX,5"));
    let at = [0.5, 0.5, -1.0];
    let (set, force, moment) = ("CERIG_1".into(), [5.0, 0.0, 0.0], [0.0; 3]);
    assert_eq!(loaded.deck.loads[0].load, SetLoad::Remote { set, at, force, moment });
    assert!(loaded.deck.lost[0].contains("is not rigid here"), "{:?}", loaded.deck.lost);
}

#[test]
fn many_different_forces_are_one_set() {
    let nodes: String = (0..2 * 2 * 60)
        .map(|i| format!("N,{},{},{},{}\n", i + 1, i / 4, i / 2 % 2, i % 2))
        .collect();
    let elements: String = (0..59)
        .map(|i| {
            let [a, b] = [4 * i + 1, 4 * i + 5];
            format!("E,{a},{b},{},{},{},{},{},{}\n", b + 2, a + 2, a + 1, b + 1, b + 3, a + 3)
        })
        .collect();
    let forces: String = (5..=240).map(|i| format!("F,{i},FY,{i}\n")).collect();
    let text = format!("/PREP7\nET,1,185\n{nodes}{elements}D,1,ALL,,,4\n{forces}");
    let ImportedMesh { deck, mesh, .. } = read("part.cdb", &text);
    assert_eq!(deck.loads[0].load, SetLoad::ByNode { set: "F".into() });
    assert_eq!((mesh.sets().nodes["F"].len(), deck.nodal["F"].len()), (236, 236));
    assert_eq!(deck.nodal["F"][3], [0.0, 8.0, 0.0]);
    assert_eq!(deck.physics, DeckPhysics::Elasticity);
}
