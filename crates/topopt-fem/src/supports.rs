//! Supports: the constraints of elasticity, and the rigid motions that they leave free.

use nalgebra::{Matrix6, SymmetricEigen};
use rayon::prelude::*;
use topopt_mesh::HexMesh;

use crate::{Constraints, DIM, RigidMotion};

/// Displacement components that are held or tied to the ground by springs (force per length).
pub type Supports = Constraints<DIM>;

impl Supports {
    /// Whether `component` of `node` is held or tied to the ground by a spring.
    fn resists(&self, node: usize, component: usize) -> bool {
        let spring = self.springs().map_or(0.0, |springs| springs[DIM * node + component]);
        self.is_fixed(node, component) || spring > 0.0
    }

    /// The rigid motions of `nodes` that the supports leave free, each in words.
    pub fn free_rigid_motions(&self, mesh: &HexMesh, nodes: &[u32]) -> Vec<String> {
        self.free_motions(mesh, nodes).combinations.iter().map(describe).collect()
    }

    /// Finds the rigid motions of `nodes` that the supports leave free.
    ///
    /// The six rigid-body modes, about the middle of what is held, are restricted to the components
    /// that are held or tied to a spring and scaled to equal size there, so that a thin face holds
    /// as well as a thick one; modes in the kernel of that restriction are free.
    pub(crate) fn free_motions(&self, mesh: &HexMesh, nodes: &[u32]) -> FreeMotions {
        let x = mesh.coordinates();
        let center = center(x, nodes);
        let offset = |n: u32| -> [f64; 3] { std::array::from_fn(|i| x[n as usize][i] - center[i]) };
        let size = |&n: &u32| offset(n).map(f64::abs).into_iter().fold(0.0, f64::max);
        let radius = nodes.par_iter().map(size).reduce(|| f64::MIN_POSITIVE, f64::max);

        let resisting = |n: &u32| (0..DIM).any(|i| self.resists(*n as usize, i));
        let held: Vec<u32> = nodes.par_iter().copied().filter(resisting).collect();
        let middle: [f64; 3] = std::array::from_fn(|i| {
            held.iter().map(|&n| offset(n)[i]).sum::<f64>() / held.len().max(1) as f64
        });

        let mut gram = Matrix6::<f64>::zeros();
        for &n in &held {
            let r = offset(n);
            let modes = rigid_modes(std::array::from_fn(|i| (r[i] - middle[i]) / radius));
            for i in (0..DIM).filter(|&i| self.resists(n as usize, i)) {
                for (a, b) in (0..36).map(|k| (k / 6, k % 6)) {
                    gram[(a, b)] += modes[a][i] * modes[b][i];
                }
            }
        }

        // A mode that rounding alone moves is none.
        let far = center.map(f64::abs).into_iter().fold(radius, f64::max) / radius;
        let least = (1e-12 + 8.0 * f64::EPSILON * far) * (held.len().max(1) as f64).sqrt();
        let size = |k: usize| Some(gram[(k, k)].sqrt()).filter(|&s| s > least).unwrap_or(1.0);
        let sizes: [f64; 6] = std::array::from_fn(size);
        let scaled = Matrix6::from_fn(|a, b| gram[(a, b)] / (sizes[a] * sizes[b]));
        let eigen = SymmetricEigen::new(scaled);

        let free = (0..6).filter(|&k| eigen.eigenvalues[k] < 1e-10);
        let motion = |k: usize| {
            let about_middle = std::array::from_fn(|i| eigen.eigenvectors[(i, k)] / sizes[i]);
            about_center(about_middle, middle.map(|m| m / radius))
        };
        FreeMotions { center, radius, combinations: simplest(free.map(motion).collect()) }
    }
}

/// Rigid motions that supports leave free.
pub(crate) struct FreeMotions {
    center: [f64; DIM],
    /// Length by which offsets from the center are divided.
    radius: f64,
    /// Shares of the six rigid-body modes about the center in each.
    combinations: Vec<[f64; 6]>,
}

impl FreeMotions {
    /// The motions about the center, which comes first.
    pub fn about_center(&self) -> ([f64; DIM], Vec<RigidMotion>) {
        let motion = |&[x, y, z, a, b, c]: &[f64; 6]| RigidMotion {
            translation: [x, y, z],
            rotation: [a, b, c].map(|angle| angle / self.radius),
        };
        (self.center, self.combinations.iter().map(motion).collect())
    }
}

/// The mean of the `nodes` at `x`.
fn center(x: &[[f64; 3]], nodes: &[u32]) -> [f64; 3] {
    let sum = |chunk: &[u32]| -> [f64; 3] {
        std::array::from_fn(|i| chunk.iter().map(|&n| x[n as usize][i]).sum())
    };
    // In fixed chunks, so that the sum does not depend on the number of threads.
    let sums: Vec<_> = nodes.par_chunks(1 << 16).map(sum).collect();
    std::array::from_fn(|i| sums.iter().map(|sum| sum[i]).sum::<f64>() / nodes.len() as f64)
}

/// Displacement of the six rigid-body modes at offset `r`: three translations, then the
/// rotations about x, y and z.
fn rigid_modes(r: [f64; 3]) -> [[f64; 3]; 6] {
    [
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, 0.0, 1.0],
        [0.0, -r[2], r[1]],
        [r[2], 0.0, -r[0]],
        [-r[1], r[0], 0.0],
    ]
}

/// The modes about the center that make a motion given by those about a point at `middle`; of
/// length 1.
fn about_center(motion: [f64; 6], middle: [f64; 3]) -> [f64; 6] {
    let [x, y, z, a, b, c] = motion;
    // u = t + w x (r - middle)
    let t = [
        x - (b * middle[2] - c * middle[1]),
        y - (c * middle[0] - a * middle[2]),
        z - (a * middle[1] - b * middle[0]),
    ];
    let motion = [t[0], t[1], t[2], a, b, c];
    let length = motion.iter().map(|v| v * v).sum::<f64>().sqrt();
    motion.map(|v| v / length)
}

/// Returns motions that span the same space with as few modes each as possible, by Gauss-Jordan elimination.
fn simplest(mut motions: Vec<[f64; 6]>) -> Vec<[f64; 6]> {
    let mut mode = 0;
    for row in 0..motions.len() {
        // Along the first mode that any of the motions left has; the last one is taken as it is.
        let (pivot, column) = loop {
            let size = |r: usize| motions[r][mode].abs();
            let largest = (row..motions.len()).max_by(|&a, &b| size(a).total_cmp(&size(b)));
            match largest {
                Some(r) if size(r) > 1e-6 || mode == 5 => break (r, mode),
                _ => mode += 1,
            }
        };

        motions.swap(row, pivot);
        let scale = motions[row][column];
        motions[row].iter_mut().for_each(|v| *v /= scale);

        let reduced = motions[row];
        for (_, other) in motions.iter_mut().enumerate().filter(|(r, _)| *r != row) {
            let factor = other[column];
            other.iter_mut().zip(reduced).for_each(|(v, p)| *v -= factor * p);
        }

        mode = (column + 1).min(5);
    }
    motions
}

/// A combination of the six modes in words: those with a notable share.
fn describe(combination: &[f64; 6]) -> String {
    const NAMES: [&str; 6] = [
        "translation in x",
        "translation in y",
        "translation in z",
        "rotation about x",
        "rotation about y",
        "rotation about z",
    ];
    let notable: Vec<_> =
        NAMES.iter().zip(combination).filter(|(_, c)| c.abs() > 0.1).map(|(n, _)| *n).collect();
    notable.join(" with ")
}
