//! Decimation that keeps the topology, the boundary of the part and, nearly, the volume.

use std::cell::Cell;

use alum::{
    DVec3, Decimater, F64Adaptor, HH, Handle, HasDecimation, HasIterators, HasTopology,
    PolyMeshF64, Quadric, VH,
};
use rayon::prelude::*;
use topopt_mesh::BoundingBox;
use topopt_mesh::vector::{cross, difference, dot, length};

use crate::TriangleSurface;

/// Largest change of the volume by collapses, relative, and by one of them as a share of that:
/// they end when the next one could pass it.
const VOLUME_DRIFT: f64 = 5e-3;
const SINGLE_DRIFT: f64 = 0.1;

/// Smallest cosine of the angle between a triangle before and after a collapse.
const LEAST_COSINE: f64 = 0.25;

/// Least height of a triangle by its longest edge, or that which it had.
const LEAST_SHAPE: f64 = 0.05;

/// Times that crossings are undone before the surface stays as it was.
const ROUNDS: usize = 8;

/// Why access to a half-edge mesh of our own does not fail.
const OWN: &str = "nobody else borrows it";

/// A surface that cannot be decimated.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error(
    "the surface touches itself at a vertex or an edge, near {near:?}: parts of the mesh meet there \
     without a common face; join them, or do not decimate"
)]
pub struct NotAManifold {
    /// A corner of a triangle there.
    pub near: [f64; 3],
}

impl TriangleSurface {
    /// Collapses edges into one of their ends, in the order of the error quadrics
    /// \[GarlandHeckbert1997\], until `share`, in `[0, 1]`, is left of the triangles off the
    /// boundary of the part, or no collapse is allowed any more.
    ///
    /// Vertices on the boundary of the part stay, and with them the triangles there. Collapses keep
    /// the topology, leave at least a tetrahedron of every closed surface, turn no triangle over
    /// and make none thin. They change the volume by 0.5 % at most, one of them by a tenth of that.
    /// Where parts that lie nearer than triangles are long would cross, the vertices stay that were
    /// there.
    ///
    /// # Errors
    /// [`NotAManifold`], and the surface is as it was.
    pub fn decimate(&mut self, share: f64) -> Result<(), NotAManifold> {
        let mut is_kept = self.on_boundary.clone();
        for _ in 0..ROUNDS {
            let decimated = self.collapsed(share, &is_kept)?;
            let crossings = decimated.crossings();
            if crossings.is_empty() {
                *self = decimated;
                break;
            }
            self.keep_around(&decimated, crossings.as_flattened(), &mut is_kept);
        }
        Ok(())
    }

    /// Keeps the vertices in boxes twice as large as those around `triangles` of the surface `decimated`.
    fn keep_around(&self, decimated: &Self, triangles: &[u32], is_kept: &mut [bool]) {
        let boxes = triangles.iter().map(|&t| BoundingBox::of(decimated.corners(t)).twice());
        let boxes: Vec<BoundingBox> = boxes.collect();
        self.vertices.par_iter().zip(is_kept).for_each(|(x, is_kept)| {
            *is_kept |= boxes.iter().any(|around| around.squared_distance(*x) == 0.0);
        });
    }

    /// The surface after the collapses, which leave the vertices that are kept.
    fn collapsed(&self, share: f64, is_kept: &[bool]) -> Result<Self, NotAManifold> {
        let mut mesh = self.half_edges()?;
        mesh.vertices().for_each(|vertex| keep_tetrahedron(&mesh, vertex));
        let (volume, free) = (self.volume(), self.n_free_triangles());
        let target = self.triangles.len() - free + (share * free as f64) as usize;
        let (drift, single) = (Cell::new(0.0_f64), SINGLE_DRIFT * VOLUME_DRIFT * volume);
        let goes_on =
            |_, _, left| left > target && drift.get().abs() + single <= VOLUME_DRIFT * volume;
        let mut collapses = Collapses::of(self, is_kept, &drift, single);
        mesh.decimate_while(&mut collapses, goes_on).expect(OWN);
        let status = mesh.face_status_prop();
        let status = status.try_borrow().expect(OWN);
        let left = mesh.faces().filter(|&face| !status[face].deleted());
        let triangles = left.map(|face| {
            let edge = face.halfedge(&mesh);
            [edge.tail(&mesh), edge.head(&mesh), edge.next(&mesh).head(&mesh)].map(|v| v.index())
        });
        Ok(self.part(triangles.collect()))
    }

    /// Number of triangles with a vertex off the boundary of the mesh: those that can be decimated.
    pub fn n_free_triangles(&self) -> usize {
        self.triangles.iter().filter(|triangle| !self.lies_on_boundary(triangle)).count()
    }

    fn lies_on_boundary(&self, triangle: &[u32; 3]) -> bool {
        triangle.iter().all(|&vertex| self.on_boundary[vertex as usize])
    }

    /// The surface as half-edges, with the same numbers.
    fn half_edges(&self) -> Result<PolyMeshF64, NotAManifold> {
        let (vertices, triangles) = (self.vertices.len(), self.triangles.len());
        let mut mesh = PolyMeshF64::with_capacity(vertices, triangles / 2 * 3, triangles);
        let points: Vec<_> = self.vertices.iter().map(|&[x, y, z]| DVec3(x, y, z)).collect();
        mesh.add_vertices(&points).expect(OWN);
        for triangle in &self.triangles {
            let near = self.vertices[triangle[0] as usize];
            mesh.add_face(&triangle.map(VH::from)).map_err(|_| NotAManifold { near })?;
        }
        Ok(mesh)
    }
}

/// Costs of edge collapses, and the change of volume so far.
struct Collapses<'a> {
    surface: &'a TriangleSurface,
    /// Whether a vertex may not go.
    is_kept: &'a [bool],
    /// Squares of the distances to the planes around, times areas, of every vertex.
    quadrics: Vec<Quadric<F64Adaptor>>,
    /// Change of the volume so far.
    drift: &'a Cell<f64>,
    /// The most that one collapse may change it.
    single: f64,
}

impl<'a> Collapses<'a> {
    fn of(
        surface: &'a TriangleSurface,
        is_kept: &'a [bool],
        drift: &'a Cell<f64>,
        single: f64,
    ) -> Self {
        let quadrics = vec![Quadric::default(); surface.vertices.len()];
        let mut collapses = Self { surface, is_kept, quadrics, drift, single };
        for &[a, b, c] in &surface.triangles {
            let normal = cross(collapses.edge(a, b), collapses.edge(a, c));
            let length = length(normal);
            if length > 0.0 {
                // Scaled to the root of the area, so that squares count by area.
                let [x, y, z] = normal.map(|n| n * (0.5 / length).sqrt());
                let plane = Quadric::plane_quadric(collapses.point(a), DVec3(x, y, z));
                [a, b, c].iter().for_each(|&vertex| collapses.quadrics[vertex as usize] += plane);
            }
        }
        collapses
    }

    /// From the first vertex of all, which keeps digits where the part lies far away.
    fn point(&self, vertex: u32) -> DVec3 {
        let [x, y, z] = self.edge(0, vertex);
        DVec3(x, y, z)
    }

    fn edge(&self, tail: u32, head: u32) -> [f64; 3] {
        let [from, to] = [tail, head].map(|vertex| self.surface.vertices[vertex as usize]);
        difference(to, from)
    }

    /// Change of the volume by the collapse of `h`.
    fn change(&self, mesh: &PolyMeshF64, h: HH) -> f64 {
        let [tail, head] = [h.tail(mesh), h.head(mesh)].map(|vertex| vertex.index());
        let along = self.edge(tail, head);
        let change = |[b, c]: [u32; 2]| dot(along, cross(self.edge(tail, b), self.edge(tail, c)));
        left_at_tail(mesh, h).map(change).sum::<f64>() / 6.0
    }

    /// Whether the triangle `tail`, `b`, `c` may become `head`, `b`, `c`.
    fn may_become(&self, tail: u32, head: u32, [b, c]: [u32; 2]) -> bool {
        let shapes = [tail, head].map(|corner| {
            let edges = [self.edge(corner, b), self.edge(corner, c), self.edge(b, c)];
            let normal = cross(edges[0], edges[1]);
            let longest = edges.iter().map(|&edge| dot(edge, edge)).fold(0.0, f64::max);
            (normal, length(normal), longest)
        });
        let [(before, size, longest), (after, new_size, new_longest)] = shapes;
        !self.surface.lies_on_boundary(&[head, b, c])
            && dot(before, after) > LEAST_COSINE * size * new_size
            && new_size > LEAST_SHAPE.min(size / longest) * new_longest
    }
}

impl Decimater<PolyMeshF64> for Collapses<'_> {
    type Cost = f64;

    fn collapse_cost(&self, mesh: &PolyMeshF64, h: HH) -> Option<f64> {
        let [tail, head] = [h.tail(mesh), h.head(mesh)].map(|vertex| vertex.index());
        let allowed = !self.is_kept[tail as usize]
            && left_at_tail(mesh, h).all(|ends| self.may_become(tail, head, ends))
            && self.change(mesh, h).abs() <= self.single;
        let quadric = self.quadrics[tail as usize] + self.quadrics[head as usize];
        allowed.then(|| quadric.residual(self.point(head)))
    }

    fn before_collapse(&mut self, mesh: &PolyMeshF64, h: HH) -> Result<(), alum::Error> {
        let [tail, head] = [h.tail(mesh), h.head(mesh)].map(|vertex| vertex.index());
        self.drift.set(self.drift.get() + self.change(mesh, h));
        let quadric = self.quadrics[tail as usize];
        self.quadrics[head as usize] += quadric;
        Ok(())
    }

    /// The head stays where it was.
    fn after_collapse(&mut self, mesh: &PolyMeshF64, head: VH) -> Result<(), alum::Error> {
        keep_tetrahedron(mesh, head);
        Ok(())
    }
}

/// Forbids collapses where `vertex` belongs to a closed surface of four triangles, which the link
/// condition allows although two coinciding triangles would be left.
fn keep_tetrahedron(mesh: &PolyMeshF64, vertex: VH) {
    let corners: Vec<VH> = std::iter::once(vertex).chain(mesh.vv_ccw_iter(vertex)).collect();
    if corners.iter().all(|&corner| mesh.vv_ccw_iter(corner).count() == 3) {
        let mut status = mesh.vertex_status_prop();
        let mut status = status.try_borrow_mut().expect(OWN);
        corners.iter().for_each(|&corner| status[corner].set_feature(true));
    }
}

/// The triangles at the tail of `h` that its collapse leaves, as their other two vertices.
fn left_at_tail(mesh: &PolyMeshF64, h: HH) -> impl Iterator<Item = [u32; 2]> {
    let head = h.head(mesh).index();
    mesh.voh_ccw_iter(h.tail(mesh))
        .map(|edge| [edge.head(mesh).index(), edge.next(mesh).head(mesh).index()])
        .filter(move |ends| !ends.contains(&head))
}
