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

/// From the edge between two vertices of the face; products 00, 11, 01 of the edges to them.
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

/// From the whole face; products 00, 11, 22, 12, 02, 01 of the edges to its vertices.
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
