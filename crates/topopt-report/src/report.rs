//! Content of a report.

use topopt_mesh::HexMesh;
use topopt_surface::{MeanDensity, TriangleSurface};

use crate::chart::Curve;
use crate::nodal_field::NodalField;

/// Content of a report. All texts are escaped.
#[derive(Debug, Clone)]
pub struct Report<'a> {
    /// The title of the page.
    pub title: String,
    /// A line below the title.
    pub subtitle: String,
    /// The numbers to see first.
    pub headline: Vec<Fact>,
    /// Sentences about what may be wrong, shown before all else.
    pub warnings: Vec<String>,
    /// The objective and the limits.
    pub targets: Vec<Target>,
    /// Amounts of the full part beside those of the design.
    pub saved: Table,
    /// The mesh of the part.
    pub mesh: &'a HexMesh,
    /// The densities, for an interactive view.
    pub density: &'a MeanDensity,
    /// Density at the surface of the shape that is printed.
    pub threshold: f64,
    /// The surface of that shape, cut with that of the part.
    pub surface: &'a TriangleSurface,
    /// Measures of the surface.
    pub measures: Vec<Fact>,
    /// Fields and numbers of the solved states, where they are shown.
    pub states: Option<States>,
    /// Supports and loads of the part.
    pub part: Part,
    /// Problem and method, in groups of facts with a title.
    pub problem: Vec<(String, Vec<Fact>)>,
    /// Curves over the iterations.
    pub curves: Vec<Curve>,
    /// The table of the iterations.
    pub iterations: Table,
    /// Names of steps and their seconds.
    pub seconds: Vec<(String, f64)>,
    /// Proof of the design; `Err` says how to get one.
    pub verification: Result<Verification, String>,
    /// Facts that must be known to repeat the run, besides the case.
    pub repeat: Vec<Fact>,
    /// The text of the case file.
    pub case: String,
}

/// Something with a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// Name of the fact.
    pub name: String,
    /// Value with its unit.
    pub value: String,
    /// A remark on the value; empty for none.
    pub note: String,
}

impl Fact {
    /// The fact that `name` is `value`.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), value: value.into(), note: String::new() }
    }

    /// Adds a remark on the value.
    pub fn noted(self, note: impl Into<String>) -> Self {
        Self { note: note.into(), ..self }
    }
}

/// A number that was asked for: the objective, or one with a limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Name of the response, with the unit.
    pub name: String,
    /// Value of the optimized design.
    pub optimized: String,
    /// Value of the verified design, where there is one.
    pub verified: Option<String>,
    /// The limit, or the goal of an objective.
    pub limit: String,
    /// Whether the design keeps the limit; none for an objective.
    pub is_met: Option<bool>,
}

/// Supports and loads of a part, by nodes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Part {
    /// Nodes with supports or loads, each mark in a color of its own. Where two meet, the first is
    /// shown.
    pub marks: Vec<Mark>,
    /// The load cases.
    pub loads: Vec<Load>,
}

/// Nodes at which something holds or acts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// Name in the legend.
    pub name: String,
    /// The nodes; without any there is no entry in the legend.
    pub nodes: Vec<u32>,
}

/// The forces of a load case.
#[derive(Debug, Clone, PartialEq)]
pub struct Load {
    /// Name in the legend.
    pub name: String,
    /// Forces on the nodes, `[n_nodes][3]`.
    pub forces: Vec<[f64; 3]>,
}

/// A table of texts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Table {
    /// Heads of the columns.
    pub columns: Vec<String>,
    /// Rows of as many fields.
    pub rows: Vec<Vec<String>>,
}

/// Section on the solved states: displacements and stresses, temperatures and fluxes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct States {
    /// The title of the section.
    pub title: String,
    /// Fields on the surface of the solid.
    pub fields: Vec<NodalField>,
    /// Numbers of the load cases, a column each.
    pub cases: Table,
    /// Curves over time, where there are steps in time.
    pub curves: Vec<Curve>,
    /// Sentences.
    pub notes: Vec<String>,
}

/// Results of a verification.
#[derive(Debug, Clone, PartialEq)]
pub struct Verification {
    /// Numbers of the optimized and of the verified design.
    pub compared: Table,
    /// Objective and limits.
    pub limits: Table,
    /// Numbers of the load cases, a column each.
    pub cases: Table,
    /// Fields on the surface of the solid.
    pub fields: Vec<NodalField>,
    /// Further facts.
    pub facts: Vec<Fact>,
    /// Sentences.
    pub notes: Vec<String>,
}
