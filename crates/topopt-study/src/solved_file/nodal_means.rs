//! Values of the solid elements at the nodes.

use rayon::prelude::*;
use topopt_mesh::{HexMesh, NodeToElements, hexahedron};

/// Steps from node to node by which values extend beyond the solid elements: the surface of a solid
/// cuts elements that are less than half full and have no values.
const STEPS: usize = 2;

/// Sum of values, and of their weights.
type Sum<const C: usize> = ([f64; C], f64);

/// Means of the `values` of the solid elements, `[n_elements][C]`, at the nodes, by volume.
pub(super) fn at_nodes<const C: usize>(
    mesh: &HexMesh,
    values: &[[f64; C]],
    is_solid: &[bool],
) -> Vec<[f64; C]> {
    let (around, volumes) = (NodeToElements::new(mesh), mesh.volumes());
    let part = |e: usize| (values[e].map(|value| volumes[e] * value), volumes[e]);
    let solid = |node: usize| {
        let elements = hexahedron::distinct(around.elements_of(node));
        elements.filter(|element| is_solid[*element as usize])
    };
    let of_node = |node: usize| mean(sum(solid(node), part));
    let mut known: Vec<Option<[f64; C]>> =
        (0..mesh.n_nodes()).into_par_iter().map(of_node).collect();
    for _ in 0..STEPS {
        known = spread(mesh, &around, &known);
    }
    known.into_par_iter().map(|value| value.unwrap_or([0.0; C])).collect()
}

/// Values of nodes without one are the means of those in the elements around that have one.
fn spread<const C: usize>(
    mesh: &HexMesh,
    around: &NodeToElements,
    known: &[Option<[f64; C]>],
) -> Vec<Option<[f64; C]>> {
    let of_node = |node: usize| known[node].map_or(([0.0; C], 0.0), |value| (value, 1.0));
    let of_elements = mesh.par_elements().map(|nodes| sum(hexahedron::distinct(nodes), of_node));
    let of_elements: Vec<Sum<C>> = of_elements.collect();
    let spread_to = |(node, value): (usize, &Option<[f64; C]>)| {
        let elements = hexahedron::distinct(around.elements_of(node));
        value.or_else(|| mean(sum(elements, |element| of_elements[element])))
    };
    known.par_iter().enumerate().map(spread_to).collect()
}

/// Sum of the `part` of each of the numbers.
fn sum<const C: usize>(
    numbers: impl Iterator<Item = u32>,
    part: impl Fn(usize) -> Sum<C>,
) -> Sum<C> {
    numbers.map(|number| part(number as usize)).fold(([0.0; C], 0.0), |mut sum, part| {
        (0..C).for_each(|i| sum.0[i] += part.0[i]);
        (sum.0, sum.1 + part.1)
    })
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
