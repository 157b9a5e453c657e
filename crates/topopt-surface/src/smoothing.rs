//! Smoothing by curvature flow, which moves the surface no further than it may and keeps the volume.

use rayon::prelude::*;
use topopt_distance::{Patches, Speed, Tetrahedra, arrival_until, signed_distance};
use topopt_linalg::BackendError;

use crate::cut::Cut;
use crate::diffusion::Diffusion;
use crate::shaping::{Shaping, SolidError};
use crate::threshold::Volumes;
use crate::{Field, FieldError};

/// Steps of diffusion, and the radius of each as a share of the smoothing: the two together blur as
/// a bell of a width (standard deviation) of the smoothing.
const STEPS: usize = 2;
const RADIUS: f64 = 0.5;

/// Steps of the secant method for the shift that keeps the volume, and the share of the volume that
/// may be missing: what is left is made up for by the level.
const SHIFTS: usize = 8;
const TOLERANCE: f64 = 1e-4;

/// The largest share of the half of a wall or a gap by which smoothing may move its surface: what
/// is thin stays. Without it, an element of smoothing made a cantilever with webs of two elements
/// 24 % less stiff.
const SHARE: f64 = 1.0 / 3.0;

/// Half of the thinnest wall that the mesh can show without holes, in element widths: thinner ones
/// do not move.
const THINNEST: f64 = 0.75;

/// A solid smoothed, positive inside: its surface moved by at most the smoothing, by at most a
/// sixth of a wall or a gap, and near pinned nodes by at most the distance from them; the volume is
/// kept at a level next to 0.
///
/// What is diffused is no distance but a step from -1 to 1 across the surface. That moves the surface
/// by its mean curvature [MerrimanBenceOsher1994], and both sides of a wall only where the blur
/// reaches from one to the other; a diffused distance, which falls off on both sides of the middle of
/// a wall, would take from every wall (of one as thick as the blur is wide, all). At the part's own
/// faces diffusion has its natural boundary condition, so that the surface slides along them.
pub(crate) fn smoothed(
    volumes: &Volumes,
    cut: &Cut,
    volume: f64,
    shaping: &Shaping,
) -> Result<Field, SolidError> {
    let (mesh, reach) = (volumes.mesh(), shaping.smoothing);
    let patches = Patches::new(Tetrahedra::of_mesh(mesh)?);
    let above: Vec<f64> = cut.field.values().map(|value| value - cut.threshold).collect();
    let width = mesh.element_width();
    let distance = signed_distance(&patches, &above, reach / SHARE + width)?.values;
    let pins = pins(&patches, shaping)?;
    drop(patches);

    let radius = RADIUS * reach;
    let diffusion = Diffusion::new(mesh, |_| 1.0).with_factor(radius * radius);
    // As steep as the mesh can show.
    let step = distance.par_iter().map(|phi| (phi / width).clamp(-1.0, 1.0)).collect();
    let mut blurred = diffusion.even_out(step, STEPS).map_err(FieldError::from)?;
    // In lengths again: the slope of a step blurred by a bell.
    let slope = 2.0 / (std::f64::consts::TAU * (reach * reach + width * width / 3.0)).sqrt();
    blurred.par_iter_mut().for_each(|value| *value /= slope);

    // As far as the surface may move: further away are other walls.
    let layers = ((reach / width).ceil() + 1.0).min(MOST_LAYERS) as usize;
    let [inwards, outwards] = [1.0, -1.0].map(|sign| {
        let depths = distance.par_iter().map(|phi| sign * phi).collect();
        let depths = diffusion.largest_within(layers, depths);
        limits(&diffusion, depths, [width, reach], &pins).map_err(FieldError::from)
    });
    let (inwards, outwards) = (inwards?, outwards?);

    let bend = diffusion.with_factor(0.25 * width * width);
    let shifted = shift_to_volume(volumes, volume, reach, |shift| {
        let moved = (0..blurred.len())
            .into_par_iter()
            .map(|v| (blurred[v] + shift - distance[v]).clamp(-inwards[v], outwards[v]));
        // Where the surface moves as far as it may, the way there bends.
        let moved = bend.even_out(moved.collect(), 1)?;
        let values = distance.par_iter().zip(moved).map(|(from, moved)| from + moved);
        Field::of_vertices(mesh, values.collect())
    });
    Ok(shifted?)
}

/// Returns how far each vertex may move (length), `[n_vertices]`, by the `depths` of its wall or gap.
fn limits(
    diffusion: &Diffusion,
    depths: Vec<f64>,
    [width, reach]: [f64; 2],
    pins: &[f64],
) -> Result<Vec<f64>, BackendError> {
    let of_wall = |depth: f64| (SHARE * depth).min(depth - THINNEST * width).clamp(0.0, reach);
    let limits = depths.into_par_iter().map(of_wall).collect();
    // Jumps of the limits would be steps in the surface.
    let mut limits = diffusion.even_out(limits, 1)?;
    // Linear elements have no maximum principle.
    let pinned = limits.par_iter_mut().zip(pins);
    pinned.for_each(|(limit, pin)| *limit = limit.max(0.0).min(*pin));
    Ok(limits)
}

/// The field `shifted(shift)` of the shift that gives the volume `target`, or nearly. Where the
/// surface has moved as far as it may, it does not follow, so the others have to move further.
fn shift_to_volume(
    volumes: &Volumes,
    target: f64,
    reach: f64,
    shifted: impl Fn(f64) -> Result<Field, FieldError>,
) -> Result<Field, FieldError> {
    let missing = |field: &Field| volumes.clipped(field, 0.0) / target - 1.0;

    let mut field = shifted(0.0)?;
    let mut last = (0.0, missing(&field));
    let mut shift = -last.1.signum() * 0.1 * reach;

    for _ in 0..SHIFTS {
        if last.1.abs() <= TOLERANCE {
            break;
        }
        field = shifted(shift)?;
        let found = (shift, missing(&field));
        let slope = (found.1 - last.1) / (found.0 - last.0);
        last = found;
        // The volume grows with the shift, unless all is as far as it may move.
        if slope.is_nan() || slope <= 0.0 {
            break;
        }
        shift = (shift - found.1 / slope).clamp(-4.0 * reach, 4.0 * reach);
    }
    Ok(field)
}

/// Layers of elements in which the depth of a wall is looked for.
const MOST_LAYERS: f64 = 32.0;

/// Largest distance that the surface may move at every vertex, in view of pinned nodes.
fn pins(patches: &Patches, shaping: &Shaping) -> Result<Vec<f64>, SolidError> {
    let reach = shaping.smoothing;
    if shaping.pinned.is_empty() {
        return Ok(vec![reach; patches.tetrahedra().points().len()]);
    }
    let sources: Vec<(u32, f64)> = shaping.pinned.iter().map(|&node| (node, 0.0)).collect();
    let arrival = arrival_until(patches, &Speed::Uniform(1.0), &sources, reach)?;
    Ok(arrival.times.into_par_iter().map(|distance| distance.min(reach)).collect())
}
