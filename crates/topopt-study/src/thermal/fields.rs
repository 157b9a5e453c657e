//! The files of temperatures, in the user's numbering.

use std::path::Path;

use topopt_fem::{Diffusion, heat_flux, stress};
use topopt_io::WriteError;
use topopt_io::vtk::{Array, Values, vtu};

use super::part::Part;
use crate::design_file::{Marks, array_name};
use crate::failure::Failure;
use crate::physics::Physics;
use crate::result_files::{ANALYSIS_FIELDS, compression};

/// Name of the flux in the first load case.
const HEAT_FLUX: &str = "heat_flux";

impl Part<'_> {
    /// Writes analysis.vtu with the temperatures of all load cases, in the order of the problem.
    pub(super) fn write_fields(&self, temperatures: &[Vec<f64>]) -> Result<(), Failure> {
        let path = self.config.output_directory().join(ANALYSIS_FIELDS);
        Ok(self.write_temperatures(&path, temperatures)?)
    }

    /// Writes temperatures, and the heat flux at the centers of the elements.
    pub(super) fn write_temperatures(
        &self,
        path: &Path,
        temperatures: &[Vec<f64>],
    ) -> Result<(), WriteError> {
        let (model, renumbering) = (self.model, &self.model.renumbering);
        let moduli = self.filling.moduli(model);
        let (mut points, mut cells) = (Vec::new(), Vec::new());
        let cases = model.problem.load_cases().iter().zip(temperatures);
        for (k, (case, temperature)) in cases.enumerate() {
            let flux = heat_flux(model.problem.mesh(), &moduli, temperature, stress::CENTER);
            let flux = renumbering.elements_to_original(&flux).into_flattened();
            let name = |what| array_name(what, k, &case.name);
            points.push((name(Diffusion::NAMES.state), renumbering.nodes_to_original(temperature)));
            cells.push((name(HEAT_FLUX), flux));
        }

        let marks = Marks::of(model);
        let density = renumbering.elements_to_original(&self.filling.density);
        let array =
            |name, components, values| Array { name, components, values: Values::F64(values) };
        let points: Vec<_> = points
            .iter()
            .map(|(name, values)| array(name.as_str(), 1, values.as_slice()))
            .chain(marks.points())
            .collect();
        let mut cells: Vec<_> =
            cells.iter().map(|(name, values)| array(name.as_str(), 3, values.as_slice())).collect();
        cells.push(array("density", 1, &density));
        cells.extend(marks.cells());
        let mesh = &model.mesh;
        let compression = compression(self.config);
        vtu::write(path, mesh.coordinates(), mesh.hexes(), &points, &cells, compression)
    }
}
