//! The words of decks that are carried over: small decks, each with one keyword, command or card
//! that bears on the result. Each is carried over with the right number, or `topopt init` says at
//! the top of the case that it is lost, or the case is refused: nothing else. The guide's page is
//! made of the same tables.
//!
//! `TOPOPT_WRITE=1 cargo test -p topopt-cli --test program carried` writes the page again. Numbers
//! by CalculiX are those of version 2.20 for the same deck.

mod abaqus;
mod ansys;
mod nastran;

use std::fmt::Write;
use std::path::Path;

use topopt_case::config::{Config, Device};
use topopt_case::interrupt::Interrupt;
use topopt_case::meshing::Gmsh;
use topopt_case::of_physics;
use topopt_study::analysis::Request;
use topopt_study::failure::Failure;
use topopt_study::output_folder::Earlier;
use topopt_study::studied::Studied;

use crate::{Folder, topopt};

const PAGE: &str = "docs/guide/src/carried.md";

const INTRODUCTION: &str = "\
# What of a deck is carried over?

`topopt init DECK` writes the case of a deck. Each keyword that bears on the result is carried over, or stands at the
top of the case behind `# Not carried over:`, as `topopt init` and `topopt info` print it. So does one that is not known at all.
Only requests for output, controls of the solver and the like are passed over without a word. A material that is
not understood has no number in the case, which is refused until you give one.

These tables are made by a test that puts each keyword into a deck, solves the case and compares a number.
";

/// The decks of a format.
struct Format {
    /// Heading of its part of the page.
    name: &'static str,
    /// Name of the deck.
    file: &'static str,
    /// Text of the page behind the tables.
    remarks: &'static str,
    rows: Vec<Row>,
}

/// A keyword in a deck.
struct Row {
    /// Words of the keyword on the page.
    keyword: &'static str,
    /// The deck, with the places `{model}` and `{step}`.
    base: &'static str,
    /// Text at the first place.
    model: &'static str,
    step: &'static str,
    becomes: Becomes,
}

/// Outcome of a keyword.
enum Becomes {
    /// Keys of the case, as the page shows them, and a number of the solved case.
    Carried(&'static str, Number),
    /// The case is refused; what the message says.
    Refused(&'static str),
    /// Lost, with a part of what is said.
    Said(&'static str),
}

/// A number of a solved case: the array, node from 1 and component from 0, and what it is by whom.
struct Number {
    array: &'static str,
    node: usize,
    component: usize,
    value: f64,
    by: By,
}

/// Source of a number.
#[derive(Clone, Copy, PartialEq)]
enum By {
    Hand,
    CalculiX,
}

impl Row {
    fn deck(&self) -> String {
        self.base.replace("{model}", self.model).replace("{step}", self.step)
    }
}

/// A displacement of node 12 in a direction, from 0, by CalculiX.
fn moves(keys: &'static str, component: usize, value: f64) -> Becomes {
    at(keys, "displacement", (12, component), value, By::CalculiX)
}

/// A component of an array of the solved case at a node.
fn at(
    keys: &'static str,
    array: &'static str,
    (node, component): (usize, usize),
    value: f64,
    by: By,
) -> Becomes {
    Becomes::Carried(keys, Number { array, node, component, value, by })
}

/// Inertia at node 12 along y of the free cubes of density 2 that are pushed there by 1 along y: of
/// the mass 4 and its moments of inertia 2/3 about x and 5/3 about z, the acceleration is 0.25 +
/// 0.6 x + 0.75 z from the center.
fn relief() -> Becomes {
    let keys = "`inertia_relief`";
    at(keys, "inertia_force", (12, 1), -2.0 * (0.25 / 8.0 + 0.6 / 12.0 + 0.75 / 48.0), By::Hand)
}

fn formats() -> Vec<Format> {
    vec![abaqus::format(), ansys::format(), nastran::format()]
}

#[test]
fn every_keyword_is_carried_refused_or_said() {
    let formats = formats();
    let rows = formats.iter().flat_map(|format| format.rows.iter().map(move |row| (format, row)));
    let rows: Vec<(&Format, &Row)> = rows.collect();
    // Calls of the program wait for files more than they compute.
    let failed: Vec<String> = std::thread::scope(|scope| {
        let parts = rows.chunks(rows.len().div_ceil(4));
        let threads: Vec<_> = parts.map(|part| scope.spawn(move || attempts(part))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// Tries rows and tells what is wrong.
fn attempts(rows: &[(&Format, &Row)]) -> Vec<String> {
    let why = |(format, row): &(&Format, &Row)| {
        let why = attempt(format.file, row).err()?;
        Some(format!("{} in {}: {why}", row.keyword, format.name))
    };
    rows.iter().filter_map(why).collect()
}

/// Tries a row; the error is why it does not become what it should.
fn attempt(file: &str, row: &Row) -> Result<(), String> {
    let folder = Folder::new();
    folder.write(file, &row.deck());
    let (status, out, err) = topopt(&folder.path(""), &["init", file]);
    let (name, here) = (Path::new(file).with_extension("toml"), folder.path(""));
    let name = name.to_str().unwrap();
    match &row.becomes {
        Becomes::Refused(why) if status != 0 => contains(&err, why),
        _ if status != 0 => Err(format!("init: {err}")),
        Becomes::Said(what) => {
            let line = |text: &str, mark: &str| {
                text.lines().any(|line| line.starts_with(mark) && line.contains(what))
            };
            let case = folder.read(name);
            let head = case.split("\n\n").next().unwrap_or_default();
            match line(&out, "  not carried over: ") && line(head, "# Not carried over: ") {
                true => Ok(()),
                false => Err(format!("`{what}` is not said:\n{out}{head}")),
            }
        }
        Becomes::Refused(why) => {
            let (status, out, err) = topopt(&here, &["solve", name, "-o", "out"]);
            if status == 0 { Err(format!("not refused: {out}")) } else { contains(&err, why) }
        }
        Becomes::Carried(_, number) if out.contains("not carried over") => {
            Err(format!("lost, and not {}: {out}", number.value))
        }
        Becomes::Carried(_, number) => solved(&folder, name, number),
    }
}

fn contains(text: &str, part: &str) -> Result<(), String> {
    // Lines are broken behind a bar.
    let words =
        |text: &str| text.replace('|', " ").split_whitespace().collect::<Vec<_>>().join(" ");
    let (text, part) = (words(text), words(part));
    if text.contains(&part) { Ok(()) } else { Err(format!("`{part}` is not in: {text}")) }
}

/// Compares a number of the case after its analysis. Not by `topopt solve`: the pictures of its
/// page take ten times as long as the solve, and there are some two hundred rows.
fn solved(folder: &Folder, case: &str, number: &Number) -> Result<(), String> {
    let is_heat = number.array.starts_with("temperature");
    let set = ["solver.tolerance=1e-12", "output.compression=none", "elements.kind=full"];
    let set = set.map(str::to_owned);
    let found = Config::load_for_analysis(&folder.path(case), &set[..3 - usize::from(is_heat)])
        .map_err(Failure::from)
        .and_then(|mut config| {
            config.output.directory = Some(folder.path("out"));
            config.solver.device = Device::Cpu;
            of_physics!(config.physics.kind, analyzed(&config))
        });
    if let Err(failure) = found {
        return Err(format!("solve: {failure}\n{}", folder.read(case)));
    }
    let width = if is_heat { 1 } else { 3 };
    let all = folder.array("out/analysis.vtu", number.array);
    let found = all[width * (number.node - 1) + number.component];
    // CalculiX prints seven digits.
    let off = (found - number.value).abs();
    if off <= 1e-6 * number.value.abs() {
        return Ok(());
    }
    Err(format!("{found} in place of {}\n{}", number.value, folder.read(case)))
}

/// Analyzes a case of one physics.
fn analyzed<K: Studied<N>, const N: usize>(config: &Config) -> Result<(), Failure> {
    let (earlier, gmsh) = (Earlier::Replace, Gmsh::default());
    let request = Request {
        design: None,
        density: None,
        mesh: None,
        files: Some(earlier),
        gauss: None,
        gmsh,
    };
    K::analyze(config, &request, &Interrupt::new()).map(drop)
}

#[test]
fn the_guide_says_what_is_carried() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(PAGE);
    let page = page();
    if std::env::var_os("TOPOPT_WRITE").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let remedy = "write it again: TOPOPT_WRITE=1 cargo test -p topopt-cli --test program carried";
    assert!(
        std::fs::read_to_string(path).unwrap() == page,
        "{PAGE} is not what it should be; {remedy}"
    );
}

fn page() -> String {
    let mut page = INTRODUCTION.to_owned();
    for Format { name, remarks, rows, .. } in &formats() {
        let _ = write!(page, "\n## {name}\n\n| carried | becomes | equal to |\n|---|---|---|\n");
        for row in rows {
            if let Becomes::Carried(keys, Number { by, .. }) = row.becomes {
                let by = if by == By::Hand { "the sum by hand" } else { "CalculiX" };
                let _ = writeln!(page, "| `{}` | {keys} | {by} |", row.keyword);
            }
        }
        let list = |is_in: fn(&Becomes) -> bool| {
            let mut names: Vec<_> = rows.iter().filter(|row| is_in(&row.becomes)).collect();
            names.sort_by_key(|row| row.keyword);
            names.dedup_by_key(|row| row.keyword);
            names.iter().map(|row| format!("`{}`", row.keyword)).collect::<Vec<_>>().join(", ")
        };
        let refused = list(|becomes| matches!(becomes, Becomes::Refused(_)));
        let said = list(|becomes| matches!(becomes, Becomes::Said(_)));
        let _ = write!(page, "\nThe deck or its case is refused: {refused}.\n");
        let _ =
            write!(page, "\nSaid at the top of the case, and not in it: {said}.\n\n{remarks}\n");
    }
    page
}
