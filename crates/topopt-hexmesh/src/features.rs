//! Corners, sharp curves and the patches between them, from the faces of a surface.

use std::collections::{BTreeMap, BTreeSet};

use crate::chain::{Chain, Sheets, Wedge};
use crate::nearest::{Foot, Nearest};
use crate::surface::{Surface, Vec3};

/// Smallest angle (degrees) between the normals at a border of faces that is a sharp curve.
const SHARP: f64 = 25.0;
/// Turn (degrees) of a sharp curve that makes a corner.
const TURN: f64 = 40.0;
/// Largest distance of a straight line from its axis, as a share of its length.
const STRAIGHT: f64 = 1e-6;
/// Largest sum of the angles (degrees) of triangles around a vertex that is the tip of a cone.
const TIP: f64 = 290.0;

/// Faces at an edge, and the regions that each divides.
type FacesAround = BTreeSet<(u32, [u32; 2])>;

/// Corners, curves and patches that a mesh keeps of a surface.
#[derive(Debug, Clone)]
pub(crate) struct Features {
    /// Corners.
    pub corners: Vec<Corner>,
    /// Sharp curves.
    pub chains: Vec<Chain>,
    /// Patch of each triangle, `[n_triangles]`.
    pub patch_of: Vec<u32>,
    /// Triangles of each patch, `[n_patches]`.
    pub patches: Vec<Nearest>,
    /// Body that each patch bounds, and the patch of the body across, `[n_patches]`.
    pub sides: Vec<PatchSides>,
}

/// Body that a patch bounds, and the one across.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PatchSides {
    /// The body.
    pub body: u32,
    /// Patch of the body across in the same place.
    pub twin: Option<u32>,
}

/// Place where sharp curves end, meet or turn, or tip of a cone.
#[derive(Debug, Clone)]
pub(crate) struct Corner {
    /// The place.
    pub point: Vec3,
    /// Number of curves that end there.
    pub degree: usize,
    /// Number of faces of elements, and of edges between them, that suits its angles.
    pub valence: usize,
    /// Regions that sheets around it divide.
    pub sheets: Sheets,
}

/// Treatment of borders at which faces meet smoothly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tangent {
    /// Straight lines along the grid are curves that nodes lie on, so that faces have their areas.
    Kept,
    /// Elements lie on the face that their centers lie on.
    Free,
}

/// Edges with the triangles on the left of each, from its start to its end: one of each body.
type Edges = BTreeMap<(u32, u32), Vec<usize>>;

impl Features {
    /// Finds the features of `surface`: sharp curves and, if wanted, [tangent](Tangent) ones.
    pub fn of(surface: &Surface, tangent: Tangent) -> Self {
        let sharp = kept_edges(surface, tangent);
        let (patch_of, n_patches) = patches(surface, &sharp);
        let stops = stops(surface, &sharp);
        let numbers: BTreeMap<u32, u32> =
            stops.iter().zip(0..).map(|((&vertex, _), n)| (vertex, n)).collect();

        let mut chains = Vec::new();
        for path in walks(&sharp, |vertex| stops.contains_key(&vertex)) {
            let (start, back) = ((path[0], path[1]), (path[1], path[0]));
            let wedge = |body: u32| {
                let side = |edge| patch_of[of_body(surface, &sharp, edge, body)];
                let angle = 180.0 - median_turn(surface, &sharp, &path, body);
                Wedge { body, sides: [side(start), side(back)], angle }
            };
            let wedges = bodies_around(surface, &sharp[&start]).into_iter().map(wedge).collect();
            let sheets = sheets(surface, sharp[&start].iter().chain(&sharp[&back]));
            let ends = [path[0], path[path.len() - 1]].map(|v| numbers.get(&v).copied());
            let ends = if let [Some(a), Some(b)] = ends { Some([a, b]) } else { None };
            let points = path.iter().map(|&v| surface.points[v as usize]).collect();
            chains.push(Chain::new(points, ends, wedges, sheets));
        }

        let of_patch = |patch: usize| {
            let own = (0..patch_of.len()).filter(|&t| patch_of[t] as usize == patch);
            Nearest::new(own.map(|t| (t, surface.corners(t))))
        };
        let patches = (0..n_patches).map(of_patch).collect();
        let mut sides = vec![PatchSides { body: 0, twin: None }; n_patches];
        for (t, &patch) in patch_of.iter().enumerate() {
            let twin = surface.twins[t].map(|twin| patch_of[twin as usize]);
            sides[patch as usize] = PatchSides { body: surface.bodies[t], twin };
        }
        Self { corners: stops.into_values().collect(), chains, patch_of, patches, sides }
    }

    /// Returns the foot of `x` on the nearest patch of those that are `wanted`, if there are any.
    pub fn foot(&self, x: &Vec3, wanted: impl Fn(usize) -> bool) -> Option<Foot> {
        let patches = (0..self.patches.len()).filter(|&patch| wanted(patch));
        let feet = patches.map(|patch| self.patches[patch].foot(x));
        let nearer =
            |a: Foot, b: Foot| if (b.point - x).norm() < (a.point - x).norm() { b } else { a };
        feet.reduce(nearer)
    }

    /// Regions on both sides of a patch, ascending: 0 is outside, bodies follow.
    pub fn sheet(&self, patch: u32) -> [u32; 2] {
        let PatchSides { body, twin } = self.sides[patch as usize];
        let other = twin.map_or(0, |twin| self.sides[twin as usize].body + 1);
        [(body + 1).min(other), (body + 1).max(other)]
    }

    /// The patches of `set` and those in the same places of the bodies across, ascending.
    pub fn with_twins(&self, set: &[u32]) -> Vec<u32> {
        let twins = set.iter().filter_map(|&patch| self.sides[patch as usize].twin);
        let both: BTreeSet<u32> = set.iter().copied().chain(twins).collect();
        both.into_iter().collect()
    }
}

/// Bodies of triangles, ascending.
fn bodies_around(surface: &Surface, triangles: &[usize]) -> BTreeSet<u32> {
    triangles.iter().map(|&t| surface.bodies[t]).collect()
}

/// Triangle of a body on the left of an edge.
fn of_body(surface: &Surface, edges: &Edges, edge: (u32, u32), body: u32) -> usize {
    let own = edges[&edge].iter().copied().find(|&t| surface.bodies[t] == body);
    own.expect("a body on both sides of its edge")
}

/// Pairs of regions that triangles divide.
fn sheets<'a>(surface: &Surface, triangles: impl Iterator<Item = &'a usize>) -> Sheets {
    let pairs: BTreeSet<[u32; 2]> = triangles.map(|&t| surface.sheet(t)).collect();
    pairs.into_iter().collect()
}

/// Borders between faces along which the normals differ or more than one body ends and, if wanted,
/// straight ones along the grid where they do not, by curves of the same faces.
fn kept_edges(surface: &Surface, tangent: Tangent) -> Edges {
    let borders = borders(surface);
    let mut around: BTreeMap<u32, Vec<FacesAround>> = BTreeMap::new();
    for (&(a, b), left) in &borders {
        let faces = left.iter().chain(&borders[&(b, a)]);
        let faces = faces.map(|&t| (surface.faces[t], surface.sheet(t))).collect();
        around.entry(a).or_default().push(faces);
    }
    let is_stop = |v: u32| around[&v].len() != 2 || around[&v][0] != around[&v][1];

    let (mut kept, mut others): (Vec<_>, Vec<_>) =
        walks(&borders, is_stop).into_iter().partition(|path| is_sharp(surface, &borders, path));
    if tangent == Tangent::Kept {
        others.retain(|path| is_along_grid(surface, path));
        drop_loose(&kept, &mut others);
        kept.append(&mut others);
    }
    let pairs = kept.iter().flat_map(|path| path.windows(2));
    let edges = pairs.flat_map(|ends| [(ends[0], ends[1]), (ends[1], ends[0])]);
    edges.map(|edge| (edge, borders[&edge].clone())).collect()
}

/// Whether faces of a body meet in an edge along a path of `borders`, or several bodies end there.
fn is_sharp(surface: &Surface, borders: &Edges, path: &[u32]) -> bool {
    let first = &borders[&(path[0], path[1])];
    let turns = |body: u32| median_turn(surface, borders, path, body).abs() > SHARP;
    is_junction(surface, first) || bodies_around(surface, first).into_iter().any(turns)
}

/// Median of the [turns](turn) of a body along a path of `edges`.
fn median_turn(surface: &Surface, edges: &Edges, path: &[u32], body: u32) -> f64 {
    let pairs = path.windows(2).map(|ends| (ends[0], ends[1]));
    median(pairs.map(|edge| turn(surface, edge, of_body(surface, edges, edge, body))))
}

/// Edges at which faces meet, or several bodies end.
fn borders(surface: &Surface) -> Edges {
    let mut own: BTreeSet<(u32, u32)> = BTreeSet::new();
    for (t, triangle) in surface.triangles.iter().enumerate() {
        for k in 0..3 {
            let other = surface.across[t][k] as usize;
            let has_border = surface.faces[t] != surface.faces[other]
                || surface.sheet(t) != surface.sheet(other);
            if has_border {
                own.insert((triangle[k], triangle[(k + 1) % 3]));
            }
        }
    }
    let mut borders = Edges::new();
    for (t, triangle) in surface.triangles.iter().enumerate() {
        for k in 0..3 {
            let edge = (triangle[k], triangle[(k + 1) % 3]);
            if own.contains(&edge) || own.contains(&(edge.1, edge.0)) {
                borders.entry(edge).or_default().push(t);
            }
        }
    }
    borders
}

/// Whether more sheets than two meet at the edge of the triangles `left`, one of each body.
fn is_junction(surface: &Surface, left: &[usize]) -> bool {
    // Of two bodies that share both sheets, the left triangle of each lies between them.
    let is_between = |t: &usize| surface.twins[*t].is_some();
    left.len() > 2 || (left.len() == 2 && !left.iter().all(is_between))
}

/// Whether a path is a straight line along an axis.
fn is_along_grid(surface: &Surface, path: &[u32]) -> bool {
    let at = |v: u32| surface.points[v as usize];
    let whole = at(path[path.len() - 1]) - at(path[0]);
    let axis = whole.iamax();
    let off = |v: &u32| {
        let mut way = at(*v) - at(path[0]);
        way[axis] = 0.0;
        way.norm()
    };
    path.iter().map(off).fold(0.0, f64::max) < STRAIGHT * whole.norm()
}

/// Drops tangent paths with an end at which no other path ends or passes.
fn drop_loose(sharp: &[Vec<u32>], tangent: &mut Vec<Vec<u32>>) {
    loop {
        let mut counts = BTreeMap::<u32, usize>::new();
        for path in sharp.iter().chain(&*tangent) {
            path.windows(2).flatten().for_each(|&v| *counts.entry(v).or_default() += 1);
        }
        let before = tangent.len();
        tangent.retain(|path| [path[0], path[path.len() - 1]].iter().all(|v| counts[v] > 1));
        if tangent.len() == before {
            return;
        }
    }
}

/// Angle (degrees) from the normal on the left of an edge to that on its right, positive where the
/// material is convex.
fn turn(surface: &Surface, (a, b): (u32, u32), t: usize) -> f64 {
    let k = (0..3).find(|&k| surface.triangles[t][k] == a).expect("an edge of the triangle");
    let other = surface.across[t][k] as usize;
    let along = (surface.points[b as usize] - surface.points[a as usize]).normalize();
    let [n, m] = [surface.normals[t], surface.normals[other]];
    along.dot(&n.cross(&m)).atan2(n.dot(&m)).to_degrees()
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Paths of vertices along `edges`, from stop to stop or closed; each edge once, in one direction.
fn walks(edges: &Edges, is_stop: impl Fn(u32) -> bool) -> Vec<Vec<u32>> {
    let mut next: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    edges.keys().for_each(|&(a, b)| next.entry(a).or_default().push(b));
    let (stops, others): (Vec<u32>, Vec<u32>) = next.keys().partition(|&&v| is_stop(v));

    let mut used = BTreeSet::new();
    let mut paths = Vec::new();
    for start in stops.into_iter().chain(others) {
        for &first in &next[&start] {
            if used.contains(&(start, first)) {
                continue;
            }
            let mut path = vec![start];
            let mut step = Some(first);
            while let Some(vertex) = step {
                let last = path[path.len() - 1];
                used.extend([(last, vertex), (vertex, last)]);
                path.push(vertex);
                let is_end = vertex == start || is_stop(vertex);
                let free = || next[&vertex].iter().find(|&&v| !used.contains(&(vertex, v)));
                step = if is_end { None } else { free().copied() };
            }
            paths.push(path);
        }
    }
    paths
}

/// Patches: faces that meet in no sharp curve, as the patch of each triangle.
fn patches(surface: &Surface, sharp: &Edges) -> (Vec<u32>, usize) {
    let is_smooth = |t: usize, k: usize| {
        let triangle = surface.triangles[t];
        !sharp.contains_key(&(triangle[k], triangle[(k + 1) % 3]))
    };
    surface.regions(is_smooth)
}

/// Corners: vertices where sharp curves end, meet or turn, and tips of cones.
fn stops(surface: &Surface, sharp: &Edges) -> BTreeMap<u32, Corner> {
    let mut next: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    sharp.keys().for_each(|&(a, b)| next.entry(a).or_default().push(b));
    let at = |v: u32| surface.points[v as usize];
    let turns =
        |v: u32, a: u32, b: u32| (at(v) - at(a)).angle(&(at(b) - at(v))) > TURN.to_radians();
    let mut stops = BTreeMap::new();
    for (v, sum) in (0..).zip(angles_around(surface)) {
        let is_stop = match next.get(&v).map(Vec::as_slice) {
            None => sum > 0.0 && sum < TIP,
            Some(&[a, b]) => turns(v, a, b),
            Some(_) => true,
        };
        if is_stop {
            let degree = next.get(&v).map_or(0, Vec::len);
            let valence = ((sum / 90.0).round() as usize).max(degree).max(3);
            let sheets = Sheets::new();
            stops.insert(v, Corner { point: at(v), degree, valence, sheets });
        }
    }
    for (t, triangle) in surface.triangles.iter().enumerate() {
        for v in triangle {
            if let Some(corner) = stops.get_mut(v) {
                corner.sheets.push(surface.sheet(t));
            }
        }
    }
    for corner in stops.values_mut() {
        corner.sheets.sort_unstable();
        corner.sheets.dedup();
    }
    stops
}

/// Sum of the angles (degrees) of the triangles around each vertex, those between bodies once,
/// `[n_vertices]`.
fn angles_around(surface: &Surface) -> Vec<f64> {
    let mut sums = vec![0.0; surface.points.len()];
    let is_first = |t: usize| surface.twins[t].is_none_or(|twin| twin as usize > t);
    for (t, triangle) in surface.triangles.iter().enumerate().filter(|(t, _)| is_first(*t)) {
        let x = surface.corners(t);
        for k in 0..3 {
            let (a, b) = (x[(k + 1) % 3] - x[k], x[(k + 2) % 3] - x[k]);
            sums[triangle[k] as usize] += a.angle(&b).to_degrees();
        }
    }
    sums
}
