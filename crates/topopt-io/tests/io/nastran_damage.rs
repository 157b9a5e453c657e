//! Damaged Nastran decks end in a mesh or in an error, never in a panic or in memory running out.

use crate::damage::{any_bytes, any_of, damaged, is_sound, read_bytes, with_lines_swapped};
use proptest::prelude::*;

const NAME: &str = "part.bdf";

/// A mesh of all shapes, and a cube with supports, loads and couplings of every kind.
const FILES: [&str; 2] = [include_str!("../../../../meshes/nastran_mixed.bdf"), DECK];

const DECK: &str = "\
CEND
DESOBJ(MIN) = 82
DESGLB = 20
SUBCASE 1
 SPC = 5
 DESSUB = 21
 LOAD = 9
SUBCASE 2
 LABEL = turned
 LOAD = 3
BEGIN BULK
GRDSET,,,,,,,6
CORD1R,11,1,2,3
CORD2C  12      11      0.      0.      0.      0.      0.      1.
        1.      0.      0.
CORD2S,13,12,0.,0.,0.,0.,0.,1.
,1.,0.,0.
GRID,1,,0.,0.,0.
GRID,2,,1.,0.,0.
GRID,3,,1.,1.,0.,12
GRID,4,,0.,1.,0.
GRID*                  5                              0.              0.*A
*A                    1.
GRID    6               1.      0.      1.
GRID,7,,1.,1.,1.,,345
GRID,8,12,1.4142135623730951,45.,0.
GRID,20,13,1.,4.5+1,-45.
CHEXA   1       7       1       2       3       4       5       6       +B
+B      7       8
CQUAD4,2,3,1,2,3,4
PSOLID,7,1
MAT1,1,2.+5,,.3,8.-9
SET,3,GRID,LIST
,1,THRU,7,BY,2,EXCEPT,3
SET,4,ELEM,LIST
,1
SPC1,1,123456,1,THRU,4
SPC,2,20,123456,0.,7,1,-0.5
SPCADD,5,1,2
DTPL,1,PSOLID,7
,MEMBSIZ,3.,6.
,PATRN,3,1,,,2
,,,4
,DRAW,SPLIT,0.,0.,0.,0.,0.,1.
,OBST,8
,EXTR,NOTWIST
,EPATH1,1,5
DRESP1,81,V,VOLFRAC
DRESP1,82,C,MASS,PSOLID,,,SUM,7
DRESP1,83,D,DISP,,,3,,4
DCONSTR,20,81,,0.3
DCONSTR,22,83,-1.,1.
DCONADD,21,22
RBE2,30,20,123456,5,6
RBE3,31,,8,123,1.,123,1,2
,THRU,4
FORCE,1,20,12,2.,1.,0.,0.5
MOMENT,1,8,,2.,1.,0.,0.5
FORCE,1,7,13,2.,1.,0.,0.5
PLOAD4,2,1,2.5,,,,1,3
PLOAD4,2,1,2.5,1.,,,5,7
,11,0.,1.,1.
GRAV,3,11,9.81,0.,0.,-1.
RFORCE,4,7,,2.,1.,0.,0.
LOAD,9,2.,1.,1,-1.,2,.5,3
,.5,4
ENDDATA
";

#[test]
fn every_truncation_is_a_mesh_or_an_error() {
    for text in FILES {
        read_bytes(text.as_bytes(), NAME).unwrap();
        let elements = text.find("CHEXA").unwrap();
        for length in 0..text.len() {
            let bytes = &text.as_bytes()[..length];
            assert!(is_sound(bytes, NAME), "cut to {length} bytes");
            assert!(length > elements || read_bytes(bytes, NAME).is_err(), "{length} bytes");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn changed_bytes_do_no_harm(
        file in 0..FILES.len(),
        changes in any_bytes(),
    ) {
        prop_assert!(is_sound(&damaged(FILES[file].as_bytes().to_vec(), changes), NAME));
    }

    #[test]
    fn changed_signs_do_no_harm(
        file in 0..FILES.len(),
        changes in any_of(b"0123456789-+.,*=\n $E"),
    ) {
        prop_assert!(is_sound(&damaged(FILES[file].as_bytes().to_vec(), changes), NAME));
    }

    #[test]
    fn lines_in_any_order_do_no_harm(
        file in 0..FILES.len(),
        swaps in proptest::collection::vec(any::<[prop::sample::Index; 2]>(), 1..6),
    ) {
        prop_assert!(is_sound(with_lines_swapped(FILES[file], swaps).as_bytes(), NAME));
    }
}

/// A list that grows with every line would fill the memory: 200 lines of 100 million grids each.
#[test]
fn ranges_without_end_stay_bounded() {
    let ranges: String =
        (0..200).map(|i| format!("SPC1,1,{},1,THRU,100000000\n", i % 3 + 1)).collect();
    let text = DECK.replace("ENDDATA", &format!("{ranges}SPC1,7,1,1,THRU,18446744073709551615"));
    read_bytes(text.as_bytes(), NAME).unwrap();
}

#[test]
fn long_words_of_a_file_are_cut_in_messages() {
    let long = "X".repeat(2_000_000);
    for text in [
        format!("GRID,{long}\n"),
        format!("{long}\nGRID,1\nCHEXA,1\n"),
        format!("INCLUDE '{long}'\n"),
        format!("GRID,1,,,,,,,,+{long}\n+{long}1,2\n"),
    ] {
        let error = read_bytes(text.as_bytes(), NAME).unwrap_err().to_string();
        assert!(error.len() < 600, "{}", error.len());
    }
}
