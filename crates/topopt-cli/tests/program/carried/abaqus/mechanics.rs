//! Keywords of elasticity that are carried over or refused.

use super::{BARE, Becomes, LOOSE, PULL, Row, row};
use crate::carried::{By, at, moves, relief};

const TURNED: &str = "*TRANSFORM, NSET=END, TYPE=R\n0., 1., 0., -1., 0., 0.\n";
const AROUND: &str = "*TRANSFORM, NSET=END, TYPE=C\n0., -1., -1., 1., -1., -1.\n";
const HALF: &str = "*AMPLITUDE, NAME=A\n0., 0., 1., 0.5\n";

pub fn rows() -> Vec<Row> {
    let all =
        [materials(), expansion(), forces(), faces_and_bodies(), supports(), steps(), couplings()];
    all.into_iter().flatten().collect()
}

fn of_material(keyword: &'static str, model: &'static str, becomes: Becomes) -> Row {
    Row { base: BARE, ..row(keyword, model, PULL, becomes) }
}

/// Engineering constants in front of a section.
macro_rules! engineering {
    ($section:literal) => {
        concat!(
            "*ELASTIC, TYPE=ENGINEERING CONSTANTS\n100., 40., 20., 0.25, 0.3, 0.2, 30., 15.,\n10.\n",
            $section
        )
    };
}

/// Temperatures of 100 above the reference.
fn expansion() -> Vec<Row> {
    const WARM: &str = "*TEMPERATURE\nALL, 120.\n";
    macro_rules! material {
        ($expansion:literal) => {
            concat!(
                "*ELASTIC\n100., 0.25\n*EXPANSION",
                $expansion,
                "*SOLID SECTION, ELSET=PART, MATERIAL=M\n\
                 *INITIAL CONDITIONS, TYPE=TEMPERATURE\nALL, 20.\n"
            )
        };
    }
    let of = |keyword, model, keys, component, value| Row {
        base: BARE,
        ..row(keyword, model, WARM, moves(keys, component, value))
    };
    let (keys, warm) = ("`thermal_expansion`, `temperature`", 2.235294e-1);
    vec![
        of("*EXPANSION, *TEMPERATURE", material!("\n0.001\n"), keys, 0, warm),
        of(
            "*EXPANSION, TYPE=ORTHO",
            material!(", TYPE=ORTHO\n0.001, 0.002, 0.0005\n"),
            "three of `thermal_expansion`",
            1,
            9.411765e-2,
        ),
        of(
            "*INITIAL CONDITIONS, TYPE=TEMPERATURE",
            material!(", ZERO=5.\n0.001\n"),
            "`reference_temperature`",
            0,
            warm,
        ),
    ]
}

fn materials() -> Vec<Row> {
    let section = "`[material]`, of several sections `[[materials]]`";
    let refused = Becomes::Refused;
    vec![
        of_material(
            "*MATERIAL, *ELASTIC, *SOLID SECTION",
            "*ELASTIC\n100., 0.25\n*SOLID SECTION, ELSET=PART, MATERIAL=M\n",
            moves(section, 1, 0.3464724),
        ),
        of_material(
            "*ELASTIC of two materials",
            "*ELASTIC\n100., 0.25\n*MATERIAL, NAME=R\n*ELASTIC\n30., 0.45\n*ELSET, ELSET=FIRST\n1\n\
             *SOLID SECTION, ELSET=FIRST, MATERIAL=M\n*SOLID SECTION, ELSET=LAST, MATERIAL=R\n",
            moves("`poissons_ratio` of each", 1, 6.018387e-1),
        ),
        of_material(
            "*ELASTIC, TYPE=ENGINEERING CONSTANTS",
            engineering!("*SOLID SECTION, ELSET=PART, MATERIAL=M\n"),
            moves("`orthotropic`", 1, 5.109856e-1),
        ),
        of_material(
            "*ORIENTATION",
            engineering!(
                "*ORIENTATION, NAME=O\n1., 1., 0.5, -1., 1., 0.\n\
                 *SOLID SECTION, ELSET=PART, MATERIAL=M, ORIENTATION=O\n"
            ),
            moves("`frame`", 1, 5.293196e-1),
        ),
        of_material(
            "*ELASTIC, TYPE=ORTHO",
            "*ELASTIC, TYPE=ORTHO\n120., 30., 60., 20., 10., 40., 30., 15.,\n10.\n\
             *SOLID SECTION, ELSET=PART, MATERIAL=M\n",
            moves("`anisotropic`", 1, 4.824184e-1),
        ),
        of_material(
            "*ELASTIC, TYPE=ANISO",
            "*ELASTIC, TYPE=ANISO\n120., 30., 60., 20., 10., 40., 5., 4.,\n\
             3., 30., 2., 1., 0., 3., 15., 4.,\n0., 2., 1., 3., 10.\n\
             *SOLID SECTION, ELSET=PART, MATERIAL=M\n",
            moves("`anisotropic`", 1, 4.825993e-1),
        ),
        of_material(
            "*ELASTIC, TYPE=TRACTION",
            "*ELASTIC, TYPE=TRACTION\n1., 1., 1.\n*SOLID SECTION, ELSET=PART, MATERIAL=M\n",
            refused("`M` of the mesh file, which is not understood: *ELASTIC, TYPE=TRACTION"),
        ),
        of_material(
            "*ORIENTATION, SYSTEM=CYLINDRICAL",
            engineering!(
                "*ORIENTATION, NAME=O, SYSTEM=CYLINDRICAL\n0., 0., 0., 0., 0., 1.\n\
                 *SOLID SECTION, ELSET=PART, MATERIAL=M, ORIENTATION=O\n"
            ),
            refused("which is not understood: constants along *ORIENTATION O"),
        ),
        of_material(
            "*ELASTIC of several temperatures",
            "*ELASTIC\n100., 0.25, 20.\n50., 0.25, 500.\n*SOLID SECTION, ELSET=PART, MATERIAL=M\n",
            refused("*ELASTIC with rows of several temperatures (line"),
        ),
        of_material(
            "*HYPERELASTIC",
            "*HYPERELASTIC, NEO HOOKE\n1., 1.\n*SOLID SECTION, ELSET=PART, MATERIAL=M\n",
            refused(
                "for the material `M` of the mesh file, which has no Young's modulus that is understood",
            ),
        ),
        of_material(
            "*USER MATERIAL",
            "*USER MATERIAL, CONSTANTS=2\n1., 1.\n*SOLID SECTION, ELSET=PART, MATERIAL=M\n",
            refused(
                "for the material `M` of the mesh file, which has no Young's modulus that is understood",
            ),
        ),
    ]
}

fn forces() -> Vec<Row> {
    let force = "`force`";
    let turned = |node_and_axis, value| {
        at("directions of `force`", "displacement", node_and_axis, value, By::CalculiX)
    };
    vec![
        row("*CLOAD", "", PULL, moves(force, 1, 0.3464724)),
        row("*CLOAD twice", "", "*CLOAD\n12, 2, 1.\n12, 2, 1.\n", moves(force, 1, 0.6929447)),
        row(
            "*CLOAD of a set and of one of its nodes",
            "",
            "*CLOAD\nEND, 2, 1.\n12, 2, 1.\n",
            moves(force, 1, 1.324364),
        ),
        row("*AMPLITUDE", HALF, "*CLOAD, AMPLITUDE=A\n12, 2, 1.\n", moves(force, 1, 0.1732362)),
        row(
            "*AMPLITUDE, TIME=TOTAL TIME",
            "*AMPLITUDE, NAME=A, TIME=TOTAL TIME\n0., 0., 10., 1.\n",
            "1., 2.\n*CLOAD, AMPLITUDE=A\n12, 2, 1.\n",
            moves(force, 1, 0.06929447),
        ),
        row("*TRANSFORM", TURNED, "*CLOAD\nEND, 1, 1.\n", turned((11, 1), 0.3317572)),
        row("*TRANSFORM, TYPE=C", AROUND, "*CLOAD\nEND, 1, 1.\n", turned((11, 1), 0.2474357)),
    ]
}

fn faces_and_bodies() -> Vec<Row> {
    let (pressure, one) = ("`pressure`", -0.01941176);
    vec![
        row("*DLOAD, P1 to P6", "", "*DLOAD\n2, P4, 1.\n", moves(pressure, 0, one)),
        row(
            "*DLOAD twice on a face",
            "",
            "*DLOAD\nLAST, P4, 1.\n2, P4, 2.\n",
            moves(pressure, 0, -0.05823529),
        ),
        row("*DSLOAD, P", "", "*DSLOAD\nFACE, P, 1.\n", moves(pressure, 0, one)),
        // A quarter of what a force of 1 on each node does.
        row(
            "*DSLOAD, TRVEC",
            "",
            "*DSLOAD\nFACE, TRVEC, 1., 0., 1., 0.\n",
            moves("`traction`", 1, 0.9778914 / 4.0),
        ),
        row(
            "*DLOAD, GRAV",
            "",
            "*DLOAD\nPART, GRAV, 1., 0., 1., 0.\n",
            moves("`gravity`", 1, 0.4103514),
        ),
        row(
            "*DLOAD, CENTRIF",
            "",
            "*DLOAD\nPART, CENTRIF, 1., 0., 0., 0., 0., 1., 0.\n",
            moves("`angular_velocity`", 2, 0.2045875),
        ),
        row(
            "*SPRING of SPRING1",
            "*ELEMENT, TYPE=SPRING1, ELSET=S\n50, 12\n*SPRING, ELSET=S\n2\n10.\n",
            PULL,
            moves("`[[springs]]`", 1, 0.0776022),
        ),
        row(
            "*SPRING of SPRING2 to a held node",
            "*NODE\n99, 2., 5., 1.\n*ELEMENT, TYPE=SPRING2, ELSET=S\n50, 12, 99\n\
             *SPRING, ELSET=S\n2, 2\n10.\n*BOUNDARY\n99, 1, 3\n",
            PULL,
            moves("`[[springs]]`", 1, 0.0776022),
        ),
        row(
            "*SPRING of SPRINGA to a held node",
            "*NODE\n99, 2., 5., 1.\n*ELEMENT, TYPE=SPRINGA, ELSET=S\n50, 12, 99\n\
             *SPRING, ELSET=S\n\n10.\n*BOUNDARY\n99, 1, 3\n",
            PULL,
            moves("`[[springs]]`, along x, y or z", 1, 0.0776022),
        ),
    ]
}

fn supports() -> Vec<Row> {
    let moved = |value| at("`displacement`", "displacement", (12, 1), value, By::Hand);
    let turned = "`displacement`, where the directions are x, y and z";
    vec![
        row("*BOUNDARY", "", "*BOUNDARY\n12, 2, 2, 1.\n", moved(1.0)),
        row("*BOUNDARY, AMPLITUDE", HALF, "*BOUNDARY, AMPLITUDE=A\n12, 2, 2, 1.\n", moved(0.5)),
        row(
            "*BOUNDARY with *TRANSFORM",
            TURNED,
            "*BOUNDARY\nEND, 2, 2, 0.1\n",
            at(turned, "displacement", (12, 0), -0.1, By::Hand),
        ),
    ]
}

/// A row for a second step, with a displacement of node 12 there.
fn second(keyword: &'static str, steps: &'static str, component: usize, value: f64) -> Row {
    let array = "displacement_step_2";
    row(keyword, "", steps, at("a load case", array, (12, component), value, By::CalculiX))
}

fn steps() -> Vec<Row> {
    vec![
        Row {
            base: LOOSE,
            ..row("*INERTIA RELIEF", "", "*INERTIA RELIEF\n*CLOAD\n12, 2, 1.\n", relief())
        },
        second(
            "*STEP",
            "*CLOAD\n12, 2, 1.\n*END STEP\n*STEP\n*STATIC\n*CLOAD\n11, 2, 1.\n",
            1,
            0.4618528,
        ),
        second(
            "*CLOAD of another value in a second step",
            "*CLOAD\n12, 2, 1.\n*END STEP\n*STEP\n*STATIC\n*CLOAD\n12, 2, 3.\n",
            1,
            1.039417,
        ),
        second(
            "*CLOAD, OP=NEW",
            "*CLOAD\n12, 2, 1.\n*END STEP\n*STEP\n*STATIC\n*CLOAD, OP=NEW\n11, 2, 1.\n",
            1,
            0.1153805,
        ),
        second(
            "*DLOAD in a second step",
            "*DSLOAD\nFACE, P, 1.\n*END STEP\n*STEP\n*STATIC\n*DLOAD\n2, P4, 3.\n",
            0,
            -0.05823529,
        ),
        second(
            "*DLOAD, OP=NEW",
            "*DSLOAD\nFACE, P, 1.\n*END STEP\n*STEP\n*STATIC\n*DLOAD, OP=NEW\n2, P5, 1.\n",
            1,
            -0.1666472,
        ),
    ]
}

fn couplings() -> Vec<Row> {
    let held = |keys| at(keys, "displacement", (11, 1), 0.04313725, By::CalculiX);
    let spread = "is rigid: the load at its reference node is spread over `END`";
    let turns = "holds while some displacements are free: `END` is not rigid";
    vec![
        row(
            "*COUPLING, *DISTRIBUTING",
            "*NODE\n99, 4., 0.5, 0.5\n\
             *COUPLING, REF NODE=99, SURFACE=FACE, CONSTRAINT NAME=C\n*DISTRIBUTING\n",
            "*CLOAD\n99, 2, 1.\n",
            moves("`total_force` with `at`, and `moment`", 1, 0.5588498),
        ),
        row(
            "*COUPLING, *KINEMATIC, held at its node",
            "*NODE\n99, 4., 0.5, 0.5\n\
             *COUPLING, REF NODE=99, SURFACE=FACE, CONSTRAINT NAME=C\n*KINEMATIC\n1, 3\n\
             *BOUNDARY\n99, 1, 6\n",
            "*CLOAD\n11, 2, 1.\n",
            held("`[[supports]]` of its surface"),
        ),
        row(
            "*RIGID BODY held at its nodes",
            "*NODE\n98, 4., 0.5, 0.5\n99, 4., 0.5, 0.5\n\
             *RIGID BODY, NSET=END, REF NODE=99, ROT NODE=98\n*BOUNDARY\n98, 1, 3\n99, 1, 3\n",
            "*CLOAD\n11, 2, 1.\n",
            held("`[[supports]]` of its nodes"),
        ),
        row(
            "*RIGID BODY loaded",
            "*NODE\n99, 4., 0.5, 0.5\n*RIGID BODY, NSET=END, REF NODE=99\n",
            "*CLOAD\n99, 2, 1.\n",
            Becomes::Said(spread),
        ),
        row(
            "*RIGID BODY whose rotations are held",
            "*NODE\n98, 4., 0.5, 0.5\n99, 4., 0.5, 0.5\n\
             *RIGID BODY, NSET=END, REF NODE=99, ROT NODE=98\n*BOUNDARY\n98, 1, 3\n",
            "*CLOAD\n99, 2, 1.\n",
            Becomes::Said(turns),
        ),
    ]
}
