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
    /// Checks that `triangles` (`[n_triangles][3]`, of any orientation) close a volume, and turns
    /// them outward. `faces`: number of the face that each triangle belongs to.
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
        surface.orient()?;
        surface.measure();
        if surface.volume() <= 0.0 { Err(HexmeshError::Empty) } else { Ok(surface) }
    }

    /// Surface whose faces are the parts of it within which neighboring triangles meet at less
    /// than `angle` (degrees), as of an STL file.
    ///
    /// # Errors
    /// Those of [`Surface::new`].
    pub fn with_faces_by_angle(
        points: Vec<[f64; 3]>,
        triangles: Vec<[u32; 3]>,
        angle: f64,
    ) -> Result<Self, HexmeshError> {
        let faces = vec![0; triangles.len()];
        let mut surface = Self::new(points, triangles, faces)?;
        let (least, normals) = (angle.to_radians().cos(), &surface.normals);
        let is_smooth =
            |t: usize, k: usize| normals[t].dot(&normals[surface.across[t][k] as usize]) >= least;
        surface.faces = surface.regions(is_smooth).0;
        Ok(surface)
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

    /// Turns triangles so that neighbors agree.
    fn agree(&mut self) -> Result<(), HexmeshError> {
        let mut is_done = vec![false; self.triangles.len()];
        for first in 0..self.triangles.len() {
            if is_done[first] {
                continue;
            }
            is_done[first] = true;
            let mut front = vec![first];
            while let Some(t) = front.pop() {
                for k in 0..3 {
                    let other = self.across[t][k] as usize;
                    let (a, b) = (self.triangles[t][k], self.triangles[t][(k + 1) % 3]);
                    let agrees = directed(&self.triangles[other], b, a);
                    if is_done[other] && !agrees {
                        return Err(HexmeshError::OneSided);
                    }
                    if !is_done[other] {
                        if !agrees {
                            self.turn(other);
                        }
                        is_done[other] = true;
                        front.push(other);
                    }
                }
            }
        }
        Ok(())
    }

    /// Turns triangles so that neighbors agree, then pieces so that their normals point away from
    /// the material: a piece inside an odd number of others is the wall of a cavity.
    fn orient(&mut self) -> Result<(), HexmeshError> {
        self.agree()?;
        let (piece, n_pieces) = self.pieces();
        let mut volumes = vec![0.0; n_pieces];
        let mut first = vec![0; n_pieces];
        for t in (0..piece.len()).rev() {
            let [a, b, c] = self.corners(t);
            volumes[piece[t] as usize] += a.dot(&b.cross(&c)) / 6.0;
            first[piece[t] as usize] = t;
        }
        let depths: Vec<usize> = (0..n_pieces).map(|p| self.depth(first[p], &piece)).collect();
        for t in 0..piece.len() {
            let p = piece[t] as usize;
            if (volumes[p] > 0.0) != depths[p].is_multiple_of(2) {
                self.turn(t);
            }
        }
        Ok(())
    }

    fn turn(&mut self, t: usize) {
        self.triangles[t].swap(1, 2);
        self.across[t].swap(0, 2);
    }

    /// Number of other pieces around the piece of triangle `t`: those that a ray from it crosses an
    /// odd number of times.
    fn depth(&self, t: usize, piece: &[u32]) -> usize {
        let n_pieces = piece.iter().max().map_or(0, |&last| last as usize + 1);
        if n_pieces == 1 {
            return 0;
        }
        let start = self.corners(t)[0];
        // A direction without relation to those of parts.
        let ray = Vec3::new(0.5377, 0.3191, 0.7807);
        let mut crossings = vec![0; n_pieces];
        for other in (0..piece.len()).filter(|&other| piece[other] != piece[t]) {
            crossings[piece[other] as usize] +=
                usize::from(crosses(start, ray, self.corners(other)));
        }
        crossings.iter().filter(|&&count| count % 2 == 1).count()
    }
}

/// Whether the ray from `start` crosses a triangle [MollerTrumbore1997].
fn crosses(start: Vec3, ray: Vec3, [a, b, c]: [Vec3; 3]) -> bool {
    let (e, f) = (b - a, c - a);
    let p = ray.cross(&f);
    let determinant = e.dot(&p);
    if determinant == 0.0 {
        return false;
    }
    let s = (start - a) / determinant;
    let (u, q) = (s.dot(&p), s.cross(&e));
    let v = ray.dot(&q);
    u >= 0.0 && v >= 0.0 && u + v <= 1.0 && f.dot(&q) > 0.0
}

/// Whether `triangle` has the edge from `a` to `b`.
fn directed(triangle: &[u32; 3], a: u32, b: u32) -> bool {
    (0..3).any(|k| triangle[k] == a && triangle[(k + 1) % 3] == b)
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
        let &[(_, _, t, k), (_, _, s, l)] = around else {
            let [from, to] = [around[0].0, around[0].1].map(|v| points[v as usize]);
            return Err(HexmeshError::Edge { triangles: around.len(), from, to });
        };
        (across[t as usize][k], across[s as usize][l]) = (s, t);
    }
    Ok(across)
}
