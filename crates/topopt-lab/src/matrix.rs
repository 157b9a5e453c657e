//! The assembled stiffness of a problem as MatrixMarket files, for other solvers.

use std::io::Write;
use std::path::Path;

use topopt_fem::{Problem, matrix_row};
use topopt_io::{WriteError, atomic};
use topopt_mesh::NodeToElements;

/// Writes K with the identity at held components to `path`, its lower half; and beside it the
/// forces of the first load case to `NAME_f.mtx` and the nodes to `NAME_x.mtx`.
pub(crate) fn write(path: &Path, problem: &Problem, moduli: &[f64]) -> Result<(), WriteError> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let beside = |suffix: &str| path.with_file_name(format!("{name}_{suffix}.mtx"));
    let nodes = problem.mesh().coordinates();
    columns(&beside("x"), nodes.len(), &(0..3).map(|i| column(nodes, i)).collect::<Vec<_>>())?;
    columns(&beside("f"), problem.n_dofs(), &[problem.load_cases()[0].forces.clone()])?;

    let adjacency = NodeToElements::new(problem.mesh());
    // The header holds the number of entries: rows are made twice rather than kept.
    let mut entries = 0;
    for node in 0..nodes.len() {
        entries += row(problem, &adjacency, moduli, node).iter().map(Vec::len).sum::<usize>();
    }

    atomic::write(path, |file| {
        let n = problem.n_dofs();
        writeln!(file, "%%MatrixMarket matrix coordinate real symmetric\n{n} {n} {entries}")?;
        for node in 0..nodes.len() {
            for (i, entries) in row(problem, &adjacency, moduli, node).iter().enumerate() {
                for (column, value) in entries {
                    writeln!(file, "{} {} {value:e}", 3 * node + i + 1, column + 1)?;
                }
            }
        }
        Ok(())
    })
}

fn column(nodes: &[[f64; 3]], i: usize) -> Vec<f64> {
    nodes.iter().map(|x| x[i]).collect()
}

fn columns(path: &Path, n: usize, columns: &[Vec<f64>]) -> Result<(), WriteError> {
    atomic::write(path, |file| {
        writeln!(file, "%%MatrixMarket matrix array real general\n{n} {}", columns.len())?;
        columns.iter().flatten().try_for_each(|value| writeln!(file, "{value:e}"))
    })
}

/// Columns and values of the three rows of a node, up to the diagonal.
fn row(
    problem: &Problem,
    adjacency: &NodeToElements,
    moduli: &[f64],
    node: usize,
) -> [Vec<(usize, f64)>; 3] {
    let supports = problem.supports();
    let mut blocks = matrix_row(problem, adjacency, &[moduli], node);
    if let (Some(springs), Some(block)) = (supports.springs(), blocks.get_mut(&(node as u32))) {
        let free = (0..3).filter(|&i| !supports.is_fixed(node, i));
        free.for_each(|i| block[i][i] += springs[3 * node + i]);
    }

    std::array::from_fn(|i| {
        if supports.is_fixed(node, i) {
            return vec![(3 * node + i, 1.0)];
        }
        let all = blocks.iter().flat_map(|(&other, block)| {
            let other = other as usize;
            (0..3).map(move |j| (3 * other + j, block[i][j], supports.is_fixed(other, j)))
        });
        let lower = all.filter(|&(column, _, held)| column <= 3 * node + i && !held);
        lower.map(|(column, value, _)| (column, value)).collect()
    })
}
