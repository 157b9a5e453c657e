//! `mf`: nothing stored; geometry from the coordinates, several elements a SIMD lane group.

use std::sync::Arc;

use pulp::{Arch, Simd, WithSimd};
use topopt_linalg::{Cost, Cpu, LinearOperator, Space};

use super::diagonal;
use super::local_fields::{
    LocalFields, add, add_nodes, load, load_in_order, load_nodes, load_other, stretch,
};
use super::set_coefficients;
use crate::lane_laws::ByLaws;
use crate::lanes::{Lanes, MAX_LANES, Quads};
use crate::patches::{Patch, Patches};
use crate::tetrahedra::{AddTetrahedra, FLOPS_PER_UNKNOWN, TetrahedraWorks};
use crate::{Discretization, ElementKernel, ElementOperator, Elements, MAX_TERMS};

/// The matrix-free operator.
#[derive(Debug)]
pub struct Mf<'a, K, const N: usize> {
    problem: &'a Discretization<K, N>,
    patches: Arc<Patches>,
    /// Coefficients, `[n_elements]` per term.
    coefficients: Vec<Vec<f64>>,
    arch: Arch,
}

impl<'a, K: ElementKernel<N>, const N: usize> Mf<'a, K, N> {
    /// The operator of `problem` with all coefficients zero.
    pub fn new(problem: &'a Discretization<K, N>) -> Self {
        let coefficients = vec![vec![0.0; problem.mesh().n_elements()]; K::TERMS];
        Self { problem, patches: problem.patches(), coefficients, arch: Arch::new() }
    }
}

impl<K: ElementKernel<N>, const N: usize> LinearOperator<Cpu> for Mf<'_, K, N> {
    fn space(&self) -> Space {
        self.problem.space()
    }

    fn apply(&self, x: &Vec<f64>, y: &mut Vec<f64>) {
        let field = x.as_chunks::<N>().0;
        let (constraints, coefficients) = (self.problem.constraints(), &self.coefficients);
        let work = |local: &mut LocalFields<N>, patch: &Patch, sums: &mut [[f64; N]]| {
            local.gather(self.problem, patch, |node| constraints.free_part(node, field[node]));
            let (kernel, elements) = (self.problem.kernel(), self.problem.elements());
            if elements.are_tetrahedra() {
                self.arch.dispatch(AddTetrahedra {
                    kernel,
                    elements,
                    patch,
                    local,
                    coefficients,
                    sums,
                });
            } else {
                let forces = AddForces { kernel, elements, patch, local, coefficients, sums };
                self.arch.dispatch(forces);
            }
        };
        self.patches.scatter(y, work, |node, sum| constraints.choose(node, field[node], sum));
    }

    fn cost(&self) -> Cost {
        let mesh = self.problem.mesh();
        let (elements, nodes) = (mesh.n_elements() as f64, mesh.n_nodes() as f64);
        let (terms, values) = (K::TERMS as f64, 8.0 * N as f64);
        // Coordinates, x and copies of nodes are read once, the copies and y written once.
        let copies = self.patches.copies_per_node();
        let is_stretched = self.problem.elements().stretches().is_some();
        let [factors, products] = if is_stretched { [24.0, 24.0] } else { [0.0, 0.0] };
        let flops = match self.problem.elements().are_tetrahedra() {
            true => FLOPS_PER_UNKNOWN * N as f64,
            false => self.problem.kernel().flops() + products,
        };
        let numbers = 2.0 * mesh.nodes_per_element() as f64;
        Cost {
            bytes_read: elements * (8.0 * terms + numbers + factors)
                + nodes * (24.0 + values + (values + 4.0) * copies),
            bytes_written: nodes * (values + values * copies),
            flops: elements * flops,
        }
    }
}

impl<K: ElementKernel<N>, const N: usize> ElementOperator<Cpu> for Mf<'_, K, N> {
    fn strategy(&self) -> &'static str {
        "mf"
    }

    fn set_coefficients(&mut self, terms: &[&Vec<f64>]) {
        set_coefficients(&mut self.coefficients, terms);
    }

    fn diagonal(&self, out: &mut Vec<f64>) {
        let coefficients: Vec<_> = self.coefficients.iter().collect();
        diagonal::by_patches(self.problem, &self.patches, &coefficients, out);
    }

    fn element_work(&self, term: usize, v: &Vec<f64>, u: &Vec<f64>, out: &mut Vec<f64>) {
        works_by_patches(self.problem, &self.patches, term, [v, u], out);
    }
}

/// Writes v_e^T K_et u_e at unit coefficient of one term for every element.
pub fn works_by_patches<K: ElementKernel<N>, const N: usize>(
    problem: &Discretization<K, N>,
    patches: &Patches,
    term: usize,
    [v, u]: [&[f64]; 2],
    out: &mut [f64],
) {
    let arch = Arch::new();
    let (v, u) = (v.as_chunks::<N>().0, u.as_chunks::<N>().0);
    patches.each_element(out, |local: &mut LocalFields<N>, patch, works| {
        local.gather(problem, patch, |node| u[node]);
        local.gather_other(patch, |node| v[node]);
        let (kernel, elements) = (problem.kernel(), problem.elements());
        if elements.are_tetrahedra() {
            arch.dispatch(TetrahedraWorks { kernel, elements, term, patch, local, works });
        } else {
            arch.dispatch(Works { kernel, elements, term, patch, local, works });
        }
    });
}

/// Writes the sums of `sum_t c_t K_t u_e` of all elements of a patch to `sums`, `[patch nodes][N]`.
struct AddForces<'a, K, const N: usize> {
    kernel: &'a K,
    elements: Elements<'a>,
    patch: &'a Patch,
    local: &'a mut LocalFields<N>,
    /// Coefficients of all elements of the mesh, `[n_elements]` per term.
    coefficients: &'a [Vec<f64>],
    sums: &'a mut [[f64; N]],
}

impl<K: ElementKernel<N>, const N: usize> AddForces<'_, K, N> {
    #[inline(always)]
    fn by_nodes<S: Simd, const STRETCHED: bool, const LAWFUL: bool>(self, simd: S) {
        let mut sums = std::mem::take(&mut self.local.nodes.sums);
        sums.clear();
        sums.resize(self.sums.len(), [0.0; 4]);

        for (group, hexes) in self.patch.locals::<8>().chunks(S::F64_LANES).enumerate() {
            let range = self.patch.range(group * S::F64_LANES, hexes.len());
            let (mut x, u) = load_nodes(simd, &self.local.nodes.xu, hexes);
            if STRETCHED && let Some(factors) = self.elements.stretches_of(range.clone()) {
                stretch(simd, factors, true, &mut x);
            }
            let mut coefficients = [Lanes::splat(simd, 0.0); MAX_TERMS];
            for term in 0..K::TERMS {
                let values = &self.coefficients[term][range.clone()];
                coefficients[term] = load_in_order(simd, values);
            }
            let forces = match LAWFUL {
                true => {
                    let by_laws = ByLaws { elements: &self.elements, range, in_order: false };
                    by_laws.product(simd, self.kernel, (&x, &u), &coefficients)
                }
                false => self.kernel.product(simd, &x, &u, &coefficients),
            };
            add_nodes(simd, &forces, &mut sums, hexes);
        }

        for (out, sum) in self.sums.iter_mut().zip(&sums) {
            out.copy_from_slice(&sum[..N]);
        }
        self.local.nodes.sums = sums;
    }

    #[inline(always)]
    fn by_planes<S: Simd, const STRETCHED: bool, const LAWFUL: bool>(self, simd: S) {
        let mut sums = std::mem::replace(&mut self.local.sums, std::array::from_fn(|_| Vec::new()));
        for plane in sums.iter_mut() {
            plane.clear();
            plane.resize(self.sums.len(), 0.0);
        }

        for (group, hexes) in self.patch.locals::<8>().chunks(S::F64_LANES).enumerate() {
            let is_row = self.patch.rows[group * S::F64_LANES / MAX_LANES];
            let range = self.patch.range(group * S::F64_LANES, hexes.len());
            let mut x = load(simd, &self.local.x, hexes, is_row);
            if STRETCHED && let Some(factors) = self.elements.stretches_of(range.clone()) {
                stretch(simd, factors, false, &mut x);
            }
            let u = load(simd, &self.local.u, hexes, is_row);

            // Zero in lanes past the last element, which repeat it.
            let mut coefficients = [Lanes::splat(simd, 0.0); MAX_TERMS];
            for term in 0..K::TERMS {
                let values = &self.coefficients[term][range.clone()];
                let mut filled = [0.0; MAX_LANES];
                filled[..values.len()].copy_from_slice(values);
                coefficients[term] = Lanes::load(simd, &filled);
            }

            let forces = match LAWFUL {
                true => {
                    let by_laws = ByLaws { elements: &self.elements, range, in_order: true };
                    by_laws.product(simd, self.kernel, (&x, &u), &coefficients)
                }
                false => self.kernel.product(simd, &x, &u, &coefficients),
            };
            add(simd, &forces, &mut sums, hexes, is_row);
        }

        for (n, sum) in self.sums.iter_mut().enumerate() {
            for i in 0..N {
                sum[i] = sums[i][n];
            }
        }
        self.local.sums = sums;
    }
}

impl<K: ElementKernel<N>, const N: usize> WithSimd for AddForces<'_, K, N> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        // A loop of its own: a branch within takes the coordinates out of the registers.
        let is_stretched = K::IS_STRETCHED && self.elements.stretches().is_some();
        let is_lawful = K::HAS_LAWS && self.elements.laws().is_some();
        match (self.patch.has_rows(), is_stretched, is_lawful) {
            (true, false, false) => self.by_planes::<S, false, false>(simd),
            (true, true, _) => self.by_planes::<S, true, false>(simd),
            (true, false, true) => self.by_planes::<S, false, true>(simd),
            (false, false, false) => self.by_nodes::<S, false, false>(simd),
            (false, true, _) => self.by_nodes::<S, true, false>(simd),
            (false, false, true) => self.by_nodes::<S, false, true>(simd),
        }
    }
}

/// Writes v_e^T K_et u_e at unit coefficient of one term for all elements of a patch.
struct Works<'a, K, const N: usize> {
    kernel: &'a K,
    elements: Elements<'a>,
    term: usize,
    patch: &'a Patch,
    local: &'a LocalFields<N>,
    works: &'a mut [f64],
}

impl<K: ElementKernel<N>, const N: usize> WithSimd for Works<'_, K, N> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let LocalFields { x, u, v, nodes, .. } = self.local;
        let has_rows = self.patch.has_rows();
        let mut unit = [Lanes::splat(simd, 0.0); MAX_TERMS];
        unit[self.term] = Lanes::splat(simd, 1.0);

        let groups = self.patch.locals::<8>().chunks(S::F64_LANES);
        let groups = groups.zip(self.works.chunks_mut(S::F64_LANES));
        for (group, (hexes, works)) in groups.enumerate() {
            let is_row = self.patch.rows[group * S::F64_LANES / MAX_LANES];

            let (mut x, u) = if has_rows {
                (load(simd, x, hexes, is_row), load(simd, u, hexes, is_row))
            } else {
                load_nodes(simd, &nodes.xu, hexes)
            };
            let range = self.patch.range(group * S::F64_LANES, hexes.len());
            if K::IS_STRETCHED
                && let Some(factors) = self.elements.stretches_of(range.clone())
            {
                stretch(simd, factors, !has_rows, &mut x);
            }
            let forces = match K::HAS_LAWS && self.elements.laws().is_some() {
                true => {
                    let by_laws = ByLaws { elements: &self.elements, range, in_order: has_rows };
                    by_laws.product(simd, self.kernel, (&x, &u), &unit)
                }
                false => self.kernel.product(simd, &x, &u, &unit),
            };

            let v = if has_rows {
                load(simd, v, hexes, is_row)
            } else {
                load_other(simd, &nodes.v, hexes)
            };
            let mut work = Lanes::splat(simd, 0.0);
            for a in 0..8 {
                for i in 0..N {
                    work = v[a][i].mul_add(forces[a][i], work);
                }
            }

            // `load_nodes` leaves the elements in an order of lanes that `to_quads` undoes.
            let mut quads: Quads = [[0.0; 4]; MAX_LANES];
            let mut lanes = [0.0; MAX_LANES];
            if has_rows {
                work.store(&mut lanes);
            } else {
                Lanes::to_quads(simd, [work; 4], &mut quads);
                lanes = quads.map(|quad| quad[0]);
            }
            works.copy_from_slice(&lanes[..works.len()]);
        }
    }
}
