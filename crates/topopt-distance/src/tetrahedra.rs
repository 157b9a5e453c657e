//! Points and the tetrahedra between them.

use rayon::prelude::*;
use topopt_mesh::{HexMesh, tetrahedra};

use crate::DistanceError;

/// Points and the tetrahedra between them, on which a field with a value at each point is linear.
///
/// All numbers are in range and all coordinates finite. Nothing else is asked of the tetrahedra:
/// some may be flat, inverted or obtuse.
#[derive(Debug, Clone, PartialEq)]
pub struct Tetrahedra {
    points: Vec<[f64; 3]>,
    cells: Vec<[u32; 4]>,
}

/// Most tetrahedra: four times as many corners have 32-bit numbers.
const MOST_CELLS: usize = u32::MAX as usize / 4;

impl Tetrahedra {
    /// The tetrahedra `cells`, `[n_cells][4]`, between `points`, `[n_points][3]`.
    ///
    /// # Errors
    /// [`DistanceError`] for numbers out of range, coordinates that are not finite, or too many.
    pub fn new(points: Vec<[f64; 3]>, cells: Vec<[u32; 4]>) -> Result<Self, DistanceError> {
        let counts = [
            ("vertices", points.len(), u32::MAX as usize),
            ("tetrahedra", cells.len(), MOST_CELLS),
        ];
        for (what, found, most) in counts {
            if found > most {
                return Err(DistanceError::TooMany { what, found, most });
            }
        }
        let n_points = points.len();
        let outside = |&&vertex: &&u32| vertex as usize >= n_points;
        if let Some(&vertex) = cells.as_flattened().iter().find(outside) {
            return Err(DistanceError::Vertex { vertex, n_points });
        }
        if let Some(index) = points.iter().position(|x| x.iter().any(|x| !x.is_finite())) {
            let value = points[index].into_iter().find(|x| !x.is_finite()).unwrap_or_default();
            return Err(DistanceError::NotFinite { what: "a coordinate of vertex", index, value });
        }
        Ok(Self { points, cells })
    }

    /// The 12 tetrahedra of each hexahedron of `mesh`, fewer of wedges and pyramids
    /// ([`topopt_mesh::tetrahedra`]). Vertices are the nodes, then the centers of the elements.
    ///
    /// The surface of a design is cut from the same ones. Twelve and not five or six, because
    /// neighbors then agree on every face of any hexahedral mesh, and because centers carry values
    /// of elements.
    ///
    /// # Errors
    /// [`DistanceError::TooMany`].
    pub fn of_mesh(mesh: &HexMesh) -> Result<Self, DistanceError> {
        let mut points = mesh.coordinates().to_vec();
        points.extend(mesh.centers());

        let elements = 0..mesh.n_elements();
        let of_element = |element| tetrahedra::of_element(mesh, element);
        let cells: Vec<[u32; 4]> = elements.into_par_iter().flat_map_iter(of_element).collect();
        Self::new(points, cells)
    }

    /// Coordinates, `[n_points][3]`.
    pub fn points(&self) -> &[[f64; 3]] {
        &self.points
    }

    /// Vertices of the tetrahedra, `[n_cells][4]`.
    pub fn cells(&self) -> &[[u32; 4]] {
        &self.cells
    }

    /// Coordinates of the corners of a tetrahedron.
    pub fn corners(&self, cell: usize) -> [[f64; 3]; 4] {
        self.cells[cell].map(|vertex| self.points[vertex as usize])
    }
}
