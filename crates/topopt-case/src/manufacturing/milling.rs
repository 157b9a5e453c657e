//! Parts that are milled.

use topopt_design::Supports;
use topopt_mesh::HexMesh;
use topopt_mesh::vector::{length, unit};
use topopt_surface::Tool;

use super::built_part::BuiltPart;
use super::cast::filled_from;
use super::kind::{Asked, Key, MILLING as NAME, ManufacturingKind, sweeps_of};
use super::made::Made;
use crate::config::{Config, Manufacturing, Shape};
use crate::finding::Finding;

/// The kind `milling`.
pub(super) const MILLING: ManufacturingKind = ManufacturingKind {
    name: NAME,
    text: "The part is milled: every void is open to a tool from one direction at least. Several \
           entries hold tools of several diameters. It needs the density filter.",
    keys: &[
        Key::needed(
            DIRECTIONS,
            Shape::Vectors,
            "Directions from the part to where a tool comes from, of any length.",
        ),
        Key::optional(
            DIAMETER,
            Shape::Positive,
            "Diameter of the tool (length), of an element at least; by default it goes everywhere.",
        ),
    ],
    has_passive_images: false,
    has_ends: false,
    must_join: None,
    follows: true,
    suits,
    pose: |asked| fits(asked).map(|()| Vec::new()),
    measure: measured,
};

const DIRECTIONS: &str = "tool_directions";
const DIAMETER: &str = "diameter";

/// Most directions of all tools.
const MOST: usize = 100;

fn suits(config: &Config, entry: &Manufacturing) -> Option<[&'static str; 3]> {
    if sweeps_of(config).any(|other| other.kind.get_ref() != NAME) {
        return Some([
            "a part is made in one way, printed, cast or milled",
            "one of several",
            "keep the entries of one of the kinds `overhang`, `casting` and `milling`",
        ]);
    }
    let n_directions = |entry: &Manufacturing| entry.vectors(DIRECTIONS).map_or(0, |all| all.len());
    if entry.gives(DIRECTIONS) && n_directions(entry) == 0 {
        return Some([
            "`tool_directions` has no direction",
            "without a tool",
            "give the ways to where tools come from, such as [[0, 0, 1], [0, 0, -1]]",
        ]);
    }
    (sweeps_of(config).map(n_directions).sum::<usize>() > MOST).then_some([
        "tools come from more than 100 directions",
        "one of several",
        "give fewer `tool_directions`: each takes as long as a direction of draw",
    ])
}

/// Refuses tools without direction, and those that are narrower than an element or wider than the
/// part.
fn fits(asked: &Asked) -> Result<(), Finding> {
    directions(asked)?;
    let widest = extent(asked.centers) + asked.width;
    for entry in &asked.entries {
        if entry.number(DIAMETER).is_some_and(|diameter| diameter > widest) {
            let message = ["the tool is wider than the part", "fits nowhere", "give its diameter"];
            return Err(asked.finding(entry, DIAMETER, message));
        }
        let is_thin = |diameter: f64| diameter < (1.0 - 1e-9) * asked.width;
        if entry.number(DIAMETER).is_some_and(is_thin) {
            return Err(asked.finding(
                entry,
                DIAMETER,
                [
                    "the tool is narrower than an element",
                    "without effect on this mesh",
                    "leave out `diameter`, or give smaller elements",
                ],
            ));
        }
    }
    Ok(())
}

/// Diagonal of the box around `centers`.
fn extent(centers: &[[f64; 3]]) -> f64 {
    let along = |i: usize| {
        let at = || centers.iter().map(|center| center[i]);
        at().fold(f64::NEG_INFINITY, f64::max) - at().fold(f64::INFINITY, f64::min)
    };
    length([along(0), along(1), along(2)])
}

/// Directions of all tools, of length 1.
///
/// # Errors
/// A direction without length.
pub(super) fn directions(asked: &Asked) -> Result<Vec<[f64; 3]>, Finding> {
    let of_entry = |&entry: &&_| of_entry(asked, entry);
    Ok(asked.entries.iter().map(of_entry).collect::<Result<Vec<_>, _>>()?.concat())
}

fn of_entry(asked: &Asked, entry: &Manufacturing) -> Result<Vec<[f64; 3]>, Finding> {
    let given = entry.vectors(DIRECTIONS).unwrap_or_default();
    let all: Option<Vec<_>> = given.into_iter().map(unit).collect();
    let about = [
        "a direction of a tool has no length",
        "of length zero",
        "give the way to where the tool comes from, such as [0, 0, 1]",
    ];
    all.ok_or_else(|| asked.finding(entry, DIRECTIONS, about))
}

/// Measures the void that no tool reaches.
fn measured(asked: &Asked, part: &BuiltPart) -> Vec<Made> {
    let Ok(tools) = tools(asked) else { return Vec::new() };
    let missed = part.in_part.out_of_reach(&tools);
    vec![part.missing_void("out of reach of the tools".into(), &missed)]
}

/// Returns the tools that come to the part.
///
/// # Errors
/// A direction without length.
fn tools(asked: &Asked) -> Result<Vec<Tool>, Finding> {
    let mut all = Vec::new();
    for entry in &asked.entries {
        let radius = entry.number(DIAMETER).unwrap_or(0.0) / 2.0;
        let directions = of_entry(asked, entry)?;
        all.extend(directions.into_iter().map(|direction| Tool { direction, radius }));
    }
    Ok(all)
}

/// Returns the elements that shade each one, by direction of a tool.
///
/// # Errors
/// A direction without length.
pub(super) fn shades(asked: &Asked, mesh: &HexMesh) -> Result<Vec<Supports>, Finding> {
    let mut all = Vec::new();
    let free = vec![false; mesh.n_elements()];
    for entry in &asked.entries {
        let diameter = entry.number(DIAMETER);
        for direction in of_entry(asked, entry)? {
            let shade = filled_from(direction, 0.0, mesh, &free);
            all.push(match diameter {
                Some(diameter) => shade.with_tool(mesh, direction, diameter),
                None => shade,
            });
        }
    }
    Ok(all)
}
