//! Conductivities along x, y and z: conduction in elements that are stretched.
//!
//! With $k = (k_x k_y k_z)^{1/3}$ and $x_i^\prime = s_i x_i$, $s_i = (k / k_i)^{1/2}$,
//!
//! $$\int \sum_i k_i \partial_i N_a \partial_i N_b = k \int^\prime \nabla^\prime N_a \cdot \nabla^\prime N_b:$$
//!
//! k_i s_i^2 = k, and as s_x s_y s_z = 1 volumes stay, and capacities with them. It is the
//! auxiliary solid of \[Stokes1851\], of every element its own.

use crate::DIM;

/// The geometric mean of conductivities along x, y and z: the coefficient of the conduction.
pub fn mean_conductivity(along: [f64; DIM]) -> f64 {
    // What is the same along all axes keeps its bits.
    if along == [along[0]; DIM] { along[0] } else { along.map(f64::cbrt).iter().product() }
}

/// The factors of the coordinates of an element with conductivities `along` x, y and z, in any unit.
pub fn stretch(along: [f64; DIM]) -> [f64; DIM] {
    let mean = mean_conductivity(along);
    along.map(|k| (mean / k).sqrt())
}

/// The conductivities along x, y and z of an element with that mean and those factors.
pub fn conductivities_along(mean: f64, stretch: [f64; DIM]) -> [f64; DIM] {
    stretch.map(|factor| mean / (factor * factor))
}
