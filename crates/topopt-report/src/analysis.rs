//! The page of an analysis.

use maud::html;
use topopt_mesh::{HexMesh, Places, Quality};
use topopt_surface::TriangleSurface;

use crate::page;
use crate::report::{Fact, Part, States};

/// Content of the page of an analysis. All texts are escaped.
#[derive(Debug, Clone)]
pub struct Analysis<'a> {
    /// The title of the page.
    pub title: String,
    /// A line below the title.
    pub subtitle: String,
    /// The numbers to see first.
    pub headline: Vec<Fact>,
    /// Sentences about what may be wrong, shown before all else.
    pub warnings: Vec<String>,
    /// The mesh.
    pub mesh: &'a HexMesh,
    /// The surface of the shape that is shown.
    pub surface: &'a TriangleSurface,
    /// Fields and numbers of the solved states.
    pub states: States,
    /// Supports and loads of the part.
    pub part: Part,
    /// Problem and method, in groups of facts with a title.
    pub problem: Vec<(String, Vec<Fact>)>,
    /// Facts that must be known to repeat the analysis, besides the case.
    pub repeat: Vec<Fact>,
    /// The text of the case file.
    pub case: String,
}

impl Analysis<'_> {
    /// The page.
    pub fn html(&self) -> String {
        let quality = Quality::of(self.mesh).summary();
        let places = Places::of(self.mesh, self.surface.vertices());
        let main = html! {
            (page::states(self.mesh, self.surface, &places, &self.states))
            (page::part(self.mesh, &self.part))
            (page::problem(&self.problem))
            section class="halves" {
                div { h2 { "Mesh quality" } (page::mesh_quality(&quality)) }
            }
            (page::repeat("Repeat the analysis", &self.repeat, &self.case))
        };
        let head = page::Head {
            title: &self.title,
            subtitle: &self.subtitle,
            warnings: &self.warnings,
            headline: &self.headline,
        };
        page::document(&head, &main)
    }
}
