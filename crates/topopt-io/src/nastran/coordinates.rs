//! Coordinate systems of a deck, and the places of its grids in the basic one.

use std::collections::BTreeMap;

use topopt_mesh::vector::{cross, difference, dot, length};

use super::deck::{Deck, Grid, Kind, Points};
use super::error::Fault;
use crate::directions::composed;

/// Systems that stand on each other: deeper than anyone writes.
const DEEPEST: usize = 100;

/// Shortest part of the points of a system across its axis, as a part of their distance.
const FLAT: f64 = 1e-10;

/// A coordinate system in the basic one.
#[derive(Debug, Clone, Copy)]
pub(super) struct System {
    kind: Kind,
    origin: [f64; 3],
    /// The axes, of length 1.
    axes: [[f64; 3]; 3],
}

/// The systems of a deck in the basic one, which is number 0.
pub(super) struct Systems(BTreeMap<u64, System>);

impl System {
    const BASIC: Self = Self {
        kind: Kind::Rectangular,
        origin: [0.0; 3],
        axes: [[1., 0., 0.], [0., 1., 0.], [0., 0., 1.]],
    };

    /// Builds a system from its origin, a point of the z axis and one of the plane of x and z; none
    /// if they are on a line.
    fn through(kind: Kind, [a, b, c]: [[f64; 3]; 3]) -> Option<Self> {
        let (z, to_plane) = (difference(b, a), difference(c, a));
        let y = cross(z, to_plane);
        // Written so that it holds for NaN as well.
        let is_plane = length(y) > FLAT * length(z) * length(to_plane) && length(y).is_finite();
        if !is_plane {
            return None;
        }
        let (z, y) = (z.map(|v| v / length(z)), y.map(|v| v / length(y)));
        Some(Self { kind, origin: a, axes: [cross(y, z), y, z] })
    }

    /// The place in the basic system of a point of this one.
    fn place(&self, point: [f64; 3]) -> [f64; 3] {
        let [a, b, c] = point;
        let local = match self.kind {
            Kind::Rectangular => point,
            Kind::Cylindrical => {
                let (sin, cos) = b.to_radians().sin_cos();
                [a * cos, a * sin, c]
            }
            Kind::Spherical => {
                let ((sin, cos), (sin_c, cos_c)) =
                    (b.to_radians().sin_cos(), c.to_radians().sin_cos());
                [a * sin * cos_c, a * sin * sin_c, a * cos]
            }
        };
        let turned = composed(&self.axes, local);
        [0, 1, 2].map(|i| self.origin[i] + turned[i])
    }

    /// The directions of its components at a place in the basic system.
    pub fn directions(&self, at: [f64; 3]) -> [[f64; 3]; 3] {
        let offset = difference(at, self.origin);
        let [x, y, z] = self.axes.map(|axis| dot(axis, offset));
        let radius = x.hypot(y);
        // On the axis the angle is 0.
        let (sin, cos) = if radius > 0.0 { (y / radius, x / radius) } else { (0.0, 1.0) };
        let local = match self.kind {
            Kind::Rectangular => return self.axes,
            Kind::Cylindrical => [[cos, sin, 0.], [-sin, cos, 0.], [0., 0., 1.]],
            Kind::Spherical => {
                let distance = radius.hypot(z);
                let (up, out) =
                    if distance > 0.0 { (z / distance, radius / distance) } else { (1.0, 0.0) };
                [[out * cos, out * sin, up], [up * cos, up * sin, -out], [-sin, cos, 0.]]
            }
        };
        local.map(|direction| composed(&self.axes, direction))
    }

    /// A vector at a place, in the basic system.
    pub fn vector(&self, at: [f64; 3], vector: [f64; 3]) -> [f64; 3] {
        composed(&self.directions(at), vector)
    }

    /// Whether its directions are the same everywhere.
    pub fn is_rectangular(&self) -> bool {
        self.kind == Kind::Rectangular
    }
}

impl Systems {
    /// The systems of `deck`, whose grids must stand in the order of their numbers.
    pub fn of(deck: &Deck) -> Result<Self, Fault> {
        let mut systems = Self(BTreeMap::from([(0, System::BASIC)]));
        for &tag in deck.systems.keys() {
            systems.find(deck, tag, 0)?;
        }
        Ok(systems)
    }

    /// The system `tag`, once those that it stands on are found.
    fn find(&mut self, deck: &Deck, tag: u64, depth: usize) -> Result<Option<System>, Fault> {
        if let Some(system) = self.0.get(&tag) {
            return Ok(Some(*system));
        }
        let Some(definition) = deck.systems.get(&tag) else { return Ok(None) };
        if depth == DEEPEST {
            return Err(Fault::EndlessSystem(tag, DEEPEST));
        }

        let points = match definition.points {
            Points::Given(system, points) => {
                let found = self.find(deck, system, depth + 1)?;
                let found = found.ok_or_else(|| no_system(system, format!("{SYSTEM} {tag}")))?;
                points.map(|point| found.place(point))
            }
            Points::Grids(grids) => {
                let mut points = [[0.0; 3]; 3];
                for (point, grid) in points.iter_mut().zip(grids) {
                    *point = self.place_of(deck, tag, grid, depth)?;
                }
                points
            }
        };

        let system = System::through(definition.kind, points).ok_or(Fault::FlatSystem(tag))?;
        self.0.insert(tag, system);
        Ok(Some(system))
    }

    /// The place of a grid that the system `tag` is defined by.
    fn place_of(
        &mut self,
        deck: &Deck,
        tag: u64,
        grid: u64,
        depth: usize,
    ) -> Result<[f64; 3], Fault> {
        let found = deck.grids.binary_search_by_key(&grid, |grid| grid.tag);
        let user = || format!("{SYSTEM} {tag}");
        let missing = |_| Fault::Missing { user: user(), what: "grid", number: grid };
        let found = found.map_err(missing)?;
        let Grid { coordinates, given_in, .. } = deck.grids[found];
        let system = given_in.unwrap_or(deck.defaults.given_in);
        let found = self.find(deck, system, depth + 1)?;
        let found = found.ok_or_else(|| no_system(system, format!("grid {grid}")))?;
        Ok(found.place(coordinates))
    }

    /// The system `tag`, which `user` uses.
    pub fn get(&self, tag: u64, user: impl FnOnce() -> String) -> Result<&System, Fault> {
        self.0.get(&tag).ok_or_else(|| no_system(tag, user()))
    }

    /// The place of a grid in the basic system.
    pub fn place(&self, deck: &Deck, grid: &Grid) -> Result<[f64; 3], Fault> {
        let system = grid.given_in.unwrap_or(deck.defaults.given_in);
        if system == 0 {
            return Ok(grid.coordinates);
        }
        Ok(self.get(system, || format!("grid {}", grid.tag))?.place(grid.coordinates))
    }
}

const SYSTEM: &str = "coordinate system";

fn no_system(number: u64, user: String) -> Fault {
    Fault::Missing { user, what: SYSTEM, number }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: [f64; 3], b: [f64; 3]) {
        assert!(length(difference(a, b)) < 1e-14, "{a:?} {b:?}");
    }

    /// z along the basic x, x along the basic y.
    fn turned(kind: Kind) -> System {
        System::through(kind, [[1., 0., 0.], [3., 0., 0.], [1., 5., 0.]]).unwrap()
    }

    #[test]
    fn places_in_the_three_kinds() {
        close(turned(Kind::Rectangular).place([1., 2., 3.]), [4., 1., 2.]);
        close(turned(Kind::Cylindrical).place([2., 90., 3.]), [4., 0., 2.]);
        close(turned(Kind::Spherical).place([2., 90., 90.]), [1., 0., 2.]);
        close(turned(Kind::Spherical).place([2., 0., 17.]), [3., 0., 0.]);
    }

    #[test]
    fn directions_at_a_place() {
        let system = turned(Kind::Cylindrical);
        // Radius along the basic z, angle against the basic y.
        close(system.vector([9., 0., 4.], [1., 0., 0.]), [0., 0., 1.]);
        close(system.vector([9., 0., 4.], [0., 1., 0.]), [0., -1., 0.]);
        close(system.vector([9., 0., 0.], [1., 0., 0.]), [0., 1., 0.]);
        let system = turned(Kind::Spherical);
        close(system.vector([1., 3., 0.], [1., 0., 0.]), [0., 1., 0.]);
        close(system.vector([1., 3., 0.], [0., 1., 0.]), [-1., 0., 0.]);
        close(system.vector([1., 3., 0.], [0., 0., 1.]), [0., 0., 1.]);
    }

    #[test]
    fn points_on_a_line_are_refused() {
        let line = [[0., 0., 0.], [1., 1., 1.], [2., 2., 2.]];
        assert!(System::through(Kind::Rectangular, line).is_none());
        assert!(System::through(Kind::Rectangular, [[f64::NAN; 3]; 3]).is_none());
        assert!(
            System::through(Kind::Rectangular, [[0.; 3], [1e200; 3], [1e200, 0., 0.]]).is_none()
        );
    }
}
