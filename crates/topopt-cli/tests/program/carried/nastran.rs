//! Entries of Nastran and OptiStruct.

use super::{Becomes, By, Format, Row, at, moves, relief};

const REMARKS: &str = "\
Loads that act at one grid or on one face of a load set add up. Each subcase is a load case. Forces and moments on the grid
of an RBE2 are spread over its grids, since it is not rigid here, which is said; an RBE2 whose grid is held in all components holds its
grids. Different pressures at the corners of a face are read as their mean, which is said. Of `SOL 153` the temperatures and
the heat are read. `PARAM` and case control that ask for output or control the solver are passed over.

### Optimizations of OptiStruct

| of the deck | becomes |
|---|---|
| `DTPL` of `PSOLID` | the elements that are designed; those of all other properties are `solid`, and `keep_loaded = \"free\"` |
| `MEMBSIZ`, `DOPTPRM, MINDIM` | `member_size`: `MINDIM` is `minimum`, `MAXDIM` is `maximum` and, as in OptiStruct, the least `gap` unless `MINGAP` is larger |
| `PATRN` 1, 2, 3 | one to three entries of `symmetry` |
| `PATRN` 10; 11 or 20 | `cyclic` by its repetitions; `mirrored` by the second point |
| `DRAW` `SINGLE`, `SPLIT`, `NOHOLE` | `casting` with `sides` 1 or 2, and `through_holes = false` with one side |
| `STAMP` with `DRAW` `SINGLE` | the `thickness` of `casting`, in place of the widths of `MEMBSIZ` |
| `EXTR` `NOTWIST` | `extrusion` along a `direction`, or the `path` of a curve |
| `DESOBJ` | `[objective]`, in the load case of its subcase |
| `DCONSTR` | `[[constraints]]` or `volume_fraction`, if `DESGLB` or `DESSUB` selects it, be it through `DCONADD`; in the load case of its `DESSUB` |
| `DRESP1` `VOLFRAC`, `VOLUME` | `volume`, a share |
| `DRESP1` `MASS`, `MASSFRAC` | `mass` |
| `DRESP1` `COMP`, `WCOMP` | `compliance`, twice as much: that of OptiStruct is an energy |
| `DRESP1` `DISP`, `TEMP` | `displacement` of each grid in x, y or z, or its size; `mean_temperature` |
| `WEIGHT` | `[[load_cases]]`, where `WCOMP` is asked for |

Volumes and masses may be those of properties or materials, each or their `SUM`. Points are grids or coordinates. Of a demand
that holds for some of several `DTPL` alone, and of all other responses, the case says that they are lost. Where the objective is lost the
case has an empty `[objective]`, and is refused until you give one.";

pub fn format() -> Format {
    let rows = nodal().into_iter().chain(others()).chain(heat()).chain(refused()).chain(said());
    let name = "Nastran and OptiStruct";
    Format { name, file: "part.bdf", remarks: REMARKS, rows: rows.collect() }
}

/// Two cubes of edge 1 along x, held at x = 0.
macro_rules! deck {
    ($solution:literal, $material:literal, $held:literal) => {
        concat!(
            $solution,
            "CEND\nSPC = 1\nLOAD = 2\n{model}BEGIN BULK\n\
             GRID,1,,0.,0.,0.\nGRID,2,,1.,0.,0.\nGRID,3,,2.,0.,0.\nGRID,4,,0.,1.,0.\n\
             GRID,5,,1.,1.,0.\nGRID,6,,2.,1.,0.\nGRID,7,,0.,0.,1.\nGRID,8,,1.,0.,1.\n\
             GRID,9,,2.,0.,1.\nGRID,10,,0.,1.,1.\nGRID,11,,1.,1.,1.\nGRID,12,,2.,1.,1.\n\
             CHEXA,1,1,1,2,5,4,7,8\n,11,10\nCHEXA,2,1,2,3,6,5,8,9\n,12,11\nPSOLID,1,1\n",
            $material,
            $held,
            "{step}ENDDATA\n"
        )
    };
}

const ELASTIC: &str = deck!("SOL 101\n", "MAT1,1,100.,,0.25,2.\n", "SPC1,1,123,1,4,7,10\n");
const BARE: &str = deck!("SOL 101\n", "", "SPC1,1,123,1,4,7,10\n");
const LOOSE: &str = deck!("SOL 101\n", "MAT1,1,100.,,0.25,2.\n", "");
const NO_SOLUTION: &str = deck!("", "MAT1,1,100.,,0.25,2.\n", "SPC1,1,123,1,4,7,10\n");
const HEAT: &str = deck!("SOL 153\n", "MAT4,1,3.\n", "SPC1,1,,1,4,7,10\n");
const HEAT_BARE: &str = deck!("SOL 153\n", "", "SPC1,1,,1,4,7,10\n");
/// Without material, and with next to no force.
const WARM: &str = deck!("SOL 101\n", "", "SPC1,1,123,1,4,7,10\nFORCE,2,12,,1.-20,0.,1.,0.\n");
/// A load that is there.
const PUSH: &str = "FORCE,2,12,,1.,0.,1.,0.\n";
/// Displacement of node 12 along y under it.
const PUSHED: f64 = 3.464724e-1;

fn row(keyword: &'static str, model: &'static str, step: &'static str, becomes: Becomes) -> Row {
    Row { keyword, base: ELASTIC, model, step, becomes }
}

/// Supports and forces at grids.
fn nodal() -> Vec<Row> {
    let force = |keyword, step| row(keyword, "", step, moves("`force`", 1, PUSHED));
    let held = |keyword, step| Row {
        base: LOOSE,
        ..row(keyword, "", step, moves("`[[supports]]`", 1, PUSHED))
    };
    vec![
        held("SPC", "SPC,1,1,123,,4,123\nSPC,1,7,123,,10,123\nFORCE,2,12,,1.,0.,1.,0.\n"),
        held("SPC1", "SPC1,1,123,1,THRU,10,BY,3\nFORCE,2,12,,1.,0.,1.,0.\n"),
        held("SPCADD", "SPC1,7,123,1,4\nSPC1,8,123,7,10\nSPCADD,1,7,8\nFORCE,2,12,,1.,0.,1.,0.\n"),
        held(
            "RBE2 that is held",
            "GRID,20,,-1.,0.5,0.5\nRBE2,90,20,123456,1,4,7,10\nSPC1,1,123456,20\nFORCE,2,12,,1.,0.,1.,0.\n",
        ),
        row(
            "SPC other than 0",
            "",
            "SPC,1,3,1,0.1,6,1,0.1\nSPC,1,9,1,0.1,12,1,0.1\nFORCE,2,12,,1.-20,0.,1.,0.\n",
            moves("`displacement`", 1, -6.060606e-3),
        ),
        force("FORCE", PUSH),
        force("FORCE twice", "FORCE,2,12,,0.5,0.,1.,0.\nFORCE,2,12,,0.5,0.,1.,0.\n"),
        force(
            "FORCE in a system (CORD2R)",
            "CORD2R,5,,0.,0.,0.,1.,0.,0.\n,0.,1.,0.\nFORCE,2,12,5,1.,1.,0.,0.\n",
        ),
        force("CORD1R", "CORD1R,5,1,2,4\nFORCE,2,12,5,1.,1.,0.,0.\n"),
        force("CORD2C", "CORD2C,5,,2.,0.,1.,2.,0.,2.\n,3.,0.,1.\nFORCE,2,12,5,1.,1.,0.,0.\n"),
        force("CORD2S", "CORD2S,5,,2.,0.,1.,2.,0.,2.\n,3.,0.,1.\nFORCE,2,12,5,1.,1.,0.,0.\n"),
        force("FORCE1", "FORCE1,2,12,1.,3,6\n"),
        force("FORCE2", "FORCE2,2,12,1.,1,7,1,2\n"),
        force("LOAD", "FORCE,5,12,,4.,0.,1.,0.\nLOAD,2,0.5,0.5,5\n"),
        force("LOADADD", "FORCE,5,12,,4.,0.,1.,0.\nLOADADD,2,0.5,0.5,5\n"),
        row(
            "SUBCASE",
            "SUBCASE 1\nLABEL = push\nLOAD = 5\n",
            "FORCE,5,12,,1.,0.,1.,0.\n",
            moves("`case`", 1, PUSHED),
        ),
    ]
}

/// Loads on faces and elements, materials, parameters, elements.
fn others() -> Vec<Row> {
    let of_material = |keyword, step| Row {
        base: BARE,
        ..row(keyword, "", step, moves("`[material]`", 1, PUSHED))
    };
    let gravity = |keyword, step| row(keyword, "", step, moves("`gravity`", 1, -4.025548));
    let warm = |keyword, step| Row {
        base: WARM,
        ..row(keyword, "TEMPERATURE(LOAD) = 4\n", step, moves("`temperature`", 0, 2.235294e-1))
    };
    let relieved = |keyword, step| Row { base: LOOSE, ..row(keyword, "", step, relief()) };
    vec![
        relieved(
            "PARAM,INREL,-2",
            "PARAM,INREL,-2\nSPC1,1,123,1\nSPC1,1,23,3\nSPC1,1,3,4\nFORCE,2,12,,1.,0.,1.,0.\n",
        ),
        relieved(
            "PARAM,INREL,-1 with SUPORT",
            "PARAM,INREL,-1\nSUPORT,3,23,4,3\nSPC1,1,123,1\nFORCE,2,12,,1.,0.,1.,0.\n",
        ),
        warm("MAT1, TEMPD, TEMPERATURE(LOAD)", "MAT1,1,100.,,0.25,,0.001,20.\nTEMPD,4,120.\n"),
        warm(
            "TEMP",
            "MAT1,1,100.,,0.25,,0.001\nTEMP,4,1,100.,2,100.,3,100.\nTEMP,4,4,100.,5,100.,6,100.\n\
             TEMP,4,7,100.,8,100.,9,100.\nTEMP,4,10,100.,11,100.,12,100.\n",
        ),
        Row {
            base: WARM,
            ..row(
                "MAT1 of two reference temperatures",
                "TEMPERATURE(LOAD) = 4\n",
                "GRID,13,,3.,0.,0.\nGRID,14,,3.,1.,0.\nGRID,15,,3.,0.,1.\nGRID,16,,3.,1.,1.\n\
                 CHEXA,3,2,3,13,14,6,9,15\n,16,12\nPSOLID,2,2\nMAT1,1,100.,,0.25,,0.001,20.\n\
                 MAT1,2,100.,,0.25,,0.001,70.\nTEMPD,4,120.\n",
                moves("`reference_temperature`", 0, 2.282828e-1),
            )
        },
        row("PLOAD4", "", "PLOAD4,2,2,1.,,,,3,12\n", moves("`pressure`", 0, -1.941176e-2)),
        row(
            "PLOAD4 three times",
            "",
            "PLOAD4,2,2,1.,,,,3,12\nPLOAD4,2,2,1.,,,,3,12\nPLOAD4,2,2,0.5,,,,3,12\n",
            moves("`pressure`", 0, -4.852941e-2),
        ),
        row(
            "PLOAD4 in a direction",
            "",
            "PLOAD4,2,2,1.,,,,3,12\n,,0.,1.,0.\n",
            moves("`traction`", 1, 2.444728e-1),
        ),
        gravity("GRAV", "GRAV,2,,9.81,0.,-1.,0.\n"),
        gravity(
            "GRAV in a system",
            "CORD2R,5,,0.,0.,0.,1.,0.,0.\n,0.,1.,0.\nGRAV,2,5,9.81,-1.,0.,0.\n",
        ),
        gravity("PARAM,WTMASS", "PARAM,WTMASS,0.5\nGRAV,2,,19.62,0.,-1.,0.\n"),
        row(
            "RFORCE",
            "",
            "RFORCE,2,,,0.4774648293,0.,0.,1.\n",
            moves("`angular_velocity`", 0, -7.657019e-2),
        ),
        of_material("MAT1", "MAT1,1,100.,,0.25\nFORCE,2,12,,1.,0.,1.,0.\n"),
        of_material("MAT1 by E and G", "MAT1,1,100.,40.\nFORCE,2,12,,1.,0.,1.,0.\n"),
        Row {
            base: BARE,
            ..row(
                "MAT9",
                "",
                "MAT9,1,120.,40.,40.,,,,60.\n,40.,,,,120.,,,\n,40.,,,40.,,40.\nFORCE,2,12,,1.,0.,1.,0.\n",
                moves("`anisotropic`", 1, 3.620075e-1),
            )
        },
        Row {
            base: BARE,
            ..row(
                "MAT11",
                "",
                "MAT11,1,100.,40.,20.,0.25,0.3,0.2,30.\n,15.,10.\nFORCE,2,12,,1.,0.,1.,0.\n",
                moves("`orthotropic`", 1, 5.109856e-1),
            )
        },
        Row {
            base: WARM,
            ..row(
                "MAT11 that expands",
                "TEMPERATURE(LOAD) = 4\n",
                "MAT11,1,100.,40.,20.,0.25,0.3,0.2,30.\n,15.,10.,,0.001,0.002,0.0005,20.\nTEMPD,4,120.\n",
                moves("three of `thermal_expansion`", 1, 9.649579e-2),
            )
        },
        of_material(
            "MAT9 that is isotropic",
            "MAT9,1,120.,40.,40.,,,,120.\n,40.,,,,120.,,,\n,40.,,,40.,,40.\nFORCE,2,12,,1.,0.,1.,0.\n",
        ),
    ]
}

/// Temperatures.
fn heat() -> Vec<Row> {
    let hot = |keys, value| at(keys, "temperature", (12, 0), value, By::Hand);
    let of = |keyword, step, becomes| Row { base: HEAT, ..row(keyword, "", step, becomes) };
    // Both cubes have a section of 1: a heat of 1 rises by 2/3 over them.
    let rise = 2.0 / 3.0;
    let grids = "SLOAD,2,3,0.25,6,0.25,9,0.25\nSLOAD,2,12,0.25\n";
    vec![
        of("SOL 153", grids, hot("`kind = \"heat\"`", rise)),
        of("SLOAD", grids, hot("`from_mesh`", rise)),
        of("QHBDY", "QHBDY,2,AREA4,1.,,3,6,12,9\n", hot("`heat_flux`", rise)),
        of("QVOL", "QVOL,2,0.5,,1,2\n", hot("`heat_source`", rise / 2.0)),
        of(
            "SPC of a temperature",
            "SPC,1,3,,5.,6,,5.\nSPC,1,9,,5.,12,,5.\nSLOAD,2,2,1.-20\n",
            at("`temperature`", "temperature", (2, 0), 2.5, By::Hand),
        ),
        Row {
            base: HEAT_BARE,
            ..of(
                "MAT5",
                "MAT5,1,6.,,,1.,,1.\nQHBDY,2,AREA4,1.,,3,6,12,9\n",
                hot("three of `conductivity`", rise / 2.0),
            )
        },
    ]
}

fn refused() -> Vec<Row> {
    let material = |keyword, step| Row {
        base: BARE,
        ..row(keyword, "", step, Becomes::Refused("is not understood"))
    };
    vec![
        material(
            "MAT11 without G13 and G23",
            "MAT11,1,100.,10.,10.,0.25,0.25,0.25,5.\nFORCE,2,12,,1.,0.,1.,0.\n",
        ),
        material("MAT3", "MAT3,1,100.,10.,10.,0.25,0.25,0.25,2.\nFORCE,2,12,,1.,0.,1.,0.\n"),
        material("MATHP", "MATHP,1,1.,1.\nFORCE,2,12,,1.,0.,1.,0.\n"),
        row("BEGIN SUPER", "", "BEGIN SUPER=1\n", Becomes::Refused("superelements")),
    ]
}

/// Entries and lines of case control that are said, besides a load that is there.
const SAID: [(&str, &str, &str); 65] = [
    ("TEMPERATURE(LOAD) that is not there", "TEMPERATURE(LOAD) = 4\n", "MAT1,1,9.,,0.2,,0.1\n"),
    (
        "TEMP of some grids without TEMPD",
        "TEMPERATURE(LOAD) = 4\n",
        "MAT1,1,9.,,0.2,,0.1\nTEMP,4,3,100.\n",
    ),
    (
        "MAT1 of two reference temperatures at grids of different temperatures",
        "TEMPERATURE(LOAD) = 4\n",
        "GRID,13,,3.,0.,0.\nGRID,14,,3.,1.,0.\nGRID,15,,3.,0.,1.\nGRID,16,,3.,1.,1.\n\
         CHEXA,3,2,3,13,14,6,9,15\n,16,12\nPSOLID,2,2\nMAT1,1,100.,,0.25,,0.001,20.\n\
         MAT1,2,100.,,0.25,,0.001,70.\nTEMPD,4,120.\nTEMP,4,3,100.\n",
    ),
    ("TEMPERATURE(INITIAL)", "TEMPERATURE(INITIAL) = 4\n", ""),
    ("MPC", "", "MPC,5,3,2,1.,6,2,-1.\n"),
    ("MPCADD", "", "MPCADD,9,5\n"),
    ("RBAR", "", "RBAR,90,3,6,123456\n"),
    ("RROD", "", "RROD,90,3,6,1\n"),
    ("RBE1", "", "RBE1,90,3,123456\n"),
    (
        "RBE2 with a load",
        "",
        "GRID,20,,3.,0.5,0.5\nRBE2,90,20,123456,3,6,9,12\nFORCE,2,20,,1.,0.,1.,0.\n",
    ),
    (
        "RBE3 of different weights",
        "",
        "GRID,20,,3.,0.5,0.5\nRBE3,90,,20,123,1.,123,3,6\n,2.,123,9,12\n",
    ),
    ("CELAS1", "", "CELAS1,90,9,12,2\n"),
    ("CELAS2", "", "CELAS2,90,5.,12,2\n"),
    ("CBUSH", "", "CBUSH,90,9,12\n"),
    ("CONM2", "", "CONM2,90,12,,5.\n"),
    ("CBAR", "", "CBAR,90,9,3,6,1.,0.,0.\n"),
    ("CQUAD4", "", "CQUAD4,90,9,3,6,12,9\n"),
    ("CGAP", "", "CGAP,90,9,3,6\n"),
    ("SPCD", "", "SPCD,2,12,2,0.1\n"),
    ("PLOAD", "", "PLOAD,2,1.,3,6,12,9\n"),
    ("PLOAD1", "", "PLOAD1,2,90,FY,LE,0.,1.,1.,1.\n"),
    ("PLOAD2", "", "PLOAD2,2,1.,90\n"),
    ("PLOAD4 of different corners", "", "PLOAD4,2,2,1.,2.,3.,4.,3,12\n"),
    ("PLOADX1", "", "PLOADX1,2,2,1.,1.,3,6\n"),
    ("MOMENT", "", "MOMENT,2,12,,1.,0.,0.,1.\n"),
    ("MOMENT1", "", "MOMENT1,2,12,1.,3,6\n"),
    ("ACCEL", "", "ACCEL,2,,0.,1.,0.,Z\n"),
    ("ACCEL1", "", "ACCEL1,2,,9.81,0.,1.,0.\n,1,THRU,12\n"),
    ("TLOAD1", "", "TLOAD1,2,3,,,5\n"),
    ("DLOAD", "", "DLOAD,2,1.,1.,3\n"),
    ("LSEQ", "", "LSEQ,2,3,4\n"),
    ("DEFORM", "", "DEFORM,2,90,0.1\n"),
    ("SUPORT", "", "SUPORT,12,2\n"),
    ("SUPORT1", "", "SUPORT1,2,12,2\n"),
    ("DMIG", "", "DMIG,K2GG,0,6,1,0\n"),
    ("GENEL", "", "GENEL,90\n"),
    ("MATT1", "", "MATT1,1,5\n"),
    ("MATT9", "", "MATT9,1,5\n"),
    ("MATS1", "", "MATS1,1,,PLASTIC,0.,1,1,1.\n"),
    ("BCTABLE", "", "BCTABLE,1\n"),
    ("BSURF", "", "BSURF,1,2\n"),
    ("PARAM,LGDISP", "", "PARAM,LGDISP,1\n"),
    ("PARAM of another name", "", "PARAM,FOOBAR,1\n"),
    ("SUBCOM", "SUBCOM 3\nSUBSEQ = 1.0\n", ""),
    ("K2GG", "K2GG = KMAT\n", ""),
    ("STATSUB", "STATSUB = 1\n", ""),
    ("DEFORM of case control", "DEFORM = 3\n", ""),
    ("ANALYSIS", "ANALYSIS = MODES\n", ""),
    (
        "SPC of turned directions",
        "",
        "CORD2R,5,,0.,0.,0.,0.,0.,1.\n,1.,1.,0.\nGRID,20,,9.,9.,9.,5\nSPC1,1,1,20\n",
    ),
    ("QVOL in elasticity", "", "QVOL,2,1.,,1\n"),
    ("CHBDYG", "", "CHBDYG,90,,AREA4\n,,,,,,,,\n"),
    ("CONV", "", "CONV,90,1\n"),
    ("DCONSTR of stress", "DESGLB = 4\n", "DTPL,1,PSOLID,1\nDRESP1,3,s,STRESS\nDCONSTR,4,3,,1.\n"),
    ("DCONSTR that nothing selects", "", "DTPL,1,PSOLID,1\nDRESP1,3,v,VOLFRAC\nDCONSTR,4,3,,1.\n"),
    ("DESOBJ of a frequency", "DESOBJ = 3\n", "DTPL,1,PSOLID,1\nDRESP1,3,f,FREQ,,,1\n"),
    ("MINMAX", "MINMAX = 3\n", "DTPL,1,PSOLID,1\n"),
    ("DRESP2", "DESOBJ = 3\n", "DTPL,1,PSOLID,1\nDRESP2,3,sum,1\n"),
    ("DTPL of shells", "", "DTPL,1,PSHELL,1\n"),
    ("DTPL with NOHOLE of two sides", "", "DTPL,1,PSOLID,1\n,DRAW,SPLIT,1,,,7\n,NOHOLE\n"),
    ("DTPL with OVERHANG", "", "DTPL,1,PSOLID,1\n,OVERHANG,45.\n"),
    ("DTPL with STAMP of two sides", "", "DTPL,1,PSOLID,1\n,DRAW,SPLIT,1,,,7\n,STAMP,1.\n"),
    ("DTPL with STRESS", "", "DTPL,1,PSOLID,1\n,STRESS,1.\n"),
    ("DTPL with a twisted EXTR", "", "DTPL,1,PSOLID,1\n,EXTR,TWIST\n,EPATH1,1,7\n"),
    ("DTPL with uniform PATRN", "", "DTPL,1,PSOLID,1\n,PATRN,9\n"),
    ("an entry that is not known", "", "FOOBAR,1,2\n"),
];

fn said() -> Vec<Row> {
    let what = |keyword: &'static str| match keyword {
        "TEMPERATURE(LOAD) that is not there" => "temperatures 4 of load case",
        "TEMP of some grids without TEMPD" => "the temperatures of 11 nodes in load case",
        "MAT1 of two reference temperatures at grids of different temperatures" => {
            "several reference temperatures of materials"
        }
        "TEMPERATURE(INITIAL)" => "TEMPERATURE of the control sections",
        "RBE2 with a load" => "RBE2 that are not rigid here",
        "RBE3 of different weights" => "its grids count equally",
        "PLOAD4 of different corners" => "PLOAD4 that vary over a face",
        "MOMENT" | "MOMENT1" => "moments on grids, which have no rotations",
        "PARAM of another name" => "PARAM,FOOBAR",
        "DEFORM of case control" => "DEFORM of the control sections",
        "ANALYSIS" => "ANALYSIS MODES",
        "SPC of turned directions" => "holds grids that no solid uses",
        "QVOL in elasticity" => "QVOL entries in an elastic part",
        "DCONSTR of stress" => "the limit DCONSTR 4",
        "DCONSTR that nothing selects" => "the limits DCONSTR: neither DESGLB nor DESSUB",
        "DESOBJ of a frequency" => "the objective DESOBJ = 3, the response 3 (FREQ)",
        "MINMAX" => "the objective MINMAX = 3: it is not understood",
        "DRESP2" => "the objective DESOBJ = 3, the response 3 (DRESP2)",
        "DTPL of shells" => "DTPL of PSHELL, which is not PSOLID",
        "DTPL with NOHOLE of two sides" => "NOHOLE of DTPL 1, as a mold of two sides",
        "DTPL with a twisted EXTR" => "DTPL with EXTR that is not NOTWIST",
        "DTPL with uniform PATRN" => "DTPL with PATRN 9",
        "an entry that is not known" => "FOOBAR on line",
        other => other,
    };
    let mut rows = Vec::new();
    for (keyword, control, bulk) in SAID {
        let mut said = row(keyword, control, bulk, Becomes::Said(what(keyword)));
        said.base = LOADED;
        rows.push(said);
    }
    for (keyword, control, said) in [
        ("SOL 103", "SOL 103\nSPC = 1\n", "SOL 103, computed as static"),
        ("SOL 106", "SOL 106\nSPC = 1\n", "SOL 106, computed as static"),
    ] {
        let becomes = Becomes::Said(said);
        rows.push(Row { base: NO_SOLUTION, ..row(keyword, control, PUSH, becomes) });
    }
    rows
}

/// With a force.
const LOADED: &str =
    deck!("SOL 101\n", "MAT1,1,100.,,0.25,2.\n", "SPC1,1,123,1,4,7,10\nFORCE,2,12,,1.,0.,1.,0.\n");
