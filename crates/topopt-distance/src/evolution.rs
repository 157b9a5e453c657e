//! The evolution of a level set by explicit steps in a narrow band of patches.
//!
//! Velocity and normal speed by the scheme of positive coefficients [BarthSethian1998, 4], applied
//! to both together: H(grad(phi)) = alpha . grad(phi) + epsilon |grad(phi)| is homogeneous. The
//! curvature comes from the weak form of div(grad(phi) / |grad(phi)|) with lumped masses.

use topopt_mesh::vector::{dot, length};

use crate::DistanceError;
use crate::band::{Band, Cell};
use crate::checks::check_positive;
use crate::element::{Element, LEAST_SLOPE, normal};
use crate::motion::Motion;
use crate::patches::Patches;
use crate::signed_distance::signed_distance;

/// How a level set evolves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Steps {
    /// Duration of the evolution.
    pub time: f64,
    /// Width of the band on each side of the front; five elements and more.
    pub band: f64,
    /// Most steps.
    pub most: usize,
}

/// A level set after it has evolved.
#[derive(Debug, Clone, PartialEq)]
pub struct Evolved {
    /// The signed distance at each vertex, `[n_points]`; plus or minus the width of the band beyond
    /// it.
    pub values: Vec<f64>,
    /// Steps that were made.
    pub n_steps: usize,
    /// Number of times that the field was made a distance, beginning and end included.
    pub n_distances: usize,
}

/// Moves the zero set of `values`, `[n_points]`, by `motion`.
///
/// Steps are as long as the inradii r of the tetrahedra in the band allow:
/// 1 / dt = 3 (|alpha| + |epsilon|) / (2 r) + 3 beta / (2 r^2), a sum where
/// \[FuYakovlevKirbyWhitaker2015\] takes the larger one. For the curvature r^2 / beta is the bound
/// for any shape: the gradients of the shape functions add up to zero, and their lengths to 1 / r.
///
/// The field is made a distance again when the front may have moved by half of the band, or when
/// the curvature has carried what is wrong at its end by as much. The front moves as it should to
/// first order in the size of the tetrahedra. Where it meets the boundary of the mesh it keeps its
/// angle: what of the curvature is along the boundary moves it there. The weak form alone would
/// turn it to a right angle, and draw a front that is parallel to the boundary to it.
///
/// # Errors
/// [`DistanceError`] for values, coefficients or settings that are not those of the tetrahedra, not
/// finite or not positive, and where more than `steps.most` steps are needed. Flow by curvature
/// alone then has long steps, [`curvature_flow`](crate::curvature_flow()).
pub fn evolve(
    patches: &Patches,
    values: &[f64],
    motion: &Motion,
    steps: &Steps,
) -> Result<Evolved, DistanceError> {
    motion.check(patches.tetrahedra())?;
    check_positive("the time", steps.time)?;
    check_positive("the band", steps.band)?;

    let mut values = signed_distance(patches, values, steps.band)?.values;
    let (mut n_steps, mut n_distances, mut left) = (0, 1, steps.time);
    while left > 0.0 {
        let stage = Stage::new(patches, motion, steps.band, &values);
        let needed = left / stage.step;
        if needed > steps.most.saturating_sub(n_steps) as f64 {
            return Err(DistanceError::Steps { needed: needed + n_steps as f64, most: steps.most });
        }
        let (made, time) = stage.run(&mut values, left);
        values = signed_distance(patches, &values, steps.band)?.values;
        n_steps += made;
        n_distances += 1;
        left -= time;
    }
    Ok(Evolved { values, n_steps, n_distances })
}

/// Steps between two distances.
struct Stage<'a> {
    patches: &'a Patches,
    motion: &'a Motion<'a>,
    band: Band<'a>,
    width: f64,
    /// Length of a step.
    step: f64,
    /// Longest step for the curvature.
    longest: f64,
}

impl<'a> Stage<'a> {
    fn new(patches: &'a Patches, motion: &'a Motion, width: f64, values: &[f64]) -> Self {
        let band = Band::new(patches, values, width);
        let beta = |cell: &Cell| motion.curvature.at(cell.number, cell.corners);
        let step = band.smallest(values, |cell| {
            let element = Element::new(&corners(patches, &cell));
            let rate = element.map_or(0.0, |element| {
                let radius = element.inradius();
                let speed = length(motion.velocity.at(cell.number, cell.corners))
                    + motion.normal_speed.at(cell.number, cell.corners).abs();
                1.5 * (speed + beta(&cell) / radius) / radius
            });
            1.0 / rate
        });
        // It diffuses by sqrt(4 beta t) in the time t.
        let longest = band.smallest(values, |cell| (width / 4.0).powi(2) / beta(&cell));
        Self { patches, motion, band, width, step, longest }
    }

    /// Makes steps for at most the time `left`; how many, and for how long.
    fn run(&self, values: &mut [f64], left: f64) -> (usize, f64) {
        let (mut n_steps, mut time, mut moved) = (0, 0.0, 0.0);
        loop {
            let step = self.step.min(left - time);
            let changed = self.band.sum(
                values,
                |cell| self.terms(&cell),
                |vertex, sums| values[vertex as usize] + step * rate(sums),
            );

            let mut farthest = 0.0f64;
            for (&vertex, changed) in self.band.vertices().iter().zip(changed) {
                let value = &mut values[vertex as usize];
                if value.abs() < self.width / 2.0 {
                    farthest = farthest.max((changed - *value).abs());
                }
                *value = changed;
            }
            n_steps += 1;
            time += step;
            moved += farthest;

            // One more step like this one has to fit into half of the band.
            let is_over = time + step > self.longest || moved + farthest > self.width / 2.0;
            if is_over || time >= left {
                return (n_steps, if time >= left { left } else { time });
            }
        }
    }

    /// Computes the terms that a tetrahedron adds at its corners, [`rate`].
    fn terms(&self, cell: &Cell) -> [[f64; 11]; 4] {
        let mut terms = [[0.0; 11]; 4];
        let Some(element) = Element::new(&corners(self.patches, cell)) else {
            return terms;
        };
        let volume = element.volume;
        let gradient = element.gradient(&cell.values);
        let slope = length(gradient);

        let mut wave = self.motion.velocity.at(cell.number, cell.corners);
        let speed = self.motion.normal_speed.at(cell.number, cell.corners);
        let beta = self.motion.curvature.at(cell.number, cell.corners);
        let towards = if slope > 0.0 { speed / slope } else { 0.0 };
        for d in 0..3 {
            wave[d] += towards * gradient[d];
        }
        let shares = positive_shares(&element, wave, &cell.values);
        let (height, bend) = (volume * dot(wave, gradient), volume / slope.max(LEAST_SLOPE));

        for a in 0..4 {
            let bend = bend * dot(element.gradients[a], gradient);
            let [x, y, z] = gradient;
            let [u, v, w] = element.gradients[a];
            terms[a] = [
                shares[a] * height,
                shares[a] * volume,
                bend,
                volume,
                x * volume,
                y * volume,
                z * volume,
                beta * volume,
                u * volume,
                v * volume,
                w * volume,
            ];
        }
        terms
    }
}

/// Returns the corners' shares of the change in a tetrahedron; all zero where nothing changes.
///
/// Corners downstream get what differs from the values upstream, and none a negative share.
#[inline]
fn positive_shares(element: &Element, wave: [f64; 3], values: &[f64; 4]) -> [f64; 4] {
    let (mut flows, mut shares) = ([0.0; 4], [0.0; 4]);
    let (mut total, mut change, mut upstream) = (0.0, 0.0, 0.0);
    for a in 0..4 {
        flows[a] = dot(wave, element.gradients[a]);
        total += flows[a].max(0.0);
        change += flows[a] * values[a];
        upstream += flows[a].min(0.0) * values[a];
    }
    if total <= 0.0 || change == 0.0 {
        return shares;
    }

    let mut sum = 0.0;
    for a in 0..4 {
        let difference = upstream + total * values[a];
        shares[a] = (flows[a].max(0.0) * difference * change.signum()).max(0.0);
        sum += shares[a];
    }
    let scale = if sum > 0.0 { 1.0 / sum } else { 0.0 };
    shares.iter_mut().for_each(|share| *share *= scale);
    shares
}

/// The change of a vertex with time, from the sums of its tetrahedra.
fn rate([height, weight, bend, volume, x, y, z, beta, u, v, w]: [f64; 11]) -> f64 {
    let moved = if weight > 0.0 { height / weight } else { 0.0 };
    if volume == 0.0 || beta == 0.0 {
        return -moved;
    }
    // The sum of the gradients of a shape function is its integral over the boundary of the mesh:
    // zero inside, and what the weak form leaves out on the boundary. The rest is the curvature
    // times the lumped mass, a quarter of the volume.
    let gradient = [x, y, z];
    let curvature = 4.0 * (dot([u, v, w], normal(gradient, volume)) - bend) / volume;
    beta / volume * curvature * length(gradient) / volume - moved
}

/// Coordinates of the corners of a tetrahedron.
pub(crate) fn corners(patches: &Patches, cell: &Cell) -> [[f64; 3]; 4] {
    let points = patches.tetrahedra().points();
    let [a, b, c, d] = cell.corners;
    [points[a as usize], points[b as usize], points[c as usize], points[d as usize]]
}
