//! The file of a solved part: its fields, with the marks of the part beside them.

use std::path::Path;

use topopt_case::config::Config;
use topopt_case::model::Model;
use topopt_case::physics::Physics;
use topopt_case::tags::NumberArrays;
use topopt_io::WriteError;
use topopt_io::vtk::{Array, Values, vtu};

use super::fields::{Field, Fields};
use super::part::Part;
use crate::design_file::Marks;
use crate::result_files::compression;

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
        let mesh = &model.mesh;
        vtu::write(path, mesh.coordinates(), mesh, &points, &cells, compression(config))
    }
}
