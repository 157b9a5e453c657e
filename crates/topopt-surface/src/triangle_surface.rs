//! A closed surface of triangles.

use topopt_mesh::hexahedron::determinant;

/// A closed surface of triangles, counter-clockwise seen from outside.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TriangleSurface {
    pub(crate) vertices: Vec<[f64; 3]>,
    pub(crate) triangles: Vec<[u32; 3]>,
    pub(crate) on_boundary: Vec<bool>,
    /// Ends of the piece of an edge of tetrahedra along which each vertex may move, `[n_vertices]`.
    pub(crate) tracks: Vec<[[f64; 3]; 2]>,
    pub(crate) pieces: Vec<u32>,
}

impl TriangleSurface {
    /// A surface of given triangles as one piece, without a mesh: its vertices are not on a
    /// boundary, and may not move.
    pub fn new(vertices: Vec<[f64; 3]>, triangles: Vec<[u32; 3]>) -> Self {
        let n = vertices.len();
        let tracks = vertices.iter().map(|&x| [x; 2]).collect();
        Self { vertices, triangles, on_boundary: vec![false; n], tracks, pieces: vec![0; n] }
    }

    /// Coordinates of the vertices, `[n_vertices][3]`.
    pub fn vertices(&self) -> &[[f64; 3]] {
        &self.vertices
    }

    /// Vertices of the triangles, `[n_triangles][3]`.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Whether each vertex lies on the boundary of the mesh, `[n_vertices]`; such vertices stay.
    pub fn on_boundary(&self) -> &[bool] {
        &self.on_boundary
    }

    /// Computes the enclosed volume, by the divergence theorem.
    pub fn volume(&self) -> f64 {
        self.triangles.iter().map(|triangle| self.cone_volume(triangle)).sum()
    }

    /// Computes the enclosed volume of every connected piece; a cavity belongs to the piece around
    /// it.
    pub fn piece_volumes(&self) -> Vec<f64> {
        let n_pieces = self.pieces.iter().max().map_or(0, |last| *last as usize + 1);
        let mut volumes = vec![0.0; n_pieces];
        for triangle in &self.triangles {
            volumes[self.pieces[triangle[0] as usize] as usize] += self.cone_volume(triangle);
        }
        volumes
    }

    /// Returns the surface of the largest piece alone.
    pub fn largest_piece(&self) -> Self {
        let volumes = self.piece_volumes();
        let largest = (0..volumes.len()).max_by(|&a, &b| volumes[a].total_cmp(&volumes[b]));
        let is_kept = |vertex: u32| Some(self.pieces[vertex as usize] as usize) == largest;
        let triangles: Vec<_> = self.triangles.iter().filter(|t| is_kept(t[0])).copied().collect();
        let part = self.part(triangles);
        Self { pieces: vec![0; part.vertices.len()], ..part }
    }

    /// Rounds coordinates to single precision, as STL holds them; also returns the largest change
    /// of a coordinate, in the unit of the mesh.
    pub fn in_single_precision(&self) -> (Self, f64) {
        let round = |x: &[f64; 3]| x.map(|x| f64::from(x as f32));
        let surface = Self { vertices: self.vertices.iter().map(round).collect(), ..self.clone() };
        let coordinates = self.vertices.as_flattened().iter();
        let changes = coordinates.zip(surface.vertices.as_flattened()).map(|(a, b)| (a - b).abs());
        let largest = changes.fold(0.0, f64::max);
        (surface, largest)
    }

    /// Returns the surface of some of the triangles, with the vertices that they use.
    pub(crate) fn part(&self, mut triangles: Vec<[u32; 3]>) -> Self {
        let mut used = vec![false; self.vertices.len()];
        triangles.as_flattened().iter().for_each(|&vertex| used[vertex as usize] = true);
        let kept: Vec<usize> = (0..used.len()).filter(|&vertex| used[vertex]).collect();
        let mut numbers = vec![0; used.len()];
        (0..).zip(&kept).for_each(|(number, &vertex)| numbers[vertex] = number);
        for vertex in triangles.as_flattened_mut() {
            *vertex = numbers[*vertex as usize];
        }
        Self {
            triangles,
            vertices: kept.iter().map(|&vertex| self.vertices[vertex]).collect(),
            on_boundary: kept.iter().map(|&vertex| self.on_boundary[vertex]).collect(),
            tracks: kept.iter().map(|&vertex| self.tracks[vertex]).collect(),
            pieces: kept.iter().map(|&vertex| self.pieces[vertex]).collect(),
        }
    }

    /// Signed volume of the cone of a triangle with the first vertex of all as its apex.
    fn cone_volume(&self, triangle: &[u32; 3]) -> f64 {
        let apex = self.vertices[0];
        let [a, b, c] = triangle.map(|vertex| {
            let x = self.vertices[vertex as usize];
            std::array::from_fn(|i| x[i] - apex[i])
        });
        determinant(&[a, b, c]) / 6.0
    }
}
