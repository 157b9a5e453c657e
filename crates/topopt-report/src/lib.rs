//! The report of a run: one self-contained HTML page with pictures of the design, of the part with
//! supports and loads and of solved and verified fields, with curves and an interactive view.
//!
//! The page of an [`Analysis`] shows fields and tables of a solve without an optimization.
//!
//! The page of [`Faces`] shows a part before anything is computed, with the numbers of its faces.
//!
//! This crate decides how a report looks; names and values arrive as text. It is internal to
//! topopt, without promises of stability.
//!
//! ```
//! use topopt_mesh::generate::{Benchmark, Resolution};
//! use topopt_report::{Fact, Part, Report, Table};
//! use topopt_surface::{Form, MeanDensity, Part as Body, Shaping, UncutSolid};
//!
//! let mesh = Benchmark::Cantilever.generate(Resolution::Elements(250)).unwrap();
//! let density: Vec<f64> = mesh.centers().iter().map(|x| 1.0 - 0.1 * x[0]).collect();
//! let uncut = UncutSolid::of(&mesh, &density, &Shaping::default())?;
//! let shape = uncut.shape(&Body::of_mesh(&mesh).unwrap())?;
//! let report = Report {
//!     title: "A wedge".into(),
//!     subtitle: String::new(),
//!     headline: vec![Fact::new("Elements", "250")],
//!     warnings: Vec::new(),
//!     targets: Vec::new(),
//!     saved: Table::default(),
//!     mesh: &mesh,
//!     density: &MeanDensity::of(&mesh, &density, Form::default())?,
//!     threshold: uncut.solid.threshold(),
//!     surface: &shape.surface,
//!     measures: Vec::new(),
//!     states: None,
//!     part: Part::default(),
//!     problem: Vec::new(),
//!     curves: Vec::new(),
//!     iterations: Table::default(),
//!     seconds: Vec::new(),
//!     verification: Err("not verified".into()),
//!     repeat: Vec::new(),
//!     case: String::new(),
//! };
//! assert!(report.html().contains("<title>A wedge</title>"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod analysis;
mod arrow;
mod axis;
mod chart;
mod color_map;
mod density_grid;
mod faces;
mod illustration;
mod nodal_field;
mod number;
mod page;
mod part;
mod picture;
mod raster;
mod report;

use topopt_mesh::{Places, Quality};

pub use analysis::Analysis;
pub use chart::Curve;
pub use density_grid::DensityGrid;
pub use faces::{FaceRow, Faces};
pub use nodal_field::NodalField;
pub use number::{count, number};
pub use picture::{Shape, View, picture};
pub use raster::{Raster, Triangle};
pub use report::{Fact, Load, Mark, Part, Report, States, Table, Target, Verification};

use illustration::Shown;

/// Bytes of memory for a dozen of the largest pictures, more than most pages have.
pub const PICTURE_BYTES: usize =
    12 * size_of::<[f32; 4]>() * illustration::WHOLE[0] * illustration::WHOLE[1];

/// Largest number of cells in the grid of the interactive view: per element, as more show nothing
/// new, and in all, as a page must stay small.
const CELLS_PER_ELEMENT: usize = 100;
const MOST_CELLS: usize = 400_000;

impl Report<'_> {
    /// Renders the page.
    pub fn html(&self) -> String {
        let mesh = self.mesh;
        let n_cells = (CELLS_PER_ELEMENT * mesh.n_elements()).min(MOST_CELLS);
        let (grid, (places, quality)) = rayon::join(
            || DensityGrid::of(mesh, |x| self.density.at(x), n_cells),
            || {
                let places = || Places::of(mesh, self.surface.vertices());
                rayon::join(places, || Quality::of(mesh).summary())
            },
        );
        let shown = Shown { surface: self.surface, places, grid };
        page::page(self, &shown, &quality)
    }
}
