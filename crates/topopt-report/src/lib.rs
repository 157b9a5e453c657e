//! The report of a run: one HTML page with curves, pictures of the design from four sides and a
//! view to turn, that needs nothing but itself.
//!
//! This crate knows what a report looks like. What stands in it is said by whoever makes it: names
//! and values are text here. It does no I/O and reads no clock.

mod axis;
mod chart;
mod density_grid;
mod number;
mod page;
mod picture;
mod raster;
mod vector;

use topopt_mesh::{HexMesh, Quality};
use topopt_surface::{Field, FieldError, TriangleSurface, iso_surface, threshold_of_volume};

pub use chart::Curve;
pub use density_grid::DensityGrid;
pub use number::{count, number};
pub use picture::{View, picture};
pub use raster::{Raster, Triangle};

/// What a report says. All texts are escaped.
#[derive(Debug, Clone, PartialEq)]
pub struct Report<'a> {
    /// The title of the page.
    pub title: String,
    /// A line below the title.
    pub subtitle: String,
    /// The numbers to see first.
    pub headline: Vec<Fact>,
    /// The mesh.
    pub mesh: &'a HexMesh,
    /// The densities, \[n_elements\].
    pub density: &'a [f64],
    /// What was computed and how, in groups with a title.
    pub problem: Vec<(String, Vec<Fact>)>,
    /// Curves over the iterations.
    pub curves: Vec<Curve>,
    /// The table of the iterations.
    pub iterations: Table,
    /// Names of steps and their seconds.
    pub seconds: Vec<(String, f64)>,
    /// Proof of the design; `Err` says how to get one.
    pub verification: Result<Verification, String>,
    /// What must be known to repeat the run, besides the case.
    pub repeat: Vec<Fact>,
    /// The text of the case file.
    pub case: String,
}

/// Something with a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// What it is.
    pub name: String,
    /// Its value, with the unit.
    pub value: String,
}

impl Fact {
    /// The fact that `name` is `value`.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), value: value.into() }
    }
}

/// A table of texts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Table {
    /// Heads of the columns.
    pub columns: Vec<String>,
    /// Rows of as many fields.
    pub rows: Vec<Vec<String>>,
}

/// What a proof found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verification {
    /// Numbers of the optimized and of the verified design.
    pub compared: Table,
    /// What else there is to say.
    pub facts: Vec<Fact>,
    /// Sentences.
    pub notes: Vec<String>,
}

/// Cells of the grid of the view to turn: so many an element, of which more show nothing new, and
/// so many in all, which a page can carry.
const CELLS_PER_ELEMENT: usize = 100;
const MOST_CELLS: usize = 400_000;

/// Pairs of smoothing steps of the surface in the pictures.
const SMOOTHING: usize = 4;

/// What is drawn.
struct Shown {
    surface: TriangleSurface,
    threshold: f64,
    grid: DensityGrid,
}

impl Report<'_> {
    /// The page.
    ///
    /// # Errors
    /// Densities that are not those of the mesh, or not finite.
    pub fn html(&self) -> Result<String, FieldError> {
        let field = Field::of_elements(self.mesh, self.density)?;
        let volumes = self.mesh.volumes();
        let volume = self.density.iter().zip(volumes).map(|(density, v)| density * v).sum();
        let (threshold, enclosed) = threshold_of_volume(self.mesh, &field, volume);
        let mut surface = iso_surface(self.mesh, &field, threshold);
        surface.smooth(SMOOTHING, enclosed);
        let n_cells = (CELLS_PER_ELEMENT * self.mesh.n_elements()).min(MOST_CELLS);
        let grid = DensityGrid::of(self.mesh, &field, n_cells);
        let shown = Shown { surface, threshold, grid };
        Ok(page::page(self, &shown, &Quality::of(self.mesh).summary()))
    }
}
