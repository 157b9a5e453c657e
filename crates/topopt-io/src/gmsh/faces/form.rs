//! `Form`: the surface that a face of a part lies on.

use topopt_mesh::numbers::{place, shown};
use topopt_mesh::vector::{cross, difference, dot, length};

/// Surface that a face lies on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Form {
    /// A plane.
    Plane {
        /// Normal, of length 1, away from the material where that is known.
        normal: [f64; 3],
        /// A point of it.
        point: [f64; 3],
    },
    /// A cylinder.
    Cylinder {
        /// Direction of the axis, of length 1.
        axis: [f64; 3],
        /// A point of the axis.
        point: [f64; 3],
        /// Radius.
        radius: f64,
    },
    /// A cone.
    Cone {
        /// Direction of the axis, of length 1, from the apex into the cone.
        axis: [f64; 3],
        /// The apex.
        point: [f64; 3],
        /// Angle between the axis and the surface, in radians.
        half_angle: f64,
    },
    /// A sphere.
    Sphere {
        /// The center.
        point: [f64; 3],
        /// Radius.
        radius: f64,
    },
    /// A torus.
    Torus {
        /// Direction of the axis, of length 1.
        axis: [f64; 3],
        /// The center.
        point: [f64; 3],
        /// Radius of the circle in the middle of the tube.
        ring: f64,
        /// Radius of the tube.
        radius: f64,
    },
    /// Any other surface.
    Other,
}

impl Form {
    /// Kinds of forms, in the order in which they are tried.
    pub const KINDS: [&'static str; 6] = ["plane", "cylinder", "cone", "sphere", "torus", "other"];

    /// Name of the kind.
    pub fn kind(&self) -> &'static str {
        let place = match self {
            Self::Plane { .. } => 0,
            Self::Cylinder { .. } => 1,
            Self::Cone { .. } => 2,
            Self::Sphere { .. } => 3,
            Self::Torus { .. } => 4,
            Self::Other => 5,
        };
        Self::KINDS[place]
    }

    /// Radius of a cylinder, a sphere or the tube of a torus.
    pub fn radius(&self) -> Option<f64> {
        match *self {
            Self::Cylinder { radius, .. }
            | Self::Sphere { radius, .. }
            | Self::Torus { radius, .. } => Some(radius),
            Self::Plane { .. } | Self::Cone { .. } | Self::Other => None,
        }
    }

    /// Direction of the axis, or of the normal of a plane.
    pub fn axis(&self) -> Option<[f64; 3]> {
        match *self {
            Self::Plane { normal: axis, .. }
            | Self::Cylinder { axis, .. }
            | Self::Cone { axis, .. }
            | Self::Torus { axis, .. } => Some(axis),
            Self::Sphere { .. } | Self::Other => None,
        }
    }

    /// Point that a face with this centroid is seen around: of a sphere and a torus the center, of
    /// a cylinder and a cone the nearest point of the axis.
    pub fn center(&self, centroid: [f64; 3]) -> [f64; 3] {
        match *self {
            Self::Cylinder { axis, point, .. } | Self::Cone { axis, point, .. } => {
                let along = dot(difference(centroid, point), axis);
                std::array::from_fn(|i| point[i] + along * axis[i])
            }
            Self::Sphere { point, .. } | Self::Torus { point, .. } => point,
            Self::Plane { .. } | Self::Other => centroid,
        }
    }

    /// Sizes that two faces of the same form have in common, besides their kind and area.
    pub fn sizes(&self) -> Vec<f64> {
        match *self {
            Self::Cylinder { radius, .. } | Self::Sphere { radius, .. } => vec![radius],
            Self::Cone { half_angle, .. } => vec![half_angle],
            Self::Torus { ring, radius, .. } => vec![ring, radius],
            Self::Plane { .. } | Self::Other => Vec::new(),
        }
    }

    /// Distance of a point from the surface, negative on one side; not a number for
    /// [`Form::Other`].
    pub(super) fn distance(&self, x: [f64; 3]) -> f64 {
        let around = |axis: [f64; 3], point: [f64; 3]| {
            let from = difference(x, point);
            [length(cross(axis, from)), dot(axis, from)]
        };
        match *self {
            Self::Plane { normal, point } => dot(normal, difference(x, point)),
            Self::Cylinder { axis, point, radius } => around(axis, point)[0] - radius,
            Self::Cone { axis, point, half_angle } => {
                let [off, along] = around(axis, point);
                off * half_angle.cos() - along * half_angle.sin()
            }
            Self::Sphere { point, radius } => length(difference(x, point)) - radius,
            Self::Torus { axis, point, ring, radius } => {
                let [off, along] = around(axis, point);
                (off - ring).hypot(along) - radius
            }
            Self::Other => f64::NAN,
        }
    }

    /// Direction in which the distance grows, of length 1 off the axis, by differences over `step`.
    pub(super) fn normal(&self, x: [f64; 3], step: f64) -> [f64; 3] {
        std::array::from_fn(|i| {
            let (mut ahead, mut behind) = (x, x);
            ahead[i] += step;
            behind[i] -= step;
            (self.distance(ahead) - self.distance(behind)) / (2.0 * step)
        })
    }

    /// Whether the surface curves around the side on which the distance is negative.
    pub(super) fn is_round(&self) -> bool {
        !matches!(self, Self::Plane { .. } | Self::Other)
    }

    /// Describes the form with its sizes: `cylinder, radius 5`.
    pub fn text(&self) -> String {
        let kind = self.kind();
        match *self {
            Self::Plane { .. } | Self::Other => kind.into(),
            Self::Cylinder { radius, .. } | Self::Sphere { radius, .. } => {
                format!("{kind}, radius {}", shown(radius))
            }
            Self::Cone { half_angle, .. } => {
                format!("{kind}, half angle {} degrees", shown(half_angle.to_degrees()))
            }
            Self::Torus { ring, radius, .. } => {
                format!("{kind}, radius {} around a ring of {}", shown(radius), shown(ring))
            }
        }
    }

    /// Names the axis or the normal: `axis (0, 0, 1)`; nothing where there is none.
    pub fn direction_text(&self) -> String {
        let name = if matches!(self, Self::Plane { .. }) { "normal" } else { "axis" };
        self.axis().map_or_else(String::new, |axis| format!("{name} {}", place(clean(axis))))
    }
}

/// The components without rounding: those below a millionth are 0.
pub fn clean(direction: [f64; 3]) -> [f64; 3] {
    direction.map(|x| if x.abs() < 1e-6 { 0.0 } else { x })
}
