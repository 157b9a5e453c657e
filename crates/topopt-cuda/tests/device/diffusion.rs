//! Diffusion on the device, one unknown per node: every part against the reference on the CPU, by
//! name, and the equation of the Helmholtz filter.

use std::ops::ControlFlow;
use std::sync::Arc;

use topopt_cuda::{
    Cuda, Device, DeviceKernel, DeviceVector, MeshOnDevice, Mf, ProblemOnDevice, Real, ShapeMeans,
};
use topopt_fem::operators::Reference;
use topopt_fem::orthotropy::stretch;
use topopt_fem::{
    Constraints, Coupling, Diffusion, Discretization, ElementMeans, ElementOperator,
    ElementPreconditioner, Formulation, Jacobi, LoadCase, Material, Problem, Strategy, Supports,
    WithSprings, surface_load,
};
use topopt_linalg::{
    Backend, Cpu, LinearOperator, Pcg, PcgOptions, Pointwise, Space, StopReason, System,
};
use topopt_mesh::surface::boundary_faces;
use topopt_mesh::{HexMesh, Renumbering};
use topopt_testing::{Noise, assert_close, distorted_cube, hexagon, mixed_cut, wheel};

use crate::device;

/// A problem, and the number of elements of each color where they come by color.
struct Subject {
    name: String,
    problem: Discretization<Diffusion, 1>,
    colors: Option<Vec<usize>>,
}

/// One distorted element, a distorted box, a mesh of irregular valence and wedges; each as it comes
/// and by color, by both formulations. The lowest nodes are held, every seventh, and the last.
fn subjects() -> Vec<Subject> {
    let meshes = [
        ("one element", distorted_cube(1, 0.2, true)),
        ("distorted box", distorted_cube(6, 0.25, true)),
        ("irregular valence", hexagon(4)),
        ("wedges", wheel(4)),
        ("pyramids", mixed_cut()),
    ];
    let plain = |(name, mesh): &(&str, HexMesh)| Subject {
        name: name.to_string(),
        problem: problem(mesh.clone()),
        colors: None,
    };
    let isotropic = meshes.iter().flat_map(|of| [plain(of), by_color(of.0, &of.1)]);
    let full = isotropic.flat_map(|subject| [orthotropic(&subject), subject]);
    full.flat_map(|subject| [by_modes(&subject), subject]).collect()
}

/// Returns `subject` by modes of the gradient.
fn by_modes(subject: &Subject) -> Subject {
    let of = &subject.problem;
    let kernel = Diffusion::by(Formulation::Incompatible);
    let problem = Discretization::new(of.mesh().clone(), kernel, of.constraints().clone());
    let stretches = of.elements().stretches().map(<[_]>::to_vec);
    Subject {
        name: format!("{} by modes", subject.name),
        problem: match stretches {
            Some(stretches) => problem.with_stretches(stretches),
            None => problem,
        },
        colors: subject.colors.clone(),
    }
}

/// Returns `subject` with conductivities along x, y and z in ratios of up to 10.
fn orthotropic(subject: &Subject) -> Subject {
    let along = Noise(8).vector(3 * subject.problem.mesh().n_elements());
    let along = along.as_chunks().0.iter().map(|along| along.map(|v| 10f64.powf(0.5 * v)));
    Subject {
        name: format!("{}, orthotropic", subject.name),
        problem: subject.problem.clone().with_stretches(along.map(stretch).collect()),
        colors: subject.colors.clone(),
    }
}

fn by_color(name: &str, mesh: &HexMesh) -> Subject {
    let (renumbering, colors) = Renumbering::shuffled(mesh, 2).by_color(mesh);
    let problem = problem(renumbering.apply(mesh));
    Subject { name: format!("{name} by color"), problem, colors: Some(colors) }
}

fn problem(mesh: HexMesh) -> Discretization<Diffusion, 1> {
    let n = mesh.n_nodes();
    let mut constraints = Constraints::none(n);
    let is_held = |node: usize, x: &[f64; 3]| x[2] < 0.1 || node.is_multiple_of(7) || node == n - 1;
    for (node, x) in mesh.coordinates().iter().enumerate() {
        if is_held(node, x) {
            constraints.fix(node, 0);
        }
    }
    Discretization::new(mesh, Diffusion::default(), constraints)
}

impl Subject {
    fn there(&self, device: &Arc<Device>) -> Arc<ProblemOnDevice<Diffusion, 1>> {
        let there = match &self.colors {
            Some(colors) => ProblemOnDevice::by_color(device, &self.problem, colors),
            None => ProblemOnDevice::new(device, &self.problem),
        };
        there.unwrap()
    }

    fn on<R: Real>(&self, device: &Arc<Device>) -> Mf<R, Diffusion, 1> {
        Mf::new(&self.there(device), &self.problem).unwrap()
    }
}

/// Conductivities and capacities over a contrast of 1e-6, each in an order of its own, of a size at
/// which both terms count.
fn coefficients(n: usize) -> [Vec<f64>; 2] {
    let conductivities: Vec<f64> =
        Noise(3).vector(n).iter().map(|v| 10f64.powf(3.0 * (v - 1.0))).collect();
    let capacities = conductivities.iter().rev().map(|c| 50.0 * c).collect();
    [conductivities, capacities]
}

#[test]
fn every_part_equals_the_reference_in_double_precision() {
    let Some(device) = device() else { return };
    for subject in &subjects() {
        let mesh = subject.there(&device);
        for &strategy in Diffusion::STRATEGIES {
            let mut operator = strategy.build(&mesh, &subject.problem).unwrap();
            assert_eq!(operator.strategy(), strategy.name());
            assert_parts(&device, subject, operator.as_mut(), 1e-13);
        }
    }
}

#[test]
fn every_part_equals_the_reference_in_single_precision() {
    let Some(device) = device() else { return };
    for subject in &subjects() {
        let (mesh, problem) = (subject.there(&device), &subject.problem);
        let mut with_slots = Mf::with_slots(&mesh, problem).unwrap();
        assert_parts::<f32>(&device, subject, &mut subject.on(&device), 1e-6);
        assert_parts::<f32>(&device, subject, &mut with_slots, 1e-6);
    }
}

/// Compares all that the operator computes with the reference.
fn assert_parts<R: Real>(
    device: &Arc<Device>,
    subject: &Subject,
    operator: &mut dyn ElementOperator<Cuda<R>>,
    tolerance: f64,
) {
    let Subject { problem, .. } = subject;
    let name = format!("{}, {}", subject.name, operator.strategy());
    let backend = Cuda::<R>::new(device).unwrap();
    let (n, nodes) = (problem.mesh().n_elements(), problem.space());
    let elements = Space::elements(n);
    let mut reference = Reference::new(problem);
    // Twice: nothing of the first coefficients may stay.
    let threes = backend.upload(&vec![3.0; n], elements).unwrap();
    operator.set_coefficients(&[&threes, &threes]);
    let [k, c] = coefficients(n);
    let on_device = [&k, &c].map(|term| backend.upload(term, elements).unwrap());
    operator.set_coefficients(&[&on_device[0], &on_device[1]]);
    reference.set_coefficients(&[&k, &c]);
    assert_eq!(operator.space(), nodes);

    let compare = |found: &DeviceVector<R>, expected: &Vec<f64>, part: &str| {
        let found = backend.download(found).unwrap();
        let what = format!("{part} of {} on {name}", R::NAME);
        assert_close(&found, expected, tolerance, &what);
        // Held nodes are exact.
        for node in (0..found.len()).filter(|_| expected.len() == problem.n_dofs()) {
            let exact = R::from_f64(expected[node]).to_f64();
            assert!(!problem.constraints().is_held(node) || found[node] == exact, "{what}");
        }
    };
    // Values at held nodes, which the product must not let into free ones.
    let [v, u] = [11, 12].map(|seed| Noise(seed).vector(nodes.len()));
    let [v_there, u_there] = [&v, &u].map(|field| backend.upload(field, nodes).unwrap());
    let mut found = backend.upload(&vec![f64::NAN; nodes.len()], nodes).unwrap();
    let mut expected = vec![f64::NAN; nodes.len()];
    operator.apply(&u_there, &mut found);
    reference.apply(&u, &mut expected);
    compare(&found, &expected, "product");
    operator.diagonal(&mut found);
    reference.diagonal(&mut expected);
    compare(&found, &expected, "diagonal");

    let mut free = u.clone();
    problem.constraints().clear(&mut free);
    let free_there = backend.upload(&free, nodes).unwrap();
    let mut dot = backend.scalar();
    operator.apply_to_direction(&backend, &free_there, &mut found, &mut dot);
    reference.apply(&free, &mut expected);
    compare(&found, &expected, "product with its dot");
    let work: f64 = free.iter().zip(&expected).map(|(u, f)| u * f).sum();
    let error = (backend.value(&dot).unwrap() - work).abs();
    assert!(error <= tolerance * work, "dot of {} on {name}: {error:.1e}", R::NAME);

    for (term, part) in
        [(Diffusion::CONDUCTION, "conduction work"), (Diffusion::CAPACITY, "capacity work")]
    {
        let mut found = backend.upload(&vec![f64::NAN; n], elements).unwrap();
        let mut expected = vec![f64::NAN; n];
        operator.element_work(term, &v_there, &u_there, &mut found);
        reference.element_work(term, &v, &u, &mut expected);
        compare(&found, &expected, part);
    }
}

#[test]
fn by_color_it_gives_the_same_bits_again() {
    let Some(device) = device() else { return };
    let backend = Cuda::<f64>::new(&device).unwrap();
    let subject = by_modes(&by_color("distorted box", &distorted_cube(20, 0.25, true)));
    let mesh = subject.there(&device);
    let (n, nodes) = (subject.problem.mesh().n_elements(), subject.problem.space());
    let [k, c] = coefficients(n).map(|term| backend.upload(&term, Space::elements(n)).unwrap());
    let u = backend.upload(&Noise(11).vector(nodes.len()), nodes).unwrap();
    let bits = |strategy: topopt_cuda::Strategy| {
        let mut operator = strategy.build(&mesh, &subject.problem).unwrap();
        operator.set_coefficients(&[&k, &c]);
        let [mut product, mut diagonal] = [(); 2].map(|()| backend.zeros(nodes).unwrap());
        operator.apply(&u, &mut product);
        operator.diagonal(&mut diagonal);
        [product, diagonal].map(|values| backend.download(&values).unwrap())
    };
    for &strategy in Diffusion::STRATEGIES {
        assert_eq!(bits(strategy), bits(strategy), "{}", strategy.name());
    }
}

/// On any mesh, where `mf` adds in no order.
#[test]
fn with_slots_it_gives_the_same_bits_again() {
    let Some(device) = device() else { return };
    let backend = Cuda::<f64>::new(&device).unwrap();
    let problem = problem(distorted_cube(20, 0.25, true));
    let (n, nodes) = (problem.mesh().n_elements(), problem.space());
    let [k, c] = coefficients(n).map(|term| backend.upload(&term, Space::elements(n)).unwrap());
    let u = backend.upload(&Noise(11).vector(nodes.len()), nodes).unwrap();
    let mesh = ProblemOnDevice::new(&device, &problem).unwrap();
    let mut operator = topopt_cuda::Strategy::Dbd.build(&mesh, &problem).unwrap();
    operator.set_coefficients(&[&k, &c]);
    let product = || {
        let mut product = backend.zeros(nodes).unwrap();
        operator.apply(&u, &mut product);
        backend.download(&product).unwrap()
    };
    assert_eq!(product(), product());
}

/// Elasticity and diffusion on one copy of the mesh give what each gives on its own.
#[test]
fn a_mesh_is_shared_by_two_physics() {
    let Some(device) = device() else { return };
    let backend = Cuda::<f64>::new(&device).unwrap();
    let diffusion = problem(distorted_cube(4, 0.2, true));
    let (mesh, n) = (diffusion.mesh().clone(), diffusion.mesh().n_nodes());
    let mut supports = Supports::none(n);
    (0..9).for_each(|k| supports.fix(k / 3, k % 3));
    let load = LoadCase::new("default", vec![1.0; 3 * n]);
    let material = Material::new(1.0, 0.3).unwrap();
    let elastic = Problem::new(mesh, material, supports, vec![load]).unwrap();
    let ones = vec![1.0; elastic.mesh().n_elements()];
    let ones_there = backend.upload(&ones, Space::elements(ones.len())).unwrap();

    let shared = MeshOnDevice::new(&device, elastic.mesh()).unwrap();
    let on_device = ProblemOnDevice::on(&shared, &elastic).unwrap();
    let heated = ProblemOnDevice::on(&shared, &diffusion).unwrap();
    assert!(Arc::ptr_eq(on_device.mesh(), &shared));
    let mut of_diffusion = Mf::<f64, _, _>::new(&heated, &diffusion).unwrap();
    of_diffusion.set_coefficients(&[&ones_there, &ones_there]);
    let mut of_elasticity = topopt_cuda::Strategy::Mf.build(&on_device, &elastic).unwrap();
    of_elasticity.set_coefficients(&[&ones_there]);
    let operators: [&dyn LinearOperator<Cuda<f64>>; 2] = [&of_diffusion, of_elasticity.as_ref()];
    let (mut scalar, mut vector) = (Reference::new(&diffusion), Reference::new(&elastic));
    scalar.set_coefficients(&[&ones, &ones]);
    vector.set_coefficients(&[&ones]);
    let references: [&dyn LinearOperator<Cpu>; 2] = [&scalar, &vector];
    for (operator, reference) in operators.into_iter().zip(references) {
        let x = Noise(5).vector(reference.dimension());
        let mut y = backend.zeros(operator.space()).unwrap();
        operator.apply(&backend.upload(&x, operator.space()).unwrap(), &mut y);
        let mut expected = vec![0.0; x.len()];
        reference.apply(&x, &mut expected);
        assert_close(&backend.download(&y).unwrap(), &expected, 1e-13, "on a shared mesh");
    }
}

/// Solves A n = T^T x, the equation of the Helmholtz filter, on any backend; returns n, and T n:
/// what the capacity of an element stores of a field is its integral.
fn filtered<B: Pointwise>(
    backend: &B,
    [a, sources]: [&mut dyn ElementOperator<B>; 2],
    [k, x]: [&[f64]; 2],
) -> [Vec<f64>; 2] {
    let (nodes, elements) = (a.space(), Space::elements(x.len()));
    let upload = |values: &[f64], space| backend.upload(values, space).unwrap();
    let (k, x) = (upload(k, elements), upload(x, elements));
    let zeros = backend.zeros(elements).unwrap();
    let ones = upload(&vec![1.0; elements.len()], elements);
    a.set_coefficients(&[&k, &ones]);
    sources.set_coefficients(&[&zeros, &x]);

    let everywhere = upload(&vec![1.0; nodes.len()], nodes);
    let [mut f, mut n] = [(); 2].map(|()| backend.zeros(nodes).unwrap());
    sources.apply(&everywhere, &mut f);
    let mut m = Jacobi::new(backend, nodes).unwrap();
    m.update(backend, a, &[&k, &ones]).unwrap();
    let system = System { backend, a, m: &m, f: &f };
    let options = PcgOptions { tolerance: 1e-12, max_iterations: 1000 };
    let mut pcg = Pcg::new(backend, nodes).unwrap();
    let outcome = pcg.solve(&system, &mut n, options, &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(outcome.reason, StopReason::Converged);

    let mut y = backend.zeros(elements).unwrap();
    a.element_work(Diffusion::CAPACITY, &everywhere, &n, &mut y);
    [n, y].map(|values| backend.download(&values).unwrap())
}

#[test]
fn the_equation_of_the_helmholtz_filter_is_solved_as_on_the_cpu() {
    let Some(device) = device() else { return };
    let backend = Cuda::<f64>::new(&device).unwrap();
    for mesh in [distorted_cube(8, 0.2, true), hexagon(4), wheel(4)] {
        let constraints = Constraints::none(mesh.n_nodes());
        let problem = Discretization::new(mesh, Diffusion::default(), constraints);
        let n = problem.mesh().n_elements();
        let k: Vec<f64> = Noise(7).vector(n).iter().map(|v| 0.01 * (2.0 + v)).collect();
        let x = Noise(8).vector(n);

        let on_device = ProblemOnDevice::new(&device, &problem).unwrap();
        let [mut a, mut sources] =
            [(); 2].map(|()| Mf::<f64, _, _>::new(&on_device, &problem).unwrap());
        let found = filtered(&backend, [&mut a, &mut sources], [&k, &x]);
        let [mut a, mut sources] = [(); 2].map(|()| Strategy::Mf.build(&problem));
        let expected = filtered(&Cpu, [a.as_mut(), sources.as_mut()], [&k, &x]);
        for (found, expected) in found.iter().zip(&expected) {
            assert_close(found, expected, 1e-10, "filter");
        }
    }
}

/// Against the capacity of the reference: T^T V^-1 x is what x / v stores of a uniform field, and T
/// n what an element stores of n.
#[test]
fn shape_means_are_those_of_the_reference() {
    let Some(device) = device() else { return };
    let backend = Cuda::<f64>::new(&device).unwrap();
    for subject in subjects() {
        let (mesh, name) = (subject.problem.mesh(), &subject.name);
        let free = Constraints::none(mesh.n_nodes());
        let free = Discretization::new(mesh.clone(), Diffusion::default(), free);
        let (nodes, elements) = (free.space(), Space::elements(mesh.n_elements()));
        let means = ShapeMeans::new(subject.there(&device).mesh()).unwrap();
        let (x, field) = (Noise(1).vector(elements.len()), Noise(2).vector(nodes.len()));

        let volumes = mesh.volumes();
        let densities: Vec<f64> = x.iter().zip(&volumes).map(|(x, v)| x / v).collect();
        let mut reference = Reference::new(&free);
        reference.set_coefficients(&[&vec![0.0; elements.len()], &densities]);
        let (ones, mut expected) = (vec![1.0; nodes.len()], vec![0.0; nodes.len()]);
        reference.apply(&ones, &mut expected);

        let mut source = backend.upload(&vec![f64::NAN; nodes.len()], nodes).unwrap();
        means.spread(&backend.upload(&x, elements).unwrap(), &mut source);
        assert_close(&backend.download(&source).unwrap(), &expected, 1e-13, name);

        let mut expected = vec![0.0; elements.len()];
        reference.element_work(Diffusion::CAPACITY, &ones, &field, &mut expected);
        expected.iter_mut().zip(&volumes).for_each(|(y, v)| *y /= v);
        let mut y = backend.upload(&vec![f64::NAN; elements.len()], elements).unwrap();
        means.average(&backend.upload(&field, nodes).unwrap(), &mut y);
        assert_close(&backend.download(&y).unwrap(), &expected, 1e-13, name);
    }
}

/// A film, which is springs on free nodes, is added on the device as on the CPU.
#[test]
fn springs_are_added() {
    let Some(device) = device() else { return };
    let backend = Cuda::<f64>::new(&device).unwrap();
    let plain = problem(distorted_cube(4, 0.2, true));
    let mut constraints = plain.constraints().clone();
    (0..plain.n_dofs()).step_by(3).for_each(|node| constraints.add_spring(node, 0, 0.5));
    let problem = Discretization::new(plain.mesh().clone(), Diffusion::default(), constraints);
    let n = problem.mesh().n_elements();
    let ones = backend.upload(&vec![1.0; n], Space::elements(n)).unwrap();
    let mesh = ProblemOnDevice::new(&device, &problem).unwrap();
    let operator = Mf::<f64, _, _>::new(&mesh, &problem).unwrap();
    let mut operator = WithSprings::new(&backend, &problem, Box::new(operator)).unwrap();
    operator.set_coefficients(&[&ones, &ones]);
    let reference = Box::new(Reference::new(&problem));
    let mut reference = WithSprings::new(&Cpu, &problem, reference).unwrap();
    reference.set_coefficients(&[&vec![1.0; n], &vec![1.0; n]]);

    let u = Noise(4).vector(problem.n_dofs());
    let (mut found, mut expected) = (backend.zeros(problem.space()).unwrap(), vec![0.0; u.len()]);
    operator.apply(&backend.upload(&u, problem.space()).unwrap(), &mut found);
    reference.apply(&u, &mut expected);
    assert_close(&backend.download(&found).unwrap(), &expected, 1e-13, "product with springs");
    operator.diagonal(&mut found);
    reference.diagonal(&mut expected);
    assert_close(&backend.download(&found).unwrap(), &expected, 1e-13, "diagonal with springs");
}

/// Returns `problem` with a film on the boundary, which couples held nodes as well.
pub fn with_film(problem: &Discretization<Diffusion, 1>) -> Discretization<Diffusion, 1> {
    let (mesh, mut held) = (problem.mesh(), problem.constraints().clone());
    let faces = boundary_faces(mesh);
    for (node, area) in surface_load::areas(mesh, &faces) {
        held.add_spring(node as usize, 0, 2.0 * area);
    }
    let films = surface_load::couplings(mesh, &faces).into_iter();
    let films = films.map(|(nodes, area)| Coupling { nodes, weight: 2.0 * area });
    problem.with_constraints(held.with_films(films.collect()))
}

/// Films and a consistent capacity enter every product on the device, as on the CPU, and the scalar
/// product of conjugate gradients.
#[test]
fn films_and_a_consistent_capacity_are_in_every_product() {
    let Some(device) = device() else { return };
    let backend = Cuda::<f64>::new(&device).unwrap();
    for subject in subjects() {
        let problem = with_film(&subject.problem).with_capacity(true);
        let subject = Subject { problem, ..subject };
        let (problem, mesh) = (&subject.problem, subject.there(&device));
        let [k, c] = coefficients(problem.mesh().n_elements());
        let mut host = Strategy::Mf.build(problem);
        host.set_coefficients(&[&k, &c]);
        let mut u = Noise(4).vector(problem.n_dofs());
        let mut expected = vec![f64::NAN; u.len()];
        host.apply(&u, &mut expected);

        let elements = Space::elements(k.len());
        let [on_device, capacities] = [&k, &c].map(|v| backend.upload(v, elements).unwrap());
        for &strategy in Diffusion::STRATEGIES {
            let what = format!("{}, {}", strategy.name(), subject.name);
            let mut operator = strategy.build(&mesh, problem).unwrap();
            operator.set_coefficients(&[&on_device, &capacities]);
            let mut found = backend.zeros(problem.space()).unwrap();
            operator.apply(&backend.upload(&u, problem.space()).unwrap(), &mut found);
            assert_close(&backend.download(&found).unwrap(), &expected, 1e-12, &what);
        }

        // A direction is 0 at held nodes.
        problem.constraints().clear(&mut u);
        host.apply(&u, &mut expected);
        let direction = backend.upload(&u, problem.space()).unwrap();
        let mut operator = subject.on::<f64>(&device);
        operator.set_coefficients(&[&on_device, &capacities]);
        let (mut product, mut dot) = (backend.zeros(problem.space()).unwrap(), backend.scalar());
        operator.apply_to_direction(&backend, &direction, &mut product, &mut dot);
        let expected: f64 = u.iter().zip(&expected).map(|(u, y)| u * y).sum();
        let found = backend.value(&dot).unwrap();
        assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");

        let v = Noise(8).vector(problem.n_dofs());
        let mut expected = vec![f64::NAN; k.len()];
        host.element_work(Diffusion::CAPACITY, &v, &u, &mut expected);
        let mut works = backend.zeros(elements).unwrap();
        let v = backend.upload(&v, problem.space()).unwrap();
        operator.element_work(Diffusion::CAPACITY, &v, &direction, &mut works);
        assert_close(&backend.download(&works).unwrap(), &expected, 1e-12, &subject.name);
    }
}

/// Cycles in single precision multiply with it, too.
#[test]
fn a_consistent_capacity_is_in_products_of_single_precision() {
    let Some(device) = device() else { return };
    let backend = Cuda::<f32>::new(&device).unwrap();
    for subject in subjects() {
        let problem = subject.problem.clone().with_capacity(true);
        let subject = Subject { problem, ..subject };
        let problem = &subject.problem;
        let [k, c] = coefficients(problem.mesh().n_elements());
        let mut host = Strategy::Mf.build(problem);
        host.set_coefficients(&[&k, &c]);
        let u = Noise(4).vector(problem.n_dofs());
        let mut product = vec![f64::NAN; u.len()];
        host.apply(&u, &mut product);
        let mut work = vec![f64::NAN; k.len()];
        host.element_work(Diffusion::CAPACITY, &u, &u, &mut work);

        let elements = Space::elements(k.len());
        let [on_device, capacities] = [&k, &c].map(|v| backend.upload(v, elements).unwrap());
        let mut operator = subject.on::<f32>(&device);
        operator.set_coefficients(&[&on_device, &capacities]);
        let u = backend.upload(&u, problem.space()).unwrap();
        let mut found = backend.zeros(problem.space()).unwrap();
        operator.apply(&u, &mut found);
        assert_close(&backend.download(&found).unwrap(), &product, 1e-6, &subject.name);
        let mut works = backend.zeros(elements).unwrap();
        operator.element_work(Diffusion::CAPACITY, &u, &u, &mut works);
        assert_close(&backend.download(&works).unwrap(), &work, 1e-6, &subject.name);
    }
}
