//! Decks of OptiStruct with an optimization become cases that ask for the same.

use std::fmt::Write;

use crate::{Folder, topopt};

/// Elements of the block along x, y and z, with edges of 1; the last layer along x is not designed.
const SIZES: [usize; 3] = [10, 6, 6];

/// Case control with two subcases, and what selects their optimization.
const CONTROL: &str = "DESOBJ(MIN) = 3\nDESGLB = 20\nSPC = 1\nSUBCASE 1\nLABEL = down\nLOAD = 2\n\
    DESSUB = 21\nWEIGHT = 2.0\nSUBCASE 2\nLABEL = aside\nLOAD = 3\nWEIGHT = 1.0\nBEGIN BULK\n";

/// Cards of the optimization: grid 11 is at the lower edge of the pushed end.
const DESIGN: &str = "DTPL,1,PSOLID,1\n,MEMBSIZ,3.0\n,PATRN,1,0.,3.,0.,0.,4.,0.\n\
    ,DRAW,SPLIT,0.,0.,0.,0.,0.,1.\n,OBST,2\n\
    DRESP1,1,vol,VOLFRAC\nDRESP1,2,tip,DISP,,,3,,11\nDRESP1,3,all,WCOMP\nDRESP1,4,stress,STRESS\n\
    DCONSTR,20,1,,0.4\nDCONSTR,21,2,-9.\nDCONSTR,22,4,,1.\n";

/// A block that is held at x = 0 and pushed at its other end.
fn block() -> String {
    let [nx, ny, _] = SIZES;
    let grid = |x: usize, y: usize, z: usize| 1 + x + (nx + 1) * (y + (ny + 1) * z);
    let mut deck = String::new();
    let places = |[nx, ny, nz]: [usize; 3]| {
        let along_x = move |y, z| (0..nx).map(move |x| (x, y, z));
        (0..nz).flat_map(move |z| (0..ny).flat_map(move |y| along_x(y, z)))
    };
    for (x, y, z) in places(SIZES.map(|n| n + 1)) {
        let _ = writeln!(deck, "GRID,{},,{x}.,{y}.,{z}.", grid(x, y, z));
        if x == 0 {
            let _ = writeln!(deck, "SPC1,1,123,{}", grid(x, y, z));
        } else if x == nx {
            let _ = writeln!(
                deck,
                "FORCE,2,{0},,0.02,0.,0.,-1.\nFORCE,3,{0},,0.02,0.,1.,0.",
                grid(x, y, z)
            );
        }
    }
    for (i, (x, y, z)) in places(SIZES).enumerate() {
        let corners = [(0, 0), (1, 0), (1, 1), (0, 1)];
        let low: Vec<_> = corners.iter().map(|(i, j)| grid(x + i, y + j, z).to_string()).collect();
        let high: Vec<_> =
            corners.iter().map(|(i, j)| grid(x + i, y + j, z + 1).to_string()).collect();
        let property = if x + 1 == nx { 2 } else { 1 };
        let (first, second) = (high[..2].join(","), high[2..].join(","));
        let _ = writeln!(deck, "CHEXA,{},{property},{},{first}\n,{second}", i + 1, low.join(","));
    }
    deck + "PSOLID,1,1\nPSOLID,2,1\nMAT1,1,100.,,0.3,2.\n"
}

/// The case that `topopt init` makes of a deck, and what it prints.
fn case_of(control: &str, design: &str) -> (Folder, String, String) {
    let folder = Folder::new();
    folder.write("part.fem", &format!("{control}{}{design}ENDDATA\n", block()));
    let (status, out, err) = topopt(&folder.path(""), &["init", "part.fem"]);
    assert_eq!(status, 0, "{out}{err}");
    let case = folder.read("part.toml");
    (folder, case, out)
}

#[test]
fn the_case_of_an_optimization_runs_as_it_is() {
    let (folder, case, out) = case_of(CONTROL, DESIGN);
    assert!(!out.contains("not carried over"), "{out}");
    let design = case.split_once("\n[[load_cases]]").unwrap().1;
    assert_eq!(
        design,
        "\nname = \"down\"\nweight = 2.0\n\n[[load_cases]]\nname = \"aside\"\nweight = 1.0\n\n\
         [objective]\nminimize = \"compliance\"\n\n\
         [[constraints]]\nresponse = \"displacement\"\nset = \"grid_11\"\n\
         direction = [0.0, 0.0, 1.0]\ncase = \"down\"\nat_least = -9.0\n\n\
         [design]\nvolume_fraction = 0.4\nsolid = [\"property_2\"]\n\
         keep_loaded = \"free\"     # as the deck, which designs these, too\n\n\
         [[manufacturing]]\nkind = \"member_size\"\nminimum = 3.0\n\n\
         [[manufacturing]]\nkind = \"symmetry\"\npoint = [0.0, 3.0, 0.0]\nnormal = [0.0, 1.0, 0.0]\n\n\
         [[manufacturing]]\nkind = \"casting\"\ndraw_direction = [0.0, 0.0, 1.0]\nsides = 2\n\n\
         [filter]\nkind = \"density\"          # its radius follows from the widths\n"
    );

    let here = folder.path("");
    let (status, out, err) = topopt(&here, &["check", "part.toml"]);
    assert_eq!((status, err.as_str()), (0, ""), "{out}");
    let short = ["--set", "optimizer.max_iterations=12", "--set", "output.compression=none"];
    let args = [&["run", "part.toml", "-o", "out"][..], &short].concat();
    let (status, out, err) = topopt(&here, &args);
    // Twelve iterations may miss a limit, which is said by the exit status 3.
    assert!(status == 0 || status == 3, "{status}: {out}{err}");
    let density = folder.array("out/design.vtu", "density");
    let [nx, ny, _] = SIZES;
    for (element, x) in density.iter().enumerate() {
        let (along, y, rest) = (element % nx, element / nx % ny, element / (nx * ny));
        let mirrored = density[along + nx * (ny - 1 - y + ny * rest)];
        assert!((x - mirrored).abs() < 1e-6, "{element}: {x} and {mirrored}");
        assert!(along + 1 < nx || *x == 1.0, "{element}: {x}");
    }
}

/// STAMP makes a sheet, whose widths follow from its thickness.
#[test]
fn stamped_parts_have_a_thickness() {
    let design = DESIGN.replace("SPLIT", "SINGLE").replace(",OBST,2", ",STAMP,3.5\n,OBST,2");
    let (folder, case, out) = case_of(CONTROL, &design);
    assert!(out.contains("not carried over: MEMBSIZ of DTPL 1"), "{out}");
    let mold = "draw_direction = [0.0, 0.0, 1.0]\nsides = 1\nthickness = 3.5\n";
    assert!(case.contains(mold) && !case.contains("member_size"), "{case}");
    let (status, out, err) = topopt(&folder.path(""), &["check", "part.toml"]);
    assert_eq!((status, err.as_str()), (0, ""), "{out}");
    let (_, _, out) = case_of(CONTROL, &DESIGN.replace(",OBST,2", ",STAMP,3.5\n,OBST,2"));
    assert!(out.contains("not carried over: DTPL with STAMP of two sides"), "{out}");
}

/// A path that closes has no ends, along which a section would be constant.
#[test]
fn closed_paths_of_extrusion_are_lost() {
    let path = "EXTR,NOTWIST\n,EPATH1,1,2,13,12,1\n";
    let design = DESIGN.replace("DRAW,SPLIT,0.,0.,0.,0.,0.,1.\n,OBST,2\n", path);
    let (_, case, out) = case_of(CONTROL, &design);
    assert!(out.contains("whose path (EPATH1) ends at grid 1, where it begins"), "{out}");
    assert!(!case.contains("extrusion\"\npath"), "{case}");
}

/// Shares and sums of the deck are those of the case: of 360 elements with the volume 1 and the
/// mass 2, 36 are not designed.
#[test]
fn limits_have_the_units_of_the_case() {
    let control = CONTROL.replace("DESOBJ(MIN) = 3", "DESOBJ(MIN) = 5");
    for (response, bounds, lines) in [
        ("VOLFRAC", ",0.5", "[design]\nvolume_fraction = 0.5\n"),
        ("VOLUME", ",198.", "[design]\nvolume_fraction = 0.5\n"),
        ("VOLUME,PSOLID,,,,1", ",81.", "set = \"property_1\"\nat_most = 0.25"),
        ("MASS", ",360.", "response = \"mass\"\nat_most = 360.0\n"),
        ("MASSFRAC", ",0.5", "response = \"mass\"\nat_most = 360.0"),
        ("MASSFRAC,PSOLID,,,,1", "0.25", "set = \"property_1\"\nat_least = 162.0"),
        ("WCOMP", ",10.", "response = \"compliance\"\nat_most = 20.0"),
    ] {
        let design = format!(
            "DTPL,1,PSOLID,1\nDRESP1,5,m,MASS\nDRESP1,2,tip,DISP,,,3,,11\nDRESP1,9,r,{response}\n\
             DCONSTR,20,9,{bounds}\nDCONSTR,21,2,-9.\n"
        );
        let (folder, case, out) = case_of(&control, &design);
        assert!(!out.contains("not carried over"), "{response}: {out}");
        assert!(case.contains("[objective]\nminimize = \"mass\"\n"), "{case}");
        assert!(case.contains(lines), "{response}: {case}");
        let (status, out, err) = topopt(&folder.path(""), &["check", "part.toml"]);
        assert_eq!((status, err.as_str()), (0, ""), "{response}: {out}");
    }
}

/// A limit that no design could exceed, or keep, is said; an objective without a counterpart needs
/// the user's word.
#[test]
fn what_has_no_counterpart_is_said() {
    for (control, design, said) in [
        ("", "DCONSTR,20,9,,500.\n", "the limit DCONSTR 20: it allows the full design space"),
        ("", "DCONSTR,20,9,,30.\n", "the limit DCONSTR 20: no design keeps it"),
        ("DESOBJ(MIN) = 8\n", "DCONSTR,20,9,,100.\n", "the objective DESOBJ(MIN) = 8"),
    ] {
        let cards = "DTPL,1,PSOLID,1\nDRESP1,9,v,VOLUME\nDRESP1,8,f,FREQ,,,1\n";
        let control = format!("{control}DESGLB = 20\nSPC = 1\nLOAD = 2\nBEGIN BULK\n");
        let (folder, case, out) = case_of(&control, &format!("{cards}{design}"));
        assert!(out.contains(&format!("not carried over: {said}")), "{out}");
        assert!(case.contains(&format!("# Not carried over: {said}")), "{case}");
        let (status, out, err) = topopt(&folder.path(""), &["check", "part.toml"]);
        assert_eq!(status, 1, "{out}{err}");
        let why = match control.contains("DESOBJ") {
            true => "[objective] has neither `minimize` nor `maximize`",
            false => "[design] has no `volume_fraction`",
        };
        assert!(err.contains(why), "{err}");
    }
}
