//! Diffusion in tetrahedra of ten nodes against the reference and mathematics.

use topopt_fem::lumped_capacity;
use topopt_fem::tetrahedra::{TetrahedraMultigrid, gradients};
use topopt_mesh::Renumbering;
use topopt_mesh::tetrahedron::{fine_rule, map, shape_functions, with_first};
use topopt_testing::{distorted_tetrahedra, kuhn};

use super::*;
use crate::films::with_film;

fn wavy(x: [f64; 3]) -> [f64; 3] {
    let shift = 0.1 * x.map(|v| (PI * v).sin()).iter().product::<f64>();
    [x[0] + shift, x[1] - shift, x[2] + 0.5 * shift]
}

/// One brick, straight ones in several patches, and curved ones, each the same and by axes.
fn problems() -> Vec<(String, Problem)> {
    let bulge = |[x, y, z]: [f64; 3]| [x, y, z + 0.2 * (x - 0.5_f64).max(0.0).powi(2)];
    let meshes = [
        ("one brick", kuhn([1; 3], |x| x, false)),
        ("distorted", distorted_tetrahedra(6, 0.3, true)),
        ("partly curved", kuhn([5, 3, 4], bulge, true)),
    ];
    let of_both = |(name, mesh): (&str, HexMesh)| {
        let isotropic = problem(Renumbering::on_import(&mesh).apply(&mesh), |x| x[2] < 0.1);
        let axes = noisy_axes(isotropic.mesh().n_elements());
        let orthotropic = with_axes(isotropic.clone(), &axes);
        [(format!("{name}, orthotropic"), orthotropic), (name.into(), isotropic)]
    };
    meshes.into_iter().flat_map(of_both).collect()
}

#[test]
fn the_matrix_free_operator_is_the_reference() {
    for (name, problem) in problems() {
        let [k, c] = coefficients(&problem);
        let [v, u] = [11, 12].map(|seed| Noise(seed).vector(problem.n_dofs()));
        let mut reference = Reference::new(&problem);
        let mut operator = Strategy::Mf.build(&problem);
        let of = |operator: &mut dyn ElementOperator<Cpu>| {
            operator.set_coefficients(&[&k, &c]);
            let mut diagonal = vec![f64::NAN; u.len()];
            operator.diagonal(&mut diagonal);
            let work = |term| {
                let mut work = vec![f64::NAN; k.len()];
                operator.element_work(term, &v, &u, &mut work);
                work
            };
            [product(&*operator, &u), diagonal, work(0), work(1)]
        };
        for (found, expected) in of(operator.as_mut()).iter().zip(of(&mut reference)) {
            assert_close(found, &expected, 1e-13, &name);
        }
        let mut blocks = BlockJacobi::new(&problem);
        blocks.update(&Cpu, &*operator, &[&k, &c]).unwrap();
        let mut scaled = vec![0.0; u.len()];
        topopt_linalg::Preconditioner::apply(&blocks, &Cpu, &of(&mut reference)[1], &mut scaled);
        assert_close(&scaled, &vec![1.0; u.len()], 1e-12, &name);
    }
}

/// The reference against the integral of sum_i k_i dN_a/dx_i dN_b/dx_i and of c N_a N_b, the latter
/// with constants, which the lumped capacity stores as well.
#[test]
fn the_reference_has_the_integrals() {
    for (name, problem) in problems() {
        let (mesh, n) = (problem.mesh(), problem.mesh().n_elements());
        let along: Vec<[f64; 3]> = match problem.elements().stretches() {
            Some(_) => noisy_axes(n),
            None => vec![[1.0; 3]; n],
        };
        let [v, u] = [11, 12].map(|seed| Noise(seed).vector(mesh.n_nodes()));
        let expected: Vec<f64> = (0..n)
            .map(|e| {
                let x = mesh.tetrahedron_coordinates(e);
                let at_point = |at| {
                    let (g, det) = gradients(&x, at);
                    let slope = |field: &[f64], i: usize| -> f64 {
                        let nodes = mesh.element(e).iter().zip(g);
                        nodes.map(|(&node, g)| field[node as usize] * g[i]).sum()
                    };
                    let works = (0..3).map(|i| along[e][i] * slope(&v, i) * slope(&u, i));
                    works.sum::<f64>() * det / 24.0
                };
                topopt_mesh::tetrahedron::POINTS.map(at_point).iter().sum()
            })
            .collect();
        let mut found = vec![0.0; n];
        let free = problem.with_constraints(Constraints::none(mesh.n_nodes()));
        let reference = Reference::new(&free);
        reference.element_work(Diffusion::CONDUCTION, &v, &u, &mut found);
        found.iter_mut().zip(&along).for_each(|(found, along)| *found *= mean_conductivity(*along));
        assert_close(&found, &expected, 1e-12, &name);

        let ones = vec![1.0; mesh.n_nodes()];
        reference.element_work(Diffusion::CAPACITY, &ones, &ones, &mut found);
        assert_close(&found, &mesh.volumes(), 1e-13, &name);
        let capacities = lumped_capacity(mesh, &vec![1.0; n]);
        assert!(capacities.iter().all(|&c| c > 0.0), "{name}");
    }
}

/// A linear field between nodes that are held at it, on distorted tetrahedra, and with its flux.
#[test]
fn patch_test() {
    let mesh = distorted_tetrahedra(4, 0.3, false);
    let linear = |x: [f64; 3]| 1.0 + x[0] - 2.0 * x[1] + 3.0 * x[2];
    let problem = problem(mesh, is_surface);
    let (mesh, n) = (problem.mesh(), problem.mesh().n_elements());
    let exact: Vec<f64> = mesh.coordinates().iter().map(|x| linear(*x)).collect();
    let free = problem.with_constraints(Constraints::none(mesh.n_nodes()));
    let [k, none] = [vec![2.0; n], vec![0.0; n]];
    let mut operator = Strategy::Mf.build(&free);
    operator.set_coefficients(&[&k, &none]);
    let mut held = exact.clone();
    problem.constraints().clear_free(&mut held);
    let mut f = product(operator.as_ref(), &held);
    f.iter_mut().for_each(|f| *f = -*f);
    problem.constraints().clear(&mut f);

    let (mut u, _) = solved(&problem, [&k, &none], &f, 1e-14);
    u.iter_mut().zip(held).for_each(|(u, held)| *u += held);
    assert!(u.iter().zip(&exact).all(|(u, exact)| (u - exact).abs() < 1e-12));
    assert!(problem.constraints().n_fixed() + 300 < u.len());

    let fluxes = heat_flux(&problem, &k, &u).into_flattened();
    let expected: Vec<f64> = (0..n).flat_map(|_| [-2.0, 4.0, -6.0]).collect();
    assert_close(&fluxes, &expected, 1e-11, "flux");
}

fn is_surface(x: [f64; 3]) -> bool {
    x.iter().any(|v| !(1e-9..1.0 - 1e-9).contains(v))
}

/// The solution of K u = f by multigrid, and the iterations.
fn solved(
    problem: &Problem,
    fields: [&Vec<f64>; 2],
    f: &Vec<f64>,
    tolerance: f64,
) -> (Vec<f64>, usize) {
    let mut operator = WithSprings::new(&Cpu, problem, Strategy::Mf.build(problem)).unwrap();
    operator.set_coefficients(&fields);
    let mut m = TetrahedraMultigrid::<_, 1, 1>::new(problem, CycleKind::V).unwrap();
    m.update(&Cpu, &operator, &fields).unwrap();
    let system = System { backend: &Cpu, a: &operator, m: &m, f };
    let options = PcgOptions { tolerance, max_iterations: 500 };
    let (mut u, mut pcg) = (vec![0.0; f.len()], Pcg::new(&Cpu, problem.space()).unwrap());
    let outcome = pcg.solve(&system, &mut u, options, &mut |_| ControlFlow::Continue(())).unwrap();
    assert!(outcome.relative_residual < 10.0 * tolerance, "{outcome:?}");
    (u, outcome.iterations)
}

/// Sees nodes, shape functions, place and weight of a point of the fine rule.
type Visit<'v> = dyn FnMut(&[u32], [f64; 10], [f64; 3], f64) + 'v;

fn each_point(mesh: &HexMesh, visit: &mut Visit) {
    for e in 0..mesh.n_elements() {
        let x = mesh.tetrahedron_coordinates(e);
        for (at, weight) in fine_rule().map(|(at, weight)| (with_first(at), weight)) {
            let det = gradients(&x, at).1;
            visit(mesh.element(e), shape_functions(at), map(&x, at), weight * det);
        }
    }
}

/// The error in L2 of a solution for a `source`, and a film with its `ambient` on the upper part.
fn error(
    problem: &Problem,
    fields: [&Vec<f64>; 2],
    source: impl Fn([f64; 3]) -> f64,
    exact: impl Fn([f64; 3]) -> f64,
) -> f64 {
    let mesh = problem.mesh();
    let mut f = vec![0.0; mesh.n_nodes()];
    each_point(mesh, &mut |nodes, shapes, x, weight| {
        (0..10).for_each(|a| f[nodes[a] as usize] += source(x) * shapes[a] * weight);
    });
    problem.constraints().clear(&mut f);
    let (u, _) = solved(problem, fields, &f, 1e-12);
    let mut square = 0.0;
    each_point(mesh, &mut |nodes, shapes, x, weight| {
        let found: f64 = (0..10).map(|a| shapes[a] * u[nodes[a] as usize]).sum();
        square += (found - exact(x)).powi(2) * weight;
    });
    square.sqrt()
}

/// The exact product of sines of -k lap u = f, and with a k along each axis, on curved and on
/// straight tetrahedra: of third order. A capacity, which is lumped, is of second order.
#[test]
fn it_is_of_third_order() {
    let exact = |x: [f64; 3]| x.map(|v| (PI * v).sin()).iter().product::<f64>();
    for (along, c, is_curved, expected) in [
        ([0.7; 3], 0.0, true, 3.0),
        ([0.2, 0.7, 3.0], 0.0, false, 3.0),
        ([0.7; 3], 10.0, true, 2.0),
    ] {
        let factor = PI * PI * along.iter().sum::<f64>() + c;
        let errors = [4, 8].map(|n| {
            let problem = problem(kuhn([n; 3], wavy, is_curved), is_surface);
            let n_elements = problem.mesh().n_elements();
            let problem = with_axes(problem, &vec![along; n_elements]);
            let [k, c] = [mean_conductivity(along), c].map(|value| vec![value; n_elements]);
            error(&problem, [&k, &c], |x| factor * exact(x), exact)
        });
        let order = (errors[0] / errors[1]).log2();
        assert!((order - expected).abs() < 0.25, "{along:?}: order {order:.3}, {errors:?}");
    }
}

/// The matrix of films on triangles is that of N_a N_b, positive definite on the nodes of the faces,
/// curved ones too; row sums are areas, and zero at vertices of flat ones.
#[test]
fn films_are_positive() {
    let bulge = |[x, y, z]: [f64; 3]| [x, y + 0.1 * x * x, z + 0.2 * x * y];
    let mesh = kuhn([2, 2, 1], bulge, true);
    let held = with_film(Constraints::none(mesh.n_nodes()), &mesh, 3.0);
    let problem = Discretization::new(mesh, Diffusion::default(), held);
    let n = problem.mesh().n_elements();
    let mut operator = WithSprings::new(&Cpu, &problem, Strategy::Mf.build(&problem)).unwrap();
    operator.set_coefficients(&[&vec![0.0; n], &vec![0.0; n]]);
    let a = dense(&operator);
    let on_faces: Vec<usize> = (0..a.nrows()).filter(|&node| a[(node, node)] > 0.0).collect();
    let of_faces = a.select_rows(&on_faces).select_columns(&on_faces);
    assert!((&of_faces - of_faces.transpose()).amax() < 1e-15);
    assert!(of_faces.symmetric_eigenvalues().min() > 1e-4);
    let total: f64 = product(&operator, &vec![1.0; a.nrows()]).iter().sum();
    let springs = problem.constraints().springs().unwrap();
    assert!((total / springs.iter().sum::<f64>() - 1.0).abs() < 1e-13);

    // The diagonal for preconditioners is that of the matrix, at vertices as well.
    let mut diagonal = vec![0.0; a.nrows()];
    operator.diagonal(&mut diagonal);
    assert!(on_faces.iter().all(|&node| diagonal[node] > 0.99 * a[(node, node)]));
}

/// Noise held at one end, with a film, by multigrid.
fn iterations(mesh: &HexMesh, film: f64, k: impl Fn(usize) -> f64, capacity: f64) -> usize {
    let mesh = Renumbering::on_import(mesh).apply(mesh);
    let k: Vec<f64> = (0..mesh.n_elements()).map(k).collect();
    let c = vec![capacity; k.len()];
    let held = problem(mesh, |x| x[0] < 1e-9);
    let constraints = with_film(held.constraints().clone(), held.mesh(), film);
    let problem = held.with_constraints(constraints);
    let mut f = Noise(5).vector(problem.n_dofs());
    problem.constraints().clear(&mut f);
    solved(&problem, [&k, &c], &f, 1e-8).1
}

#[test]
fn multigrid_takes_few_iterations_on_blocks_and_thin_parts() {
    let block = kuhn([15, 5, 5], |[x, y, z]| [60.0 * x, 20.0 * y, 20.0 * z], false);
    let strip = kuhn([60, 10, 1], |[x, y, z]| [120.0 * x, 20.0 * y, 2.0 * z], false);
    let scattered = |e: usize| if e % 7 < 3 { 1.0 } else { 1e-9 };
    let same = |_| 1.0;
    let found = [
        iterations(&block, 0.0, same, 0.0),
        iterations(&strip, 0.0, same, 0.0),
        iterations(&block, 0.0, scattered, 0.0),
        iterations(&block, 0.0, same, 100.0),
        iterations(&block, 1e-2, same, 0.0),
        iterations(&block, 1e4, same, 0.0),
        iterations(&strip, 1e4, same, 1e3),
    ];
    assert!(found.iter().all(|&found| found <= 20), "{found:?}");
}

#[test]
fn multigrid_keeps_its_iterations_as_meshes_grow() {
    let found =
        [6, 13].map(|n| iterations(&distorted_tetrahedra(n, 0.2, false), 0.0, |_| 1.0, 0.0));
    assert!(found.iter().all(|&found| found <= 20), "{found:?}");
}

/// The consistent capacity, by plain loops over the fine rule, of free nodes.
#[test]
fn a_consistent_capacity_has_its_integrals() {
    for (name, problem) in problems() {
        let problem = problem.with_capacity(true);
        let (mesh, held) = (problem.mesh(), problem.constraints());
        let n = mesh.n_elements();
        let [v, x] = [3, 4].map(|seed| Noise(seed).vector(problem.n_dofs()));
        let mut free = x.clone();
        held.clear(&mut free);
        let mut expected = vec![0.0; x.len()];
        each_point(mesh, &mut |nodes, shapes, _, weight| {
            let value: f64 = (0..10).map(|a| shapes[a] * free[nodes[a] as usize]).sum();
            (0..10).for_each(|a| expected[nodes[a] as usize] += weight * shapes[a] * value);
        });
        (0..x.len()).filter(|&node| held.is_held(node)).for_each(|node| expected[node] = x[node]);
        let mut operator = Strategy::Mf.build(&problem);
        operator.set_coefficients(&[&vec![0.0; n], &vec![1.0; n]]);
        let found = product(operator.as_ref(), &x);
        // The fine rule is scaled to the volume by four points.
        let tolerance = if name.contains("curved") { 1e-3 } else { 1e-12 };
        assert_close(&found, &expected, tolerance, &name);

        let mut works = vec![f64::NAN; n];
        operator.element_work(Diffusion::CAPACITY, &v, &free, &mut works);
        let expected: f64 =
            (0..v.len()).filter(|&k| !held.is_held(k)).map(|k| v[k] * found[k]).sum();
        let mut free_v = v.clone();
        held.clear(&mut free_v);
        operator.element_work(Diffusion::CAPACITY, &free_v, &free, &mut works);
        let total: f64 = works.iter().sum();
        assert!((total - expected).abs() < 1e-12 * expected.abs().max(1.0), "{name}");
    }
}
