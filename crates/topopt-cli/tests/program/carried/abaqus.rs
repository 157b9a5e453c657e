//! Keywords of Abaqus and CalculiX.

mod heat;
mod lost;
mod mechanics;

use super::{Becomes, Format, Row};

const REMARKS: &str = "\
What acts at one node, direction or face adds up within a step; in a later step it replaces what acted there before,
or all of it with `OP=NEW`. Each step is a load case with all that acts at its end. `AMPLITUDE` counts at the end of the step. A rigid
coupling that is loaded at its reference node is not rigid in the case; that is said.

### Optimizations of Tosca

`topopt init JOB.par` makes the case of the model that `FEM_INPUT` names, in the folder of the file or below it, and of what the
first `OPTIMIZE` names. Groups are sets of the model, or made by `GROUP_DEF`; systems of coordinates are those of `CS_DEF`.

| of the parameter file | becomes |
|---|---|
| `DV_TOPO` | the elements that are designed; all others are `solid` |
| `DVCON_TOPO` `FROZEN` | `solid` |
| `MIN_MEMBER`, `MAX_MEMBER` | `member_size`: `THICKNESS` is `minimum` or `maximum`, `DISTANCE` is `gap` |
| `CAST` | `casting` along `PULL_DIR`; `MID_PLANE = NONE` has one side, `AUTO` two, `AUTO_TIGHT` two and no hole through |
| `OVERHANG` | `overhang` along `PRINT_DIR`, with the `ANGLE` as it is, or 45 degrees |
| `MILLING` | `milling` from each `MILLING_DIR` |
| `LINK_TOPO` `PLANE_SYM` | `symmetry` |
| `LINK_TOPO` `ROTATION_SYM`, `CYCLIC_SYM` | `cyclic` by their `ANGLE`; with a `TRANSLATION` alone a `pattern` |
| `OBJ_FUNC` | `[objective]`; the sum of energies of several load cases by their weights |
| `CONSTRAINT` | `[[constraints]]` or `volume_fraction`; `REL` is a share of the full part |
| `DRESP` `STRAIN_ENERGY` | `compliance`, twice as much |
| `DRESP` `VOLUME`, `WEIGHT` | `volume`, a share; `mass` |
| `DRESP` `DISP_X`, `DISP_Y`, `DISP_Z`, `DISP_ABS` | `displacement` of one node |
| `LC_SET` | the load case of that number, in the order of the steps that have loads |
| `OPT_PARAM` | `filter.radius` by `TOPO_FILTER_RADIUS`; without `AUTO_FROZEN` `keep_loaded = \"free\"` |

Commands that only say how Tosca runs and what it writes are passed over; all else is said.";

pub fn format() -> Format {
    let rows = mechanics::rows().into_iter().chain(heat::rows()).chain(lost::rows());
    let name = "Abaqus and CalculiX";
    Format { name, file: "part.inp", remarks: REMARKS, rows: rows.collect() }
}

/// Two cubes of edge 1 along x, held at x = 0.
macro_rules! deck {
    ($material:literal, $held:literal, $procedure:literal) => {
        concat!(
            "*HEADING\ntwo cubes\n*NODE, NSET=ALL\n1, 0, 0, 0\n2, 1, 0, 0\n3, 2, 0, 0\n4, 0, 1, 0\n\
             5, 1, 1, 0\n6, 2, 1, 0\n7, 0, 0, 1\n8, 1, 0, 1\n9, 2, 0, 1\n10, 0, 1, 1\n11, 1, 1, 1\n\
             12, 2, 1, 1\n*ELEMENT, TYPE=C3D8, ELSET=PART\n1, 1, 2, 5, 4, 7, 8, 11, 10\n\
             2, 2, 3, 6, 5, 8, 9, 12, 11\n*NSET, NSET=WALL\n1, 4, 7, 10\n*NSET, NSET=END\n3, 6, 9, 12\n\
             *ELSET, ELSET=LAST\n2\n*SURFACE, NAME=FACE, TYPE=ELEMENT\n2, S4\n*MATERIAL, NAME=M\n",
            $material,
            "{model}",
            $held,
            "*STEP\n",
            $procedure,
            "{step}",
            "*END STEP\n"
        )
    };
}

const ELASTIC: &str = deck!(
    "*ELASTIC\n100., 0.25\n*DENSITY\n2.\n*SOLID SECTION, ELSET=PART, MATERIAL=M\n",
    "*BOUNDARY\nWALL, 1, 3\n",
    "*STATIC\n"
);
/// Without a material.
const BARE: &str = deck!("", "*BOUNDARY\nWALL, 1, 3\n", "*STATIC\n");
/// Without supports.
const LOOSE: &str = deck!(
    "*ELASTIC\n100., 0.25\n*DENSITY\n2.\n*SOLID SECTION, ELSET=PART, MATERIAL=M\n",
    "",
    "*STATIC\n"
);
/// Without a procedure.
const NO_PROCEDURE: &str = deck!(
    "*ELASTIC\n100., 0.25\n*DENSITY\n2.\n*SOLID SECTION, ELSET=PART, MATERIAL=M\n",
    "*BOUNDARY\nWALL, 1, 3\n",
    ""
);
const HEAT: &str = deck!(
    "*CONDUCTIVITY\n3.\n*DENSITY\n2.\n*SPECIFIC HEAT\n5.\n*SOLID SECTION, ELSET=PART, MATERIAL=M\n",
    "*BOUNDARY\nWALL, 11, 11, 0.\n",
    "*HEAT TRANSFER, STEADY STATE\n"
);
const HEAT_BARE: &str =
    deck!("", "*BOUNDARY\nWALL, 11, 11, 0.\n", "*HEAT TRANSFER, STEADY STATE\n");
/// A load that is there.
const PULL: &str = "*CLOAD\n12, 2, 1.\n";

/// A keyword in the model and what stands in the step.
fn row(keyword: &'static str, model: &'static str, step: &'static str, becomes: Becomes) -> Row {
    Row { keyword, base: ELASTIC, model, step, becomes }
}
