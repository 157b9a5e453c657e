//! Parameter files of Tosca become cases that ask for the same.

use std::fmt::Write;

use crate::{Folder, topopt};

/// Elements of the block along x, y and z, with edges of 1.
const SIZES: [usize; 3] = [10, 6, 6];

/// A block that is held at x = 0 and pushed at its other end, down in one step and aside in the
/// next.
fn block() -> String {
    let [nx, ny, nz] = SIZES;
    let node = |x: usize, y: usize, z: usize| 1 + x + (nx + 1) * (y + (ny + 1) * z);
    let (mut nodes, mut held, mut pushed) = (String::new(), String::new(), String::new());
    for (x, y, z) in places([nx + 1, ny + 1, nz + 1]) {
        let _ = writeln!(nodes, "{}, {x}., {y}., {z}.", node(x, y, z));
        let list = if x == 0 { &mut held } else { &mut pushed };
        if x == 0 || x == nx {
            let _ = writeln!(list, "{}", node(x, y, z));
        }
    }
    let (mut elements, mut last) = (String::new(), String::new());
    for (i, (x, y, z)) in places(SIZES).enumerate() {
        let corner = |(i, j, k)| node(x + i, y + j, z + k).to_string();
        let low = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)].map(corner);
        let high = [(0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)].map(corner);
        let _ = writeln!(elements, "{}, {}, {}", i + 1, low.join(", "), high.join(", "));
        if x + 1 == nx {
            let _ = writeln!(last, "{}", i + 1);
        }
    }
    format!(
        "*Node\n{nodes}*Element, type=C3D8, elset=All\n{elements}*Nset, nset=Held\n{held}\
         *Nset, nset=Pushed\n{pushed}*Elset, elset=Last\n{last}*Solid Section, elset=All, material=M\n\
         *Material, name=M\n*Elastic\n100., 0.3\n*Density\n2.\n*Boundary\nHeld, 1, 3\n\
         *Step\n*Static\n*Cload\nPushed, 3, -0.02\n*End Step\n\
         *Step\n*Static\n*Cload, op=NEW\nPushed, 2, 0.02\n*End Step\n"
    )
}

/// Places of a grid, x first.
fn places([nx, ny, nz]: [usize; 3]) -> impl Iterator<Item = (usize, usize, usize)> {
    let along_x = move |y, z| (0..nx).map(move |x| (x, y, z));
    (0..nz).flat_map(move |z| (0..ny).flat_map(move |y| along_x(y, z)))
}

/// Commands of a stiff part of a given volume, with demands `dvcon` that OPTIMIZE names as `named`.
fn parameters(dvcon: &str, named: &str, more: &str) -> String {
    format!(
        "! A part as stiff as can be\nFEM_INPUT\n  ID_NAME = model\n  FILE = block.inp\nEND_\n\
         DV_TOPO\n  ID_NAME = dv\n  EL_GROUP = ALL_ELEMENTS\nEND_\n{dvcon}\
         DRESP\n  ID_NAME = energy\n  DEF_TYPE = SYSTEM\n  TYPE = STRAIN_ENERGY\n  \
         EL_GROUP = ALL_ELEMENTS\n  GROUP_OPER = SUM\n  LC_SET = ALL, 1, ALL\nEND_\n\
         DRESP\n  ID_NAME = volume\n  TYPE = VOLUME\n  EL_GROUP = ALL_ELEMENTS\nEND_\n\
         OBJ_FUNC\n  ID_NAME = stiff\n  DRESP = energy, 1.\n  TARGET = MIN\nEND_\n\
         CONSTRAINT\n  ID_NAME = light\n  DRESP = volume\n  MAGNITUDE = REL\n  LE_VALUE = 0.46\nEND_\n\
         OPTIMIZE\n  ID_NAME = task\n  DV = dv\n  OBJ_FUNC = stiff\n  CONSTRAINT = light\n{named}  \
         STRATEGY = TOPO_SENSITIVITY\nEND_\n{more}STOP\n  ID_NAME = stop\n  ITER_MAX = 50\nEND_\n"
    )
}

/// The case that `topopt init` makes of a parameter file, and what it prints.
fn case_of(parameters: &str) -> (Folder, String, String) {
    let folder = Folder::new();
    folder.write("block.inp", &block());
    folder.write("job.par", parameters);
    let (status, out, err) = topopt(&folder.path(""), &["init", "job.par"]);
    assert_eq!(status, 0, "{out}{err}");
    let case = folder.read("job.toml");
    (folder, case, out)
}

#[test]
fn an_optimization_of_a_parameter_file_becomes_a_case_that_runs() {
    let dvcon = "DVCON_TOPO\n  ID_NAME = frozen\n  EL_GROUP = ASSEMBLY_PART-1_LAST\n  \
        CHECK_TYPE = FROZEN\nEND_\n\
        DVCON_TOPO\n  ID_NAME = thick\n  EL_GROUP = ALL_ELEMENTS\n  CHECK_TYPE = MIN_MEMBER\n  \
        THICKNESS = 3.\nEND_\n\
        CS_DEF\n  ID_NAME = mid\n  DEF_TYPE = VECTOR\n  ORIGIN = 0, 3, 0\n  VECTOR_X = 1, 0, 0\n  \
        VECTOR_Y = 0, 1, 0\n  VECTOR_Z = 0, 0, 1\nEND_\n\
        LINK_TOPO\n  ID_NAME = mirror\n  TYPE = PLANE_SYM, AXIS_2\n  CS = mid\nEND_\n\
        DVCON_TOPO\n  ID_NAME = same\n  EL_GROUP = ALL_ELEMENTS\n  CHECK_TYPE = LINK_TOPO\n  \
        CHECK_LINK = mirror\nEND_\n\
        DVCON_TOPO\n  ID_NAME = printed\n  EL_GROUP = ALL_ELEMENTS\n  CHECK_TYPE = OVERHANG\n  \
        PRINT_DIR = 0., 0., 1.\nEND_\n";
    let named = "  DVCON = frozen\n  DVCON = thick\n  DVCON = same\n  DVCON = printed\n";
    let (folder, case, out) = case_of(&parameters(dvcon, named, ""));
    for table in [
        "[objective]\nminimize = \"compliance\"\ncase = \"step_1\"\n",
        // 0.46 of all are 0.4 of what is designed, a tenth of all being solid.
        "volume_fraction = 0.4\nsolid = [\"Last\"]\nkeep_loaded = \"free\"",
        "kind = \"member_size\"\nminimum = 3.0\n",
        "kind = \"symmetry\"\npoint = [0.0, 3.0, 0.0]\nnormal = [0.0, 1.0, 0.0]\n",
        "kind = \"overhang\"\nbuild_direction = [0.0, 0.0, 1.0]\nangle_degrees = 45.0\n",
    ] {
        assert!(case.contains(table), "{table}\n{case}");
    }
    assert!(!out.contains("not carried over"), "{out}");
    let (status, out, err) =
        topopt(&folder.path(""), &["run", "job.toml", "--set", "optimizer.max_iterations=3"]);
    assert_eq!(status, 0, "{out}{err}");
}

/// Each of these demands alone, and what it becomes.
#[test]
fn demands_become_those_of_a_case() {
    let axes = "CS_DEF\n  ID_NAME = cs\n  DEF_TYPE = LOCAL\n  CS_REF = CS_0\n  ORIGIN_123 = 1, 2, 3\n  \
        ROTATION_321 = 90., 0., 0.\nEND_\n";
    let link =
        |kind: &str| format!("{axes}LINK_TOPO\n  ID_NAME = link\n  CS = cs\n  {kind}\nEND_\n");
    for (before, items, table) in [
        ("", "MAX_MEMBER\n  THICKNESS = 4.\n  DISTANCE = 2.", "gap = 2.0\nmaximum = 4.0\n"),
        (
            "",
            "CAST\n  PULL_DIR = 0, 0, 1\n  MID_PLANE = NONE",
            "draw_direction = [0.0, 0.0, 1.0]\nsides = 1\n",
        ),
        ("", "CAST\n  PULL_DIR = 0, 0, 1\n  MID_PLANE = AUTO", "sides = 2\n"),
        ("", "OVERHANG\n  PRINT_DIR = 0, 0, 2\n  ANGLE = 50", "angle_degrees = 50.0\n"),
        (
            "",
            "MILLING\n  MILLING_DIR = 0, 0, 1\n  MILLING_DIR = 0, 1, 0",
            "tool_directions = [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]\n",
        ),
        (
            &link("TYPE = ROTATION_SYM, AXIS_3\n  ANGLE = 120."),
            "LINK_TOPO\n  CHECK_LINK = link",
            "point = [1.0, 2.0, 3.0]\naxis = [0.0, 0.0, 1.0]\nsectors = 3\n",
        ),
        (
            &link("TYPE = CYCLIC_SYM, AXIS_3\n  TRANSLATION = 2."),
            "LINK_TOPO\n  CHECK_LINK = link",
            "kind = \"pattern\"\npitch = [0.0, 0.0, 2.0]\n",
        ),
    ] {
        let dvcon = format!("{before}DVCON_TOPO\n  ID_NAME = one\n  CHECK_TYPE = {items}\nEND_\n");
        let (_, case, out) = case_of(&parameters(&dvcon, "  DVCON = one\n", ""));
        assert!(case.contains(table) && !out.contains("not carried over"), "{table}: {case}{out}");
    }
}

/// Groups, nodes, shares and weights become those of the case.
#[test]
fn responses_and_limits_have_the_units_of_the_case() {
    let more = "GROUP_DEF\n  ID_NAME = both\n  TYPE = ELEM\n  FORMAT = LIST_GROUP\nLIST_BEGIN\nlast, rest, both\nEND_\n\
        GROUP_DEF\n  ID_NAME = rest\n  TYPE = ELEM\n  FORMAT = LIST_ELEM\nLIST_BEGIN\n1, 2\n3\nEND_\n\
        DRESP\n  ID_NAME = tip\n  TYPE = DISP_Z\n  NODE = 11\n  LC_SET = STATIC, 2, ALL\nEND_\n\
        DRESP\n  ID_NAME = heavy\n  TYPE = WEIGHT\n  EL_GROUP = both\nEND_\n\
        CONSTRAINT\n  ID_NAME = stiff_tip\n  DRESP = tip\n  GE_VALUE = -9.\nEND_\n\
        CONSTRAINT\n  ID_NAME = lighter\n  DRESP = heavy\n  MAGNITUDE = REL\n  LE_VALUE = 0.5\nEND_\n\
        CONSTRAINT\n  ID_NAME = enough\n  DRESP = energy\n  LE_VALUE = 10.\nEND_\n\
        OPT_PARAM\n  OPTIMIZE = task\n  AUTO_FROZEN = BOTH\n  TOPO_FILTER_RADIUS = 2.5\nEND_\n";
    let named = "  CONSTRAINT = stiff_tip\n  CONSTRAINT = lighter\n  CONSTRAINT = enough\n";
    let (_, case, out) = case_of(&parameters("", named, more));
    assert!(!out.contains("not carried over"), "{out}");
    for table in [
        "set = \"node_11\"\ndirection = [0.0, 0.0, 1.0]\ncase = \"step_2\"\nat_least = -9.0\n",
        // Half of 39 elements of the volume 1 and the density 2.
        "response = \"mass\"\nset = \"both\"\nat_most = 39.0",
        "response = \"compliance\"\ncase = \"step_1\"\nat_most = 20.0",
        "[filter]\nradius = 2.5\n",
        "volume_fraction = 0.46\n",
    ] {
        assert!(case.contains(table), "{table}\n{case}");
    }
    assert!(!case.contains("keep_loaded"), "{case}");
}

#[test]
fn what_has_no_counterpart_is_said() {
    let stress = "DRESP\n  ID_NAME = stress\n  TYPE = SIG_SENS_MISES\nEND_\n\
        CONSTRAINT\n  ID_NAME = strong\n  DRESP = stress\n  LE_VALUE = 9\nEND_\n";
    let ribs = "DVCON_TOPO\n  ID_NAME = ribs\n  CHECK_TYPE = RIB_DESIGN\nEND_\n";
    for (dvcon, named, said) in [
        (stress, "  CONSTRAINT = strong\n", "DRESP stress (line 10) with TYPE = SIG_SENS_MISES"),
        (ribs, "  DVCON = ribs\n", "DVCON_TOPO ribs (line 10) with CHECK_TYPE = RIB_DESIGN"),
        ("MESH_SMOOTH\nEND_\n", "", "MESH_SMOOTH (line 10)"),
        (
            "DVCON_TOPO\n  ID_NAME = few\n  EL_GROUP = Last\n  CHECK_TYPE = MIN_MEMBER\n  THICKNESS = 3\nEND_\n",
            "  DVCON = few\n",
            "DVCON_TOPO few (line 10), which holds for the elements Last alone",
        ),
        (
            "DVCON_TOPO\n  ID_NAME = mold\n  CHECK_TYPE = CAST\n  PULL_DIR = 0,0,1\n  MID_PLANE = NONE\n  \
             UNDERCUT_TOL = 0.1\nEND_\n",
            "  DVCON = mold\n",
            "UNDERCUT_TOL = 0.1 of DVCON_TOPO mold (line 10)",
        ),
    ] {
        let (_, case, out) = case_of(&parameters(dvcon, named, ""));
        assert!(out.contains(said), "{said}: {out}");
        assert!(case.contains("# Not carried over: "), "{case}");
    }
}

/// Objectives that a case would take for others.
#[test]
fn objectives_with_other_weights_are_said() {
    let good = parameters("", "", "");
    let more =
        "DRESP\n  ID_NAME = aside\n  TYPE = STRAIN_ENERGY\n  LC_SET = STATIC, 2, ALL\nEND_\n";
    let both = good.replace("DRESP = energy, 1.", "DRESP = energy, 2.\n  DRESP = aside, 3.");
    let (_, case, out) = case_of(&format!("{both}{more}"));
    assert!(case.contains("name = \"step_1\"\nweight = 2.0"), "{case}");
    assert!(case.contains("name = \"step_2\"\nweight = 3.0"), "{case}");
    assert!(!out.contains("not carried over"), "{out}");
    for (weights, said) in [
        ("DRESP = energy, -1.", "OBJ_FUNC stiff (line 23) with the weight -1"),
        ("DRESP = energy, 1.\n  DRESP = volume, 1.", "OBJ_FUNC stiff (line 23) of 2 responses"),
    ] {
        let (_, case, _) = case_of(&good.replace("DRESP = energy, 1.", weights));
        assert!(case.contains(said), "{said}: {case}");
    }
}

#[test]
fn parameter_files_that_make_no_sense_are_refused() {
    let good = parameters("", "", "");
    for (text, message) in [
        (
            String::new(),
            "job.par: not a parameter file of Tosca: expected a command such as FEM_INPUT, found nothing",
        ),
        ("*Heading\n".into(), "job.par: line 1: not a parameter file of Tosca"),
        (good.replace("ITER_MAX = 50\nEND_", "ITER_MAX = 50"), "STOP has no END_"),
        (good.replace("ITER_MAX = 50", "ITER_MAX 50"), "STOP: expected `NAME = value` or `END_`"),
        (
            good.replace("block.inp", "../block.inp"),
            "is neither in the folder of this file nor below it",
        ),
        (good.replace("block.inp", "none.inp"), "job.par: line 4: cannot read the model none.inp"),
        (
            good.replace("block.inp", "job.par"),
            "job.par: line 4: the model job.par is itself a parameter file",
        ),
        (good.replace("block.inp", "sub/Other.PAR"), "line 4: the model sub/Other.PAR is itself"),
        (
            good.replace("block.inp", "part.stl"),
            "job.par: line 4: the model part.stl is a geometry, which has no mesh, supports and loads; \
             give the deck of Abaqus",
        ),
        (good.replace("block.inp", "part.STEP"), "line 4: the model part.STEP is a geometry"),
        (good.replace("block.inp", "part.geo"), "line 4: the model part.geo is a geometry"),
        (
            good.replace("block.inp", "part.odb"),
            "job.par: line 4: the model part.odb is no mesh, by its extension; give the deck of Abaqus",
        ),
        (good.replace("block.inp", "part"), "line 4: the model part is no mesh, by its extension"),
        (
            good.replace("FILE = block.inp", "FILE ="),
            "job.par: line 4: FEM_INPUT model (line 2): expected the file of the model as FILE, found \
             nothing; correct the line",
        ),
        (good.replace("block.inp", "\"\""), "line 4: FEM_INPUT model (line 2): expected the file"),
        (
            good.replace("  FILE = block.inp\n", ""),
            "job.par: line 2: FEM_INPUT model (line 2) has no FILE",
        ),
        (good.replace("DV = dv", "DV ="), "expected the name of a DV_TOPO as DV, found nothing"),
        (good.replace("DV = dv", "DV = shape"), "no OPTIMIZE has a DV_TOPO"),
        (good.replace("OBJ_FUNC = stiff", "OBJ_FUNC = soft"), "there is no OBJ_FUNC `soft`"),
        (
            good.replace("EL_GROUP = ALL_ELEMENTS", "EL_GROUP = ALL_PARTS"),
            "there is no group `ALL_PARTS`",
        ),
        (
            good.replace("LE_VALUE = 0.46", "LE_VALUE = much"),
            "expected a number as value 1 of LE_VALUE, found much",
        ),
    ] {
        let folder = Folder::new();
        folder.write("block.inp", &block());
        folder.write("job.par", &text);
        let (status, out, err) = topopt(&folder.path(""), &["init", "job.par"]);
        let err = err.replace("\n  | ", " ").replace("\n    ", " ");
        assert!(status == 1 && err.contains(message), "{message}: {out}{err}");
        assert!(!folder.0.path().join("job.toml").exists());
    }
}
