//! `Curve`: a smooth curve through points, its frames, and the foot of a place on it.

use topopt_mesh::vector::{self, across, cross, difference, dot, length};

use super::fold::moved;

/// A curve with a frame that does not turn about it, straight beyond its ends.
pub(super) struct Curve {
    /// Stations, close to each other.
    stations: Vec<Station>,
}

/// A place of a curve.
#[derive(Clone, Copy)]
struct Station {
    at: [f64; 3],
    /// Length of the curve up to here.
    along: f64,
    /// Directions of length 1 along the curve and across it.
    tangent: [f64; 3],
    normal: [f64; 3],
}

/// A place by the section of a curve that it lies in.
pub(super) struct Foot {
    /// Length of the curve up to the section.
    pub along: f64,
    /// Coordinates in the section.
    pub across: [f64; 2],
    /// Distance of two sections here, as a share of that on the curve: 0 where they cross.
    pub spread: f64,
}

/// Stations for each span between two points.
const STEPS: usize = 16;

impl Curve {
    /// A straight line through `point` along a `direction` of length 1.
    pub fn line(point: [f64; 3], direction: [f64; 3]) -> Self {
        let [normal, _] = across(direction);
        let first = Station { at: point, along: 0.0, tangent: direction, normal };
        let next = Station { at: moved(point, 1.0, direction), along: 1.0, ..first };
        Self { stations: vec![first, next] }
    }

    /// A curve through `points`, two at least and none twice in a row: cubic between them, with the
    /// slope of the parabola through each point and its neighbors, and frames by double reflection
    /// \[Wang2008\].
    pub fn through(points: &[[f64; 3]]) -> Self {
        let spans: Vec<f64> =
            points.windows(2).map(|pair| length(difference(pair[1], pair[0]))).collect();
        let slopes = slopes(points, &spans);
        let mut stations: Vec<Station> = Vec::new();
        for (k, &span) in spans.iter().enumerate() {
            let ends = [(points[k], slopes[k]), (points[k + 1], slopes[k + 1])];
            let first = usize::from(k > 0);
            stations.extend((first..=STEPS).map(|i| cubic(ends, span, i as f64 / STEPS as f64)));
        }
        stations[0].normal = across(stations[0].tangent)[0];
        for k in 1..stations.len() {
            stations[k] = stations[k].after(&stations[k - 1]);
        }
        Self { stations }
    }

    /// Length of the curve.
    pub fn length(&self) -> f64 {
        self.stations.last().map_or(0.0, |last| last.along)
    }

    /// Finds the section of `place`: that of the nearest point whose tangent is across the arm.
    pub fn foot(&self, place: [f64; 3]) -> Foot {
        let pairs = self.stations.windows(2);
        let within = pairs.filter_map(|pair| between(pair, place));
        let (first, last) = (self.stations[0], self.stations[self.stations.len() - 1]);
        let [before, beyond] = [first, last].map(|end| end.ahead(place));
        let before = (before < 0.0).then_some((first.along + before, 1.0));
        let beyond = (beyond >= 0.0).then_some((last.along + beyond, 1.0));
        let found = within.chain(before).chain(beyond).map(|(along, spread)| {
            let station = self.station(along);
            let arm = difference(place, station.at);
            let across = [station.normal, station.binormal()].map(|axis| dot(arm, axis));
            Foot { along, across, spread }
        });
        let nearest = found.min_by(|a, b| a.distance().total_cmp(&b.distance()));
        // On one side of each section of a curve there is an end, and so at least one foot.
        nearest.unwrap_or(Foot { along: 0.0, across: [0.0; 2], spread: 0.0 })
    }

    /// The place with coordinates `across` the curve in the section after a length `along` it.
    pub fn place(&self, along: f64, across: [f64; 2]) -> [f64; 3] {
        let station = self.station(along);
        let out = moved(station.at, across[0], station.normal);
        moved(out, across[1], station.binormal())
    }

    /// The place after a length `along` the curve, with its frame.
    fn station(&self, along: f64) -> Station {
        let last = self.stations.len() - 1;
        let k = self.stations.partition_point(|station| station.along <= along).clamp(1, last);
        let [a, b] = [self.stations[k - 1], self.stations[k]];
        if along <= 0.0 || along >= self.stations[last].along {
            let end = if along <= 0.0 { self.stations[0] } else { b };
            return Station { at: moved(end.at, along - end.along, end.tangent), along, ..end };
        }
        let share = (along - a.along) / (b.along - a.along);
        let mixed = |a: [f64; 3], b| moved(a, share, difference(b, a));
        let tangent = unit(mixed(a.tangent, b.tangent));
        let normal = mixed(a.normal, b.normal);
        let normal = unit(moved(normal, -dot(normal, tangent), tangent));
        Station { at: mixed(a.at, b.at), along, tangent, normal }
    }
}

impl Foot {
    fn distance(&self) -> f64 {
        self.across[0].hypot(self.across[1])
    }
}

impl Station {
    fn binormal(&self) -> [f64; 3] {
        cross(self.tangent, self.normal)
    }

    /// Distance of `place` ahead of the section here.
    fn ahead(&self, place: [f64; 3]) -> f64 {
        dot(difference(place, self.at), self.tangent)
    }

    /// Returns the station with the length and the frame that follow from the one `before` it.
    fn after(self, before: &Self) -> Self {
        let step = difference(self.at, before.at);
        let reflected = |x: [f64; 3], by: [f64; 3]| moved(x, -2.0 * dot(x, by) / dot(by, by), by);
        let (normal, tangent) = (reflected(before.normal, step), reflected(before.tangent, step));
        let turn = difference(self.tangent, tangent);
        let normal = if dot(turn, turn) > 0.0 { reflected(normal, turn) } else { normal };
        Self { normal: unit(normal), along: before.along + length(step), ..self }
    }
}

/// Length along the curve and spread of the foot of `place` between two stations, whose tangent
/// goes from one to the other; none where it lies elsewhere, or is the farthest point.
fn between(pair: &[Station], place: [f64; 3]) -> Option<(f64, f64)> {
    let [a, b] = [pair[0], pair[1]];
    let ahead = a.ahead(place);
    if ahead < 0.0 || b.ahead(place) >= 0.0 {
        return None;
    }

    // (place - a - t step) . (tangent + t turn) = 0
    let (step, turn) = (difference(b.at, a.at), difference(b.tangent, a.tangent));
    let linear = dot(difference(place, a.at), turn) - dot(step, a.tangent);
    let square = -dot(step, turn);
    let root = (linear * linear - 4.0 * square * ahead).max(0.0).sqrt();
    let share = 2.0 * ahead / (root - linear);
    let span = b.along - a.along;
    Some((a.along + share.clamp(0.0, 1.0) * span, -(linear + 2.0 * square * share) / span))
}

/// Slopes by length of chords, `[n_points]`: those of parabolas through three points.
fn slopes(points: &[[f64; 3]], spans: &[f64]) -> Vec<[f64; 3]> {
    let secant = |k: usize| difference(points[k + 1], points[k]).map(|x| x / spans[k]);
    let last = spans.len() - 1;
    if last == 0 {
        return vec![secant(0); 2];
    }
    let inner = |k: usize| {
        let share = spans[k - 1] / (spans[k - 1] + spans[k]);
        moved(secant(k - 1), share, difference(secant(k), secant(k - 1)))
    };
    let at_end = |k: usize, next: usize| moved(secant(k), 1.0, difference(secant(k), inner(next)));
    std::iter::once(at_end(0, 1)).chain((1..=last).map(inner)).chain([at_end(last, last)]).collect()
}

/// Station of the cubic with these ends and slopes at a share t of its span, still without a frame.
fn cubic([(a, first), (b, last)]: [([f64; 3], [f64; 3]); 2], span: f64, t: f64) -> Station {
    let chord = difference(b, a);
    let bend: [f64; 3] = std::array::from_fn(|i| span * (first[i] + last[i]) - 2.0 * chord[i]);
    let curve: [f64; 3] =
        std::array::from_fn(|i| 3.0 * chord[i] - span * (2.0 * first[i] + last[i]));
    let slope = |i: usize| span * first[i] + t * (2.0 * curve[i] + 3.0 * t * bend[i]);
    let place = |i: usize| a[i] + t * (span * first[i] + t * (curve[i] + t * bend[i]));
    Station {
        at: std::array::from_fn(place),
        along: 0.0,
        tangent: unit(std::array::from_fn(slope)),
        normal: [0.0; 3],
    }
}

/// The vector of length 1 along `x`; zero stays.
fn unit(x: [f64; 3]) -> [f64; 3] {
    vector::unit(x).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points on a quarter of a circle of radius 10, tilted and then straight on.
    fn bent() -> Curve {
        let point = |k: usize| {
            let (sin, cos) = (0.2 * k as f64).sin_cos();
            [10.0 * sin, 6.0 * (1.0 - cos), 8.0 * (1.0 - cos)]
        };
        Curve::through(&(0..=8).map(point).collect::<Vec<_>>())
    }

    #[test]
    fn places_have_the_section_that_they_are_made_in() {
        for curve in [bent(), Curve::line([1.0, 2.0, 3.0], [0.0, 0.6, 0.8])] {
            for along in [-3.0, 0.0, 0.3, 4.0, 9.7, curve.length() + 2.0] {
                for across in [[0.0, 0.0], [3.0, -2.0], [-5.0, 4.0]] {
                    let foot = curve.foot(curve.place(along, across));
                    let off = [foot.along - along, foot.across[0] - across[0]];
                    assert!(off.iter().all(|off| off.abs() < 1e-9), "{along} {across:?}: {off:?}");
                    assert!((foot.across[1] - across[1]).abs() < 1e-9 && foot.spread > 0.3);
                }
            }
        }
    }

    #[test]
    fn an_arc_has_its_length_and_sections_cross_at_its_center() {
        let curve = bent();
        assert!((curve.length() - 16.0).abs() < 0.02, "{}", curve.length());
        let (sin, cos) = 0.83_f64.sin_cos();
        for share in [1.0, 0.5, 0.1] {
            let place = [10.0 * sin, -6.0 * cos, -8.0 * cos].map(|x| share * x);
            let spread = curve.foot([place[0], place[1] + 6.0, place[2] + 8.0]).spread;
            assert!((spread - share).abs() < 0.02, "{share}: {spread}");
        }
    }

    /// A frame on a helix turns against its torsion, and comes back on a curve in a plane.
    #[test]
    fn frames_do_not_turn_about_the_curve() {
        let helix = |k: usize| {
            let (sin, cos) = (0.1 * k as f64).sin_cos();
            [3.0 * cos, 3.0 * sin, 0.4 * k as f64]
        };
        let curve = Curve::through(&(0..=60).map(helix).collect::<Vec<_>>());
        for pair in curve.stations.windows(2) {
            let change = difference(pair[1].normal, pair[0].normal);
            let about = dot(change, pair[0].binormal()) / length(change).max(1e-9);
            assert!(about.abs() < 0.02, "{about}");
        }
    }
}
