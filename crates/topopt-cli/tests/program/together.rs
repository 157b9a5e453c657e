//! Demands that go together, and those that do not: each pair of the guide's tables, so that guide
//! and program say the same.

use std::collections::BTreeSet;

use topopt_case::config;

use crate::{Folder, topopt};

const GUIDE: &str = include_str!("../../../../docs/guide/src/manufacturing.md");

/// A cell of a table of the guide, with pairs of demands that it allows, and that it refuses with a
/// reason.
struct Cell {
    row: &'static str,
    column: &'static str,
    text: &'static str,
    goes: &'static [[&'static str; 2]],
    refused: &'static [[&'static str; 2]],
    reason: &'static str,
}

const fn cell(
    [row, column, text]: [&'static str; 3],
    goes: &'static [[&'static str; 2]],
    refused: &'static [[&'static str; 2]],
) -> Cell {
    Cell { row, column, text, goes, refused, reason: "do not go together" }
}

impl Cell {
    const fn because(self, reason: &'static str) -> Self {
        Self { reason, ..self }
    }
}

const X: &str = "kind=\"symmetry\",point=[5,2.5,2.5],normal=[1,0,0]";
const Y: &str = "kind=\"symmetry\",point=[5,2.5,2.5],normal=[0,1,0]";
const Z: &str = "kind=\"symmetry\",point=[5,2.5,2.5],normal=[0,0,1]";
const YZ: &str = "kind=\"symmetry\",point=[5,2.5,2.5],normal=[0,1,1]";
/// Planes at 60, 30 and 50 degrees to `Y`, at 1 radian, and beside it.
const Y60: &str = "kind=\"symmetry\",point=[5,2.5,2.5],normal=[0,0.5,0.8660254037844386]";
const Y30: &str = "kind=\"symmetry\",point=[5,2.5,2.5],normal=[0,0.8660254037844386,0.5]";
const Y50: &str =
    "kind=\"symmetry\",point=[5,2.5,2.5],normal=[0,0.6427876096865394,0.766044443118978]";
const Y1: &str =
    "kind=\"symmetry\",point=[5,2.5,2.5],normal=[0,0.5403023058681398,0.8414709848078965]";
const BESIDE: &str = "kind=\"symmetry\",point=[5,1.5,2.5],normal=[0,1,0]";

const TURN: &str = "kind=\"cyclic\",point=[5,2.5,2.5],axis=[1,0,0],sectors=4";
const HALF: &str = "kind=\"cyclic\",point=[5,2.5,2.5],axis=[1,0,0],sectors=2";
const THIRD: &str = "kind=\"cyclic\",point=[5,2.5,2.5],axis=[1,0,0],sectors=3";
const TURN_Y: &str = "kind=\"cyclic\",point=[5,2.5,2.5],axis=[0,1,0],sectors=4";
const HALF_Y: &str = "kind=\"cyclic\",point=[5,2.5,2.5],axis=[0,1,0],sectors=2";

const CELLS_X: &str = "kind=\"pattern\",pitch=[2,0,0]";
const LONG_X: &str = "kind=\"pattern\",pitch=[4,0,0]";
const ODD_X: &str = "kind=\"pattern\",pitch=[3,0,0]";
const CELLS_Y: &str = "kind=\"pattern\",pitch=[0,1,0]";
const CELLS_XZ: &str = "kind=\"pattern\",pitch=[2,0,2]";

const ALONG_X: &str = "kind=\"extrusion\",direction=[1,0,0]";
const ALONG_Y: &str = "kind=\"extrusion\",direction=[0,1,0]";
const ALONG_Z: &str = "kind=\"extrusion\",direction=[0,0,1]";
const ALONG_YZ: &str = "kind=\"extrusion\",direction=[0,1,1]";

const PLANES_X: &str = "kind=\"uniform\",normal=[1,0,0]";
const PLANES_Y: &str = "kind=\"uniform\",normal=[0,1,0]";
const PLANES_Z: &str = "kind=\"uniform\",normal=[0,0,1]";
const PLANES_YZ: &str = "kind=\"uniform\",normal=[0,1,1]";

const PRINTED: &str = "kind=\"overhang\",build_direction=[0,1,0]";
const CAST: &str = "kind=\"casting\",draw_direction=[0,1,0]";
const MOLD: &str = "kind=\"casting\",draw_direction=[0,1,0],sides=2";
const PARTED: &str = "kind=\"casting\",draw_direction=[0,1,0],parting=[0,2.5,0]";
const PARTED_LOW: &str = "kind=\"casting\",draw_direction=[0,1,0],parting=[0,2,0]";
const SHEET: &str = "kind=\"casting\",draw_direction=[0,1,0],thickness=3.02";
const MILLED: &str = "kind=\"milling\",tool_directions=[[0,1,0]]";
const BOTH: &str = "kind=\"milling\",tool_directions=[[0,1,0],[0,-1,0]]";
const FOUR: &str = "kind=\"milling\",tool_directions=[[0,1,0],[0,-1,0],[0,0,1],[0,0,-1]]";
const OPEN: &str = "kind=\"open_voids\"";
const WIDE: &str = "kind=\"member_size\",minimum=3";

const COPY: &str = "kind=\"copy\",origin=[0,0,0],size=[4,5,5],to=[6,0,0]";
/// A copy of that box turned about x, copies of a smaller box, and one of such a copy.
const TURNED: &str =
    "kind=\"copy\",origin=[0,0,0],size=[4,5,5],to=[6,5,0],to_x=[1,0,0],to_y=[0,0,1]";
const NEXT: &str = "kind=\"copy\",origin=[0,0,0],size=[2,5,5],to=[4,0,0]";
const FAR: &str = "kind=\"copy\",origin=[0,0,0],size=[2,5,5],to=[8,0,0]";
const FROM_NEXT: &str = "kind=\"copy\",origin=[4,0,0],size=[2,5,5],to=[8,0,0]";

const COPIED: [Cell; 11] = [
    cell(
        ["copy", "copy", "boxes apart, or copies of one box"],
        &[[NEXT, FAR]],
        &[[NEXT, FROM_NEXT], [COPY, FAR]],
    )
    .because("has elements that another box of a copy has"),
    cell(["symmetry", "copy", "plane that halves both boxes"], &[[Y, COPY]], &[[X, COPY]]),
    cell(["cyclic", "copy", "axis through both boxes"], &[[TURN, COPY]], &[[HALF_Y, COPY]]),
    cell(
        ["pattern", "copy", "way between the boxes of whole pitches, or across it"],
        &[[CELLS_X, COPY], [CELLS_Y, COPY]],
        &[[LONG_X, COPY]],
    ),
    cell(
        ["extrusion", "copy", "direction that the boxes keep"],
        &[[ALONG_Z, COPY], [ALONG_X, COPY]],
        &[[ALONG_Z, TURNED]],
    ),
    cell(
        ["uniform", "copy", "normal that the boxes keep"],
        &[[PLANES_Y, COPY]],
        &[[PLANES_Y, TURNED]],
    ),
    cell(
        ["overhang", "copy", "boxes upright and at the same height"],
        &[[PRINTED, COPY]],
        &[[PRINTED, TURNED]],
    ),
    cell(
        ["casting", "copy", "boxes along one draw and at the same height"],
        &[[CAST, COPY]],
        &[[CAST, TURNED]],
    ),
    cell(
        ["milling", "copy", "boxes along one tool and at the same height"],
        &[[MILLED, COPY]],
        &[[MILLED, TURNED]],
    ),
    cell(["open_voids", "copy", "none, nor with `method = \"printed\"`"], &[], &[[OPEN, COPY]]),
    cell(["member_size", "copy", "any"], &[[WIDE, COPY]], &[]),
];

const EQUAL: [Cell; 15] = [
    cell(
        [
            "symmetry",
            "symmetry",
            "planes that meet at 90, 60, 45, 30 or another fraction of 180 degrees",
        ],
        &[[Y, Z], [Y, Y60], [Y, YZ], [Y, Y30], [Y, Y50]],
        &[[Y, BESIDE], [Y, Y1]],
    )
    .because("mirror each other again and again"),
    cell(["symmetry", "cyclic", "plane across the axis"], &[[X, TURN]], &[[Y, TURN]]),
    cell(["symmetry", "pattern", "plane along the pitch"], &[[Y, CELLS_X]], &[[X, CELLS_X]]),
    cell(
        ["symmetry", "extrusion", "plane along or across the direction"],
        &[[Y, ALONG_Z], [Z, ALONG_Z]],
        &[[YZ, ALONG_Z]],
    ),
    cell(
        ["symmetry", "uniform", "planes along or across each other"],
        &[[Y, PLANES_Y], [Z, PLANES_Y]],
        &[[YZ, PLANES_Y]],
    ),
    cell(
        [
            "cyclic",
            "cyclic",
            "same axis, a multiple of the sectors; two sectors about an axis across the other",
        ],
        &[[HALF, TURN], [TURN, HALF_Y]],
        &[[HALF, THIRD], [TURN, TURN_Y]],
    ),
    cell(["cyclic", "pattern", "pitch along the axis"], &[[TURN, CELLS_X]], &[[TURN, CELLS_Y]]),
    cell(
        ["cyclic", "extrusion", "direction along the axis"],
        &[[TURN, ALONG_X]],
        &[[TURN, ALONG_Z]],
    ),
    cell(["cyclic", "uniform", "normal along the axis"], &[[TURN, PLANES_X]], &[[TURN, PLANES_Y]]),
    cell(
        ["pattern", "pattern", "pitches with whole cells"],
        &[[CELLS_X, LONG_X], [CELLS_X, CELLS_Y]],
        &[[CELLS_X, ODD_X]],
    ),
    cell(
        ["pattern", "extrusion", "pitch along or across"],
        &[[CELLS_X, ALONG_X], [CELLS_X, ALONG_Z]],
        &[[CELLS_XZ, ALONG_Z]],
    ),
    cell(
        ["pattern", "uniform", "pitch along or across"],
        &[[CELLS_X, PLANES_X], [CELLS_X, PLANES_Z]],
        &[[CELLS_XZ, PLANES_Z]],
    ),
    cell(
        ["extrusion", "extrusion", "along or across each other"],
        &[[ALONG_Z, ALONG_Y], [ALONG_Z, ALONG_Z]],
        &[[ALONG_Z, ALONG_YZ]],
    ),
    cell(
        ["extrusion", "uniform", "direction along or across the normal"],
        &[[ALONG_Z, PLANES_Y], [ALONG_Y, PLANES_Y]],
        &[[ALONG_YZ, PLANES_Y]],
    ),
    cell(
        ["uniform", "uniform", "normals along or across each other"],
        &[[PLANES_Y, PLANES_Z], [PLANES_Y, PLANES_Y]],
        &[[PLANES_Y, PLANES_YZ]],
    ),
];

const MADE: [Cell; 25] = [
    cell(["overhang", "symmetry", "plane along the build"], &[[PRINTED, Z]], &[[PRINTED, Y]]),
    cell(["overhang", "cyclic", "axis along the build"], &[[PRINTED, TURN_Y]], &[[PRINTED, HALF]]),
    cell(
        ["overhang", "pattern", "pitch across the build"],
        &[[PRINTED, CELLS_X]],
        &[[PRINTED, CELLS_Y]],
    ),
    cell(
        ["overhang", "extrusion", "direction across the build"],
        &[[PRINTED, ALONG_Z]],
        &[[PRINTED, ALONG_Y]],
    ),
    cell(
        ["overhang", "uniform", "normal along the build"],
        &[[PRINTED, PLANES_Y]],
        &[[PRINTED, PLANES_Z]],
    ),
    cell(
        ["casting", "symmetry", "plane along the draw, or across two sides"],
        &[[CAST, Z], [MOLD, Y], [PARTED, Y]],
        &[[CAST, Y], [CAST, YZ], [PARTED_LOW, Y]],
    ),
    cell(
        ["casting", "cyclic", "axis along the draw, or two sectors across two sides"],
        &[[CAST, TURN_Y], [MOLD, HALF], [PARTED, HALF]],
        &[[CAST, HALF], [MOLD, TURN]],
    ),
    cell(["casting", "pattern", "pitch across the draw"], &[[CAST, CELLS_X]], &[[CAST, CELLS_Y]]),
    cell(
        ["casting", "extrusion", "direction across the draw"],
        &[[CAST, ALONG_Z]],
        &[[CAST, ALONG_Y]],
    ),
    cell(["casting", "uniform", "normal along the draw"], &[[CAST, PLANES_Y]], &[[CAST, PLANES_Z]]),
    cell(
        ["milling", "symmetry", "plane that mirrors tools to tools"],
        &[[MILLED, Z], [BOTH, Y], [FOUR, YZ]],
        &[[MILLED, Y], [BOTH, YZ]],
    ),
    cell(
        ["milling", "cyclic", "axis that turns tools to tools"],
        &[[MILLED, TURN_Y], [BOTH, HALF], [FOUR, TURN]],
        &[[MILLED, HALF], [BOTH, TURN]],
    ),
    cell(["milling", "pattern", "pitch across all tools"], &[[FOUR, CELLS_X]], &[[BOTH, CELLS_Y]]),
    cell(
        ["milling", "extrusion", "direction across all tools"],
        &[[FOUR, ALONG_X]],
        &[[FOUR, ALONG_Z]],
    ),
    cell(
        ["milling", "uniform", "normal along all tools"],
        &[[BOTH, PLANES_Y]],
        &[[FOUR, PLANES_Y]],
    ),
    cell(["open_voids", "symmetry", "any"], &[[OPEN, Y], [OPEN, YZ]], &[]),
    cell(["open_voids", "cyclic", "any"], &[[OPEN, TURN], [OPEN, THIRD]], &[]),
    cell(["open_voids", "pattern", "none"], &[], &[[OPEN, CELLS_X], [OPEN, CELLS_Y]]),
    cell(["open_voids", "extrusion", "any"], &[[OPEN, ALONG_Z], [OPEN, ALONG_YZ]], &[]),
    cell(["open_voids", "uniform", "any"], &[[OPEN, PLANES_Y], [OPEN, PLANES_YZ]], &[]),
    cell(["member_size", "symmetry", "any"], &[[WIDE, Y], [WIDE, YZ]], &[]),
    cell(["member_size", "cyclic", "any"], &[[WIDE, TURN], [WIDE, THIRD]], &[]),
    cell(["member_size", "pattern", "any"], &[[WIDE, CELLS_X], [WIDE, CELLS_XZ]], &[]),
    cell(["member_size", "extrusion", "any"], &[[WIDE, ALONG_Z], [WIDE, ALONG_YZ]], &[]),
    cell(["member_size", "uniform", "any"], &[[WIDE, PLANES_Y], [WIDE, PLANES_YZ]], &[]),
];

const ONE_WAY: &str = "a part is made in one way, printed, cast or milled";
const ONE_DIRECTION: &str = "a part is made in one direction, printed or cast";

const WAYS: [Cell; 15] = [
    cell(["overhang", "overhang", "none"], &[], &[[PRINTED, PRINTED]])
        .because("a part is printed in one direction"),
    cell(["overhang", "casting", "none"], &[], &[[PRINTED, CAST]]).because(ONE_DIRECTION),
    cell(["overhang", "milling", "none"], &[], &[[PRINTED, MILLED]]).because(ONE_WAY),
    cell(["overhang", "open_voids", "any"], &[[PRINTED, OPEN]], &[]),
    cell(["overhang", "member_size", "any"], &[[PRINTED, WIDE]], &[]),
    cell(["casting", "casting", "none"], &[], &[[CAST, CAST], [CAST, SHEET]])
        .because(ONE_DIRECTION),
    cell(["casting", "milling", "none"], &[], &[[CAST, MILLED], [SHEET, MILLED]]).because(ONE_WAY),
    cell(["casting", "open_voids", "without a `thickness`"], &[[CAST, OPEN]], &[[SHEET, OPEN]])
        .because("a sheet encloses no void"),
    cell(["casting", "member_size", "without a `thickness`"], &[[CAST, WIDE]], &[[SHEET, WIDE]])
        .because("ask for the widths of the same members"),
    cell(["milling", "milling", "any"], &[[MILLED, BOTH]], &[]),
    cell(["milling", "open_voids", "any"], &[[MILLED, OPEN]], &[]),
    cell(["milling", "member_size", "any"], &[[MILLED, WIDE]], &[]),
    cell(["open_voids", "open_voids", "none"], &[], &[[OPEN, OPEN]])
        .because("open voids are asked for twice"),
    cell(["open_voids", "member_size", "any"], &[[OPEN, WIDE]], &[]),
    cell(["member_size", "member_size", "none"], &[], &[[WIDE, WIDE]])
        .because("widths of members are asked for twice"),
];

fn cells() -> impl Iterator<Item = &'static Cell> {
    EQUAL.iter().chain(&MADE).chain(&WAYS).chain(&COPIED)
}

/// Row, column and text of each cell in the guide's tables of what goes together.
fn of_guide() -> BTreeSet<[String; 3]> {
    let (_, part) = GUIDE.split_once("\n## What goes together\n").unwrap();
    let part = part.split("\n## ").next().unwrap();
    let (mut all, mut columns) = (BTreeSet::new(), Vec::new());
    for line in part.lines().filter(|line| line.starts_with('|') && !line.starts_with("|--")) {
        let entries: Vec<&str> = line.trim_matches('|').split(" |").map(str::trim).collect();
        if entries[0].is_empty() {
            columns = entries;
            continue;
        }
        for (column, text) in
            columns.iter().zip(&entries).skip(1).filter(|(_, text)| !text.is_empty())
        {
            let [row, column] = [entries[0], column].map(|kind| kind.trim_matches('`').to_owned());
            all.insert([row, column, (*text).to_owned()]);
        }
    }
    all
}

#[test]
fn the_guide_has_a_cell_for_every_pair_of_demands() {
    let tried: BTreeSet<_> =
        cells().map(|cell| [cell.row, cell.column, cell.text].map(str::to_owned)).collect();
    let missing: Vec<_> = of_guide().symmetric_difference(&tried).cloned().collect();
    assert!(missing.is_empty(), "only in the guide, or only here: {missing:?}");

    let schema = config::schema();
    let kinds = &schema["properties"]["manufacturing"]["items"]["properties"]["kind"]["oneOf"];
    let kinds: Vec<_> =
        kinds.as_array().unwrap().iter().map(|kind| kind["const"].as_str().unwrap()).collect();
    for (i, a) in kinds.iter().enumerate() {
        for b in &kinds[i..] {
            let is_pair = |cell: &&Cell| [[*a, *b], [*b, *a]].contains(&[cell.row, cell.column]);
            assert!(cells().any(|cell| is_pair(&cell)), "{a} and {b} stand in no table");
        }
    }
}

/// `topopt check` of a small bar with demands: status and message.
fn checked(folder: &Folder, demands: &[&str]) -> (i32, String) {
    let all: Vec<_> = demands.iter().map(|demand| format!("{{{demand}}}")).collect();
    let demand = format!("manufacturing=[{}]", all.join(","));
    let radius = if demands.contains(&WIDE) { "" } else { ",radius_in_elements=1.8" };
    let filter = format!("filter={{kind=\"density\"{radius}}}");
    let design = "design={style=\"crisp\",volume_fraction=0.4}";
    let keys = [&demand, &filter, design].map(|key| ["--set", key]);
    let (status, _, err) =
        topopt(&folder.path(""), &[&["check", "case.toml"], keys.as_flattened()].concat());
    (status, err.replace("\n     | ", " "))
}

/// Tries the pairs of a cell, those that are refused in the other order; returns what is wrong.
fn wrong(folder: &Folder, cell: &Cell) -> Vec<String> {
    let mut all = Vec::new();
    for pair in cell.goes {
        let (status, err) = checked(folder, pair);
        if status != 0 {
            all.push(format!(
                "{pair:?} do not go together, where the guide says {}: {err}",
                cell.text
            ));
        }
    }
    for [a, b] in cell.refused {
        let (status, err) = checked(folder, &[b, a]);
        if status != 1 || !err.contains(cell.reason) || !err.contains("help: ") {
            all.push(format!("{a} and {b}, where the guide says {}: {status} {err}", cell.text));
        }
    }
    all
}

#[test]
fn what_the_guide_lets_go_together_does_and_the_rest_is_refused() {
    let wrong = std::thread::scope(|scope| {
        let part = |part: &'static [Cell]| {
            scope.spawn(move || {
                let folder = Folder::new();
                part.iter().flat_map(|cell| wrong(&folder, cell)).collect::<Vec<_>>()
            })
        };
        let threads = [part(&EQUAL), part(&MADE), part(&WAYS)];
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Every key that is a direction.
#[test]
fn directions_of_length_zero_are_refused() {
    let folder = Folder::new();
    for (demand, message) in [
        (Y.replace("[0,1,0]", "[0,0,0]"), "normal of a plane of symmetry has no direction"),
        (TURN.replace("[1,0,0]", "[0,0,0]"), "the axis of sectors has no length"),
        (format!("{TURN},mirrored=[0,0,0]"), "sectors mirror themselves is not across the axis"),
        (CELLS_X.replace('2', "0"), "the pitch of a pattern has no length"),
        (ALONG_X.replace('1', "0"), "the direction of extrusion has no length"),
        (PLANES_X.replace('1', "0"), "the normal of planes of constant density has no"),
        (PRINTED.replace('1', "0"), "has no length"),
        (CAST.replace('1', "0"), "the direction of draw has no length"),
        (MILLED.replace('1', "0"), "has no length"),
    ] {
        let (status, err) = checked(&folder, &[&demand]);
        assert!(status == 1 && err.contains(message) && err.contains("help: "), "{demand}: {err}");
    }
}
