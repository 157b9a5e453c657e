//! Facets as they stand in an STL file, text or binary, with one vertex for each place.

use std::collections::{HashMap, HashSet};

use topopt_mesh::numbers::shown;

use super::fault::FacetFault;
use crate::quote::printable;

/// Facets whose vertices were put together.
#[derive(Debug)]
pub(super) struct Soup {
    /// Places, each once, in the order of the file.
    pub vertices: Vec<[f64; 3]>,
    /// Vertices of the facets, three different ones each.
    pub triangles: Vec<[u32; 3]>,
    /// Facets without area, which were dropped.
    n_degenerate: usize,
    /// Facets that stood twice, or lay back to back with another.
    n_repeated: usize,
    /// Distance up to which vertices were put together, if equal ones left gaps.
    joined_within: f64,
}

impl Soup {
    /// Triangles that nothing is to be changed of.
    pub fn of(vertices: Vec<[f64; 3]>, triangles: Vec<[u32; 3]>) -> Self {
        Self { vertices, triangles, n_degenerate: 0, n_repeated: 0, joined_within: 0.0 }
    }

    /// Returns the changes that were made to the facets, a sentence each.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.joined_within > 0.0 {
            let distance = shown(self.joined_within);
            notes.push(format!("vertices of the STL file up to {distance} apart were joined"));
        }
        for (count, what) in [
            (self.n_degenerate, "facets without area that were dropped"),
            (self.n_repeated, "facets that stood more than once and were dropped"),
        ] {
            if count > 0 {
                notes.push(format!("{what}: {count}"));
            }
        }
        notes
    }
}

/// Coordinates beyond this are no part in any unit.
const FARTHEST: f64 = 1e12;

/// An extent that is this share of the largest is none.
const FLAT: f64 = 1e-7;

/// Distance of vertices that are put together where equal ones leave gaps, as a share of the extent.
const NEAR: f64 = 1e-6;

/// The facets in the `bytes` of a file.
///
/// # Errors
/// What cannot be read, coordinates that are no places, and facets in one plane.
pub(super) fn parse(bytes: &[u8]) -> Result<Soup, FacetFault> {
    let corners = match binary(bytes) {
        Some(corners) => corners,
        None => text(bytes)?,
    };
    if corners.is_empty() {
        return Err(FacetFault::Empty);
    }
    for (i, corner) in corners.iter().enumerate() {
        if let Some(&value) = corner.iter().find(|x| !x.is_finite() || x.abs() > FARTHEST) {
            return Err(FacetFault::NotFinite { facet: i / 3 + 1, value });
        }
    }

    let extent = extent(&corners);
    let largest = extent.into_iter().fold(0.0, f64::max);
    if extent.iter().any(|&extent| extent <= FLAT * largest) {
        return Err(FacetFault::Flat { extent });
    }
    let near = NEAR * largest;
    let ways = [
        (0.0, Twins::Cancel),
        (0.0, Twins::KeepOne),
        (near, Twins::Cancel),
        (near, Twins::KeepOne),
    ];
    let mut soups = ways.into_iter().map(|(distance, twins)| joined(&corners, distance, twins));
    let first = soups.next();
    let is_closed = |soup: &Soup| super::triangles::open(&soup.triangles).is_empty();
    first
        .filter(is_closed)
        .or_else(|| soups.find(is_closed))
        .map_or_else(|| Ok(joined(&corners, 0.0, Twins::Cancel)), Ok)
}

/// Treatment of two facets of the same vertices that face each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Twins {
    /// They are a wall between two bodies that touch, or a fold.
    Cancel,
    /// One is a copy that was turned over.
    KeepOne,
}

fn extent(corners: &[[f64; 3]]) -> [f64; 3] {
    let range = |i: usize| {
        let values = corners.iter().map(|x| x[i]);
        values.clone().fold(f64::NEG_INFINITY, f64::max) - values.fold(f64::INFINITY, f64::min)
    };
    [0, 1, 2].map(range)
}

/// The corners of a binary file, three for each facet; none of another file. Some writers begin
/// these with `solid` too, so that the length decides.
fn binary(bytes: &[u8]) -> Option<Vec<[f64; 3]>> {
    let count = u32::from_le_bytes(bytes.get(80..84)?.try_into().ok()?) as usize;
    let records = bytes.get(84..84 + count.checked_mul(50)?)?;
    if bytes.starts_with(b"solid") && bytes.len() != 84 + records.len() {
        return None;
    }
    let number =
        |bytes: &[u8]| f64::from(f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
    let corner = |bytes: &[u8]| [0, 4, 8].map(|at| number(&bytes[at..]));
    let facet = |record: &[u8]| [12, 24, 36].map(|at| corner(&record[at..]));
    Some(records.chunks_exact(50).flat_map(facet).collect())
}

/// The corners of a text, three for each facet: what stands behind `vertex`.
fn text(bytes: &[u8]) -> Result<Vec<[f64; 3]>, FacetFault> {
    let is_text =
        bytes.trim_ascii_start().get(..5).is_some_and(|b| b.eq_ignore_ascii_case(b"solid"));
    if !is_text {
        let what =
            "it neither begins with `solid` nor has the length that its count of facets needs";
        return Err(FacetFault::NotStl(what.into()));
    }

    let text = String::from_utf8_lossy(bytes);
    let mut corners = Vec::new();
    let mut in_facet = 0;
    for (line, words) in (1..).zip(text.lines().map(str::split_whitespace)) {
        let mut words = words;
        let malformed = |expected, found: &str| {
            let found = if found.is_empty() { "the end of the line" } else { found };
            FacetFault::Malformed { line, expected, found: printable(found) }
        };
        match words.next().unwrap_or_default().to_ascii_lowercase().as_str() {
            "vertex" => {
                let mut corner = [0.0; 3];
                for x in &mut corner {
                    let word = words.next().unwrap_or_default();
                    *x = word.parse().map_err(|_| malformed("a coordinate", word))?;
                }
                corners.push(corner);
                in_facet += 1;
            }
            "endloop" if in_facet == 3 => in_facet = 0,
            "endloop" => {
                return Err(malformed("three vertices before `endloop`", &in_facet.to_string()));
            }
            "" | "solid" | "facet" | "outer" | "endfacet" | "endsolid" => {}
            other => return Err(malformed("a line of an STL file", other)),
        }
    }

    if in_facet > 0 {
        let what = format!("it ends within facet {}", corners.len().div_ceil(3));
        return Err(FacetFault::NotStl(what));
    }
    Ok(corners)
}

/// One vertex for all corners within about `distance` of each other, or equal ones if it is 0.
fn joined(corners: &[[f64; 3]], distance: f64, twins: Twins) -> Soup {
    let mut vertices = Vec::new();
    let mut numbers = HashMap::new();
    let mut of_corner = Vec::with_capacity(corners.len());
    for &x in corners {
        let known =
            cells_around(x, distance).into_iter().find_map(|cell| numbers.get(&cell).copied());
        let number = known.unwrap_or_else(|| {
            numbers.insert(cells_around(x, distance)[0], vertices.len() as u32);
            vertices.push(x);
            vertices.len() as u32 - 1
        });
        of_corner.push(number);
    }

    let all = of_corner.len() / 3;
    let facets = of_corner.chunks_exact(3).map(|t| [t[0], t[1], t[2]]);
    let triangles: Vec<_> = facets.filter(|[a, b, c]| a != b && b != c && c != a).collect();
    let n_degenerate = all - triangles.len();
    let (triangles, n_repeated) = once(triangles, twins);
    Soup { vertices, triangles, n_degenerate, n_repeated, joined_within: distance }
}

/// The cell of a grid that `x` is in, first, and those around it; of equal places alone without a
/// `distance`.
fn cells_around(x: [f64; 3], distance: f64) -> Vec<[i64; 3]> {
    if distance == 0.0 {
        // 0.0 and -0.0 are one coordinate.
        return vec![x.map(|x| (x + 0.0).to_bits() as i64)];
    }
    let cell = x.map(|x| (x / distance).floor() as i64);
    let steps = [0, -1, 1];
    let around =
        steps.iter().flat_map(|&i| steps.iter().flat_map(move |&j| steps.map(|k| [i, j, k])));
    around.map(|step| [0, 1, 2].map(|i| cell[i] + step[i])).collect()
}

/// Facets each once, and how many were dropped.
fn once(triangles: Vec<[u32; 3]>, twins: Twins) -> (Vec<[u32; 3]>, usize) {
    let mut turns = HashMap::<[u32; 3], i64>::new();
    for &triangle in &triangles {
        let (key, turn) = turn(triangle);
        *turns.entry(key).or_default() += turn;
    }

    let all = triangles.len();
    let mut kept = triangles;
    let mut seen = HashSet::new();
    kept.retain(|&triangle| {
        let (key, turn) = turn(triangle);
        let sum = turns[&key];
        let is_kept = if sum == 0 { twins == Twins::KeepOne } else { sum.signum() == turn };
        is_kept && seen.insert(key)
    });
    let dropped = all - kept.len();
    (kept, dropped)
}

/// The vertices of a facet, increasing, and 1 if it runs through them in this order, else -1.
fn turn([a, b, c]: [u32; 3]) -> ([u32; 3], i64) {
    let mut key = [a, b, c];
    key.sort_unstable();
    (key, if (a < b) ^ (b < c) ^ (a < c) { 1 } else { -1 })
}
