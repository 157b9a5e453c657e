//! Fields of a solved part, in the user's numbering.

use topopt_case::model::Model;
use topopt_case::physics::Physics;
use topopt_io::vtk::{Array, Values};

use crate::design_file::array_name;

/// An array of one load case.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Name of the array.
    pub name: String,
    /// Number of components.
    pub components: usize,
    /// Values, `[n][components]`.
    pub values: Vec<f64>,
}

/// Arrays of nodes and of elements, in the user's numbering.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Fields {
    /// Arrays of the nodes.
    pub points: Vec<Field>,
    /// Arrays of the elements.
    pub cells: Vec<Field>,
}

impl Fields {
    /// Appends the arrays of `others`.
    pub(crate) fn extend(&mut self, others: Self) {
        self.points.extend(others.points);
        self.cells.extend(others.cells);
    }
}

impl Field {
    /// The array of `what` in load case number `k` of `model`, with C components.
    pub(crate) fn new<K, const N: usize, const C: usize>(
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
    pub(crate) fn array(&self) -> Array<'_> {
        let Self { name, components, values } = self;
        Array { name, components: *components, values: Values::F64(values) }
    }
}
