//! Orders of convergence by manufactured solutions, and designs by multigrid.

use topopt_fem::lumped_capacity;
use topopt_testing::branches;

use super::*;
use crate::convergence::gauss_5;

/// Sees nodes, shape functions, place and weight of a Gauss point.
type Visit<'v> = dyn FnMut(&[u32; 8], [f64; 8], [f64; 3], f64) + 'v;

/// The error in L2 of -div(k grad u) + c u = `source` with `fields` k and c by elements, which `exact`
/// solves.
fn error(
    problem: &Problem,
    fields: [&Vec<f64>; 2],
    source: impl Fn([f64; 3]) -> f64,
    exact: impl Fn([f64; 3]) -> f64,
) -> f64 {
    let mesh = problem.mesh();
    let each_point = |visit: &mut Visit| {
        for (e, hex) in mesh.hexes().iter().enumerate() {
            let x = mesh.element_coordinates(e);
            for (xi, weight) in gauss_5() {
                let det = physical_gradients(&x, xi).1 * weight;
                visit(hex, hexahedron::shape_functions(xi), hexahedron::map(&x, xi), det);
            }
        }
    };
    let mut f = vec![0.0; mesh.n_nodes()];
    each_point(&mut |hex, shapes, x, det| {
        (0..8).for_each(|a| f[hex[a] as usize] += source(x) * shapes[a] * det);
    });
    problem.constraints().clear(&mut f);

    let mut operator = Strategy::Bsr.build(problem);
    operator.set_coefficients(&fields);
    let mut m = Multigrid::new(problem, CycleKind::K).unwrap();
    m.update(&Cpu, operator.as_ref(), &fields).unwrap();
    let mut u = vec![0.0; mesh.n_nodes()];
    solve(operator.as_ref(), &m, &f, &mut u);

    let mut square = 0.0;
    each_point(&mut |hex, shapes, x, det| {
        let found: f64 = (0..8).map(|a| shapes[a] * u[hex[a] as usize]).sum();
        square += (found - exact(x)).powi(2) * det;
    });
    square.sqrt()
}

fn is_surface(x: [f64; 3]) -> bool {
    x.iter().any(|v| !(1e-9..1.0 - 1e-9).contains(v))
}

fn assert_second_order(errors: [f64; 2]) {
    let order = (errors[0] / errors[1]).log2();
    assert!((order - 2.0).abs() < 0.15, "order {order:.3}, errors {errors:?}");
}

/// The exact product of sines on the unit cube, which is zero on its surface, of
/// -k lap u + c u = f, and with a k along each axis.
#[test]
fn it_is_of_second_order() {
    let exact = |x: [f64; 3]| x.map(|v| (PI * v).sin()).iter().product::<f64>();
    let wavy = |x: [f64; 3]| {
        let shift = 0.12 * x.map(|v| (PI * v).sin()).iter().product::<f64>();
        [x[0] + shift, x[1] - shift, x[2] + 0.5 * shift]
    };
    for (by, along) in FORMULATIONS.map(|by| [(by, [0.7; 3]), (by, [0.2, 0.7, 3.0])]).concat() {
        let (k, c) = (mean_conductivity(along), 20.0);
        let factor = PI * PI * along.iter().sum::<f64>() + c;
        assert_second_order([6, 12].map(|n| {
            let problem = problem_by(by, mapped_cube(n, wavy), is_surface);
            let n_elements = problem.mesh().n_elements();
            let problem = with_axes(problem, &vec![along; n_elements]);
            let [k, c] = [k, c].map(|value| vec![value; n_elements]);
            error(&problem, [&k, &c], |x| factor * exact(x), exact)
        }));
    }
}

/// Two materials with an interface at z = 1/2 and elements that are distorted on both sides:
/// u = sin(pi x) sin(pi y) sin(2 pi z) / k, whose slope jumps there and whose flux does not.
#[test]
fn it_is_of_second_order_across_interfaces() {
    let conductivity = |x: [f64; 3]| if x[2] < 0.5 { 1.0 } else { 30.0 };
    let sines = |[x, y, z]: [f64; 3]| (PI * x).sin() * (PI * y).sin() * (2.0 * PI * z).sin();
    // The interface stays where it is, and is distorted in itself.
    let wavy = |x: [f64; 3]| {
        let shift = 0.1 * x.map(|v| (PI * v).sin()).iter().product::<f64>();
        [x[0] + shift, x[1] - shift, x[2] + 0.3 * sines(x) / PI]
    };
    for by in FORMULATIONS {
        assert_second_order([8, 16].map(|n| {
            let problem = problem_by(by, mapped_cube(n, wavy), is_surface);
            let k: Vec<f64> = problem.mesh().centers().into_iter().map(conductivity).collect();
            let exact = |x| sines(x) / conductivity(x);
            error(&problem, [&k, &vec![0.0; k.len()]], |x| 6.0 * PI * PI * sines(x), exact)
        }));
    }
}

/// A design of branches in void of 1e-3, 1e-6 and 1e-9 of the conductivity, heated everywhere and
/// held at the foot of its trunk, by aggregates of the mesh and by those around the void. Penalized
/// rims are in between.
#[test]
fn multigrid_solves_designs_of_every_contrast() {
    for mesh in [distorted_cube(20, 0.2, true), distorted_cube(28, 0.0, false)] {
        let foot = |x: [f64; 3]| x[2] < 0.01 && (x[0] - 0.5).hypot(x[1] - 0.5) < 0.15;
        let problem = problem(mesh, foot);
        let mesh = problem.mesh();
        let density = branches(mesh);
        let is_void = |e: &u32| density[*e as usize] == 0.0;
        let void: Vec<u32> = (0..mesh.n_elements() as u32).filter(is_void).collect();
        let capacities = vec![1.0; density.len()];
        let mut f = lumped_capacity(mesh, &capacities);
        problem.constraints().clear(&mut f);

        for contrast in [1e-3, 1e-6, 1e-9] {
            let k = density.iter().map(|rho| contrast + (1.0 - contrast) * rho.powi(3)).collect();
            let fields = [&k, &vec![0.0; density.len()]];
            let mut operator = Strategy::Bsr.build(&problem);
            operator.set_coefficients(&fields);
            let mut m = Multigrid::new(&problem, CycleKind::K).unwrap();
            let counts = [false, true].map(|follows| {
                if follows {
                    m.restructure(&Cpu, &void).unwrap();
                }
                m.update(&Cpu, operator.as_ref(), &fields).unwrap();
                solve(operator.as_ref(), &m, &f, &mut vec![0.0; f.len()])
            });
            assert!(counts.iter().all(|&count| count <= 30), "{contrast}: {counts:?}");
        }
    }
}

/// Nodes moved at random by up to 0.3 of an element: the errors of both formulations fall alike and
/// differ by less than 1 %.
#[test]
fn modes_are_as_accurate_as_full_integration() {
    let exact = |x: [f64; 3]| x.map(|v| (PI * v).sin()).iter().product::<f64>();
    let errors_of = |mesh: &HexMesh| {
        FORMULATIONS.map(|by| {
            let problem = problem_by(by, mesh.clone(), is_surface);
            let n = problem.mesh().n_elements();
            let fields = [&vec![1.0; n], &vec![0.0; n]];
            error(&problem, fields, |x| 3.0 * PI * PI * exact(x), exact)
        })
    };
    for share in [0.1, 0.2, 0.3] {
        let [coarse, fine] = [8, 16].map(|n| errors_of(&distorted_cube(n, share, false)));
        assert_second_order([coarse[0], fine[0]]);
        for [modes, full] in [coarse, fine] {
            let ratio = modes / full;
            assert!((1.0001..1.01).contains(&ratio), "{share}: {modes} for {full}");
        }
    }
}
