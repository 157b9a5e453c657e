//! `Whole`: a symmetric equation whose half is solved.

use topopt_fem::{CpuSolvers, ElementOperator, HalfModel, ProblemView, WithSprings};
use topopt_linalg::{BackendError, Csr, Gather, Space};

/// The operator of a whole equation, and the maps between it and the half that is solved.
pub struct Whole<'a, B: Gather> {
    /// The stiffness of the whole, for products outside of solves.
    pub(crate) operator: Box<dyn ElementOperator<B> + 'a>,
    /// Elements of the half, numbered in the whole, increasing.
    elements: &'a [u32],
    /// Springs of the half, `[n_nodes][n]`.
    pub(crate) springs_of_half: Option<&'a [f64]>,
    unfolding: B::Map,
    restriction: B::Map,
    of_elements: B::Map,
    /// Shares of the half in the forces on its nodes.
    shares: B::Vector,
    /// Coefficients of all terms in the half; those after the first are zeros.
    terms: Vec<B::Vector>,
    /// Right-hand side of the half as a part of the whole, and with its share.
    forces: [B::Vector; 2],
    state: B::Vector,
}

impl<'a, B: Gather + Sync> Whole<'a, B> {
    /// Takes the `operator` of `problem`, whose `half` is solved.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new<K: CpuSolvers<N>, const N: usize>(
        backend: &'a B,
        problem: &dyn ProblemView,
        half: &'a HalfModel<K, N>,
        operator: Box<dyn ElementOperator<B> + 'a>,
    ) -> Result<Self, BackendError> {
        let (nodes, elements) = (half.equation.space(), Space::elements(half.elements().len()));
        let (whole, of_elements) = (problem.unknowns(), Csr::selection(half.elements().to_vec()));
        let operator = WithSprings::of(backend, problem.springs(), operator)?;
        let terms = (0..K::TERMS).map(|_| backend.zeros(elements));
        Ok(Self {
            elements: half.elements(),
            springs_of_half: half.equation.constraints().springs(),
            unfolding: backend.map(&half.unfolding(), [nodes, whole])?,
            restriction: backend.map(&half.restriction(), [whole, nodes])?,
            of_elements: backend.map(&of_elements, [problem.elements(), elements])?,
            shares: backend.upload(&half.shares(), nodes)?,
            terms: terms.collect::<Result<_, _>>()?,
            forces: [backend.zeros(nodes)?, backend.zeros(nodes)?],
            state: backend.zeros(nodes)?,
            operator: Box::new(operator),
        })
    }
}

impl<B: Gather> Whole<'_, B> {
    /// Takes the coefficients of the whole.
    pub(crate) fn take(&mut self, backend: &B, terms: &[&B::Vector]) {
        self.operator.set_coefficients(terms);
        for (whole, half) in terms.iter().zip(&mut self.terms) {
            backend.gather(&mut self.of_elements, whole, half);
        }
    }

    /// Coefficients of the half that were taken last.
    pub(crate) fn terms(&self) -> Vec<&B::Vector> {
        self.terms.iter().collect()
    }

    /// Numbers in the half of those of some elements of the whole, increasing, that it has.
    pub(crate) fn numbers(&self, elements: &[u32]) -> Vec<u32> {
        let number = |e: &u32| self.elements.binary_search(e).ok().map(|number| number as u32);
        elements.iter().filter_map(number).collect()
    }

    /// Does `work` on right-hand side and state of the half, and takes the state over to `u`.
    pub(crate) fn solve<T>(
        &mut self,
        backend: &B,
        (f, u): (&B::Vector, &mut B::Vector),
        work: impl FnOnce(&B::Vector, &mut B::Vector) -> T,
    ) -> T {
        let Self { unfolding, restriction, shares, forces: [there, forces], state, .. } = self;
        backend.gather(restriction, f, there);
        backend.multiply(there, shares, forces);
        backend.gather(restriction, u, state);
        let done = work(forces, state);
        backend.gather(unfolding, state, u);
        done
    }
}
