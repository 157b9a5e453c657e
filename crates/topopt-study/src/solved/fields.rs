//! Fields of a solved part as a file, in the user's numbering.

use std::path::Path;

use topopt_case::config::Config;
use topopt_case::model::Model;
use topopt_case::physics::Physics;
use topopt_case::tags::NumberArrays;
use topopt_io::WriteError;
use topopt_io::vtk::{Array, Values, vtu};

use super::part::Part;
use crate::design_file::{Marks, array_name};
use crate::result_files::compression;

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

/// Data that all files of the fields of a part share: marks, numbers of the mesh file, densities.
pub(crate) struct FieldFile<'a, K, const N: usize> {
    config: &'a Config,
    model: &'a Model<K, N>,
    marks: Marks,
    numbers: NumberArrays,
    density: Vec<f64>,
}

impl<'a, K: Physics<N>, const N: usize> FieldFile<'a, K, N> {
    pub fn of(part: &Part<'a, K, N>) -> Self {
        let Part { config, model, given, filling } = part;
        Self {
            config,
            model,
            marks: Marks::of(model),
            numbers: NumberArrays::of(given.tags.as_ref(), &model.mesh),
            density: model.renumbering.elements_to_original(&filling.density),
        }
    }

    /// Writes `fields`, and the arrays of a run's design.vtu beside them.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write(&self, path: &Path, fields: &Fields) -> Result<(), WriteError> {
        let Self { config, model, marks, numbers, density } = self;
        let points = fields.points.iter().map(Field::array).chain(marks.points());
        let points: Vec<_> = points.chain([numbers.of_nodes()]).collect();
        let density = Array { name: "density", components: 1, values: Values::F64(density) };
        let cells = std::iter::once(density).chain(fields.cells.iter().map(Field::array));
        let cells: Vec<_> = cells.chain(marks.cells()).chain([numbers.of_elements()]).collect();
        let (x, hexes) = (model.mesh.coordinates(), model.mesh.hexes());
        vtu::write(path, x, hexes, &points, &cells, compression(config))
    }
}
