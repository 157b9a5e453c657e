//! `bsr`: the assembled matrix in 3x3 block compressed rows, the baseline of the others.

use cudarc::driver::CudaSlice;
use rayon::prelude::*;
use topopt_fem::Problem;
use topopt_linalg::{BackendError, Cost};
use topopt_mesh::{HexMesh, NodeToElements};

use super::ProblemOnDevice;
use super::adjacency::ReverseConnectivity;
use super::product::Product;
use crate::kernel::Grid::Threads;
use crate::kernels;
use crate::vector::DeviceVector;

/// Blocks of the row of a node that has eight elements around it.
const ROW: usize = 27;

/// The product by an assembled matrix.
pub(crate) struct Bsr {
    kernels: kernels::Bsr,
    reverse: ReverseConnectivity,
    /// \[n_nodes + 1\].
    row_offsets: CudaSlice<u64>,
    /// Ascending in a row, \[n_blocks\].
    columns: CudaSlice<u32>,
    /// \[n_blocks\]\[3\]\[3\].
    values: CudaSlice<f64>,
}

impl Bsr {
    pub fn new(
        on_device: &ProblemOnDevice,
        problem: &Problem,
        adjacency: &NodeToElements,
    ) -> Result<Self, BackendError> {
        let device = &on_device.device;
        let (row_offsets, columns) = pattern(problem.mesh(), adjacency);
        Ok(Self {
            kernels: kernels::Bsr::load(device)?,
            reverse: ReverseConnectivity::new(device, adjacency)?,
            row_offsets: device.upload(&row_offsets)?,
            columns: device.upload(&columns)?,
            values: device.zeros(9 * columns.len())?,
        })
    }

    /// Bytes that it stores for a mesh of that size with rows as inside a box, 27 blocks long.
    pub fn bytes(n_nodes: usize, n_elements: usize) -> usize {
        (ROW * (9 * 8 + 4) + 8) * n_nodes + ReverseConnectivity::bytes(n_nodes, n_elements)
    }
}

/// Row offsets, \[n_nodes + 1\], and columns, ascending in each row: the nodes that share an
/// element with a node, itself included.
pub(crate) fn pattern(mesh: &HexMesh, adjacency: &NodeToElements) -> (Vec<u64>, Vec<u32>) {
    let row = |row: usize| {
        let elements = adjacency.elements_of(row).iter();
        let nodes = elements.flat_map(|&e| mesh.hexes()[e as usize]).chain([row as u32]);
        let mut columns: Vec<u32> = nodes.collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    };
    let rows: Vec<Vec<u32>> = (0..mesh.n_nodes()).into_par_iter().map(row).collect();
    let mut offsets = vec![0];
    offsets.extend(rows.iter().scan(0, |end, row| {
        *end += row.len() as u64;
        Some(*end)
    }));
    (offsets, rows.into_par_iter().flatten_iter().collect())
}

impl Product for Bsr {
    fn strategy(&self) -> &'static str {
        "bsr"
    }

    fn set_moduli(&mut self, problem: &ProblemOnDevice, moduli: &DeviceVector<f64>) {
        let ReverseConnectivity { offsets, elements, locals, valence } = &self.reverse;
        let ProblemOnDevice { mesh, constraints, .. } = problem;
        let (row_offsets, columns) = (&self.row_offsets, &self.columns);
        self.kernels.bsr_assemble(
            Threads(8 * mesh.n_nodes), // eight per row
            mesh,
            *valence,
            offsets,
            elements,
            locals,
            &constraints.held,
            moduli,
            problem.material(),
            row_offsets,
            columns,
            &mut self.values,
        );
    }

    fn apply(
        &self,
        problem: &ProblemOnDevice,
        _: &DeviceVector<f64>,
        x: &DeviceVector<f64>,
        y: &mut DeviceVector<f64>,
    ) {
        let n = problem.mesh.n_nodes;
        let (row_offsets, columns) = (&self.row_offsets, &self.columns);
        // A warp per row.
        self.kernels.bsr(Threads(32 * n), n, row_offsets, columns, &self.values, x, y);
    }

    fn cost(&self, problem: &ProblemOnDevice) -> Cost {
        let (blocks, nodes) = (self.columns.len() as f64, problem.mesh.n_nodes as f64);
        Cost {
            bytes_read: blocks * 76.0 + nodes * 32.0,
            bytes_written: nodes * 24.0,
            flops: blocks * 18.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use topopt_mesh::generate::{Benchmark, Resolution};

    use super::*;

    #[test]
    fn the_pattern_is_symmetric_and_ascending_and_has_the_diagonal() {
        let mesh = Benchmark::Michell.generate(Resolution::Elements(1)).unwrap();
        let (offsets, columns) = pattern(&mesh, &NodeToElements::new(&mesh));
        let row = |n: usize| &columns[offsets[n] as usize..offsets[n + 1] as usize];
        for n in 0..mesh.n_nodes() {
            assert!(row(n).is_sorted_by(|a, b| a < b));
            assert!(row(n).contains(&(n as u32)));
            assert!(row(n).iter().all(|&m| row(m as usize).contains(&(n as u32))));
        }
        let pairs = |hex: &[u32; 8]| hex.map(|n| hex.map(|m| (n, m)));
        let mut expected: Vec<_> = mesh.hexes().iter().flat_map(pairs).collect::<Vec<_>>().concat();
        expected.sort_unstable();
        expected.dedup();
        assert_eq!(columns.len(), expected.len());
    }
}
