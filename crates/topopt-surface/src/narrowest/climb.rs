//! From a vertex to the middle between the walls around it.

use topopt_mesh::vector::{difference, dot, length};

use super::depths::{CORNER, Depths, Place};

/// Widths are alike above this ratio: only narrower places are sought.
const ALIKE: f64 = 0.98;

/// Step lengths in element widths: out of corners, as far as it takes, while a step gains
/// [`CORNER`] of its length; and then to the deepest point that is no farther than an element.
const FROM_CORNERS: [f64; 2] = [0.5, 0.25];
const NEARBY: [f64; 3] = [0.25, 0.125, 0.0625];
/// Least gain in depth of a step to the deepest point, as a share of the step's length.
const GAIN: f64 = 0.1;

/// Depths within which the other wall of a member or a gap lies, whose walls may be at an angle.
const ACROSS: f64 = 1.5;

/// The slope where one wall alone is near, and no bend.
const STEEP: f64 = 0.9;

/// The middle between the walls around a vertex; none if it is `bound` deep or deeper, or if it
/// leads out of the mesh.
pub(super) fn middle(depths: &Depths, vertex: u32, bound: f64) -> Option<Place> {
    let element = depths.element(vertex)?;
    let (at, depth) = (depths.points[vertex as usize], depths.of_vertex[vertex as usize]);
    let size = depths.mesh.volume(element as usize).cbrt();
    let climb = Climb { depths, inside: depths.is_inside(vertex), size, bound: ALIKE * bound };

    let mut place = Place { at, depth, element };
    let long = |step: f64, place: Place| (step * size).max(0.25 * place.depth);
    let mut axis = None;
    'corner: for step in FROM_CORNERS {
        while let Some((way, next)) = climb.step(place, long(step, place), CORNER, |_| true).ok()? {
            if climb.is_neck(place, way) {
                axis = Some(way);
                break 'corner;
            }
            place = next;
        }
    }

    // Across a neck, and not along it.
    let from = place.at;
    let is_near = |x| {
        let way = difference(x, from);
        axis.is_none_or(|axis| dot(way, axis).abs() < 0.05 * size) && length(way) <= size
    };
    for step in NEARBY {
        while let Some((_, next)) = climb.step(place, step * size, GAIN, is_near).ok()? {
            place = next;
        }
    }
    (place.depth < climb.bound && climb.is_between_walls(place)).then_some(place)
}

/// A way that leads out of the mesh.
struct LeadsOut;

/// A climb in the solid, or in the gaps.
struct Climb<'a> {
    depths: &'a Depths<'a>,
    inside: bool,
    /// Width of an element.
    size: f64,
    /// Depth at which it ends.
    bound: f64,
}

impl Climb<'_> {
    /// A step that gains more than the share `gain` of its length, and its direction: at most of
    /// length `step`, and to where `is_allowed`. None if there is none, or if the bound is reached.
    ///
    /// # Errors
    /// [`LeadsOut`] if the steepest one does.
    fn step(
        &self,
        from: Place,
        step: f64,
        gain: f64,
        is_allowed: impl Fn([f64; 3]) -> bool,
    ) -> Result<Option<([f64; 3], Place)>, LeadsOut> {
        if from.depth >= self.bound {
            return Ok(None);
        }
        // Within the ball there is no other wall.
        let step = step.min(from.depth.max(0.05 * self.size));

        let slope = |way: [f64; 3]| {
            let at = along(from.at, way, step);
            let is_open = is_allowed(at) && !(step > from.depth && self.is_beyond_wall(from, at));
            if is_open { (self.depths.at(at) - from.depth) / step } else { 0.0 }
        };

        let away = self.depths.away(from.at);
        let Some((way, slope)) = steepest(away, slope).filter(|(_, slope)| *slope > gain) else {
            return Ok(None);
        };

        let at = along(from.at, way, step);
        let (element, inside) = self.follow(from, at).ok_or(LeadsOut)?;
        let next = Place { at, depth: from.depth + slope * step, element };
        Ok((inside == self.inside).then_some((way, next)))
    }

    /// Whether a wall of the solid lies between two points.
    fn is_beyond_wall(&self, from: Place, to: [f64; 3]) -> bool {
        let found = self.follow(from, to);
        found.map_or(self.inside, |(_, inside)| inside != self.inside)
    }

    /// Whether a wall lies on the other side of a place, too, as far away as that next to it or a
    /// little farther: skins along edges, and slivers of the surface, have none there.
    fn is_between_walls(&self, place: Place) -> bool {
        let across = |away| self.is_beyond_wall(place, along(place.at, away, ACROSS * place.depth));
        self.depths.away(place.at).is_some_and(across)
    }

    /// The element that `to` lies in, and whether it is in the solid; none if the way leads out of
    /// the mesh.
    fn follow(&self, from: Place, to: [f64; 3]) -> Option<(u32, bool)> {
        let way = difference(to, from.at);
        let n = (2.0 * length(way) / self.size).ceil().max(1.0);
        let mut found = (from.element, self.inside);
        for k in 1..=n as usize {
            found = self.depths.locate(found.0, along(from.at, way, k as f64 / n))?;
        }
        Some(found)
    }

    /// Whether the depth rises to the other side of `way`, too, within two elements.
    fn is_neck(&self, place: Place, way: [f64; 3]) -> bool {
        let stride = 0.5 * place.depth.max(0.1 * self.size);
        let (mut element, n) = (place.element, (2.0 * self.size / stride) as usize);
        for k in 1..=n {
            let at = along(place.at, way, -stride * k as f64);
            let depth = self.depths.at(at);
            match self.depths.locate(element, at) {
                Some((next, inside)) if inside == self.inside => element = next,
                _ => return false,
            }
            // A wall lies between.
            if depth < 0.5 * place.depth {
                return false;
            }
            if depth > place.depth + CORNER * stride {
                return true;
            }
        }
        false
    }
}

/// The point at a distance from `x` in the direction `way`.
fn along(x: [f64; 3], way: [f64; 3], distance: f64) -> [f64; 3] {
    [0, 1, 2].map(|d| x[d] + distance * way[d])
}

/// The steepest direction, a unit vector, and its `slope`, which is 1 at most: `first` if it is
/// steep; else of those to the corners, edges and faces of a cube, and of others around the
/// steepest one.
fn steepest(first: Option<[f64; 3]>, slope: impl Fn([f64; 3]) -> f64) -> Option<([f64; 3], f64)> {
    let mut best = first.map(|way| (way, slope(way)));
    if best.is_some_and(|(_, slope)| slope > STEEP) {
        return best;
    }
    let ways = (0..27).map(|k| [k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1]).filter(|w| *w != [0; 3]);
    for [old, new] in [[0.0, 1.0], [1.0, 0.35], [1.0, 0.15]] {
        let (around, _) = best.unwrap_or_default();
        for way in ways.clone() {
            let way = [0, 1, 2].map(|d| old * around[d] + new * f64::from(way[d]));
            let way = way.map(|w| w / length(way));
            let found = (way, slope(way));
            if best.is_none_or(|best| found.1 > best.1) {
                best = Some(found);
            }
        }
    }
    best
}
