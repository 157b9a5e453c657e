//! Conduction by modes of the gradient, beside the Gauss rule.

use topopt_mesh::hexahedron::NODES;

use super::*;

/// The conduction of an element at `x` whose nodes are `hex`, each of them once.
fn conduction(formulation: Formulation, hex: &[u32; 8], x: &Corners) -> DMatrix<f64> {
    let ke = Diffusion::by(formulation).matrix(Diffusion::CONDUCTION, x);
    let mut nodes = hex.to_vec();
    nodes.sort_unstable();
    nodes.dedup();
    let at = |a: usize| nodes.iter().position(|node| *node == hex[a]).unwrap();
    let mut joined = DMatrix::zeros(nodes.len(), nodes.len());
    for (a, b) in (0..64).map(|k| (k / 8, k % 8)) {
        joined[(at(a), at(b))] += ke[a][0][b][0];
    }
    joined
}

/// A cube whose corners are moved by up to `by`, then sheared and made thinner by a `height`.
fn distorted(by: f64, height: f64, random: &mut Noise) -> Corners {
    NODES.map(|node| {
        let [x, y, z] = node.map(|x| x + by * (2.0 * random.number() - 1.0));
        [2.0 * x + 0.3 * y + 0.2 * z, 0.7 * y - 0.1 * z, height * (0.5 * z + 0.1 * x)]
    })
}

const ALL_NODES: [u32; 8] = [0, 1, 2, 3, 4, 5, 6, 7];

#[test]
fn a_parallelepiped_is_that_of_full_integration() {
    let mut random = Noise(3);
    let difference = |x: &Corners| {
        let [modes, full] = FORMULATIONS.map(|f| conduction(f, &ALL_NODES, x));
        (modes - &full).amax() / full.amax()
    };
    for height in [1.0, 0.1, 1e-3] {
        assert!(difference(&distorted(0.0, height, &mut random)) < 1e-14);
        assert!(difference(&distorted(0.2, height, &mut random)) > 1e-3);
    }
}

/// However distorted or flat an element is, and whether it is a wedge or a pyramid.
#[test]
fn only_a_constant_has_no_energy() {
    let mut random = Noise(5);
    let heights = (0..60).map(|k| [1.0, 0.05, 1e-3][k % 3]);
    let mut shapes: Vec<_> =
        heights.map(|height| (ALL_NODES, distorted(0.35, height, &mut random))).collect();
    for mesh in [wheel(2), mixed_cut(), hexagon(2)] {
        shapes
            .extend((0..mesh.n_elements()).map(|e| (mesh.hexes()[e], mesh.element_coordinates(e))));
    }

    for (hex, x) in shapes {
        let k = conduction(Formulation::Incompatible, &hex, &x);
        let largest = k.amax();
        assert!((&k - k.transpose()).amax() < 1e-15 * largest);
        assert!(k.column_sum().amax() < 1e-13 * largest, "{k}");
        let values = k.symmetric_eigenvalues();
        let zeros = values.iter().filter(|value| value.abs() < 1e-12 * largest).count();
        assert_eq!((zeros, values.min() > -1e-13 * largest), (1, true), "{values}");
    }
}

/// Linear fields have the energy and the sources of full integration.
#[test]
fn linear_fields_are_exact_in_any_shape() {
    let mut random = Noise(7);
    for k in 0..60 {
        let x = distorted(0.35, [1.0, 0.05, 1e-3][k % 3], &mut random);
        let slope: Vec<f64> = random.vector(3);
        let u = DMatrix::from_fn(8, 1, |a, _| (0..3).map(|i| slope[i] * x[a][i]).sum());
        let [modes, full] = FORMULATIONS.map(|f| conduction(f, &ALL_NODES, &x));
        let difference = (modes * &u - &full * &u).amax();
        assert!(difference < 1e-14 * full.amax() * u.amax(), "{k}: {difference}");
    }
}
