//! Commands of Ansys.

use super::{Becomes, By, Format, Row, at, moves, relief};

const REMARKS: &str = "\
A later command replaces what an earlier one gave, adds to it (`DCUM`, `FCUM`, `SFCUM`) or deletes it. Properties of several
temperatures are taken at that of the part (`TUNIF`, else `TREF`); that there are others is said. Different pressures at the corners of a
face are read as their mean, which is said. Of several load steps the state at the end of the file is read. A region of
`CERIG` whose master is held holds its nodes; a load on the master is spread over them, which is said. Commands that make or change the
mesh, such as `NGEN`, are refused.";

pub fn format() -> Format {
    let rows = nodal().into_iter().chain(others()).chain(heat()).chain(refused()).chain(said());
    Format { name: "Ansys", file: "part.cdb", remarks: REMARKS, rows: rows.collect() }
}

/// Two cubes of edge 1 along x, held at x = 0.
macro_rules! deck {
    ($material:literal, $held:literal) => {
        concat!(
            "/PREP7\n",
            $material,
            "N,1,0,0,0\nN,2,1,0,0\nN,3,2,0,0\nN,4,0,1,0\nN,5,1,1,0\nN,6,2,1,0\nN,7,0,0,1\n\
             N,8,1,0,1\nN,9,2,0,1\nN,10,0,1,1\nN,11,1,1,1\nN,12,2,1,1\n\
             E,1,2,5,4,7,8,11,10\nE,2,3,6,5,8,9,12,11\n",
            "{model}",
            $held,
            "/SOLU\n{step}SOLVE\nFINISH\n"
        )
    };
}

const ELASTIC: &str =
    deck!("ET,1,185\nMP,EX,1,100\nMP,PRXY,1,0.25\nMP,DENS,1,2\n", "D,1,ALL,0,,10,3\n");
const BARE: &str = deck!("ET,1,185\n", "D,1,ALL,0,,10,3\n");
const LOOSE: &str = deck!("ET,1,185\nMP,EX,1,100\nMP,PRXY,1,0.25\nMP,DENS,1,2\n", "");
const HEAT: &str = deck!("ET,1,70\nMP,KXX,1,3\n", "D,1,TEMP,0,,10,3\n");
const HEAT_BARE: &str = deck!("ET,1,70\n", "D,1,TEMP,0,,10,3\n");
/// A load that is there.
const PUSH: &str = "F,12,FY,1\n";
/// Displacements of node 12 under it.
const PUSHED: f64 = 3.464724e-1;

fn row(keyword: &'static str, model: &'static str, step: &'static str, becomes: Becomes) -> Row {
    Row { keyword, base: ELASTIC, model, step, becomes }
}

/// Keywords for forces, displacements and supports at nodes.
fn nodal() -> Vec<Row> {
    let force = |keyword, step| row(keyword, "", step, moves("`force`", 1, PUSHED));
    let moved = |keyword, step| row(keyword, "", step, moves("`displacement`", 1, -6.060606e-3));
    let held = |keyword, model| Row {
        base: LOOSE,
        ..row(keyword, model, PUSH, moves("`[[supports]]`", 1, PUSHED))
    };
    vec![
        held("D,ALL", "D,1,ALL\nD,4,ALL\nD,7,ALL\nD,10,ALL\n"),
        held("D of a range", "D,1,UX,0,,10,3\nD,1,UY,0,,10,3\nD,1,UZ,0,,10,3\n"),
        held("D of several labels", "D,1,UX,0,,10,3,UY,UZ\n"),
        held("NSEL, D of what is selected", "NSEL,S,LOC,X,0\nD,ALL,ALL\nALLSEL\n"),
        held(
            "CM, CMSEL",
            "NSEL,S,NODE,,1,10,3\nCM,WALL,NODE\nNSEL,ALL\nCMSEL,S,WALL\nD,ALL,ALL,0\nCMSEL,ALL\n",
        ),
        held(
            "D of a component",
            "CMBLOCK,_FIXEDSU,NODE,4\n(8i10)\n         1         4         7        10\nD,_FIXEDSU,ALL\n",
        ),
        row("DDELE", "D,12,ALL\n", "DDELE,12,ALL\nF,12,FY,1\n", moves("nothing", 1, PUSHED)),
        moved("D other than 0", "D,3,UX,0.1,,12,3\n"),
        moved("DCUM", "DCUM,ADD\nD,3,UX,0.06,,12,3\nD,3,UX,0.04,,12,3\n"),
        row(
            "D behind D,ALL",
            "",
            "D,3,ALL,0,,12,3\nD,3,UX,0.1,,12,3\n",
            at("both", "displacement", (2, 0), 0.05, By::Hand),
        ),
        force("F", PUSH),
        force("F twice", "F,12,FY,3\nF,12,FY,1\n"),
        force("FCUM", "FCUM,ADD\nF,12,FY,0.25\nF,12,FY,0.75\n"),
        force("FDELE", "F,6,FX,3\nF,12,FY,1\nFDELE,6,ALL\n"),
        force("*SET", "*SET,SIZE,1\nWHERE=12\nF,WHERE,FY,SIZE\n"),
        row("F of a range", "", "F,3,FY,1,,12,3\n", moves("`force`", 1, 9.778914e-1)),
        row(
            "N with angles",
            "N,R5.3,ANG,12,30.0\n",
            "F,12,FX,1\n",
            moves("`force`", 0, 6.283743e-2),
        ),
        row(
            "LSCLEAR",
            "",
            "F,6,FX,3\nACEL,1\nLSCLEAR,INER\nFDELE,ALL\nF,12,FY,1\n",
            moves("nothing", 1, PUSHED),
        ),
    ]
}

/// Loads on faces and elements, and materials.
fn others() -> Vec<Row> {
    let pressed = |keyword, step| row(keyword, "", step, moves("`pressure`", 0, -1.941176e-2));
    let of_material = |keyword, model| Row {
        base: BARE,
        ..row(keyword, model, PUSH, moves("`[material]`", 1, PUSHED))
    };
    let warm = |keyword, model, step, component, value| Row {
        base: ELASTIC,
        ..row(keyword, model, step, moves("`temperature`", component, value))
    };
    let anisotropic = |keyword, model| Row {
        base: BARE,
        ..row(keyword, model, PUSH, moves("`anisotropic`", 1, 8.526767e-1))
    };
    let hold = "D,1,ALL\nD,3,UY,0,,,,UZ\nD,4,UZ\n";
    let (alpha, by) = ("MP,ALPX,1,0.001\nTREF,20\n", 2.235294e-1);
    vec![
        Row { base: LOOSE, ..row("IRLF,1", hold, "IRLF,1\nF,12,FY,1\n", relief()) },
        warm("MP,ALPX, BFUNIF", alpha, "BFUNIF,TEMP,120\n", 0, by),
        warm("TUNIF, TREF", alpha, "TUNIF,120\n", 0, by),
        warm("BF,TEMP", alpha, "BF,ALL,TEMP,120\n", 0, by),
        warm(
            "MP,ALPX, ALPY, ALPZ",
            "MP,ALPX,1,0.001\nMP,ALPY,1,0.002\nMP,ALPZ,1,0.0005\n",
            "TUNIF,100\n",
            1,
            9.411765e-2,
        ),
        warm(
            "MP,REFT",
            "MP,ALPX,1,0.001\nMP,EX,2,100\nMP,PRXY,2,0.25\nMP,ALPX,2,0.001\nMP,REFT,2,70\nTREF,20\n\
             N,13,3,0,0\nN,14,3,1,0\nN,15,3,0,1\nN,16,3,1,1\nMAT,2\nE,3,13,14,6,9,15,16,12\n",
            "TUNIF,120\n",
            0,
            2.282828e-1,
        ),
        pressed("SFE,PRES", "SFE,2,3,PRES,,1\n"),
        pressed("SFE,PRES of the corners", "SFE,2,3,PRES,1,R5.0\n 1.0 1.0 1.0 1.0\n"),
        pressed("SFE twice", "SFE,2,3,PRES,,10\nSFE,2,3,PRES,,1\n"),
        pressed("SFCUM", "SFCUM,PRES,ADD\nSFE,2,3,PRES,,0.75\nSFE,2,3,PRES,,0.25\n"),
        pressed("SFEDELE", "SFE,2,6,PRES,,7\nSFE,2,3,PRES,,1\nSFEDELE,ALL,6,PRES\n"),
        pressed("SF", "NSEL,S,LOC,X,2\nSF,ALL,PRES,1\nALLSEL\n"),
        pressed("ESEL", "ESEL,S,ELEM,,2\nSFE,ALL,3,PRES,,1\nESEL,ALL\n"),
        row(
            "COMBIN14 to the ground",
            "ET,2,14,0,2\nR,2,5\nN,20,2,5,1\nTYPE,2\nREAL,2\nE,12,20\nD,20,ALL\n",
            PUSH,
            moves("`[[springs]]`", 1, 1.268033e-1),
        ),
        row("ACEL", "", "ACEL,0,9.81,0\n", moves("`gravity`", 1, -4.025548)),
        row("OMEGA", "", "OMEGA,0,0,3\n", moves("`angular_velocity`", 0, -7.657019e-2)),
        of_material("MP,EX", "MP,EX,1,100\nMP,NUXY,1,0.25\n"),
        of_material(
            "MPDATA",
            "MPTEMP,R5.0,1,1,0.0,\nMPDATA,R5.0,1,EX,1,1,100.0,\nMPDATA,R5.0,1,PRXY,1,1,0.25,\n",
        ),
        Row {
            base: BARE,
            ..row(
                "MP,EX, EY, EZ, GXY, GYZ, GXZ",
                "MP,EX,1,100\nMP,EY,1,40\nMP,EZ,1,20\nMP,PRXY,1,0.25\nMP,NUXZ,1,0.06\n\
                 MP,PRYZ,1,0.2\nMP,GXY,1,30\nMP,GXZ,1,15\nMP,GYZ,1,10\n",
                PUSH,
                moves("`orthotropic`", 1, 5.109856e-1),
            )
        },
        anisotropic(
            "TB,ANEL",
            "TB,ANEL,1,1,21,0\nTBTEMP,0\nTBDATA,1,55.3,13.7,14.4,14.9,-5.4,-16.2\n\
             TBDATA,7,55,7.1,16.5,-1.2,-1.4,36.4\nTBDATA,,1.3,-1.5,-12.6,25.6,-6.7,-3.4\n\
             TBDATA,19,17.6,4.8,22.6\n",
        ),
        anisotropic(
            "TB,ANEL from stresses to strains",
            "MP,EX,1,7\nMP,PRXY,1,0.2\nTB,ANEL,1,1,21,1\n\
             TBDATA,1,2.7682482883e-02,-2.0701779622e-03,-4.8282869064e-03\n\
             TBDATA,4,-1.2786122824e-02,-1.1088829416e-03,1.5335016772e-02\n\
             TBDATA,7,2.3791103818e-02,-4.8865196635e-03,-1.5536394691e-02\n\
             TBDATA,10,-4.2042383442e-03,-4.1788886416e-03,3.6147921126e-02\n\
             TBDATA,13,6.1470824433e-03,-1.1844108956e-03,1.7565915194e-02\n\
             TBDATA,16,6.1020371274e-02,1.9207276733e-02,-1.5999367041e-03\n\
             TBDATA,19,6.6960709141e-02,-1.3047791044e-02,6.7305175720e-02\n",
        ),
        of_material(
            "MP,EX, EY and EZ that are equal",
            "MP,EX,1,100\nMP,EY,1,100\nMP,EZ,1,100\nMP,PRXY,1,0.25\nMP,GXY,1,40\n",
        ),
    ]
}

/// Elements that conduct heat.
fn heat() -> Vec<Row> {
    let hot = |keys, value| at(keys, "temperature", (12, 0), value, By::Hand);
    let of = |keyword, step, becomes| Row { base: HEAT, ..row(keyword, "", step, becomes) };
    // Both cubes have a section of 1: a heat of 1 rises by 2/3 over them.
    let rise = 2.0 / 3.0;
    vec![
        of("F,HEAT", "F,3,HEAT,0.25,,12,3\n", hot("`total_heat`", rise)),
        of("SFE,HFLUX", "SFE,2,3,HFLUX,,1\n", hot("`heat_flux`", rise)),
        of(
            "SFE,CONV",
            "SFE,2,3,CONV,0,10\nSFE,2,3,CONV,2,2\n",
            hot("`[[convection]]`", 40.0 / 23.0),
        ),
        of("BFE,HGEN", "BFE,ALL,HGEN,1,0.5\n", hot("`heat_source`", rise / 2.0)),
        of(
            "D,TEMP",
            "D,3,TEMP,5,,12,3\n",
            at("`temperature`", "temperature", (2, 0), 2.5, By::Hand),
        ),
        Row {
            base: HEAT_BARE,
            model: "MP,KXX,1,6\nMP,KYY,1,1\nMP,KZZ,1,1\n",
            ..of(
                "MP,KXX, KYY, KZZ",
                "F,3,HEAT,0.25,,12,3\n",
                hot("three of `conductivity`", rise / 2.0),
            )
        },
    ]
}

fn refused() -> Vec<Row> {
    let material = |keyword, model| Row {
        base: BARE,
        ..row(keyword, model, PUSH, Becomes::Refused("is not understood"))
    };
    let mesh = |keyword, model| row(keyword, model, PUSH, Becomes::Refused("changes the mesh"));
    vec![
        material(
            "MP,EX, EY and EZ without GXY",
            "MP,EX,1,100\nMP,EY,1,10\nMP,EZ,1,10\nMP,PRXY,1,0.25\n",
        ),
        material("TB,ANEL of some constants", "TB,ANEL,1\nTBDATA,1,100,25,25\n"),
        material(
            "TB,ANEL of two temperatures",
            "TB,ANEL,1,2\nTBTEMP,0\nTBDATA,1,100\nTBTEMP,50\nTBDATA,1,90\n",
        ),
        material("TB,HYPER", "TB,HYPER,1,1,2,MOONEY\nTBDATA,1,1,1\n"),
        mesh("NGEN", "NGEN,2,100,ALL,,,0,0,5\n"),
        mesh("EGEN", "EGEN,2,100,ALL\n"),
        mesh("NUMMRG", "NUMMRG,NODE\n"),
        mesh("EDELE", "EDELE,2\n"),
        mesh("VMESH", "VMESH,ALL\n"),
        row(
            "N with CSYS",
            "CSYS,1\nN,13,1,90,0\n",
            PUSH,
            Becomes::Refused("another coordinate system"),
        ),
    ]
}

/// Commands that are said, besides a load that is there.
const SAID: [(&str, &str); 46] = [
    ("CE", "CE,1,0,3,UY,1,6,UY,-1\n"),
    ("CERIG of rotations", "CERIG,3,6,RXYZ\n"),
    ("COMBIN14", "ET,2,14\nR,2,5\nTYPE,2\nREAL,2\nE,12,1\n"),
    ("MASS21", "ET,2,21\nR,2,5\nTYPE,2\nREAL,2\nE,12\n"),
    ("CP", "CP,1,UY,3,6\n"),
    ("RBE3", "RBE3,3,ALL,6\n"),
    ("CMACEL", "CMACEL,PART,0,9810,0\n"),
    ("CMOMEGA", "CMOMEGA,PART,0,0,5\n"),
    ("CMDOMEGA", "CMDOMEGA,PART,0,0,5\n"),
    ("CGLOC", "CGLOC,1,1,1\n"),
    ("CGOMGA", "CGOMGA,0,0,5\n"),
    ("DOMEGA", "DOMEGA,0,0,5\n"),
    (
        "MP,REFT at nodes of different temperatures",
        "MP,ALPX,1,0.001\nMP,EX,2,100\nMP,ALPX,2,0.001\nMP,REFT,2,70\nN,13,3,0,0\nN,14,3,1,0\n\
         N,15,3,0,1\nN,16,3,1,1\nMAT,2\nE,3,13,14,6,9,15,16,12\nBF,3,TEMP,50\n",
    ),
    ("BFE,TEMP", "BFE,2,TEMP,1,100\n"),
    ("BFA", "BFA,2,TEMP,100\n"),
    ("BFUNIF with CTEX", "MP,CTEX,1,1e-5\nBFUNIF,TEMP,100\n"),
    ("TB,BISO", "TB,BISO,1\nTBDATA,1,1,1\n"),
    ("MP,ENTH", "MP,ENTH,1,3\n"),
    ("NLGEOM", "NLGEOM,ON\n"),
    ("ANTYPE,MODAL", "ANTYPE,MODAL\n"),
    ("D,ROTZ", "D,12,ROTZ,0.1\n"),
    ("D of a table", "D,12,UZ,%DISP%\n"),
    ("D,TEMP in elasticity", "D,12,TEMP,20\n"),
    ("DSYM", "DSYM,SYMM,Y\n"),
    ("DK", "DK,1,UX,0.1\n"),
    ("DA", "DA,1,UX,0.1\n"),
    ("F,MZ", "F,12,MZ,5\n"),
    ("F,HEAT in elasticity", "F,12,HEAT,5\n"),
    ("FK", "FK,1,FX,5\n"),
    ("SFE,CONV in elasticity", "SFE,2,3,CONV,0,10\nSFE,2,3,CONV,2,10\n"),
    ("SFE of different corners", "SFE,2,3,PRES,1,10,20,30,40\n"),
    ("SFE on no solid", "SFE,9,3,PRES,1,10\n"),
    ("SFA", "SFA,1,1,PRES,10\n"),
    ("SFL", "SFL,1,PRES,10\n"),
    ("SFGRAD", "SFGRAD,PRES,0,X,0,10\n"),
    ("SFFUN", "SFFUN,PRES,A(1)\n"),
    ("SFDELE", "SFDELE,3,PRES\n"),
    ("INISTATE", "INISTATE,DEFINE,2,,,,100\n"),
    ("PSTRES", "PSTRES,ON\n"),
    ("EKILL", "EKILL,2\n"),
    ("MPCHG", "MPCHG,2,2\n"),
    ("SLOAD", "SLOAD,1,9,LOCK,FORC,100\n"),
    ("*DO", "*DO,I,1,3\nF,I,FX,0\n*ENDDO\n"),
    ("/INPUT", "/INPUT,loads,inp\n"),
    ("LSWRITE", "LSWRITE,1\nLSWRITE,2\n"),
    ("a command that is not known", "FOOBAR,1,2\n"),
];

fn said() -> Vec<Row> {
    let what = |keyword: &'static str| match keyword {
        "MP,REFT at nodes of different temperatures" => {
            "several reference temperatures of materials"
        }
        "BFUNIF with CTEX" => {
            "temperatures (TUNIF, BFUNIF, BF) that strain the part with CTEX or THSX"
        }
        "CERIG of rotations" => "CERIG commands",
        "D of a table" => "D,UZ commands",
        "D,TEMP in elasticity" => "D,TEMP, temperatures of an elastic part",
        "F,HEAT in elasticity" => "F,HEAT, heat in an elastic part",
        "SFE,CONV in elasticity" => "SFE of another physics",
        "SFE of different corners" => "SFE that vary over a face",
        "SFE on no solid" => "on what is no face of a solid",
        "LSWRITE" => "of several load steps",
        "a command that is not known" => "FOOBAR commands",
        other => other,
    };
    let mut rows = Vec::new();
    for (keyword, step) in SAID {
        rows.push(row(keyword, PUSH, step, Becomes::Said(what(keyword))));
    }
    rows
}
