//! The earliest arrival at a corner of a tetrahedron from its opposite face.
//!
//! Within a tetrahedron the speed is constant, and on the opposite face the times of arrival are
//! taken as linear. The arrival at the corner is the minimum of lambda . phi + |x(lambda)| over the
//! points x(lambda) of that face, which is a convex function; the corner is the origin, and lengths
//! are times of travel. Where the minimum lies outside of the face, it lies on one of its edges or
//! corners. With this exact minimum obtuse tetrahedra need no splitting [BornemannRasch2006].
//!
//! At a minimum inside of the face mu = lambda . phi + r has the multiplier's place:
//! g lambda / r = mu - phi with the products g of the edges from the corner, and so
//! (mu - phi) . g^-1 (mu - phi) = 1, a quadratic for mu, and lambda ~ g^-1 (mu - phi) >= 0.

//!
//! All functions give the arrival from the minima that need the first vertex of the face; infinity
//! if no minimum needs it. The minima of the other vertices alone are those of other calls, which
//! take them first. `values` are the times at the vertices.

/// Arrival from the edge of two vertices of the face; products 00, 11, 01 of the edges to them.
#[inline]
pub(crate) fn through_edge(values: [f64; 2], [g00, g11, g01]: [f64; 3]) -> f64 {
    let delta = values[1] - values[0];
    let (s0, s1) = (g11 - g01, g00 - g01);
    let square = s0 + s1;
    let discriminant = (g00 * g11 - g01 * g01) * (square - delta * delta);
    if discriminant.is_nan() || discriminant <= 0.0 || square <= 0.0 {
        // So steep that only one of the two counts, or the triangle is flat.
        return if delta >= 0.0 { values[0] + g00.sqrt() } else { f64::INFINITY };
    }

    let later = (s1 * delta + discriminant.sqrt()) / square;
    if later * s1 < g00 * delta {
        values[0] + g00.sqrt()
    } else if later * s0 < -g01 * delta {
        f64::INFINITY
    } else {
        values[0] + later
    }
}

/// Arrival from the whole face; products 00, 11, 22, 12, 02, 01 of the edges to its vertices.
#[inline]
pub(crate) fn through_face(values: [f64; 3], products: [f64; 6]) -> f64 {
    let [g00, g11, g22, g12, g02, g01] = products;
    let [d1, d2] = [values[1] - values[0], values[2] - values[0]];

    // The adjugate of g, and its products with (1, 1, 1) and the differences of the values.
    let (c00, c11, c22) = (g11 * g22 - g12 * g12, g00 * g22 - g02 * g02, g00 * g11 - g01 * g01);
    let (c12, c02, c01) = (g02 * g01 - g00 * g12, g01 * g12 - g02 * g11, g12 * g02 - g01 * g22);
    let determinant = g00 * c00 + g01 * c01 + g02 * c02;
    let (s0, s1, s2) = (c00 + c01 + c02, c01 + c11 + c12, c02 + c12 + c22);
    let (y0, y1, y2) = (c01 * d1 + c02 * d2, c11 * d1 + c12 * d2, c12 * d1 + c22 * d2);

    let on_edge1 = || through_edge([values[0], values[1]], [g00, g11, g01]);
    let on_edge2 = || through_edge([values[0], values[2]], [g00, g22, g02]);
    let (square, linear) = (s0 + s1 + s2, y0 + y1 + y2);
    let discriminant = linear * linear - square * (d1 * y1 + d2 * y2 - determinant);
    if discriminant.is_nan() || discriminant < 0.0 || square <= 0.0 {
        return on_edge1().min(on_edge2());
    }

    // The minimum lies inside, or on an edge where lambda would be negative.
    let later = (linear + discriminant.sqrt()) / square;
    match [later * s0 >= y0, later * s1 >= y1, later * s2 >= y2] {
        [true, true, true] => values[0] + later,
        [false, true, true] => f64::INFINITY,
        [_, true, false] => on_edge1(),
        [_, false, true] => on_edge2(),
        [_, false, false] => on_edge1().min(on_edge2()),
    }
}

#[cfg(test)]
mod tests {
    use topopt_mesh::vector::{dot, length};
    use topopt_testing::Noise;

    use super::*;

    /// The earliest arrival at the origin from the edges to three vertices and their values: the
    /// least of those that need each of them.
    fn earliest(edges: [[f64; 3]; 3], values: [f64; 3]) -> f64 {
        let [first, second, third] = [[0, 1, 2], [1, 2, 0], [2, 0, 1]].map(|[a, b, c]| {
            let products = [[a, a], [b, b], [c, c], [b, c], [a, c], [a, b]];
            let products = products.map(|[a, b]: [usize; 2]| dot(edges[a], edges[b]));
            through_face([values[a], values[b], values[c]], products)
        });
        first.min(second).min(third)
    }

    /// The least of many points of the face.
    fn sampled(edges: [[f64; 3]; 3], values: [f64; 3]) -> f64 {
        const N: usize = 100;
        let mut least = f64::INFINITY;
        for i in 0..=N {
            for j in 0..=N - i {
                let lambda = [i, j, N - i - j].map(|k| k as f64 / N as f64);
                let at = [0, 1, 2].map(|d| (0..3).map(|a| lambda[a] * edges[a][d]).sum());
                least = least.min((0..3).map(|a| lambda[a] * values[a]).sum::<f64>() + length(at));
            }
        }
        least
    }

    #[test]
    fn the_arrival_is_the_least_of_all_points_of_the_face() {
        let mut noise = Noise(1);
        let (mut inside, mut obtuse) = (0, 0);
        for _ in 0..500 {
            let edges = [0, 1, 2].map(|_| [0, 1, 2].map(|_| noise.number()));
            let values = [0, 1, 2].map(|_| 0.7 * noise.number());
            let (found, expected) = (earliest(edges, values), sampled(edges, values));
            // The distance is nowhere more curved than near to the origin.
            assert!(found <= expected + 1e-12, "{found} after {expected}");
            assert!(found > expected - 0.01, "{found} before {expected}");

            let of_corners = (0..3).map(|a| values[a] + length(edges[a])).fold(f64::MAX, f64::min);
            inside += u32::from(found < of_corners - 1e-12);
            obtuse += u32::from(dot(edges[0], edges[1]) < 0.0);
        }
        assert!(inside > 200 && obtuse > 200, "{inside} inside of edges or faces, {obtuse} obtuse");
    }

    #[test]
    fn a_plane_wave_is_exact_and_one_that_comes_from_outside_is_not_taken() {
        let edges = [[-1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]];
        let direction = [2.0 / 3.0, 2.0 / 3.0, 1.0 / 3.0];
        let values = edges.map(|edge| 5.0 + dot(direction, edge));
        assert!((earliest(edges, values) - 5.0).abs() < 1e-15);

        // From below: along the edge between the other two.
        let direction = [0.8, 0.6, 0.0];
        let values = edges.map(|edge| dot(direction, edge));
        let product = |a: usize, b: usize| dot(edges[a], edges[b]);
        let products = [product(0, 0), product(1, 1), product(0, 1)];
        assert!(through_edge([values[0], values[1]], products).abs() < 1e-15);
        // The later vertex alone adds nothing to the other one.
        assert_eq!(through_edge([9.0, 0.0], products), f64::INFINITY);
        assert_eq!(through_edge([0.0, 9.0], products), 1.0);
    }
}
