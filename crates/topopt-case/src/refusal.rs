//! Findings on supports and loads that make no problem.

use topopt_fem::ProblemError;
use topopt_mesh::coincident_nodes;

use crate::case::Case;
use crate::config::Config;
use crate::finding::Finding;
use crate::physics::Physics;

/// Returns the finding for wrong supports or loads, at the first entry of the case file concerned.
pub(crate) fn refused<K: Physics<N>, const N: usize>(
    config: &Config,
    case: &Case<N>,
    error: &ProblemError,
) -> Finding {
    let place = match error {
        ProblemError::NoSupport | ProblemError::RigidMotion { .. } => {
            config.supports.first().map(|s| (s.set.span(), "the supports begin here"))
        }
        ProblemError::ZeroLoad { name }
        | ProblemError::BadLoad { name }
        | ProblemError::FreeFall { name } => {
            let load = config.loads.iter().find(|load| load.case == *name);
            load.map(|load| (load.span(), "the load case begins here"))
        }
        ProblemError::FreeParts { .. } => {
            Some((config.span("inertia_relief"), "balances one part"))
        }
        ProblemError::NoLoad | ProblemError::BadSpring | ProblemError::BadFactor => None,
    };

    let finding = Finding::new(K::message(error));
    let finding = match place {
        Some((span, label)) => finding.at(config.source(), span, label),
        None => finding,
    };

    let is_elastic = config.physics.kind.data().has_forces;
    match error {
        ProblemError::RigidMotion { parts: 2.., .. } => {
            let pairs = coincident_nodes(&case.mesh);
            let merge = "parts that belong together must share nodes: merge them in the mesher \
                         (Coherence in Gmsh); otherwise hold each part";
            finding.remedy(pairs.first().map_or(merge.into(), |pair| {
                let ([a, b], n) = (pair.map(|node| case.node_number(node)), pairs.len());
                format!("{n} pairs of nodes are in the same place, the first {a} and {b}; {merge}")
            }))
        }
        ProblemError::RigidMotion { .. } if is_elastic => finding.remedy(
            "a part that flies or floats is balanced by its inertia: give `inertia_relief = true` \
             above all tables of the case file",
        ),
        _ => finding,
    }
}

/// Returns the finding for inertia relief of a part that is held against all rigid motions.
pub(crate) fn nothing_free(config: &Config) -> Finding {
    Finding::new(
        "inertia relief has nothing to balance: supports and springs hold all rigid motions",
    )
    .at(config.source(), config.span("inertia_relief"), "balances free motions")
    .remedy(
        "remove this key; or, if the part is free, the supports that only keep it from moving as a \
             whole, which inertia relief needs none of",
    )
}
