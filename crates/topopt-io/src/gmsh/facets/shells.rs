//! Closed surfaces among facets: which bound bodies, and which their cavities.

use rayon::prelude::*;
use topopt_mesh::hexahedron::determinant;
use topopt_mesh::vector::{difference, dot, length};

use super::fault::FacetFault;
use super::triangles::{Side, by_edge, sides, volume};

/// Closed surfaces, each of facets that are joined by edges.
#[derive(Debug)]
pub(super) struct Shells {
    /// The shell of every facet, `[n_facets]`.
    pub of_facets: Vec<u32>,
    /// Facets of every shell.
    facets: Vec<Vec<u32>>,
    /// Shells around every shell.
    around: Vec<Vec<u32>>,
    /// The innermost shell around every shell, if there is one.
    parents: Vec<Option<u32>>,
    /// Number of shells around every shell.
    depths: Vec<usize>,
}

impl Shells {
    /// The shells of closed, oriented `triangles`.
    pub fn of(vertices: &[[f64; 3]], triangles: &[[u32; 3]]) -> Self {
        let of_facets = joined(triangles, |_| true);
        let count = of_facets.iter().max().map_or(0, |last| *last as usize + 1);
        let mut facets = vec![Vec::new(); count];
        for (facet, &shell) in (0..).zip(&of_facets) {
            facets[shell as usize].push(facet);
        }

        let corners = |facet: u32| triangles[facet as usize].map(|v| vertices[v as usize]);
        let contains = |outer: &Vec<u32>, inner: &Vec<u32>| {
            let point = middle(&corners(inner[0]));
            winding(outer.iter().map(|&facet| corners(facet)), point).abs() > 0.5
        };
        let around: Vec<Vec<u32>> = (facets.par_iter().enumerate())
            .map(|(shell, inner)| {
                let others = (0..count as u32).filter(|&other| other as usize != shell);
                others.filter(|&other| contains(&facets[other as usize], inner)).collect()
            })
            .collect();
        let depths: Vec<usize> = around.iter().map(Vec::len).collect();
        let nearest =
            |around: &Vec<u32>| around.iter().copied().max_by_key(|&s| depths[s as usize]);
        let parents = around.iter().map(nearest).collect();
        Self { of_facets, facets, around, parents, depths }
    }

    /// Turns shells so that facets of bodies point away from them, and those of cavities into them;
    /// how many were turned.
    ///
    /// # Errors
    /// A shell in another that is turned alike, as a body in a body, and shells without a volume.
    pub fn turn_outwards(
        &self,
        vertices: &[[f64; 3]],
        triangles: &mut [[u32; 3]],
    ) -> Result<usize, FacetFault> {
        let volumes = self.volumes(vertices, triangles);
        for (shell, parent) in self.parents.iter().enumerate() {
            let alike = |&parent: &u32| volumes[parent as usize] * volumes[shell] > 0.0;
            if parent.as_ref().is_some_and(alike) {
                let first = triangles[self.facets[shell][0] as usize];
                return Err(FacetFault::Nested { at: vertices[first[0] as usize] });
            }
        }

        self.turn_by_depth(vertices, triangles)
    }

    /// Turns shells so that facets of every second one, from the outside in, point outward and
    /// those of the others inward, as is right for one body; returns how many were turned.
    ///
    /// # Errors
    /// A shell without a volume.
    pub fn turn_by_depth(
        &self,
        vertices: &[[f64; 3]],
        triangles: &mut [[u32; 3]],
    ) -> Result<usize, FacetFault> {
        let volumes = self.volumes(vertices, triangles);
        if volumes.contains(&0.0) {
            return Err(FacetFault::NoVolume);
        }
        let mut turned = 0;
        for (shell, facets) in self.facets.iter().enumerate() {
            if (volumes[shell] > 0.0) != self.depths[shell].is_multiple_of(2) {
                facets.iter().for_each(|&facet| triangles[facet as usize].swap(1, 2));
                turned += 1;
            }
        }
        Ok(turned)
    }

    /// Volume that each shell encloses, negative where its facets point into it.
    pub fn volumes(&self, vertices: &[[f64; 3]], triangles: &[[u32; 3]]) -> Vec<f64> {
        let of_shell = |facets: &Vec<u32>| volume(vertices, &chosen(facets, triangles));
        self.facets.par_iter().map(of_shell).collect()
    }

    /// Triangles of several shells.
    pub fn triangles(&self, shells: &[u32], triangles: &[[u32; 3]]) -> Vec<[u32; 3]> {
        let of_shell = |&shell: &u32| chosen(&self.facets[shell as usize], triangles);
        shells.iter().flat_map(of_shell).collect()
    }

    /// Shells around a shell, as seen from its first facet.
    pub fn around(&self, shell: u32) -> &[u32] {
        &self.around[shell as usize]
    }

    /// Number of shells.
    pub fn len(&self) -> usize {
        self.facets.len()
    }

    /// The shells of every body, the outer one first.
    pub fn bodies(&self) -> Vec<Vec<u32>> {
        let outer =
            (0..self.len() as u32).filter(|&shell| self.depths[shell as usize].is_multiple_of(2));
        let of_outer = |outer: u32| {
            let inner =
                (0..self.len() as u32).filter(move |&s| self.parents[s as usize] == Some(outer));
            std::iter::once(outer).chain(inner).collect()
        };
        outer.map(of_outer).collect()
    }
}

fn chosen(facets: &[u32], triangles: &[[u32; 3]]) -> Vec<[u32; 3]> {
    facets.iter().map(|&facet| triangles[facet as usize]).collect()
}

/// Number of the part that every facet is in; facets of a part are joined by edges that `join`
/// them.
pub(super) fn joined(triangles: &[[u32; 3]], join: impl Fn(&[Side]) -> bool) -> Vec<u32> {
    let mut parent: Vec<u32> = (0..triangles.len() as u32).collect();
    for at in by_edge(&sides(triangles)).filter(|at| join(at)) {
        for side in &at[1..] {
            let [one, other] = [at[0].facet, side.facet].map(|facet| find(&mut parent, facet));
            parent[one.max(other) as usize] = one.min(other);
        }
    }

    let mut numbers = vec![u32::MAX; triangles.len()];
    let mut count = 0;
    (0..triangles.len() as u32)
        .map(|facet| {
            let root = find(&mut parent, facet) as usize;
            if numbers[root] == u32::MAX {
                numbers[root] = count;
                count += 1;
            }
            numbers[root]
        })
        .collect()
}

/// The root of a facet among those that are joined; the way to it becomes shorter.
fn find(parent: &mut [u32], mut facet: u32) -> u32 {
    while parent[facet as usize] != facet {
        parent[facet as usize] = parent[parent[facet as usize] as usize];
        facet = parent[facet as usize];
    }
    facet
}

fn middle(corners: &[[f64; 3]; 3]) -> [f64; 3] {
    std::array::from_fn(|i| corners.iter().map(|x| x[i]).sum::<f64>() / 3.0)
}

/// Winding number of facets with these corners around `point`: their solid angle over that of a
/// sphere [VanOosteromStrackee1983].
fn winding(facets: impl Iterator<Item = [[f64; 3]; 3]>, point: [f64; 3]) -> f64 {
    let angles = facets.map(|corners| solid_angle(corners.map(|x| difference(x, point))));
    angles.sum::<f64>() / (4.0 * std::f64::consts::PI)
}

/// Solid angle of a facet, by its corners, from the origin.
fn solid_angle([a, b, c]: [[f64; 3]; 3]) -> f64 {
    let [la, lb, lc] = [a, b, c].map(length);
    let denominator = la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb;
    2.0 * determinant(&[a, b, c]).atan2(denominator)
}
