//! The closed surface of a part: checked when made, then trusted.

use nalgebra::Vector3;
use rayon::prelude::*;

use crate::error::HexmeshError;

/// Vector in space.
pub(crate) type Vec3 = Vector3<f64>;

/// Closed surface of a part, of triangles that belong to numbered faces.
#[derive(Debug, Clone)]
pub struct Surface {
    /// Vertices, `[n_vertices]`.
    pub(crate) points: Vec<Vec3>,
    /// Vertices of the triangles, counter-clockwise from outside, `[n_triangles][3]`.
    pub(crate) triangles: Vec<[u32; 3]>,
    /// Number of the face that each triangle belongs to, `[n_triangles]`.
    pub(crate) faces: Vec<u32>,
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
        if let Some(bad) = points.iter().position(|x| !x.iter().all(|c| c.is_finite())) {
            return Err(HexmeshError::NotFinite(bad));
        }
        let is_bad = |&[a, b, c]: &[u32; 3]| {
            a == b || b == c || c == a || [a, b, c].iter().any(|&v| v as usize >= points.len())
        };
        if let Some(bad) = triangles.iter().position(is_bad) {
            return Err(HexmeshError::BadTriangle(bad));
        }
        if triangles.len() != faces.len() {
            let (triangles, faces) = (triangles.len(), faces.len());
            return Err(HexmeshError::FaceNumbers { triangles, faces });
        }

        let across = neighbors(&points, &triangles)?;
        let points: Vec<Vec3> = points.into_iter().map(Vec3::from).collect();
        let mut surface =
            Self { points, triangles, faces, across, normals: Vec::new(), areas: Vec::new() };
        surface.measure();
        if surface.volume() <= 0.0 { Err(HexmeshError::Empty) } else { Ok(surface) }
    }

    /// Volume inside.
    pub fn volume(&self) -> f64 {
        let cone =
            |t: usize| self.corners(t)[0].dot(&self.corners(t)[1].cross(&self.corners(t)[2]));
        (0..self.triangles.len()).map(cone).sum::<f64>() / 6.0
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

/// The triangle across each edge.
fn neighbors(points: &[[f64; 3]], triangles: &[[u32; 3]]) -> Result<Vec<[u32; 3]>, HexmeshError> {
    let edges_of = |(t, triangle): (usize, &[u32; 3])| {
        let edge = |k: usize| [triangle[k], triangle[(k + 1) % 3]];
        [0, 1, 2].map(|k| (edge(k)[0].min(edge(k)[1]), edge(k)[0].max(edge(k)[1]), t as u32, k))
    };
    let mut edges: Vec<_> = triangles.iter().enumerate().flat_map(edges_of).collect();
    edges.par_sort_unstable();

    let mut across = vec![[0; 3]; triangles.len()];
    for around in edges.chunk_by(|e, f| (e.0, e.1) == (f.0, f.1)) {
        let [from, to] = [around[0].0, around[0].1].map(|v| points[v as usize]);
        let &[(_, _, t, k), (_, _, s, l)] = around else {
            return Err(HexmeshError::Edge { triangles: around.len(), from, to });
        };
        if triangles[t as usize][k] == triangles[s as usize][l] {
            return Err(HexmeshError::Turned { from, to });
        }
        (across[t as usize][k], across[s as usize][l]) = (s, t);
    }
    Ok(across)
}
