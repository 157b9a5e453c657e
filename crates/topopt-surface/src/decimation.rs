//! Decimation that keeps the topology, the boundary of the mesh and, nearly, the volume.

use std::cell::Cell;

use alum::{
    DVec3, Decimater, F64Adaptor, HH, Handle, HasDecimation, HasIterators, HasTopology,
    PolyMeshF64, Quadric, VH,
};

use crate::TriangleSurface;

/// Largest change of the volume by collapses, relative; then they end.
const VOLUME_DRIFT: f64 = 5e-3;

/// Least cosine of the angle by which a collapse may turn a triangle.
const LEAST_COSINE: f64 = 0.25;

/// Least height of a triangle by its longest edge, or that which it had.
const LEAST_SHAPE: f64 = 0.05;

/// Why access to a half-edge mesh of our own does not fail.
const OWN: &str = "nobody else borrows it";

/// A surface that cannot be decimated.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error(
    "the surface touches itself in a vertex or an edge, near {near:?}: parts of the mesh meet there \
     without a common face; join them, or leave decimation out"
)]
pub struct NotAManifold {
    /// A corner of a triangle there.
    pub near: [f64; 3],
}

impl TriangleSurface {
    /// Collapses edges into one of their ends, in the order of the error quadrics
    /// \[GarlandHeckbert1997\], until `share`, in \[0, 1\], is left of the triangles off the boundary
    /// of the mesh, or no collapse is allowed any more; then restores the volume as
    /// [`smooth`](Self::smooth) does.
    ///
    /// Vertices on the boundary of the mesh stay, and with them the triangles there. Collapses keep
    /// the topology, turn no triangle over and make none thin, and end when they have changed the
    /// volume by 0.5 %. Nothing looks for crossings of parts that lie nearer than triangles are long.
    ///
    /// # Errors
    /// [`NotAManifold`], and the surface is as it was.
    pub fn decimate(&mut self, share: f64) -> Result<(), NotAManifold> {
        let mut mesh = self.half_edges()?;
        let (volume, free) = (self.volume(), self.n_free_triangles());
        let target = self.triangles.len() - free + (share * free as f64) as usize;
        let drift = Cell::new(0.0_f64);
        let goes_on = |_, _, left| left > target && drift.get().abs() < VOLUME_DRIFT * volume;
        mesh.decimate_while(&mut Collapses::of(self, &drift), goes_on).expect(OWN);
        let status = mesh.face_status_prop();
        let status = status.try_borrow().expect(OWN);
        let left = mesh.faces().filter(|&face| !status[face].deleted());
        let triangles = left.map(|face| {
            let edge = face.halfedge(&mesh);
            [edge.tail(&mesh), edge.head(&mesh), edge.next(&mesh).head(&mesh)].map(|v| v.index())
        });
        *self = self.part(triangles.collect());
        self.restore(volume);
        Ok(())
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

/// What collapses cost, and what they have done.
struct Collapses<'a> {
    surface: &'a TriangleSurface,
    /// Squares of the distances to the planes around, times areas, of every vertex.
    quadrics: Vec<Quadric<F64Adaptor>>,
    /// Change of the volume so far.
    drift: &'a Cell<f64>,
}

impl<'a> Collapses<'a> {
    fn of(surface: &'a TriangleSurface, drift: &'a Cell<f64>) -> Self {
        let mut collapses =
            Self { surface, quadrics: vec![Quadric::default(); surface.vertices.len()], drift };
        for &[a, b, c] in &surface.triangles {
            let normal = cross(collapses.edge(a, b), collapses.edge(a, c));
            let length = dot(normal, normal).sqrt();
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
        std::array::from_fn(|i| to[i] - from[i])
    }

    /// Whether the triangle `tail`, `b`, `c` may become `head`, `b`, `c`.
    fn may_become(&self, tail: u32, head: u32, [b, c]: [u32; 2]) -> bool {
        let shape = |corner: u32| {
            let edges = [self.edge(corner, b), self.edge(corner, c), self.edge(b, c)];
            let normal = cross(edges[0], edges[1]);
            let longest = edges.iter().map(|&edge| dot(edge, edge)).fold(0.0, f64::max);
            (normal, dot(normal, normal).sqrt(), longest)
        };
        let [(before, size, longest), (after, new_size, new_longest)] = [tail, head].map(shape);
        !self.surface.lies_on_boundary(&[head, b, c])
            && dot(before, after) > LEAST_COSINE * size * new_size
            && new_size > LEAST_SHAPE.min(size / longest) * new_longest
    }
}

impl Decimater<PolyMeshF64> for Collapses<'_> {
    type Cost = f64;

    fn collapse_cost(&self, mesh: &PolyMeshF64, h: HH) -> Option<f64> {
        let [tail, head] = [h.tail(mesh), h.head(mesh)].map(|vertex| vertex.index());
        let free = !self.surface.on_boundary[tail as usize];
        let allowed = free && left_at_tail(mesh, h).all(|ends| self.may_become(tail, head, ends));
        let quadric = self.quadrics[tail as usize] + self.quadrics[head as usize];
        allowed.then(|| quadric.residual(self.point(head)))
    }

    fn before_collapse(&mut self, mesh: &PolyMeshF64, h: HH) -> Result<(), alum::Error> {
        let [tail, head] = [h.tail(mesh), h.head(mesh)].map(|vertex| vertex.index());
        let along = self.edge(tail, head);
        let change = |[b, c]: [u32; 2]| dot(along, cross(self.edge(tail, b), self.edge(tail, c)));
        let change: f64 = left_at_tail(mesh, h).map(change).sum();
        self.drift.set(self.drift.get() + change / 6.0);
        let quadric = self.quadrics[tail as usize];
        self.quadrics[head as usize] += quadric;
        Ok(())
    }

    /// The head stays where it was.
    fn after_collapse(&mut self, _: &PolyMeshF64, _: VH) -> Result<(), alum::Error> {
        Ok(())
    }
}

/// The triangles at the tail of `h` that its collapse leaves, as their other two vertices.
fn left_at_tail(mesh: &PolyMeshF64, h: HH) -> impl Iterator<Item = [u32; 2]> {
    let head = h.head(mesh).index();
    mesh.voh_ccw_iter(h.tail(mesh))
        .map(|edge| [edge.head(mesh).index(), edge.next(mesh).head(mesh).index()])
        .filter(move |ends| !ends.contains(&head))
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        a[j] * b[k] - a[k] * b[j]
    })
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
