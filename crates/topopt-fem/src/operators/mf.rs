//! `mf`: nothing stored; geometry from the coordinates, several elements a SIMD lane group.

use pulp::{Arch, Simd, WithSimd};
use topopt_linalg::{Cost, Cpu, LinearOperator};

use super::diagonal;
use super::lanes::{Lanes, MAX_LANES};
use super::trilinear::{self, Nodal, element_forces};
use crate::patches::{Patch, Patches};
use crate::{DIM, ElasticityOperator, Problem};

/// The matrix-free operator.
#[derive(Debug)]
pub struct Mf<'a> {
    problem: &'a Problem,
    patches: Patches,
    moduli: Vec<f64>,
    arch: Arch,
}

impl<'a> Mf<'a> {
    /// The operator of `problem` with all moduli zero.
    pub fn new(problem: &'a Problem) -> Self {
        let moduli = vec![0.0; problem.mesh().n_elements()];
        Self { problem, patches: Patches::new(problem.mesh()), moduli, arch: Arch::new() }
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
    fn dimension(&self) -> usize {
        self.problem.n_dofs()
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

impl ElasticityOperator<Cpu> for Mf<'_> {
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

/// Coordinates and displacements at the nodes of a patch.
#[derive(Default)]
struct LocalFields {
    x: Vec<[f64; DIM]>,
    u: Vec<[f64; DIM]>,
}

impl LocalFields {
    fn gather(&mut self, problem: &Problem, patch: &Patch, u: impl Fn(usize) -> [f64; DIM]) {
        patch.gather(&mut self.x, |node| problem.mesh().coordinates()[node]);
        patch.gather(&mut self.u, u);
    }
}

/// Lane-major values of up to [`MAX_LANES`] elements, \[3 a + i\]\[lane\].
pub(crate) type LaneGroup = [[f64; MAX_LANES]; 24];

/// A lane group in registers.
#[inline(always)]
pub(crate) fn from_group<S: Simd>(simd: S, group: &LaneGroup) -> Nodal<S> {
    let mut nodal = [[Lanes::splat(simd, 0.0); DIM]; 8];
    for a in 0..8 {
        for i in 0..DIM {
            nodal[a][i] = Lanes::load(simd, &group[DIM * a + i]);
        }
    }
    nodal
}

/// A lane group from registers.
#[inline(always)]
pub(crate) fn to_group<S: Simd>(nodal: &Nodal<S>, group: &mut LaneGroup) {
    for a in 0..8 {
        for i in 0..DIM {
            nodal[a][i].store(&mut group[DIM * a + i]);
        }
    }
}

/// Loads a local field of the elements from `first` on, one a lane. Past the end of the patch
/// the last element is repeated.
#[inline(always)]
fn load<S: Simd>(simd: S, field: &[[f64; DIM]], hexes: &[[u16; 8]], first: usize) -> Nodal<S> {
    let mut group: LaneGroup = [[0.0; MAX_LANES]; 24];
    for lane in 0..S::F64_LANES {
        let hex = &hexes[(first + lane).min(hexes.len() - 1)];
        for a in 0..8 {
            let value = field[hex[a] as usize];
            for i in 0..DIM {
                group[DIM * a + i][lane] = value[i];
            }
        }
    }
    from_group(simd, &group)
}

/// Adds E_e K_e u_e of all elements of a patch to `sums`, \[patch nodes\]\[3\].
struct AddForces<'a> {
    patch: &'a Patch,
    local: &'a LocalFields,
    moduli: &'a [f64],
    lame: (f64, f64),
    sums: &'a mut [[f64; DIM]],
}

impl WithSimd for AddForces<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let hexes = &self.patch.hexes;
        for first in (0..hexes.len()).step_by(S::F64_LANES) {
            let x = load(simd, &self.local.x, hexes, first);
            let u = load(simd, &self.local.u, hexes, first);
            let filled = S::F64_LANES.min(hexes.len() - first);
            let mut moduli = [0.0; MAX_LANES];
            moduli[..filled].copy_from_slice(&self.moduli[first..first + filled]);
            let forces = element_forces(simd, &x, &u, Lanes::load(simd, &moduli), self.lame);
            let mut group: LaneGroup = [[0.0; MAX_LANES]; 24];
            to_group(&forces, &mut group);
            for lane in 0..filled {
                for (a, &node) in hexes[first + lane].iter().enumerate() {
                    let sum = &mut self.sums[node as usize];
                    for i in 0..DIM {
                        sum[i] += group[DIM * a + i][lane];
                    }
                }
            }
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
        let hexes = &self.patch.hexes;
        for first in (0..hexes.len()).step_by(S::F64_LANES) {
            let x = load(simd, &self.local.x, hexes, first);
            let u = load(simd, &self.local.u, hexes, first);
            let forces = element_forces(simd, &x, &u, Lanes::splat(simd, 1.0), self.lame);
            let mut energy = Lanes::splat(simd, 0.0);
            for a in 0..8 {
                for i in 0..DIM {
                    energy = u[a][i].mul_add(forces[a][i], energy);
                }
            }
            let mut lanes = [0.0; MAX_LANES];
            energy.store(&mut lanes);
            let filled = S::F64_LANES.min(hexes.len() - first);
            self.energies[first..first + filled].copy_from_slice(&lanes[..filled]);
        }
    }
}
