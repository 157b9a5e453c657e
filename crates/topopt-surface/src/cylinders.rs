//! Cylinders that several bodies have in common, by the same facets in all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::f64::consts::{PI, TAU};

use topopt_mesh::vector::{cross, difference, dot, length};

use crate::TriangleSurface;

/// Cylinder on which faces of bodies lie.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cylinder {
    /// Direction of the axis, of length 1.
    pub axis: [f64; 3],
    /// A point of the axis.
    pub point: [f64; 3],
    /// Radius.
    pub radius: f64,
}

/// Facets of a turn: these leave a bore by a thousandth of its radius.
const FACETS: usize = 72;

/// Difference of radii up to which two cylinders count as the same, as a share.
const NEAR: f64 = 0.01;

/// Distance of vertices of a body from its cylinders, as a share of the radius: as it is given, and
/// grown by a distance, where those in the middle of an edge of 12 facets lie a 270th too near.
const EXACT: f64 = 1e-4;
const GROWN: f64 = 5e-3;

/// A body with cylinders.
pub(crate) struct Rounded {
    pub surface: TriangleSurface,
    /// Distance of its vertices from its cylinders at most, as a share of the radius.
    roughness: f64,
}

impl Rounded {
    /// A body as it is given.
    pub fn given(surface: TriangleSurface) -> Self {
        Self { surface, roughness: EXACT }
    }

    /// A body that has grown by a `distance`.
    pub fn grown(surface: TriangleSurface, distance: f64) -> Self {
        Self { surface, roughness: if distance > 0.0 { GROWN } else { EXACT } }
    }
}

/// Distance up to which a vertex lies between two facets, as a share of the radius.
const ROUNDING: f64 = 1e-6;

/// Least share of the normal of a triangle of the cylinder that lies along the radius.
const RADIAL: f64 = 0.95;

/// Least share of the normal of a face along the axis so that a rim in it may move along the axis.
const ACROSS: f64 = 0.1;

/// Gives each of `cylinders` the same facets in all `bodies` that have it, if those of two bodies
/// differ; `in_hull` in one that is no prism, too, as its triangles differ from those of the hull.
/// Other cylinders keep their triangles: of long ones Gmsh made three times as many tetrahedra.
pub(crate) fn match_facets(bodies: &mut [Rounded], cylinders: &[Cylinder], in_hull: bool) {
    for cylinder in cylinders {
        let turn = Turn::of(cylinder);
        let walls: Vec<Vec<bool>> = bodies.iter().map(|body| turn.wall(body)).collect();
        let having: Vec<usize> = (0..bodies.len()).filter(|i| walls[*i].contains(&true)).collect();
        let facets = having.iter().map(|&i| turn.facets(&bodies[i].surface, &walls[i]));
        let facets: BTreeSet<Option<Vec<i64>>> = facets.collect();
        let are_alike = facets.len() < 2 && !facets.contains(&None);
        if are_alike || having.len() < 2 && !in_hull {
            continue;
        }
        for i in having {
            bodies[i].surface = turn.divided(&bodies[i].surface, &walls[i]);
        }
    }
}

/// A cylinder with directions from which angles are counted.
struct Turn<'a> {
    cylinder: &'a Cylinder,
    /// Directions at the angles 0 and 90 degrees.
    across: [[f64; 3]; 2],
}

impl<'a> Turn<'a> {
    fn of(cylinder: &'a Cylinder) -> Self {
        let axis = cylinder.axis;
        let least = (0..3).min_by(|i, j| axis[*i].abs().total_cmp(&axis[*j].abs()));
        let unit = [0, 1, 2].map(|i| f64::from(u8::from(Some(i) == least)));
        let along = dot(unit, axis);
        let first = [0, 1, 2].map(|i| unit[i] - along * axis[i]);
        let first = first.map(|x| x / length(first));
        Self { cylinder, across: [first, cross(axis, first)] }
    }

    /// Coordinates across the axis.
    fn flat(&self, x: [f64; 3]) -> [f64; 2] {
        self.across.map(|direction| dot(direction, difference(x, self.cylinder.point)))
    }

    /// Angle of a point in facets, from 0 on.
    fn place(&self, x: [f64; 3]) -> f64 {
        let [a, b] = self.flat(x);
        b.atan2(a).rem_euclid(TAU) / TAU * FACETS as f64
    }

    /// Whether each triangle of a body lies on the cylinder, `[n_triangles]`; none does where it
    /// has both sides of the cylinder, as a thin tube.
    fn wall(&self, Rounded { surface: body, roughness }: &Rounded) -> Vec<bool> {
        let off = |x: &[f64; 3]| {
            let [a, b] = self.flat(*x);
            a.hypot(b)
        };
        let off: Vec<f64> = body.vertices.iter().map(off).collect();
        let within = |triangle: &[u32; 3], radius: f64, share: f64| {
            triangle.iter().all(|&v| (off[v as usize] - radius).abs() <= share * radius)
        };
        let along = |triangle: &[u32; 3]| {
            let is_near = within(triangle, self.cylinder.radius, NEAR);
            if is_near { self.radial(body, triangle) } else { 0.0 }
        };
        let along: Vec<f64> = body.triangles.iter().map(along).collect();
        let has = |sign: f64| along.iter().any(|x| sign * x >= RADIAL);
        if has(1.0) && has(-1.0) {
            return vec![false; along.len()];
        }

        // Planes that touch the cylinder are near to it, too, but have few vertices there.
        let near = body.triangles.iter().zip(&along).filter(|(_, along)| along.abs() >= RADIAL);
        let mut radii: Vec<f64> = near.flat_map(|(t, _)| t.map(|v| off[v as usize])).collect();
        radii.sort_by(f64::total_cmp);
        let Some(&own) = radii.get(radii.len() / 2) else { return vec![false; along.len()] };
        let is_on = |(triangle, along): (&[u32; 3], f64)| {
            along.abs() >= RADIAL && within(triangle, own, *roughness)
        };
        body.triangles.iter().zip(along).map(is_on).collect()
    }

    /// Share of the normal of a triangle that lies along the radius, away from the axis.
    fn radial(&self, body: &TriangleSurface, triangle: &[u32; 3]) -> f64 {
        let [x, y, z] = triangle.map(|vertex| self.flat(body.vertices[vertex as usize]));
        let middle = [0, 1].map(|i| x[i] + y[i] + z[i]);
        let normal = body.area_vector(triangle);
        let [a, b] = self.across.map(|direction| dot(direction, normal));
        let size = length(normal) * middle[0].hypot(middle[1]);
        if size > 0.0 { (a * middle[0] + b * middle[1]) / size } else { 0.0 }
    }

    /// Angles of the edges of a prism around the axis, in millionths of a facet; none of a wall
    /// that is no such prism.
    fn facets(&self, body: &TriangleSurface, wall: &[bool]) -> Option<Vec<i64>> {
        let place = |vertex: u32| (1e6 * self.place(body.vertices[vertex as usize])).round() as i64;
        let own = || body.triangles.iter().zip(wall).filter(|(_, is_wall)| **is_wall);
        let all: BTreeSet<i64> =
            own().flat_map(|(triangle, _)| triangle.map(place)).map(wrapped).collect();
        let all: Vec<i64> = all.into_iter().collect();
        let at = |vertex: u32| all.binary_search(&wrapped(place(vertex))).unwrap_or_default();
        let is_next = |steps: usize| steps.min(all.len() - steps) <= 1;
        let is_flat =
            |triangle: &[u32; 3]| edges(triangle).all(|[a, b]| is_next(at(a).abs_diff(at(b))));
        own().all(|(triangle, _)| is_flat(triangle)).then_some(all)
    }

    /// The body with its wall in the facets of the cylinder.
    fn divided(&self, body: &TriangleSurface, wall: &[bool]) -> TriangleSurface {
        let mut vertices = body.vertices.clone();
        let mut triangles: Vec<([u32; 3], bool)> =
            body.triangles.iter().copied().zip(wall.iter().copied()).collect();
        for facet in 0..FACETS {
            self.split(&mut vertices, &mut triangles, facet);
        }

        let ends = self.ends(&vertices, &triangles);
        for (vertex, end) in ends {
            let x = &mut vertices[vertex as usize];
            *x = self.on_facet(*x, end);
        }
        let triangles = triangles.into_iter().map(|(triangle, _)| triangle).collect();
        TriangleSurface::new(vertices, triangles)
    }

    /// Splits triangles of the wall, and their neighbors, where a facet begins.
    fn split(
        &self,
        vertices: &mut Vec<[f64; 3]>,
        triangles: &mut Vec<([u32; 3], bool)>,
        facet: usize,
    ) {
        let (sin, cos) = (TAU * facet as f64 / FACETS as f64).sin_cos();
        let least = ROUNDING * self.cylinder.radius;
        let mut middles = BTreeMap::<[u32; 2], u32>::new();
        for (triangle, _) in triangles.iter().filter(|(_, is_wall)| *is_wall) {
            for [a, b] in edges(triangle) {
                let key = [a.min(b), a.max(b)];
                let ends = key.map(|vertex| vertices[vertex as usize]);
                let [from, to] = ends.map(|x| self.flat(x));
                let off = [from, to].map(|[x, y]| cos * y - sin * x);
                let is_ahead = cos * (from[0] + to[0]) + sin * (from[1] + to[1]) > 0.0;
                let crosses = off[0] * off[1] < 0.0 && off.iter().all(|x| x.abs() > least);
                if is_ahead && crosses && !middles.contains_key(&key) {
                    let share = off[0] / (off[0] - off[1]);
                    let step = difference(ends[1], ends[0]);
                    middles.insert(key, vertices.len() as u32);
                    vertices.push([0, 1, 2].map(|i| ends[0][i] + share * step[i]));
                }
            }
        }
        if middles.is_empty() {
            return;
        }
        let parts = triangles.iter().flat_map(|(triangle, is_wall)| {
            pieces(*triangle, &middles).into_iter().map(|piece| (piece, *is_wall))
        });
        *triangles = parts.collect();
    }

    /// Vertices of the wall, each with the normal of the largest other triangle at it.
    fn ends(
        &self,
        vertices: &[[f64; 3]],
        triangles: &[([u32; 3], bool)],
    ) -> BTreeMap<u32, [f64; 3]> {
        let of_wall = triangles.iter().filter(|(_, is_wall)| *is_wall);
        let mut ends: BTreeMap<u32, [f64; 3]> =
            of_wall.flat_map(|(triangle, _)| triangle.map(|vertex| (vertex, [0.0; 3]))).collect();
        for (triangle, _) in triangles.iter().filter(|(_, is_wall)| !is_wall) {
            let [a, b, c] = triangle.map(|vertex| vertices[vertex as usize]);
            let normal = cross(difference(b, a), difference(c, a));
            for vertex in triangle {
                if let Some(end) = ends.get_mut(vertex).filter(|it| length(**it) < length(normal)) {
                    *end = normal;
                }
            }
        }
        ends
    }

    /// The point of the facet at the angle of `x`, in the plane through `x` across the normal
    /// `end`, if that has a direction along the axis.
    fn on_facet(&self, x: [f64; 3], end: [f64; 3]) -> [f64; 3] {
        let [a, b] = self.flat(x);
        let (now, place) = (a.hypot(b), self.place(x));
        let off = PI / FACETS as f64 * (2.0 * (place - place.floor()) - 1.0);
        let radius = self.cylinder.radius * (PI / FACETS as f64).cos() / off.cos();
        let step = [0, 1, 2]
            .map(|i| (a * self.across[0][i] + b * self.across[1][i]) * (radius / now - 1.0));
        let along = dot(end, self.cylinder.axis);
        let slide = if along.abs() > ACROSS * length(end) { -dot(end, step) / along } else { 0.0 };
        [0, 1, 2].map(|i| x[i] + step[i] + slide * self.cylinder.axis[i])
    }
}

/// Places in millionths of a facet, of one turn.
fn wrapped(place: i64) -> i64 {
    place.rem_euclid(1_000_000 * FACETS as i64)
}

/// The parts of a triangle whose edges have these vertices within.
fn pieces(triangle: [u32; 3], middles: &BTreeMap<[u32; 2], u32>) -> Vec<[u32; 3]> {
    let middle = |a: u32, b: u32| middles.get(&[a.min(b), a.max(b)]).copied();
    let turned = (0..3).map(|i| [triangle[i], triangle[(i + 1) % 3], triangle[(i + 2) % 3]]);
    for [a, b, c] in turned {
        match [middle(a, b), middle(b, c), middle(c, a)] {
            [None, None, None] => break,
            [Some(ab), None, None] => return vec![[a, ab, c], [ab, b, c]],
            [Some(ab), Some(bc), None] => return vec![[ab, b, bc], [a, ab, bc], [a, bc, c]],
            [Some(ab), Some(bc), Some(ca)] => {
                return vec![[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]];
            }
            _ => {}
        }
    }
    vec![triangle]
}

fn edges(&[a, b, c]: &[u32; 3]) -> impl Iterator<Item = [u32; 2]> {
    [[a, b], [b, c], [c, a]].into_iter()
}
