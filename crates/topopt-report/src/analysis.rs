//! The page of an analysis.

use maud::html;
use topopt_mesh::Quality;
use topopt_surface::Solid;

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
    /// The shape that is shown, in its mesh.
    pub solid: &'a Solid<'a>,
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
        let quality = Quality::of(self.solid.mesh()).summary();
        let (surface, places) = self.solid.surface_in_mesh();
        let main = html! {
            (page::states(self.solid.mesh(), &surface, &places, &self.states))
            (page::part(self.solid.mesh(), &self.part))
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
