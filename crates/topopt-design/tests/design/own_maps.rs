//! Transforms and forces of a caller against finite differences.

use std::sync::Arc;

use topopt_design::{
    Chain, DensityFilter, DesignTransform, HostMap, HostTransform, Pullback, StateEquation,
    physical_density,
};
use topopt_linalg::{BackendError, Cpu};

use super::differences::hold_under;
use super::responses::loaded;
use super::transforms::{backward_is_the_derivative_of_forward, weights};
use super::{cantilever, space};

/// y_e = (x_e + x_{e+1}^2) / 2, with the first element after the last.
struct Mixed;

impl HostMap for Mixed {
    fn evaluate(&self, x: &[f64]) -> Result<(Vec<f64>, Pullback), BackendError> {
        let (n, x) = (x.len(), x.to_vec());
        let y = (0..n).map(|e| (x[e] + x[(e + 1) % n].powi(2)) / 2.0).collect();
        let back = move |dy: &[f64]| {
            let slope = |e: usize| dy[e] / 2.0 + dy[(e + n - 1) % n] * x[e];
            Ok((0..n).map(slope).collect())
        };
        Ok((y, Box::new(back)))
    }
}

/// Forces f_k = sin(k) / 9 sum_e x_e^2 cos(k e), 0 at held components.
struct Drawn {
    is_held: Vec<bool>,
}

impl HostMap for Drawn {
    fn evaluate(&self, x: &[f64]) -> Result<(Vec<f64>, Pullback), BackendError> {
        let held = self.is_held.clone();
        let weight = move |k: usize, e: usize| {
            if held[k] { 0.0 } else { (k as f64).sin() / 9.0 * ((k * e) as f64).cos() }
        };
        let (n, x) = (self.is_held.len(), x.to_vec());
        let force = |k| x.iter().enumerate().map(|(e, x)| x * x * weight(k, e)).sum();
        let forces = (0..n).map(force).collect();
        let back = move |w: &[f64]| {
            let slope = |(e, x): (usize, &f64)| {
                2.0 * x * w.iter().enumerate().map(|(k, w)| w * weight(k, e)).sum::<f64>()
            };
            Ok(x.iter().enumerate().map(slope).collect())
        };
        Ok((forces, Box::new(back)))
    }
}

fn mixed() -> Chain<'static, Cpu> {
    let problem = cantilever();
    let space = space(problem.mesh());
    let n = space.volumes.len();
    let filter = DensityFilter::new(&Cpu, weights(problem.mesh()), &space.volumes).unwrap();
    let own = HostTransform::new(n, Arc::new(Mixed));
    physical_density(&Cpu, filter, None, Some(own), &space).unwrap()
}

#[test]
fn a_transform_of_the_caller_is_the_last_but_for_passive_elements() {
    backward_is_the_derivative_of_forward(&mut mixed());
    let mut own = HostTransform::new(5, Arc::new(Mixed));
    let transform: &mut dyn DesignTransform<Cpu> = &mut own;
    let mut y = vec![f64::NAN; 5];
    transform.forward(&Cpu, &vec![0.2, 0.4, 0.6, 0.8, 1.0], &mut y).unwrap();
    let expected = [0.18, 0.38, 0.62, 0.9, 0.52];
    assert!(y.iter().zip(expected).all(|(y, z)| (y - z).abs() < 1e-15), "{y:?}");
}

/// Adds forces of a caller to the load cases of their numbers.
fn under<'a>(
    own: &[Arc<dyn HostMap>],
    mut equation: StateEquation<'a, Cpu>,
) -> StateEquation<'a, Cpu> {
    for (case, forces) in own.iter().enumerate() {
        equation.add_own_forces(case, forces.clone()).unwrap();
    }
    equation
}

#[test]
fn responses_under_forces_of_the_caller_agree_with_finite_differences() {
    for problem in [cantilever(), loaded()] {
        let is_held = |k: usize| problem.supports().is_fixed(k / 3, k % 3);
        let forces = Arc::new(Drawn { is_held: (0..problem.n_dofs()).map(is_held).collect() });
        let own: [Arc<dyn HostMap>; 2] = [forces.clone(), forces];
        let space = space(problem.mesh());
        hold_under(&|equation| under(&own[..1], equation), &space, &problem, || {
            Chain::identity(128)
        });
        hold_under(&|equation| under(&own, equation), &space, &problem, mixed);
    }
}
