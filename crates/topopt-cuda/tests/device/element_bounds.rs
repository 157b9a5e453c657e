//! Bounds of the eigenvalues of elements on the device against those of the CPU.

use topopt_cuda::{Cuda, MeshOnDevice, element_bounds};
use topopt_fem::{Elasticity, ElementKernel, Formulation, Material};
use topopt_linalg::Backend;
use topopt_testing::{distorted_cube, hexagon, mapped_cube, mixed_cut, wheel};

use crate::device;

#[test]
fn they_are_those_of_the_cpu() {
    let Some(device) = device() else { return };
    let backend = Cuda::<f64>::new(&device).unwrap();
    let needles = mapped_cube(3, |[x, y, z]| [900.0 * x + 2.0 * z, 0.4 * y + 1e4, z * (1.0 + x)]);
    // Hexahedra, wedges and pyramids.
    for mesh in [distorted_cube(5, 0.3, true), hexagon(2), wheel(3), mixed_cut(), needles] {
        let on_device = MeshOnDevice::new(&device, &mesh).unwrap();
        for (ratio, formulation) in [0.0, 0.3, 0.49].into_iter().flat_map(|ratio| {
            [Formulation::Full, Formulation::Incompatible].map(|formulation| (ratio, formulation))
        }) {
            let kernel = Elasticity::new(&Material::new(7.0, ratio).unwrap()).with(formulation);
            let found = element_bounds(&on_device, &kernel).unwrap();
            let found = backend.download(&found).unwrap();
            let expected = kernel.bounds(&(&mesh).into());
            assert_eq!(found.len(), expected.len());
            for (e, (found, expected)) in found.iter().zip(expected).enumerate() {
                let share = found / f64::from(expected);
                let what = format!("element {e}, ratio {ratio}, {formulation:?}");
                assert!((share - 1.0).abs() < 1e-6, "{what}: {share}");
            }
        }
    }
}
