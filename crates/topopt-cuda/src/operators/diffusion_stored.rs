//! Diffusion by stored matrices: `cuda/diffusion_stored.cu`. Diagonal and works are those of `mf`.

use std::sync::Arc;

use cudarc::driver::CudaSlice;
use topopt_fem::{Diffusion, Discretization, ElementKernel};
use topopt_linalg::{BackendError, Cost};
use topopt_mesh::NodeToElements;

use super::ProblemOnDevice;
use super::adjacency::ReverseConnectivity;
use super::mesh::{MeshOnDevice, NODES};
use super::mf::Mf;
use super::product::Product;
use super::sparsity::pattern;
use crate::kernel::Grid::Threads;
use crate::vector::DeviceVector;
use crate::{Device, kernels};

/// Numbers of an element: L_e and the diagonal of M_e.
const STORED: usize = NODES * NODES + NODES;
/// Entries off the diagonal of the row of a node that has eight elements around it.
const ROW: usize = 26;
/// Threads that make a row of the assembled product.
const WARP: usize = 32;

/// The matrix-free operator, which holds coefficients and problem for the stored products.
type Plain = Mf<f64, Diffusion, 1>;
/// The problem of a product.
type Problem = ProblemOnDevice<Diffusion, 1>;

/// L_e and the diagonal of M_e of every element.
pub(crate) struct Rows {
    kernels: kernels::DiffusionStored,
    /// `[NODES][NODES][n_elements]`.
    rows: CudaSlice<f64>,
    /// `[NODES][n_elements]`.
    shares: CudaSlice<f64>,
}

impl Rows {
    pub fn new(plain: &Plain) -> Result<Self, BackendError> {
        let mesh = &plain.problem().mesh;
        let (device, n) = (mesh.device(), mesh.n_elements);
        let kernels = kernels::DiffusionStored::load_for(plain.problem().formulation(), device)?;
        let (mut rows, mut shares) = (device.zeros(NODES * NODES * n)?, device.zeros(NODES * n)?);
        kernels.diffusion_rows(
            Threads(8 * n),
            mesh,
            plain.elements().stretches.as_ref(),
            &mut rows,
            &mut shares,
        );
        Ok(Self { kernels, rows, shares })
    }

    /// Bytes on the device.
    pub fn bytes(n_elements: usize) -> usize {
        8 * STORED * n_elements
    }

    /// Cost of a product that reads all of it once.
    fn cost(mesh: &MeshOnDevice) -> Cost {
        let (elements, nodes) = (mesh.n_elements as f64, mesh.n_nodes as f64);
        Cost {
            bytes_read: elements * (8.0 * STORED as f64 + 48.0) + nodes * 9.0,
            bytes_written: nodes * 8.0,
            flops: elements * 2.0 * STORED as f64,
        }
    }
}

/// `ebe`: element by element.
pub(crate) struct Ebe(pub Rows);

impl Product<Diffusion, 1> for Ebe {
    const NAME: &'static str = "ebe";

    fn apply(&self, plain: &Plain, x: &DeviceVector<f64>, y: &mut DeviceVector<f64>) {
        let Self(Rows { kernels, rows, shares }) = self;
        let ProblemOnDevice { mesh, constraints, .. } = plain.problem();
        let [k, c] = both(plain.coefficients());
        plain.held_part(x, y);
        for part in mesh.parts() {
            let (grid, held, y) = (Threads(part.count as usize), &constraints.held, &mut *y);
            kernels.diffusion_ebe(grid, mesh, part, held, rows, shares, k, c, x, y);
        }
    }

    fn cost(&self, problem: &Problem) -> Cost {
        Rows::cost(&problem.mesh)
    }
}

/// `nbn`: node by node with the reverse connectivity.
pub(crate) struct Nbn {
    rows: Rows,
    reverse: ReverseConnectivity,
}

impl Nbn {
    pub fn new(rows: Rows, device: &Device, nodes: &NodeToElements) -> Result<Self, BackendError> {
        Ok(Self { rows, reverse: ReverseConnectivity::new(device, nodes)? })
    }
}

impl Product<Diffusion, 1> for Nbn {
    const NAME: &'static str = "nbn";

    fn apply(&self, plain: &Plain, x: &DeviceVector<f64>, y: &mut DeviceVector<f64>) {
        let Self { rows: Rows { kernels, rows, shares }, reverse } = self;
        let ReverseConnectivity { offsets, elements, locals } = reverse;
        let ProblemOnDevice { mesh, constraints, .. } = plain.problem();
        let [k, c] = both(plain.coefficients());
        let (grid, held) = (Threads(mesh.n_nodes), &constraints.held);
        kernels
            .diffusion_nbn(grid, mesh, offsets, elements, locals, held, rows, shares, k, c, x, y);
    }

    fn cost(&self, problem: &Problem) -> Cost {
        let mesh = &problem.mesh;
        let mut cost = Rows::cost(mesh);
        cost.bytes_read += 40.0 * mesh.n_elements as f64 + 4.0 * mesh.n_nodes as f64;
        cost
    }
}

/// `bsr`: the assembled matrix, whose blocks are numbers. Entries off the diagonal multiply differences,
/// and the ground the value itself, so that the diagonal needs no place.
pub(crate) struct Assembled {
    kernels: kernels::DiffusionStored,
    product: kernels::ScalarLevels<f64>,
    reverse: ReverseConnectivity,
    /// `[n_nodes + 1]`.
    row_offsets: CudaSlice<u32>,
    /// Ascending in a row, without the row itself, `[n_entries]`.
    columns: CudaSlice<u32>,
    entries: CudaSlice<f64>,
    /// `[n_nodes]`.
    ground: CudaSlice<f64>,
}

impl Assembled {
    pub fn new(
        device: &Arc<Device>,
        problem: &Discretization<Diffusion, 1>,
        nodes: &NodeToElements,
    ) -> Result<Self, BackendError> {
        let (offsets, columns) = pattern(problem.mesh(), nodes);
        // Every row has itself among its columns.
        let row_offsets: Vec<u32> = (0..).zip(&offsets).map(|(n, &k)| k as u32 - n).collect();
        let others = |row: usize| {
            let range = offsets[row] as usize..offsets[row + 1] as usize;
            columns[range].iter().copied().filter(move |&column| column as usize != row)
        };
        let columns: Vec<u32> = (0..nodes.n_nodes()).flat_map(others).collect();
        Ok(Self {
            kernels: kernels::DiffusionStored::load_for(problem.kernel().formulation(), device)?,
            product: kernels::ScalarLevels::load(device)?,
            reverse: ReverseConnectivity::new(device, nodes)?,
            row_offsets: device.upload(&row_offsets)?,
            columns: device.upload(&columns)?,
            entries: device.zeros(columns.len())?,
            ground: device.zeros(nodes.n_nodes())?,
        })
    }

    /// Bytes for a mesh of that size with rows as inside a box.
    pub fn bytes(n_nodes: usize, n_elements: usize) -> usize {
        (ROW * 12 + 12) * n_nodes + 4 + ReverseConnectivity::bytes(n_nodes, n_elements)
    }
}

impl Product<Diffusion, 1> for Assembled {
    const NAME: &'static str = "bsr";

    fn update(&mut self, plain: &Plain) {
        let ReverseConnectivity { offsets, elements, locals } = &self.reverse;
        let ProblemOnDevice { device, mesh, constraints, .. } = plain.problem();
        let (held, stretches) = (&constraints.held, plain.elements().stretches.as_ref());
        let Self { row_offsets: rows, columns, entries, ground, .. } = self;
        let cleared = device.stream().memset_zeros(entries);
        device.record("clearing the matrix", cleared);
        let (grid, [k, c]) = (Threads(mesh.n_nodes), both(plain.coefficients()));
        self.kernels.diffusion_assemble(
            grid, mesh, offsets, elements, locals, held, stretches, k, c, &*rows, &*columns,
            entries, ground,
        );
    }

    fn apply(&self, plain: &Plain, x: &DeviceVector<f64>, y: &mut DeviceVector<f64>) {
        let n = plain.problem().mesh.n_nodes;
        let Self { product, row_offsets, columns, entries, ground, .. } = self;
        product.csr1(Threads(WARP * n), 0usize, n, row_offsets, columns, entries, ground, x, y);
    }

    fn cost(&self, problem: &Problem) -> Cost {
        let (entries, nodes) = (self.columns.len() as f64, problem.mesh.n_nodes as f64);
        Cost {
            bytes_read: entries * 12.0 + nodes * 20.0,
            bytes_written: nodes * 8.0,
            flops: entries * 3.0 + nodes * 2.0,
        }
    }
}

/// Returns conductivities and capacities.
pub(super) fn both<R>(coefficients: &[DeviceVector<R>]) -> [&DeviceVector<R>; 2] {
    [&coefficients[Diffusion::CONDUCTION], &coefficients[Diffusion::CAPACITY]]
}
