//! The prolongation between the nodes and the first level of aggregates.

use std::sync::Arc;

use rayon::prelude::*;
use topopt_linalg::{Cpu, Transfer};

use super::Aggregates;
use super::modes::NodalModes;
use crate::{Discretization, ElementKernel, Shared};

/// The prolongation: aggregate and offset of every node, of N unknowns, which move by M modes; zero
/// at held components.
pub(super) struct FineTransfer<'a, K, const N: usize, const M: usize> {
    pub problem: &'a Discretization<K, N>,
    pub aggregates: Aggregates,
    /// How ranks share the aggregates, if there are any.
    pub shared: Option<Arc<Shared<'a, Cpu>>>,
}

impl<K: ElementKernel<N>, const N: usize, const M: usize> FineTransfer<'_, K, N, M>
where
    [f64; M]: NodalModes<N>,
{
    /// block += P^T S P of one aggregate, for springs S, `[n_nodes][N]`, zero at held components.
    pub fn add_springs(&self, springs: &[[f64; N]], aggregate: usize, block: &mut [[f64; M]; M]) {
        let members = self.aggregates.members()[aggregate].iter().map(|&node| node as usize);
        let offsets = self.aggregates.offsets();
        for node in members.filter(|&node| springs[node] != [0.0; N]) {
            for mode in 0..M {
                let mut motion = [0.0; M];
                motion[mode] = 1.0;
                let u = motion.at_node(offsets[node]);
                let force = std::array::from_fn(|i| springs[node][i] * u[i]);
                let total = <[f64; M]>::of_node(force, offsets[node]);
                (0..M).for_each(|i| block[mode][i] += total[i]);
            }
        }
    }
}

impl<K: ElementKernel<N>, const N: usize, const M: usize> Transfer<Cpu>
    for FineTransfer<'_, K, N, M>
where
    [f64; M]: NodalModes<N>,
{
    fn restrict(&self, fine: &Vec<f64>, coarse: &mut Vec<f64>) {
        let fine = fine.as_chunks::<N>().0;
        let constraints = self.problem.constraints();
        let rows = coarse.as_chunks_mut::<M>().0.par_iter_mut().with_min_len(64);
        rows.zip(self.aggregates.members()).for_each(|(coarse, members)| {
            *coarse = [0.0; M];
            for &node in members {
                let node = node as usize;
                let force = constraints.free_part(node, fine[node]);
                let force = <[f64; M]>::of_node(force, self.aggregates.offsets()[node]);
                (0..M).for_each(|i| coarse[i] += force[i]);
            }
        });
        if let Some(shared) = &self.shared {
            shared.complete(coarse);
        }
    }

    fn prolong_add(&self, coarse: &Vec<f64>, fine: &mut Vec<f64>) {
        let coarse = coarse.as_chunks::<M>().0;
        let constraints = self.problem.constraints();
        let nodes = fine.as_chunks_mut::<N>().0.par_iter_mut().with_min_len(4096);
        nodes.enumerate().for_each(|(node, fine)| {
            let motion = &coarse[self.aggregates.of()[node] as usize];
            let u = motion.at_node(self.aggregates.offsets()[node]);
            let u = constraints.free_part(node, u);
            (0..N).for_each(|i| fine[i] += u[i]);
        });
    }
}
