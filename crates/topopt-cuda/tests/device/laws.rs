//! Elements with laws of their own on the device against the reference on the CPU.

use std::sync::Arc;

use topopt_cuda::operators::{ProblemOnDevice, Strategy};
use topopt_cuda::{Cuda, Device, DeviceVector};
use topopt_fem::operators::Reference;
use topopt_fem::stiffness_tensor::{Frame, Stiffness, turned};
use topopt_fem::{Discretization, ElementData, ElementOperator, Formulation, Law, Laws, Material};
use topopt_fem::{Elasticity, Problem};
use topopt_linalg::{Backend, LinearOperator, Space};
use topopt_mesh::{HexMesh, Renumbering};
use topopt_testing::{
    Noise, assert_close, distorted_cube, distorted_tetrahedra, hexagon, kuhn, mixed_cut, wheel,
};

use crate::device;
use crate::operators::{moduli, problem};

const FORMULATIONS: [Formulation; 2] = [Formulation::Full, Formulation::Incompatible];

/// An orthotropic stiffness, turned such that no entry is 0.
fn turned_orthotropic() -> Stiffness {
    let d = [
        [6.0, 0.6, 0.4, 0.0, 0.0, 0.0],
        [0.6, 1.2, 0.4, 0.0, 0.0, 0.0],
        [0.4, 0.4, 0.9, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.9, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.4, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.15],
    ];
    let ((s, c), (t, k)) = (0.7f64.sin_cos(), 0.4f64.sin_cos());
    let frame: Frame = [[c, s, 0.0], [-s * k, c * k, t], [s * t, -c * t, k]];
    turned(&d, &frame)
}

/// The `problem` with elements by a `formulation`, in turn of the kernel's material, of another
/// ratio, and orthotropic.
fn mixed(problem: &Problem, formulation: Formulation) -> Problem {
    let law = |e: usize| (e * 7 % 5 % 3).checked_sub(1).map(|number| number as u32);
    of_laws(problem, formulation, law)
}

/// The `problem` with orthotropic elements alone.
fn orthotropic(problem: &Problem, formulation: Formulation) -> Problem {
    of_laws(problem, formulation, |_| Some(1))
}

fn of_laws(
    problem: &Problem,
    formulation: Formulation,
    law: impl Fn(usize) -> Option<u32>,
) -> Problem {
    let laws = vec![
        Law::Isotropic(Material::new(1.0, 0.45).unwrap()),
        Law::Anisotropic(turned_orthotropic()),
    ];
    let numbers = (0..problem.mesh().n_elements()).map(law).collect();
    let data = ElementData { laws: Some(Laws::new(laws, numbers)), ..ElementData::default() };
    let (mesh, kernel) = (problem.mesh().clone(), problem.kernel().with(formulation));
    let discretization = Discretization::new(mesh, kernel, problem.supports().clone());
    Problem::of(discretization.with_data(data), problem.load_cases().to_vec()).unwrap()
}

/// Hexahedra, degenerate ones, and tetrahedra with straight and with bent edges.
fn meshes() -> [(&'static str, HexMesh); 6] {
    let bulge = |[x, y, z]: [f64; 3]| [x, y, z + 0.3 * (x - 0.5_f64).max(0.0).powi(2)];
    [
        ("distorted box", distorted_cube(6, 0.25, true)),
        ("irregular valence", hexagon(4)),
        ("wedges", wheel(4)),
        ("pyramids", mixed_cut()),
        ("straight tetrahedra", distorted_tetrahedra(3, 0.3, true)),
        ("partly curved tetrahedra", kuhn([5, 3, 4], bulge, true)),
    ]
}

/// A problem on the device, where its elements may come by color.
struct There {
    problem: Problem,
    on_device: Arc<ProblemOnDevice>,
    name: String,
}

/// The laws in turn, in launches of all elements and by color, and one law in clusters.
fn ways(mesh: &HexMesh, formulation: Formulation) -> [(&'static str, Problem, Vec<usize>); 3] {
    let plain = mixed(&problem(mesh.clone()), formulation);
    let (renumbering, colors) = Renumbering::shuffled(mesh, 2).by_color(mesh);
    let colored = mixed(&problem(renumbering.apply(mesh)), formulation);
    let in_clusters = problem(Renumbering::in_clusters(mesh).apply(mesh));
    let in_clusters = orthotropic(&in_clusters, formulation);
    [("in turn", plain, vec![]), ("by color", colored, colors), ("clusters", in_clusters, vec![])]
}

fn subjects(device: &Arc<Device>) -> Vec<There> {
    let mut subjects = Vec::new();
    for ((name, mesh), formulation) in meshes().iter().flat_map(|it| FORMULATIONS.map(|f| (it, f)))
    {
        for (way, problem, colors) in ways(mesh, formulation) {
            let on_device = match colors.is_empty() {
                false => ProblemOnDevice::by_color(device, &problem, &colors).unwrap(),
                true => ProblemOnDevice::new(device, &problem).unwrap(),
            };
            let name = format!("{name} {way}, {formulation:?}");
            subjects.push(There { problem, on_device, name });
        }
    }
    let in_clusters =
        |there: &&There| there.name.contains("clusters") && there.on_device.is_in_clusters();
    assert!(subjects.iter().filter(in_clusters).count() >= 6);
    subjects
}

#[test]
fn products_and_works_of_laws_equal_the_reference() {
    let Some(device) = device() else { return };
    let backend = Cuda::<f64>::new(&device).unwrap();
    for There { problem, on_device, name } in subjects(&device) {
        let n = problem.mesh().n_elements();
        let elements = Space::elements(n);
        let upload = |values: &[f64], space| backend.upload(values, space).unwrap();
        let mut operator = Strategy::Mf.build(&on_device, &problem).unwrap();
        // Twice: nothing of the first moduli may stay.
        operator.set_coefficients(&[&upload(&vec![3.0; n], elements)]);
        operator.set_coefficients(&[&upload(&moduli(n), elements)]);
        let mut reference = Reference::new(&problem);
        reference.set_coefficients(&[&moduli(n)]);

        let [v, u] = [11, 12].map(|seed| Noise(seed).vector(problem.n_dofs()));
        let on = [&v, &u].map(|field| upload(field, problem.space()));
        let mut found = backend.zeros(problem.space()).unwrap();
        operator.apply(&on[1], &mut found);
        let mut expected = vec![0.0; u.len()];
        reference.apply(&u, &mut expected);
        assert_close(&backend.download(&found).unwrap(), &expected, 1e-13, &name);

        let work = |a: &DeviceVector<f64>, b: &DeviceVector<f64>| {
            let mut found = backend.zeros(elements).unwrap();
            operator.element_work(0, a, b, &mut found);
            backend.download(&found).unwrap()
        };
        let mut expected = vec![0.0; n];
        reference.element_work(0, &v, &u, &mut expected);
        assert_close(&work(&on[0], &on[1]), &expected, 1e-13, &format!("work, {name}"));
        reference.element_work(0, &u, &u, &mut expected);
        assert_close(&work(&on[1], &on[1]), &expected, 1e-13, &format!("energies, {name}"));
    }
}

#[test]
fn only_one_strategy_computes_laws() {
    let Some(device) = device() else { return };
    let problem = mixed(&problem(distorted_cube(2, 0.2, true)), Formulation::Full);
    let there = ProblemOnDevice::new(&device, &problem).unwrap();
    for strategy in Strategy::ALL.into_iter().filter(|strategy| *strategy != Strategy::Mf) {
        assert!(!strategy.takes::<Elasticity, 3>(&problem));
        let error = strategy.build(&there, &problem).err().unwrap().to_string();
        assert!(error.contains("not isotropic") && error.contains("use `mf`"), "{error}");
    }
}
