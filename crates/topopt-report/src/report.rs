//! What a report says.

use topopt_mesh::HexMesh;

use crate::chart::Curve;

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
    /// The densities, `[n_elements]`.
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
