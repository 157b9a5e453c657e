//! Springs that hold nodes to the ground.

use std::borrow::Cow;

use crate::patches::Patches;
use crate::{Discretization, ElementKernel, MAX_TERMS};

/// Returns the springs between nodes and ground, `[n_nodes]`, zero at held components: those of the
/// constraints and of terms that act as springs; empty where there are none.
pub(super) fn springs<'p, K: ElementKernel<N>, const N: usize>(
    problem: &'p Discretization<K, N>,
    patches: &Patches,
    coefficients: &[&Vec<f64>],
) -> Cow<'p, [[f64; N]]> {
    let constraints = problem.constraints();
    let springs = constraints.springs().map_or(&[][..], |springs| springs.as_chunks().0);
    if !K::HAS_GROUND {
        return Cow::Borrowed(springs);
    }

    let of_element = |e: usize| {
        let mut own = [0.0; MAX_TERMS];
        own.iter_mut().zip(coefficients).for_each(|(own, values)| *own = values[e]);
        problem.kernel().ground(&own, &problem.elements().corners(e))
    };
    let mut ground = vec![[0.0; N]; problem.mesh().n_nodes()];
    patches.scatter_elements(ground.as_flattened_mut(), of_element, |node, mut sum| {
        let spring = springs.get(node).unwrap_or(&[0.0; N]);
        (0..N).for_each(|i| sum[i] += spring[i]);
        constraints.free_part(node, sum)
    });
    Cow::Owned(ground)
}
