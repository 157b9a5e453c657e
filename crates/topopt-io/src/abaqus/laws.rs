//! *ELASTIC of materials with a direction.

use crate::deck::DeckConstants;

/// Types of *ELASTIC with their numbers of constants, after which a temperature may stand.
pub(super) const N_CONSTANTS: [(&str, usize); 6] = [
    ("ENGINEERINGCONSTANTS", 9),
    ("ENGINEERING", 9),
    ("ORTHO", 9),
    ("ORTHOTROPIC", 9),
    ("ANISO", 21),
    ("ANISOTROPIC", 21),
];

/// Places in the matrix of the constants of ORTHO, with components as 11, 22, 33, 12, 23, 13.
const ORTHO: [(usize, usize); 9] =
    [(0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2), (3, 3), (5, 5), (4, 4)];

/// Components in the order of ANISO, whose constants are the columns of the upper triangle.
const ANISO: [usize; 6] = [0, 1, 2, 3, 5, 4];

/// Returns the constants of a type from its `values`; none if there are too few or too many.
pub(super) fn constants(kind: &str, values: &[f64]) -> Option<DeckConstants> {
    let (_, n) = N_CONSTANTS.into_iter().find(|(name, _)| *name == kind)?;
    let (values, rest) = values.split_at_checked(n)?;
    if rest.len() > 1 {
        return None;
    }
    if kind.starts_with("ENGINEERING") {
        let three = |at: usize| [values[at], values[at + 1], values[at + 2]];
        return Some(DeckConstants::Engineering {
            youngs_moduli: three(0),
            poissons_ratios: three(3),
            shear_moduli: three(6),
        });
    }

    let of_triangle = || (0..6).flat_map(|j| (0..=j).map(move |i| (ANISO[i], ANISO[j])));
    let places: Vec<_> = if n == 9 { ORTHO.to_vec() } else { of_triangle().collect() };
    let mut matrix = [[0.0; 6]; 6];
    for ((i, j), value) in places.into_iter().zip(values) {
        (matrix[i][j], matrix[j][i]) = (*value, *value);
    }
    Some(DeckConstants::Matrix(matrix))
}
