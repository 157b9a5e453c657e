//! Films added to any operator of the processor.

use std::sync::Arc;

use topopt_linalg::{Cost, Cpu, LinearOperator, Space};

use crate::{ElementOperator, FilmRows};

/// K + C: an operator of the processor and the films of its problem. The works are those of the
/// elements, and the diagonal is that of K with positive entries of that of C.
pub(crate) struct WithFilms<O: ?Sized> {
    operator: Box<O>,
    rows: Arc<FilmRows>,
}

impl<O: ?Sized> WithFilms<O> {
    /// `operator` with films in `rows`.
    pub fn new(operator: Box<O>, rows: Arc<FilmRows>) -> Self {
        Self { operator, rows }
    }
}

impl<O: LinearOperator<Cpu> + ?Sized> LinearOperator<Cpu> for WithFilms<O> {
    fn space(&self) -> Space {
        self.operator.space()
    }

    fn apply(&self, x: &Vec<f64>, y: &mut Vec<f64>) {
        self.operator.apply(x, y);
        self.rows.add(x, y);
    }

    fn cost(&self) -> Cost {
        self.operator.cost().plus(&self.rows.cost(8.0))
    }
}

impl<O: ElementOperator<Cpu> + ?Sized> ElementOperator<Cpu> for WithFilms<O> {
    fn strategy(&self) -> &'static str {
        self.operator.strategy()
    }

    fn set_coefficients(&mut self, terms: &[&Vec<f64>]) {
        self.operator.set_coefficients(terms);
    }

    fn diagonal(&self, out: &mut Vec<f64>) {
        self.operator.diagonal(out);
        self.rows.each_positive(|node, entry| out[node] += entry);
    }

    fn element_work(&self, term: usize, v: &Vec<f64>, u: &Vec<f64>, out: &mut Vec<f64>) {
        self.operator.element_work(term, v, u, out);
    }

    fn assembled(&self) -> Option<Box<dyn LinearOperator<Cpu>>> {
        let matrix = self.operator.assembled()?;
        Some(Box::new(WithFilms::new(matrix, self.rows.clone())))
    }
}
