//! `Roughness` of a surface: how much of its edges is bent, and how far normals deviate.

use rayon::prelude::*;
use topopt_mesh::BoundingBox;
use topopt_mesh::triangles::Triangles;
use topopt_mesh::vector::{cross, difference, dot, length};

use crate::TriangleSurface;

/// Roughness of a surface beside the part that it was cut from. Shares are of the length of edges,
/// in `[0, 1]`, and depend on the length of edges as well as on the shape; the deviation does not.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Roughness {
    /// Mean length of the edges further from the part's surface than an element is wide (length).
    pub edge: f64,
    /// Share of these edges bent by 10 to 45 degrees.
    pub bent: f64,
    /// Share of these edges bent by more than 45 degrees.
    pub steep: f64,
    /// Share of bent edges within an element of the part's surface, off its sharp edges.
    pub near: f64,
    /// Share of bent edges on the part's surface, off its sharp edges.
    pub on_part: f64,
    /// Share of bent edges of all.
    pub all: f64,
    /// Root mean square of the angles between normals and the mean normals around (degrees), off
    /// the part's surface.
    pub deviation: f64,
}

/// Edges and triangles that are looked at, spread over all.
const MOST: usize = 20_000;

/// Bends that count (degrees), and from which on an edge of the part is sharp.
const BENT: [f64; 2] = [10.0, 45.0];
const SHARP: f64 = 25.0;

/// Distance in element widths within which an edge is on the part's surface.
const ON: f64 = 0.02;

/// Radius, and width of the bell, of the mean of normals, in element widths.
const AROUND: f64 = 1.5;
const BELL: f64 = 0.75;

/// An edge and the angle between its triangles (degrees).
struct Edge {
    ends: [[f64; 3]; 2],
    angle: f64,
}

impl TriangleSurface {
    /// Measures the roughness beside the surface of the `part`, in elements of the `width`.
    pub fn roughness(&self, part: &Self, width: f64) -> Roughness {
        let walls = part.tree();
        let sharp = part.edges().into_iter().filter(|edge| edge.angle > SHARP);
        let sharp = Triangles::new(sharp.map(|Edge { ends: [a, b], .. }| [a, b, b]));
        let edges = self.edges();
        let some: Vec<&Edge> = edges.iter().step_by(edges.len().div_ceil(MOST).max(1)).collect();
        let places: Vec<Place> =
            some.par_iter().map(|edge| edge.place(&walls, &sharp, width)).collect();

        let share = |is_counted: &dyn Fn(Place) -> bool, bends: [f64; 2]| {
            let counted = some.iter().zip(&places).filter(|(_, place)| is_counted(**place));
            share_bent(counted.map(|(edge, _)| *edge), bends)
        };
        let at = |place: Place| move |other: Place| place == other;
        let free: Vec<f64> = some
            .iter()
            .zip(&places)
            .filter(|(_, place)| **place == Place::Free)
            .map(|(edge, _)| edge.length())
            .collect();
        Roughness {
            edge: free.iter().sum::<f64>() / free.len().max(1) as f64,
            bent: share(&at(Place::Free), BENT),
            steep: share(&at(Place::Free), [BENT[1].next_up(), 180.0]),
            near: share(&at(Place::Near), BENT),
            on_part: share(&at(Place::OnPart), BENT),
            all: share(&|_| true, BENT),
            deviation: self.deviation(&walls, width),
        }
    }

    /// The edges between two triangles, by their vertices.
    fn edges(&self) -> Vec<Edge> {
        let sides = self.triangles.par_iter().enumerate().flat_map_iter(|(t, &[a, b, c])| {
            [[a, b], [b, c], [c, a]].map(|[a, b]| ([a.min(b), a.max(b)], t as u32))
        });
        let mut sides: Vec<([u32; 2], u32)> = sides.collect();
        sides.par_sort_unstable();
        let normals: Vec<[f64; 3]> = self.corners_of_all().map(area_vector).collect();
        let edge = |pair: &[([u32; 2], u32)]| self.edge([pair[0], pair[1]], &normals);
        sides.par_windows(2).filter_map(edge).collect()
    }

    /// The edge that two sides of triangles have in common, if they do.
    fn edge(&self, [(ends, a), (others, b)]: [([u32; 2], u32); 2], n: &[[f64; 3]]) -> Option<Edge> {
        let [n, m] = [a, b].map(|t| n[t as usize]);
        let angle = length(cross(n, m)).atan2(dot(n, m)).to_degrees();
        (ends == others).then(|| Edge { ends: ends.map(|v| self.vertices[v as usize]), angle })
    }

    /// [`Roughness::deviation`] from `walls`.
    fn deviation(&self, walls: &Triangles, width: f64) -> f64 {
        let center = |x: [[f64; 3]; 3]| [0, 1, 2].map(|i| (x[0][i] + x[1][i] + x[2][i]) / 3.0);
        let centers: Vec<[f64; 3]> = self.corners_of_all().map(center).collect();
        let areas: Vec<[f64; 3]> = self.corners_of_all().map(area_vector).collect();
        let step = centers.len().div_ceil(MOST / 4).max(1);
        let tree = self.tree();

        let some = centers.par_iter().zip(&areas).step_by(step);
        let squares = some.filter(|(x, _)| walls.distance(**x) > width).map(|(&x, &own)| {
            let reach = AROUND * width;
            let ends = [-reach, reach].map(|r| [0, 1, 2].map(|i| x[i] + r));
            let mut mean = [0.0; 3];
            tree.in_box(&BoundingBox::of(ends), |other| {
                let area = areas[other as usize];
                let way = difference(centers[other as usize], x);
                let squared = dot(way, way);
                let along = dot(area, own) / length(area).max(f64::MIN_POSITIVE);
                if squared <= reach * reach && along > 0.0 {
                    let weight = along * (-0.5 * squared / (BELL * width).powi(2)).exp();
                    (0..3).for_each(|i| mean[i] += weight * area[i]);
                }
            });
            let angle = length(cross(mean, own)).atan2(dot(mean, own)).to_degrees();
            [length(own) * angle * angle, length(own)]
        });
        let sums: Vec<[f64; 2]> = squares.collect();
        let [square, area] = [0, 1].map(|i| sums.iter().map(|sum| sum[i]).sum::<f64>());
        if area > 0.0 { (square / area).sqrt() } else { 0.0 }
    }
}

/// Share of the length of `edges` that is bent by angles from `low` to `high`.
fn share_bent<'a>(edges: impl Iterator<Item = &'a Edge>, [low, high]: [f64; 2]) -> f64 {
    let (mut bent, mut all) = (0.0, 0.0);
    for edge in edges {
        all += edge.length();
        bent += if (low..=high).contains(&edge.angle) { edge.length() } else { 0.0 };
    }
    if all > 0.0 { bent / all } else { 0.0 }
}

/// Place of an edge beside the part's surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Free,
    Near,
    OnPart,
    Sharp,
}

impl Edge {
    fn place(&self, walls: &Triangles, sharp: &Triangles, width: f64) -> Place {
        let middle = [0, 1, 2].map(|i| 0.5 * (self.ends[0][i] + self.ends[1][i]));
        match walls.distance(middle) {
            distance if distance > width => Place::Free,
            _ if sharp.distance(middle) <= width => Place::Sharp,
            distance if distance <= ON * width => Place::OnPart,
            _ => Place::Near,
        }
    }

    fn length(&self) -> f64 {
        length(difference(self.ends[1], self.ends[0]))
    }
}

/// Twice the area vector of a triangle.
fn area_vector([a, b, c]: [[f64; 3]; 3]) -> [f64; 3] {
    cross(difference(b, a), difference(c, a))
}
