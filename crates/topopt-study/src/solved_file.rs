//! The fields that an analysis or a verification has written.

use std::path::Path;

use topopt_io::vtk::vtu;
use topopt_mesh::{HexMesh, hexahedron};

use crate::design_file::{DISPLACEMENT, array_name, point_vectors};
use crate::finding::Finding;

/// The name of the array of the stresses of von Mises, of a verification or the first load case.
pub(crate) const VON_MISES: &str = "von_mises";

/// Stresses and displacements at the nodes, in the order of the mesh of the file.
#[derive(Debug)]
pub struct SolvedFile {
    /// Stresses of von Mises, `[n_nodes]` each (force per area): the mean of the solid elements
    /// around a node, or of the nodes next to it where it has none; 0 far from the solid. An
    /// analysis has them for each load case, a verification the largest of all.
    pub von_mises: Vec<Vec<f64>>,
    /// Displacements in each load case, `[n_nodes][3]` (length).
    pub displacements: Vec<Vec<[f64; 3]>>,
}

impl SolvedFile {
    /// Reads a file as `topopt verify` writes it for these load `cases`.
    ///
    /// # Errors
    /// A file that cannot be read, or lacks one of the arrays.
    pub fn of_verification(path: &Path, cases: &[&str]) -> Result<Self, Finding> {
        Self::read(path, &[VON_MISES], cases, ("solid", 1.0))
            .map_err(|finding| finding.remedy("verify the design again"))
    }

    /// Reads a file as `topopt solve` writes it for these load `cases`; elements of density `least`
    /// are solid.
    ///
    /// # Errors
    /// A file that cannot be read, or lacks one of the arrays.
    pub fn of_analysis(path: &Path, cases: &[&str], least: f64) -> Result<Self, Finding> {
        let names = cases.iter().enumerate().map(|(k, case)| array_name(VON_MISES, k, case));
        let names: Vec<String> = names.collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        Self::read(path, &names, cases, ("density", least))
            .map_err(|finding| finding.remedy("solve the case again"))
    }

    /// Elements are solid whose value in the array `solid` is that or more.
    fn read(
        path: &Path,
        stresses: &[&str],
        cases: &[&str],
        (solid, least): (&str, f64),
    ) -> Result<Self, Finding> {
        let names = [stresses, &[solid]].concat();
        let (file, mut stresses) = vtu::read_with_cell_data(path, &names)
            .map_err(|error| Finding::new(error.to_string()))?;
        let solid = stresses.pop().unwrap_or_default();
        let is_solid: Vec<bool> = solid.iter().map(|&solid| solid >= least).collect();

        let displacements = point_vectors(path, DISPLACEMENT, cases)?;
        let displacements: Option<Vec<_>> = displacements.into_iter().collect();
        let displacements = displacements.ok_or_else(|| {
            Finding::new(format!("{} lacks displacements of a load case", path.display()))
        })?;
        let at_nodes = |values: &Vec<f64>| at_nodes(&file.mesh, values, &is_solid);
        Ok(Self { von_mises: stresses.iter().map(at_nodes).collect(), displacements })
    }
}

/// Steps from node to node by which stresses go on beyond the solid elements: the surface of a solid
/// cuts elements that are less than half full, which have no stress.
const STEPS: usize = 2;

/// Means of the `values` of the solid elements, `[n_elements]`, at the nodes, by volume.
fn at_nodes(mesh: &HexMesh, values: &[f64], is_solid: &[bool]) -> Vec<f64> {
    let mut sums = vec![[0.0; 2]; mesh.n_nodes()];
    let solid = mesh.hexes().iter().zip(mesh.volumes()).zip(values.iter().zip(is_solid));
    for ((hex, volume), (value, _)) in solid.filter(|(_, (_, is_solid))| **is_solid) {
        for node in hexahedron::distinct(hex) {
            let [sum, weight] = &mut sums[node as usize];
            (*sum, *weight) = (*sum + volume * value, *weight + volume);
        }
    }

    let mean = |[sum, weight]: [f64; 2]| (weight > 0.0).then(|| sum / weight);
    let mut known: Vec<Option<f64>> = sums.into_iter().map(mean).collect();
    for _ in 0..STEPS {
        known = spread(mesh, &known);
    }
    known.into_iter().map(Option::unwrap_or_default).collect()
}

/// Values of nodes without one are the means of those in the elements around that have one.
fn spread(mesh: &HexMesh, known: &[Option<f64>]) -> Vec<Option<f64>> {
    let mut sums = vec![[0.0; 2]; known.len()];
    for hex in mesh.hexes() {
        let values = || hexahedron::distinct(hex).filter_map(|node| known[node as usize]);
        let (sum, count) = (values().sum::<f64>(), values().count() as f64);
        for node in hexahedron::distinct(hex).filter(|&node| known[node as usize].is_none()) {
            let total = &mut sums[node as usize];
            *total = [total[0] + sum, total[1] + count];
        }
    }
    let filled = |(value, [sum, count]): (&Option<f64>, [f64; 2])| {
        value.or_else(|| (count > 0.0).then(|| sum / count))
    };
    known.iter().zip(sums).map(filled).collect()
}

#[cfg(test)]
mod tests {
    use topopt_mesh::generate::{Benchmark, Resolution};

    use super::*;

    /// Ten slices of 25 elements along x: the first four are solid, with a stress that is their x.
    #[test]
    fn stresses_go_on_a_little_beyond_the_solid() {
        let mesh = Benchmark::Cantilever.generate(Resolution::Elements(250)).unwrap();
        let centers = mesh.centers();
        let is_solid: Vec<bool> = centers.iter().map(|x| x[0] < 4.0).collect();
        let values: Vec<f64> =
            centers.iter().map(|x| if x[0] < 4.0 { x[0] } else { 0.0 }).collect();
        for (x, stress) in mesh.coordinates().iter().zip(at_nodes(&mesh, &values, &is_solid)) {
            let expected = match x[0] {
                x if x < 6.5 => x.clamp(0.5, 3.5),
                _ => 0.0,
            };
            assert!((stress - expected).abs() < 1e-12, "{x:?}: {stress}");
        }
    }
}
