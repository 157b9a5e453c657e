//! A scalar field on the nodes and the element centers of a mesh.

use topopt_linalg::BackendError;
use topopt_mesh::{HexMesh, nodal_means};

use crate::diffusion::Diffusion;

/// Values at nodes and element centers, linear on the tetrahedra between them. All are finite.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    nodes: Vec<f64>,
    centers: Vec<f64>,
}

/// Reason for which values do not make a [`Field`].
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FieldError {
    /// A list with another length than the nodes or elements.
    #[error("{found} values for {expected} nodes or elements; use the values of this mesh")]
    Length {
        /// Length of the list.
        found: usize,
        /// Number of nodes or elements.
        expected: usize,
    },
    /// A value that is NaN or infinite.
    #[error("value {index} is {value}, not a finite number; compute the design again")]
    NotFinite {
        /// The first such node or element, from 0.
        index: usize,
        /// Value of the node or element.
        value: f64,
    },
    /// More nodes and elements than 32-bit numbers can name.
    #[error("{0} nodes and elements together; 4294967295 is the most")]
    TooLarge(usize),
    /// The linear algebra has failed.
    #[error(transparent)]
    Backend(#[from] BackendError),
}

/// Radius of the Helmholtz equations, in element widths, and their number. On six meshes (two of
/// subdivided tetrahedra, the four benchmarks) this is the least that leaves below 0.3 % of the
/// dihedral angles of a crisp design above 60 degrees; one equation of twice the square leaves 2 %.
const SMOOTHING: f64 = 0.5;
const PASSES: usize = 2;

/// Rounds in which elements get back the volume that smoothing took.
const ROUNDS: usize = 2;

impl Field {
    /// The field with `nodes`, `[n_nodes]`, and `centers`, `[n_elements]`, of `mesh`.
    ///
    /// # Errors
    /// [`FieldError`].
    pub fn new(mesh: &HexMesh, nodes: Vec<f64>, centers: Vec<f64>) -> Result<Self, FieldError> {
        for (values, expected) in [(&centers, mesh.n_elements()), (&nodes, mesh.n_nodes())] {
            if values.len() != expected {
                return Err(FieldError::Length { found: values.len(), expected });
            }
            if let Some(index) = values.iter().position(|value| !value.is_finite()) {
                return Err(FieldError::NotFinite { index, value: values[index] });
            }
        }
        match nodes.len() + centers.len() {
            n if n > u32::MAX as usize => Err(FieldError::TooLarge(n)),
            _ => Ok(Self { nodes, centers }),
        }
    }

    /// The field of `density`, `[n_elements]`, made continuous by two Helmholtz equations in turn,
    /// phi - div(r^2 grad phi) = density \[LazarovSigmund2011\], r being half the width of an
    /// element. Away from boundaries it is the mean over a distance of about one element. Means at
    /// nodes, weighted by volume, are as good on regular meshes, and rough on others: they keep a
    /// linear density only where the elements around a node are symmetric.
    ///
    /// # Errors
    /// [`FieldError`].
    pub fn of_elements(mesh: &HexMesh, density: &[f64]) -> Result<Self, FieldError> {
        Self::by_diffusion(mesh, &Self::diffusion(mesh), density)
    }

    /// [`Field::of_elements`] with the [`Field::diffusion`] of the mesh.
    pub(crate) fn by_diffusion(
        mesh: &HexMesh,
        diffusion: &Diffusion,
        density: &[f64],
    ) -> Result<Self, FieldError> {
        let rough = Self::new(mesh, nodal_means(mesh, density), density.to_vec())?;
        rough.evened_out(mesh, diffusion, density)
    }

    /// The field of `density` as [`Field::of_elements`] made it, with material where evening out has
    /// taken it from the elements around `nodes`: those of a density above `threshold` stay above it.
    /// A skin of single elements around a loaded bore would be lost otherwise, and the load with it.
    ///
    /// What an element lacks is added to its density [VanCittert1931], in a few rounds.
    ///
    /// # Errors
    /// [`FieldError`].
    pub(crate) fn keeping(
        self,
        nodes: &[u32],
        mesh: &HexMesh,
        diffusion: &Diffusion,
        density: &[f64],
        threshold: f64,
    ) -> Result<Self, FieldError> {
        let mut is_kept = vec![false; mesh.n_nodes()];
        nodes.iter().for_each(|&node| is_kept[node as usize] = true);
        let is_kept = |e: usize| mesh.element(e).iter().any(|&node| is_kept[node as usize]);
        let kept: Vec<usize> = (0..mesh.n_elements())
            .filter(|&element| density[element] > threshold && is_kept(element))
            .collect();

        let (mut field, mut sources) = (self, density.to_vec());
        for _ in 0..ROUNDS {
            let lack = |&element: &usize| {
                let mean = field.mean_of(mesh.element(element), element);
                (mean < threshold).then_some((element, density[element] - mean))
            };
            let lacking: Vec<(usize, f64)> = kept.iter().filter_map(lack).collect();
            if lacking.is_empty() {
                break;
            }
            lacking.into_iter().for_each(|(element, lack)| sources[element] += lack);
            field = field.evened_out(mesh, diffusion, &sources)?;
        }
        Ok(field)
    }

    /// The mean over an element with equal tetrahedra.
    fn mean_of(&self, nodes: &[u32], element: usize) -> f64 {
        let at_nodes: f64 = nodes.iter().map(|&node| self.nodes[node as usize]).sum();
        0.25 * self.centers[element] + 0.75 * at_nodes / nodes.len() as f64
    }

    /// Builds the operator that smooths densities, with a radius of [`SMOOTHING`] element widths.
    pub(crate) fn diffusion(mesh: &HexMesh) -> Diffusion {
        let radii = mesh.volumes().into_iter().map(|volume| SMOOTHING * volume.cbrt());
        let squares: Vec<f64> = radii.map(|radius| radius * radius).collect();
        Diffusion::new(mesh, |element| squares[element])
    }

    /// The solution of the Helmholtz equations, sought from these values on.
    fn evened_out(
        &self,
        mesh: &HexMesh,
        diffusion: &Diffusion,
        density: &[f64],
    ) -> Result<Self, FieldError> {
        // Squares of 1e300 are no numbers.
        let [least, most] = self.range();
        let scale = least.abs().max(most.abs()).max(f64::MIN_POSITIVE);
        let density: Vec<f64> = density.iter().map(|density| density / scale).collect();
        let start = self.values().map(|value| value / scale).collect();

        let values = diffusion.solve(&diffusion.integrals(&density), start)?;
        let values = diffusion.even_out(values, PASSES - 1)?;
        Self::of_vertices(mesh, values.into_iter().map(|value| value * scale).collect())
    }

    /// The field of `values` at the nodes and then the centers, `[n_nodes + n_elements]`.
    pub(crate) fn of_vertices(mesh: &HexMesh, mut values: Vec<f64>) -> Result<Self, FieldError> {
        let centers = values.split_off(mesh.n_nodes());
        Self::new(mesh, values, centers)
    }

    /// Values at the nodes, then at the centers.
    pub(crate) fn values(&self) -> impl Iterator<Item = f64> {
        self.nodes.iter().chain(&self.centers).copied()
    }

    /// Replaces every value by `new(vertex, value)`, finite.
    pub(crate) fn update(&mut self, new: impl Fn(usize, f64) -> f64) {
        let values = self.nodes.iter_mut().chain(&mut self.centers);
        values.enumerate().for_each(|(vertex, value)| *value = new(vertex, *value));
    }

    /// Smallest and largest value.
    pub fn range(&self) -> [f64; 2] {
        let values = self.nodes.iter().chain(&self.centers);
        values.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], &value| {
            [low.min(value), high.max(value)]
        })
    }

    /// Values at the nodes, `[n_nodes]`.
    pub fn at_nodes(&self) -> &[f64] {
        &self.nodes
    }

    /// Value at a vertex of the tetrahedra: a node, or n_nodes + element for a center.
    pub(crate) fn at(&self, vertex: u32) -> f64 {
        let vertex = vertex as usize;
        match vertex.checked_sub(self.nodes.len()) {
            None => self.nodes[vertex],
            Some(element) => self.centers[element],
        }
    }
}
