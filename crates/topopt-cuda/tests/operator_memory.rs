//! Bytes that operators store, against those counted before anything was allocated.

use std::sync::Arc;

use topopt_cuda::operators::{ProblemOnDevice, Strategy};
use topopt_cuda::{
    BlockJacobi, Cuda, Device, MatrixFreeEquation, MeshOnDevice, Mf, Multigrid, Prepared, Probe,
    TetrahedraMultigrid, probe,
};
use topopt_fem::{
    Constraints, Diffusion, Discretization, Elasticity, Helmholtz, LoadCase, Material, Problem,
    Supports, filter_coefficients,
};
use topopt_linalg::CycleKind;
use topopt_mesh::Renumbering;
use topopt_mesh::generate::{Benchmark, Resolution};
use topopt_testing::{distorted_tetrahedra, kuhn};

/// Heat on a device, and its matrix-free operator.
type HeatOnDevice = ProblemOnDevice<Diffusion, 1>;
type Conduction = Mf<f64, Diffusion, 1>;

/// A GPU that counts its memory to the byte and that nobody else uses: the emulated one.
fn emulated() -> Option<Arc<Device>> {
    let found = matches!(probe(), Probe::Found { .. });
    let device = found.then(|| Device::open(0).unwrap());
    device.filter(|device| device.name().starts_with("Emulated"))
}

#[test]
fn stored_bytes_are_those_counted() {
    let Some(device) = emulated() else {
        println!("skipped: no emulated CUDA device");
        return;
    };
    check_hexahedra(&device);
    check_tetrahedra(&device);
}

/// Checks that the bytes counted are enough, and that at least a share of them is used.
fn check(what: &str, used: usize, counted: usize, share: f64) {
    let rounding = 256 * 8; // of up to eight arrays
    assert!(used <= counted + rounding, "{what}: {used} bytes for {counted}");
    assert!(used as f64 >= share * counted as f64, "{what}: {used} bytes for {counted}");
}

fn check_hexahedra(device: &Arc<Device>) {
    let beam = Benchmark::Cantilever.generate(Resolution::Elements(4000)).unwrap();
    let (n_nodes, n_elements) = (beam.n_nodes(), beam.n_elements());
    let mut supports = Supports::none(n_nodes);
    beam.hexes()[0].iter().for_each(|&node| (0..3).for_each(|i| supports.fix(node as usize, i)));
    let load = LoadCase::new("default", vec![1.0; 3 * n_nodes]);
    let material = Material::new(1.0, 0.3).unwrap();
    let problem = Problem::new(beam, material, supports, vec![load]).unwrap();

    let before = device.memory().unwrap().0;
    let used = || before - device.memory().unwrap().0;
    let mesh = ProblemOnDevice::new(device, &problem).unwrap();
    let of_mesh = used();
    check("mesh", of_mesh, <ProblemOnDevice>::bytes(problem.mesh()), 1.0);
    for strategy in Strategy::ALL {
        let operator = strategy.build(&mesh, &problem).unwrap();
        // The rows of `bsr` are shorter at the surface of the beam.
        let share = if strategy == Strategy::Bsr { 0.75 } else { 1.0 };
        let counted = strategy.bytes::<Elasticity, 3>(&problem);
        check(operator.strategy(), used() - of_mesh, counted, share);
    }
    let constraints = Constraints::none(n_nodes);
    let diffusion = Discretization::new(problem.mesh().clone(), Diffusion::default(), constraints);
    let of_problem = HeatOnDevice::bytes(problem.mesh()) - MeshOnDevice::bytes(problem.mesh());
    let on = HeatOnDevice::on(mesh.mesh(), &diffusion).unwrap();
    let operator = Conduction::new(&on, &diffusion).unwrap();
    let counted = of_problem + Conduction::bytes(n_elements);
    check("diffusion", used() - of_mesh, counted, 1.0);
    drop(operator);
    let orthotropic = diffusion.clone().with_stretches(vec![[2.0, 1.0, 0.5]; n_elements]);
    let operator = Conduction::new(&on, &orthotropic).unwrap();
    let counted = counted + Conduction::further_bytes(&orthotropic);
    check("orthotropic diffusion", used() - of_mesh, counted, 1.0);
    drop(operator);
    let (double, single) = (Cuda::new(device).unwrap(), Cuda::new(device).unwrap());
    let of_backends = used();
    let prepared = Prepared::new(&diffusion);
    let scalar = Multigrid::new(&single, &on, &diffusion, CycleKind::K, &prepared).unwrap();
    let counted = Multigrid::<f32, Diffusion, 1>::bytes(n_nodes, n_elements, false);
    // The dense inverse is much smaller than it might be.
    check("scalar multigrid", used() - of_backends, counted, 0.2);
    drop(scalar);
    let on = mesh.mesh();
    let equation = MatrixFreeEquation::new(
        (&double, &single),
        on,
        problem.mesh(),
        &filter_coefficients(problem.mesh(), 3.0),
    )
    .unwrap();
    let filter = Helmholtz::solving(&double, equation).unwrap();
    let nodal = 8 * n_nodes * Helmholtz::<Cuda<f64>, MatrixFreeEquation>::NODAL_VECTORS;
    let counted = MatrixFreeEquation::bytes(n_nodes, n_elements, false) + nodal;
    check("helmholtz", used() - of_backends, counted, 0.25);
    drop(filter);
    let blocks = BlockJacobi::new(&mesh).unwrap();
    check("block-jacobi", used() - of_backends, 16 * 3 * n_nodes, 1.0);
    drop(blocks);
    let multigrid =
        Multigrid::new(&single, &mesh, &problem, CycleKind::K, &Prepared::new(&problem)).unwrap();
    let counted = <Multigrid<f32>>::bytes(n_nodes, n_elements, false);
    // The dense inverse is much smaller than it might be, and rows at the surface are shorter.
    check("multigrid", used() - of_backends, counted, 0.25);
    drop(multigrid);
}

fn check_tetrahedra(device: &Arc<Device>) {
    let before = device.memory().unwrap().0;
    let used = || before - device.memory().unwrap().0;
    let cube = distorted_tetrahedra(10, 0.2, true);
    let cube = Renumbering::on_import(&cube).apply(&cube);
    let strip = kuhn([40, 8, 1], |[x, y, z]| [5.0 * x, y, 0.1 * z], false);
    for mesh in [cube, strip] {
        let mut supports = Supports::none(mesh.n_nodes());
        let held = mesh.tetrahedra()[0];
        held.iter().for_each(|&node| (0..3).for_each(|i| supports.fix(node as usize, i)));
        let load = LoadCase::new("default", vec![1.0; 3 * mesh.n_nodes()]);
        let material = Material::new(1.0, 0.3).unwrap();
        let problem = Problem::new(mesh, material, supports, vec![load]).unwrap();
        let mesh = ProblemOnDevice::new(device, &problem).unwrap();
        let of_mesh = used();
        check("tetrahedra", of_mesh, <ProblemOnDevice>::bytes(problem.mesh()), 0.6);
        let single = Cuda::<f32>::new(device).unwrap();
        let of_backends = used();
        let multigrid = TetrahedraMultigrid::new(&single, &mesh, &problem, CycleKind::K).unwrap();
        let counted = TetrahedraMultigrid::<f32>::bytes(problem.mesh());
        // The dense inverse is smaller than it might be.
        check("multigrid of tetrahedra", used() - of_backends, counted, 0.35);
        drop(multigrid);
    }
}
