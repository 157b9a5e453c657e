//! Places and directions that are not those of the model: the motion of an instance, and *TRANSFORM.

use topopt_mesh::vector::{cross, difference, dot, length, unit};

/// A translation, then a rotation.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Motion {
    pub translation: [f64; 3],
    /// Two points of the axis, and the angle in degrees.
    pub rotation: Option<([f64; 3], [f64; 3], f64)>,
}

impl Motion {
    /// Returns the place to which `x` moves (Abaqus Keywords Guide, *INSTANCE).
    pub fn of(&self, x: [f64; 3]) -> [f64; 3] {
        let moved: [f64; 3] = std::array::from_fn(|i| x[i] + self.translation[i]);
        let Some((a, b, angle)) = self.rotation else { return moved };
        let Some(axis) = unit(difference(b, a)) else { return moved };

        // Rodrigues' formula about the axis through a.
        let (sine, cosine) = angle.to_radians().sin_cos();
        let r = difference(moved, a);
        let (across, along) = (cross(axis, r), dot(axis, r));
        std::array::from_fn(|i| {
            a[i] + r[i] * cosine + across[i] * sine + axis[i] * along * (1.0 - cosine)
        })
    }
}

/// Directions that are turned, or follow a cylinder.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum System {
    /// Given by points on the local x axis and in the local x-y plane, from the origin.
    Cartesian([f64; 3], [f64; 3]),
    /// Radial, tangential and axial, given by two points of the axis.
    Cylindrical([f64; 3], [f64; 3]),
    /// Others, with their place in the file.
    Unknown,
}

impl System {
    /// The three directions at `x`; none where they are not determined.
    pub fn axes(&self, x: [f64; 3]) -> Option<[[f64; 3]; 3]> {
        match *self {
            Self::Cartesian(a, b) => {
                let along = unit(a)?;
                let normal = unit(cross(a, b))?;
                Some([along, cross(normal, along), normal])
            }
            Self::Cylindrical(a, b) => {
                let axis = unit(difference(b, a))?;
                let r = difference(x, a);
                let along = dot(r, axis);
                let radial: [f64; 3] = std::array::from_fn(|i| r[i] - along * axis[i]);
                // On the axis there is no radius.
                let radial = unit(radial).filter(|_| length(radial) > 1e-9 * length(r))?;
                Some([radial, cross(axis, radial), axis])
            }
            Self::Unknown => None,
        }
    }
}

/// The global directions that vectors along some local ones hold, and their values there. None
/// where the local ones span no set of global directions.
pub(super) fn turned(axes: &[[f64; 3]; 3], held: [Option<f64>; 3]) -> Option<[Option<f64>; 3]> {
    let mut projection = [[0.0; 3]; 3];
    let mut value = [0.0; 3];
    for (axis, held) in axes.iter().zip(held) {
        let Some(held) = held else { continue };
        for i in 0..3 {
            value[i] += held * axis[i];
            (0..3).for_each(|j| projection[i][j] += axis[i] * axis[j]);
        }
    }
    let is = |found: f64, wanted: f64| (found - wanted).abs() < 1e-9;
    let mut global = [None; 3];
    for i in 0..3 {
        let is_alone = (0..3).all(|j| i == j || is(projection[i][j], 0.0));
        match projection[i][i] {
            p if is(p, 1.0) && is_alone => global[i] = Some(rounded(value[i], held)),
            p if is(p, 0.0) => {}
            _ => return None,
        }
    }
    Some(global)
}

/// `value` without the rounding of turned directions.
fn rounded(value: f64, held: [Option<f64>; 3]) -> f64 {
    let size = held.iter().flatten().fold(0.0_f64, |size, v| size.max(v.abs()));
    if value.abs() < 1e-12 * size { 0.0 } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn translated_then_turned_about_an_axis() {
        let rotation = Some(([1.0, 0.0, 0.0], [1.0, 0.0, 2.0], 90.0));
        let motion = Motion { translation: [1.0, 2.0, 3.0], rotation };
        let x = motion.of([1.0, 0.0, 0.0]); // to (2, 2, 3), then about (1, 0)
        let expected = [-1.0, 1.0, 3.0];
        assert!((0..3).all(|i| (x[i] - expected[i]).abs() < 1e-15), "{x:?}");
        assert_eq!(Motion::default().of([1.0, 2.0, 3.0]), [1.0, 2.0, 3.0]);
    }

    #[test]
    fn what_is_held_in_turned_directions_is_so_in_those_of_the_model() {
        let quarter = System::Cartesian([0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]).axes([0.0; 3]).unwrap();
        assert_eq!(quarter, [[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]);
        assert_eq!(turned(&quarter, [Some(0.5), None, None]), Some([None, Some(0.5), None]));
        assert_eq!(turned(&quarter, [None, Some(0.5), None]), Some([Some(-0.5), None, None]));

        let around = System::Cylindrical([0.0; 3], [0.0, 0.0, 1.0]);
        let oblique = around.axes([1.0, 1.0, 7.0]).unwrap();
        assert_eq!(turned(&oblique, [Some(0.0), None, None]), None);
        let plane = turned(&oblique, [Some(0.0), Some(0.0), None]);
        assert_eq!(plane, Some([Some(0.0), Some(0.0), None]));
        let moved = turned(&oblique, [Some(1.0), Some(0.0), None]).unwrap();
        let half = 0.5_f64.sqrt();
        assert!(moved[..2].iter().all(|u| (u.unwrap() - half).abs() < 1e-15), "{moved:?}");
        assert_eq!(around.axes([0.0, 0.0, 3.0]), None);
    }
}
