//! The fields of a solved part as a file, in the user's numbering.

use std::path::Path;

use topopt_case::config::Config;
use topopt_case::model::on_all_nodes;
use topopt_case::tags::NumberArrays;
use topopt_io::WriteError;
use topopt_io::vtk::{Array, Values, vtu};

use crate::design_file::{DISPLACEMENT, FORCE, Marks, array_name};
use crate::result_files::compression;
use crate::solved::Solved;
use crate::solved_file::VON_MISES;

/// Name of the forces of gravity and rotation in the first load case.
const BODY_FORCE: &str = "body_force";
/// Name of its reactions.
const REACTION: &str = "reaction";
/// Name of its stresses (xx, yy, zz, xy, yz, zx), as VTK orders them.
const STRESS: &str = "stress";

/// An array of one load case.
struct Field {
    name: String,
    components: usize,
    values: Vec<f64>,
}

/// Writes the arrays of a run's design.vtu, with forces at held nodes too, reactions and stresses, and
/// numbers of the mesh file.
///
/// # Errors
/// A file that cannot be written.
pub fn write(config: &Config, solved: &Solved, path: &Path) -> Result<(), WriteError> {
    let Solved { model, given, filling, .. } = solved;
    let (mesh, renumbering) = (&model.mesh, &model.renumbering);
    let (points, cells) = fields(solved);
    let density = renumbering.elements_to_original(&filling.density);
    let numbers = NumberArrays::of(given.tags.as_ref(), mesh);

    let marks = Marks::of(model);
    let mut point_data = arrays(&points);
    point_data.extend(marks.points());
    point_data.push(numbers.of_nodes());
    let density = Array { name: "density", components: 1, values: Values::F64(&density) };
    let mut cell_data = vec![density];
    cell_data.extend(arrays(&cells));
    cell_data.extend(marks.cells());
    cell_data.push(numbers.of_elements());

    let (x, hexes) = (mesh.coordinates(), mesh.hexes());
    vtu::write(path, x, hexes, &point_data, &cell_data, compression(config))
}

fn arrays<'a>(fields: &'a [Field]) -> Vec<Array<'a>> {
    let array = |field: &'a Field| {
        let Field { name, components, values } = field;
        Array { name, components: *components, values: Values::F64(values) }
    };
    fields.iter().map(array).collect()
}

/// The fields of all load cases, of the nodes and of the elements.
fn fields(solved: &Solved) -> (Vec<Field>, Vec<Field>) {
    let Solved { model, given, solution, .. } = solved;
    let renumbering = &model.renumbering;
    let (mut points, mut cells) = (Vec::new(), Vec::new());
    for (k, case) in model.problem.load_cases().iter().enumerate() {
        let field = |what, components, values| Field {
            name: array_name(what, k, &case.name),
            components,
            values,
        };
        let nodal = |what, values: &[[f64; 3]]| {
            field(what, 3, renumbering.nodes_to_original(values).into_flattened())
        };

        let forces = on_all_nodes(model.mesh.n_nodes(), &given.loads[k].forces);
        points.push(nodal(DISPLACEMENT, solution.displacements[k].as_chunks::<3>().0));
        points.push(field(FORCE, 3, forces.into_flattened()));
        points.extend(solved.body_forces(k).map(|forces| nodal(BODY_FORCE, &forces)));
        points.push(nodal(REACTION, &solved.reactions(k)));

        let von_mises = renumbering.elements_to_original(&solution.von_mises[k]);
        let stresses = renumbering.elements_to_original(&solved.stresses(k));
        cells.push(field(VON_MISES, 1, von_mises));
        cells.push(field(STRESS, 6, stresses.into_flattened()));
    }
    (points, cells)
}
