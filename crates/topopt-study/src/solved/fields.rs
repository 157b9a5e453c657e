//! Fields of a solved part, in the user's numbering.

use topopt_case::model::Model;
use topopt_case::physics::Physics;
use topopt_io::vtk::{Array, Values};

use crate::design_file::array_name;

/// An array of one load case.
pub struct Field {
    pub name: String,
    pub components: usize,
    pub values: Vec<f64>,
}

/// Arrays of nodes and of elements, in the user's numbering.
#[derive(Default)]
pub struct Fields {
    pub points: Vec<Field>,
    pub cells: Vec<Field>,
}

impl Fields {
    /// Appends the arrays of `others`.
    pub fn extend(&mut self, others: Self) {
        self.points.extend(others.points);
        self.cells.extend(others.cells);
    }
}

impl Field {
    /// The array of `what` in load case number `k` of `model`, with C components.
    pub fn new<K, const N: usize, const C: usize>(
        model: &Model<K, N>,
        (what, k): (&str, usize),
        values: Vec<[f64; C]>,
    ) -> Self
    where
        K: Physics<N>,
    {
        let name = array_name(what, k, &model.problem.load_cases()[k].name);
        Self { name, components: C, values: values.into_flattened() }
    }

    /// Returns its array for a file.
    pub fn array(&self) -> Array<'_> {
        let Self { name, components, values } = self;
        Array { name, components: *components, values: Values::F64(values) }
    }
}
