//! `Widths` of the members of a shape, and of the gaps between them.

use rayon::prelude::*;
use topopt_mesh::triangles::Triangles;
use topopt_mesh::vector::{difference, dot, length};

use crate::TriangleSurface;

/// Widths of members, or of gaps, as they are met along the surface: every place of that counts
/// with the member that it bounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Widths {
    /// A hundredth of the surface bounds members of at most this width (length).
    pub first_percentile: f64,
    /// Half of the surface does.
    pub median: f64,
    /// The middle of the member of the first percentile.
    pub at: [f64; 3],
}

/// Places of the surface from which members are looked for.
const PLACES: usize = 1000;

/// Largest share of a step by which the inscribed ball grows in the middle of a member: walls that
/// meet at more than 15 degrees are a corner, and belong to the member that they lead to.
const LEVEL: f64 = 0.13;

/// Steps of the climb from the surface into the middle of a member, and of shrinking a ball.
const STEPS: usize = 64;
const SHRINKS: usize = 32;

/// First radius of a ball, as a share of the largest one, and the factor by which it grows.
const GUESS: f64 = 0.02;
const GROWTH: f64 = 3.0;

/// Share of its radius up to which a ball is as large, and a wall the same.
const ITSELF: f64 = 1e-3;

/// Cosine between directions above which they are from the same wall.
const SAME: f64 = 0.97;

/// Share of the radius down to which steps are halved.
const SMALLER: f64 = 0.02;

/// Largest width that is looked for, as a share of the diagonal of the shape.
const WIDEST: f64 = 1.0;

impl TriangleSurface {
    /// Widths of the members between the walls of a closed surface, and of the gaps, without places
    /// that are `ignored`; none without any.
    ///
    /// A width is the diameter of a ball that touches walls on opposite sides: from its center the
    /// distance from the surface rises to no side, or along the member. Skins at edges and corners
    /// count as the member that they bound.
    pub fn widths(&self, ignored: impl Fn(&[[f64; 3]]) -> Vec<bool>) -> [Option<Widths>; 2] {
        self.balls(ignored).map(Widths::of)
    }

    /// Shares of the surface beside members that are narrower than `least[0]`, beside gaps narrower
    /// than `least[1]`, and beside members wider than `most`, as [`TriangleSurface::widths`]
    /// measures them.
    pub fn beyond(
        &self,
        (least, most): ([f64; 2], f64),
        ignored: impl Fn(&[[f64; 3]]) -> Vec<bool>,
    ) -> [f64; 3] {
        let [members, gaps] = self.balls(ignored);
        [
            share_of(&members, |width| width < least[0]),
            share_of(&gaps, |width| width < least[1]),
            share_of(&members, |width| width > most),
        ]
    }

    /// Balls between walls, of members and of gaps, with the areas that they stand for.
    fn balls(&self, ignored: impl Fn(&[[f64; 3]]) -> Vec<bool>) -> [Vec<(Ball, f64)>; 2] {
        let walls = self.tree();
        let Some(most) = self.diagonal().map(|diagonal| 0.5 * WIDEST * diagonal) else {
            return [Vec::new(), Vec::new()];
        };
        let starts = self.starts();
        let ignored = ignored(&starts.iter().map(|start| start.at).collect::<Vec<_>>());
        let starts: Vec<&Start> =
            starts.iter().zip(ignored).filter(|(_, is)| !is).map(|(start, _)| start).collect();
        [1.0, -1.0].map(|side| {
            let middles = starts.par_iter().filter_map(|start| {
                let inwards = start.normal.map(|n| -side * n);
                Some((climb(&walls, start.at, inwards, most)?, start.area))
            });
            middles.collect()
        })
    }

    /// Centers of triangles, spread over the area.
    fn starts(&self) -> Vec<Start> {
        let vectors: Vec<[f64; 3]> = self.corners_of_all().map(area_vector).collect();
        let whole: f64 = vectors.iter().map(|vector| length(*vector)).sum();
        let (stride, mut next) = (whole / PLACES as f64, 0.0);
        let (mut passed, mut starts) = (0.0, Vec::new());
        for (vector, triangle) in vectors.into_iter().zip(0..) {
            passed += length(vector);
            // One start for each stride that ends in the triangle.
            let count = ((passed - next) / stride).ceil().max(0.0);
            if count > 0.0 && length(vector) > 0.0 {
                next += count * stride;
                let x = self.corners(triangle);
                let at = [0, 1, 2].map(|i| (x[0][i] + x[1][i] + x[2][i]) / 3.0);
                let normal = vector.map(|n| n / length(vector));
                starts.push(Start { at, normal, area: count * stride });
            }
        }
        starts
    }

    fn diagonal(&self) -> Option<f64> {
        let extent = |i: usize| {
            let values = self.vertices.iter().map(|x| x[i]);
            values.clone().fold(f64::NEG_INFINITY, f64::max) - values.fold(f64::INFINITY, f64::min)
        };
        (!self.triangles.is_empty()).then(|| length([0, 1, 2].map(extent)))
    }
}

/// A place on the surface.
struct Start {
    at: [f64; 3],
    /// Outwards.
    normal: [f64; 3],
    /// Area that it stands for.
    area: f64,
}

impl Widths {
    /// Percentiles of balls by the areas that they stand for.
    fn of(mut balls: Vec<(Ball, f64)>) -> Option<Self> {
        balls.sort_by(|a, b| a.0.radius.total_cmp(&b.0.radius));
        let whole: f64 = balls.iter().map(|ball| ball.1).sum();
        let (first, middle) = (at_share(&balls, 0.01 * whole)?, at_share(&balls, 0.5 * whole)?);
        Some(Self {
            first_percentile: 2.0 * first.radius,
            median: 2.0 * middle.radius,
            at: first.center,
        })
    }
}

/// Share of the areas with balls of a width that `is_counted`.
fn share_of(balls: &[(Ball, f64)], is_counted: impl Fn(f64) -> bool) -> f64 {
    let counted = balls.iter().filter(|(ball, _)| is_counted(2.0 * ball.radius));
    let [counted, all]: [f64; 2] =
        [counted.map(|ball| ball.1).sum(), balls.iter().map(|ball| ball.1).sum()];
    // A sum of nothing is -0.
    if counted > 0.0 { counted / all } else { 0.0 }
}

/// The first ball at which the areas add up to `passed`.
fn at_share(balls: &[(Ball, f64)], passed: f64) -> Option<Ball> {
    let mut sum = 0.0;
    let mut balls = balls.iter();
    let found = balls.find(|ball| {
        sum += ball.1;
        sum >= passed
    });
    found.map(|ball| ball.0)
}

/// A ball between walls.
#[derive(Debug, Clone, Copy)]
struct Ball {
    center: [f64; 3],
    radius: f64,
    /// Directions from the two walls that it touches.
    away: [[f64; 3]; 2],
}

/// The ball in the middle of the member at the wall in `start`; none wider than `most`.
fn climb(walls: &Triangles, start: [f64; 3], inwards: [f64; 3], most: f64) -> Option<Ball> {
    let mut ball = largest_at(walls, (start, inwards), GUESS * most, most)?;
    let mut away: Vec<[f64; 3]> = ball.away.into();
    let mut share = 0.5;
    for _ in 0..STEPS {
        // On the way between all walls around: in a corner of three, away from each.
        let mean = [0, 1, 2].map(|i| away.iter().map(|a| a[i]).sum::<f64>() / away.len() as f64);
        let slope = length(mean);
        if slope < LEVEL {
            break;
        }
        let step = share * ball.radius;
        let x = [0, 1, 2].map(|i| ball.center[i] + step * mean[i] / slope);
        let wall = walls.nearest(x)?;
        let way = difference(x, wall);
        let depth = length(way);
        let direction = way.map(|w| w / depth);
        if depth > ball.radius + 0.5 * LEVEL * step {
            ball = largest_at(walls, (wall, direction), GROWTH * ball.radius, most)?;
            away = ball.away.into();
        } else if share > SMALLER {
            share *= 0.5;
        } else if away.iter().all(|other| dot(*other, direction) < SAME) {
            // A third wall in the way, and not the one beyond the middle.
            away.push(direction);
            share = 0.5;
        } else {
            break;
        }
    }
    Some(ball)
}

/// The largest ball that touches the wall in `x` and no other, on its side `inwards`; none above
/// the radius `most`. Balls that touch nothing else grow from a `guess` of the radius: walls around
/// a small one are found much faster.
fn largest_at(
    walls: &Triangles,
    (x, inwards): ([f64; 3], [f64; 3]),
    guess: f64,
    most: f64,
) -> Option<Ball> {
    let mut radius = guess.min(most);
    loop {
        if let Some(ball) = shrunk(walls, (x, inwards), radius) {
            return Some(ball);
        }
        if radius >= most {
            return None;
        }
        radius = (GROWTH * radius).min(most);
    }
}

/// The largest ball that touches the wall in `x` and no other, by shrinking one of the `radius`
/// \[MaBaeChoi2012\]; none if that touches nothing else.
fn shrunk(walls: &Triangles, (x, inwards): ([f64; 3], [f64; 3]), mut radius: f64) -> Option<Ball> {
    let mut other = None;
    for _ in 0..SHRINKS {
        let center = [0, 1, 2].map(|i| x[i] + radius * inwards[i]);
        let wall = walls.nearest(center)?;
        let way = difference(wall, x);
        // The ball through `wall` that touches the plane in `x`.
        let height = dot(way, inwards);
        let smaller = dot(way, way) / (2.0 * height);
        // Not shrunk any more: what it touches is the wall itself, but for rounding, or the other.
        let is_itself = length(way) <= ITSELF * radius;
        if is_itself || height <= 0.0 || smaller >= radius * (1.0 - ITSELF) {
            break;
        }
        (radius, other) = (smaller, Some(wall));
    }
    let center = [0, 1, 2].map(|i| x[i] + radius * inwards[i]);
    let away = difference(center, other?).map(|w| w / radius);
    Some(Ball { center, radius, away: [inwards, away] })
}

fn area_vector([a, b, c]: [[f64; 3]; 3]) -> [f64; 3] {
    topopt_mesh::vector::cross(difference(b, a), difference(c, a))
}
