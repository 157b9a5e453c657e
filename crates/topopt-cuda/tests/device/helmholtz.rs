//! The Helmholtz filter on the device, against that of the CPU.

use topopt_cuda::{Cuda, Device, MatrixFreeEquation, MeshOnDevice};
use topopt_fem::{Averaging, AveragingError, Helmholtz, filter_coefficients};
use topopt_linalg::{Backend, Cpu, Space, StopReason};
use topopt_mesh::{HexMesh, Renumbering};
use topopt_testing::{
    Noise, assert_close, distorted_cube, distorted_tetrahedra, hexagon, mapped_cube, wheel,
};

use crate::device;

/// One element, distorted ones, elements of uneven size, irregular valence and wedges.
fn meshes() -> [HexMesh; 6] {
    [
        distorted_cube(1, 0.2, true),
        distorted_cube(6, 0.25, true),
        mapped_cube(10, |x| x.map(|v| v * (0.2 + 0.8 * v * v))),
        hexagon(4),
        wheel(4),
        distorted_tetrahedra(4, 0.2, true),
    ]
}

/// Both precisions of one device.
struct Backends {
    device: std::sync::Arc<Device>,
    double: Cuda<f64>,
    single: Cuda<f32>,
}

impl Backends {
    fn new() -> Option<Self> {
        let device = device()?;
        let (double, single) = (Cuda::new(&device).unwrap(), Cuda::new(&device).unwrap());
        Some(Self { device, double, single })
    }

    /// The filter of `mesh`, whose elements come by color where there are `colors`.
    fn filter(
        &self,
        mesh: &HexMesh,
        colors: Option<&[usize]>,
        radius: f64,
    ) -> Helmholtz<'_, Cuda<f64>, MatrixFreeEquation<'_>> {
        let Self { device, double, single } = self;
        let coefficients = filter_coefficients(mesh, radius);
        let mesh = &mesh.linear().unwrap_or_else(|| mesh.clone());
        let there = match colors {
            Some(colors) => MeshOnDevice::by_color(device, mesh, colors),
            None => MeshOnDevice::new(device, mesh),
        };
        let backends = (double, single);
        let equation =
            MatrixFreeEquation::new(backends, &there.unwrap(), mesh, &coefficients).unwrap();
        Helmholtz::solving(double, equation).unwrap()
    }
}

/// H x, downloaded.
fn apply<B: Backend>(
    backend: &B,
    filter: &dyn Averaging<B>,
    x: &[f64],
) -> Result<Vec<f64>, AveragingError> {
    let space = Space::elements(x.len());
    assert_eq!(filter.space(), space);
    let mut y = backend.upload(&vec![f64::NAN; x.len()], space)?;
    filter.apply(&backend.upload(x, space)?, &mut y)?;
    Ok(backend.download(&y)?)
}

fn assert_filters(backends: &Backends, mesh: &HexMesh, colors: Option<&[usize]>, radius: f64) {
    let there = backends.filter(mesh, colors, radius);
    let here = Helmholtz::new(mesh, radius).unwrap();
    let n = mesh.n_elements();
    let what = format!("{n} elements, radius {radius}");

    let [x, z] = [1, 2].map(|seed| Noise(seed).vector(n));
    let [y, w] = [&x, &z].map(|x| apply(&backends.double, &there, x).unwrap());
    assert_close(&y, &apply(&Cpu, &here, &x).unwrap(), 1e-9, &what);
    assert_close(&w, &apply(&Cpu, &here, &z).unwrap(), 1e-9, &what);
    // The transpose of H is H.
    assert!((Cpu.dot(&y, &z) - Cpu.dot(&x, &w)).abs() < 1e-9 * Cpu.dot(&x, &y), "{what}");

    let ones = apply(&backends.double, &there, &mesh.volumes()).unwrap();
    assert_close(&ones, &vec![1.0; n], 1e-10, &what);
}

/// With a radius below the width of an element, where nothing conducts, and with larger ones.
#[test]
fn it_filters_as_on_the_cpu() {
    let Some(backends) = Backends::new() else { return };
    for mesh in meshes() {
        for radius in [0.02, 0.6] {
            assert_filters(&backends, &mesh, None, radius);
        }
    }
}

#[test]
fn it_filters_by_color_as_on_the_cpu() {
    let Some(backends) = Backends::new() else { return };
    for mesh in [distorted_cube(6, 0.25, true), hexagon(4), wheel(4)] {
        let (renumbering, colors) = Renumbering::shuffled(&mesh, 2).by_color(&mesh);
        assert_filters(&backends, &renumbering.apply(&mesh), Some(&colors), 0.6);
    }
}

#[test]
fn what_is_not_solved_is_an_error() {
    let Some(backends) = Backends::new() else { return };
    let mesh = distorted_cube(4, 0.2, true);
    let filter = backends.filter(&mesh, None, 0.6);
    let mut x = mesh.volumes();
    x[5] = f64::NAN;
    let error = apply(&backends.double, &filter, &x).unwrap_err();
    let AveragingError::NotSolved(outcome) = &error else { panic!("{error}") };
    assert_eq!(outcome.reason, StopReason::NotFinite);
    x[5] = 1.0;
    apply(&backends.double, &filter, &x).unwrap(); // as if nothing had been
}
