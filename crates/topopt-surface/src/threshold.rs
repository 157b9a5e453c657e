//! The volume that a threshold encloses, and the threshold that encloses a volume.

use rayon::prelude::*;
use topopt_mesh::{HexMesh, tetrahedra};

use crate::Field;
use crate::cut::Cut;

/// Elements whose volumes are added up by one task, so that sums do not depend on the number of
/// threads.
const CHUNK: usize = 4096;

/// The volumes of the elements of a mesh, as sums over their tetrahedra.
pub(crate) struct Volumes<'a> {
    mesh: &'a HexMesh,
    of_elements: Vec<f64>,
    total: f64,
}

impl<'a> Volumes<'a> {
    pub fn of(mesh: &'a HexMesh) -> Self {
        let of_element = |element| tetrahedra::with_volumes(mesh, element).map(|(_, v)| v).sum();
        let of_elements: Vec<f64> =
            (0..mesh.n_elements()).into_par_iter().map(of_element).collect();
        let total = of_elements.iter().sum();
        Self { mesh, of_elements, total }
    }

    /// The volume of an element.
    pub fn of_element(&self, element: usize) -> f64 {
        self.of_elements[element]
    }

    /// The volume of all elements.
    pub fn total(&self) -> f64 {
        self.total
    }

    /// Volume of an element that is inside.
    pub fn inside(&self, cut: &Cut, element: usize) -> f64 {
        match (cut.is_cut(element), cut.is_inside((self.mesh.n_nodes() + element) as u32)) {
            (false, true) => self.of_elements[element],
            (false, false) => 0.0,
            (true, _) => {
                let tetrahedra = tetrahedra::with_volumes(self.mesh, element);
                tetrahedra.map(|(t, volume)| cut.share_inside(t) * volume).sum()
            }
        }
    }

    /// The volume of {`field` >= `threshold`}, as the field is linear on the tetrahedra.
    pub fn clipped(&self, field: &Field, threshold: f64) -> f64 {
        let cut = Cut { mesh: self.mesh, field, threshold };
        let of_chunk = |chunk: usize| -> f64 {
            let elements = chunk..(chunk + CHUNK).min(self.of_elements.len());
            elements.map(|element| self.inside(&cut, element)).sum()
        };
        let chunks = (0..self.of_elements.len()).into_par_iter().step_by(CHUNK);
        let sums: Vec<f64> = chunks.map(of_chunk).collect();
        sums.iter().sum()
    }

    /// The threshold whose solid has the volume `target`, and that solid's volume. The two volumes
    /// differ where no threshold gives the target: where large parts of the field have one value. A
    /// field of one value up to rounding is inside as a whole or not at all, whichever is nearer.
    pub fn threshold(&self, field: &Field, target: f64) -> (f64, f64) {
        let [least, most] = field.range();

        // The volume falls from `low`, where all is inside, to `high`, where nothing is.
        let (mut low, mut high) = ((least, self.total), (most.next_up(), 0.0));
        let nearer = |a: (f64, f64), b: (f64, f64)| {
            if (a.1 - target).abs() < (b.1 - target).abs() { a } else { b }
        };
        let mut best = nearer(low, high);

        let is_uniform = most - least <= ROUNDING * most.abs().max(least.abs());
        let evaluations = if is_uniform { 0 } else { MOST_EVALUATIONS };
        for evaluation in 0..evaluations {
            // False position and bisection in turn: plateaus and jumps cannot hold it up.
            let share = match evaluation % 2 {
                0 => ((low.1 - target) / (low.1 - high.1)).clamp(0.01, 0.99),
                _ => 0.5,
            };

            let threshold = low.0 + share * (high.0 - low.0);
            // Between neighboring numbers there is none.
            let is_between = low.0 < threshold && threshold < high.0;
            if high.0 - low.0 <= RESOLUTION * (most - least) || !is_between {
                break;
            }

            let found = (threshold, self.clipped(field, threshold));
            best = nearer(found, best);
            if (found.1 - target).abs() <= TOLERANCE * target {
                break;
            }
            *if found.1 > target { &mut low } else { &mut high } = found;
        }
        best
    }
}

/// Relative difference of volumes that counts as none.
const TOLERANCE: f64 = 1e-6;

/// Smallest difference between thresholds, as a share of the range of the values.
const RESOLUTION: f64 = 1e-8;

/// Relative difference of values that counts as none: filters are solved to 1e-11.
const ROUNDING: f64 = 1e-9;

/// Every second evaluation halves the interval: 2^-32 of it is well below [`RESOLUTION`].
const MOST_EVALUATIONS: usize = 64;
