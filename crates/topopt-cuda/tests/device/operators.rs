//! Every operator on the device against the reference on the CPU, by name.

use std::sync::Arc;

use topopt_cuda::operators::{Mf, ProblemOnDevice, Strategy};
use topopt_cuda::{Cuda, Device, DeviceVector, Real};
use topopt_fem::operators::Reference;
use topopt_fem::{
    Discretization, Elasticity, ElementKernel, ElementOperator, Formulation, LoadCase, Material,
    Problem, Supports,
};
use topopt_linalg::{Backend, Cpu, LinearOperator, Space};
use topopt_mesh::{HexMesh, Renumbering, Sets};
use topopt_testing::{Noise, assert_close, distorted_cube, hexagon, mixed_cut, norm, wheel};

use crate::device;

/// One distorted element, a distorted box, a mesh of irregular valence, a box in random order,
/// wedges and pyramids; each except the first by color as well, and in clusters; all by both
/// formulations. The supports hold whole nodes, single components of inner nodes, and the last
/// node.
fn problems() -> Vec<Subject> {
    let of = |formulation| move |subject: Subject| subject.with(formulation);
    let full = meshes().into_iter().map(of(Formulation::Full));
    full.chain(meshes().into_iter().map(of(Formulation::Incompatible))).collect()
}

/// The subjects of [`problems`], by one formulation.
fn meshes() -> Vec<Subject> {
    let mesh = distorted_cube(5, 0.2, true);
    let shuffled = Renumbering::shuffled(&mesh, 9).apply(&mesh);
    let meshes = [
        ("one element", distorted_cube(1, 0.2, true)),
        ("distorted box", distorted_cube(6, 0.25, true)),
        ("irregular valence", hexagon(4)),
        ("random order", shuffled),
        ("wedges", wheel(4)),
        ("pyramids", mixed_cut()),
    ];
    let ways = |(name, mesh): &(&str, HexMesh)| [by_color(name, mesh), in_clusters(name, mesh)];
    let mut subjects: Vec<_> = meshes.iter().skip(1).flat_map(ways).collect();
    let plain = |(name, mesh): (&str, _)| Subject {
        name: name.into(),
        problem: problem(mesh),
        colors: None,
    };
    subjects.splice(..0, meshes.map(plain));
    subjects
}

/// A problem, and the number of elements of each color where they come by color.
struct Subject {
    name: String,
    problem: Problem,
    colors: Option<Vec<usize>>,
}

fn by_color(name: &str, mesh: &HexMesh) -> Subject {
    let (renumbering, colors) = Renumbering::shuffled(mesh, 2).by_color(mesh);
    let problem = problem(renumbering.apply(mesh));
    Subject { name: format!("{name} by color"), problem, colors: Some(colors) }
}

fn in_clusters(name: &str, mesh: &HexMesh) -> Subject {
    let problem = problem(Renumbering::in_clusters(mesh).apply(mesh));
    Subject { name: format!("{name} in clusters"), problem, colors: None }
}

impl Subject {
    /// Elements by a `formulation`.
    fn with(self, formulation: Formulation) -> Self {
        let Self { name, problem, colors } = self;
        let name = format!("{name}, {formulation:?}");
        Self { name, problem: with(&problem, formulation), colors }
    }

    fn on(&self, device: &Arc<Device>) -> Arc<ProblemOnDevice> {
        match &self.colors {
            Some(colors) => ProblemOnDevice::by_color(device, &self.problem, colors).unwrap(),
            None => ProblemOnDevice::new(device, &self.problem).unwrap(),
        }
    }
}

/// Elasticity on `mesh`, held where z is small, in single components of inner nodes, and at the
/// last node.
pub fn problem(mesh: HexMesh) -> Problem {
    let n = mesh.n_nodes();
    let mut supports = Supports::none(n);
    for (node, x) in mesh.coordinates().iter().enumerate() {
        let held = if x[2] < 0.1 { 0..3 } else { node % 3..node % 3 + usize::from(node % 5 == 0) };
        held.for_each(|i| supports.fix(node, i));
    }
    supports.fix(n - 1, 1);
    let load = LoadCase::new("default", vec![1.0; 3 * n]);
    Problem::new(mesh, Material::new(1.0, 0.3).unwrap(), supports, vec![load]).unwrap()
}

/// The `problem` with elements by a `formulation`.
pub fn with(problem: &Problem, formulation: Formulation) -> Problem {
    let (mesh, kernel) = (problem.mesh().clone(), problem.kernel().with(formulation));
    let discretization = Discretization::new(mesh, kernel, problem.supports().clone());
    Problem::of(discretization, problem.load_cases().to_vec()).unwrap()
}

/// Moduli over a SIMP contrast of 1e-6.
pub fn moduli(n: usize) -> Vec<f64> {
    Noise(3).vector(n).iter().map(|v| 10f64.powf(3.0 * (v - 1.0))).collect()
}

/// A part of an operator, by name, that takes and gives values of so many components.
struct Part {
    name: &'static str,
    components: usize,
    device: fn(&dyn ElementOperator<Cuda<f64>>, &DeviceVector<f64>, &mut DeviceVector<f64>),
    reference: fn(&Reference<'_, Elasticity, 3>, &Vec<f64>, &mut Vec<f64>),
}

const PARTS: [Part; 3] = [
    Part {
        name: "product",
        components: 3,
        device: |k, u, y| k.apply(u, y),
        reference: |k, u, y| k.apply(u, y),
    },
    Part {
        name: "diagonal",
        components: 3,
        device: |k, _, y| k.diagonal(y),
        reference: |k, _, y| k.diagonal(y),
    },
    Part {
        name: "energies",
        components: 1,
        device: |k, u, y| k.element_work(0, u, u, y),
        reference: |k, u, y| k.element_work(0, u, u, y),
    },
];

#[test]
fn the_work_of_two_fields_equals_the_reference() {
    let Some(device) = device() else { return };
    for subject in problems() {
        let on_device = subject.on(&device);
        assert_work::<f64>(&on_device, &subject, 1e-13);
        assert_work::<f32>(&on_device, &subject, 1e-5);
    }
}

/// Compares the work of two fields with the reference.
fn assert_work<R: Real>(on_device: &Arc<ProblemOnDevice>, subject: &Subject, tolerance: f64) {
    let Subject { name, problem, .. } = subject;
    let backend = Cuda::<R>::new(on_device.device()).unwrap();
    let n = problem.mesh().n_elements();
    let [v, u] = [11, 12].map(|seed| Noise(seed).vector(problem.n_dofs()));
    let mut expected = vec![0.0; n];
    Reference::new(problem).element_work(0, &v, &u, &mut expected);

    let operator = Mf::<R>::new(on_device, &subject.problem).unwrap();
    let [v, u] = [v, u].map(|field| backend.upload(&field, problem.space()).unwrap());
    let mut found = backend.zeros(Space::elements(n)).unwrap();
    operator.element_work(0, &v, &u, &mut found);
    let found = backend.download(&found).unwrap();
    assert_close(&found, &expected, tolerance, &format!("work of two fields, {name}"));
}

#[test]
fn every_operator_equals_the_reference() {
    let Some(device) = device() else { return };
    let backend = Cuda::<f64>::new(&device).unwrap();
    for subject in problems() {
        let Subject { name, problem, .. } = &subject;
        let n = problem.mesh().n_elements();
        // Values at held components, which the product must not let into free ones.
        let u = Noise(11).vector(problem.n_dofs());
        let mut reference = Reference::new(problem);
        reference.set_coefficients(&[&moduli(n)]);
        let mesh = subject.on(&device);
        // Where rows are as short as in these boxes, so are they in the order of rows.
        let [must, may_not] = ["in clusters", "by color"].map(|way| name.contains(way));
        let is_random = name.starts_with("random order,");
        assert!(mesh.is_in_clusters() || !must, "{name}");
        assert!(!mesh.is_in_clusters() || !may_not && !is_random, "{name}");
        let elements = Space::elements(n);
        for strategy in Strategy::ALL {
            if !strategy.takes(problem) {
                assert!(name.starts_with("wedges") || name.starts_with("pyramids"), "{name}");
                assert_eq!(strategy, Strategy::EbeSym);
                let error = strategy.build(&mesh, problem).err().unwrap().to_string();
                assert!(
                    error.contains("28 wedges or") || error.contains("24 wedges or"),
                    "{error}"
                );
                continue;
            }
            let mut operator = strategy.build(&mesh, problem).unwrap();
            // Twice: nothing of the first moduli may stay.
            operator.set_coefficients(&[&backend.upload(&vec![3.0; n], elements).unwrap()]);
            operator.set_coefficients(&[&backend.upload(&moduli(n), elements).unwrap()]);
            assert_eq!(operator.strategy(), strategy.name());
            assert_eq!(operator.dimension(), problem.n_dofs());
            for part in &PARTS {
                let space = if part.components == 3 { problem.space() } else { elements };
                let len = space.len();
                let mut out = backend.upload(&vec![f64::NAN; len], space).unwrap();
                let u_on_device = backend.upload(&u, problem.space()).unwrap();
                (part.device)(operator.as_ref(), &u_on_device, &mut out);
                let mut found = backend.download(&out).unwrap();
                let mut expected = vec![f64::NAN; len];
                (part.reference)(&reference, &u, &mut expected);
                let what = format!("{} of {} on {name}", part.name, strategy.name());
                if part.components == 3 {
                    // Held components are exact, and large where moduli are small.
                    for dof in (0..len).filter(|&k| problem.supports().is_fixed(k / 3, k % 3)) {
                        assert_eq!(found[dof], expected[dof], "{what} at held {dof}");
                    }
                    problem.supports().clear(&mut found);
                    problem.supports().clear(&mut expected);
                }
                assert_close(&found, &expected, 1e-13, &what);
            }
        }
    }
}

/// Whether a node of the unit cube is inside, where no force is left of a field of constant strain.
fn is_inside(x: &[f64; 3]) -> bool {
    x.iter().all(|x| (0.1..0.9).contains(x))
}

#[test]
fn every_operator_passes_the_patch_test() {
    let Some(device) = device() else { return };
    let backend = Cuda::<f64>::new(&device).unwrap();
    let full = problem(distorted_cube(6, 0.25, false));
    for formulation in [Formulation::Full, Formulation::Incompatible] {
        let problem = with(&full, formulation);
        let (mesh, space) = (problem.mesh(), problem.space());
        let free =
            Discretization::new(mesh.clone(), *problem.kernel(), Supports::none(mesh.n_nodes()));
        let there = ProblemOnDevice::new(&device, &free).unwrap();
        let row = [[0.3, -0.2, 0.5], [0.1, 0.7, -0.4], [-0.6, 0.2, 0.9]];
        let field = |x: &[f64; 3]| row.map(|a| a[0] * x[0] + a[1] * x[1] + a[2] * x[2] + 0.1);
        let u: Vec<f64> = mesh.coordinates().iter().flat_map(field).collect();
        for strategy in Strategy::ALL {
            let mut operator = strategy.build(&there, &free).unwrap();
            let ones =
                backend.upload(&vec![1.0; mesh.n_elements()], Space::elements(mesh.n_elements()));
            operator.set_coefficients(&[&ones.unwrap()]);
            let mut f = backend.zeros(space).unwrap();
            operator.apply(&backend.upload(&u, space).unwrap(), &mut f);
            let f = backend.download(&f).unwrap();
            let inside = |node: usize| is_inside(&mesh.coordinates()[node]);
            let largest = f.iter().fold(0.0_f64, |most, f| most.max(f.abs()));
            let left = (0..f.len()).filter(|&dof| inside(dof / 3)).map(|dof| f[dof].abs());
            let left = left.fold(0.0, f64::max);
            assert!(left < 1e-12 * largest, "{formulation:?}, {}: {left:.1e}", strategy.name());
        }
    }
}

#[test]
fn every_operator_is_symmetric() {
    let Some(device) = device() else { return };
    let backend = Cuda::<f64>::new(&device).unwrap();
    let subject = problems().remove(2);
    let (problem, mesh) = (&subject.problem, subject.on(&device));
    let [x, y] = [1, 2].map(|seed| Noise(seed).vector(problem.n_dofs()));
    for strategy in Strategy::ALL {
        let mut operator = strategy.build(&mesh, problem).unwrap();
        let moduli = moduli(problem.mesh().n_elements());
        operator
            .set_coefficients(&[&backend.upload(&moduli, Space::elements(moduli.len())).unwrap()]);
        let [kx, ky] = [&x, &y].map(|v| {
            let mut out = backend.zeros(problem.space()).unwrap();
            operator.apply(&backend.upload(v, problem.space()).unwrap(), &mut out);
            backend.download(&out).unwrap()
        });
        let scale = norm(&kx) * norm(&y);
        let difference = (Cpu.dot(&kx, &y) - Cpu.dot(&ky, &x)).abs();
        assert!(difference < 1e-14 * scale, "{}", strategy.name());
    }
}

#[test]
fn strategies_that_add_in_order_give_the_same_bits_again() {
    let Some(device) = device() else { return };
    let backend = Cuda::<f64>::new(&device).unwrap();
    let subject = by_color("distorted box", &distorted_cube(20, 0.25, true));
    let (problem, mesh) = (&subject.problem, subject.on(&device));
    let n = problem.mesh().n_elements();
    let moduli = backend.upload(&moduli(n), Space::elements(n)).unwrap();
    let u = backend.upload(&Noise(11).vector(problem.n_dofs()), problem.space()).unwrap();
    for strategy in
        Strategy::ALL.into_iter().filter(|strategy| strategy.is_in_order::<Elasticity, 3>())
    {
        let bits = || {
            let mut operator = strategy.build(&mesh, problem).unwrap();
            operator.set_coefficients(&[&moduli]);
            let [mut product, mut diagonal] =
                [(); 2].map(|()| backend.zeros(problem.space()).unwrap());
            operator.apply(&u, &mut product);
            operator.diagonal(&mut diagonal);
            [product, diagonal].map(|values| backend.download(&values).unwrap())
        };
        assert_eq!(bits(), bits(), "{}", strategy.name());
    }
}

#[test]
fn colors_that_are_none_are_refused() {
    let Some(device) = device() else { return };
    let Subject { problem, colors, .. } = by_color("box", &distorted_cube(4, 0.2, true));
    let colors = colors.unwrap();
    let refused = |colors: &[usize], message: &str| {
        let error = ProblemOnDevice::by_color(&device, &problem, colors).err().unwrap().to_string();
        assert!(error.contains(message), "{error}");
    };
    refused(&colors[1..], "elements in colors, 64 in the mesh");
    refused(&[colors.as_slice(), &[1]].concat(), "65 elements in colors, 64 in the mesh");
    let mut moved = colors.clone();
    (moved[0], moved[1]) = (moved[0] + 1, moved[1] - 1);
    refused(&moved, "of one color share a node");
    refused(&[64], "of one color share a node");
}

#[test]
fn mf_in_both_precisions_is_as_exact_far_from_the_origin() {
    let Some(device) = device() else { return };
    for subject in problems() {
        let Subject { name, problem, .. } = &subject;
        // Coordinates so short that the shift does not round them.
        let moved = |shift: f64| {
            let place =
                |x: &[f64; 3]| x.map(|v| (v * 2f64.powi(20)).round() / 2f64.powi(20) + shift);
            let places = problem.mesh().coordinates().iter().map(place).collect();
            let mesh = HexMesh::new(places, problem.mesh().hexes().to_vec(), Sets::default());
            let (supports, loads) = (problem.supports().clone(), problem.load_cases().to_vec());
            let formulation = problem.kernel().formulation();
            let problem =
                Problem::new(mesh.unwrap(), *problem.material(), supports, loads).unwrap();
            let problem = with(&problem, formulation);
            Subject { name: name.clone(), problem, colors: subject.colors.clone() }
        };
        let (here, far) = (moved(0.0), moved(8192.0));
        for (place, moved) in [("here", &here), ("far", &far)] {
            let mesh = moved.on(&device);
            assert_mf::<f64>(&mesh, &here.problem, 1e-14, &format!("{name}, {place}"));
            assert_mf::<f32>(
                &mesh,
                &here.problem,
                1e-6,
                &format!("{name}, {place}, single precision"),
            );
        }
    }
}

/// Compares all that `Mf` computes on `mesh` with the reference on `problem`.
fn assert_mf<R: Real>(mesh: &Arc<ProblemOnDevice>, problem: &Problem, tolerance: f64, what: &str) {
    let with_slots = Mf::<R>::with_slots(mesh, problem).unwrap();
    for (mut operator, how) in [(Mf::new(mesh, problem).unwrap(), ""), (with_slots, ", with slots")]
    {
        let what = format!("{what}{how}");
        assert_parts(&mut operator, (mesh.device(), problem), tolerance, &what);
    }
}

/// Compares all that an `operator` with new moduli computes with the reference on `problem`.
pub fn assert_parts<R: Real>(
    operator: &mut Mf<R>,
    (device, problem): (&Arc<Device>, &Problem),
    tolerance: f64,
    what: &str,
) {
    let backend = Cuda::<R>::new(device).unwrap();
    let (n, n_dofs) = (problem.mesh().n_elements(), problem.n_dofs());
    let mut reference = Reference::new(problem);
    let moduli: Vec<f64> = (0..n).map(|e| if e % 3 == 0 { 1.0 } else { 1e-6 }).collect();
    operator.set_coefficients(&[&backend.upload(&moduli, Space::elements(n)).unwrap()]);
    reference.set_coefficients(&[&moduli]);
    let mut u = Noise(11).vector(n_dofs);
    problem.supports().clear(&mut u);
    let on_device = backend.upload(&u, problem.space()).unwrap();
    let compare = |found: &DeviceVector<R>, expected: &Vec<f64>, part| {
        let found = backend.download(found).unwrap();
        assert_close(&found, expected, tolerance, &format!("{part} of mf, {what}"));
    };
    let (mut found, mut expected) = (backend.zeros(problem.space()).unwrap(), vec![0.0; n_dofs]);
    operator.apply(&on_device, &mut found);
    reference.apply(&u, &mut expected);
    compare(&found, &expected, "product");
    let mut energy = backend.scalar();
    operator.apply_to_direction(&backend, &on_device, &mut found, &mut energy);
    compare(&found, &expected, "product with its dot");
    let work: f64 = u.iter().zip(&expected).map(|(u, f)| u * f).sum();
    let error = (backend.value(&energy).unwrap() - work).abs() / work;
    assert!(error <= tolerance, "dot of mf, {what}: {error:.1e}");
    operator.diagonal(&mut found);
    reference.diagonal(&mut expected);
    compare(&found, &expected, "diagonal");
    let (mut found, mut expected) = (backend.zeros(Space::elements(n)).unwrap(), vec![0.0; n]);
    operator.element_work(0, &on_device, &on_device, &mut found);
    reference.element_work(0, &u, &u, &mut expected);
    compare(&found, &expected, "energies");
}
