//! Multigrid for diffusion whose coefficients change.

use std::sync::Arc;

use topopt_fem::{Diffusion, Discretization, ElementOperator, ElementPreconditioner, Level};
use topopt_linalg::{Backend, BackendError, Cpu, CycleKind, Preconditioner};

use super::scalar::ScalarMultigrid;
use crate::Cuda;
use crate::operators::MeshOnDevice;
use crate::vector::{DeviceVector, Real};

/// [`ScalarMultigrid`] for coefficients that change: the host makes all numbers again for each.
pub struct DiffusionMultigrid<'a, R: Real> {
    host: topopt_fem::Multigrid<'a, Diffusion, 1, 1>,
    /// The operator that the host follows.
    followed: Box<dyn ElementOperator<Cpu> + 'a>,
    multigrid: ScalarMultigrid<'a, R>,
}

impl<'a, R: Real> DiffusionMultigrid<'a, R> {
    /// For `problem`, of whose mesh `mesh` was made; needs an update before use.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room for it or its kernels cannot be loaded.
    pub fn new(
        backend: &'a Cuda<R>,
        mesh: &Arc<MeshOnDevice>,
        problem: &'a Discretization<Diffusion, 1>,
        kind: CycleKind,
    ) -> Result<Self, BackendError> {
        let ones = vec![1.0; problem.mesh().n_elements()];
        let mut host = topopt_fem::Multigrid::new(problem, kind)?;
        let followed = topopt_fem::Strategy::Mf.build(problem);
        host.update(&Cpu, followed.as_ref(), &[&ones, &ones])?;
        let first = (kind, [&ones, &ones]);
        let multigrid = ScalarMultigrid::of(backend, mesh, problem, host.hierarchy(), first)?;
        Ok(Self { host, followed, multigrid })
    }
}

impl<R: Real> Preconditioner<Cuda<f64>> for DiffusionMultigrid<'_, R> {
    fn name(&self) -> &'static str {
        self.multigrid.name()
    }

    fn is_linear(&self) -> bool {
        self.multigrid.is_linear()
    }

    fn check_interval(&self, backend: &Cuda<f64>) -> usize {
        self.multigrid.check_interval(backend)
    }

    fn apply(&self, backend: &Cuda<f64>, r: &DeviceVector<f64>, z: &mut DeviceVector<f64>) {
        self.multigrid.apply(backend, r, z);
    }
}

impl<R: Real> ElementPreconditioner<Cuda<f64>> for DiffusionMultigrid<'_, R> {
    fn update(
        &mut self,
        backend: &Cuda<f64>,
        _: &dyn ElementOperator<Cuda<f64>>,
        coefficients: &[&DeviceVector<f64>],
    ) -> Result<(), BackendError> {
        let fields = coefficients.iter().map(|field| backend.download(field));
        let fields: Vec<Vec<f64>> = fields.collect::<Result<_, _>>()?;
        let [conductivities, capacities] = &fields[..] else { return Ok(()) };
        let terms = [conductivities, capacities];
        self.host.update(&Cpu, self.followed.as_ref(), &terms)?;
        self.multigrid.follow(self.host.hierarchy(), terms)
    }

    fn cycle(&self) -> Option<CycleKind> {
        ElementPreconditioner::<Cpu>::cycle(&self.host)
    }

    fn levels(&self) -> Vec<Level> {
        ElementPreconditioner::<Cpu>::levels(&self.host)
    }
}
