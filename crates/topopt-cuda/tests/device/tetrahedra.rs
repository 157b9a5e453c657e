//! Tetrahedra of ten nodes on the device against the reference on the CPU.

use std::ops::ControlFlow;
use std::sync::Arc;

use topopt_cuda::operators::{Mf, ProblemOnDevice, Strategy};
use topopt_cuda::{BlockJacobi, Cuda, Device, DeviceVector, Real};
use topopt_fem::operators::Reference;
use topopt_fem::{
    Discretization, ElementOperator, ElementPreconditioner, Jacobi, Problem, Supports,
};
use topopt_linalg::{
    Backend, Cpu, LinearOperator, Pcg, PcgOptions, PcgOutcome, Preconditioner, Space, System,
};
use topopt_mesh::{HexMesh, Renumbering};
use topopt_testing::{Noise, assert_close, distorted_tetrahedra, kuhn};

use crate::device;
use crate::operators::{assert_parts, moduli, problem};

/// The unit cube with edges that bend where x is large.
fn partly_curved() -> HexMesh {
    let bulge = |[x, y, z]: [f64; 3]| [x, y, z + 0.3 * (x - 0.5_f64).max(0.0).powi(2)];
    kuhn([5, 3, 4], bulge, true)
}

/// Straight, curved, and curved among straight ones.
fn meshes() -> [(&'static str, HexMesh); 4] {
    let bent = |[x, y, z]: [f64; 3]| [x, y + 0.1 * x * x, z + 0.2 * x * y];
    let meshes = [
        ("one cube", kuhn([1; 3], |x| x, false)),
        ("straight", distorted_tetrahedra(5, 0.3, true)),
        ("curved", kuhn([3, 4, 2], bent, true)),
        ("partly curved", partly_curved()),
    ];
    meshes.map(|(name, mesh)| (name, Renumbering::on_import(&mesh).apply(&mesh)))
}

/// The `mesh` by color, and the numbers of elements of the colors.
fn by_color(mesh: &HexMesh) -> (Problem, Vec<usize>) {
    let (renumbering, colors) = Renumbering::shuffled(mesh, 2).by_color(mesh);
    (problem(renumbering.apply(mesh)), colors)
}

fn assert_all(device: &Arc<Device>, there: &Arc<ProblemOnDevice>, problem: &Problem, what: &str) {
    let mut double = Mf::<f64>::new(there, problem).unwrap();
    let mut single = Mf::<f32>::new(there, problem).unwrap();
    assert_parts(&mut double, (device, problem), 1e-14, what);
    assert_parts(&mut single, (device, problem), 2e-6, &format!("{what}, single"));
}

#[test]
fn the_matrix_free_operator_is_the_reference() {
    let Some(device) = device() else { return };
    for (name, mesh) in meshes() {
        let (colored, colors) = by_color(&mesh);
        let there = ProblemOnDevice::by_color(&device, &colored, &colors).unwrap();
        assert_all(&device, &there, &colored, &format!("{name} by color"));

        // In random order few elements fit a cluster; where there are few, they do in any.
        let shuffled = problem(Renumbering::shuffled(&mesh, 3).apply(&mesh));
        let there = ProblemOnDevice::new(&device, &shuffled).unwrap();
        assert!(!there.is_in_clusters() || name == "one cube", "{name}");
        assert_all(&device, &there, &shuffled, &format!("{name} in random order"));

        let problem = problem(mesh);
        let there = ProblemOnDevice::new(&device, &problem).unwrap();
        assert!(there.is_in_clusters(), "{name}");
        assert_all(&device, &there, &problem, name);
        assert_work::<f64>(&there, &problem, 1e-13);
        assert_work::<f32>(&there, &problem, 1e-5);
    }
}

/// Compares the work of two fields with the reference.
fn assert_work<R: Real>(there: &Arc<ProblemOnDevice>, problem: &Problem, tolerance: f64) {
    let backend = Cuda::<R>::new(there.device()).unwrap();
    let n = problem.mesh().n_elements();
    let [v, u] = [11, 12].map(|seed| Noise(seed).vector(problem.n_dofs()));
    let mut expected = vec![0.0; n];
    Reference::new(problem).element_work(0, &v, &u, &mut expected);

    let operator = Mf::<R>::new(there, problem).unwrap();
    let [v, u] = [v, u].map(|field| backend.upload(&field, problem.space()).unwrap());
    let mut found = backend.zeros(Space::elements(n)).unwrap();
    operator.element_work(0, &v, &u, &mut found);
    assert_close(&backend.download(&found).unwrap(), &expected, tolerance, "work of two fields");
}

/// Values at held components do not reach free ones, and what is held comes back.
#[test]
fn held_components_are_those_of_the_identity() {
    let Some(device) = device() else { return };
    let backend = Cuda::<f64>::new(&device).unwrap();
    let problem = problem(partly_curved());
    let there = ProblemOnDevice::new(&device, &problem).unwrap();
    let n = problem.mesh().n_elements();
    let u = Noise(11).vector(problem.n_dofs());
    let mut reference = Reference::new(&problem);
    let mut operator = Mf::<f64>::new(&there, &problem).unwrap();
    reference.set_coefficients(&[&moduli(n)]);
    operator.set_coefficients(&[&backend.upload(&moduli(n), Space::elements(n)).unwrap()]);

    let (mut expected, mut found) = (vec![0.0; u.len()], backend.zeros(problem.space()).unwrap());
    reference.apply(&u, &mut expected);
    operator.apply(&backend.upload(&u, problem.space()).unwrap(), &mut found);
    let found = backend.download(&found).unwrap();
    let held = |dof: &usize| problem.supports().is_fixed(dof / 3, dof % 3);
    assert!((0..u.len()).filter(held).all(|dof| found[dof] == u[dof]));
    assert_close(&found, &expected, 1e-13, "product");
}

#[test]
fn patch_test() {
    let Some(device) = device() else { return };
    let backend = Cuda::<f64>::new(&device).unwrap();
    let bent =
        |[x, y, z]: [f64; 3]| [x, y, z + 0.4 * x * (1.0 - x) * y * (1.0 - y) * z * (1.0 - z)];
    for mesh in [distorted_tetrahedra(4, 0.3, false), kuhn([4; 3], bent, true)] {
        let problem = problem(mesh);
        let (mesh, space) = (problem.mesh(), problem.space());
        let supports = Supports::none(mesh.n_nodes());
        let free = Discretization::new(mesh.clone(), *problem.kernel(), supports);
        let there = ProblemOnDevice::new(&device, &free).unwrap();
        let mut operator = Mf::<f64>::new(&there, &free).unwrap();
        let n = mesh.n_elements();
        operator.set_coefficients(&[&backend.upload(&vec![1.0; n], Space::elements(n)).unwrap()]);

        let row = [[0.3, -0.2, 0.5], [0.1, 0.7, -0.4], [-0.6, 0.2, 0.9]];
        let field = |x: &[f64; 3]| row.map(|a| a[0] * x[0] + a[1] * x[1] + a[2] * x[2] + 0.1);
        let u: Vec<f64> = mesh.coordinates().iter().flat_map(field).collect();
        let mut f = backend.zeros(space).unwrap();
        operator.apply(&backend.upload(&u, space).unwrap(), &mut f);

        let f = backend.download(&f).unwrap();
        let largest = f.iter().fold(0.0_f64, |most, f| most.max(f.abs()));
        let is_inside = |x: &[f64; 3]| x.iter().all(|x| (0.05..0.95).contains(x));
        let inside = |dof: &usize| is_inside(&mesh.coordinates()[dof / 3]);
        let left = (0..f.len()).filter(inside).fold(0.0_f64, |most, dof| most.max(f[dof].abs()));
        assert!(left < 1e-12 * largest, "{left:.1e} of {largest:.1e}");
    }
}

#[test]
fn elements_by_color_give_the_same_bits_again() {
    let Some(device) = device() else { return };
    let backend = Cuda::<f64>::new(&device).unwrap();
    let (problem, colors) = by_color(&partly_curved());
    let there = ProblemOnDevice::by_color(&device, &problem, &colors).unwrap();
    let n = problem.mesh().n_elements();
    let moduli = backend.upload(&moduli(n), Space::elements(n)).unwrap();
    let u = backend.upload(&Noise(11).vector(problem.n_dofs()), problem.space()).unwrap();
    let bits = || {
        let mut operator = Strategy::Mf.build(&there, &problem).unwrap();
        operator.set_coefficients(&[&moduli]);
        let [mut product, mut diagonal] = [(); 2].map(|()| backend.zeros(problem.space()).unwrap());
        operator.apply(&u, &mut product);
        operator.diagonal(&mut diagonal);
        [product, diagonal].map(|values| backend.download(&values).unwrap())
    };
    assert_eq!(bits(), bits());
}

#[test]
fn strategies_for_hexahedra_refuse_tetrahedra() {
    let Some(device) = device() else { return };
    let problem = problem(kuhn([1; 3], |x| x, false));
    let there = ProblemOnDevice::new(&device, &problem).unwrap();
    for strategy in Strategy::ALL.into_iter().filter(|strategy| *strategy != Strategy::Mf) {
        let error = strategy.build(&there, &problem).err().unwrap().to_string();
        assert!(error.contains("does not compute; use `mf`"), "{error}");
    }
}

/// Far from the origin coordinates lose nothing but their own rounding.
#[test]
fn single_precision_is_as_exact_far_from_the_origin() {
    let Some(device) = device() else { return };
    let place = |shift: f64| {
        move |x: [f64; 3]| x.map(|v| (v * 2f64.powi(20)).round() / 2f64.powi(20) + shift)
    };
    let mesh = |shift: f64| kuhn([4; 3], place(shift), false);
    let (here, far) = (problem(mesh(0.0)), mesh(8192.0));
    let far =
        Problem::new(far, *here.material(), here.supports().clone(), here.load_cases().to_vec());
    let there = ProblemOnDevice::new(&device, &far.unwrap()).unwrap();
    assert_all(&device, &there, &here, "far from the origin");
}

/// Solves with the nodal forces 1, to a residual of 1e-10.
fn solve<B: Backend>(
    backend: &B,
    problem: &Problem,
    a: &dyn LinearOperator<B>,
    m: &dyn Preconditioner<B>,
) -> (Vec<f64>, PcgOutcome) {
    let mut f = vec![1.0; problem.n_dofs()];
    problem.supports().clear(&mut f);
    let f = backend.upload(&f, problem.space()).unwrap();
    let mut u = backend.zeros(problem.space()).unwrap();
    let mut pcg = Pcg::new(backend, problem.space()).unwrap();
    let system = System { backend, a, m, f: &f };
    let options = PcgOptions { tolerance: 1e-10, max_iterations: 5000 };
    let result = pcg.solve(&system, &mut u, options, &mut |_| ControlFlow::Continue(())).unwrap();
    (backend.download(&u).unwrap(), result)
}

/// Both preconditioners take as many iterations as on the CPU, to the same displacements.
#[test]
fn solves_are_those_of_the_cpu() {
    let Some(device) = device() else { return };
    let backend = Cuda::<f64>::new(&device).unwrap();
    let problem = problem(Renumbering::on_import(&partly_curved()).apply(&partly_curved()));
    let there = ProblemOnDevice::new(&device, &problem).unwrap();
    let moduli = moduli(problem.mesh().n_elements());
    let on_device: DeviceVector<f64> =
        backend.upload(&moduli, Space::elements(moduli.len())).unwrap();
    let mut a = Mf::<f64>::new(&there, &problem).unwrap();
    let mut of_cpu = topopt_fem::Strategy::Mf.build(&problem);
    a.set_coefficients(&[&on_device]);
    of_cpu.set_coefficients(&[&moduli]);

    let on_gpu: [Box<dyn ElementPreconditioner<Cuda<f64>>>; 2] = [
        Box::new(Jacobi::new(&backend, problem.space()).unwrap()),
        Box::new(BlockJacobi::new(&there).unwrap()),
    ];
    let on_cpu: [Box<dyn ElementPreconditioner<Cpu>>; 2] = [
        Box::new(Jacobi::new(&Cpu, problem.space()).unwrap()),
        Box::new(topopt_fem::BlockJacobi::new(&problem)),
    ];
    for (mut here, mut there) in on_cpu.into_iter().zip(on_gpu) {
        here.update(&Cpu, of_cpu.as_ref(), &[&moduli]).unwrap();
        there.update(&backend, &a, &[&on_device]).unwrap();
        let (expected, on_cpu) = solve(&Cpu, &problem, of_cpu.as_ref(), here.as_ref());
        let (found, on_gpu) = solve(&backend, &problem, &a, there.as_ref());
        // The residual is looked at every few iterations.
        let later = there.check_interval(&backend) + 1;
        let more = on_gpu.iterations.saturating_sub(on_cpu.iterations);
        assert!(
            more <= later && on_gpu.iterations + 1 >= on_cpu.iterations,
            "{on_cpu:?} {on_gpu:?}"
        );
        assert_close(&found, &expected, 1e-8, "displacements");
    }
}
