//! `mf`: nothing stored; geometry from the coordinates, several elements a SIMD lane group.

use std::sync::Arc;

use pulp::{Arch, Simd, WithSimd};
use topopt_linalg::{Cost, Cpu, LinearOperator, Space};

use super::diagonal;
use super::set_coefficients;
use super::trilinear::{LaneGroup, NODE, Nodal, from_group, to_group};
use crate::lanes::{Lanes, MAX_LANES, Quads};
use crate::patches::{Patch, Patches};
use crate::{DIM, Discretization, ElementKernel, ElementOperator, MAX_TERMS};

/// The matrix-free operator.
#[derive(Debug)]
pub struct Mf<'a, K, const N: usize> {
    problem: &'a Discretization<K, N>,
    patches: Arc<Patches>,
    /// By term, each `[n_elements]`.
    coefficients: Vec<Vec<f64>>,
    arch: Arch,
}

impl<'a, K: ElementKernel<N>, const N: usize> Mf<'a, K, N> {
    /// The operator of `problem` with all coefficients zero.
    pub fn new(problem: &'a Discretization<K, N>) -> Self {
        let coefficients = vec![vec![0.0; problem.mesh().n_elements()]; K::TERMS];
        Self { problem, patches: problem.patches(), coefficients, arch: Arch::new() }
    }

    /// The elements in patches.
    pub(crate) fn patches(&self) -> &Patches {
        &self.patches
    }
}

impl<K: ElementKernel<N>, const N: usize> LinearOperator<Cpu> for Mf<'_, K, N> {
    fn space(&self) -> Space {
        self.problem.space()
    }

    fn apply(&self, x: &Vec<f64>, y: &mut Vec<f64>) {
        let field = x.as_chunks::<N>().0;
        let constraints = self.problem.constraints();
        let work = |local: &mut LocalFields<N>, patch: &Patch, sums: &mut [[f64; N]]| {
            local.gather(self.problem, patch, |node| constraints.free_part(node, field[node]));
            let kernel = self.problem.kernel();
            let coefficients = &self.coefficients;
            self.arch.dispatch(AddForces { kernel, patch, local, coefficients, sums });
        };
        self.patches.scatter(y, work, |node, sum| constraints.choose(node, field[node], sum));
    }

    fn cost(&self) -> Cost {
        let mesh = self.problem.mesh();
        let (elements, nodes) = (mesh.n_elements() as f64, mesh.n_nodes() as f64);
        let (terms, values) = (K::TERMS as f64, 8.0 * N as f64);
        // Coordinates, x and copies of nodes are read once, the copies and y written once.
        let copies = self.patches.copies_per_node();
        Cost {
            bytes_read: elements * (8.0 * terms + 16.0)
                + nodes * (24.0 + values + (values + 4.0) * copies),
            bytes_written: nodes * (values + values * copies),
            flops: elements * K::FLOPS,
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
        let (v, u) = (v.as_chunks::<N>().0, u.as_chunks::<N>().0);
        self.patches.each_element(out, |local: &mut LocalFields<N>, patch, works| {
            local.gather(self.problem, patch, |node| u[node]);
            local.gather_other(patch, |node| v[node]);
            let kernel = self.problem.kernel();
            self.arch.dispatch(Works { kernel, term, patch, local, works });
        });
    }
}

/// Coordinates, values and sums of forces at the nodes of a patch: by planes if it has rows of elements,
/// else by nodes.
struct LocalFields<const N: usize> {
    x: Planes<DIM>,
    u: Planes<N>,
    sums: Planes<N>,
    /// The other values of a bilinear form.
    v: Planes<N>,
    nodes: NodeFields,
}

/// Nodal values of a patch by component, so that a row of nodes is a vector.
type Planes<const N: usize> = [Vec<f64>; N];

/// The same where no elements are in rows: the values of a node are read and added in one piece, with
/// others beside them that fill a register of four; coordinates and values in one line of the cache.
#[derive(Default)]
struct NodeFields {
    xu: Vec<[[f64; 4]; 2]>,
    v: Vec<[f64; 4]>,
    sums: Vec<[f64; 4]>,
}

impl<const N: usize> Default for LocalFields<N> {
    fn default() -> Self {
        fn planes<const D: usize>() -> Planes<D> {
            std::array::from_fn(|_| Vec::new())
        }
        Self { x: planes(), u: planes(), sums: planes(), v: planes(), nodes: NodeFields::default() }
    }
}

impl<const N: usize> LocalFields<N> {
    fn gather<K: ElementKernel<N>>(
        &mut self,
        problem: &Discretization<K, N>,
        patch: &Patch,
        u: impl Fn(usize) -> [f64; N],
    ) {
        let x = |node: usize| problem.mesh().coordinates()[node];
        if patch.has_rows() {
            patch.gather(&mut self.x, x);
            patch.gather(&mut self.u, u);
            return;
        }
        let both = |&node: &u32| [quad(x(node as usize)), quad(u(node as usize))];
        self.nodes.xu.clear();
        self.nodes.xu.extend(patch.nodes.iter().map(both));
    }

    /// Takes the other values of a bilinear form.
    fn gather_other(&mut self, patch: &Patch, v: impl Fn(usize) -> [f64; N]) {
        if patch.has_rows() {
            return patch.gather(&mut self.v, v);
        }
        self.nodes.v.clear();
        self.nodes.v.extend(patch.nodes.iter().map(|&node| quad(v(node as usize))));
    }
}

/// The values of a node, N <= 4, and zeros.
fn quad<const N: usize>(values: [f64; N]) -> [f64; 4] {
    let mut quad = [0.0; 4];
    quad[..N].copy_from_slice(&values);
    quad
}

/// A local field at the nodes of `hexes`, one a lane. Lanes past the last element repeat it.
#[inline(always)]
fn load<S: Simd, const N: usize>(
    simd: S,
    field: &Planes<N>,
    hexes: &[[u16; 8]],
    is_row: bool,
) -> Nodal<S, N> {
    if is_row {
        let mut nodal = [[Lanes::splat(simd, 0.0); N]; 8];
        for a in 0..8 {
            let first = hexes[0][a] as usize;
            for i in 0..N {
                nodal[a][i] = Lanes::load(simd, &field[i][first..first + S::F64_LANES]);
            }
        }
        return nodal;
    }
    let mut group: LaneGroup<N> = [[[0.0; MAX_LANES]; N]; 8];
    for lane in 0..S::F64_LANES {
        let hex = &hexes[lane.min(hexes.len() - 1)];
        for a in 0..8 {
            for i in 0..N {
                group[a][i][lane] = field[i][hex[a] as usize];
            }
        }
    }
    from_group(simd, &group)
}

/// As [`load`], coordinates and values in the order of lanes that [`Lanes::from_quads`] makes.
#[inline(always)]
fn load_nodes<S: Simd, const N: usize>(
    simd: S,
    fields: &[[[f64; 4]; 2]],
    hexes: &[[u16; 8]],
) -> (Nodal<S>, Nodal<S, N>) {
    let zero = Lanes::splat(simd, 0.0);
    let (mut nodal_x, mut nodal_u) = ([[zero; DIM]; 8], [[zero; N]; 8]);
    let (mut x, mut u): (Quads, Quads) = ([[0.0; 4]; MAX_LANES], [[0.0; 4]; MAX_LANES]);
    for a in 0..8 {
        for lane in 0..S::F64_LANES {
            [x[lane], u[lane]] = fields[hexes[lane.min(hexes.len() - 1)][a] as usize];
        }
        let (x, u) = (Lanes::from_quads(simd, &x), Lanes::from_quads(simd, &u));
        nodal_x[a].copy_from_slice(&x[..DIM]);
        nodal_u[a].copy_from_slice(&u[..N]);
    }
    (nodal_x, nodal_u)
}

/// As [`load_nodes`], of one field.
#[inline(always)]
fn load_other<S: Simd, const N: usize>(
    simd: S,
    field: &[[f64; 4]],
    hexes: &[[u16; 8]],
) -> Nodal<S, N> {
    let mut nodal = [[Lanes::splat(simd, 0.0); N]; 8];
    let mut values: Quads = [[0.0; 4]; MAX_LANES];
    for a in 0..8 {
        for lane in 0..S::F64_LANES {
            values[lane] = field[hexes[lane.min(hexes.len() - 1)][a] as usize];
        }
        nodal[a].copy_from_slice(&Lanes::from_quads(simd, &values)[..N]);
    }
    nodal
}

/// One number a lane in the order of [`Lanes::from_quads`], zero past the last.
#[inline(always)]
fn load_in_order<S: Simd>(simd: S, values: &[f64]) -> Lanes<S> {
    let mut quads: Quads = [[0.0; 4]; MAX_LANES];
    for (quad, value) in quads.iter_mut().zip(values) {
        quad[0] = *value;
    }
    Lanes::from_quads(simd, &quads)[0]
}

/// Adds `forces` to `sums` at the nodes of `hexes`. In a row the nodes of one end of the elements
/// come before those of the other, which are the same but for one element: a sum is not read
/// right after it was written.
#[inline(always)]
fn add<S: Simd, const N: usize>(
    simd: S,
    forces: &Nodal<S, N>,
    sums: &mut Planes<N>,
    hexes: &[[u16; 8]],
    is_row: bool,
) {
    if is_row {
        for a in NODE {
            let first = hexes[0][a] as usize;
            for i in 0..N {
                let sums = &mut sums[i][first..first + S::F64_LANES];
                (Lanes::load(simd, sums) + forces[a][i]).store(sums);
            }
        }
        return;
    }
    let mut group: LaneGroup<N> = [[[0.0; MAX_LANES]; N]; 8];
    to_group(forces, &mut group);
    for (lane, hex) in hexes.iter().enumerate() {
        for a in 0..8 {
            for i in 0..N {
                sums[i][hex[a] as usize] += group[a][i][lane];
            }
        }
    }
}

/// As [`add`], for forces in the order of [`Lanes::from_quads`].
#[inline(always)]
fn add_nodes<S: Simd, const N: usize>(
    simd: S,
    forces: &Nodal<S, N>,
    sums: &mut [[f64; 4]],
    hexes: &[[u16; 8]],
) {
    let zero = Lanes::splat(simd, 0.0);
    let mut quads: Quads = [[0.0; 4]; MAX_LANES];
    for a in 0..8 {
        let mut values = [zero; 4];
        values[..N].copy_from_slice(&forces[a]);
        Lanes::to_quads(simd, values, &mut quads);
        for (quad, hex) in quads.iter().zip(hexes) {
            let sum = &mut sums[hex[a] as usize];
            for i in 0..4 {
                sum[i] += quad[i];
            }
        }
    }
}

/// Writes the sums of `sum_t c_t K_t u_e` of all elements of a patch to `sums`, `[patch nodes][N]`.
struct AddForces<'a, K, const N: usize> {
    kernel: &'a K,
    patch: &'a Patch,
    local: &'a mut LocalFields<N>,
    /// Of all elements of the mesh, by term.
    coefficients: &'a [Vec<f64>],
    sums: &'a mut [[f64; N]],
}

impl<K: ElementKernel<N>, const N: usize> AddForces<'_, K, N> {
    /// The elements from number `first` of the patch on.
    #[inline(always)]
    fn coefficients_from(&self, term: usize, first: usize, count: usize) -> &[f64] {
        let first = self.patch.elements.start + first;
        &self.coefficients[term][first..first + count]
    }

    #[inline(always)]
    fn by_nodes<S: Simd>(self, simd: S) {
        let mut sums = std::mem::take(&mut self.local.nodes.sums);
        sums.clear();
        sums.resize(self.sums.len(), [0.0; 4]);
        for (group, hexes) in self.patch.hexes.chunks(S::F64_LANES).enumerate() {
            let (x, u) = load_nodes(simd, &self.local.nodes.xu, hexes);
            let mut coefficients = [Lanes::splat(simd, 0.0); MAX_TERMS];
            for term in 0..K::TERMS {
                let values = self.coefficients_from(term, group * S::F64_LANES, hexes.len());
                coefficients[term] = load_in_order(simd, values);
            }
            let forces = self.kernel.product(simd, &x, &u, &coefficients);
            add_nodes(simd, &forces, &mut sums, hexes);
        }
        for (out, sum) in self.sums.iter_mut().zip(&sums) {
            out.copy_from_slice(&sum[..N]);
        }
        self.local.nodes.sums = sums;
    }
}

impl<K: ElementKernel<N>, const N: usize> WithSimd for AddForces<'_, K, N> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        if !self.patch.has_rows() {
            return self.by_nodes(simd);
        }
        let mut sums = std::mem::replace(&mut self.local.sums, std::array::from_fn(|_| Vec::new()));
        for plane in sums.iter_mut() {
            plane.clear();
            plane.resize(self.sums.len(), 0.0);
        }
        for (group, hexes) in self.patch.hexes.chunks(S::F64_LANES).enumerate() {
            let is_row = self.patch.rows[group * S::F64_LANES / MAX_LANES];
            let x = load(simd, &self.local.x, hexes, is_row);
            let u = load(simd, &self.local.u, hexes, is_row);
            let mut coefficients = [Lanes::splat(simd, 0.0); MAX_TERMS];
            for term in 0..K::TERMS {
                let values = self.coefficients_from(term, group * S::F64_LANES, hexes.len());
                let mut filled = [0.0; MAX_LANES];
                filled[..values.len()].copy_from_slice(values);
                coefficients[term] = Lanes::load(simd, &filled);
            }
            let forces = self.kernel.product(simd, &x, &u, &coefficients);
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

/// Writes v_e^T K_et u_e at unit coefficient of one term for all elements of a patch.
struct Works<'a, K, const N: usize> {
    kernel: &'a K,
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
        let groups = self.patch.hexes.chunks(S::F64_LANES);
        let groups = groups.zip(self.works.chunks_mut(S::F64_LANES));
        for (group, (hexes, works)) in groups.enumerate() {
            let is_row = self.patch.rows[group * S::F64_LANES / MAX_LANES];
            let (x, u) = match has_rows {
                true => (load(simd, x, hexes, is_row), load(simd, u, hexes, is_row)),
                false => load_nodes(simd, &nodes.xu, hexes),
            };
            let forces = self.kernel.product(simd, &x, &u, &unit);
            let v = match has_rows {
                true => load(simd, v, hexes, is_row),
                false => load_other(simd, &nodes.v, hexes),
            };
            let mut work = Lanes::splat(simd, 0.0);
            for a in 0..8 {
                for i in 0..N {
                    work = v[a][i].mul_add(forces[a][i], work);
                }
            }

            let mut quads: Quads = [[0.0; 4]; MAX_LANES];
            let mut lanes = [0.0; MAX_LANES];
            match has_rows {
                true => work.store(&mut lanes),
                false => {
                    Lanes::to_quads(simd, [work; 4], &mut quads);
                    lanes = quads.map(|quad| quad[0]);
                }
            }
            works.copy_from_slice(&lanes[..works.len()]);
        }
    }
}
