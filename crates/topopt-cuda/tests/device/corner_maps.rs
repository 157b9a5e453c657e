//! Maps between elements and corners on the device, against those of the CPU.

use topopt_cuda::{Cuda, DeviceCorners, MeshOnDevice};
use topopt_fem::{Components, CornerMaps, CpuCorners};
use topopt_linalg::{Backend, Space};
use topopt_mesh::Renumbering;
use topopt_mesh::cells::Shape;
use topopt_testing::{
    Noise, assert_close, distorted_cube, distorted_tetrahedra, hexagon, mixed_cut, wheel,
};

use crate::device;

#[test]
fn corner_maps_are_those_of_the_cpu() {
    let Some(device) = device() else { return };
    let backend = Cuda::<f64>::new(&device).unwrap();
    for mesh in [
        distorted_cube(1, 0.2, true),
        distorted_cube(6, 0.2, true),
        hexagon(4),
        wheel(4),
        mixed_cut(),
        distorted_tetrahedra(4, 0.2, true),
    ] {
        let (renumbering, colors) = Renumbering::shuffled(&mesh, 2).by_color(&mesh);
        let colored = renumbering.apply(&mesh);
        for (mesh, colors) in [(&mesh, None), (&colored, Some(&colors[..]))] {
            let there = match colors {
                Some(colors) => MeshOnDevice::by_color(&device, mesh, colors),
                None => MeshOnDevice::new(&device, mesh),
            };
            let (maps, cpu) = (DeviceCorners::new(&there.unwrap()).unwrap(), CpuCorners::new(mesh));
            let spaces = [Space::elements(mesh.n_elements()), Space::nodes(mesh.n_nodes(), 1)];
            let (x, y) = (Noise(1).vector(spaces[0].len()), Noise(2).vector(spaces[1].len()));
            let upload = |values: &[f64], space| backend.upload(values, space).unwrap();
            let [elements, nodes] = spaces;
            let (there_x, there_y) = (upload(&x, elements), upload(&y, nodes));
            let unset = |space: Space| upload(&vec![f64::NAN; space.len()], space);

            // Volumes are those of the CPU up to a factor.
            let factor = if mesh.shape() == Shape::Tetrahedron { 1.0 } else { 512.0 };
            let (mut found, mut expected) = (unset(nodes), y.clone());
            maps.sum(&there_x, &mut found);
            cpu.sum(&x, &mut expected);
            let found = backend.download(&found).unwrap();
            assert_close(&found, &scaled(&expected, factor), 1e-13, "sum");

            let (mut found, mut expected) = (unset(elements), x.clone());
            maps.sum_transpose(&there_y, &mut found);
            cpu.sum_transpose(&y, &mut expected);
            let found = backend.download(&found).unwrap();
            assert_close(&found, &scaled(&expected, factor), 1e-13, "transposed sum");

            let mut found: Components<_> = [(); 3].map(|()| unset(elements));
            let mut expected = [(); 3].map(|()| x.clone());
            maps.gradient(&there_y, &mut found);
            cpu.gradient(&y, &mut expected);
            for (found, expected) in found.iter().zip(&expected) {
                assert_close(&backend.download(found).unwrap(), expected, 1e-12, "gradient");
            }

            let (mut of_found, mut of_expected) = (unset(nodes), y.clone());
            maps.gradient_transpose(&mut found, &mut of_found);
            cpu.gradient_transpose(&mut expected, &mut of_expected);
            let of_found = backend.download(&of_found).unwrap();
            assert_close(&of_found, &of_expected, 1e-12, "transposed gradient");
        }
    }
}

fn scaled(values: &[f64], factor: f64) -> Vec<f64> {
    values.iter().map(|value| factor * value).collect()
}
