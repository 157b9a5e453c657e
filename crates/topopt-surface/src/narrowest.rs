//! How narrow the members of a solid are, and the gaps between them.

use rayon::prelude::*;
use topopt_distance::Triangles;
use topopt_mesh::surface::{NO_NEIGHBOR, face_neighbors};
use topopt_mesh::vector::{difference, length};
use topopt_mesh::{Face, HexMesh, NodeToElements, hexahedron, tetrahedra};

use crate::cut::Cut;
use crate::iso_surface::with_keys;

/// The narrowest place of a solid, or of the gaps in it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Narrowest {
    /// Distance across (length).
    pub width: f64,
    /// The middle.
    pub at: [f64; 3],
    /// The element that it is in.
    pub element: u32,
}

/// Where the depth rises faster than by this share of the way, walls meet at an angle of more than
/// 60 degrees: a corner. Where it rises more slowly, they are opposite.
const CORNER: f64 = 0.25;

/// Places that are looked at before the bound is lowered: results do not depend on threads.
const AT_ONCE: usize = 32;

/// By which share of a step near a middle the depth has to rise with it.
const GAIN: f64 = 0.1;

/// Widths are alike above this ratio: only narrower places are sought.
const ALIKE: f64 = 0.98;

/// The thinnest member and the narrowest gap of the solid of a cut, see [`Solid::narrowest`].
///
/// [`Solid::narrowest`]: crate::Solid::narrowest
pub(crate) fn narrowest(cut: Cut, ignored: &[bool]) -> [Option<Narrowest>; 2] {
    let (surface, _) = with_keys(&cut);
    let corners = |triangle: &[u32; 3]| triangle.map(|v| surface.vertices()[v as usize]);
    let walls = Triangles::new(surface.triangles().iter().map(corners));
    if walls.is_empty() {
        return [None; 2];
    }
    let depths = Depths::new(cut, walls);
    [true, false].map(|inside| depths.narrowest(inside, ignored))
}

/// The distance of every vertex of the tetrahedra from the surface.
struct Depths<'a> {
    mesh: &'a HexMesh,
    cut: Cut<'a>,
    walls: Triangles,
    /// Nodes, then centers, `[n_nodes + n_elements]`.
    points: Vec<[f64; 3]>,
    depths: Vec<f64>,
    neighbors: Vec<[u32; 6]>,
    around: NodeToElements,
}

impl<'a> Depths<'a> {
    fn new(cut: Cut<'a>, walls: Triangles) -> Self {
        let mesh = cut.mesh;
        let mut points = mesh.coordinates().to_vec();
        points.extend(mesh.centers());
        let depths = points.par_iter().map(|&point| walls.distance(point)).collect();
        let (neighbors, around) = (face_neighbors(mesh), NodeToElements::new(mesh));
        Self { mesh, cut, walls, points, depths, neighbors, around }
    }

    fn narrowest(&self, inside: bool, ignored: &[bool]) -> Option<Narrowest> {
        let ridges = self.ridges(inside, ignored);
        let mut narrowest: Option<Narrowest> = None;
        for some in ridges.chunks(AT_ONCE) {
            let bound = narrowest.map_or(f64::INFINITY, |found| 0.5 * found.width);
            if self.depths[some[0] as usize] >= bound {
                break;
            }
            let middles = some.par_iter().filter_map(|&ridge| self.middle(ridge, bound));
            let least = middles.min_by(|a, b| a.width.total_cmp(&b.width));
            narrowest = least.or(narrowest);
        }
        narrowest
    }

    /// Vertices inside, or outside, between opposite walls; the least deep first.
    fn ridges(&self, inside: bool, ignored: &[bool]) -> Vec<u32> {
        let is_there = |vertex: u32| self.cut.is_inside(vertex) == inside;
        let mut is_ridge: Vec<bool> = (0..self.points.len() as u32).map(is_there).collect();
        let mut compare = |a: u32, b: u32| {
            if is_there(a) && is_there(b) {
                let [i, j] = [a as usize, b as usize];
                let way = CORNER * length(difference(self.points[i], self.points[j]));
                let rise = self.depths[j] - self.depths[i];
                is_ridge[i] &= rise <= way;
                is_ridge[j] &= -rise <= way;
            }
        };

        for element in 0..self.mesh.n_elements() {
            for [center, a, b, c] in tetrahedra::of_element(self.mesh, element) {
                [(center, a), (center, b), (center, c), (a, b), (b, c), (c, a)]
                    .into_iter()
                    .for_each(|(a, b)| compare(a, b));
            }
            for (local, &other) in (0..).zip(&self.neighbors[element]) {
                let face = Face { element: element as u32, local }.nodes(self.mesh.hexes());
                if other != NO_NEIGHBOR && face.into_iter().all(is_there) {
                    compare(self.center(element as u32), self.center(other));
                }
            }
        }

        for element in (0..self.mesh.n_elements()).filter(|&element| ignored[element]) {
            is_ridge[self.center(element as u32) as usize] = false;
            self.mesh.hexes()[element].iter().for_each(|&node| is_ridge[node as usize] = false);
        }
        let mut ridges: Vec<u32> =
            (0..self.points.len() as u32).filter(|&vertex| is_ridge[vertex as usize]).collect();
        let depth = |vertex: &u32| self.depths[*vertex as usize];
        ridges.sort_by(|a, b| depth(a).total_cmp(&depth(b)));
        ridges
    }

    fn center(&self, element: u32) -> u32 {
        self.mesh.n_nodes() as u32 + element
    }

    /// The middle between the walls around a vertex; none if it is `bound` deep or deeper.
    fn middle(&self, vertex: u32, bound: f64) -> Option<Narrowest> {
        let element = match (vertex as usize).checked_sub(self.mesh.n_nodes()) {
            None => *self.around.elements_of(vertex as usize).first()?,
            Some(element) => element as u32,
        };
        let (at, depth) = (self.points[vertex as usize], self.depths[vertex as usize]);
        let size = hexahedron::volume(&self.mesh.element_coordinates(element as usize)).cbrt();
        let bound = ALIKE * bound;
        // Out of corners, as far as it takes, and then to the deepest point nearby.
        let place = Place { at, depth, element };
        let from_corners = Climb { steps: &[0.5, 0.25], gain: CORNER, reach: f64::INFINITY };
        let nearby = Climb { steps: &[0.25, 0.125, 0.0625], gain: GAIN, reach: 1.0 };
        let ridge = self.climb(place, bound, size, &from_corners)?;
        let Place { at, depth, element } = self.climb(ridge, bound, size, &nearby)?;
        (depth < bound).then_some(Narrowest { width: 2.0 * depth, at, element })
    }

    /// Climbs from a place to the deepest one that `climb` leads to in elements of a `size`, until `bound`
    /// is reached; none if it leads out of the mesh.
    fn climb(&self, from: Place, bound: f64, size: f64, climb: &Climb) -> Option<Place> {
        let mut place = from;
        let mut direction = [1.0, 0.0, 0.0];
        let inside = self.is_inside(from.element, from.at)?;
        for step in climb.steps.iter().map(|step| step * size) {
            while place.depth < bound {
                // Within the ball there is no other wall.
                let step = step.min(place.depth.max(0.05 * size));
                let mut leads_out = false;
                let next = steepest(direction, |way| {
                    let at = [0, 1, 2].map(|d| place.at[d] + step * way[d]);
                    let depth = self.walls.distance(at);
                    let gain = (depth - place.depth) / step;
                    let is_near = length(difference(at, from.at)) <= climb.reach * size;
                    if gain <= climb.gain || !is_near {
                        return (gain, None);
                    }
                    let located = self.locate(place.element, at);
                    leads_out |= located.is_none();
                    let same_side = located.filter(|(_, is_inside)| *is_inside == inside);
                    (gain, same_side.map(|(element, _)| Place { at, depth, element }))
                });
                match next {
                    Some(next) => (direction, place) = next,
                    None if leads_out => return None,
                    None => break,
                }
            }
        }
        Some(place)
    }

    /// The element that `x` lies in, near to `element`, and whether that is in the solid; none if `x` is
    /// not in the mesh.
    fn locate(&self, element: u32, x: [f64; 3]) -> Option<(u32, bool)> {
        let nodes = self.mesh.hexes()[element as usize].iter();
        let around = nodes.flat_map(|&node| self.around.elements_of(node as usize)).copied();
        let mut elements = std::iter::once(element).chain(around);
        elements.find_map(|element| Some((element, self.is_inside(element, x)?)))
    }

    /// Whether `x` in `element` is in the solid; none if it is not in the element.
    fn is_inside(&self, element: u32, x: [f64; 3]) -> Option<bool> {
        let mut tetrahedra = tetrahedra::of_element(self.mesh, element as usize);
        tetrahedra.find_map(|vertices| {
            let shares = shares(vertices.map(|v| self.points[v as usize]), x)?;
            let values = vertices.iter().zip(shares).map(|(&v, s)| s * self.cut.field.at(v));
            Some(values.sum::<f64>() >= self.cut.threshold)
        })
    }
}

/// A point in the mesh.
#[derive(Clone, Copy)]
struct Place {
    at: [f64; 3],
    depth: f64,
    element: u32,
}

/// How a climb goes on, in lengths of an element.
struct Climb {
    /// One after the other.
    steps: &'static [f64],
    /// What a step gains at least, as a share of its length.
    gain: f64,
    reach: f64,
}

/// The first direction that `try_it` finds good, of `first`, those to the corners, edges and faces of a cube, and others
/// ever closer to the steepest one. It returns how steep a direction is, and what it leads to.
fn steepest<T>(
    first: [f64; 3],
    mut try_it: impl FnMut([f64; 3]) -> (f64, Option<T>),
) -> Option<([f64; 3], T)> {
    let (mut best, mut most) = ([0.0; 3], f64::NEG_INFINITY);
    let mut look = |way: [f64; 3], best: &mut [f64; 3]| {
        let (gain, found) = try_it(way);
        if gain > most {
            (*best, most) = (way, gain);
        }
        found.map(|found| (way, found))
    };
    if let Some(found) = look(first, &mut best) {
        return Some(found);
    }
    let ways = || (0..27).map(|k| [k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1]).filter(|w| *w != [0; 3]);
    for [old, new] in [[0.0, 1.0], [1.0, 0.35], [1.0, 0.15]] {
        let around = best;
        for way in ways() {
            let way = [0, 1, 2].map(|d| old * around[d] + new * f64::from(way[d]));
            let way = way.map(|w| w / length(way));
            if let Some(found) = look(way, &mut best) {
                return Some(found);
            }
        }
    }
    None
}

/// The shares of the corners of a tetrahedron in `x`, if that lies in it.
fn shares(corners: [[f64; 3]; 4], x: [f64; 3]) -> Option<[f64; 4]> {
    let whole = tetrahedra::volume(corners);
    let share = |corner: usize| {
        let mut part = corners;
        part[corner] = x;
        tetrahedra::volume(part) / whole
    };
    let shares = [0, 1, 2, 3].map(share);
    shares.iter().all(|share| *share >= -1e-9).then_some(shares)
}

#[cfg(test)]
mod tests;
