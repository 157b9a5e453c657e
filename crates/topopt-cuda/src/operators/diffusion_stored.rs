//! Diffusion by stored matrices: `cuda/diffusion_stored.cu`. Diagonal and works are those of `mf`.

use std::sync::Arc;

use cudarc::driver::CudaSlice;
use topopt_fem::{Diffusion, Discretization, ElementOperator};
use topopt_linalg::{BackendError, Cost, LinearOperator, Space};
use topopt_mesh::NodeToElements;

use super::adjacency::ReverseConnectivity;
use super::diffusion::MfDiffusion;
use super::mesh::MeshOnDevice;
use super::sparsity::pattern;
use crate::kernel::Grid::Threads;
use crate::vector::DeviceVector;
use crate::{Cuda, Device, kernels};

/// Numbers of an element: L_e and the diagonal of M_e.
const STORED: usize = 8 * 8 + 8;
/// Entries off the diagonal of the row of a node that has eight elements around it.
const ROW: usize = 26;
/// Threads that make a row of the assembled product.
const WARP: usize = 32;

/// The operator k L + c M by one way of storing it.
pub(crate) struct StoredDiffusion<S> {
    plain: MfDiffusion<f64>,
    stored: S,
}

/// A way of storing the matrix.
pub(crate) trait Storage: Send + Sync {
    /// Name of the strategy.
    const NAME: &'static str;

    /// Takes changed coefficients, where something is derived from them.
    fn update(&mut self, _plain: &MfDiffusion<f64>) {}

    /// Writes K x with the identity at held nodes.
    fn apply(&self, plain: &MfDiffusion<f64>, x: &DeviceVector<f64>, y: &mut DeviceVector<f64>);

    /// Returns the counted cost of one application.
    fn cost(&self, mesh: &MeshOnDevice) -> Cost;
}

impl<S: Storage> StoredDiffusion<S> {
    /// The operator `plain`, with all coefficients zero, as `stored`.
    pub fn new(plain: MfDiffusion<f64>, mut stored: S) -> Self {
        stored.update(&plain);
        Self { plain, stored }
    }
}

impl<S: Storage> LinearOperator<Cuda<f64>> for StoredDiffusion<S> {
    fn space(&self) -> Space {
        self.plain.space()
    }

    fn apply(&self, x: &DeviceVector<f64>, y: &mut DeviceVector<f64>) {
        self.stored.apply(&self.plain, x, y);
        self.plain.complete(x, y);
    }

    fn cost(&self) -> Cost {
        self.plain.completed(self.stored.cost(self.plain.parts().0))
    }
}

impl<S: Storage> ElementOperator<Cuda<f64>> for StoredDiffusion<S> {
    fn strategy(&self) -> &'static str {
        S::NAME
    }

    fn set_coefficients(&mut self, terms: &[&DeviceVector<f64>]) {
        self.plain.set_coefficients(terms);
        self.stored.update(&self.plain);
    }

    fn diagonal(&self, out: &mut DeviceVector<f64>) {
        self.plain.diagonal(out);
    }

    fn element_work(
        &self,
        term: usize,
        v: &DeviceVector<f64>,
        u: &DeviceVector<f64>,
        out: &mut DeviceVector<f64>,
    ) {
        self.plain.element_work(term, v, u, out);
    }
}

/// L_e and the diagonal of M_e of every element.
pub(crate) struct Rows {
    kernels: kernels::DiffusionStored,
    /// `[8][8][n_elements]`.
    rows: CudaSlice<f64>,
    /// `[8][n_elements]`.
    shares: CudaSlice<f64>,
}

impl Rows {
    pub fn new(plain: &MfDiffusion<f64>) -> Result<Self, BackendError> {
        let mesh = plain.parts().0;
        let (device, n) = (mesh.device(), mesh.n_elements);
        let kernels = kernels::DiffusionStored::load(device)?;
        let (mut rows, mut shares) = (device.zeros(64 * n)?, device.zeros(8 * n)?);
        kernels.diffusion_rows(Threads(8 * n), mesh, plain.stretches(), &mut rows, &mut shares);
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

impl Storage for Ebe {
    const NAME: &'static str = "ebe";

    fn apply(&self, plain: &MfDiffusion<f64>, x: &DeviceVector<f64>, y: &mut DeviceVector<f64>) {
        let Self(Rows { kernels, rows, shares }) = self;
        let ((mesh, constraints), [k, c]) = (plain.parts(), plain.coefficients());
        plain.held_part(x, y);
        for part in mesh.parts() {
            let (grid, held, y) = (Threads(part.count as usize), &constraints.held, &mut *y);
            kernels.diffusion_ebe(grid, mesh, part, held, rows, shares, k, c, x, y);
        }
    }

    fn cost(&self, mesh: &MeshOnDevice) -> Cost {
        Rows::cost(mesh)
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

impl Storage for Nbn {
    const NAME: &'static str = "nbn";

    fn apply(&self, plain: &MfDiffusion<f64>, x: &DeviceVector<f64>, y: &mut DeviceVector<f64>) {
        let Self { rows: Rows { kernels, rows, shares }, reverse } = self;
        let ReverseConnectivity { offsets, elements, locals, .. } = reverse;
        let ((mesh, constraints), [k, c]) = (plain.parts(), plain.coefficients());
        let (grid, held) = (Threads(mesh.n_nodes), &constraints.held);
        kernels
            .diffusion_nbn(grid, mesh, offsets, elements, locals, held, rows, shares, k, c, x, y);
    }

    fn cost(&self, mesh: &MeshOnDevice) -> Cost {
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
            kernels: kernels::DiffusionStored::load(device)?,
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

impl Storage for Assembled {
    const NAME: &'static str = "bsr";

    fn update(&mut self, plain: &MfDiffusion<f64>) {
        let ReverseConnectivity { offsets, elements, locals, .. } = &self.reverse;
        let ((mesh, constraints), [k, c]) = (plain.parts(), plain.coefficients());
        let device = mesh.device();
        let cleared = device.stream().memset_zeros(&mut self.entries);
        device.record("clearing the matrix", cleared);
        self.kernels.diffusion_assemble(
            Threads(mesh.n_nodes),
            mesh,
            offsets,
            elements,
            locals,
            &constraints.held,
            plain.stretches(),
            k,
            c,
            &self.row_offsets,
            &self.columns,
            &mut self.entries,
            &mut self.ground,
        );
    }

    fn apply(&self, plain: &MfDiffusion<f64>, x: &DeviceVector<f64>, y: &mut DeviceVector<f64>) {
        let n = plain.parts().0.n_nodes;
        let Self { product, row_offsets, columns, entries, ground, .. } = self;
        product.csr1(Threads(WARP * n), 0usize, n, row_offsets, columns, entries, ground, x, y);
    }

    fn cost(&self, mesh: &MeshOnDevice) -> Cost {
        let (entries, nodes) = (self.columns.len() as f64, mesh.n_nodes as f64);
        Cost {
            bytes_read: entries * 12.0 + nodes * 20.0,
            bytes_written: nodes * 8.0,
            flops: entries * 3.0 + nodes * 2.0,
        }
    }
}
