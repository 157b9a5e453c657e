//! The design of another run, to start from or to be analyzed, on any mesh of the same part.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use topopt_case::finding::{Finding, InputError};
use topopt_case::model::Model;
use topopt_case::physics::Physics;
use topopt_design::{Candidates, Made};
use topopt_io::vtk::vtu;
use topopt_mesh::{BoundingBox, ElementInterpolation, HexMesh};

use crate::design_file::materials;
use crate::run_directory::RunDirectory;

/// The largest share of the volume of either part that may lie beyond the other.
const LARGEST_SHARE: f64 = 0.05;

/// A design as it was read.
#[derive(Debug)]
pub struct StartingDesign {
    path: PathBuf,
    mesh: HexMesh,
    /// Shares that elements are filled, `[n_elements]`.
    density: Vec<f64>,
    /// Numbers of their materials, `[n_elements]`, of a design of several; else none.
    material: Vec<u8>,
}

impl StartingDesign {
    /// Reads the design of a folder of results, or of a `.vtu` file.
    ///
    /// # Errors
    /// A finding if there is none, or it is no design.
    pub fn read(result: &Path) -> Result<Self, InputError> {
        let path = match result.is_file() {
            true => result.into(),
            false => RunDirectory::open(result)?.design(),
        };
        let (file, mut data) = vtu::read_with_cell_data(&path, &["density"])
            .map_err(|error| Finding::new(error.to_string()))?;
        let density = data.remove(0);
        if let Some(element) = density.iter().position(|rho| !rho.is_finite()) {
            let message = format!(
                "{}: the density of element {} is {}",
                path.display(),
                element + 1,
                density[element]
            );
            let remedy = "give a design with finite densities, such as the design.vtu of a run";
            return Err(Finding::new(message).remedy(remedy).into());
        }
        let material = materials(&path)?;
        Ok(Self { path, mesh: file.mesh, density, material })
    }

    /// The file that the design is from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the densities by which a case with these `candidates` knows the materials.
    fn of_materials(&self, candidates: &Candidates) -> Cow<'_, [f64]> {
        if candidates.is_empty() || self.material.len() != self.density.len() {
            return Cow::Borrowed(&self.density);
        }
        let made = self.density.iter().zip(&self.material);
        let made = made.map(|(&filled, &material)| Made { filled, material });
        Cow::Owned(made.map(|made| candidates.density(made)).collect())
    }

    /// Interpolates the densities at the centers of the elements of `model`, `[n_elements]` in the
    /// numbering of the problem.
    ///
    /// # Errors
    /// A finding if the mesh is not one of the same part.
    pub fn on<K: Physics<N>, const N: usize>(
        &self,
        model: &Model<K, N>,
    ) -> Result<Vec<f64>, Finding> {
        let mesh = model.problem.mesh();
        // Either part may be the larger, so shares are taken both ways.
        let density = self.of_materials(model.space.candidates());
        let old = ElementInterpolation::new(&self.mesh, &density);
        let beyond_old = old.share_beyond(self.mesh.element_width(), mesh);
        let density = old.at(&mesh.centers());
        let beyond_new =
            ElementInterpolation::new(mesh, &density).share_beyond(model.element_width, &self.mesh);
        if beyond_old.max(beyond_new) <= LARGEST_SHARE {
            return Ok(density);
        }

        // Adding 0 takes the sign from zero.
        let percent = |share: f64| 100.0 * share + 0.0;
        let message = format!(
            "the design in {} belongs to another part: {:.1} % of the volume of the case lies more \
             than an element's width outside of that part, and {:.1} % of that part outside of the \
             case\n\
             that part: {}\nthe case: {}",
            self.path.display(),
            percent(beyond_old),
            percent(beyond_new),
            shown(&self.mesh.bounding_box()),
            shown(&mesh.bounding_box())
        );
        Err(Finding::new(message)
            .remedy("give a result of the same part, in the same place and unit of length"))
    }
}

fn shown(bounds: &BoundingBox) -> String {
    let range =
        |i: usize| format!("{} = {:.4} to {:.4}", ["x", "y", "z"][i], bounds.min[i], bounds.max[i]);
    [0, 1, 2].map(range).join(", ")
}
