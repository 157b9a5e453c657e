//! Numbers of the project's own text that may only fall. Raising one takes a reason beside it.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

use topopt_tests::imports::{Module, imports, modules};
use topopt_tests::{files, root, text};

/// Words with which the first sentence of a doc comment does not begin: they point at what stands
/// elsewhere.
const POINTING: [&str; 11] =
    ["What", "Where", "Of", "By", "Its", "It", "Which", "Those", "That", "The same", "As"];

/// Lines that a named closure may have; a longer one is a function.
const CLOSURE_LINES: usize = 3;

/// Name and largest value of a number, with the function that counts it.
type Number = (&'static str, usize, fn() -> usize);

const NUMBERS: [Number; 14] = [
    ("doc comments of `crates` that begin with a pointing word", 24, pointing_openings),
    ("named closures of `crates/*/src` over three lines", 74, long_closures),
    ("files of `crates/*/src` over 400 lines", 4, long_files),
    // Thirty-eight of these are signatures: of the gather on ranks and of floods, of optimizers, of a response,
    // of a second formulation and a second shape of elements, here and on a GPU.
    // Three are signatures of the linear system for SciPy, five those of smoothers and products of
    // ranks.
    ("runs of six lines in `crates/*/src` that stand twice", 104, repeated_runs),
    // Six count lists of demands of the making, three steps in single precision and levels.
    ("functions of bytes in `crates/*/src`", 61, byte_functions),
    // Two of these write and read the surface of a geometry, two verify on a mesh of the built
    // part, one finds where solid sets end, one keeps the surface, one is the linear system for
    // SciPy, one the options of an analysis, one solves thermal cases for the temperatures of
    // loads, one keeps the last whole design. Four are a GPU: as a place, building parts, with the
    // physics that it solves, and a stand-in where there is none. One has warnings at the end of a
    // run, one tells whether a surface is that of its design. Two begin runs on coarser elements, one settles
    // their last design.
    ("files of topopt-study", 116, || of_crate("study").count()),
    // One finds planes of symmetry, one moves a case to a mesh of the built part; three name the
    // faces of a geometry, list them and write a case; one is the response of a caller, one the
    // hexahedra of a geometry. Fifteen are demands of the making, a file per kind, with their
    // folds, weights and measures, and keys that kinds declare; two are widths and a measure. Five
    // are laws of elasticity with what they share, two their place among keys and elements, two
    // materials by name. Eight are thermal strains: two loads with their keys, three expansions,
    // temperatures of other meshes. One are findings on supports and loads, once in the model; one
    // are transforms and forces of a caller. Three are candidate materials with their keys
    // and findings. Four are milled parts, open voids and what sweeps and names share; two design
    // spaces, one places with smaller elements, one design cards of decks, one the measures of
    // responses, one the curve of a profile, one methods of making. Four are bodies of a design
    // space: their faces, names, selections and holes, one bodies of a mesh that overlap or touch.
    // Two are a built part, measured by each kind, and the sweeps of kinds. One halves models.
    // One counts cubes in cells, one copies a box. Two are cases on coarser meshes.
    ("files of topopt-case", 159, || of_crate("case").count()),
    // One are thermal cases, solved before the studies that take their temperatures. Two are what a
    // program may leave out: a GPU as a place, and the solvers of a physics there. Two begin a run on
    // coarser elements.
    ("floors of topopt-study", 22, || floors("study")),
    // The last two are faces that are selected before there is a mesh, and holes that have them.
    ("floors of topopt-case", 19, || floors("case")),
    ("files that name a response and are not its own", 4, || naming(&RESPONSES)),
    // The last one writes the case of a geometry.
    ("files that name a load and are not its own", 14, || naming(&LOADS)),
    // One is a response that filters.
    ("files that name a transform and are not its own", 10, || naming(&TRANSFORMS)),
    ("files that tell one physics from others", 13, || naming(&PHYSICS)),
    ("bytes of ARCHITECTURE.md", 14_336, architecture_bytes),
];

/// Lines of Rust in `src` of each crate, without blank ones. Raised: case by 31 for the rows of
/// data of its physics, less what study and cli lost; fem and linalg by 145 for the backend that
/// counts memory, as many as the other crates lost; cuda, design and linalg by 396 for sparse maps
/// between spaces; fem by 791 for hexahedra that do not lock, case and lab by 48 for the key that
/// chooses them; case by 12 for meshes in memory; fem, mesh, io, study, case, cli, cuda, surface
/// and testing by 4000 for tetrahedra of ten nodes, thin members, and stresses at nodes with the
/// error of the mesh; cuda, lab, fem, mesh, io, case, study, linalg, cli and analysis by 980 for
/// tetrahedra on a GPU and to files, their stresses at nodes, and analyses that rounding ends;
/// cuda, fem, linalg, mesh and study by 1500 for multigrid of tetrahedra on a GPU; case, design,
/// study, fem, linalg, analysis and cli by 1700 for crisp designs in stages, symmetry, islands,
/// observers and a typed summary; study by 250, less 154 of cli, for the work of commands that is
/// compiled once; fem, case and io by 67 for properties of elements, long functions in two, and
/// comments; fem, linalg, cuda, case and study by 320 for multigrid of tetrahedra that keeps its
/// iterations; case and mesh by 260 for planes of symmetry that are found, and a key of the style;
/// case and fem by 23 for places that are sorted, and couplings that are found, once; distance, io,
/// study, cli and case by 410 for a faster search of triangles, surfaces of geometries, and
/// measures of surfaces, for which surface lost 140; study, case and cli by 470 for a verification
/// on a mesh of the built part; io by 1500 for the faces of a geometry with their forms, names and
/// numbers, case by 520, cli by 170, report by 240 and mesh by 10 for selections, cases and pages
/// of them; study by 200 and surface by 150 for solid sets that end where their regions do, and
/// cones that are summed in a tenth of the time; case, design, study, io, analysis and cli by 800
/// for analyses and verifications in memory, responses of the caller, grids in memory and the
/// linear system, all for Python; 2863 of hexmesh are the mesher of hexahedra; mesh by 236 for the
/// search of triangles, which distance, io and hexmesh had each; io by 20 for folders that are
/// watched until they are gone; study by 115, surface by 50, report and cli by 8 for a surface that
/// is made once and kept, and volumes of nodes on a mesh of the built part; mesh by 24 for a tree
/// that all threads build; io by 330, case by 241, hexmesh by 92, cli by 20 and mesh by 4 for
/// geometries meshed by hexahedra, with their faces and groups, places of faults, and tangent
/// curves; case by 1200 for seven kinds of demands of the making with their keys, weights, refusals
/// and measures; design by 960 for shared variables by weights, and for supports of parts that are
/// printed or cast, with Delaunay tetrahedra and their gates; study, cli and linalg by 16 for what
/// is measured of them; fem by 814, case by 622, io by 191 and study by 22 for laws of elasticity
/// of single elements, materials by name, and such materials of decks; fem by 460, case by 615, io
/// by 330, study by 120, mesh by 80, analysis by 70 and cli, design and python by 20 for thermal
/// strains with their derivatives and decks, temperatures of thermal cases, supports that turn, and
/// places of points in a mesh, which surface lost; case by 302, design by 240, surface by 30 and
/// study by 20 for least widths of members and gaps, with the void around the part and the measures
/// of both; fem by 182, cuda by 63 and linalg by 11 for multigrid of tetrahedra on ranks; study by
/// 17 for a warning of designs that fall apart; io by 16 for temperatures of decks whose materials
/// do not expand; fem by 480, analysis by 145, study, case and cli by 260, io and design by 35 for
/// inertia relief with its derivatives, accelerations and decks; fem by 325, mesh by 121, study by
/// 66, linalg by 13, cli and python by 1 for heat and the Helmholtz filter on tetrahedra: mass
/// lumped and consistent, films of either sign, linear tetrahedra, places; case by 100, study by 43
/// and mesh by 12 for temperatures that lie outside the part, doubts of rotations and widths,
/// demands of the making as limits; fem by 94 for the bound of flat elements; design by 53 for
/// stages that keep the solved volume; case by 61 for elements that repeat each other, and study by
/// 15 for what filters of small radii do; study by 300 for crisp runs that go back to their last
/// whole design, of that 70 for its tests; fem, mesh, case, linalg, design, io and cuda by 224 for
/// what begins and ends a run by all threads, of that 100 in tests; fem by 128 for solvers of the
/// processor that are compiled once, and study lost 80 of these; cuda by 32 for kernels that are
/// unpacked by all threads; study by 164 for GPUs that a program may leave out; study by 77, of
/// that 30 for a test, design by 73 and case by 15 for crisp runs that keep limits of states;
/// surface by 209 for members of one element that stay whole, and crossings that are undone where
/// they are; study by 60 for interruptions of the last solves, and a warning of members that break;
/// design by 5 for excesses found in one place; surface by 18, study by 99, case by 7 and cli by 13
/// for designs that have fallen apart or broken, which verification, export and report say; surface
/// by 60 for volumes that are kept without a further cut, and mesh by 21 for searches that take no
/// memory; surface by 17, case by 12, study by 8 and cli by 1 for cast parts that come out of their
/// mold as built; design by 38, study by 30 and python by 53 for callbacks that change settings;
/// case by 135, python by 165, analysis by 115, design by 75, study by 28 and cli by 3 for
/// transforms and forces of the caller's; cuda by 348 and fem by 17 for laws of single elements on
/// a GPU; design by 462, case by 263, study by 57 and python by 5 for materials that designs
/// choose, of that 190 in tests; cuda by 126 for machine code of kernels, of that 70 in tests;
/// hexmesh by 640 for mirror planes and volumes, io by 300 for holes between facets, and materials
/// and reference temperatures of decks; design by 140, case by 60, study by 5 and surface by 3 for
/// largest widths of members; case by 1156, design by 552, hexmesh by 305, io by 1265, study by 58,
/// surface by 324, testing by 42 and cli by 8 for milled parts and open voids, design spaces of
/// kept parts, smaller elements in places, bodies that overlap, and design cards of OptiStruct, of
/// that 500 in tests; design by 59, linalg by 29 and study by 25 for adjoint solves from those of
/// the design before; design by 4 for values that one function carries to the host; case by 700,
/// design by 104, surface by 48, mesh and study by 7 for partings and drafts of molds, profiles
/// along curves, and methods of making, of that 190 in tests; hexmesh by 869, io by 50 and case by
/// 18 for bodies that share faces, of that 460 for skins, cells and layers of several bodies, 120
/// for contacts; case by 750, surface by 625 and io by 21 for faces of the bodies of a design
/// space, holes that are filled, layers of kept parts, and cylinders that bodies share; linalg by
/// 320, cuda by 318, design by 255, study by 20, fem by 8 and cli by 1 for steps of solves in less
/// precision, sweeps on a GPU, and supports in blocks; hexmesh by 755 and case by 20 for
/// transitions to smaller elements, of that 190 in tests and 170 for patterns of hexahedra; mesh by
/// 253, case by 235, io by 75, hexmesh by 60, surface by 27, study by 11 and cli by 7 for bodies
/// that overlap, touch, are left out or repeat faces, for faces between bodies, and directions of
/// any length, of that 80 in tests; surface by 600, of that 190 in tests, case by 205, io by 26 and
/// study by 5 for measures of built parts by their surface and by hexahedra, whole members on
/// plates, and demands of decks; fem by 246, mesh by 191, of that 60 in tests, case and analysis by
/// 140, study by 60, testing by 31 and cuda by 20 for halves of models that mirror themselves;
/// design by 339, case by 154, surface by 53, io by 38 and study by 2 for sheets that are stamped,
/// of that 20 in tests; surface by 380, mesh by 130 and report by 35 for level surfaces, trees of
/// boxes, normals and pictures that all threads make; design by 200, case by 150 and study by 70
/// for thicker designs of mechanisms and loads that no printed part carries; case by 140, cli by
/// 40, study by 55, linalg and design by 30 and surface by 20 for plates and solid elements in the
/// air, numbers of options, mechanisms that are cut, variables that rest, and thresholds that are
/// none; surface by 203, case by 71 and io by 1 for half-edges that all threads pair, and cubes
/// that are counted by blocks of cells, of that 60 in tests; mesh by 246, of that 95 in tests, and
/// linalg by 2 for boundaries that are searched once, images of places by their sides, and gathered
/// places, which case had; io by 1220 and case by 65 for parameter files of Tosca and tools wider
/// than the part; design by 75, of that 55 in tests, for densities that are evened at last, changes
/// by rounding, and gaps that nothing is printed across; case by 120, io by 20 and study by 6 for
/// what designs leave in the air, sets of plates that mirror themselves, and models of parameter
/// files; mesh by 356 for Delaunay tetrahedra, which design had, rows by offsets of either size,
/// and vectors by components; report by 25 for pictures that are drawn by bands, study by 26 for
/// cases that are prepared while processes join, surface by 20 for a test of columns, and case by 9
/// for plates in place of the lowest faces; design by 117, all in tests, for plane lattices and what
/// holds exactly in printing on tetrahedra; io by 55 for decks of another program, models without a
/// mesh and values that are left out, and case by 29 for printed elements that are kept, and planes
/// that are not looked for; study by 36, io by 34, report by 30, surface by 26 and cli by 23 for
/// files that are read once, and for a surface and its model, measures, pictures and files that are
/// made at the same time; case by 294, cuda by 141, design by 105, linalg by 12, study by 29, cli by 21
/// and surface by 20 for copies, floods on a GPU, elements that rest on others, and pictures of what
/// misses a demand; fem by 199 and lab by 5 for conduction by modes of the gradient beside the Gauss
/// rule; study by 323, case by 247, of that 65 in tests, mesh by 74, half of that in tests, and design
/// by 8 for runs that begin on coarser elements; cuda by 23 and fem by 3 for products by half of a
/// matrix, linalg by 1 for smoothers over a bounded spectrum.
const LINES: [(&str, usize); 17] = [
    ("analysis", 1704),
    ("case", 20_229),
    ("cli", 5358),
    ("cuda", 11_839),
    ("design", 10_578),
    ("distance", 2366),
    ("fem", 16_716),
    ("hexmesh", 5600),
    ("io", 24_549),
    ("lab", 1816),
    ("linalg", 5484),
    ("mesh", 10_606),
    ("python", 1352),
    ("report", 2395),
    ("study", 14_850),
    ("surface", 5053),
    ("testing", 503),
];

/// Words, with the end of the path of files that may name them.
type Owned = (&'static [&'static str], &'static [&'static str]);

const RESPONSES: Owned = (
    &["output_displacement", "mean_temperature", "largest_temperature", "CaseCompliance"],
    &["case/src/responses/", "design/src/responses/", "case/src/formulation.rs"],
);
const LOADS: Owned = (
    &["total_force", "angular_velocity", "heat_flux", "heat_source", "total_heat", "bearing"],
    &["case/src/loads/", "fem/src/", "io/src/"],
);
const TRANSFORMS: Owned =
    (&["DensityFilter", "Projection"], &["design/src/transforms/", "case/src/formulation.rs"]);
const PHYSICS: Owned = (&["PhysicsKind::"], &["case/src/loads/", "case/src/responses/"]);

#[test]
fn numbers_of_the_text_do_not_rise() {
    let numbers = NUMBERS.iter().map(|(name, most, count)| (name.to_string(), *most, count()));
    let lines = LINES.iter().map(|(name, most)| {
        (format!("lines of Rust in topopt-{name}"), *most, of_crate(name).map(|p| lines(&p)).sum())
    });
    let risen = numbers.chain(lines).filter(|(_, most, found)| found > most);
    let risen: Vec<String> =
        risen.map(|(name, most, found)| format!("{found} {name}: {most} in the table")).collect();
    assert!(risen.is_empty(), "{risen:#?}");
}

#[test]
fn every_crate_has_a_number_of_lines() {
    let folders = std::fs::read_dir(root().join("crates")).expect("the crates are listed");
    let names = folders.map(|entry| entry.expect("a folder").file_name().into_string().unwrap());
    let known: Vec<String> = LINES.iter().map(|(name, _)| format!("topopt-{name}")).collect();
    let mut names: Vec<String> = names.collect();
    names.sort();
    assert_eq!(names, known);
}

#[test]
fn openings_and_closures_are_told_from_others() {
    let text =
        "/// What it is.\n/// Of a second line.\nfn f() {}\n/// Ofen.\nfn g() {}\n//! The same,\n";
    assert_eq!(openings(text), 2);
    let closures = "let f = |x| {\n    1;\n    2;\n    3;\n    4\n};\nlet g = |x| x;\nlet h = |x| {\n    x\n};\n";
    assert_eq!(closures_over(closures, 3), 1);
}

fn rust_of_crates() -> Vec<PathBuf> {
    files("crates", "rs")
}

fn sources() -> Vec<PathBuf> {
    let is_source = |path: &PathBuf| path.components().any(|part| part.as_os_str() == "src");
    rust_of_crates().into_iter().filter(is_source).collect()
}

fn pointing_openings() -> usize {
    rust_of_crates().into_iter().map(|path| openings(&text(path))).sum()
}

/// Counts doc comments in `text` whose first line begins with a pointing word.
fn openings(text: &str) -> usize {
    let mut count = 0;
    let mut is_in_comment = false;
    for line in text.lines().map(str::trim_start) {
        let doc = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        let begins = |opening: &str| POINTING.iter().any(|word| begins_with(opening, word));
        count += usize::from(!is_in_comment && doc.is_some_and(|doc| begins(doc.trim_start())));
        is_in_comment = doc.is_some();
    }
    count
}

fn begins_with(opening: &str, word: &str) -> bool {
    let rest = opening.strip_prefix(word);
    rest.is_some_and(|rest| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '\''))
}

fn long_closures() -> usize {
    sources().into_iter().map(|path| closures_over(&text(path), CLOSURE_LINES)).sum()
}

/// Counts closures that a `let` names and whose block has more than `most` lines.
fn closures_over(text: &str, most: usize) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    let is_named = |line: &str| {
        line.trim_start().starts_with("let ")
            && line.ends_with('{')
            && [" = |", " = move |"].iter().any(|start| line.contains(start))
    };
    let is_long = |&at: &usize| {
        let indent = lines[at].len() - lines[at].trim_start().len();
        let end = lines[at..].iter().position(|line| *line == format!("{}}};", " ".repeat(indent)));
        is_named(lines[at]) && end.is_some_and(|end| end - 1 > most)
    };
    (0..lines.len()).filter(is_long).count()
}

fn of_crate(name: &str) -> impl Iterator<Item = PathBuf> {
    files(format!("crates/topopt-{name}/src"), "rs").into_iter()
}

/// Counts the lines that are not blank: paragraphs cost nothing.
fn lines(path: &PathBuf) -> usize {
    text(path).lines().filter(|line| !line.trim().is_empty()).count()
}

/// Counts runs of six lines that stand a second time. Lines without a word, imports and comments
/// are passed over.
fn repeated_runs() -> usize {
    let mut seen = HashSet::new();
    let mut repeated = 0;
    for path in sources() {
        let text = text(path);
        let says = |line: &&str| {
            line.chars().filter(|c| c.is_alphanumeric()).count() > 3
                && !["use ", "pub use ", "//", "mod ", "pub mod "]
                    .iter()
                    .any(|s| line.starts_with(s))
        };
        let lines: Vec<&str> = text.lines().map(str::trim).filter(says).collect();
        repeated += lines.windows(6).filter(|run| !seen.insert(run.join("\n"))).count();
    }
    repeated
}

/// Counts functions that say how many bytes something takes.
fn byte_functions() -> usize {
    let is_one = |line: &&str| {
        let name = line.split("fn ").nth(1).and_then(|rest| rest.split(['(', '<']).next());
        name.is_some_and(|name| name.ends_with("bytes"))
    };
    sources().into_iter().map(|path| text(path).lines().filter(is_one).count()).sum()
}

/// Counts the floors of a crate: the most files of which each imports the next.
fn floors(name: &str) -> usize {
    let imports = imports(&modules(&format!("crates/topopt-{name}")));
    let mut heights: BTreeMap<&Module, usize> = BTreeMap::new();
    // Each round finds the files that stand on those found before; files in a circle are never
    // found.
    loop {
        let found = heights.len();
        for (module, below) in &imports {
            let below: Option<Vec<usize>> =
                below.iter().map(|other| heights.get(other).copied()).collect();
            if let Some(below) = below {
                heights.insert(module, 1 + below.into_iter().max().unwrap_or(0));
            }
        }
        if heights.len() == found {
            break;
        }
    }
    heights.into_values().max().unwrap_or(0)
}

/// Counts files that name one of some words, but for those that these belong to.
fn naming((words, owners): &Owned) -> usize {
    let is_free = |path: &PathBuf| {
        let path = path.to_string_lossy();
        !owners.iter().any(|owner| path.contains(&format!("topopt-{owner}")))
    };
    let names = |path: &PathBuf| {
        let text = text(path);
        words.iter().any(|word| text.contains(word))
    };
    sources().into_iter().filter(is_free).filter(names).count()
}

fn long_files() -> usize {
    sources().into_iter().filter(|path| text(path).lines().count() > 400).count()
}

fn architecture_bytes() -> usize {
    text("ARCHITECTURE.md").len()
}
