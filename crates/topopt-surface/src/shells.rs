//! `Shells`: the closed surfaces of which a surface consists.

use serde::{Deserialize, Serialize};
use topopt_mesh::hexahedron::determinant;
use topopt_mesh::vector::{difference, dot, length};

use crate::TriangleSurface;
use crate::union::Union;

/// Closed surfaces: bounds of pieces, and of cavities in these.
pub(crate) struct Shells {
    /// Shell of each vertex, `[n_vertices]`.
    of_vertex: Vec<u32>,
    /// Enclosed volumes, negative for cavities, `[n_shells]`.
    volumes: Vec<f64>,
}

/// Numbers of connected pieces, of closed cavities in them, and of handles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Topology {
    /// Pieces that do not touch each other.
    pub pieces: usize,
    /// Cavities without a way out.
    pub cavities: usize,
    /// Handles of all closed surfaces: a plate with three holes has three.
    pub genus: i64,
}

impl Shells {
    fn of(surface: &TriangleSurface) -> Self {
        let mut union = Union::new(surface.vertices.len());
        for &[a, b, c] in &surface.triangles {
            union.join(a, b);
            union.join(b, c);
        }
        let (of_vertex, n) = union.numbers();
        let mut volumes = vec![0.0; n];
        for (triangle, volume) in surface.triangles.iter().zip(surface.cone_volumes()) {
            volumes[of_vertex[triangle[0] as usize] as usize] += volume;
        }
        Self { of_vertex, volumes }
    }

    fn of_triangle(&self, triangle: &[u32; 3]) -> usize {
        self.of_vertex[triangle[0] as usize] as usize
    }

    /// The piece around each cavity, and of each piece itself, `[n_shells]`.
    fn around(&self, surface: &TriangleSurface) -> Vec<usize> {
        (0..self.volumes.len()).map(|shell| self.outer(surface, shell)).collect()
    }

    /// The piece around a cavity: the smallest that its surface lies in. A piece itself.
    fn outer(&self, surface: &TriangleSurface, shell: usize) -> usize {
        let own = self.of_vertex.iter().position(|&of| of as usize == shell);
        let (Some(own), true) = (own, self.volumes[shell] < 0.0) else { return shell };
        let mut turns = vec![0.0; self.volumes.len()];
        for triangle in &surface.triangles {
            let angle = surface.solid_angle(triangle, surface.vertices[own]);
            turns[self.of_triangle(triangle)] += angle / (4.0 * std::f64::consts::PI);
        }
        let outer = (0..turns.len()).filter(|&s| self.volumes[s] > 0.0 && turns[s] > 0.5);
        outer.min_by(|&a, &b| self.volumes[a].total_cmp(&self.volumes[b])).unwrap_or(shell)
    }
}

/// Pieces smaller than an element, which are left out.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Crumbs {
    /// Number of the pieces.
    pub n: usize,
    /// Volume of all.
    pub volume: f64,
}

impl Crumbs {
    /// These pieces and the `other` ones.
    pub(crate) fn and(self, other: Self) -> Self {
        Self { n: self.n + other.n, volume: self.volume + other.volume }
    }
}

impl TriangleSurface {
    /// Leaves out closed surfaces around less than `least`, pieces that is; cavities stay. Returns
    /// those left out.
    pub(crate) fn drop_crumbs(&mut self, least: f64) -> Crumbs {
        let shells = Shells::of(self);
        let is_crumb = |volume: f64| volume >= 0.0 && volume < least;
        let crumbs = shells.volumes.iter().copied().filter(|volume| is_crumb(*volume));
        let crumbs = Crumbs { n: crumbs.clone().count(), volume: crumbs.sum() };
        if crumbs.n > 0 {
            let kept = |t: &&[u32; 3]| !is_crumb(shells.volumes[shells.of_triangle(t)]);
            *self = self.part(self.triangles.iter().filter(kept).copied().collect());
        }
        crumbs
    }

    /// Counts pieces, cavities and handles.
    pub fn topology(&self) -> Topology {
        let shells = Shells::of(self);
        let cavities = shells.volumes.iter().filter(|volume| **volume < 0.0).count();
        // Vertices - edges + triangles = 2 (shells - handles), and three edges for two triangles.
        let euler = self.vertices.len() as i64 - self.triangles.len() as i64 / 2;
        let genus = shells.volumes.len() as i64 - euler / 2;
        Topology { pieces: shells.volumes.len() - cavities, cavities, genus }
    }

    /// Volumes of the connected pieces, less their cavities, and of the cavities, largest first.
    pub fn parts(&self) -> [Vec<f64>; 2] {
        let shells = Shells::of(self);
        let mut pieces = vec![0.0; shells.volumes.len()];
        for (shell, outer) in shells.around(self).into_iter().enumerate() {
            pieces[outer] += shells.volumes[shell];
        }
        let is_cavity = |volume: f64| volume < 0.0;
        let outer = pieces.iter().zip(&shells.volumes).filter(|(_, own)| !is_cavity(**own));
        let cavities = shells.volumes.iter().filter(|own| is_cavity(**own));
        let mut parts = [outer.map(|(v, _)| *v).collect(), cavities.map(|v| -v).collect()];
        parts.iter_mut().for_each(|volumes: &mut Vec<f64>| volumes.sort_by(|a, b| b.total_cmp(a)));
        parts
    }

    /// Returns the surface of the largest piece, with its cavities, alone.
    pub fn largest_piece(&self) -> Self {
        let shells = Shells::of(self);
        let largest = (0..shells.volumes.len())
            .max_by(|&a, &b| shells.volumes[a].total_cmp(&shells.volumes[b]));
        let around = shells.around(self);
        let is_kept = |t: &&[u32; 3]| Some(around[shells.of_triangle(t)]) == largest;
        self.part(self.triangles.iter().filter(is_kept).copied().collect())
    }

    /// Solid angle of a triangle seen from `x` \[VanOosteromStrackee1983\], positive from inside.
    fn solid_angle(&self, triangle: &[u32; 3], x: [f64; 3]) -> f64 {
        let [a, b, c] = triangle.map(|vertex| difference(self.vertices[vertex as usize], x));
        let [la, lb, lc] = [a, b, c].map(length);
        let cosine = la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb;
        2.0 * determinant(&[a, b, c]).atan2(cosine)
    }
}
