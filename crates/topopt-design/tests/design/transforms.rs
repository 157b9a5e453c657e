//! Densities made from design variables: every transform and the whole chain by finite differences.

use topopt_design::{
    Candidate, Candidates, Chain, Cone, DensityFilter, DesignTransform, Evened, Projection,
    Settings, Subpixel, Tied, Weights, physical_density,
};
use topopt_fem::{CpuCorners, Helmholtz};
use topopt_linalg::{Backend, Cpu, Csr, Gather, Space};
use topopt_mesh::HexMesh;
use topopt_testing::{derivative, distorted_cube, distorted_tetrahedra, unit};

use super::{cantilever, compliance, space};

/// H for a radius that reaches the second neighbors.
pub fn weights<'a>(mesh: &HexMesh) -> Weights<'a, Cpu> {
    Weights::fixed(Box::new(Cone::new(mesh.centers(), 1.8, usize::MAX)))
}

/// Values in \[0.05, 0.95\] that do not repeat.
pub fn scattered(n: usize) -> Vec<f64> {
    (0..n).map(|e| 0.5 + 0.45 * (e as f64 * 1.7).sin()).collect()
}

fn density(transform: &mut dyn DesignTransform<Cpu>, x: &Vec<f64>) -> Vec<f64> {
    let mut y = vec![f64::NAN; transform.outputs().points];
    transform.forward(&Cpu, x, &mut y).unwrap();
    y
}

/// Holds `gradient` of `f` at `x` against fourth-order central differences in each of some
/// elements, and in all of them at once.
pub fn agrees_with_differences(x: &[f64], gradient: &[f64], f: &mut dyn FnMut(&Vec<f64>) -> f64) {
    let n = x.len();
    let mut directions: Vec<Vec<f64>> =
        [0, 3, 17, 20, 21, n / 2 + 13, n - 1].map(|e| unit(n, e)).into();
    directions.push((0..n).map(|i| (i as f64 * 0.9).cos()).collect());
    let size = gradient.iter().map(|g| g.abs()).fold(0.0, f64::max);
    for (k, direction) in directions.iter().enumerate() {
        let difference = derivative(x, direction, 1e-4, &mut *f);
        let expected: f64 = gradient.iter().zip(direction).map(|(g, d)| g * d).sum();
        let error = (expected - difference).abs() / size;
        assert!(error < 1e-6, "direction {k}: {expected} against {difference}, {error:.1e}");
    }
}

/// Holds `backward` against differences of `forward`, weighted so that elements do not cancel.
pub fn backward_is_the_derivative_of_forward(transform: &mut dyn DesignTransform<Cpu>) {
    let x = scattered(transform.inputs().points);
    let weights: Vec<f64> =
        (0..transform.outputs().points).map(|e| 1.0 + (e as f64 * 0.7).cos()).collect();
    density(transform, &x);
    let mut gradient = vec![f64::NAN; x.len()];
    transform.backward(&Cpu, &weights, &mut gradient).unwrap();
    agrees_with_differences(&x, &gradient, &mut |x| Cpu.dot(&weights, &density(transform, x)));
}

/// With the projection's sharpness, if there is to be one.
pub fn physical(sharpness: Option<f64>) -> Chain<'static, Cpu> {
    let problem = cantilever();
    let space = space(problem.mesh());
    let filter = DensityFilter::new(&Cpu, weights(problem.mesh()), &space.volumes).unwrap();
    let n = space.volumes.len();
    let projection =
        sharpness.map(|beta| Projection::new(&Cpu, n, space.density_min, 0.45, beta).unwrap());
    physical_density(&Cpu, filter, projection, None, &space).unwrap()
}

#[test]
fn transforms_agree_with_finite_differences() {
    let mesh = cantilever();
    let mesh = mesh.mesh();
    let (n, volumes) = (mesh.n_elements(), mesh.volumes());
    let helmholtz = Weights::fixed(Box::new(Helmholtz::new(mesh, 3.5).unwrap()));

    for weights in [weights(mesh), helmholtz] {
        let mut filter = DensityFilter::new(&Cpu, weights, &volumes).unwrap();
        backward_is_the_derivative_of_forward(&mut filter);
    }

    // The sum over the elements is kept, by volume.
    let helmholtz = Weights::fixed(Box::new(Helmholtz::new(mesh, 3.5).unwrap()));
    let mut filter = DensityFilter::new(&Cpu, helmholtz, &volumes).unwrap();
    let x = scattered(n);
    let volume = Cpu.dot(&volumes, &density(&mut filter, &x)) / Cpu.dot(&volumes, &x);
    assert!((volume - 1.0).abs() < 1e-10, "the volume becomes {volume} of what it was");

    for beta in [0.5, 4.0, 16.0] {
        let mut projection = Projection::new(&Cpu, n, 0.01, 0.4, beta).unwrap();
        backward_is_the_derivative_of_forward(&mut projection);
        let settings = Settings { sharpness: Some(3.0), ..Settings::default() };
        projection.enter(&Cpu, &settings).unwrap();
        backward_is_the_derivative_of_forward(&mut projection);
    }

    for beta in [0.5, 4.0] {
        backward_is_the_derivative_of_forward(&mut onto_materials(n, beta));
    }

    for sharpness in [None, Some(2.0), Some(8.0)] {
        backward_is_the_derivative_of_forward(&mut physical(sharpness));
    }
}

/// A projection with a half width on `mesh`, frozen or not.
fn subpixel<'a>(mesh: &'a HexMesh, half_width: f64, is_frozen: bool) -> Projection<'a, Cpu> {
    let sizes = [mesh.n_nodes(), mesh.n_elements()];
    let maps = Box::new(CpuCorners::new(mesh));
    let subpixel = Subpixel::new(&Cpu, maps, &mesh.volumes(), sizes).unwrap();
    let projection = Projection::new(&Cpu, sizes[1], 0.01, 0.5, 1.0).unwrap();
    let mut projection = projection.with_subpixel(subpixel);
    let half_width = Some(half_width);
    let settings = Settings { half_width, is_frozen, ..Settings::default() };
    projection.enter(&Cpu, &settings).unwrap();
    projection
}

#[test]
fn the_subpixel_projection_agrees_with_finite_differences() {
    for mesh in [distorted_cube(5, 0.2, true), distorted_tetrahedra(3, 0.2, true)] {
        let volumes = mesh.volumes();
        let radius = 2.5 * (volumes.iter().sum::<f64>() / volumes.len() as f64).cbrt();
        for half_width in [3.0, 0.55] {
            let cone = Cone::new(mesh.centers(), radius, usize::MAX);
            let weights = Weights::fixed(Box::new(cone));
            let filter = DensityFilter::new(&Cpu, weights, &volumes).unwrap();
            let links: Vec<Box<dyn DesignTransform<Cpu>>> =
                vec![Box::new(filter), Box::new(subpixel(&mesh, half_width, false))];
            let mut chain = Chain::new(&Cpu, volumes.len(), links).unwrap();
            backward_is_the_derivative_of_forward(&mut chain);
        }
    }
}

#[test]
fn the_subpixel_projection_cuts_along_a_plane_and_its_frozen_derivative_has_one_sign() {
    let mesh = distorted_cube(12, 0.0, true);
    let width = 1.0 / 12.0;
    let x: Vec<f64> = mesh.centers().iter().map(|c| c[0] + 0.25 * c[1]).collect();
    let mut projection = subpixel(&mesh, 0.55, true);
    let y = density(&mut projection, &x);
    for (y, center) in y.iter().zip(mesh.centers()) {
        // Away from the surface, where means at the corners are one-sided.
        if center.iter().any(|c| (c - 0.5).abs() > 0.5 - 2.1 * width) {
            continue;
        }
        let distance = (center[0] + 0.25 * center[1] - 0.5) / (1.0f64 + 0.0625).sqrt() / width;
        match distance {
            d if d > 0.551 => assert_eq!(*y, 1.0),
            d if d < -0.551 => assert!((y - 0.01).abs() < 1e-15),
            d => assert!((0.01..=1.0).contains(y), "{d}: {y}"),
        }
    }
    let mut gradient = vec![f64::NAN; x.len()];
    projection.backward(&Cpu, &vec![1.0; x.len()], &mut gradient).unwrap();
    assert!(gradient.iter().all(|g| *g >= 0.0) && gradient.iter().any(|g| *g > 0.0));
}

#[test]
fn compliance_by_the_design_variables_agrees_with_finite_differences() {
    let problem = cantilever();
    let x = scattered(problem.mesh().n_elements());
    for sharpness in [None, Some(5.0)] {
        let mut physical = physical(sharpness);
        let (_, by_density) = compliance(&problem, &density(&mut physical, &x));
        let mut gradient = vec![f64::NAN; x.len()];
        physical.backward(&Cpu, &by_density, &mut gradient).unwrap();
        let mut at = |x: &Vec<f64>| compliance(&problem, &density(&mut physical, x)).0;
        agrees_with_differences(&x, &gradient, &mut at);
    }
    let space = space(problem.mesh());
    let helmholtz = Weights::fixed(Box::new(Helmholtz::new(problem.mesh(), 3.5).unwrap()));
    let filter = DensityFilter::new(&Cpu, helmholtz, &space.volumes).unwrap();
    let mut physical = physical_density(&Cpu, filter, None, None, &space).unwrap();
    let (_, by_density) = compliance(&problem, &density(&mut physical, &x));
    let mut gradient = vec![f64::NAN; x.len()];
    physical.backward(&Cpu, &by_density, &mut gradient).unwrap();
    let mut at = |x: &Vec<f64>| compliance(&problem, &density(&mut physical, x)).0;
    agrees_with_differences(&x, &gradient, &mut at);
}

#[test]
fn the_density_filter_follows_the_formula() {
    let problem = cantilever();
    let mesh = problem.mesh();
    let (centers, volumes) = (mesh.centers(), mesh.volumes());
    let x = scattered(volumes.len());
    let mut filter = DensityFilter::new(&Cpu, weights(mesh), &volumes).unwrap();
    let found = density(&mut filter, &x);
    for e in [0, 40, 127] {
        let weight = |i: usize| {
            let square: f64 = (0..3).map(|k| (centers[e][k] - centers[i][k]).powi(2)).sum();
            (1.8 - square.sqrt()).max(0.0) * volumes[i]
        };
        let sum: f64 = (0..x.len()).map(weight).sum();
        let expected = (0..x.len()).map(|i| weight(i) * x[i]).sum::<f64>() / sum;
        assert!((found[e] / expected - 1.0).abs() < 1e-13);
    }
    let uniform = density(&mut filter, &vec![0.37; x.len()]);
    assert!(uniform.iter().all(|y| (y - 0.37).abs() < 1e-15), "a uniform field stays as it is");
}

/// The projection of `n` elements onto two materials besides the solid.
fn onto_materials(n: usize, beta: f64) -> Projection<'static, Cpu> {
    let of = |mass| Candidate { mass, stiffness: 0.8 * mass };
    let candidates = Candidates::new(vec![of(0.6), of(0.35)]);
    let projection = Projection::new(&Cpu, n, 0.01, 0.5, beta).unwrap();
    projection.with_candidates(&Cpu, &candidates).unwrap()
}

#[test]
fn the_projection_onto_materials_has_a_step_between_each_two() {
    let ends = vec![0.0, 0.16, 0.19, 0.35, 0.46, 0.49, 0.6, 0.79, 0.81, 1.0];
    let levels = [0.01, 0.01, 0.35, 0.35, 0.35, 0.6, 0.6, 0.6, 1.0, 1.0];
    let y = density(&mut onto_materials(10, 256.0), &ends);
    let off = y.iter().zip(levels).map(|(y, level)| (y - level).abs()).fold(0.0, f64::max);
    assert!(off < 0.01, "{y:?}");
    let y = density(&mut onto_materials(10, 0.01), &ends);
    let line = ends.iter().map(|x| 0.01 + 0.99 * x);
    let off = y.iter().zip(line).map(|(y, line)| (y - line).abs()).fold(0.0, f64::max);
    assert!(off < 0.01, "{y:?}");
}

#[test]
fn the_projection_runs_from_void_to_solid_and_sharpens() {
    let ends = vec![0.0, 1.0, 0.3, 0.5];
    for beta in [0.01, 1.0, 30.0, 256.0] {
        let mut projection = Projection::new(&Cpu, 4, 0.01, 0.4, beta).unwrap();
        let y = density(&mut projection, &ends);
        assert!((y[0] - 0.01).abs() < 1e-14 && (y[1] - 1.0).abs() < 1e-14, "{beta}: {y:?}");
        let mut slope = vec![0.0; 4];
        projection.backward(&Cpu, &vec![1.0; 4], &mut slope).unwrap();
        assert!(slope.iter().all(|s| *s > 0.0 && s.is_finite()), "{beta}: {slope:?}");
        match beta {
            0.01 => assert!((y[2] - (0.01 + 0.99 * 0.3)).abs() < 1e-3, "nearly a straight line"),
            256.0 => assert!(y[2] < 0.01 + 1e-12 && y[3] > 1.0 - 1e-12, "nearly a step"),
            _ => {}
        }
    }
}

#[test]
fn passive_elements_keep_their_density_and_have_no_say() {
    let n = 128;
    for sharpness in [None, Some(8.0)] {
        let mut physical = physical(sharpness);
        let y = density(&mut physical, &scattered(n));
        assert_eq!((y[3], y[77], y[20]), (1.0, 1.0, 0.01));
        assert!(y.iter().all(|y| (0.01..=1.0).contains(y)));
        let mut only_passive = vec![0.0; n];
        [3, 77, 20].iter().for_each(|e| only_passive[*e] = 1.0);
        let mut gradient = vec![f64::NAN; n];
        physical.backward(&Cpu, &only_passive, &mut gradient).unwrap();
        assert_eq!(gradient, vec![0.0; n]);
    }
}

/// Ties the element layers z and 3 - z of the cantilever: half as many design variables as
/// elements.
pub fn layers_tied<B: Gather>(backend: &B) -> Tied<B> {
    let layer = 8 * 4;
    let variable = |e: usize| (e % layer + layer * (e / layer).min(3 - e / layer)) as u32;
    let n = if backend.has_values() { 128 } else { 0 };
    let shares = Csr::selection((0..n).map(variable).collect());
    Tied::new(backend, &shares, vec![1.0; n], [64, 128]).unwrap()
}

/// Chains density filter, projection and passive elements after tied layers.
pub fn tied_before_physical(sharpness: Option<f64>) -> Chain<'static, Cpu> {
    let links: Vec<Box<dyn DesignTransform<Cpu>>> =
        vec![Box::new(layers_tied(&Cpu)), Box::new(physical(sharpness))];
    Chain::new(&Cpu, 128, links).unwrap()
}

#[test]
fn chains_may_have_fewer_inputs_than_outputs() {
    for sharpness in [None, Some(2.0), Some(8.0)] {
        let mut chain = tied_before_physical(sharpness);
        assert_eq!((chain.inputs(), chain.outputs()), (Space::variables(64), Space::elements(128)));
        backward_is_the_derivative_of_forward(&mut chain);
    }
    let mut alone = Chain::new(&Cpu, 128, vec![Box::new(layers_tied(&Cpu)) as Box<_>]).unwrap();
    backward_is_the_derivative_of_forward(&mut alone);
    let x = scattered(64);
    let tied = density(&mut alone, &x);
    assert_eq!(alone.inputs_for(tied), x);
    let mut identity = Chain::identity(64);
    assert!(identity.is_identity() && !alone.is_identity());
    assert_eq!(density(&mut identity, &x), x);
}

/// Rows in which each of 128 elements has two of 64 variables, with weights that differ.
fn interpolated() -> Csr {
    let weight = |e: usize| 0.5 + 0.4 * (e as f64 * 2.3).sin();
    let columns = |e: usize| [(e / 2) as u32, ((e / 2 + 7) % 64) as u32];
    Csr {
        starts: (0..=128).map(|e| 2 * e).collect(),
        columns: (0..128).flat_map(columns).collect(),
        values: (0..128).flat_map(|e| [weight(e), 1.0 - weight(e)]).collect(),
    }
}

#[test]
fn variables_may_be_shared_by_weights() {
    let problem = cantilever();
    let (volumes, sizes) = (problem.mesh().volumes(), [64, 128]);
    let shares = interpolated();
    let tied = Tied::new(&Cpu, &shares, volumes.clone(), sizes).unwrap();
    let filter = DensityFilter::new(&Cpu, weights(problem.mesh()), &volumes).unwrap();
    let mut evened = Evened::new(&Cpu, &shares, &volumes, sizes).unwrap();
    backward_is_the_derivative_of_forward(&mut evened);
    // Derivatives of the sum keep their sum, as a uniform density is kept.
    let mut gradient = vec![f64::NAN; 128];
    evened.backward(&Cpu, &vec![1.0; 128], &mut gradient).unwrap();
    assert!((gradient.iter().sum::<f64>() / 128.0 - 1.0).abs() < 1e-14);
    assert!(density(&mut evened, &vec![0.7; 128]).iter().all(|y| (y - 0.7).abs() < 1e-14));

    let links: Vec<Box<dyn DesignTransform<Cpu>>> =
        vec![Box::new(tied), Box::new(filter), Box::new(evened)];
    backward_is_the_derivative_of_forward(&mut Chain::new(&Cpu, 128, links).unwrap());

    // Bounds of a variable are those of its designed elements.
    let mut of_two = volumes;
    of_two[0] = 0.0;
    let shares = Csr::selection((0..128).map(|e| e / 2).collect());
    let tied = Tied::new(&Cpu, &shares, of_two, sizes).unwrap();
    let mut bounds = vec![0.01; 128];
    bounds[0] = 1.0;
    assert!((tied.inputs_for(bounds)[0] - 0.01).abs() < 1e-10);
}

#[test]
#[should_panic(expected = "fit each other")]
fn a_chain_of_links_that_do_not_fit_is_refused() {
    let links: Vec<Box<dyn DesignTransform<Cpu>>> =
        vec![Box::new(physical(None)), Box::new(layers_tied(&Cpu))];
    let _ = Chain::new(&Cpu, 128, links);
}
