//! Inertia relief: the loads of a part that supports leave free are balanced by its inertia.
//!
//! With the free rigid motions R of the part, a column each, and its mass M, the part accelerates
//! by R a with (R^T M R) a = R^T f, and deforms under f' = f - F a with F = M R, which does no work
//! on R. Pins, as many as there are motions, make K regular; as f' is in balance they carry
//! nothing. Of the solution v the displacement u = v + R c is taken that is orthogonal to F, so
//! that u, f^T u = f'^T u and the derivatives do not depend on the pins.
//!
//! As u = P v and f' = P^T f with the projector P = I - R (R^T F)^-1 F^T, the adjoint state of
//! dg/du = l is the displacement of the load l in the same sense, with the acceleration m of l:
//! dg/drho = lambda . (df/drho - dF/drho a - dK/drho u) - m . dF^T/drho u. For g = f^T u, lambda is
//! u and m is a: dC/drho = 2 u . (df/drho - dF/drho a) - u . dK/drho u.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};
use rayon::prelude::*;
use topopt_mesh::HexMesh;
use topopt_mesh::vector::{cross, dot};

use crate::{BodyForce, Constraints, DIM, ElementVectors, FreePart, RigidMotion};

/// A free part with its mass in a design: accelerations, inertia forces and displacements.
#[derive(Debug, Clone)]
pub struct InertiaRelief {
    part: FreePart,
    /// Offsets of the nodes of the part from its center.
    offsets: Vec<[f64; DIM]>,
    /// Components at which supports hold them: there inertia forces have no effect.
    held: Vec<[bool; DIM]>,
    /// Integrals of N_a (1, x, y, z) about the center with the factors of the materials; those of a
    /// design multiply them.
    moments: ElementVectors,
    /// Their sums for a design at the nodes of the part.
    sums: Vec<[f64; 1 + DIM]>,
    /// R^T M R; none where nothing has mass.
    mass: Option<Cholesky<f64, Dyn>>,
}

/// Nodes of a chunk of a sum, whose bits do not depend on the number of threads.
const CHUNK: usize = 1 << 14;

impl InertiaRelief {
    /// The `part` of `mesh`, with the factors of its `mass` if there are any, held by `supports`.
    pub fn new<const N: usize>(
        part: &FreePart,
        mesh: &HexMesh,
        mass: Option<&[f64]>,
        supports: &Constraints<N>,
    ) -> Self {
        let mut moments = BodyForce::<4>::ZERO;
        moments.uniform[0] = 1.0;
        for i in 0..DIM {
            moments.uniform[1 + i] = -part.center[i];
            moments.gradient[1 + i][i] = 1.0;
        }
        let held = |&n: &u32| std::array::from_fn(|i| i < N && supports.is_fixed(n as usize, i));
        Self {
            offsets: part.nodes.iter().map(|&node| part.offset(mesh, node)).collect(),
            held: part.nodes.iter().map(held).collect(),
            moments: ElementVectors::of_mass(mesh, mass, &moments),
            sums: Vec::new(),
            mass: None,
            part: part.clone(),
        }
    }

    /// Returns what there is on a rank without the values, of a mesh of `n_elements`.
    pub fn without_values(n_elements: usize) -> Self {
        let center = [0.0; DIM];
        Self {
            part: FreePart { nodes: Vec::new(), center, motions: Vec::new(), pins: Vec::new() },
            offsets: Vec::new(),
            held: Vec::new(),
            moments: ElementVectors::without_values(n_elements),
            sums: Vec::new(),
            mass: None,
        }
    }

    /// Elements of the mesh.
    pub fn n_elements(&self) -> usize {
        self.moments.n_elements()
    }

    /// Takes the mass of elements with these `factors`, `[n_elements]`, on a mesh of `n_nodes`.
    pub fn assemble(&mut self, factors: &[f64], n_nodes: usize) {
        let mut sums = vec![0.0; (1 + DIM) * n_nodes];
        self.moments.add(factors, &mut sums);
        let sums = sums.as_chunks::<4>().0;
        self.sums = self.part.nodes.iter().map(|&node| sums[node as usize]).collect();

        let k = self.part.motions.len();
        let mut mass = DMatrix::zeros(k, k);
        for (l, motion) in self.part.motions.iter().enumerate() {
            let forces: Vec<_> = (0..self.sums.len()).map(|n| self.inertia(motion, n)).collect();
            mass.set_column(l, &self.along(|n| forces[n]));
        }
        self.mass = Cholesky::new(mass);
    }

    /// The acceleration by nodal forces `f`, `[n_nodes][3]`: R a about the center of the part.
    pub fn acceleration(&self, f: &[f64]) -> RigidMotion {
        let f = f.as_chunks::<DIM>().0;
        self.motion(self.along(|n| f[self.part.nodes[n] as usize]))
    }

    /// Subtracts the inertia forces F `a` from `f`, `[n_nodes][3]`.
    pub fn subtract_inertia(&self, a: &RigidMotion, f: &mut [f64]) {
        let f = f.as_chunks_mut::<DIM>().0;
        for (n, (&node, held)) in self.part.nodes.iter().zip(&self.held).enumerate() {
            let (f, inertia) = (&mut f[node as usize], self.inertia(a, n));
            (0..DIM).filter(|&i| !held[i]).for_each(|i| f[i] -= inertia[i]);
        }
    }

    /// Inertia forces -M r of an acceleration, at held components too, as nodes with forces.
    pub fn forces(&self, a: &RigidMotion) -> Vec<(u32, [f64; DIM])> {
        let nodes = self.part.nodes.iter().enumerate();
        nodes.map(|(n, &node)| (node, self.inertia(a, n).map(|f| -f))).collect()
    }

    /// Sets the entries of `f`, `[n_nodes][3]`, at pins to zero.
    pub fn clear_pins(&self, f: &mut [f64]) {
        self.part.pins.iter().for_each(|&(node, i)| f[DIM * node as usize + i] = 0.0);
    }

    /// Adds the rigid motion to `v`, `[n_nodes][3]`, that makes it orthogonal to F.
    pub fn remove_motions(&self, v: &mut [f64]) {
        let v = v.as_chunks_mut::<DIM>().0;
        // F^T v = R^T (M v) with the mass of R alone: along every motion by itself.
        let along = |motion: &RigidMotion| {
            self.sum(|n| dot(self.inertia(motion, n), v[self.part.nodes[n] as usize]))
        };
        let along = self.part.motions.iter().map(along);
        let motion = self.motion(DVector::from_iterator(self.part.motions.len(), along));
        for (&node, &offset) in self.part.nodes.iter().zip(&self.offsets) {
            v[node as usize].iter_mut().zip(motion.at(offset)).for_each(|(v, r)| *v -= r);
        }
    }

    /// The derivative of y . F `a` by the factor of each element for a nodal vector `y`,
    /// `[n_nodes][3]`: `[n_elements]`.
    pub fn work(&self, a: &RigidMotion, y: &[f64]) -> Vec<f64> {
        let y = y.as_chunks::<DIM>().0;
        let mut along = vec![[0.0; 1 + DIM]; y.len()];
        for (&node, held) in self.part.nodes.iter().zip(&self.held) {
            let y: [f64; DIM] =
                std::array::from_fn(|i| if held[i] { 0.0 } else { y[node as usize][i] });
            // y . (t + w x r) = y . t + r . (y x w)
            let [by_x, by_y, by_z] = cross(y, a.rotation);
            along[node as usize] = [dot(y, a.translation), by_x, by_y, by_z];
        }
        self.moments.work(along.as_flattened())
    }

    /// Mass of the part (volume times factors), its center, and `a`, which
    /// is about the center of the part, about that.
    pub fn about_center_of_mass(&self, a: &RigidMotion) -> (f64, [f64; DIM], RigidMotion) {
        let total: [f64; 1 + DIM] =
            std::array::from_fn(|i| self.sums.iter().map(|sums| sums[i]).sum());
        let [mass, first @ ..] = total;
        let offset = first.map(|first| first / mass);
        let center = std::array::from_fn(|i| self.part.center[i] + offset[i]);
        (mass, center, RigidMotion { translation: a.at(offset), ..*a })
    }

    /// M r at node `n` of the part for a rigid motion r.
    fn inertia(&self, motion: &RigidMotion, n: usize) -> [f64; DIM] {
        let [mass, first @ ..] = self.sums[n];
        let turned = cross(motion.rotation, first);
        std::array::from_fn(|i| mass * motion.translation[i] + turned[i])
    }

    /// R^T f for forces on the nodes of the part.
    fn along(&self, f: impl Fn(usize) -> [f64; DIM] + Sync) -> DVector<f64> {
        let along = |motion: &RigidMotion| self.sum(|n| dot(motion.at(self.offsets[n]), f(n)));
        let along = self.part.motions.iter().map(along);
        DVector::from_iterator(self.part.motions.len(), along)
    }

    /// The motion R a with (R^T M R) a = `right`.
    fn motion(&self, right: DVector<f64>) -> RigidMotion {
        let mut motion = RigidMotion::default();
        if let Some(mass) = &self.mass {
            let shares = mass.solve(&right);
            let motions = self.part.motions.iter().zip(shares.iter());
            motions.for_each(|(of, &share)| motion.add(share, of));
        }
        motion
    }

    /// Sums over the nodes of the part.
    fn sum(&self, term: impl Fn(usize) -> f64 + Sync) -> f64 {
        let n = self.offsets.len();
        let chunk = |k: usize| (k * CHUNK..n.min((k + 1) * CHUNK)).map(&term).sum::<f64>();
        let sums: Vec<f64> = (0..n.div_ceil(CHUNK)).into_par_iter().map(chunk).collect();
        sums.iter().sum()
    }
}
