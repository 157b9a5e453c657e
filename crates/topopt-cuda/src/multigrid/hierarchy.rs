//! The hierarchy on the device; level 0 is the matrix-free operator, the others are block matrices.

use std::sync::Arc;

use cudarc::driver::CudaSlice;
use topopt_fem::{Aggregates, Aggregation, ElasticityOperator, MODES};
use topopt_linalg::{
    BackendError, BlockPattern, Cost, Hierarchy, InverseDiagonal, LinearOperator, Transfer,
};

use super::block_diagonal::InverseBlocks;
use super::coarse_matrix::{CoarseMatrix, InverseBlocks6, MatrixKernels};
use super::convert::Convert;
use super::dense_inverse::DenseInverse;
use super::transfer::{AggregateKernels, AggregateTransfer, Grouping, NodeTransfer, flatten};
use crate::kernel::{Kernel, Module};
use crate::operators::{MeshOnDevice, Mf};
use crate::vector::{DeviceVector, Real};
use crate::{Cuda, Device};

/// Threads of a block of `cuda/galerkin.cu`, a mode of a row each.
const BLOCK: usize = 126;
/// Threads of a block of `add_springs`, as `cuda/supports.cu` has it.
const SPRINGS_BLOCK: usize = 512;

/// Plain aggregation with rigid-body modes, with numbers of precision `R` in the cycle.
pub struct RigidAggregation<R: Real> {
    mesh: Arc<MeshOnDevice>,
    operator: FineOperator<R>,
    inverse_blocks: InverseBlocks<R>,
    transfer: NodeTransfer,
    /// Levels 1 and on, but for the last.
    coarse: Vec<CoarseLevel<R>>,
    last: CoarseMatrix<R>,
    last_inverse: DenseInverse,
    numbers: Numbers,
    convert: Convert<R>,
    moduli: DeviceVector<R>,
}

struct CoarseLevel<R> {
    matrix: CoarseMatrix<R>,
    inverse_diagonal: InverseBlocks6<R>,
    /// To the next level.
    transfer: AggregateTransfer,
    contributions: Contributions,
}

/// The blocks of a matrix that make each block of the next level's.
struct Contributions {
    /// \[n_blocks + 1\], of the next level.
    offsets: CudaSlice<u32>,
    /// \[n_fine_blocks\].
    fine_blocks: CudaSlice<u32>,
    /// Their rows, \[n_fine_blocks\].
    fine_rows: CudaSlice<u32>,
}

impl Contributions {
    fn new(
        device: &Device,
        fine: &BlockPattern,
        parents: &Aggregates,
        next: &BlockPattern,
    ) -> Result<Self, BackendError> {
        let mut blocks = vec![Vec::new(); next.n_blocks()];
        let mut rows = blocks.clone();
        for row in 0..fine.n_rows() {
            let parent = parents.of()[row] as usize;
            for (k, &column) in fine.row(row).iter().enumerate() {
                let parent_column = parents.of()[column as usize];
                let before = next.row(parent).partition_point(|&c| c < parent_column);
                let place = next.offsets()[parent] + before;
                blocks[place].push((fine.offsets()[row] + k) as u32);
                rows[place].push(row as u32);
            }
        }
        let (offsets, fine_blocks) = flatten(&blocks);
        Ok(Self {
            offsets: device.upload(&offsets)?,
            fine_blocks: device.upload(&fine_blocks)?,
            fine_rows: device.upload(&flatten(&rows).1)?,
        })
    }
}

impl<R: Real> RigidAggregation<R> {
    pub(super) fn new(
        mesh: &Arc<MeshOnDevice>,
        structure: &Aggregation,
    ) -> Result<Self, BackendError> {
        let device = &mesh.device;
        let (matrices, transfers) =
            (MatrixKernels::load::<R>(device)?, AggregateKernels::load::<R>(device)?);
        let nodes = Grouping::new(device, &structure.nodes)?;
        let mut coarse = Vec::new();
        let mut children = nodes.clone();
        for (parents, pattern) in structure.coarser.iter().zip(&structure.patterns) {
            let matrix = CoarseMatrix::zeros(&matrices, device, pattern, &children)?;
            let next = &structure.patterns[coarse.len() + 1];
            let contributions = Contributions::new(device, pattern, parents, next)?;
            let parents = Grouping::new(device, parents)?;
            coarse.push(CoarseLevel {
                contributions,
                inverse_diagonal: InverseBlocks6::new(device, &matrix)?,
                matrix,
                transfer: AggregateTransfer::new(&transfers, &children, &parents),
            });
            children = parents;
        }
        let pattern = &structure.patterns[coarse.len()];
        Ok(Self {
            mesh: mesh.clone(),
            operator: FineOperator::new(mesh)?,
            inverse_blocks: InverseBlocks::new(mesh)?,
            transfer: NodeTransfer::new::<R>(mesh, &nodes)?,
            coarse,
            last: CoarseMatrix::zeros(&matrices, device, pattern, &children)?,
            last_inverse: DenseInverse::new::<R>(device, pattern.n_rows())?,
            numbers: Numbers::new(mesh, nodes, &structure.straddling)?,
            convert: Convert::load(device)?,
            moduli: DeviceVector { values: device.zeros(mesh.n_elements)? },
        })
    }

    /// Recomputes all numbers for `moduli`, \[n_elements\].
    pub(super) fn update(&mut self, moduli: &DeviceVector<f64>) {
        self.convert.narrow(&moduli.values, &mut self.moduli.values);
        self.operator.elements.set_moduli(&self.moduli);
        self.inverse_blocks.update(&self.moduli.values);
        let matrices = self.coarse.iter_mut().map(|level| &mut level.matrix);
        let mut matrices = matrices.chain([&mut self.last]);
        if let Some(first) = matrices.next() {
            self.numbers.of_nodes(&self.mesh, &moduli.values, first);
            first.round(&self.convert);
        }
        drop(matrices);
        for level in 0..self.coarse.len() {
            let (done, rest) = self.coarse.split_at_mut(level + 1);
            let CoarseLevel { matrix, inverse_diagonal, transfer, contributions } =
                &mut done[level];
            inverse_diagonal.update(matrix);
            let next = rest.first_mut().map_or(&mut self.last, |next| &mut next.matrix);
            self.numbers.of_aggregates(transfer, matrix, contributions, next);
            next.round(&self.convert);
        }
        self.last_inverse.update(&self.last);
    }
}

impl<R: Real> Hierarchy<Cuda<R>> for RigidAggregation<R> {
    fn n_levels(&self) -> usize {
        2 + self.coarse.len()
    }

    fn operator(&self, level: usize) -> &dyn LinearOperator<Cuda<R>> {
        match level {
            0 => &self.operator,
            _ => self.coarse.get(level - 1).map_or(&self.last, |level| &level.matrix),
        }
    }

    fn inverse_diagonal(&self, level: usize) -> &dyn InverseDiagonal<Cuda<R>> {
        match level {
            0 => &self.inverse_blocks,
            _ => &self.coarse[level - 1].inverse_diagonal,
        }
    }

    fn transfer(&self, level: usize) -> &dyn Transfer<Cuda<R>> {
        match level {
            0 => &self.transfer,
            _ => &self.coarse[level - 1].transfer,
        }
    }

    fn solve_last(&self, b: &DeviceVector<R>, x: &mut DeviceVector<R>) {
        self.last_inverse.solve(b, x);
    }
}

/// The finest level: the elements and, where there are any, the springs.
struct FineOperator<R> {
    mesh: Arc<MeshOnDevice>,
    elements: Mf<R>,
    add_springs: Kernel,
}

impl<R: Real> FineOperator<R> {
    fn new(mesh: &Arc<MeshOnDevice>) -> Result<Self, BackendError> {
        let ptx = R::ptx(
            include_str!("../../../../cuda/ptx/supports.f64.ptx"),
            include_str!("../../../../cuda/ptx/supports.f32.ptx"),
        );
        let module = Module::load(&mesh.device, "supports", ptx)?;
        let add_springs = module.kernel("add_springs", SPRINGS_BLOCK as u32)?;
        Ok(Self { mesh: mesh.clone(), elements: Mf::new(mesh)?, add_springs })
    }
}

impl<R: Real> LinearOperator<Cuda<R>> for FineOperator<R> {
    fn dimension(&self) -> usize {
        self.elements.dimension()
    }

    fn apply(&self, x: &DeviceVector<R>, y: &mut DeviceVector<R>) {
        self.elements.apply(x, y);
        if let Some(springs) = &self.mesh.springs {
            let n = self.mesh.n_nodes;
            launch!(self.add_springs, n.div_ceil(SPRINGS_BLOCK);
                &(n as u32), springs, &x.values, &mut y.values);
        }
    }

    fn cost(&self) -> Cost {
        self.elements.cost()
    }
}

/// What makes the numbers of the coarse matrices.
struct Numbers {
    of_nodes: Kernel,
    of_springs: Kernel,
    of_aggregates: Kernel,
    nodes: Arc<Grouping>,
    /// \[n_aggregates + 1\].
    offsets: CudaSlice<u32>,
    /// Of every aggregate, those that make its coarse stiffness.
    elements: CudaSlice<u32>,
}

impl Numbers {
    fn new(
        mesh: &MeshOnDevice,
        nodes: Arc<Grouping>,
        straddling: &[Vec<u32>],
    ) -> Result<Self, BackendError> {
        let ptx = include_str!("../../../../cuda/ptx/galerkin.f64.ptx");
        let module = Module::load(&mesh.device, "galerkin", ptx)?;
        let (offsets, elements) = flatten(straddling);
        Ok(Self {
            of_nodes: module.kernel("galerkin_nodes", BLOCK as u32)?,
            of_springs: module.kernel("galerkin_springs", BLOCK as u32)?,
            of_aggregates: module.kernel("galerkin_aggregates", BLOCK as u32)?,
            nodes,
            offsets: mesh.device.upload(&offsets)?,
            elements: mesh.device.upload(&elements)?,
        })
    }

    /// coarse = P^T (K + S) P.
    fn of_nodes<R>(
        &self,
        mesh: &MeshOnDevice,
        moduli: &CudaSlice<f64>,
        coarse: &mut CoarseMatrix<R>,
    ) {
        let (nodes, rows) = (&self.nodes, &coarse.rows);
        let (lambda, mu) = mesh.unit_lame;
        launch!(self.of_nodes, (MODES * rows.n_rows).div_ceil(BLOCK);
            &(rows.n_rows as u32), &(mesh.n_elements as u32), &(mesh.n_nodes as u32),
            &self.offsets, &self.elements, &nodes.of, &mesh.connectivity, &mesh.coordinates,
            &nodes.centres, &mesh.held, &mu, &(lambda / mu), moduli, &rows.offsets,
            &rows.columns, &mut coarse.numbers);
        if let Some(springs) = &mesh.springs {
            launch!(self.of_springs, (MODES * rows.n_rows).div_ceil(BLOCK);
                &(rows.n_rows as u32), &(mesh.n_nodes as u32), &nodes.offsets, &nodes.members,
                &mesh.coordinates, &nodes.centres, springs, &rows.offsets, &rows.columns,
                &mut coarse.numbers);
        }
    }

    /// coarse = P^T fine P.
    fn of_aggregates<R>(
        &self,
        transfer: &AggregateTransfer,
        fine: &CoarseMatrix<R>,
        contributions: &Contributions,
        coarse: &mut CoarseMatrix<R>,
    ) {
        let AggregateTransfer { children, parents, .. } = transfer;
        let rows = &coarse.rows;
        let Contributions { offsets, fine_blocks, fine_rows } = contributions;
        launch!(self.of_aggregates, (MODES * rows.n_blocks).div_ceil(BLOCK);
            &(rows.n_rows as u32), &(rows.n_blocks as u32), &(parents.n_points as u32),
            &parents.of, &children.centres, &parents.centres, offsets, fine_blocks, fine_rows,
            &fine.rows.columns, &fine.numbers, &mut coarse.numbers);
    }
}
