//! The equation of the Helmholtz filter on the device.

use std::sync::Arc;

use topopt_fem::{
    Constraints, Diffusion, Discretization, ElementMeans, ElementOperator, ElementPreconditioner,
    FilterEquation, PartOfFilter, Sharing,
};
use topopt_linalg::{Backend, BackendError, CycleKind, LinearOperator, Preconditioner, Space};
use topopt_mesh::HexMesh;

use crate::operators::{self, MeshOnDevice, Mf, ProblemOnDevice, ShapeMeans};
use crate::{Cuda, Multigrid, Prepared, structure_of_part};

/// The equation of [`topopt_fem::Helmholtz`] on a GPU: matrix-free diffusion, preconditioned by multigrid
/// in single precision, which needs hardly more iterations for a larger radius. On a mesh [by color](MeshOnDevice::by_color) it gives the same bits every time.
pub struct MatrixFreeEquation<'a> {
    operator: Mf<f64, Diffusion, 1>,
    multigrid: Multigrid<'a, f32, Diffusion, 1>,
    means: ShapeMeans,
    n_elements: usize,
}

impl<'a> MatrixFreeEquation<'a> {
    /// The equation with [filter coefficients](topopt_fem::filter_coefficients) on `mesh`, of
    /// [linear](HexMesh::linear) ones if it is of tetrahedra, and its copy `on_device`; `double` is
    /// for conjugate gradients, `single` for the preconditioner.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room for it or its kernels cannot be loaded.
    pub fn new(
        (double, single): (&Cuda<f64>, &'a Cuda<f32>),
        on_device: &Arc<MeshOnDevice>,
        mesh: &HexMesh,
        coefficients: &[Vec<f64>; 2],
    ) -> Result<Self, BackendError> {
        let n_elements = mesh.n_elements();
        let problem = equation(mesh);
        let there = ProblemOnDevice::on(on_device, &problem)?;

        let mut operator = Mf::new(&there, &problem)?;
        let upload = |values: &[f64]| double.upload(values, Space::elements(n_elements));
        let terms = [upload(&coefficients[0])?, upload(&coefficients[1])?];
        let terms = [&terms[0], &terms[1]];
        operator.set_coefficients(&terms);
        let prepared = Prepared::new(&problem);
        let mut multigrid = Multigrid::new(single, &there, &problem, CycleKind::K, &prepared)?;
        multigrid.update(double, &operator, &terms)?;
        Ok(Self { operator, multigrid, means: ShapeMeans::new(on_device)?, n_elements })
    }

    /// Bytes on the device beside the [`MeshOnDevice`], for a mesh of that size.
    pub fn bytes(n_nodes: usize, n_elements: usize, by_color: bool) -> usize {
        operators::Constraints::bytes(n_nodes, n_elements)
            + Mf::<f64, Diffusion, 1>::bytes(n_elements)
            + Multigrid::<f32, Diffusion, 1>::bytes(n_nodes, n_elements, by_color)
    }
}

/// The equation on the `mesh` of a part and its copy `on_device`, shared with the other ranks.
///
/// # Errors
/// [`BackendError`] if the device has no room, or another rank has failed.
pub fn part_of_filter<'a>(
    single: &'a Cuda<f32>,
    on_device: &Arc<MeshOnDevice>,
    mesh: &HexMesh,
    others: &Arc<dyn Sharing<'a, Cuda<f32>> + 'a>,
) -> Result<PartOfFilter<'a, Cuda<f64>>, BackendError> {
    let problem = equation(mesh);
    let there = ProblemOnDevice::on(on_device, &problem)?;
    let operator = || -> Result<Box<dyn ElementOperator<_>>, BackendError> {
        Ok(Box::new(Mf::new(&there, &problem)?))
    };
    let prepared = Prepared::with_structure(structure_of_part(&problem, others.as_ref())?);
    let (kind, others) = (CycleKind::K, others.clone());
    let multigrid = Multigrid::on_part(single, &there, &problem, kind, &prepared, others)?;
    Ok(PartOfFilter {
        operators: [operator()?, operator()?],
        preconditioner: Box::new(multigrid),
        means: Box::new(ShapeMeans::new(on_device)?),
    })
}

/// The diffusion of the filter on `mesh`, with nothing held.
fn equation(mesh: &HexMesh) -> Discretization<Diffusion, 1> {
    Discretization::new(mesh.clone(), Diffusion::default(), Constraints::none(mesh.n_nodes()))
}

impl FilterEquation<Cuda<f64>> for MatrixFreeEquation<'_> {
    fn operator(&self) -> &dyn LinearOperator<Cuda<f64>> {
        &self.operator
    }

    fn preconditioner(&self) -> &dyn Preconditioner<Cuda<f64>> {
        &self.multigrid
    }

    fn n_elements(&self) -> usize {
        self.n_elements
    }

    fn means(&self) -> &dyn ElementMeans<Cuda<f64>> {
        &self.means
    }
}
