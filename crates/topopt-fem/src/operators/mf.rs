//! `mf`: nothing stored; geometry from the coordinates, several elements a SIMD lane group.

use std::sync::Arc;

use pulp::{Arch, Simd, WithSimd};
use topopt_linalg::{Cost, Cpu, LinearOperator, Space};

use super::diagonal;
use super::trilinear::{self, LaneGroup, NODE, Nodal, element_forces, from_group, to_group};
use crate::lanes::{Lanes, MAX_LANES, Quads};
use crate::patches::{Patch, Patches};
use crate::{DIM, ElementOperator, Problem};

/// The matrix-free operator.
#[derive(Debug)]
pub struct Mf<'a> {
    problem: &'a Problem,
    patches: Arc<Patches>,
    moduli: Vec<f64>,
    arch: Arch,
}

impl<'a> Mf<'a> {
    /// The operator of `problem` with all moduli zero.
    pub fn new(problem: &'a Problem) -> Self {
        let moduli = vec![0.0; problem.mesh().n_elements()];
        Self { problem, patches: problem.patches(), moduli, arch: Arch::new() }
    }

    /// The elements in patches.
    pub(crate) fn patches(&self) -> &Patches {
        &self.patches
    }

    fn lame(&self) -> (f64, f64) {
        self.problem.material().unit_lame()
    }
}

impl LinearOperator<Cpu> for Mf<'_> {
    fn space(&self) -> Space {
        self.problem.space()
    }

    fn apply(&self, x: &Vec<f64>, y: &mut Vec<f64>) {
        let field = x.as_chunks::<DIM>().0;
        let supports = self.problem.supports();
        let work = |local: &mut LocalFields, patch: &Patch, sums: &mut [[f64; DIM]]| {
            let supports = self.problem.supports();
            local.gather(self.problem, patch, |node| supports.free_part(node, field[node]));
            let moduli = &self.moduli[patch.elements.clone()];
            self.arch.dispatch(AddForces { patch, local, moduli, lame: self.lame(), sums });
        };
        self.patches.scatter(y, work, |node, sum| supports.choose(node, field[node], sum));
    }

    fn cost(&self) -> Cost {
        let (elements, nodes) = (self.moduli.len() as f64, self.problem.n_dofs() as f64 / 3.0);
        // Coordinates, x and copies of nodes are read once, the copies and y written once.
        let copies = self.patches.copies_per_node();
        Cost {
            bytes_read: elements * (8.0 + 16.0) + nodes * (24.0 + 24.0 + 28.0 * copies),
            bytes_written: nodes * (24.0 + 24.0 * copies),
            flops: elements * trilinear::FLOPS,
        }
    }
}

impl ElementOperator<Cpu> for Mf<'_> {
    fn strategy(&self) -> &'static str {
        "mf"
    }

    fn set_moduli(&mut self, moduli: &Vec<f64>) {
        self.moduli.copy_from_slice(moduli);
    }

    fn diagonal(&self, out: &mut Vec<f64>) {
        diagonal::by_patches(self.problem, &self.patches, &self.moduli, out);
    }

    fn element_energies(&self, u: &Vec<f64>, out: &mut Vec<f64>) {
        let field = u.as_chunks::<DIM>().0;
        self.patches.each_element(out, |local: &mut LocalFields, patch, energies| {
            local.gather(self.problem, patch, |node| field[node]);
            self.arch.dispatch(Energies { patch, local, lame: self.lame(), energies });
        });
    }
}

/// Coordinates, displacements and sums of forces at the nodes of a patch: by planes if it has rows of
/// elements, else by nodes.
#[derive(Default)]
struct LocalFields {
    x: Planes,
    u: Planes,
    sums: Planes,
    nodes: NodeFields,
}

/// Nodal values of a patch by component, so that a row of nodes is a vector.
type Planes = [Vec<f64>; DIM];

/// The same where no elements are in rows: the values of a node are read and added in one piece, with
/// a fourth beside them that fills a register; coordinates and displacements in one line of the cache.
#[derive(Default)]
struct NodeFields {
    xu: Vec<[[f64; 4]; 2]>,
    sums: Vec<[f64; 4]>,
}

impl LocalFields {
    fn gather(&mut self, problem: &Problem, patch: &Patch, u: impl Fn(usize) -> [f64; DIM]) {
        let x = |node: usize| problem.mesh().coordinates()[node];
        if patch.has_rows() {
            patch.gather(&mut self.x, x);
            patch.gather(&mut self.u, u);
            return;
        }
        let Self { nodes, .. } = self;
        let quad = |[x, y, z]: [f64; DIM]| [x, y, z, 0.0];
        let both = |&node: &u32| [quad(x(node as usize)), quad(u(node as usize))];
        nodes.xu.clear();
        nodes.xu.extend(patch.nodes.iter().map(both));
    }
}

/// A local field at the nodes of `hexes`, one a lane. Lanes past the last element repeat it.
#[inline(always)]
fn load<S: Simd>(simd: S, field: &Planes, hexes: &[[u16; 8]], is_row: bool) -> Nodal<S> {
    if is_row {
        let mut nodal = [[Lanes::splat(simd, 0.0); DIM]; 8];
        for a in 0..8 {
            let first = hexes[0][a] as usize;
            for i in 0..DIM {
                nodal[a][i] = Lanes::load(simd, &field[i][first..first + S::F64_LANES]);
            }
        }
        return nodal;
    }
    let mut group: LaneGroup = [[0.0; MAX_LANES]; 24];
    for lane in 0..S::F64_LANES {
        let hex = &hexes[lane.min(hexes.len() - 1)];
        for a in 0..8 {
            for i in 0..DIM {
                group[DIM * a + i][lane] = field[i][hex[a] as usize];
            }
        }
    }
    from_group(simd, &group)
}

/// As [`load`], coordinates and displacements in the order of lanes that [`Lanes::from_quads`] makes.
#[inline(always)]
fn load_nodes<S: Simd>(
    simd: S,
    fields: &[[[f64; 4]; 2]],
    hexes: &[[u16; 8]],
) -> (Nodal<S>, Nodal<S>) {
    let nodal = [[Lanes::splat(simd, 0.0); DIM]; 8];
    let (mut nodal_x, mut nodal_u) = (nodal, nodal);
    let (mut x, mut u): (Quads, Quads) = ([[0.0; 4]; MAX_LANES], [[0.0; 4]; MAX_LANES]);
    for a in 0..8 {
        for lane in 0..S::F64_LANES {
            [x[lane], u[lane]] = fields[hexes[lane.min(hexes.len() - 1)][a] as usize];
        }
        let ([x, y, z, _], [u, v, w, _]) =
            (Lanes::from_quads(simd, &x), Lanes::from_quads(simd, &u));
        (nodal_x[a], nodal_u[a]) = ([x, y, z], [u, v, w]);
    }
    (nodal_x, nodal_u)
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
fn add<S: Simd>(simd: S, forces: &Nodal<S>, sums: &mut Planes, hexes: &[[u16; 8]], is_row: bool) {
    if is_row {
        for a in NODE {
            let first = hexes[0][a] as usize;
            for i in 0..DIM {
                let sums = &mut sums[i][first..first + S::F64_LANES];
                (Lanes::load(simd, sums) + forces[a][i]).store(sums);
            }
        }
        return;
    }
    let mut group: LaneGroup = [[0.0; MAX_LANES]; 24];
    to_group(forces, &mut group);
    for (lane, hex) in hexes.iter().enumerate() {
        for a in 0..8 {
            for i in 0..DIM {
                sums[i][hex[a] as usize] += group[DIM * a + i][lane];
            }
        }
    }
}

/// As [`add`], for forces in the order of [`Lanes::from_quads`].
#[inline(always)]
fn add_nodes<S: Simd>(simd: S, forces: &Nodal<S>, sums: &mut [[f64; 4]], hexes: &[[u16; 8]]) {
    let zero = Lanes::splat(simd, 0.0);
    let mut quads: Quads = [[0.0; 4]; MAX_LANES];
    for a in 0..8 {
        let [x, y, z] = forces[a];
        Lanes::to_quads(simd, [x, y, z, zero], &mut quads);
        for (quad, hex) in quads.iter().zip(hexes) {
            let sum = &mut sums[hex[a] as usize];
            for i in 0..4 {
                sum[i] += quad[i];
            }
        }
    }
}

/// Writes the sums of E_e K_e u_e of all elements of a patch to `sums`, \[patch nodes\]\[3\].
struct AddForces<'a> {
    patch: &'a Patch,
    local: &'a mut LocalFields,
    moduli: &'a [f64],
    lame: (f64, f64),
    sums: &'a mut [[f64; DIM]],
}

impl AddForces<'_> {
    #[inline(always)]
    fn by_nodes<S: Simd>(self, simd: S) {
        let NodeFields { xu, sums } = &mut self.local.nodes;
        sums.clear();
        sums.resize(self.sums.len(), [0.0; 4]);
        let groups = self.patch.hexes.chunks(S::F64_LANES).zip(self.moduli.chunks(S::F64_LANES));
        for (hexes, moduli) in groups {
            let (x, u) = load_nodes(simd, xu, hexes);
            let moduli = load_in_order(simd, moduli);
            let forces = element_forces(simd, &x, &u, moduli, self.lame);
            add_nodes(simd, &forces, sums, hexes);
        }
        for (out, sum) in self.sums.iter_mut().zip(sums) {
            *out = [sum[0], sum[1], sum[2]];
        }
    }
}

impl WithSimd for AddForces<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        if !self.patch.has_rows() {
            return self.by_nodes(simd);
        }
        let LocalFields { x, u, sums, .. } = self.local;
        for plane in sums.iter_mut() {
            plane.clear();
            plane.resize(self.sums.len(), 0.0);
        }
        let groups = self.patch.hexes.chunks(S::F64_LANES).zip(self.moduli.chunks(S::F64_LANES));
        for (group, (hexes, filled)) in groups.enumerate() {
            let is_row = self.patch.rows[group * S::F64_LANES / MAX_LANES];
            let x = load(simd, x, hexes, is_row);
            let u = load(simd, u, hexes, is_row);
            let mut moduli = [0.0; MAX_LANES];
            moduli[..filled.len()].copy_from_slice(filled);
            let forces = element_forces(simd, &x, &u, Lanes::load(simd, &moduli), self.lame);
            add(simd, &forces, sums, hexes, is_row);
        }
        for (n, sum) in self.sums.iter_mut().enumerate() {
            *sum = [sums[0][n], sums[1][n], sums[2][n]];
        }
    }
}

/// Writes u_e^T K_e u_e at unit modulus for all elements of a patch.
struct Energies<'a> {
    patch: &'a Patch,
    local: &'a LocalFields,
    lame: (f64, f64),
    energies: &'a mut [f64],
}

impl WithSimd for Energies<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let LocalFields { x, u, nodes, .. } = self.local;
        let has_rows = self.patch.has_rows();
        let groups = self.patch.hexes.chunks(S::F64_LANES);
        let groups = groups.zip(self.energies.chunks_mut(S::F64_LANES));
        for (group, (hexes, energies)) in groups.enumerate() {
            let is_row = self.patch.rows[group * S::F64_LANES / MAX_LANES];
            let (x, u) = match has_rows {
                true => (load(simd, x, hexes, is_row), load(simd, u, hexes, is_row)),
                false => load_nodes(simd, &nodes.xu, hexes),
            };
            let forces = element_forces(simd, &x, &u, Lanes::splat(simd, 1.0), self.lame);
            let mut energy = Lanes::splat(simd, 0.0);
            for a in 0..8 {
                for i in 0..DIM {
                    energy = u[a][i].mul_add(forces[a][i], energy);
                }
            }
            let mut quads: Quads = [[0.0; 4]; MAX_LANES];
            let mut lanes = [0.0; MAX_LANES];
            match has_rows {
                true => energy.store(&mut lanes),
                false => {
                    Lanes::to_quads(simd, [energy; 4], &mut quads);
                    lanes = quads.map(|quad| quad[0]);
                }
            }
            energies.copy_from_slice(&lanes[..energies.len()]);
        }
    }
}
