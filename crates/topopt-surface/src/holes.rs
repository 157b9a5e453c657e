//! Holes of a body that are filled: their walls are taken out, and their rims closed.

use std::collections::BTreeMap;

use manifold_rust::linalg::Vec2;
use manifold_rust::polygon::triangulate;
use topopt_mesh::BoundingBox;
use topopt_mesh::vector::{cross, difference, dot, length, unit};

use crate::TriangleSurface;
use crate::body::Body;
use crate::union::Union;

/// A body whose surface is divided into faces, some of them walls of holes.
pub struct Holes<'a> {
    /// Surface of the body.
    pub surface: &'a TriangleSurface,
    /// Face that each triangle is in, from 0, `[n_triangles]`.
    pub of_triangles: &'a [u32],
    /// Whether a face is a wall of a hole, `[n_faces]`.
    pub are_walls: &'a [bool],
    /// Whether a face curves around what is free, `[n_faces]`: holes go on there.
    pub are_hollow: &'a [bool],
}

/// A body with its holes filled.
#[derive(Debug)]
pub struct FilledHoles {
    /// Surface of the body.
    pub surface: TriangleSurface,
    /// Number of holes that were filled.
    pub n_filled: usize,
    /// Holes that were not filled.
    pub faults: Vec<HoleFault>,
}

/// Reason why faces are no walls of a hole that can be filled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HoleFault {
    /// Kind of fault.
    pub kind: HoleFaultKind,
    /// Face next to which it was found, from 0.
    pub face: u32,
    /// A place.
    pub at: [f64; 3],
}

/// Kind of reason why faces are no hole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HoleFaultKind {
    /// They end at another face of the same hole.
    GoesOn,
    /// Their rim runs around an edge of the body, so that no face goes on over the hole.
    AroundEdge,
    /// Nothing is free between them.
    Outside,
    /// Material stands between them.
    Crossed,
}

/// Cosine of the angle up to which neighbors belong to the same smooth surface: 20 degrees.
const SMOOTH: f64 = 0.94;

/// Cosine of the angle up to which a rim runs on one face: 40 degrees, as between triangles.
const BENT: f64 = 0.766;

/// Volume of material between walls that counts as none, as a share of that of the hole.
const CROSSED: f64 = 1e-3;

/// Rounding of a rim, as a share of its size.
const ROUNDING: f64 = 1e-9;

impl Holes<'_> {
    /// Fills the holes. Walls are joined by faces that go on smoothly, and by floors.
    pub fn filled(&self) -> FilledHoles {
        let walls = Walls::of(self);
        let mut triangles: Vec<[u32; 3]> = walls.triangles(|patch| patch.is_none());
        let (mut n_filled, mut faults) = (0, Vec::new());
        for patch in 0..walls.n_patches {
            match walls.caps(patch) {
                Ok(caps) => {
                    triangles.extend(caps);
                    n_filled += 1;
                }
                Err(fault) => {
                    triangles.extend(walls.triangles(|of| of == Some(patch)));
                    faults.push(fault);
                }
            }
        }
        FilledHoles { surface: self.surface.part(triangles), n_filled, faults }
    }

    fn normal(&self, triangle: usize) -> [f64; 3] {
        self.surface.area_vector(&self.surface.triangles[triangle])
    }
}

/// Walls of holes, in patches that hang together.
struct Walls<'a> {
    holes: &'a Holes<'a>,
    /// The body, to look for material between walls.
    part: Option<Body>,
    /// Triangle with each directed edge.
    sides: BTreeMap<[u32; 2], u32>,
    /// Patch of each triangle, if it is a wall, `[n_triangles]`.
    patches: Vec<Option<usize>>,
    n_patches: usize,
}

impl<'a> Walls<'a> {
    fn of(holes: &'a Holes<'a>) -> Self {
        let triangles = (0..).zip(&holes.surface.triangles);
        let sides = triangles.flat_map(|(i, triangle)| edges(triangle).map(|edge| (edge, i)));
        let (sides, patches) = (sides.collect(), vec![None; holes.surface.triangles.len()]);
        let part = Body::of(holes.surface);
        let mut walls = Self { holes, part, sides, patches, n_patches: 0 };
        let are_walls = walls.grown();
        walls.divide(&are_walls);
        walls
    }

    /// Walls with the faces that close a hole with them, `[n_faces]`.
    fn grown(&self) -> Vec<bool> {
        let mut are_walls = self.holes.are_walls.to_vec();
        loop {
            let seams = self.seams(&are_walls);
            let is_more = |face: &usize| !are_walls[*face] && seams[*face].closes_hole();
            let more: Vec<usize> = (0..are_walls.len()).filter(is_more).collect();
            if more.is_empty() {
                return are_walls;
            }
            more.into_iter().for_each(|face| are_walls[face] = true);
        }
    }

    /// Neighborhood of each face, `[n_faces]`.
    fn seams(&self, are_walls: &[bool]) -> Vec<Seams> {
        let mut seams = vec![Seams::default(); are_walls.len()];
        for (face, seams) in seams.iter_mut().enumerate() {
            seams.is_hollow = self.holes.are_hollow[face];
        }
        for (&[a, b], &triangle) in &self.sides {
            let Some(&other) = self.sides.get(&[b, a]) else { continue };
            let [face, next] = [triangle, other].map(|t| self.holes.of_triangles[t as usize]);
            if face == next {
                continue;
            }
            let own = &mut seams[face as usize];
            if !are_walls[next as usize] {
                own.is_enclosed = false;
            } else if self.bend(triangle, other) == Bend::Smooth {
                own.smooth.push(next);
            } else if self.bend(triangle, other) == Bend::Concave {
                own.is_floor = true;
            }
        }
        seams
    }

    /// How the surface bends from a triangle to its neighbor.
    fn bend(&self, triangle: u32, other: u32) -> Bend {
        let [n, m] = [triangle, other].map(|t| self.holes.normal(t as usize));
        if dot(n, m) >= SMOOTH * length(n) * length(m) {
            return Bend::Smooth;
        }
        let surface = self.holes.surface;
        let corners = |t: u32| surface.triangles[t as usize].map(|v| surface.vertices[v as usize]);
        let (first, apexes) = (corners(triangle)[0], corners(other));
        let heights = apexes.map(|x| dot(n, difference(x, first)));
        let least = heights.into_iter().fold(0.0, f64::min);
        if heights.into_iter().fold(0.0, f64::max) > -least { Bend::Concave } else { Bend::Convex }
    }

    /// Divides walls into patches that hang together.
    fn divide(&mut self, are_walls: &[bool]) {
        let is_wall = |t: u32| are_walls[self.holes.of_triangles[t as usize] as usize];
        let mut union = Union::new(self.patches.len());
        for (&[a, b], &triangle) in &self.sides {
            let other =
                self.sides.get(&[b, a]).filter(|other| is_wall(triangle) && is_wall(**other));
            if let Some(&other) = other {
                union.join(triangle, other);
            }
        }
        let (groups, _) = union.numbers();
        let mut numbers = BTreeMap::new();
        for (triangle, group) in (0..).zip(groups) {
            if is_wall(triangle) {
                let next = numbers.len();
                self.patches[triangle as usize] = Some(*numbers.entry(group).or_insert(next));
            }
        }
        self.n_patches = numbers.len();
    }

    /// Triangles of patches.
    fn triangles(&self, is_taken: impl Fn(Option<usize>) -> bool) -> Vec<[u32; 3]> {
        let all = self.holes.surface.triangles.iter().zip(&self.patches);
        all.filter(|(_, patch)| is_taken(**patch)).map(|(triangle, _)| *triangle).collect()
    }

    /// Triangles that close the rims of a patch in its place.
    fn caps(&self, patch: usize) -> Result<Vec<[u32; 3]>, HoleFault> {
        let of_patch = (0..).zip(&self.patches).filter(|(_, of)| **of == Some(patch));
        let own: Vec<u32> = of_patch.map(|(triangle, _)| triangle).collect();
        let first = own.first().copied().unwrap_or_default();
        let (mut caps, mut rims) = (Vec::new(), self.rims(&own));
        rims.sort_unstable();
        for rim in rims {
            self.check(&rim)?;
            caps.extend(
                self.cap(&rim).ok_or_else(|| self.fault(HoleFaultKind::AroundEdge, rim[0].1))?,
            );
        }

        let turned = |triangle: &u32| {
            let [a, b, c] = self.holes.surface.triangles[*triangle as usize];
            [a, c, b]
        };
        let plug = self.holes.surface.part(own.iter().map(turned).chain(caps.clone()).collect());
        let plug = Body::of(&plug).ok_or_else(|| self.fault(HoleFaultKind::Outside, first))?;
        let shared = |part: &Body| plug.manifold.intersection(&part.manifold).volume();
        let shared = self.part.as_ref().map_or(0.0, shared);
        if shared > CROSSED * plug.manifold.volume() {
            return Err(self.fault(HoleFaultKind::Crossed, first));
        }
        Ok(caps)
    }

    /// Rims of triangles: directed edges in turn, each with the triangle beyond.
    fn rims(&self, own: &[u32]) -> Vec<Vec<([u32; 2], u32)>> {
        let mut next = BTreeMap::<u32, Vec<([u32; 2], u32)>>::new();
        for &triangle in own {
            for [a, b] in edges(&self.holes.surface.triangles[triangle as usize]) {
                let beyond = self.sides.get(&[b, a]).copied();
                let patch = self.patches[triangle as usize];
                if let Some(other) = beyond.filter(|other| self.patches[*other as usize] != patch) {
                    next.entry(a).or_default().push(([a, b], other));
                }
            }
        }
        let mut rims = Vec::new();
        while let Some((&start, _)) = next.iter().find(|(_, edges)| !edges.is_empty()) {
            let (mut rim, mut at) = (Vec::new(), start);
            while let Some(edge) = next.get_mut(&at).and_then(Vec::pop) {
                at = edge.0[1];
                rim.push(edge);
            }
            rims.push(rim);
        }
        rims
    }

    /// Refuses a rim that is none of a hole.
    fn check(&self, rim: &[([u32; 2], u32)]) -> Result<(), HoleFault> {
        for (i, &(edge, beyond)) in rim.iter().enumerate() {
            let wall = self.sides[&edge];
            if self.bend(wall, beyond) == Bend::Concave {
                return Err(self.fault(HoleFaultKind::GoesOn, beyond));
            }
            let next = rim[(i + 1) % rim.len()].1;
            let [n, m] = [beyond, next].map(|t| self.holes.normal(t as usize));
            if dot(n, m) < BENT * length(n) * length(m) {
                return Err(self.fault(HoleFaultKind::AroundEdge, beyond));
            }
        }
        Ok(())
    }

    /// Triangles between the vertices of a rim.
    fn cap(&self, rim: &[([u32; 2], u32)]) -> Option<Vec<[u32; 3]>> {
        let vertices: Vec<u32> = rim.iter().map(|([a, _], _)| *a).collect();
        let x = |vertex: u32| self.holes.surface.vertices[vertex as usize];
        let from = x(vertices[0]);
        let fans = vertices
            .windows(2)
            .map(|pair| cross(difference(x(pair[0]), from), difference(x(pair[1]), from)));
        let normal = unit(fans.fold([0.0; 3], |sum, n| [0, 1, 2].map(|i| sum[i] + n[i])))?;
        let least = (0..3).min_by(|i, j| normal[*i].abs().total_cmp(&normal[*j].abs()))?;
        let axis = [0, 1, 2].map(|i| f64::from(u8::from(i == least)));
        let across = unit(cross(normal, axis))?;
        let along = cross(normal, across);
        let flat = |vertex: &u32| {
            let off = difference(x(*vertex), from);
            Vec2 { x: dot(off, across), y: dot(off, along) }
        };
        let size = length(BoundingBox::of(vertices.iter().map(|v| x(*v))).extent());
        let polygon = vertices.iter().map(flat).collect();
        let found = triangulate(&vec![polygon], ROUNDING * size, true);
        let corners = |i: i32| vertices[i as usize];
        let cap: Vec<_> = found.iter().map(|t| [t.x, t.y, t.z].map(corners)).collect();
        (cap.len() + 2 == vertices.len()).then_some(cap)
    }

    fn fault(&self, kind: HoleFaultKind, triangle: u32) -> HoleFault {
        let [a, b, c] = self.holes.surface.triangles[triangle as usize];
        let x = |vertex: u32| self.holes.surface.vertices[vertex as usize];
        let at = [0, 1, 2].map(|i| (x(a)[i] + x(b)[i] + x(c)[i]) / 3.0);
        HoleFault { kind, face: self.holes.of_triangles[triangle as usize], at }
    }
}

/// How a surface bends at an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bend {
    Smooth,
    /// More than half of the way around is material.
    Concave,
    Convex,
}

/// Neighborhood of a face.
#[derive(Debug, Clone)]
struct Seams {
    is_hollow: bool,
    /// Whether all neighbors are walls.
    is_enclosed: bool,
    /// Whether it joins a wall in a concave edge.
    is_floor: bool,
    /// Walls that it joins smoothly.
    smooth: Vec<u32>,
}

impl Default for Seams {
    fn default() -> Self {
        Self { is_hollow: false, is_enclosed: true, is_floor: false, smooth: Vec::new() }
    }
}

impl Seams {
    /// Whether a face belongs to the hole of the walls around: a bore goes on in another half of
    /// it, a slot between two ends, and either may have a floor.
    fn closes_hole(&self) -> bool {
        let is_between = || self.smooth.iter().any(|face| *face != self.smooth[0]);
        let is_continued = !self.smooth.is_empty() && (self.is_hollow || is_between());
        let is_closed = self.is_enclosed && (self.is_floor || !self.smooth.is_empty());
        is_continued || is_closed
    }
}

fn edges(&[a, b, c]: &[u32; 3]) -> [[u32; 2]; 3] {
    [[a, b], [b, c], [c, a]]
}
