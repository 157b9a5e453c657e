//! Coordinate systems as a deck defines them.

/// A coordinate system as the deck defines it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Definition {
    pub kind: Kind,
    pub points: Points,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Rectangular,
    /// Radius, angle in degrees, height.
    Cylindrical,
    /// Radius, angle from the z axis and angle about it, in degrees.
    Spherical,
}

/// The origin, a point of the z axis, and one of the plane of x and z.
#[derive(Debug, Clone, Copy)]
pub(super) enum Points {
    /// In another system.
    Given(u64, [[f64; 3]; 3]),
    Grids([u64; 3]),
}

impl Definition {
    /// Defines a system by three points. `kind`: `R`, `C` or `S`, the last letter of its entry.
    pub fn of_points(kind: u8, given_in: u64, points: [[f64; 3]; 3]) -> Self {
        Self { kind: Kind::of(kind), points: Points::Given(given_in, points) }
    }

    /// Defines a system by three grids. `kind`: see [`Definition::of_points`].
    pub fn of_grids(kind: u8, grids: [u64; 3]) -> Self {
        Self { kind: Kind::of(kind), points: Points::Grids(grids) }
    }
}

impl Kind {
    fn of(letter: u8) -> Self {
        match letter {
            b'C' => Self::Cylindrical,
            b'S' => Self::Spherical,
            _ => Self::Rectangular,
        }
    }
}
