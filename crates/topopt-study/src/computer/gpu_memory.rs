//! Memory of a run on one GPU.

use topopt_case::config::{self, Config};
use topopt_case::filter_plan::Weights;
use topopt_case::optimizer::further_element_vectors;
use topopt_case::subject::Subject;
use topopt_cuda::{
    Cone, Cuda, MatrixFreeEquation, MeshOnDevice, Mf, Multigrid, ProblemOnDevice, Strategy,
};
use topopt_design::{Optimization, StateEquation};
use topopt_fem::{Discretization, Helmholtz, ProblemView};

use super::{Solvable, is_patch, is_single};

/// Device memory of a run except for its filter, with vectors beside those of the design loop and
/// of the solver: `[per element, per node]`.
pub(super) fn bytes<K: Solvable<N>, const N: usize>(
    strategy: Strategy,
    preconditioner: config::Preconditioner,
    contrast: f64,
    (problem, equation, by_color): (&dyn ProblemView, &Discretization<K, N>, bool),
    [of_elements, nodal]: [usize; 2],
) -> usize {
    let (nodes, elements) = (equation.mesh().n_nodes(), equation.mesh().n_elements());
    let mesh = ProblemOnDevice::<K, N>::bytes(nodes, elements);

    let nodal = nodal + Optimization::<Cuda<f64>>::nodal_vectors(problem);
    let of_elements = of_elements + Optimization::<Cuda<f64>>::element_vectors(problem);
    // Stretches and films of the operator, and of the cycle.

    let further = Mf::<f64, K, N>::further_bytes(equation);
    let preconditioner = match preconditioner {
        config::Preconditioner::Auto | config::Preconditioner::Multigrid => {
            further
                + match is_single(contrast) {
                    true => Multigrid::<f32, K, N>::bytes(nodes, elements, by_color),
                    false => Multigrid::<f64, K, N>::bytes(nodes, elements, by_color),
                }
        }
        // Two vectors, or a triangle of each block.
        config::Preconditioner::Jacobi | config::Preconditioner::BlockJacobi => 16 * N * nodes,
    };

    let operator = strategy.bytes::<K, N>(nodes, elements) + further;
    mesh + 8 * (N * nodes * nodal + elements * of_elements) + operator + preconditioner
}

/// Device memory of a run with its filter.
pub(super) fn run_bytes<K: Solvable<N>, const N: usize>(
    config: &Config,
    subject: Subject<K, N>,
    strategy: Strategy,
    contrast: f64,
) -> usize {
    let [nodes, elements] = subject.sizes();
    let [of_posed, nodal] = subject.task.posed.further_vectors();
    let in_time = subject.task.timeline.as_ref().map(StateEquation::<Cuda<f64>>::vectors_in_time);
    let [of_steps, nodal_of_steps] = in_time.unwrap_or_default();
    let of_method = further_element_vectors(config.optimizer.method);
    let vectors = [of_posed + of_steps + of_method, nodal + nodal_of_steps];
    let problem = (subject.problem, subject.equation, subject.task.colors.is_some());
    let run = bytes(strategy, config.solver.preconditioner, contrast, problem, vectors);
    let patches = match (is_patch(config), is_single(contrast)) {
        (false, _) => 0,
        (_, true) => Multigrid::<f32, K, N>::patch_bytes(nodes, elements),
        (_, false) => Multigrid::<f64, K, N>::patch_bytes(nodes, elements),
    };
    run + filter_bytes(subject) + patches
}

/// Device memory of the filter. A Helmholtz equation has a copy of the mesh of its own.
fn filter_bytes<K: Solvable<N>, const N: usize>(subject: Subject<K, N>) -> usize {
    let (filter, [nodes, elements]) = (&subject.task.filter, subject.sizes());
    let weights = match (filter.weights(), filter.radius()) {
        (Some(Weights::Helmholtz), _) => {
            let vectors = Helmholtz::<Cuda<f64>, MatrixFreeEquation>::NODAL_VECTORS;
            let equation =
                MatrixFreeEquation::bytes(nodes, elements, subject.task.colors.is_some());
            MeshOnDevice::bytes(nodes, elements) + equation + 8 * vectors * nodes
        }
        (Some(Weights::Cone { .. }), Some(radius)) => {
            Cone::bytes(subject.equation.mesh().bounding_box().extent(), radius, elements)
        }
        _ => 0,
    };
    weights + 8 * filter.element_vectors::<Cuda<f64>>() * elements
}
