//! Nodal fields of a patch that `mf` reads and adds to, several elements per SIMD lane group.

use pulp::Simd;

use super::trilinear::{LaneGroup, NODE, Nodal, from_group, to_group};
use crate::lanes::{Lanes, MAX_LANES, Quads};
use crate::patches::Patch;
use crate::{DIM, Discretization, ElementKernel};

/// Coordinates, values and sums of forces at the nodes of a patch: by planes if it has rows of
/// elements, else by nodes.
pub struct LocalFields<const N: usize> {
    pub x: Planes<DIM>,
    pub u: Planes<N>,
    pub sums: Planes<N>,
    /// The other values of a bilinear form.
    pub v: Planes<N>,
    pub nodes: NodeFields,
}

/// Nodal values of a patch by component, so that a row of nodes is a vector.
pub type Planes<const N: usize> = [Vec<f64>; N];

/// Fields of a patch without rows of elements: the values of a node are read and added in one piece,
/// with others beside them that fill a register of four; coordinates and values in one cache line.
#[derive(Default)]
pub struct NodeFields {
    pub xu: Vec<[[f64; 4]; 2]>,
    pub v: Vec<[f64; 4]>,
    pub sums: Vec<[f64; 4]>,
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
    pub fn gather<K: ElementKernel<N>>(
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
    pub fn gather_other(&mut self, patch: &Patch, v: impl Fn(usize) -> [f64; N]) {
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
pub fn load<S: Simd, const N: usize>(
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

/// Loads coordinates and values of elements, in the order of lanes that [`Lanes::from_quads`] makes.
#[inline(always)]
pub fn load_nodes<S: Simd, const N: usize, const E: usize>(
    simd: S,
    fields: &[[[f64; 4]; 2]],
    elements: &[[u16; E]],
) -> (Nodal<S, DIM, E>, Nodal<S, N, E>) {
    let zero = Lanes::splat(simd, 0.0);
    let (mut nodal_x, mut nodal_u) = ([[zero; DIM]; E], [[zero; N]; E]);
    let (mut x, mut u): (Quads, Quads) = ([[0.0; 4]; MAX_LANES], [[0.0; 4]; MAX_LANES]);
    for a in 0..E {
        for lane in 0..S::F64_LANES {
            [x[lane], u[lane]] = fields[elements[lane.min(elements.len() - 1)][a] as usize];
        }
        let (x, u) = (Lanes::from_quads(simd, &x), Lanes::from_quads(simd, &u));
        nodal_x[a].copy_from_slice(&x[..DIM]);
        nodal_u[a].copy_from_slice(&u[..N]);
    }
    (nodal_x, nodal_u)
}

/// Loads one more field of elements, in the order of lanes of [`load_nodes`].
#[inline(always)]
pub fn load_other<S: Simd, const N: usize, const E: usize>(
    simd: S,
    field: &[[f64; 4]],
    elements: &[[u16; E]],
) -> Nodal<S, N, E> {
    let mut nodal = [[Lanes::splat(simd, 0.0); N]; E];
    let mut values: Quads = [[0.0; 4]; MAX_LANES];
    for a in 0..E {
        for lane in 0..S::F64_LANES {
            values[lane] = field[elements[lane.min(elements.len() - 1)][a] as usize];
        }
        nodal[a].copy_from_slice(&Lanes::from_quads(simd, &values)[..N]);
    }
    nodal
}

/// Stretches elements with coordinates `x` by factors of each; `by_nodes`: in the order of lanes of
/// [`load_nodes`]. Lanes past the last element repeat it.
#[inline(always)]
pub fn stretch<S: Simd, const E: usize>(
    simd: S,
    factors: &[[f64; DIM]],
    by_nodes: bool,
    x: &mut Nodal<S, DIM, E>,
) {
    let of = |lane: usize| factors[lane.min(factors.len() - 1)];
    let by_direction = if by_nodes {
        let quads: Quads = std::array::from_fn(|lane| quad(of(lane)));
        let [along_x, along_y, along_z, _] = Lanes::from_quads(simd, &quads);
        [along_x, along_y, along_z]
    } else {
        let mut along = [Lanes::splat(simd, 0.0); DIM];
        for i in 0..DIM {
            let lanes: [f64; MAX_LANES] = std::array::from_fn(|lane| of(lane)[i]);
            along[i] = Lanes::load(simd, &lanes);
        }
        along
    };
    for a in 0..E {
        for i in 0..DIM {
            x[a][i] = by_direction[i] * x[a][i];
        }
    }
}

/// One number a lane in the order of [`Lanes::from_quads`], zero past the last.
#[inline(always)]
pub fn load_in_order<S: Simd>(simd: S, values: &[f64]) -> Lanes<S> {
    let mut quads: Quads = [[0.0; 4]; MAX_LANES];
    for (quad, value) in quads.iter_mut().zip(values) {
        quad[0] = *value;
    }
    Lanes::from_quads(simd, &quads)[0]
}

/// Adds `forces` to `sums` at the nodes of `hexes`. In a row the nodes of one end of the elements
/// come before those of the other, which are the same except for one element: a sum is not read
/// right after it was written.
#[inline(always)]
pub fn add<S: Simd, const N: usize>(
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

/// Adds forces, in the order of lanes of [`Lanes::from_quads`], to the sums of their nodes.
#[inline(always)]
pub fn add_nodes<S: Simd, const N: usize, const E: usize>(
    simd: S,
    forces: &Nodal<S, N, E>,
    sums: &mut [[f64; 4]],
    elements: &[[u16; E]],
) {
    let zero = Lanes::splat(simd, 0.0);
    let mut quads: Quads = [[0.0; 4]; MAX_LANES];
    for a in 0..E {
        let mut values = [zero; 4];
        values[..N].copy_from_slice(&forces[a]);
        Lanes::to_quads(simd, values, &mut quads);
        for (quad, nodes) in quads.iter().zip(elements) {
            let sum = &mut sums[nodes[a] as usize];
            for i in 0..4 {
                sum[i] += quad[i];
            }
        }
    }
}
