//! Strain tensors as lists of six numbers.

use crate::DIM;

/// A symmetric strain tensor as (xx, yy, zz, xy, yz, zx), with the shear angles du_i/dx_j +
/// du_j/dx_i.
pub type Strain = [f64; 6];

/// Rows and columns of the shear angles.
const SHEAR: [(usize, usize); 3] = [(0, 1), (1, 2), (2, 0)];

/// A tensor, `[row][column]`.
pub type Tensor = [[f64; DIM]; DIM];

/// A strain tensor as [`Strain`].
pub fn listed(strain: &Tensor) -> Strain {
    let [xy, yz, zx] = SHEAR.map(|(i, j)| strain[i][j] + strain[j][i]);
    [strain[0][0], strain[1][1], strain[2][2], xy, yz, zx]
}
