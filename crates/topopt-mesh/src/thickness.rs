//! A region of a mesh: its connected parts, and how narrow it and the gaps in it are.

use std::collections::VecDeque;

use rayon::prelude::*;
use rstar::RTree;
use rstar::primitives::GeomWithData;

use crate::surface::{NO_NEIGHBOR, face_center, face_coordinates, face_neighbors};
use crate::vector::{difference, dot, length};
use crate::{BoundingBox, Face, HexMesh, hexahedron};

/// Some of the elements of a mesh.
#[derive(Debug, Clone)]
pub struct Region<'a> {
    mesh: &'a HexMesh,
    is_inside: &'a [bool],
    neighbors: Vec<[u32; 6]>,
}

/// The narrowest place of a region, or of the gaps in it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Narrowest {
    /// Distance across (length).
    pub width: f64,
    /// An element in its middle.
    pub element: u32,
}

impl<'a> Region<'a> {
    /// The elements for which `is_inside`, `[n_elements]`, holds.
    pub fn new(mesh: &'a HexMesh, is_inside: &'a [bool]) -> Self {
        Self { mesh, is_inside, neighbors: face_neighbors(mesh) }
    }

    /// The elements of every part, increasing; elements that share a face are connected. Parts
    /// stand in the order of their first element.
    pub fn parts(&self) -> Vec<Vec<u32>> {
        let mut is_open = self.is_inside.to_vec();
        let mut parts = Vec::new();

        for first in 0..is_open.len() {
            if !std::mem::take(&mut is_open[first]) {
                continue;
            }

            let mut part = vec![first as u32];
            let mut front = VecDeque::from([first as u32]);
            while let Some(element) = front.pop_front() {
                for next in self.neighbors[element as usize] {
                    // Closed when it is found, so that no element is queued twice.
                    if next != NO_NEIGHBOR && std::mem::take(&mut is_open[next as usize]) {
                        part.push(next);
                        front.push_back(next);
                    }
                }
            }

            part.sort_unstable();
            parts.push(part);
        }
        parts
    }

    /// The thinnest member of the region, between faces that it shares with no other element of
    /// it. None if no element lies in the middle of a member.
    ///
    /// From the center c of an element the nearest face center is p at distance d; q, at distance
    /// d', is the nearest one on the other side, at an angle of 135 degrees or more. If d' exceeds
    /// d by no more than the element measures from p to q, c is in the middle of a member of width
    /// d + d'. That is not counted where it is a bump or a corner: where a ball wider by one
    /// element fits into the region and comes as near to c as one and a half elements. The width is
    /// exact between parallel sides that follow faces of elements; on stepped sides it is uncertain
    /// by up to one and a half elements.
    pub fn smallest_member(&self) -> Option<Narrowest> {
        self.narrowest(true)
    }

    /// The narrowest gap, measured as [`Region::smallest_member`] over the elements outside the
    /// region, between faces of the region. The outside of the mesh makes no gap.
    pub fn smallest_gap(&self) -> Option<Narrowest> {
        self.narrowest(false)
    }

    fn narrowest(&self, inside: bool) -> Option<Narrowest> {
        let surface = RTree::bulk_load(self.walls(inside));
        let elements: Vec<u32> = (0..self.mesh.n_elements() as u32)
            .filter(|&e| self.is_inside[e as usize] == inside)
            .collect();
        let cells: Vec<Cell> = elements
            .into_par_iter()
            .filter_map(|element| Cell::new(self.mesh, element, &surface))
            .collect();
        let balls = cells.iter().map(|cell| Ball::new(cell.center, cell.distance)).collect();
        let balls = RTree::bulk_load(balls);
        let width = |cell: &'_ Cell| Some((cell.width(self.mesh, &surface)?, *cell));
        let mut middles: Vec<(f64, Cell)> = cells.par_iter().filter_map(width).collect();
        middles.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let member = middles.into_iter().find(|(width, cell)| !cell.is_bump(*width, &balls));
        member.map(|(width, cell)| Narrowest { width, element: cell.element })
    }

    /// Centers of the faces around the elements inside, or around the gaps.
    fn walls(&self, inside: bool) -> Vec<[f64; 3]> {
        let mut walls = Vec::new();
        for (element, neighbors) in (0..).zip(&self.neighbors) {
            for (local, &other) in (0..).zip(neighbors) {
                let is_wall = match other {
                    NO_NEIGHBOR => inside,
                    other => !self.is_inside[other as usize],
                };
                if self.is_inside[element as usize] && is_wall {
                    walls.push(face_center(&face_coordinates(self.mesh, Face { element, local })));
                }
            }
        }
        walls
    }
}

/// Cosine of the smallest angle, 135 degrees, under which two walls are on opposite sides.
const OPPOSITE: f64 = -std::f64::consts::FRAC_1_SQRT_2;
/// Share of a ball between two walls that must be free of others.
const CLEAR: f64 = 0.6;
/// A larger ball covers what is so many elements outside of it.
const SLACK: f64 = 1.5;
const ROUNDING: f64 = 1.0 + 1e-6;

/// Center of an element and its distance from the nearest wall.
type Ball = GeomWithData<[f64; 3], f64>;

/// An element seen from its center.
#[derive(Debug, Clone, Copy)]
struct Cell {
    element: u32,
    center: [f64; 3],
    /// Edges of the smallest box around it.
    extent: [f64; 3],
    /// The nearest wall.
    near: [f64; 3],
    distance: f64,
}

impl Cell {
    /// None if there is no wall at all.
    fn new(mesh: &HexMesh, element: u32, surface: &RTree<[f64; 3]>) -> Option<Self> {
        let x = mesh.element_coordinates(element as usize);
        let center = hexahedron::center(&x);
        let near = *surface.nearest_neighbor(center)?;
        let distance = length(difference(near, center));
        Some(Self { element, center, extent: BoundingBox::of(x).extent(), near, distance })
    }

    /// The width of the member in whose middle the element lies, if it does.
    fn width(&self, mesh: &HexMesh, surface: &RTree<[f64; 3]>) -> Option<f64> {
        let x = mesh.element_coordinates(self.element as usize);
        let to_near = difference(self.near, self.center);
        let reach = ROUNDING * (self.distance + length(self.extent));
        let across = |far: &[f64; 3]| {
            let to_far = difference(*far, self.center);
            let distance = length(to_far);
            let axis = difference(*far, self.near);
            let measure = |node: &[f64; 3]| dot(*node, axis) / length(axis);
            let low = x.iter().map(measure).fold(f64::INFINITY, f64::min);
            let high = x.iter().map(measure).fold(f64::NEG_INFINITY, f64::max);
            let is_opposite = dot(to_near, to_far) <= OPPOSITE * self.distance * distance;
            let is_middle = distance - self.distance <= ROUNDING * (high - low);
            (is_opposite && is_middle && is_clear(self.near, *far, surface))
                .then_some(self.distance + distance)
        };
        let walls = surface.locate_within_distance(self.center, reach * reach);
        walls.filter_map(across).min_by(f64::total_cmp)
    }

    /// Whether a ball wider than `width` by an element comes near to the center.
    fn is_bump(&self, width: f64, balls: &RTree<Ball>) -> bool {
        let size = self.extent.into_iter().fold(0.0, f64::max);
        // A larger ball that is farther off holds one that is near.
        let reach = 0.5 * width + (2.0 + SLACK) * size;
        balls.locate_within_distance(self.center, reach * reach).any(|ball| {
            let offset = length(difference(*ball.geom(), self.center));
            2.0 * ball.data >= width + size && offset <= ball.data + SLACK * size
        })
    }
}

/// Whether no wall is near the middle between the walls `p` and `q`.
fn is_clear(p: [f64; 3], q: [f64; 3], surface: &RTree<[f64; 3]>) -> bool {
    let middle = std::array::from_fn(|i| 0.5 * (p[i] + q[i]));
    let free = CLEAR * length(difference(p, middle));
    surface.locate_within_distance(middle, free * free).next().is_none()
}

#[cfg(test)]
mod tests;
