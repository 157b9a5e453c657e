//! Optimizations of OptiStruct: each card in free, small and large fields.

use topopt_io::ImportedMesh;
use topopt_io::deck_design::{
    DeckDesign, DeckLimit, DeckManufacturing, DeckMeasure, DeckObjective, DeckResponse,
};

use crate::nastran::read_as;

const NAME: &str = "part.fem";

/// Two cubes on each other, of the properties 7 and 8, the upper one pushed in two subcases.
const CUBES: &str = "GRID,1,,0.,0.,0.\nGRID,2,,1.,0.,0.\nGRID,3,,1.,1.,0.\nGRID,4,,0.,1.,0.\n\
    GRID,5,,0.,0.,1.\nGRID,6,,1.,0.,1.\nGRID,7,,1.,1.,1.\nGRID,8,,0.,1.,1.\nGRID,11,,0.,0.,2.\n\
    GRID,12,,1.,0.,2.\nGRID,13,,1.,1.,2.\nGRID,14,,0.,1.,2.\nGRID,20,,9.,9.,9.\n\
    CHEXA,1,7,1,2,3,4,5,6\n,7,8\nCHEXA,2,8,5,6,7,8,11,12\n,13,14\n\
    PSOLID,7,1\nPSOLID,8,2\nMAT1,1,2.+5,,0.3,2.\nMAT1,2,2.+5,,0.3,4.\n\
    FORCE,5,11,,1.,0.,1.,0.\nFORCE,6,12,,1.,1.,0.,0.\nSPC1,1,123,1,2,3,4\n";

/// The middle of case control: two subcases.
const PUSHES: &str = "SPC = 1\nSUBCASE 1\nLABEL = push\nLOAD = 5\n{push}SUBCASE 2\nLOAD = 6\n{}";

fn read(control: &str, bulk: &str) -> ImportedMesh {
    read_as(&format!("{control}BEGIN BULK\n{CUBES}{bulk}ENDDATA\n"), NAME).unwrap()
}

/// The design of a deck of one load case with these cards in free fields, which must be the one of
/// small and of large fields.
fn design(bulk: &str) -> (DeckDesign, Vec<String>) {
    let control = "SPC = 1\nLOAD = 5\nDESGLB = 10\n";
    let [free, small, large] = [bulk.to_owned(), in_small(bulk), in_large(bulk)]
        .map(|bulk| read(control, &format!("{bulk}{}", "DRESP1,1,v,VOLFRAC\nDCONSTR,10,1,,0.3\n")));
    assert_eq!(free.deck.design, small.deck.design, "{bulk}");
    assert_eq!(free.deck.design, large.deck.design, "{bulk}");
    (free.deck.design.unwrap(), free.deck.lost)
}

fn in_small(free: &str) -> String {
    let line = |line: &str| -> String {
        line.split(',').map(|field| format!("{field:<8}")).collect::<String>() + "\n"
    };
    free.lines().map(line).collect()
}

fn in_large(free: &str) -> String {
    let line = |line: &str| {
        let mut fields = line.split(',');
        let head = format!("{}*", fields.next().unwrap());
        let mut fields: Vec<_> = fields.map(|field| format!("{field:<16}")).collect();
        fields.resize(8, " ".repeat(16));
        format!("{head:<8}{}\n*       {}\n", fields[..4].concat(), fields[4..].concat())
    };
    free.lines().map(line).collect()
}

fn members(minimum: Option<f64>, gap: Option<f64>, maximum: Option<f64>) -> DeckManufacturing {
    DeckManufacturing::MemberSize { minimum, gap, maximum }
}

fn plane(point: [f64; 3], normal: [f64; 3]) -> DeckManufacturing {
    DeckManufacturing::Symmetry { point, normal }
}

#[test]
fn demands_of_the_design_space() {
    let (x, y, z) = ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]);
    let (origin, middle) = ([0.0; 3], [0.5, 0.5, 0.0]);
    let cyclic =
        |mirrored| DeckManufacturing::Cyclic { point: middle, axis: z, sectors: 4, mirrored };
    let cast =
        |draw, sides| DeckManufacturing::Casting { draw, sides, is_closed: false, thickness: None };
    let closed =
        |draw| DeckManufacturing::Casting { draw, sides: 1, is_closed: true, thickness: None };
    let thickness = Some(3.0);
    let stamped = |draw| DeckManufacturing::Casting { draw, sides: 1, is_closed: false, thickness };
    let up = [0.0, 0.0, 2.0];
    let path = vec![[0.0; 3], z, [1.0, 0.0, 2.0]];
    for (cards, expected) in [
        ("", vec![]),
        (",MEMBSIZ,6.0\n", vec![members(Some(6.0), None, None)]),
        // A largest width asks for gaps as wide.
        (",MEMBSIZ,6.0,12.0\n", vec![members(Some(6.0), Some(12.0), Some(12.0))]),
        (",MEMBSIZ,6.0,12.0,15.0\n", vec![members(Some(6.0), Some(15.0), Some(12.0))]),
        (",MEMBSIZ,,12.0,9.0\n", vec![members(None, Some(12.0), Some(12.0))]),
        ("DOPTPRM,DESMAX,30,MINDIM,5.0\n", vec![members(Some(5.0), None, None)]),
        (",MEMBSIZ,6.0\nDOPTPRM,MINDIM,5.0\n", vec![members(Some(6.0), None, None)]),
        (",PATRN,0\n", vec![]),
        (",PATRN,1,1,,,2\n", vec![plane(origin, x)]),
        (",PATRN,1,0.5,0.5,0.,0.5,1.5,0.\n", vec![plane(middle, y)]),
        // Point 1 by its coordinates, point 2 by a grid.
        (",PATRN,1,0.,0.,0.,4\n", vec![plane(origin, y)]),
        (
            ",PATRN,2,0.5,0.5,0.,1.5,0.5,0.\n,,,0.7,1.5,0.\n",
            vec![plane(middle, x), plane(middle, y)],
        ),
        (",PATRN,2,1,,,2\n,,,3\n", vec![plane(origin, x), plane(origin, y)]),
        (",PATRN,3,1,,,2\n,,,4\n", vec![plane(origin, x), plane(origin, y), plane(origin, z)]),
        (",PATRN,10,0.5,0.5,0.,0.5,0.5,1.\n,,4\n", vec![cyclic(None)]),
        (",PATRN,11,0.5,0.5,0.,0.5,0.5,1.\n,,4,1.5,0.5,0.3\n", vec![cyclic(Some(x))]),
        // The repetitions below the word.
        (",PATRN,11,0.5,0.5,0.,0.5,0.5,1.\n,4,1.5,0.5,0.3\n", vec![cyclic(Some(x))]),
        (",DRAW,SINGLE,1,,,5\n,OBST,8\n", vec![cast(z, 1)]),
        (",DRAW,SPLIT,0.,0.,0.,0.,0.,2.\n,OBST,8\n,MESH,ALIGN\n", vec![cast(up, 2)]),
        (",DRAW,SINGLE,1,,,5\n,OBST,8\n,NOHOLE\n", vec![closed(z)]),
        (",DRAW,SINGLE,1,,,5\n,OBST,8\n,STAMP,3.\n", vec![stamped(z)]),
        (",EXTR,NOTWIST\n,EPATH1,1,5,11\n", vec![DeckManufacturing::Extrusion { direction: up }]),
        (",EXTR,NOTWIST\n,EPATH1,1,5,12\n", vec![DeckManufacturing::ExtrusionAlong { path }]),
    ] {
        let (design, lost) = design(&format!("DTPL,1,PSOLID,7\n{cards}"));
        assert_eq!(design.manufacturing, expected, "{cards}");
        assert_eq!(design.solid, ["property_8"], "{cards}");
        assert_eq!(lost, [""; 0], "{cards}");
    }
}

#[test]
fn what_a_case_cannot_demand_is_said() {
    for (cards, said) in [
        (",DRAW,SINGLE,1,,,5\n", "DRAW of DTPL 1 passes over property 8 (no OBST)"),
        (",DRAW,SPLIT,1,,,5\n,OBST,8\n,NOHOLE\n", "NOHOLE of DTPL 1, as a mold of two sides"),
        (",DRAW,SPLIT,1,,,5\n,OBST,8\n,STAMP,3.\n", "DTPL with STAMP of two sides"),
        (",DRAW,STAMP,1,,,5\n", "DTPL with DRAW that is neither SINGLE nor SPLIT"),
        (",EXTR,TWIST\n,EPATH1,1,5\n,EPATH2,2,6\n", "DTPL with EXTR that is not NOTWIST"),
        (",EXTR,NOTWIST\n", "EXTR of DTPL 1 without a path (EPATH1)"),
        (",MEMBSIZ,6.0,,9.0\n", "MINGAP of DTPL 1 without MAXDIM"),
        (",PATRN,9\n", "DTPL with PATRN 9"),
        (",PATRN,10,1,,,5\n", "DTPL with PATRN 10 without repetitions"),
        (",OVERHANG,45.\n", "DTPL with OVERHANG"),
        (",STRESS,200.\n", "DTPL with STRESS"),
        (",MAIN\n,COORD,3,1,,,2\n", "DTPL with MAIN"),
        ("DTPL,2,PSHELL,4\n", "DTPL of PSHELL, which is not PSOLID"),
        ("DTPL,2,PSOLID,9\n,MEMBSIZ,6.0\n", "MEMBSIZ of DTPL 2, which holds for some"),
    ] {
        let (design, lost) = design(&format!("DTPL,1,PSOLID,7\n{cards}"));
        assert!(lost.iter().any(|lost| lost.starts_with(said)), "{cards}: {lost:?}");
        assert_eq!(design.solid, ["property_8"], "{cards}");
    }
}

/// All solids are designed where a DTPL names none.
#[test]
fn design_spaces_together() {
    let demand = ",MEMBSIZ,6.0\n";
    for (cards, solid) in [
        (format!("DTPL,1,PSOLID\n{demand}"), &[][..]),
        (format!("DTPL,1,PSOLID,ALL\n{demand}"), &[]),
        (format!("DTPL,1,PSOLID,8\n{demand}"), &["property_7"]),
        (format!("DTPL,1,PSOLID,8\n{demand}DTPL,2,PSOLID,7\n{demand}"), &[]),
        (format!("DTPL,1,PSOLID,,,,,,\n,8\n{demand}"), &["property_7"]),
    ] {
        let (design, lost) = design(&cards);
        assert_eq!(design.solid, solid, "{cards}");
        assert_eq!(design.manufacturing, [members(Some(6.0), None, None)], "{cards}");
        assert_eq!(lost, [""; 0], "{cards}");
    }
}

fn response(measure: DeckMeasure, set: Option<&str>, case: Option<&str>) -> DeckResponse {
    let [set, case] = [set, case].map(|text| text.map(str::to_owned));
    DeckResponse { measure, set, direction: None, case }
}

fn most(response: DeckResponse, value: f64) -> DeckLimit {
    DeckLimit { response, value, is_most: true, words: "DCONSTR 10".into() }
}

/// The limits of a deck of two load cases, and what is lost, with this DRESP1 behind its number and
/// label; `bounds` are those of its DCONSTR, and case control selects it in the first subcase.
fn limits(of: &str, bounds: &str) -> (Vec<DeckLimit>, Vec<String>) {
    let control = PUSHES.replace("{push}", "DESSUB = 10\n").replace("{}", "");
    let cards = format!("DTPL,1,PSOLID,7\nDRESP1,1,r,{of}\nDCONSTR,10,1,{bounds}\n");
    let [free, small, large] = [cards.clone(), in_small(&cards), in_large(&cards)];
    let free = read(&control, &free).deck;
    for other in [small, large] {
        assert_eq!(free.design, read(&control, &other).deck.design, "{of}");
    }
    (free.design.unwrap().limits, free.lost)
}

#[test]
fn responses_with_limits() {
    let push = Some("push");
    let along = |direction, set, case| DeckResponse {
        direction: Some(direction),
        ..response(DeckMeasure::Displacement, Some(set), case)
    };
    let least = |limit: DeckLimit| DeckLimit { is_most: false, ..limit };
    let up = [0.0, 0.0, 1.0];
    use DeckMeasure as M;
    for (of, bounds, expected) in [
        ("VOLFRAC", ",0.3", vec![most(response(M::VolumeShare, None, None), 0.3)]),
        ("VOLFRAC", "-1.+20,0.3", vec![most(response(M::VolumeShare, None, None), 0.3)]),
        (
            "VOLFRAC",
            "0.2,0.3",
            vec![
                least(most(response(M::VolumeShare, None, None), 0.2)),
                most(response(M::VolumeShare, None, None), 0.3),
            ],
        ),
        // What is not designed does not count in a share of the design volume.
        (
            "VOLFRAC,PSOLID,,,SUM,7,\n,8",
            ",0.3",
            vec![most(response(M::VolumeShare, Some("property_7"), None), 0.3)],
        ),
        ("VOLUME", ",1.5", vec![most(response(M::Volume, None, None), 1.5)]),
        ("MASS", ",1.5", vec![most(response(M::Mass, None, None), 1.5)]),
        ("MASSFRAC", ",0.5", vec![most(response(M::MassShare, None, None), 0.5)]),
        // Without SUM each property has the limit.
        (
            "MASS,PSOLID,,,,7\n,8",
            ",1.5",
            vec![
                most(response(M::Mass, Some("property_7"), None), 1.5),
                most(response(M::Mass, Some("property_8"), None), 1.5),
            ],
        ),
        (
            "MASS,PSOLID,,,SUM,7\n,8",
            ",1.5",
            vec![most(response(M::Mass, Some("properties_7_8"), None), 1.5)],
        ),
        ("MASS,MAT,,,,2", ",1.5", vec![most(response(M::Mass, Some("property_8"), None), 1.5)]),
        // The compliance of OptiStruct is an energy.
        ("COMP", ",1.5", vec![most(response(M::Compliance, None, push), 3.0)]),
        ("WCOMP", ",1.5", vec![most(response(M::Compliance, None, None), 3.0)]),
        ("DISP,,,3,,11", ",0.1", vec![most(along(up, "grid_11", push), 0.1)]),
        ("DISP,,,TZ,,11", "-0.1", vec![least(most(along(up, "grid_11", push), -0.1))]),
        (
            "DISP,,,7,,11\n,12",
            ",0.1",
            vec![
                most(response(M::Displacement, Some("grid_11"), push), 0.1),
                most(response(M::Displacement, Some("grid_12"), push), 0.1),
            ],
        ),
    ] {
        let (limits, lost) = limits(of, bounds);
        assert_eq!(limits, expected, "{of}");
        assert_eq!(lost, [""; 0], "{of}");
    }
}

#[test]
fn limits_without_a_counterpart_are_said() {
    for (of, bounds, why) in [
        ("STRESS,PSOLID,,SVM,,7", ",200.", "it has no counterpart"),
        ("FREQ,,,1", "50.", "it has no counterpart"),
        ("DISP,,,5,,11", ",0.1", "its component is `5`"),
        ("DISP,,,3,,20", ",0.1", "grid 20 is not at a corner of a solid"),
        ("DISP,,,3", ",0.1", "it is of 0 grids"),
        ("DISP,,,3,,11\n,COORD,5", ",0.1", "with COORD"),
        ("TEMP,,,,,11", ",90.", "there is no TEMP in this physics"),
        ("COMP,PSOLID,,,,7", ",1.", "it is a COMP of some elements"),
        ("VOLFRAC,PSOLID,,,,8", ",0.3", "it is of no designed solids"),
        ("MASS,PSHELL,,,,8", ",0.3", "it is of `PSHELL`"),
        ("MASS,PSOLID,,,COMB,8", ",0.3", "it is of the kind `COMB`"),
        ("MASS", ",5", "its bounds are those of a table"),
        ("VOLUME,,,ENCLOSED", ",5.", "it is a VOLUME of some elements, or of another kind"),
    ] {
        let (limits, lost) = limits(of, bounds);
        assert_eq!(limits, [], "{of}");
        let begin = format!("the limit DCONSTR 10 of the response 1 ({}", &of[..4]);
        assert!(lost[0].starts_with(&begin) && lost[0].contains(why), "{of}: {lost:?}");
    }
}

/// Limits hold where case control selects them, and only there.
#[test]
fn limits_in_use() {
    let bulk = "DTPL,1,PSOLID,7\nDRESP1,1,v,VOLFRAC\nDRESP1,2,d,DISP,,,3,,11\nDRESP1,3,c,COMP\n\
        DCONSTR,10,1,,0.3\nDCONSTR,11,2,,0.1\nDCONSTR,12,3,,0.5\nDCONADD,20,11,12\n";
    for (above, push, other, expected) in [
        ("DESGLB = 10\n", "", "", &["volume"][..]),
        ("DESGLB = 10\n", "DESSUB = 11\n", "", &["volume", "displacement in push"]),
        (
            "DESGLB = 10\n",
            "DESSUB = 11\n",
            "DESSUB = 12\n",
            &["volume", "displacement in push", "compliance in subcase_2"],
        ),
        ("", "", "DESSUB = 20\n", &["displacement in subcase_2", "compliance in subcase_2"]),
        // A set above all subcases is that of each.
        ("DESSUB = 11\n", "", "", &["displacement in push", "displacement in subcase_2"]),
        ("DESSUB = 10\n", "", "", &["volume"]),
        ("", "", "", &[]),
        ("DESGLB = 11\n", "", "", &[]),
    ] {
        let subcases = PUSHES.replace("{push}", push).replace("{}", other);
        let deck = read(&format!("{above}{subcases}"), bulk).deck;
        let label = |limit: &DeckLimit| {
            let measure = match limit.response.measure {
                DeckMeasure::VolumeShare => "volume",
                DeckMeasure::Displacement => "displacement",
                _ => "compliance",
            };
            let case = limit.response.case.as_ref().map(|case| format!(" in {case}"));
            measure.to_owned() + &case.unwrap_or_default()
        };
        let labels: Vec<String> = deck.design.unwrap().limits.iter().map(label).collect();
        assert_eq!(labels, expected, "{above}{push}{other}");
        let lost = match (above, push, other) {
            ("", "", "") => Some("the limits DCONSTR: neither DESGLB nor DESSUB selects"),
            ("DESGLB = 11\n", ..) => {
                Some("the limit DCONSTR 11 of the response 2 (DISP): it is of one")
            }
            _ => None,
        };
        assert_eq!(deck.lost.len(), lost.iter().len(), "{:?}", deck.lost);
        lost.iter().for_each(|lost| assert!(deck.lost[0].starts_with(lost), "{:?}", deck.lost));
    }
}

#[test]
fn objectives_and_weights() {
    let bulk = "DTPL,1,PSOLID,7\nDRESP1,1,m,MASS\nDRESP1,2,c,COMP\nDRESP1,3,w,WCOMP\n\
        DRESP1,4,f,FREQ,,,1\nDRESP2,5,two,9\n";
    let of = |measure, case, is_maximum| {
        Some(DeckObjective::Response { response: response(measure, None, case), is_maximum })
    };
    let other = |words: &str| Some(DeckObjective::Other(words.into()));
    use DeckMeasure as M;
    for (above, push, expected) in [
        ("", "", None),
        ("DESOBJ(MIN) = 1\n", "", of(M::Mass, None, false)),
        ("DESOBJ(MAX)=1\n", "", of(M::Mass, None, true)),
        ("DESOBJ = 3\n", "", of(M::Compliance, None, false)),
        ("", "DESOBJ(MIN) = 2\n", of(M::Compliance, Some("push"), false)),
        ("DESOBJ(MIN) = 2\n", "", other("DESOBJ(MIN) = 2, the response 2 (COMP)")),
        ("DESOBJ(MAX) = 4\n", "", other("DESOBJ(MAX) = 4, the response 4 (FREQ)")),
        ("DESOBJ(MIN) = 5\n", "", other("DESOBJ(MIN) = 5, the response 5 (DRESP2)")),
        ("DESOBJ(MINP) = 1\n", "", other("DESOBJ(MINP) = 1")),
        ("MINMAX = 1\n", "", other("MINMAX = 1")),
    ] {
        let control = above.to_owned() + &PUSHES.replace("{push}", push).replace("{}", "");
        let deck = read(&control, bulk).deck;
        let is_lost = matches!(expected, Some(DeckObjective::Other(_)));
        assert_eq!(deck.design.unwrap().objective, expected, "{above}{push}");
        let said = deck.lost.iter().any(|lost| lost.starts_with("the objective "));
        assert_eq!(said, is_lost, "{above}{push}: {:?}", deck.lost);
    }

    // Moved supports and temperatures make another compliance.
    for moved in ["SPC,1,4,1,0.1\n", "TEMPD,3,90.\nMAT1,1,2.+5,,0.3,2.,1.-5\n"] {
        let subcases = PUSHES.replace("{push}", "TEMP = 3\n").replace("{}", "");
        let deck = read(&format!("DESOBJ = 3\n{subcases}"), &format!("{bulk}{moved}")).deck;
        let expected = other("DESOBJ = 3, the response 3 (WCOMP)");
        assert_eq!(deck.design.unwrap().objective, expected, "{moved}");
    }

    // Where some subcases have weights, others have none.
    for (push, other, expected, is_lost) in [
        ("", "", vec![], false),
        ("WEIGHT = 2.\n", "WEIGHT 0.5\n", vec![("push", 2.0), ("subcase_2", 0.5)], false),
        ("WEIGHT = 2.\n", "", vec![("push", 2.0), ("subcase_2", 0.0)], true),
    ] {
        let subcases = PUSHES.replace("{push}", push).replace("{}", other);
        let deck = read(&format!("DESOBJ = 3\n{subcases}"), bulk).deck;
        let design = deck.design.unwrap();
        let weights: Vec<_> =
            design.weights.iter().map(|(case, it)| (case.as_str(), *it)).collect();
        assert_eq!(weights, expected);
        assert_eq!(matches!(design.objective, Some(DeckObjective::Other(_))), is_lost);
    }
}

#[test]
fn temperatures_with_limits() {
    let control = "SOL 153\nSPC = 1\nLOAD = 7\nDESGLB = 10\nDESOBJ = 2\n";
    let bulk = "SLOAD,7,11,2.5\nDTPL,1,PSOLID,7\nDRESP1,1,t,TEMP,,,,,11\nDRESP1,2,c,COMP\n\
        DCONSTR,10,1,,90.\n";
    let deck = read(control, bulk).deck;
    let design = deck.design.unwrap();
    let expected = most(response(DeckMeasure::Temperature, Some("grid_11"), None), 90.0);
    assert_eq!(design.limits, [expected]);
    let other = DeckObjective::Other("DESOBJ = 2, the response 2 (COMP)".into());
    assert_eq!(design.objective, Some(other));
}
