//! Element vectors: sums, the product that they stand for, threads.

use topopt_fem::operators::Reference;
use topopt_fem::{
    BodyForce, ElementFactors, ElementOperator, ElementVectors, LoadCase, Material, Problem,
    ProblemError, Supports,
};
use topopt_linalg::LinearOperator;
use topopt_mesh::HexMesh;
use topopt_mesh::vector::{cross, difference};
use topopt_testing::{Noise, distorted_cube, hexagon, mapped_cube, wheel};

fn problem(mesh: &HexMesh, supports: Supports) -> Problem {
    let load = LoadCase::new("default", vec![1.0; 3 * mesh.n_nodes()]);
    Problem::new(mesh.clone(), Material::new(1.0, 0.3).unwrap(), supports, vec![load]).unwrap()
}

/// Held at z = 0, and in y at some nodes.
fn held(mesh: &HexMesh) -> Supports {
    let mut supports = Supports::none(mesh.n_nodes());
    for (node, x) in mesh.coordinates().iter().enumerate() {
        let components = if x[2] < 0.1 { 0..3 } else { 1..1 + usize::from(x[0] > 0.8) };
        components.for_each(|i| supports.fix(node, i));
    }
    supports
}

#[test]
fn weights_add_up_to_mass_times_gravity() {
    for mesh in [distorted_cube(6, 0.25, true), hexagon(5), wheel(4)] {
        // On springs alone nothing is held, and no weight is dropped.
        let mut supports = Supports::none(mesh.n_nodes());
        (0..mesh.n_nodes()).for_each(|n| (0..3).for_each(|i| supports.add_spring(n, i, 1.0)));
        let problem = problem(&mesh, supports);
        let density: Vec<f64> =
            Noise(4).vector(mesh.n_elements()).iter().map(|v| v.abs()).collect();
        let force = [0.3, -2.0, 0.7];
        let loads = ElementVectors::of_body_force(&problem, &force.into());
        let mut f = vec![0.0; problem.n_dofs()];
        loads.add(&density, &mut f);
        let mass: f64 = density.iter().zip(mesh.volumes()).map(|(rho, v)| rho * v).sum();
        for (i, b) in force.into_iter().enumerate() {
            let sum: f64 = (0..mesh.n_nodes()).map(|n| f[3 * n + i]).sum();
            assert!((sum / (mass * b) - 1.0).abs() < 1e-14, "{sum} {}", mass * b);
        }
        // The same work by elements as by nodes.
        let rotation: Vec<f64> =
            mesh.coordinates().iter().flat_map(|x| [-x[1], x[0], 0.0]).collect();
        let work = loads.work(&rotation);
        let total: f64 = work.iter().zip(&density).map(|(w, rho)| w * rho).sum();
        let direct: f64 = f.iter().zip(&rotation).map(|(f, u)| f * u).sum();
        assert!((total / direct - 1.0).abs() < 1e-13);
    }
}

/// The mass of a cube rotates as if it were in the center, whatever its elements look like.
#[test]
fn centrifugal_forces_add_up_to_mass_times_acceleration() {
    let (w, c) = ([0.4, -1.0, 2.0], [3.0, 0.2, -1.0]);
    for mesh in [distorted_cube(5, 0.25, false), mapped_cube(3, |x| x)] {
        let mut supports = Supports::none(mesh.n_nodes());
        (0..mesh.n_nodes()).for_each(|n| (0..3).for_each(|i| supports.add_spring(n, i, 1.0)));
        let n = mesh.n_elements();
        let factors = ElementFactors { mass: Some(vec![2.5; n]), stiffness: None };
        let problem = problem(&mesh, supports).with_factors(factors).unwrap();
        let loads = ElementVectors::of_body_force(&problem, &BodyForce::centrifugal(w, c));
        let mut f = vec![0.0; problem.n_dofs()];
        loads.add(&vec![0.4; n], &mut f);

        let r = difference([0.5; 3], c);
        let expected = cross(w, cross(w, r)).map(|a| -a);
        let sum = |i: usize| f.iter().skip(i).step_by(3).sum::<f64>();
        for (i, expected) in expected.into_iter().enumerate() {
            assert!((sum(i) - expected).abs() < 1e-12, "{} {expected}", sum(i));
        }
    }
}

#[test]
fn factors_must_be_usable() {
    let mesh = mapped_cube(2, |x| x);
    let problem = problem(&mesh, held(&mesh));
    for wrong in [vec![1.0; 7], vec![0.0; 8], vec![f64::NAN; 8]] {
        for (stiffness, mass) in [(Some(wrong.clone()), None), (None, Some(wrong))] {
            let found = problem.clone().with_factors(ElementFactors { stiffness, mass });
            assert_eq!(found.unwrap_err(), ProblemError::BadFactor);
        }
    }
}

#[test]
fn vectors_of_prescribed_are_minus_k_u() {
    for mesh in [distorted_cube(5, 0.25, true), hexagon(4), wheel(4)] {
        let (n, supports) = (mesh.n_elements(), held(&mesh));
        let mut u = Noise(8).vector(3 * mesh.n_nodes());
        supports.clear_free(&mut u);
        // Only a part of the held nodes is moved.
        u.iter_mut().skip(3 * mesh.n_nodes() / 2).for_each(|u| *u = 0.0);
        let problem = problem(&mesh, supports);
        let moduli: Vec<f64> = Noise(3).vector(n).iter().map(|v| 1.1 + v).collect();
        let loads = ElementVectors::of_prescribed(&problem, &u);
        let mut found = vec![0.0; u.len()];
        loads.add(&moduli, &mut found);
        // K of the free structure times u, where components are free.
        let mut almost_free = Supports::none(mesh.n_nodes());
        (0..mesh.n_nodes()).for_each(|n| almost_free.add_spring(n, 0, 1.0));
        (0..mesh.n_nodes()).for_each(|n| (1..3).for_each(|i| almost_free.add_spring(n, i, 1.0)));
        let free = self::problem(&mesh, almost_free);
        let mut reference = Reference::new(&free);
        reference.set_coefficients(&[&moduli]);
        let mut expected = vec![0.0; u.len()];
        reference.apply(&u, &mut expected);
        problem.supports().clear(&mut expected);
        let size = expected.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
        assert!(found.iter().zip(&expected).all(|(f, e)| (f + e).abs() < 1e-14 * size));
        // Twice the work of all: v . (-K u) for a v that is zero where the part is held.
        let mut v = Noise(9).vector(u.len());
        problem.supports().clear(&mut v);
        let work = loads.work(&v);
        let total: f64 = work.iter().zip(&moduli).map(|(w, e)| w * e).sum();
        let direct: f64 = found.iter().zip(&v).map(|(f, v)| f * v).sum();
        assert!((total / direct - 1.0).abs() < 1e-12);
        let moved = |hex: &[u32; 8]| hex.iter().any(|&n| u[3 * n as usize..][..3] != [0.0; 3]);
        let hexes = mesh.hexes().iter().zip(&work);
        let still: Vec<_> = hexes.filter(|(hex, _)| !moved(hex)).map(|(_, work)| *work).collect();
        assert!(still.len() > n / 10 && still.iter().all(|&work| work == 0.0));
    }
}

#[test]
fn sums_do_not_depend_on_threads() {
    let mesh = distorted_cube(14, 0.25, true);
    let problem = problem(&mesh, held(&mesh));
    let density: Vec<f64> = Noise(4).vector(mesh.n_elements());
    let add = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut f = Noise(2).vector(problem.n_dofs());
        pool.install(|| {
            ElementVectors::of_body_force(&problem, &[1.0, 2.0, 3.0].into()).add(&density, &mut f);
        });
        f
    };
    assert_eq!(add(1), add(3));
}

#[test]
fn what_is_held_or_tied() {
    let mesh = mapped_cube(2, |x| x);
    let n = mesh.n_nodes();
    let material = Material::new(1.0, 0.3).unwrap();
    let zero = || LoadCase::new("none", vec![0.0; 3 * n]);
    let made =
        |supports: Supports, case| Problem::new(mesh.clone(), material, supports, vec![case]);
    let weight = || LoadCase { body_force: [0.0, 0.0, -1.0].into(), ..zero() };
    let springs = |components: std::ops::Range<usize>, stiffness: f64| {
        let mut supports = Supports::none(n);
        (0..n).for_each(|node| {
            components.clone().for_each(|i| supports.add_spring(node, i, stiffness));
        });
        supports
    };
    // Springs hold a part by themselves, in the directions that they have.
    assert!(made(springs(0..3, 1e-3), weight()).is_ok());
    let Err(ProblemError::RigidMotion { motions, .. }) = made(springs(2..3, 1.0), weight()) else {
        panic!("springs along z hold more than they can");
    };
    assert_eq!(motions, ["translation in x", "translation in y", "rotation about z"]);
    for stiffness in [-1.0, f64::NAN] {
        assert_eq!(made(springs(0..3, stiffness), weight()).unwrap_err(), ProblemError::BadSpring);
    }
    assert_eq!(made(springs(0..3, 0.0), weight()).unwrap_err(), ProblemError::NoSupport);
    // Springs on held components are dropped.
    let mut both = held(&mesh);
    both.add_spring(0, 1, 5.0);
    assert_eq!(made(both, weight()).unwrap().supports().springs(), None);
    // A displacement counts where the part is held, and only there.
    let moved = |node: usize| {
        let mut u = vec![0.0; 3 * n];
        u[3 * node] = 0.1;
        LoadCase { prescribed: Some(u), ..zero() }
    };
    let problem = made(held(&mesh), moved(0)).unwrap();
    assert_eq!(problem.load_cases()[0], moved(0));
    let refused = made(held(&mesh), moved(n - 1)).unwrap_err();
    assert_eq!(refused, ProblemError::ZeroLoad { name: "none".into() });
    // Weight that the supports take in its direction.
    let mut rails = held(&mesh);
    (0..n).for_each(|node| rails.fix(node, 2));
    assert!(matches!(made(rails, weight()), Err(ProblemError::ZeroLoad { .. })));
    let short = LoadCase { prescribed: Some(vec![1.0; 3]), ..zero() };
    assert!(matches!(made(held(&mesh), short), Err(ProblemError::BadLoad { .. })));
}
