//! Keywords and parameters that are said.

use super::{Becomes, NO_PROCEDURE, PULL, Row, row};

/// Keywords of the model, with their data.
const OF_MODEL: [(&str, &str); 32] = [
    ("*EQUATION", "2\n3, 2, 1., 6, 2, -1.\n"),
    ("*MPC", "BEAM, 3, 6\n"),
    ("*TIE, NAME=T", "FACE, FACE\n"),
    ("*CONTACT PAIR, INTERACTION=I", "FACE, FACE\n"),
    ("*CONTACT", ""),
    ("*EMBEDDED ELEMENT", "LAST\n"),
    ("*PLASTIC", "1., 0.\n"),
    ("*CREEP", "1., 1., 1.\n"),
    ("*VISCOELASTIC, TIME=PRONY", "0.1, 0.1, 1.\n"),
    ("*HYPERFOAM", "1., 1.\n"),
    ("*DEFORMATION PLASTICITY", "100., 0.25, 1., 5., 0.5\n"),
    ("*CYCLIC HARDENING", "1.\n"),
    ("*RATE DEPENDENT", "1.\n"),
    ("*CONCRETE DAMAGED PLASTICITY", "1.\n"),
    ("*DAMAGE INITIATION", "1.\n"),
    ("*NO COMPRESSION", ""),
    ("*DAMPING, ALPHA=1.", ""),
    ("*MASS, ELSET=LAST", "1.\n"),
    ("*ROTARY INERTIA", "1.\n"),
    ("*DASHPOT, ELSET=LAST", "1\n1.\n"),
    ("*GAP, ELSET=LAST", "0.1\n"),
    ("*SHELL SECTION, ELSET=LAST", "0.1\n"),
    ("*MEMBRANE SECTION, ELSET=LAST", "0.1\n"),
    ("*BEAM SECTION, ELSET=LAST", "0.1\n"),
    ("*CONNECTOR SECTION, ELSET=LAST", "AXIAL\n"),
    ("*PRE-TENSION SECTION", ""),
    ("*CYCLIC SYMMETRY MODEL, N=4", ""),
    ("*SYMMETRY MODEL GENERATION", ""),
    ("*IMPERFECTION", "1, 0.1\n"),
    ("*SUBMODEL", "END\n"),
    ("*RELEASE", "LAST, S1, M1\n"),
    ("*NOT A KEYWORD", "1., 2.\n"),
];

/// Keywords of a step.
const OF_STEP: [(&str, &str); 12] = [
    ("*FIELD", "ALL, 1.\n"),
    ("*MODEL CHANGE, TYPE=ELEMENT, REMOVE", "LAST\n"),
    ("*BASE MOTION, DOF=1, AMPLITUDE=A", ""),
    ("*VIEWFACTOR", ""),
    ("*CONNECTOR MOTION", "1, 1\n"),
    ("*CONNECTOR LOAD", "1, 1\n"),
    ("*FOUNDATION", "2, F4, 1.\n"),
    ("*CHANGE FRICTION", ""),
    ("*CHANGE SOLID SECTION, ELSET=PART", ""),
    ("*LOAD CASE, NAME=A", ""),
    ("*CONTACT INTERFERENCE", "FACE, FACE, 0.1\n"),
    ("*CONTACT DAMPING", "1.\n"),
];

/// Procedures other than *STATIC and *HEAT TRANSFER.
const PROCEDURES: [&str; 9] = [
    "*DYNAMIC",
    "*FREQUENCY",
    "*BUCKLE",
    "*VISCO",
    "*MODAL DYNAMIC",
    "*STEADY STATE DYNAMICS",
    "*COMPLEX FREQUENCY",
    "*COUPLED TEMPERATURE-DISPLACEMENT",
    "*UNCOUPLED TEMPERATURE-DISPLACEMENT",
];

/// A keyword that is carried over, with a parameter or data that are not.
struct Form {
    keyword: &'static str,
    model: &'static str,
    step: &'static str,
    says: &'static str,
}

/// A form that stands in the model.
const fn of_model(keyword: &'static str, model: &'static str, says: &'static str) -> Form {
    Form { keyword, model, step: PULL, says }
}

/// A form that stands in the step.
const fn of_step(keyword: &'static str, step: &'static str, says: &'static str) -> Form {
    Form { keyword, model: "", step, says }
}

const FORMS: [Form; 15] = [
    of_model(
        "*INITIAL CONDITIONS, TYPE=STRESS",
        "*INITIAL CONDITIONS, TYPE=STRESS\nPART, 1., 1., 1., 0., 0., 0.\n",
        "*INITIAL CONDITIONS, TYPE=STRESS (line",
    ),
    of_model(
        "*BOUNDARY, TYPE=VELOCITY",
        "*BOUNDARY, TYPE=VELOCITY\nEND, 1, 1, 1.\n",
        "*BOUNDARY, TYPE=VELOCITY (line",
    ),
    of_step(
        "*BOUNDARY, SUBMODEL",
        "*BOUNDARY, SUBMODEL\nEND, 1, 1\n*CLOAD\n12, 2, 1.\n",
        "*BOUNDARY, SUBMODEL (line",
    ),
    of_step(
        "*BOUNDARY, FIXED",
        "*BOUNDARY, FIXED\nEND, 1, 1\n*CLOAD\n12, 2, 1.\n",
        "*BOUNDARY, FIXED (line",
    ),
    of_step("*CLOAD, LOAD CASE", "*CLOAD, LOAD CASE=2\n12, 2, 1.\n", "*CLOAD, LOADCASE=2 (line"),
    of_step("*CLOAD of moments", "*CLOAD\n12, 4, 1.\n12, 2, 1.\n", "moments on nodes of solid"),
    of_step(
        "*DLOAD, other labels",
        "*DLOAD\nPART, BX, 1.\n*CLOAD\n12, 2, 1.\n",
        "load `BX` of *DLOAD",
    ),
    Form {
        keyword: "*AMPLITUDE, DEFINITION",
        model: "*AMPLITUDE, NAME=A, DEFINITION=PERIODIC\n1, 1., 0., 0.\n0., 1.\n",
        step: "*CLOAD, AMPLITUDE=A\n12, 2, 1.\n",
        says: "*AMPLITUDE with DEFINITION=PERIODIC",
    },
    of_model(
        "*SPRING, NONLINEAR",
        "*ELEMENT, TYPE=SPRING1, ELSET=S\n50, 12\n\
         *SPRING, ELSET=S, NONLINEAR\n2\n0., 0.\n1., 1.\n",
        "*SPRING (line",
    ),
    of_model(
        "*SPRING between nodes that move",
        "*ELEMENT, TYPE=SPRING2, ELSET=S\n50, 12, 11\n*SPRING, ELSET=S\n2, 2\n10.\n",
        "springs that are not between a solid and the ground",
    ),
    Form {
        keyword: "*TRANSFORM of held directions between x and y",
        model: "*TRANSFORM, NSET=END, TYPE=R\n1., 1., 0., -1., 1., 0.\n",
        step: "*BOUNDARY\nEND, 1, 1, 0.1\n*CLOAD\n12, 3, 1.\n",
        says: "in directions of *TRANSFORM that are none of x, y and z",
    },
    of_step(
        "*STATIC, RIKS",
        "*END STEP\n*STEP\n*STATIC, RIKS\n*CLOAD\n12, 2, 1.\n",
        "*STATIC, RIKS (line",
    ),
    of_model(
        "*ELASTIC, DEPENDENCIES",
        "*MATERIAL, NAME=X\n*ELASTIC, DEPENDENCIES=1\n1., 0.3\n",
        "*ELASTIC, DEPENDENCIES=1 (line",
    ),
    of_step(
        "*STEP, NLGEOM",
        "*END STEP\n*STEP, NLGEOM\n*STATIC\n*CLOAD\n12, 2, 1.\n",
        "*STEP, NLGEOM (line",
    ),
    of_step(
        "*STEP, PERTURBATION",
        "*END STEP\n*STEP, PERTURBATION\n*STATIC\n*CLOAD\n12, 2, 1.\n",
        "*STEP, PERTURBATION (line",
    ),
];

pub fn rows() -> Vec<Row> {
    let name = |keyword: &'static str| keyword.split(',').next().unwrap_or_default();
    let text = |keyword: &str, data: &str, rest: &str| -> &'static str {
        format!("{keyword}\n{data}{rest}").leak()
    };
    let said = |keyword: &'static str| Becomes::Said(format!("{} (line", name(keyword)).leak());
    let of_model = OF_MODEL
        .iter()
        .map(|(keyword, data)| row(name(keyword), text(keyword, data, ""), PULL, said(keyword)));
    let of_step = OF_STEP
        .iter()
        .map(|(keyword, data)| row(name(keyword), "", text(keyword, data, PULL), said(keyword)));
    let procedures = PROCEDURES.iter().map(|keyword| Row {
        base: NO_PROCEDURE,
        ..row(keyword, "", text(keyword, "", PULL), said(keyword))
    });
    let forms =
        FORMS.iter().map(|form| row(form.keyword, form.model, form.step, Becomes::Said(form.says)));
    let refused = Becomes::Refused("*NGEN creates or changes nodes");
    let made = "*NGEN, *NFILL, *NCOPY, *NMAP, *ELGEN, *ELCOPY";
    let made = row(made, "*NGEN\n1, 3, 1\n", PULL, refused);
    of_model.chain(of_step).chain(procedures).chain(forms).chain([made]).collect()
}
