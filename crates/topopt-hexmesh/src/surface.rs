//! The closed surfaces of the bodies of a part: checked when made, then trusted.

use std::collections::{BTreeMap, BTreeSet};

use nalgebra::Vector3;
use rayon::prelude::*;
use topopt_mesh::numbers::without_rounding;

use crate::error::HexmeshError;
use crate::joined::Joined;
use crate::nearest::{Foot, Nearest};

/// Distance, as a share of the diagonal, within which bodies touch.
const TOUCHING: f64 = 1e-7;
/// Largest cosine between the normals of faces that lie on each other.
const FACING: f64 = -0.9;

/// Vector in space.
pub(crate) type Vec3 = Vector3<f64>;

/// Closed surfaces of the bodies of a part, of triangles that belong to numbered faces. A triangle
/// between two bodies stands twice, once in the surface of each.
#[derive(Debug, Clone)]
pub struct Surface {
    /// Vertices, `[n_vertices]`.
    pub(crate) points: Vec<Vec3>,
    /// Vertices of the triangles, counter-clockwise from outside, `[n_triangles][3]`.
    pub(crate) triangles: Vec<[u32; 3]>,
    /// Number of the face that each triangle belongs to, `[n_triangles]`.
    pub(crate) faces: Vec<u32>,
    /// Body that each triangle bounds, `[n_triangles]`.
    pub(crate) bodies: Vec<u32>,
    /// Triangle of the body on the other side, if there is one, `[n_triangles]`.
    pub(crate) twins: Vec<Option<u32>>,
    /// Triangle across the edge from vertex k to the next, `[n_triangles][3]`.
    pub(crate) across: Vec<[u32; 3]>,
    /// Unit normals, outward; zero for a triangle without area, `[n_triangles]`.
    pub(crate) normals: Vec<Vec3>,
    /// Areas, `[n_triangles]`.
    pub(crate) areas: Vec<f64>,
}

impl Surface {
    /// Checks that `triangles` (`[n_triangles][3]`, counter-clockwise from outside) close a volume.
    /// `faces`: number of the face that each triangle belongs to.
    ///
    /// # Errors
    /// [`HexmeshError`], naming the first offending entity.
    pub fn new(
        points: Vec<[f64; 3]>,
        triangles: Vec<[u32; 3]>,
        faces: Vec<u32>,
    ) -> Result<Self, HexmeshError> {
        let bodies = vec![[Some(0), None]; triangles.len()];
        Self::of_bodies(points, triangles, faces, &bodies)
    }

    /// Checks that `triangles` close the volumes of bodies, numbered from 0, which share the
    /// triangles between them. `bodies`: those behind and before each triangle, which is
    /// counter-clockwise as seen from before it, `[n_triangles][2]`.
    ///
    /// # Errors
    /// [`HexmeshError`], naming the first offending entity; among them bodies that touch each other
    /// along an edge or in a vertex and share no triangle there.
    pub fn of_bodies(
        points: Vec<[f64; 3]>,
        mut triangles: Vec<[u32; 3]>,
        mut faces: Vec<u32>,
        bodies: &[[Option<u32>; 2]],
    ) -> Result<Self, HexmeshError> {
        check(&points, &triangles, &faces, bodies)?;
        let mut own = Vec::with_capacity(triangles.len());
        let mut twins = vec![None; triangles.len()];
        for (t, sides) in bodies.iter().enumerate() {
            own.push(sides[0].or(sides[1]).unwrap_or_default());
            if sides[0].is_none() {
                triangles[t].swap(1, 2);
            }
        }
        for (t, sides) in bodies.iter().enumerate() {
            if let [Some(_), Some(before)] = *sides {
                let [a, b, c] = triangles[t];
                twins[t] = Some(triangles.len() as u32);
                twins.push(Some(t as u32));
                triangles.push([a, c, b]);
                faces.push(faces[t]);
                own.push(before);
            }
        }

        let across = neighbors(&points, &triangles, &own)?;
        let points: Vec<Vec3> = points.into_iter().map(Vec3::from).collect();
        let (normals, areas) = (Vec::new(), Vec::new());
        let mut surface =
            Self { points, triangles, faces, bodies: own, twins, across, normals, areas };
        surface.measure();
        surface.check_contacts()?;
        let is_full = |volume: f64| volume > 0.0;
        if surface.volumes().into_iter().all(is_full) {
            Ok(surface)
        } else {
            Err(HexmeshError::Empty)
        }
    }

    /// Number of bodies.
    pub fn n_bodies(&self) -> usize {
        self.bodies.iter().max().map_or(1, |&last| last as usize + 1)
    }

    /// Number of faces between two bodies.
    pub fn n_interfaces(&self) -> usize {
        let between = (0..self.faces.len()).filter(|&t| self.twins[t].is_some());
        between.map(|t| self.faces[t]).collect::<BTreeSet<u32>>().len()
    }

    /// Volume of each body, `[n_bodies]`.
    pub fn volumes(&self) -> Vec<f64> {
        let mut volumes = vec![0.0; self.n_bodies()];
        for (t, &body) in self.bodies.iter().enumerate() {
            volumes[body as usize] += self.cone(t);
        }
        volumes.into_iter().map(|volume| volume / 6.0).collect()
    }

    /// Volume inside.
    pub fn volume(&self) -> f64 {
        (0..self.triangles.len()).map(|t| self.cone(t)).sum::<f64>() / 6.0
    }

    /// Regions on both sides of triangle `t`, ascending: 0 is outside, bodies follow.
    pub(crate) fn sheet(&self, t: usize) -> [u32; 2] {
        let own = self.bodies[t] + 1;
        let other = self.twins[t].map_or(0, |twin| self.bodies[twin as usize] + 1);
        [own.min(other), own.max(other)]
    }

    /// Six times the volume of the cone from the origin to triangle `t`.
    pub(crate) fn cone(&self, t: usize) -> f64 {
        self.corners(t)[0].dot(&self.corners(t)[1].cross(&self.corners(t)[2]))
    }

    /// The corners of triangle `t`.
    pub(crate) fn corners(&self, t: usize) -> [Vec3; 3] {
        self.triangles[t].map(|v| self.points[v as usize])
    }

    /// Smallest and largest coordinates.
    pub(crate) fn bounds(&self) -> [Vec3; 2] {
        let first = [Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY)];
        self.points.iter().fold(first, |[low, high], x| [low.inf(x), high.sup(x)])
    }

    /// The surface with its points moved by `place`, which keeps orientations.
    pub(crate) fn moved(&self, place: impl Fn(&Vec3) -> Vec3) -> Self {
        let mut moved = Self { points: self.points.iter().map(place).collect(), ..self.clone() };
        moved.measure();
        moved
    }

    /// Pieces of the surface that are joined by edges: the piece of each triangle, and how many.
    pub(crate) fn pieces(&self) -> (Vec<u32>, usize) {
        self.regions(|_, _| true)
    }

    /// Regions of triangles that are joined by edges where `joins(t, k)` says so, t being a triangle
    /// and k its edge: the region of each triangle, `[n_triangles]`, and how many.
    pub(crate) fn regions(&self, joins: impl Fn(usize, usize) -> bool) -> (Vec<u32>, usize) {
        let mut region = vec![u32::MAX; self.triangles.len()];
        let mut n_regions = 0;
        for first in 0..region.len() {
            if region[first] != u32::MAX {
                continue;
            }
            region[first] = n_regions;
            let mut front = vec![first];
            while let Some(t) = front.pop() {
                for (k, other) in self.across[t].into_iter().enumerate() {
                    if region[other as usize] == u32::MAX && joins(t, k) {
                        region[other as usize] = n_regions;
                        front.push(other as usize);
                    }
                }
            }
            n_regions += 1;
        }
        (region, n_regions as usize)
    }

    /// Checks that bodies that have an edge or a vertex in common share triangles there, so that
    /// one sheet at most divides what lies around it from outside.
    fn check_contacts(&self) -> Result<(), HexmeshError> {
        if self.n_bodies() == 1 {
            return Ok(());
        }
        for ((a, b), around) in self.edges() {
            let own: Vec<usize> = around.iter().map(|&(t, _)| t).collect();
            let sides = own.len() / 2;
            let shared = own.iter().filter(|&&t| self.twins[t].is_some()).count() / 2;
            if sides > shared + 1 {
                let [from, to] = [a, b].map(|v| self.place(self.points[v as usize]));
                let bodies = apart(own.iter().map(|&t| self.bodies[t]), &self.joined(&own));
                let bodies = bodies.unwrap_or([self.bodies[own[0]]; 2]);
                return Err(HexmeshError::TouchAtEdge { bodies, from, to });
            }
        }
        let mut at: Vec<Vec<usize>> = vec![Vec::new(); self.points.len()];
        for (t, triangle) in self.triangles.iter().enumerate() {
            triangle.iter().for_each(|&v| at[v as usize].push(t));
        }
        if let Some((bodies, x)) = self.unshared_contact() {
            return Err(HexmeshError::TouchUnshared { bodies, at: self.place(x) });
        }
        for (own, x) in at.iter().zip(&self.points) {
            let joined = self.joined(own);
            if let Some(bodies) = apart(own.iter().map(|&t| self.bodies[t]), &joined) {
                return Err(HexmeshError::TouchAtPoint { bodies, at: self.place(*x) });
            }
        }
        Ok(())
    }

    /// Bodies that share some of these `triangles`.
    fn joined(&self, triangles: &[usize]) -> Joined {
        let mut joined = Joined::new(self.n_bodies());
        for &t in triangles {
            if let Some(twin) = self.twins[t] {
                joined.join(self.bodies[t], self.bodies[twin as usize]);
            }
        }
        joined
    }

    /// A place for people, where rounding counts as 0.
    pub(crate) fn place(&self, x: Vec3) -> [f64; 3] {
        without_rounding(x.into(), self.diagonal())
    }

    /// Diagonal of the box around it.
    pub(crate) fn diagonal(&self) -> f64 {
        let [low, high] = self.bounds();
        (high - low).norm()
    }

    /// Center of an outer triangle of one body that lies on another body, and both.
    fn unshared_contact(&self) -> Option<([u32; 2], Vec3)> {
        let outer: Vec<usize> =
            (0..self.bodies.len()).filter(|&t| self.twins[t].is_none()).collect();
        let of_body = |body: usize| {
            let own = outer.iter().filter(|&&t| self.bodies[t] as usize == body);
            Nearest::new(own.map(|&t| (t, self.corners(t))))
        };
        let bodies: Vec<Nearest> = (0..self.n_bodies()).map(of_body).collect();
        let touching = TOUCHING * self.diagonal();
        outer.par_iter().find_map_first(|&t| self.touching(t, &bodies, touching))
    }

    /// Center of triangle `t`, if it lies within a distance of an opposite face of another body.
    fn touching(&self, t: usize, bodies: &[Nearest], distance: f64) -> Option<([u32; 2], Vec3)> {
        let center = self.corners(t).iter().sum::<Vec3>() / 3.0;
        let own = self.bodies[t] as usize;
        let others = bodies.iter().enumerate().filter(|(body, _)| *body != own);
        // Faces of bodies that overlap cross each other.
        let faces = |s: usize| self.normals[s].dot(&self.normals[t]) < FACING;
        let near = |foot: &Foot| (foot.point - center).norm() < distance;
        let mut feet = others.filter_map(|(_, other)| other.nearest(&center));
        let foot = feet.find(|foot| near(foot) && faces(foot.index))?;
        Some(([self.bodies[t], self.bodies[foot.index]], center))
    }

    /// Triangles and their own edges at each edge, smaller vertex first.
    fn edges(&self) -> BTreeMap<(u32, u32), Vec<(usize, usize)>> {
        let mut edges: BTreeMap<(u32, u32), Vec<(usize, usize)>> = BTreeMap::new();
        for (t, triangle) in self.triangles.iter().enumerate() {
            for k in 0..3 {
                let [a, b] = [triangle[k], triangle[(k + 1) % 3]];
                edges.entry((a.min(b), a.max(b))).or_default().push((t, k));
            }
        }
        edges
    }

    fn measure(&mut self) {
        let normal = |t: usize| {
            let [a, b, c] = self.corners(t);
            (b - a).cross(&(c - a))
        };
        let doubled: Vec<Vec3> = (0..self.triangles.len()).into_par_iter().map(normal).collect();
        self.areas = doubled.iter().map(|n| n.norm() / 2.0).collect();
        self.normals = doubled.iter().map(|n| n.try_normalize(0.0).unwrap_or_default()).collect();
    }
}

/// Two of these bodies that are not joined, if there are any.
fn apart(bodies: impl Iterator<Item = u32>, joined: &Joined) -> Option<[u32; 2]> {
    let mut bodies = bodies;
    let first = bodies.next()?;
    let other = bodies.find(|&body| joined.root(body) != joined.root(first))?;
    Some([first.min(other), first.max(other)])
}

/// Checks coordinates, vertices and the lengths of lists.
fn check(
    points: &[[f64; 3]],
    triangles: &[[u32; 3]],
    faces: &[u32],
    bodies: &[[Option<u32>; 2]],
) -> Result<(), HexmeshError> {
    if let Some(bad) = points.iter().position(|x| !x.iter().all(|c| c.is_finite())) {
        return Err(HexmeshError::NotFinite(bad));
    }
    let is_bad = |&[a, b, c]: &[u32; 3]| {
        a == b || b == c || c == a || [a, b, c].iter().any(|&v| v as usize >= points.len())
    };
    if let Some(bad) = triangles.iter().position(is_bad) {
        return Err(HexmeshError::BadTriangle(bad));
    }
    if triangles.len() != faces.len() || triangles.len() != bodies.len() {
        let (triangles, faces) = (triangles.len(), faces.len().min(bodies.len()));
        return Err(HexmeshError::FaceNumbers { triangles, faces });
    }
    match bodies.iter().position(|[behind, before]| behind == before) {
        Some(bad) => Err(HexmeshError::NoBoundary(bad)),
        None => Ok(()),
    }
}

/// The triangle of the same body across each edge.
fn neighbors(
    points: &[[f64; 3]],
    triangles: &[[u32; 3]],
    bodies: &[u32],
) -> Result<Vec<[u32; 3]>, HexmeshError> {
    let edges_of = |(t, triangle): (usize, &[u32; 3])| {
        let ends = |k: usize| [triangle[k], triangle[(k + 1) % 3]];
        let edge = |k: usize, [a, b]: [u32; 2]| (a.min(b), a.max(b), bodies[t], t as u32, k);
        [0, 1, 2].map(|k| edge(k, ends(k)))
    };
    let mut edges: Vec<_> = triangles.iter().enumerate().flat_map(edges_of).collect();
    edges.par_sort_unstable();

    let mut across = vec![[0; 3]; triangles.len()];
    for around in edges.chunk_by(|e, f| (e.0, e.1, e.2) == (f.0, f.1, f.2)) {
        let [from, to] = [around[0].0, around[0].1].map(|v| points[v as usize]);
        let &[(_, _, _, t, k), (_, _, _, s, l)] = around else {
            return Err(HexmeshError::Edge { triangles: around.len(), from, to });
        };
        if triangles[t as usize][k] == triangles[s as usize][l] {
            return Err(HexmeshError::Turned { from, to });
        }
        (across[t as usize][k], across[s as usize][l]) = (s, t);
    }
    Ok(across)
}
