//! Nastran decks and legacy VTK files that are refused, each with its message as the user sees it:
//! the lists are here, the messages in messages/*.snap.

use crate::Folder;
use crate::mesh_messages::{
    assert_messages, assert_messages_in, bytes, changed, cut, project_mesh, whole, with,
};

/// A cube of grids 1 to 8 and element 1 of property 7.
const NASTRAN_CUBE: &str = "GRID,1,,0.,0.,0.\nGRID,2,,1.,0.,0.\nGRID,3,,1.,1.,0.\n\
    GRID,4,,0.,1.,0.\nGRID,5,,0.,0.,1.\nGRID,6,,1.,0.,1.\nGRID,7,,1.,1.,1.\nGRID,8,,0.,1.,1.\n\
    CHEXA,1,7,1,2,3,4,5,6\n,7,8\n";

#[test]
fn nastran() {
    let edit = |old, new| changed(NASTRAN_CUBE, old, new);
    let more = |more| with(NASTRAN_CUBE, more);
    let selects = format!("DESGLB = 3\nDESOBJ = 9\nBEGIN BULK\n{NASTRAN_CUBE}");
    let selecting = |more| with(&selects, more);
    let folder = Folder::new();
    folder.write("force.inc", "\n\nFORCE,1,8,,x\n");
    folder.write("again.inc", "INCLUDE part.bdf\n");
    for i in 0..11 {
        folder.write(&format!("{i}.inc"), &format!("INCLUDE {}.inc\n", i + 1));
    }

    assert_messages_in(
        &folder,
        "nastran",
        "part.bdf",
        &[
            whole(""),
            whole("$ only\n\n$ comments\n"),
            whole("solid part\nfacet normal\n"),
            whole("SOL 101\nCEND\n"),
            whole("** A part\n\n*Node, nset=All\n1, 0., 0., 0.\n"),
            whole("*HEADING\nA part\n"),
            whole("GRID,1\n"),
            whole("GRID,1\nCQUAD4,1,1,1,1,1,1\nCBAR,2,1,1,1\n"),
            whole("+,1\n"),
            edit("GRID,2,,1.", "GRID,x,,1."),
            edit("GRID,2,,1.", "GRID,2,,1.0.0"),
            edit("GRID,2,,1.", "GRID,2,,1.e999"),
            edit("GRID,2,,1.,0.,0.", "GRID,2,,1.,0.,0.,,7"),
            edit("GRID,2,,1.,0.,0.", "GRID,2,,1.,0.,0.,,,,,1"),
            edit("GRID,2,", "GRID,3,"),
            edit("GRID,2,", "GRID,2,8"),
            edit("1,2,3,4,5,6\n,7,8", "1,2,3,4,5,6\n,7"),
            edit("1,2,3,4,5,6\n,7,8", "1,2,3,4,5,6\n,7,9"),
            edit("1,2,3,4,5,6\n,7,8", "1,2,3,4,5,6\n,7,7"),
            edit("5,6\n,7,8", "5,6,+A\n+B,7,8"),
            more("CTETRA,1,7,1,2,3,5\n"),
            more("CTETRA,2,7,1,2,3,5,,\n,,,,,6\n"),
            more("CORD2R,1,,0.,0.,0.,1.,0.,0.\n,2.,0.,0.\n"),
            more("CORD2R,1,2,0.,0.,0.,1.,0.,0.\n,0.,1.,0.\n"),
            more("CORD2R,1,1,0.,0.,0.,1.,0.,0.\n,0.,1.,0.\n"),
            more("CORD1R,1,2,3,99\n"),
            more("CORD1R,1,2,3,4,1,2,3,4\n"),
            more("FORCE,1,2,8,1.,1.\n"),
            more("FORCE,1,2,,pull,1.\n"),
            more("RFORCE,1,99,,1.,1.\n"),
            more("PLOAD4,1,1,high\n"),
            more("PLOAD4,1,1,1.,,,,1\n"),
            more("PLOAD4,1,1,1.,,,,1,2\n"),
            more("SPC1,1,8,2\n"),
            more("SPC1,1,1,9,THRU,3\n"),
            more("SPC1,1,1,2,THRU\n"),
            more("DTPL,x\n"),
            more("DTPL,1,PSOLID,7\n,PATRN,1,1\n"),
            more("DTPL,1,PSOLID,7\n,PATRN,1,1,,,99\n"),
            more("DTPL,1,PSOLID,7\n,PATRN,1,1,,,1\n"),
            more("DTPL,1,PSOLID,7\n,PATRN,2,1,,,2\n"),
            more("DTPL,1,PSOLID,7\n,PATRN,2,1,,,2\n,,,2\n"),
            more("DTPL,1,PSOLID,7\n,DRAW,SINGLE,0.,0.,0.,0.,0.,up\n"),
            more("DTPL,1,PSOLID,7\n,DRAW,SINGLE,0.,0.,1.,5\n"),
            more("DTPL,1,PSOLID,7\n,EXTR,NOTWIST\n,EPATH1,1,99\n"),
            selecting("DTPL,1,PSOLID,7\nDCONSTR,3,8,,0.3\n"),
            selecting("DTPL,1,PSOLID,7\nDCONSTR,4,8,,0.3\n"),
            selecting("DTPL,1,PSOLID,7\nDRESP1,8,v,VOLFRAC\nDCONSTR,3,8,,0.3\n"),
            selecting("DTPL,1,PSOLID,7\nDRESP1,8,v,VOLFRAC\nDCONSTR,3,8,,much\n"),
            more("SET,1\nBEGIN SUPER=1\n"),
            more("INCLUDE ''\n"),
            more("INCLUDE '../part.bdf'\n"),
            more("INCLUDE none.inc\n"),
            more("INCLUDE '.'\n"),
            more("INCLUDE part.bdf\n"),
            more("INCLUDE again.inc\n"),
            more("INCLUDE force.inc\n"),
            more("INCLUDE 0.inc\n"),
        ],
    );
}

/// Two cubes, one above the other, with a set of each kind.
const LEGACY: &str = "# vtk DataFile Version 3.0\ntwo cubes\nASCII\nDATASET UNSTRUCTURED_GRID\n\
    POINTS 12 float\n0 0 0 1 0 0 1 1 0 0 1 0\n0 0 1 1 0 1 1 1 1 0 1 1\n0 0 2 1 0 2 1 1 2 0 1 2\n\
    CELLS 2 18\n8 0 1 2 3 4 5 6 7\n8 4 5 6 7 8 9 10 11\nCELL_TYPES 2\n12 12\n\
    CELL_DATA 2\nSCALARS upper int 1\nLOOKUP_TABLE default\n0 1\n\
    POINT_DATA 12\nFIELD sets 1\ntop 1 12 char\n0 0 0 0 0 0 0 0 1 1 1 1\n";

#[test]
fn vtk_legacy() {
    let edit = |old, new| changed(LEGACY, old, new);
    let offsets = "CELLS 3 16\nOFFSETS vtktypeint64\n0 8 16\nCONNECTIVITY vtktypeint64\n0 1 2 3 \
        4 5 6 7\n4 5 6 7 8 9 10 11";
    let cells = "CELLS 2 18\n8 0 1 2 3 4 5 6 7\n8 4 5 6 7 8 9 10 11";
    let newer = LEGACY.replace(cells, offsets).replace("Version 3.0", "Version 5.1");
    let new_edit = |old, new| changed(&newer, old, new);
    let binary = project_mesh("vtk_box_5_1_binary.vtk");

    assert_messages(
        "vtk_legacy",
        "part.vtk",
        &[
            whole(""),
            whole("solid part\n"),
            whole("# vtk DataFile Version 3.0\n"),
            edit("ASCII", "TEXT"),
            edit("UNSTRUCTURED_GRID", "POLYDATA"),
            edit("UNSTRUCTURED_GRID", ""),
            edit("POINTS 12 float", "POINTS 12 half"),
            edit("POINTS 12 float", "POINTS many float"),
            edit("POINTS 12 float", "POINTS 13 float"),
            edit("POINTS 12 float", "POINTS 11 float"),
            edit("POINTS 12 float", "POINTS 1099511627776 float"),
            edit("0 0 0 1 0 0", "0 0 0 x 0 0"),
            edit("0 0 0 1 0 0", "0 0 0 nan 0 0"),
            edit("CELLS 2 18", "CELLS 3 18"),
            edit("CELLS 2 18", "CELLS 2 17"),
            edit("8 4 5 6 7 8", "9 4 5 6 7 8"),
            edit("8 4 5 6 7 8", "-8 4 5 6 7 8"),
            edit("8 9 10 11\n", "8 9 10 12\n"),
            edit("8 9 10 11\n", "8 9 10 10\n"),
            edit("CELL_TYPES 2\n12 12\n", ""),
            edit("CELL_TYPES 2\n12 12\n", "CELL_TYPES 1\n12\n"),
            edit("2\n12 12\n", "2\n12 10\n"),
            edit("2\n12 12\n", "2\n12 42\n"),
            edit("2\n12 12\n", "2\n9 9\n"),
            edit("CELL_DATA 2", "CELL_DATA 3"),
            edit("POINT_DATA 12", "POINT_DATA 11"),
            edit("top 1 12 char", "top 1 11 char"),
            edit("top 1 12 char", "top 1 twelve char"),
            edit("SCALARS upper int", "SCALARS upper text"),
            edit("SCALARS upper int 1", "SCALED upper int 1"),
            cut(LEGACY, "DATASET UNSTRUCTURED_GRID\n"),
            cut(LEGACY, "0 1 2\n"),
            cut(LEGACY, "8 4 5"),
            cut(LEGACY, "FIELD sets 1\n"),
            new_edit("0 8 16", "1 8 16"),
            new_edit("0 8 16", "0 9 16"),
            new_edit("CONNECTIVITY", "CONNECTIONS"),
            bytes("binary, cut", &binary[..binary.len() / 3]),
            bytes("binary, cut in the sets", &binary[..binary.len() - 10]),
        ],
    );
}
