//! The files of temperatures, in the user's numbering.

use std::path::Path;

use topopt_case::physics::Physics;
use topopt_case::physics::heat::HEAT_FLUX;
use topopt_case::tags::NumberArrays;
use topopt_fem::{Diffusion, heat_flux, stress};
use topopt_io::WriteError;
use topopt_io::vtk::{Array, Values, vtu};

use super::part::Part;
use crate::design_file::{Marks, array_name};
use crate::result_files::compression;

/// Values by their names.
type NamedValues = Vec<(String, Vec<f64>)>;

/// Data that all files of temperatures of a part share.
pub(crate) struct Fields<'a> {
    part: &'a Part<'a>,
    marks: Marks,
    numbers: NumberArrays,
    /// Conductivities, `[n_elements]`, as the problem numbers them.
    conductivities: Vec<f64>,
    /// Densities, `[n_elements]`, in the user's numbering.
    density: Vec<f64>,
}

impl<'a> Fields<'a> {
    pub fn of(part: &'a Part<'a>) -> Self {
        Self {
            part,
            marks: Marks::of(part.model),
            numbers: NumberArrays::of(part.case.tags.as_ref(), &part.model.mesh),
            conductivities: part.filling.moduli(part.model),
            density: part.model.renumbering.elements_to_original(&part.filling.density),
        }
    }

    /// Writes the temperatures of the load cases, in the order of the problem, the heat flux at the centers
    /// of the elements, and numbers of the mesh file.
    pub fn write(&self, path: &Path, temperatures: &[impl AsRef<[f64]>]) -> Result<(), WriteError> {
        let model = self.part.model;
        let (points, cells) = self.of_cases(temperatures);
        let array =
            |name, components, values| Array { name, components, values: Values::F64(values) };
        let points: Vec<_> = points
            .iter()
            .map(|(name, values)| array(name.as_str(), 1, values.as_slice()))
            .chain(self.marks.points())
            .chain([self.numbers.of_nodes()])
            .collect();
        let mut cells: Vec<_> =
            cells.iter().map(|(name, values)| array(name.as_str(), 3, values.as_slice())).collect();
        cells.push(array("density", 1, &self.density));
        cells.extend(self.marks.cells());
        cells.push(self.numbers.of_elements());
        let mesh = &model.mesh;
        let compression = compression(self.part.config);
        vtu::write(path, mesh.coordinates(), mesh.hexes(), &points, &cells, compression)
    }

    /// Returns temperatures at nodes and heat fluxes of elements, with their names, in the user's
    /// numbering.
    pub fn of_cases(&self, temperatures: &[impl AsRef<[f64]>]) -> (NamedValues, NamedValues) {
        let (model, renumbering) = (self.part.model, &self.part.model.renumbering);
        let (mut points, mut cells) = (Vec::new(), Vec::new());
        let cases = model.problem.load_cases().iter().zip(temperatures);
        for (k, (case, temperature)) in cases.enumerate() {
            let (problem, temperature) = (&model.problem, temperature.as_ref());
            let flux = heat_flux(problem, &self.conductivities, temperature, stress::CENTER);
            let flux = renumbering.elements_to_original(&flux).into_flattened();
            let name = |what| array_name(what, k, &case.name);
            points.push((name(Diffusion::NAMES.state), renumbering.nodes_to_original(temperature)));
            cells.push((name(HEAT_FLUX), flux));
        }
        (points, cells)
    }
}
