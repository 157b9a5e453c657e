//! Sparsity pattern of an assembled matrix.

use rayon::prelude::*;
use topopt_mesh::{HexMesh, NodeToElements};

/// Row offsets, `[n_nodes + 1]`, and columns, ascending in each row: the nodes that share an
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
