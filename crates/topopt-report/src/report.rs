//! What a report says.

use topopt_surface::Solid;

use crate::chart::Curve;
use crate::nodal_field::NodalField;

/// What a report says. All texts are escaped.
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
    /// The shape that is printed, in its mesh.
    pub solid: &'a Solid<'a>,
    /// The densities, `[n_elements]`.
    pub density: &'a [f64],
    /// What was solved for in the design, where that is shown.
    pub states: Option<States>,
    /// What holds the part and what acts on it.
    pub part: Part,
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
    /// A remark on the value; empty for none.
    pub note: String,
}

impl Fact {
    /// The fact that `name` is `value`.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), value: value.into(), note: String::new() }
    }

    /// The same fact with a remark on its value.
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

/// What holds the part and what acts on it, by nodes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Part {
    /// Where something holds or acts, each in a color of its own. Where two meet, the first is shown.
    pub marks: Vec<Mark>,
    /// The load cases.
    pub loads: Vec<Load>,
}

/// Nodes at which something holds or acts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// What it is, for the legend.
    pub name: String,
    /// The nodes; without any there is no entry in the legend.
    pub nodes: Vec<u32>,
}

/// The forces of a load case.
#[derive(Debug, Clone, PartialEq)]
pub struct Load {
    /// What it is, for the legend.
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

/// What was solved for: displacements and stresses, temperatures and fluxes.
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

/// What a proof found.
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
    /// What else there is to say.
    pub facts: Vec<Fact>,
    /// Sentences.
    pub notes: Vec<String>,
}
