//! Halves of problems that mirror themselves: their equation is that of the whole.

use topopt_fem::stiffness_tensor::{isotropic, turned};
use topopt_fem::{
    Asymmetry, BodyForce, Constraints, CpuSolvers, Diffusion, Discretization, Elasticity,
    ElementData, ElementFactors, Formulation, HalfModel, Law, Laws, LoadCase, Material, Problem,
    Strategy, Supports, ThermalStrains, WithSprings, temperature_changes,
};
use topopt_linalg::{Cpu, LinearOperator};
use topopt_mesh::cells::Shape;
use topopt_mesh::{HexMesh, Mirror, Plane};
use topopt_testing::{Noise, assert_close, distorted_cube, distorted_tetrahedra, mirrored};

use crate::films::with_film;

/// Distorted cubes with their images about planes across the first axes.
fn meshes() -> Vec<(usize, HexMesh)> {
    let cubes = [distorted_cube(3, 0.2, false), distorted_tetrahedra(2, 0.2, false)];
    let all = cubes.into_iter().flat_map(|cube| {
        (1..=3).map(move |n| (n, (0..n).fold(cube.clone(), |mesh, axis| mirrored(&mesh, axis))))
    });
    all.collect()
}

/// The plane across `axis` in which the mesh has been mirrored.
fn plane(axis: usize) -> Plane {
    let normal = std::array::from_fn(|i| if i == axis { 1.0 } else { 0.0 });
    Plane { point: [1.0; 3], normal }
}

fn mirrors(mesh: &HexMesh, n: usize) -> Vec<Mirror> {
    let planes: Vec<Plane> = (0..n).map(plane).collect();
    Mirror::of(mesh, mesh.element_width(), &planes)
        .into_iter()
        .map(|mirror| mirror.expect("it is mirrored"))
        .collect()
}

/// Distance from the planes, the same for images.
fn distances(x: [f64; 3]) -> [f64; 3] {
    x.map(|x| (x - 1.0).abs())
}

/// Asserts that the half of `problem` does with states what the whole does with theirs.
fn assert_half<K: CpuSolvers<N>, const N: usize>(problem: &Problem<K, N>, n: usize, what: &str) {
    let mirrors = mirrors(problem.mesh(), n);
    let against = mirrors.iter().find_map(|mirror| Asymmetry::of(problem, mirror));
    assert_eq!(against, None, "{what}");
    let half = HalfModel::of(problem, &mirrors).unwrap();
    assert_eq!(half.elements().len() << n, problem.mesh().n_elements());

    let equation = &half.equation;
    let (unfolding, restriction) = (half.unfolding(), half.restriction());
    let mut v = Noise(3).vector(equation.n_dofs());
    equation.constraints().clear(&mut v);
    let mut u = vec![f64::NAN; problem.n_dofs()];
    unfolding.apply(&v, &mut u);
    let mut back = vec![f64::NAN; v.len()];
    restriction.apply(&u, &mut back);
    assert_eq!(back, v);

    let moduli = |e: u32| {
        let center = distances(problem.mesh().center(e as usize));
        1.0 + center[0] + 2.0 * center[1] * center[2]
    };
    let all: Vec<f64> = (0..problem.mesh().n_elements() as u32).map(moduli).collect();
    let of_half: Vec<f64> = half.elements().iter().map(|&e| all[e as usize]).collect();
    let expected = product(problem, &all, &u);
    restriction.apply(&expected, &mut back);
    back.iter_mut().zip(half.shares()).for_each(|(y, share)| *y *= share);
    equation.constraints().clear(&mut back);
    assert_close(&product(equation, &of_half, &v), &back, 1e-12, what);
}

/// (K + S) u at `moduli`.
fn product<K: CpuSolvers<N>, const N: usize>(
    equation: &Discretization<K, N>,
    moduli: &Vec<f64>,
    u: &Vec<f64>,
) -> Vec<f64> {
    let mut operator = Strategy::Mf.build(equation);
    let zeros = vec![0.0; moduli.len()];
    let terms = [moduli, &zeros];
    operator.set_coefficients(&terms[..K::TERMS]);
    let operator = WithSprings::new(&Cpu, equation, operator).unwrap();
    let mut y = vec![f64::NAN; u.len()];
    LinearOperator::<Cpu>::apply(&operator, u, &mut y);
    y
}

/// Held at the ends across the last axis, on springs, of two laws, under forces, weight and heat.
fn structure(mesh: &HexMesh, n: usize) -> Problem {
    let mut supports = Supports::none(mesh.n_nodes());
    let mut forces = Vec::new();
    for (node, &x) in mesh.coordinates().iter().enumerate() {
        let [a, b, c] = distances(x);
        if x[2] < 1e-9 || n == 3 && x[2] > 2.0 - 1e-9 {
            (0..3).for_each(|i| supports.fix(node, i));
        }
        (0..3).for_each(|i| supports.add_spring(node, i, a + 0.1 * i as f64));
        // Across a plane as the side is, along it the same on both sides.
        let across = |i: usize, f: f64| if i < n { f * (x[i] - 1.0) } else { f };
        forces.extend([across(0, 1.0 + b), across(1, 2.0 + c), across(2, 3.0)]);
    }
    let along: [f64; 3] = std::array::from_fn(|i| if i < n { 0.0 } else { -9.8 });
    let change = |x: &[f64; 3]| 1.0 + distances(*x).iter().sum::<f64>();
    let changes: Vec<f64> = mesh.coordinates().iter().map(change).collect();
    let strains = ThermalStrains::new(
        vec![[1e-3, 2e-3, 3e-3, 0.0, 0.0, 0.0]],
        vec![0; mesh.n_elements()],
        temperature_changes(mesh, &changes),
    );
    let loads = vec![
        LoadCase { body_force: along.into(), ..LoadCase::new("force", forces) },
        LoadCase { thermal: Some(strains), ..LoadCase::new("heat", vec![0.0; 3 * mesh.n_nodes()]) },
    ];
    let mut stiff = isotropic((0.4, 0.4));
    (stiff[0][0], stiff[3][3]) = (6.0, 0.9);
    let laws = Laws::new(vec![Law::Anisotropic(stiff)], vec![Some(0); mesh.n_elements()]);
    let kernel = Elasticity::new(&Material::new(1.0, 0.3).unwrap());
    let data = ElementData { laws: Some(laws), ..ElementData::default() };
    Problem::of(Discretization::new(mesh.clone(), kernel, supports).with_data(data), loads).unwrap()
}

#[test]
fn halves_of_structures_have_the_products_of_the_whole() {
    for (n, mesh) in meshes() {
        let problem = structure(&mesh, n);
        assert_half(&problem, n, &format!("{n} planes, {} elements", mesh.n_elements()));
    }
}

#[test]
fn halves_of_heat_with_films_have_the_products_of_the_whole() {
    for (n, mesh) in meshes() {
        let mut held = Constraints::none(mesh.n_nodes());
        let at_corner = |x: &[f64; 3]| distances(*x).iter().all(|d| *d > 1.0 - 1e-9);
        let places = mesh.coordinates().iter().enumerate();
        places.filter(|(_, x)| at_corner(x)).for_each(|(node, _)| held.fix(node, 0));
        // Of faces of ten nodes the areas at corners are zero to rounding.
        let held = match mesh.shape() {
            Shape::Tetrahedron => held,
            _ => with_film(held, &mesh, 0.7),
        };
        // The film is above z = 0.3 alone.
        let n = n.min(2);
        let equation =
            Discretization::new(mesh.clone(), Diffusion::by(Formulation::Incompatible), held);
        let load = LoadCase::new("heat", vec![1.0; mesh.n_nodes()]);
        let problem = Problem::of(equation, vec![load]).unwrap();
        assert_half(&problem, n, &format!("{n} planes, {} elements", mesh.n_elements()));
    }
}

/// Each change of a problem breaks its symmetry, and is found.
#[test]
fn what_does_not_mirror_itself_is_found() {
    let mesh = mirrored(&distorted_cube(3, 0.2, false), 0);
    let mirror = &mirrors(&mesh, 1)[0];
    let symmetric = structure(&mesh, 1);
    let found = |problem: &Problem| Asymmetry::of(problem, mirror);
    assert_eq!(found(&symmetric), None);

    let of = |equation: Discretization, loads| Problem::of(equation, loads).unwrap();
    let loads = || symmetric.load_cases().to_vec();
    let load = |name: &str| Some(Asymmetry::Load { name: name.into() });
    let free = (0..mesh.n_nodes())
        .find(|&node| mesh.coordinates()[node][0] < 0.9 && !symmetric.constraints().is_held(node));
    let free = free.unwrap();

    let mut held = symmetric.constraints().clone();
    held.fix(free, 1);
    assert_eq!(found(&of(symmetric.with_constraints(held), loads())), Some(Asymmetry::Supports));
    let mut sprung = symmetric.constraints().clone();
    sprung.add_spring(free, 1, 1e-3);
    assert_eq!(found(&of(symmetric.with_constraints(sprung), loads())), Some(Asymmetry::Stiffness));

    let mut factors = vec![1.0; mesh.n_elements()];
    factors[5] = 1.001;
    let stiffness = ElementFactors { stiffness: Some(factors.clone()), mass: None };
    let stiffer = symmetric.clone().with_factors(stiffness).unwrap();
    assert_eq!(found(&stiffer), Some(Asymmetry::Stiffness));
    let mut turning = isotropic((0.4, 0.4));
    turning[0][0] = 6.0;
    let frame = [[0.8, 0.6, 0.0], [-0.6, 0.8, 0.0], [0.0, 0.0, 1.0]];
    let law = Law::Anisotropic(turned(&turning, &frame));
    let laws = Some(Laws::new(vec![law], vec![Some(0); mesh.n_elements()]));
    let equation = (*symmetric).clone().with_data(ElementData { laws, ..Default::default() });
    assert_eq!(found(&of(equation, loads())), Some(Asymmetry::Stiffness));

    let changed = |change: &dyn Fn(&mut LoadCase), case: usize| {
        let mut loads = loads();
        change(&mut loads[case]);
        found(&of((*symmetric).clone(), loads))
    };
    assert_eq!(changed(&|case| case.forces[3 * free + 2] += 1e-3, 0), load("force"));
    let aside = BodyForce::from([0.1, 0.0, 0.0]);
    assert_eq!(changed(&|case| case.body_force = aside, 0), load("force"));
    let hotter = temperature_changes(&mesh, &Noise(2).vector(mesh.n_nodes()));
    let strains = ThermalStrains::new(vec![[1e-3; 6]], vec![0; mesh.n_elements()], hotter);
    assert_eq!(changed(&|case| case.thermal = Some(strains.clone()), 1), load("heat"));
    let moved = |case: &mut LoadCase| {
        let mut moved = vec![0.0; 3 * mesh.n_nodes()];
        let fixed = (0..mesh.n_nodes()).find(|&node| symmetric.constraints().is_held(node));
        moved[3 * fixed.unwrap()] = 0.1;
        case.prescribed = Some(moved);
    };
    assert_eq!(changed(&moved, 0), load("force"));
}
