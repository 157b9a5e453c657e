//! Energy of the shape of hexahedra that stays finite when they are inverted.
//!
//! With $J$ of a corner against the brick that the hexahedron should be, $d = \det J$ and
//! $\chi = (d + \sqrt{\varepsilon^2 + d^2})/2$, a corner has
//! $(1 - t) \operatorname{tr} J^T J / \chi^{2/3} + t (1 + d^2) / \chi$, scaled to 1 for that brick
//! [Garanzha2021].

use pulp::Arch;

/// Share t of the volume's part.
const VOLUME: f64 = 0.1;
/// Energy of a brick of the right size, before scaling.
const BRICK: f64 = 3.0 * (1.0 - VOLUME) + 2.0 * VOLUME;
/// Least value of chi.
const LEAST: f64 = 1e-30;

/// Neighbors of each corner of a hexahedron, right-handed, by their place among three.
const NEIGHBORS: [[usize; 8]; 3] =
    [[1, 2, 3, 0, 7, 4, 5, 6], [3, 0, 1, 2, 5, 6, 7, 4], [4, 5, 6, 7, 0, 1, 2, 3]];
/// Axis of the edge to each neighbor.
const AXES: [[usize; 8]; 3] =
    [[0, 1, 0, 1, 1, 0, 1, 0], [1, 0, 1, 0, 0, 1, 0, 1], [2, 2, 2, 2, 2, 2, 2, 2]];

/// A value at each corner.
type Corners = [f64; 8];

/// Parameters of the energy.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Form {
    /// Regularization; with 0 inverted elements have no finite energy.
    pub epsilon: f64,
    /// Power of the energy of each corner.
    pub power: i32,
}

/// Energy of a hexahedron, its derivatives and the least determinant.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Value {
    /// Sum over the corners.
    pub energy: f64,
    /// Derivatives by the coordinates, `[3][8]`.
    pub gradient: [Corners; 3],
    /// Least determinant at a corner.
    pub least: f64,
}

/// Computes the energies of hexahedra into `values`: `nodes(e)` gives coordinates `[3][8]` and the
/// reciprocals of the lengths that the edges along each axis should have.
pub(crate) fn evaluate(
    arch: Arch,
    form: Form,
    values: &mut [Value],
    nodes: impl Fn(usize) -> ([Corners; 3], [f64; 3]),
) {
    arch.dispatch(|| {
        for (e, value) in values.iter_mut().enumerate() {
            let (x, scales) = nodes(e);
            *value = hexahedron(form, &x, scales);
        }
    });
}

/// The loops run over the eight corners at once.
#[inline(always)]
fn hexahedron(form: Form, x: &[Corners; 3], scales: [f64; 3]) -> Value {
    let scale: [Corners; 3] = std::array::from_fn(|n| AXES[n].map(|axis| scales[axis]));
    let edge = |n: usize, i: usize| -> Corners {
        std::array::from_fn(|a| (x[i][NEIGHBORS[n][a]] - x[i][a]) * scale[n][a])
    };
    let j: [[Corners; 3]; 3] = std::array::from_fn(|n| std::array::from_fn(|i| edge(n, i)));
    // Derivatives of the determinant: cofactors.
    let cofactor = |n: usize, i: usize| -> Corners {
        let (u, v) = (&j[(n + 1) % 3], &j[(n + 2) % 3]);
        let (k, l) = ((i + 1) % 3, (i + 2) % 3);
        std::array::from_fn(|a| u[k][a] * v[l][a] - u[l][a] * v[k][a])
    };
    let c: [[Corners; 3]; 3] = std::array::from_fn(|n| std::array::from_fn(|i| cofactor(n, i)));
    let d: Corners = std::array::from_fn(|a| {
        j[0][0][a] * c[0][0][a] + j[0][1][a] * c[0][1][a] + j[0][2][a] * c[0][2][a]
    });
    let squares: Corners = std::array::from_fn(|a| {
        let square =
            |n: usize| j[n][0][a] * j[n][0][a] + j[n][1][a] * j[n][1][a] + j[n][2][a] * j[n][2][a];
        square(0) + square(1) + square(2)
    });

    let (mut by_square, mut by_determinant, mut energies) = ([0.0; 8], [0.0; 8], [0.0; 8]);
    for a in 0..8 {
        let (d, eps2) = (d[a], form.epsilon * form.epsilon);
        let root = (eps2 + d * d).sqrt();
        // Without cancellation for either sign.
        let chi = if d > 0.0 { 0.5 * (d + root) } else { 0.5 * eps2 / (root - d) };
        let chi = if chi > LEAST { chi } else { LEAST };
        let slope = if root > 0.0 { chi / root } else { 0.0 };
        let cube = inverse_cube_root(chi);
        let (cube2, inverse) = (cube * cube, cube * cube * cube);
        let f = ((1.0 - VOLUME) * squares[a] * cube2 + VOLUME * (1.0 + d * d) * inverse) / BRICK;
        let by_chi = (1.0 - VOLUME) * (-2.0 / 3.0) * squares[a] * cube2 * inverse
            - VOLUME * (1.0 + d * d) * inverse * inverse;
        let outer = power(f, form.power - 1);
        energies[a] = outer * f;
        let outer = outer * f64::from(form.power) / BRICK;
        by_square[a] = outer * 2.0 * (1.0 - VOLUME) * cube2;
        by_determinant[a] = outer * (by_chi * slope + VOLUME * 2.0 * d * inverse);
    }

    let mut gradient = [[0.0; 8]; 3];
    for n in 0..3 {
        for i in 0..3 {
            let g: Corners = std::array::from_fn(|a| {
                (by_square[a] * j[n][i][a] + by_determinant[a] * c[n][i][a]) * scale[n][a]
            });
            for a in 0..8 {
                gradient[i][a] -= g[a];
            }
            for a in 0..8 {
                gradient[i][NEIGHBORS[n][a]] += g[a];
            }
        }
    }
    let energy = energies.iter().sum();
    let least = d.iter().copied().fold(f64::INFINITY, f64::min);
    Value { energy, gradient, least }
}

/// f to a power that is not negative.
#[inline(always)]
fn power(f: f64, n: i32) -> f64 {
    let (mut result, mut square, mut rest) = (1.0, f, n);
    while rest > 0 {
        if rest & 1 == 1 {
            result *= square;
        }
        square *= square;
        rest >>= 1;
    }
    result
}

/// x^(-1/3) for x > 0: a third of the exponent, then Newton's steps, all of which vectorize.
#[inline(always)]
fn inverse_cube_root(x: f64) -> f64 {
    // Bits of 1 as a single, 127 * 2^23, times 4/3.
    const SHIFT: f32 = 1_420_470_954.0;
    let bits = SHIFT - (x as f32).to_bits() as i32 as f32 / 3.0;
    let mut y = f64::from(f32::from_bits(bits as i32 as u32));
    for _ in 0..5 {
        y *= (4.0 - x * y * y * y) / 3.0;
    }
    y
}

#[cfg(test)]
mod tests {
    use topopt_mesh::hexahedron::NODES;

    use super::*;

    fn distorted(amplitude: f64) -> [Corners; 3] {
        let wave = |i: usize, a: usize| ((7 * a + 3 * i) as f64 * 1.7).sin();
        std::array::from_fn(|i| std::array::from_fn(|a| NODES[a][i] + amplitude * wave(i, a)))
    }

    #[test]
    fn a_brick_of_its_size_has_one_at_each_corner() {
        let form = Form { epsilon: 0.0, power: 3 };
        let value = hexahedron(form, &distorted(0.0), [0.5; 3]);
        assert!((value.energy - 8.0).abs() < 1e-13 && (value.least - 1.0).abs() < 1e-15);
        assert!(value.gradient.iter().flatten().all(|g| g.abs() < 1e-13));
    }

    #[test]
    fn the_gradient_agrees_with_finite_differences_also_where_inverted() {
        for (amplitude, power) in [(0.3, 1), (0.3, 6), (1.5, 1), (1.5, 3)] {
            let form = Form { epsilon: 0.4, power };
            let scales = [0.5, 0.7, 0.4];
            let x = distorted(amplitude);
            let value = hexahedron(form, &x, scales);
            for i in 0..3 {
                for a in 0..8 {
                    let at = |step: f64| {
                        let mut x = x;
                        x[i][a] += step;
                        hexahedron(form, &x, scales).energy
                    };
                    let difference = (at(1e-6) - at(-1e-6)) / 2e-6;
                    let error = (difference - value.gradient[i][a]).abs();
                    assert!(error < 1e-6 * (difference.abs() + value.energy), "{i} {a} {error}");
                }
            }
        }
    }

    #[test]
    fn inverse_cube_roots_are_exact_over_the_range() {
        for exponent in -30..30 {
            let x = 1.7 * 10.0_f64.powi(exponent);
            assert!((inverse_cube_root(x) * x.cbrt() - 1.0).abs() < 1e-14, "{x}");
        }
    }
}
