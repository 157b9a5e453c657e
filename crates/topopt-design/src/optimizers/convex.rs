//! A convex problem with a known optimum, for tests of optimizers that take one constraint.

use topopt_linalg::Cpu;

use crate::optimizer::memory_of;
use crate::{Function, Memory, Optimizer, OtherDesigns, SolveError, Subproblem};

/// minimize sum c_j / x_j subject to sum v_j x_j^p <= V and bounds: bars of a statically
/// determinate truss, where p is 1.
pub struct Bars {
    pub costs: Vec<f64>,
    pub volumes: Vec<f64>,
    pub power: f64,
    pub limit: f64,
    pub bounds: [Vec<f64>; 2],
}

impl Bars {
    /// 40 bars of volumes between 0.01 and 10; each tenth is fixed.
    pub fn new(power: f64) -> Self {
        let costs = (0..40).map(|j| 10f64.powf((1.7 * j as f64).sin())).collect();
        let volumes: Vec<f64> =
            (0..40).map(|j| 10f64.powf(-0.5 + 1.5 * (j as f64).cos())).collect();
        let is_fixed = |j: usize| j % 10 == 3;
        let bound =
            |value: f64| (0..40).map(|j| if is_fixed(j) { 0.5 } else { value }).collect::<Vec<_>>();
        let bounds = [bound(0.01), bound(1.0)];
        let mut bars = Self { costs, volumes, power, limit: 0.0, bounds };
        bars.limit = bars.volume(&bars.start());
        bars
    }

    pub fn objective(&self, x: &[f64]) -> f64 {
        self.costs.iter().zip(x).map(|(c, x)| c / x).sum()
    }

    pub fn volume(&self, x: &[f64]) -> f64 {
        self.volumes.iter().zip(x).map(|(v, x)| v * x.powf(self.power)).sum()
    }

    /// x_j = (c_j / (lambda p v_j))^(1 / (p + 1)) within the bounds, lambda by bisection.
    pub fn optimum(&self) -> Vec<f64> {
        let (mut low, mut high) = (-50.0, 50.0);
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            let is_heavy = self.volume(&self.design(middle)) > self.limit;
            if is_heavy { low = middle } else { high = middle }
        }
        self.design(high)
    }

    fn design(&self, log_lambda: f64) -> Vec<f64> {
        let designs = (0..self.costs.len()).map(|j| {
            let ratio = self.costs[j] / (log_lambda.exp() * self.power * self.volumes[j]);
            ratio.powf(1.0 / (self.power + 1.0)).clamp(self.bounds[0][j], self.bounds[1][j])
        });
        designs.collect()
    }

    /// A uniform design within the bounds, which takes the volume.
    pub fn start(&self) -> Vec<f64> {
        self.bounds[0].iter().map(|&l| if l == 0.5 { 0.5 } else { 0.4 }).collect()
    }

    /// The designs that `optimizer` makes from `start` on, which comes first.
    pub fn designs(
        &self,
        optimizer: &mut dyn Optimizer<Cpu>,
        start: &[f64],
        iterations: usize,
    ) -> Vec<Vec<f64>> {
        let mut designs = vec![start.to_vec()];
        for k in 0..iterations {
            let x = &designs[k];
            let rise = |(v, x): (&f64, &f64)| v * self.power * x.powf(self.power - 1.0);
            let objective = Function {
                value: self.objective(x),
                gradient: self.costs.iter().zip(x).map(|(c, x)| -c / (x * x)).collect(),
                limit: f64::INFINITY,
                share: 0.0,
            };
            let volume = Function {
                value: self.volume(x),
                gradient: self.volumes.iter().zip(x).map(rise).collect(),
                limit: self.limit,
                share: 0.0,
            };

            let mut problem = Subproblem {
                backend: &Cpu,
                design: x,
                bounds: self.bounds.each_ref(),
                objective: &objective,
                constraints: &[volume],
                others: &mut Others(self),
            };

            let mut next = vec![f64::NAN; x.len()];
            optimizer.next(&mut problem, &mut next).unwrap();
            designs.push(next);
        }
        designs
    }

    /// Checks that optimizers that `make` makes continue from their memory to the same bits.
    pub fn check_memory(&self, make: &dyn Fn() -> Box<dyn Optimizer<Cpu>>, iterations: usize) {
        let whole = self.designs(make().as_mut(), &self.start(), iterations);
        for done in 1..iterations {
            let mut first = make();
            let begun = self.designs(first.as_mut(), &self.start(), done);
            let memory: Memory = memory_of(&Cpu, first.as_ref()).unwrap();
            let mut second = make();
            second.restore(&Cpu, &memory).unwrap();
            let rest = self.designs(second.as_mut(), &begun[done], iterations - done);
            assert_eq!(rest, whole[done..], "from {done}");
        }
    }
}

struct Others<'b>(&'b Bars);

impl OtherDesigns<Cpu> for Others<'_> {
    fn is_linear(&self, _: usize) -> bool {
        self.0.power == 1.0
    }

    fn constraint(&mut self, _: usize, design: &Vec<f64>) -> Result<f64, SolveError> {
        Ok(self.0.volume(design))
    }

    fn values(&mut self, design: &Vec<f64>) -> Result<Vec<f64>, SolveError> {
        Ok(vec![self.0.objective(design), self.0.volume(design)])
    }
}
