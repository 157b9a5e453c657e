//! Memory of a run on one GPU.

use topopt_case::config::{self, Config};
use topopt_case::filter_plan::Weights;
use topopt_case::subject::Subject;
use topopt_cuda::{
    Cone, Cuda, MatrixFreeEquation, MeshOnDevice, Mf, Multigrid, ProblemOnDevice, Real,
};
use topopt_fem::Helmholtz;
use topopt_linalg::SmootherKind;

use crate::computer::{Solvable, smoother};
use crate::memory::of_vectors;

/// Device memory of a run except for its operator, whose solves take their steps in single
/// precision if it `is_mixed`.
pub(super) fn besides_operator<K: Solvable<N>, const N: usize>(
    config: &Config,
    subject: Subject<K, N>,
    contrast: f64,
    is_mixed: bool,
) -> usize {
    let (mesh, solved) = (subject.equation.mesh(), subject.of_solved());
    let [nodes, _] = solved.sizes();
    let steps = usize::from(is_mixed) * Multigrid::<f32, K, N>::step_bytes(N * nodes);
    let preconditioner = match config.solver.preconditioner {
        config::Preconditioner::Auto | config::Preconditioner::Multigrid => {
            match is_single(contrast) {
                true => of_cycle::<f32, K, N>(config, solved),
                false => of_cycle::<f64, K, N>(config, solved),
            }
        }
        // Its vectors count with the others.
        config::Preconditioner::Jacobi => 0,
        // A triangle of each block.
        config::Preconditioner::BlockJacobi => 16 * N * nodes,
    };
    // Maps between elements and corners have a mesh of their own.
    let corners = usize::from(config.has_half_width()) * MeshOnDevice::bytes(mesh);
    let levels = subject.task.space.levels().map_or(0, |levels| levels.bytes());
    let [_, elements] = subject.sizes();
    let flood = subject.task.space.openings().map_or(0, |_| FLOOD * elements);
    let vectors = of_vectors(config, subject) + of_weights(subject);
    // Where a half is solved, the whole is there, too, with its moduli and maps between both.
    let whole = subject.half.map_or(0, |_| {
        let [all, elements] = subject.sizes();
        let maps = 16 * N * (all + nodes) + 32 * N * nodes;
        ProblemOnDevice::<K, N>::bytes(solved.equation.mesh()) + maps + 8 * K::TERMS * elements
    });
    let of_equation = ProblemOnDevice::<K, N>::bytes(mesh) + steps + preconditioner;
    subject.n_equations() * of_equation + whole + vectors + corners + levels + flood
}

/// Device memory of an element whose void is open to the outside: six neighbors, way, height, level
/// and end before and after a round, and sums of derivatives.
const FLOOD: usize = 64;

/// Device memory of multigrid in the precision `R`, with stretches and films, and patches.
fn of_cycle<R: Real, K: Solvable<N>, const N: usize>(
    config: &Config,
    subject: Subject<K, N>,
) -> usize {
    let ([nodes, elements], by_color) = (subject.sizes(), subject.task.colors.is_some());
    let smoother =
        usize::from(is_patch(config)) * Multigrid::<R, K, N>::patch_bytes(nodes, elements);
    let further = Mf::<R, K, N>::further_bytes(subject.equation);
    K::gpu_multigrid_bytes::<R>(subject.equation, by_color) + further + smoother
}

/// Device memory of the filter's weights. A Helmholtz equation has a copy of the mesh of its own.
fn of_weights<K: Solvable<N>, const N: usize>(subject: Subject<K, N>) -> usize {
    let ([_, elements], by_color) = (subject.sizes(), subject.task.colors.is_some());
    match subject.task.filter.weights() {
        Some((Weights::Helmholtz, _)) => {
            let vectors = Helmholtz::<Cuda<f64>, MatrixFreeEquation>::NODAL_VECTORS;
            let nodes = subject.equation.mesh().n_vertices();
            let equation = MatrixFreeEquation::bytes(nodes, elements, by_color);
            MeshOnDevice::bytes(subject.equation.mesh()) + equation + 8 * vectors * nodes
        }
        Some((Weights::Cone { .. }, radius)) => {
            let extent = subject.equation.mesh().bounding_box().extent();
            let local = subject.task.filter.local_radius();
            let radii = [radius].into_iter().chain(local);
            radii.map(|radius| Cone::bytes(extent, radius, elements)).sum()
        }
        None => 0,
    }
}

/// Whether multigrid smooths by patches.
pub(super) fn is_patch(config: &Config) -> bool {
    config.solver.is_multigrid() && smoother(&config.solver) == SmootherKind::Patch
}

/// Whether single precision, which rounds to 6e-8, resolves moduli of that contrast.
pub(super) fn is_single(contrast: f64) -> bool {
    contrast >= 1e-7
}
