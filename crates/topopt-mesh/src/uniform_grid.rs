//! A uniform grid over a mesh, and the element under each of its cells.

use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;

use crate::bounding_box::BoundingBox;
use crate::hex_mesh::HexMesh;
use crate::inverse_map::TOLERANCE;

/// A grid of cubes. Cell (i, j, k) has number i + `cells[0]` (j + `cells[1]` k).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UniformGrid {
    /// Corner of cell (0, 0, 0) with the smallest coordinates.
    pub origin: [f64; 3],
    /// Edge length of a cell, in the unit of the mesh.
    pub spacing: f64,
    /// Number of cells along x, y and z.
    pub cells: [usize; 3],
}

/// Why a box cannot be covered with a grid.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum GridError {
    /// The spacing is no length.
    #[error("the grid spacing is {0:?}; it must be a positive number")]
    Spacing(f64),
    /// More cells than [`UniformGrid::MAX_CELLS`].
    #[error(
        "a grid spacing of {spacing:?} needs {cells:.2e} cells, and {} is the most; \
         use a spacing of at least {coarser:.3e}",
        UniformGrid::MAX_CELLS
    )]
    TooManyCells {
        /// The spacing asked for.
        spacing: f64,
        /// The number of cells it needs.
        cells: f64,
        /// A spacing that is coarse enough.
        coarser: f64,
    },
}

impl UniformGrid {
    /// No element contains the center of this cell.
    pub const OUTSIDE: u32 = u32::MAX;

    /// The most cells that a grid may have, 2^28: [`UniformGrid::locate`] then takes 1 GiB.
    pub const MAX_CELLS: usize = 1 << 28;

    /// The smallest grid of `spacing` that covers `bounds`, centered on it.
    ///
    /// # Errors
    /// [`GridError`] if `spacing` is not positive or so small that the grid would be too large.
    pub fn covering(bounds: &BoundingBox, spacing: f64) -> Result<Self, GridError> {
        if !(spacing > 0.0 && spacing.is_finite()) {
            return Err(GridError::Spacing(spacing));
        }
        let extent = bounds.extent();
        // An extent that is a multiple of the spacing, but for rounding, gets no further cell.
        let counts = extent.map(|length| (length / spacing * (1.0 - 1e-12)).ceil().max(1.0));
        let total: f64 = counts.iter().product();
        if total > Self::MAX_CELLS as f64 {
            let coarser = coarser_spacing(extent, spacing, Self::MAX_CELLS);
            return Err(GridError::TooManyCells { spacing, cells: total, coarser });
        }
        let origin = std::array::from_fn(|i| {
            bounds.min[i] - 0.5 * (counts[i] * spacing - extent[i]).max(0.0)
        });
        Ok(Self { origin, spacing, cells: counts.map(|count| count as usize) })
    }

    /// Builds the grid of [`UniformGrid::covering`], coarser where it would have more than `most`
    /// cells.
    ///
    /// # Errors
    /// [`GridError`] if no spacing makes a grid.
    pub fn covering_by_at_most(
        most: usize,
        bounds: &BoundingBox,
        spacing: f64,
    ) -> Result<Self, GridError> {
        let most = most.clamp(1, Self::MAX_CELLS);
        if spacing.is_finite() && spacing > 0.0 {
            return Self::covering(bounds, coarser_spacing(bounds.extent(), spacing, most));
        }
        Self::covering(bounds, spacing)
    }

    /// Number of cells.
    pub fn n_cells(&self) -> usize {
        self.cells.iter().product()
    }

    /// Center of cell (i, j, k).
    pub fn center(&self, cell: [usize; 3]) -> [f64; 3] {
        std::array::from_fn(|i| self.origin[i] + (cell[i] as f64 + 0.5) * self.spacing)
    }

    /// For every cell the element that contains its center, `[n_cells]`;
    /// [`UniformGrid::OUTSIDE`] where none does.
    ///
    /// A center on a face belongs to the element of the lowest number, so the result does not
    /// depend on the number of threads. A center within 1e-6 of an element's size counts as
    /// inside it, so that rounding leaves no holes.
    pub fn locate(&self, mesh: &HexMesh) -> Vec<u32> {
        let owners: Vec<AtomicU32> =
            (0..self.n_cells()).into_par_iter().map(|_| AtomicU32::new(Self::OUTSIDE)).collect();
        (0..mesh.n_elements()).into_par_iter().for_each(|element| {
            self.claim(mesh, element, &owners);
        });
        owners.into_iter().map(AtomicU32::into_inner).collect()
    }

    /// Lowers the owner of every cell whose center lies in `element` to its number.
    fn claim(&self, mesh: &HexMesh, element: usize, owners: &[AtomicU32]) {
        let x: Vec<[f64; 3]> = mesh.corner_coordinates(element).collect();
        let [along_x, along_y, along_z] = self.centers_in(&BoundingBox::of(x.iter().copied()));
        let holds = |point: [f64; 3]| mesh.local_coordinates(element, point).is_some();
        let number = element as u32;
        for k in along_z {
            for j in along_y.clone() {
                for i in along_x.clone() {
                    let owner = &owners[i + self.cells[0] * (j + self.cells[1] * k)];
                    if owner.load(Ordering::Relaxed) > number && holds(self.center([i, j, k])) {
                        owner.fetch_min(number, Ordering::Relaxed);
                    }
                }
            }
        }
    }

    /// Ranges of the cells whose centers lie in `bounds`, slightly enlarged.
    fn centers_in(&self, bounds: &BoundingBox) -> [std::ops::Range<usize>; 3] {
        let extent = bounds.extent();
        let margin = TOLERANCE * extent.iter().fold(0.0, |a: f64, &b| a.max(b));
        std::array::from_fn(|i| {
            let cell = |x: f64| (x - self.origin[i]) / self.spacing - 0.5;
            let first = cell(bounds.min[i] - margin).ceil().max(0.0) as usize;
            let last = cell(bounds.max[i] + margin).floor();
            let end = if last < 0.0 { 0 } else { (last as usize + 1).min(self.cells[i]) };
            first..end.max(first)
        })
    }
}

/// The spacing, or one that is coarser so that the grid has at most so many cells.
fn coarser_spacing(extent: [f64; 3], spacing: f64, most: usize) -> f64 {
    let count = |h: f64| extent.iter().map(|l| (l / h).ceil().max(1.0)).product::<f64>();
    let mut coarser = spacing;
    while count(coarser) > most as f64 {
        coarser *= 1.02;
    }
    coarser
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Sets, generate};

    /// A block of n^3 elements over [0, n]^3; `place` moves its nodes.
    fn block(n: usize, place: impl Fn([f64; 3]) -> [f64; 3]) -> HexMesh {
        let (coordinates, hexes) = generate::block([n; 3], |at| place(at.map(|v| v as f64)));
        HexMesh::new(coordinates, hexes, Sets::default()).unwrap()
    }

    /// Perturbs the nodes inside [0, n]^3 by up to `amount`, and none on its surface.
    fn shaken(n: usize, amount: f64) -> impl Fn([f64; 3]) -> [f64; 3] {
        move |x| {
            let phase = x[0] * 12.9898 + x[1] * 78.233 + x[2] * 37.719;
            std::array::from_fn(|i| {
                let on_surface = x[i] == 0.0 || x[i] == n as f64;
                let shift = (phase * (i as f64 + 1.3)).sin();
                if on_surface { x[i] } else { x[i] + amount * shift }
            })
        }
    }

    fn located(mesh: &HexMesh, spacing: f64) -> (UniformGrid, Vec<u32>) {
        let grid = UniformGrid::covering(&mesh.bounding_box(), spacing).unwrap();
        let owners = grid.locate(mesh);
        assert_eq!(owners.len(), grid.n_cells());
        (grid, owners)
    }

    #[test]
    fn cells_of_a_regular_block_are_its_elements() {
        let (grid, owners) = located(&block(3, |x| x), 1.0);
        assert_eq!((grid.origin, grid.cells), ([0.0; 3], [3; 3]));
        assert_eq!(owners, (0..27).collect::<Vec<_>>());
    }

    #[test]
    fn the_lowest_element_wins_on_a_shared_face() {
        let (grid, owners) = located(&block(2, |x| x), 2.0 / 3.0);
        assert_eq!(grid.cells, [3; 3]);
        assert_eq!(owners[1], 0, "on the face between elements 0 and 1");
        assert_eq!(owners[13], 0, "on the node of all eight");
        assert_eq!(owners[26], 7);
    }

    #[test]
    fn distorted_elements_leave_no_holes_and_claim_their_volumes() {
        let n = 6;
        for amount in [0.1, 0.25] {
            let mesh = block(n, shaken(n, amount));
            let (grid, owners) = located(&mesh, 0.075);
            assert!(!owners.contains(&UniformGrid::OUTSIDE), "amount {amount}");
            let mut claimed = vec![0.0; mesh.n_elements()];
            for &owner in &owners {
                claimed[owner as usize] += grid.spacing.powi(3);
            }
            for (element, volume) in mesh.volumes().into_iter().enumerate() {
                assert!((claimed[element] - volume).abs() < 0.05, "element {element}");
            }
        }
    }

    #[test]
    fn a_turned_block_has_its_volume_and_nothing_outside() {
        let (sin, cos) = 0.7f64.sin_cos();
        let turn = |x: [f64; 3]| [cos * x[0] - sin * x[1], sin * x[0] + cos * x[1], x[2]];
        let back = |x: [f64; 3]| [cos * x[0] + sin * x[1], cos * x[1] - sin * x[0], x[2]];
        let (grid, owners) =
            located(&block(4, |x| turn(shaken(4, 0.2)(x)).map(|v| 1e5 + v)), 0.0731);
        let mut inside = 0;
        for (cell, &owner) in owners.iter().enumerate() {
            let [nx, ny, _] = grid.cells;
            let center = grid.center([cell % nx, cell / nx % ny, cell / (nx * ny)]);
            let within = back(center.map(|v| v - 1e5)).iter().all(|v| (0.0..=4.0).contains(v));
            assert_eq!(owner != UniformGrid::OUTSIDE, within, "center {center:?}");
            inside += usize::from(within);
        }
        let volume = inside as f64 * grid.spacing.powi(3);
        assert!((volume - 64.0).abs() < 0.02 * 64.0, "{volume}");
    }

    #[test]
    fn grids_that_cannot_be_are_refused() {
        let bounds = BoundingBox { min: [0.0; 3], max: [10.0, 10.0, 1.0] };
        for spacing in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let error = UniformGrid::covering(&bounds, spacing).unwrap_err();
            assert!(error.to_string().contains("must be a positive number"), "{error}");
        }
        let error = UniformGrid::covering(&bounds, 1e-4).unwrap_err();
        let GridError::TooManyCells { cells, coarser, .. } = error else { panic!("{error}") };
        assert!((cells - 1e14).abs() < 1e10);
        let grid = UniformGrid::covering(&bounds, coarser).unwrap();
        assert!(grid.n_cells() <= UniformGrid::MAX_CELLS);
        assert!(grid.n_cells() > UniformGrid::MAX_CELLS / 2);
    }

    #[test]
    fn a_spacing_that_does_not_divide_the_box_overlaps_evenly() {
        let bounds = BoundingBox { min: [1.0, 0.0, 0.0], max: [2.0, 0.9, 0.3] };
        let grid = UniformGrid::covering(&bounds, 0.4).unwrap();
        assert_eq!(grid.cells, [3, 3, 1]);
        for (found, expected) in grid.origin.into_iter().zip([0.9, -0.15, -0.05]) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }
}
