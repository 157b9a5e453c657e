//! Values of the solid elements at the nodes.

use topopt_mesh::{HexMesh, hexahedron};

/// Steps from node to node by which values extend beyond the solid elements: the surface of a solid
/// cuts elements that are less than half full and have no values.
const STEPS: usize = 2;

/// Means of the `values` of the solid elements, `[n_elements][C]`, at the nodes, by volume.
pub(super) fn at_nodes<const C: usize>(
    mesh: &HexMesh,
    values: &[[f64; C]],
    is_solid: &[bool],
) -> Vec<[f64; C]> {
    let mut sums = vec![([0.0; C], 0.0); mesh.n_nodes()];
    let solid = mesh.elements().zip(mesh.volumes()).zip(values.iter().zip(is_solid));
    for ((nodes, volume), (value, _)) in solid.filter(|(_, (_, is_solid))| **is_solid) {
        for node in hexahedron::distinct(nodes) {
            add(&mut sums[node as usize], *value, volume);
        }
    }

    let mut known: Vec<Option<[f64; C]>> = sums.into_iter().map(mean).collect();
    for _ in 0..STEPS {
        known = spread(mesh, &known);
    }
    known.into_iter().map(|value| value.unwrap_or([0.0; C])).collect()
}

/// Values of nodes without one are the means of those in the elements around that have one.
fn spread<const C: usize>(mesh: &HexMesh, known: &[Option<[f64; C]>]) -> Vec<Option<[f64; C]>> {
    let mut sums = vec![([0.0; C], 0.0); known.len()];
    for nodes in mesh.elements() {
        let mut all = ([0.0; C], 0.0);
        let values = hexahedron::distinct(nodes).filter_map(|node| known[node as usize]);
        values.for_each(|value| add(&mut all, value, 1.0));
        for node in hexahedron::distinct(nodes).filter(|&node| known[node as usize].is_none()) {
            let (sum, weight) = &mut sums[node as usize];
            (0..C).for_each(|i| sum[i] += all.0[i]);
            *weight += all.1;
        }
    }
    known.iter().zip(sums).map(|(value, sum)| value.or_else(|| mean(sum))).collect()
}

fn add<const C: usize>((sum, weight): &mut ([f64; C], f64), value: [f64; C], by: f64) {
    (0..C).for_each(|i| sum[i] += by * value[i]);
    *weight += by;
}

fn mean<const C: usize>((sum, weight): ([f64; C], f64)) -> Option<[f64; C]> {
    (weight > 0.0).then(|| sum.map(|sum| sum / weight))
}

#[cfg(test)]
mod tests {
    use topopt_mesh::generate::{Benchmark, Resolution};

    use super::*;

    /// Ten slices of 25 elements along x: the first four are solid, with a stress that is their x.
    #[test]
    fn stresses_go_on_a_little_beyond_the_solid() {
        let mesh = Benchmark::Cantilever.generate(Resolution::Elements(250)).unwrap();
        let centers = mesh.centers();
        let is_solid: Vec<bool> = centers.iter().map(|x| x[0] < 4.0).collect();
        let value = |x: &[f64; 3]| if x[0] < 4.0 { [x[0], 2.0 * x[0]] } else { [0.0; 2] };
        let values: Vec<[f64; 2]> = centers.iter().map(value).collect();
        for (x, stress) in mesh.coordinates().iter().zip(at_nodes(&mesh, &values, &is_solid)) {
            let expected = match x[0] {
                x if x < 6.5 => x.clamp(0.5, 3.5),
                _ => 0.0,
            };
            for (stress, expected) in stress.into_iter().zip([expected, 2.0 * expected]) {
                assert!((stress - expected).abs() < 1e-12, "{x:?}: {stress}");
            }
        }
    }
}
