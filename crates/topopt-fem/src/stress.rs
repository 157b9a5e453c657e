//! Stresses in hexahedra from nodal displacements.

use nalgebra::Matrix3;
use rayon::prelude::*;

use crate::strain::strain_at;
use crate::{Elasticity, ElementKernel, Elements, ThermalStrains};

/// A symmetric stress tensor (force per area) as (xx, yy, zz, xy, yz, zx).
pub type Stress = [f64; 6];

/// Reference coordinates of the center of an element, where the stress is more accurate by an order
/// than elsewhere on a smooth mesh, and free of the parasitic shear of bent elements.
pub const CENTER: [f64; 3] = [0.0; 3];

/// A deformed part.
#[derive(Debug, Clone, Copy)]
pub struct Deformed<'a> {
    /// Displacements, `[n_nodes][3]` (length).
    pub u: &'a [f64],
    /// Strains by changes of temperature, which leave no stress.
    pub thermal: Option<&'a ThermalStrains>,
}

impl<'a> From<&'a [f64]> for Deformed<'a> {
    fn from(u: &'a [f64]) -> Self {
        Self { u, thermal: None }
    }
}

impl<'a> From<&'a Vec<f64>> for Deformed<'a> {
    fn from(u: &'a Vec<f64>) -> Self {
        u.as_slice().into()
    }
}

/// The stress D(E_e) (B(xi) u_e - a T) of every element at the reference coordinates `xi`, for
/// instance [`CENTER`] or one of [`topopt_mesh::hexahedron::gauss_points`]: `[n_elements][6]`.
///
/// `moduli`: Young's moduli E_e, `[n_elements]` (force per area).
pub fn stresses<'a>(
    kernel: &Elasticity,
    elements: impl Into<Elements<'a>>,
    moduli: &[f64],
    deformed: impl Into<Deformed<'a>>,
    xi: [f64; 3],
) -> Vec<Stress> {
    let (elements, deformed) = (elements.into(), deformed.into());
    let of_element = |e: usize| stress_at(kernel, elements, moduli[e], deformed, e, xi);
    (0..elements.n_elements()).into_par_iter().map(of_element).collect()
}

/// The stress of one `element` of Young's modulus `modulus`; all else as in [`stresses`].
pub fn stress_at<'a>(
    kernel: &Elasticity,
    elements: impl Into<Elements<'a>>,
    modulus: f64,
    deformed: impl Into<Deformed<'a>>,
    element: usize,
    xi: [f64; 3],
) -> Stress {
    let (elements, Deformed { u, thermal }) = (elements.into(), deformed.into());
    let (mesh, kernel) = (elements.mesh(), kernel.of_element(&elements, element));
    let mut stress = kernel.stress(&strain_at(&kernel, mesh, u, element, xi));
    if let Some(strains) = thermal {
        let free = kernel.thermal_stress(strains, mesh, element, xi);
        stress = std::array::from_fn(|i| stress[i] - free[i]);
    }
    stress.map(|stress| modulus * stress)
}

/// The equivalent stress of von Mises, sqrt(3/2 s : s) with the deviator s: what a uniaxial stress
/// would have to be to distort the material as much.
pub fn von_mises(&[xx, yy, zz, xy, yz, zx]: &Stress) -> f64 {
    let normal = (xx - yy).powi(2) + (yy - zz).powi(2) + (zz - xx).powi(2);
    (0.5 * normal + 3.0 * (xy * xy + yz * yz + zx * zx)).sqrt()
}

/// The principal stresses, the largest first.
pub fn principal(&[xx, yy, zz, xy, yz, zx]: &Stress) -> [f64; 3] {
    let tensor = Matrix3::new(xx, xy, zx, xy, yy, yz, zx, yz, zz);
    let mut all: [f64; 3] = tensor.symmetric_eigenvalues().into();
    all.sort_by(|a, b| b.total_cmp(a));
    all
}
