//! The report of a run: one HTML page with curves, pictures of the design from four sides and a
//! view to turn, that needs nothing but itself.
//!
//! This crate knows what a report looks like. What stands in it is said by whoever makes it: names
//! and values are text here. It does no I/O and reads no clock.
//!
//! ```
//! use topopt_mesh::generate::{Benchmark, Resolution};
//! use topopt_report::{Fact, Report, Table};
//!
//! let mesh = Benchmark::Cantilever.generate(Resolution::Elements(250)).unwrap();
//! let density: Vec<f64> = mesh.centers().iter().map(|x| 1.0 - 0.1 * x[0]).collect();
//! let report = Report {
//!     title: "A wedge".into(),
//!     subtitle: String::new(),
//!     headline: vec![Fact::new("Elements", "250")],
//!     mesh: &mesh,
//!     density: &density,
//!     problem: Vec::new(),
//!     curves: Vec::new(),
//!     iterations: Table::default(),
//!     seconds: Vec::new(),
//!     verification: Err("not verified".into()),
//!     repeat: Vec::new(),
//!     case: String::new(),
//! };
//! assert!(report.html()?.contains("<title>A wedge</title>"));
//! # Ok::<(), topopt_surface::SolidError>(())
//! ```

mod axis;
mod chart;
mod density_grid;
mod number;
mod page;
mod picture;
mod raster;
mod report;

use topopt_mesh::Quality;
use topopt_surface::{Field, Shaping, Solid, SolidError};

pub use chart::Curve;
pub use density_grid::DensityGrid;
pub use number::{count, number};
pub use picture::{View, picture};
pub use raster::{Raster, Triangle};
pub use report::{Fact, Report, Table, Verification};

use page::Shown;

/// Cells of the grid of the view to turn: so many an element, of which more show nothing new, and
/// so many in all, which a page can carry.
const CELLS_PER_ELEMENT: usize = 100;
const MOST_CELLS: usize = 400_000;

impl Report<'_> {
    /// The page.
    ///
    /// # Errors
    /// Densities that are not those of the mesh, or not finite.
    pub fn html(&self) -> Result<String, SolidError> {
        let field = Field::of_elements(self.mesh, self.density)?;
        let smoothing = self.mesh.element_width();
        let shaping = Shaping { smoothing, ..Shaping::default() };
        let solid = Solid::of(self.mesh, self.density, &shaping)?;
        let (surface, threshold) = (solid.surface(), solid.threshold());
        let n_cells = (CELLS_PER_ELEMENT * self.mesh.n_elements()).min(MOST_CELLS);
        let grid = DensityGrid::of(self.mesh, &field, n_cells);
        let shown = Shown { surface, threshold, grid };
        Ok(page::page(self, &shown, &Quality::of(self.mesh).summary()))
    }
}
