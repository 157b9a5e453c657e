//! `ebeSym` and `ebeSymAtomic`: the 300 distinct entries of K_e [Ratnakar2022, Alg. 7 and 5.2].

use cudarc::driver::CudaSlice;
use topopt_fem::{DIM, Discretization, Elasticity};
use topopt_linalg::{BackendError, Cost};
use topopt_mesh::{Coloring, HexMesh, NodeToElements};

use super::ProblemOnDevice;
use super::mesh::{MeshOnDevice, connectivity_planes};
use super::mf::Mf;
use super::product::Product;
use super::stored;
use crate::kernel::Grid::Threads;
use crate::kernels;
use crate::vector::DeviceVector;

/// Stored numbers per element: the blocks on the diagonal of K_e (kappa_d), and off it (kappa_od).
const ENTRIES: [usize; 2] = [6 * 8, 9 * 28];

/// Bytes of the stored entries of `n_elements`.
pub(crate) fn bytes(n_elements: usize) -> usize {
    8 * (ENTRIES[0] + ENTRIES[1]) * n_elements
}

/// The stored entries on the diagonal and off it; `common/kappa.cuh` has their order.
struct Kappa {
    d: CudaSlice<f64>,
    od: CudaSlice<f64>,
}

impl Kappa {
    /// Computes the entries for the elements of `connectivity`, `[8][n_elements]`, in that order.
    fn new(problem: &ProblemOnDevice, connectivity: &CudaSlice<u32>) -> Result<Self, BackendError> {
        let ProblemOnDevice { device, mesh, .. } = problem;
        let n = mesh.n_elements;
        let (mut d, mut od) = (device.zeros(ENTRIES[0] * n)?, device.zeros(ENTRIES[1] * n)?);
        let kernels = kernels::Stiffness::load_for(problem.formulation(), device)?;
        let view = mesh.with(connectivity);
        let (grid, material) = (Threads(8 * n), problem.material());
        kernels.stiffness_kappa(grid, view, material, &mut d, &mut od);
        Ok(Self { d, od })
    }
}

fn cost(mesh: &MeshOnDevice) -> Cost {
    stored::element_cost(mesh, ENTRIES[0] + ENTRIES[1], 2 * stored::ENTRIES + 2 * stored::ROWS)
}

/// The product in one launch per color, without atomics.
pub(crate) struct EbeSym {
    kernels: kernels::EbeSym,
    /// Number of elements of each color.
    colors: Vec<u32>,
    /// Elements color by color, `[n_elements]`.
    order: CudaSlice<u32>,
    /// Nodes of the elements in that order, `[8][n_elements]`.
    nodes: CudaSlice<u32>,
    /// Nodes that no earlier element has, one bit per local node, in that order, `[n_elements]`.
    firsts: CudaSlice<u8>,
    /// Young's moduli in that order, `[n_elements]`.
    moduli: CudaSlice<f64>,
    kappa: Kappa,
}

impl EbeSym {
    pub fn new(
        on_device: &ProblemOnDevice,
        problem: &Discretization,
        adjacency: &NodeToElements,
    ) -> Result<Self, BackendError> {
        let coloring = Coloring::greedy(problem.mesh(), adjacency);
        // Every other color backwards, so that each begins where the cache still has the vectors.
        let mut groups = coloring.groups().to_vec();
        groups.iter_mut().step_by(2).for_each(|group| group.reverse());
        let order = groups.concat();
        let planes = connectivity_planes(problem.mesh().hexes(), &order);
        let firsts = first_elements(problem.mesh(), &order);
        let device = &on_device.device;
        let nodes = device.upload(&planes)?;
        Ok(Self {
            kernels: kernels::EbeSym::load(device)?,
            firsts: device.upload(&firsts)?,
            colors: groups.iter().map(|group| group.len() as u32).collect(),
            order: device.upload(&order)?,
            moduli: device.zeros(order.len())?,
            kappa: Kappa::new(on_device, &nodes)?,
            nodes,
        })
    }

    /// Bytes of the arrays for `n_elements`.
    pub fn bytes(n_elements: usize) -> usize {
        bytes(n_elements) + (4 + 32 + 8 + 1) * n_elements
    }
}

impl Product<Elasticity, DIM> for EbeSym {
    const NAME: &'static str = "ebeSym";

    fn update(&mut self, plain: &Mf<f64>) {
        let n = plain.problem().mesh.n_elements;
        let moduli = &plain.coefficients()[0];
        self.kernels.by_color(Threads(n), n, &self.order, moduli, &mut self.moduli);
    }

    fn apply(&self, plain: &Mf<f64>, x: &DeviceVector<f64>, y: &mut DeviceVector<f64>) {
        let Self { kernels, colors, nodes, firsts, moduli, .. } = self;
        let ProblemOnDevice { mesh, constraints, .. } = plain.problem();
        let (n, n_nodes, held) = (mesh.n_elements, mesh.n_nodes, &constraints.held);
        let Kappa { d, od } = &self.kappa;
        let mut first = 0;
        for &count in colors {
            let (grid, y) = (Threads(8 * count as usize), &mut *y); // eight per element
            kernels
                .ebeSym(grid, first, count, n, n_nodes, nodes, firsts, held, d, od, moduli, x, y);
            first += count;
        }
    }

    fn cost(&self, problem: &ProblemOnDevice) -> Cost {
        cost(&problem.mesh)
    }
}

/// One byte per element of `order`: bit a is set if no earlier element has its local node a.
fn first_elements(mesh: &HexMesh, order: &[u32]) -> Vec<u8> {
    let mut seen = vec![false; mesh.n_nodes()];
    let mut bit = |(a, &node): (usize, &u32)| {
        u8::from(!std::mem::replace(&mut seen[node as usize], true)) << a
    };
    order.iter().map(|&e| mesh.hexes()[e as usize].iter().enumerate().map(&mut bit).sum()).collect()
}

/// The product in one launch, with atomics.
pub(crate) struct EbeSymAtomic {
    kernels: kernels::EbeSym,
    kappa: Kappa,
}

impl EbeSymAtomic {
    pub fn new(problem: &ProblemOnDevice) -> Result<Self, BackendError> {
        let kappa = Kappa::new(problem, &problem.mesh.connectivity)?;
        Ok(Self { kernels: kernels::EbeSym::load(&problem.device)?, kappa })
    }
}

impl Product<Elasticity, DIM> for EbeSymAtomic {
    const NAME: &'static str = "ebeSymAtomic";

    fn apply(&self, plain: &Mf<f64>, x: &DeviceVector<f64>, y: &mut DeviceVector<f64>) {
        plain.held_part(x, y);
        let ProblemOnDevice { mesh, constraints, .. } = plain.problem();
        let (n, n_nodes, nodes) = (mesh.n_elements, mesh.n_nodes, &mesh.connectivity);
        let (grid, held, Kappa { d, od }) = (Threads(8 * n), &constraints.held, &self.kappa);
        let moduli = &plain.coefficients()[0];
        self.kernels.ebeSymAtomic(grid, n, n_nodes, nodes, held, d, od, moduli, x, y);
    }

    fn cost(&self, problem: &ProblemOnDevice) -> Cost {
        cost(&problem.mesh)
    }
}

#[cfg(test)]
mod tests {
    use topopt_fem::stiffness::element_stiffness;
    use topopt_fem::{LoadCase, Material, Problem, Supports};
    use topopt_mesh::{HexMesh, Sets};

    use super::*;
    use crate::{Device, Probe, probe};

    /// Two distorted elements side by side in x, held at the first four nodes.
    fn two_elements() -> Problem {
        let node = |k: usize| {
            let bend = 0.1 * (k as f64 * 1.7).sin();
            [(k / 4) as f64 + bend, (k % 4 / 2) as f64 - bend, (k % 2) as f64 + 0.5 * bend]
        };
        let hex = |k: u32| [k, k + 4, k + 6, k + 2, k + 1, k + 5, k + 7, k + 3];
        let coordinates = (0..12).map(node).collect();
        let mesh = HexMesh::new(coordinates, vec![hex(0), hex(4)], Sets::default()).unwrap();
        let mut supports = Supports::none(12);
        (0..12).for_each(|dof| supports.fix(dof / 3, dof % 3));
        let load = LoadCase::new("default", vec![1.0; 36]);
        Problem::new(mesh, Material::new(1.0, 0.3).unwrap(), supports, vec![load]).unwrap()
    }

    /// The storage order in words of [Ratnakar2022, 5.2], one number after the other.
    fn expected(problem: &Problem) -> [Vec<f64>; 2] {
        let ke = [0, 1]
            .map(|e| element_stiffness(&problem.mesh().element_coordinates(e), problem.material()));
        let (mut diagonal, mut off_diagonal) = (Vec::new(), Vec::new());

        for (i, j) in [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)] {
            for ke in &ke {
                diagonal.extend((0..8).map(|a| ke[3 * a + i][3 * a + j]));
            }
        }

        for group in 1..8 {
            let pairs: Vec<_> = (0..8).map(|a| (a, a ^ group)).filter(|(a, b)| a < b).collect();
            for i in 0..3 {
                for ke in &ke {
                    off_diagonal.extend(pairs.iter().map(|(a, b)| ke[3 * a + i][3 * b + i]));
                }
            }
            for (i, others) in [[1, 2], [0, 2], [0, 1]].into_iter().enumerate() {
                for ke in &ke {
                    for (a, b) in &pairs {
                        off_diagonal.extend(others.map(|j| ke[3 * a + i][3 * b + j]));
                    }
                }
            }
        }
        [diagonal, off_diagonal]
    }

    #[test]
    fn every_entry_lies_where_the_thesis_has_it() {
        if !matches!(probe(), Probe::Found { .. }) {
            println!("skipped: no CUDA device");
            return;
        }
        let problem = two_elements();
        let on_device = ProblemOnDevice::new(&Device::open(0).unwrap(), &problem).unwrap();
        let kappa = Kappa::new(&on_device, &on_device.mesh.connectivity).unwrap();
        let stored = [&kappa.d, &kappa.od];
        for (stored, expected) in stored.into_iter().zip(expected(&problem)) {
            let stored = on_device.device.download(stored).unwrap();
            assert_eq!(stored.len(), expected.len());
            for (k, (stored, expected)) in stored.iter().zip(&expected).enumerate() {
                assert!((stored - expected).abs() < 1e-15, "{k}: {stored} for {expected}");
            }
        }
    }
}
