//! Axes of a material.

use topopt_fem::stiffness_tensor::Frame;
use topopt_mesh::vector::{self, cross, difference, dot, length};

use super::law::NoMaterial;

/// Least sine of the angle between the two vectors of a frame.
const LEAST_SINE: f64 = 1e-6;

/// Orthonormal axes from the first axis, and a vector in the plane of the first two; those of the
/// mesh by default.
pub fn axes(frame: Option<[[f64; 3]; 2]>) -> Result<Frame, NoMaterial> {
    let [first, other] = frame.unwrap_or([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]);
    let first = unit(first, "the first vector of `frame`")?;
    let other = unit(other, "the second vector of `frame`")?;
    let along = dot(first, other);
    let across = difference(other, first.map(|x| along * x));
    if length(across) < LEAST_SINE {
        return Err(NoMaterial {
            why: "the vectors of `frame` are parallel".into(),
            remedy: "give the first axis, and a vector in the plane of the first two axes",
        });
    }
    let second = across.map(|x| x / length(across));
    Ok([first, second, cross(first, second)])
}

/// The vector of length 1 along `vector`, which is `what`.
pub fn unit(vector: [f64; 3], what: &str) -> Result<[f64; 3], NoMaterial> {
    vector::unit(vector).ok_or_else(|| NoMaterial {
        why: format!("{what} has the length {}", length(vector)),
        remedy: "give a direction (x, y, z) of any length but zero",
    })
}

/// A frame whose third axis is along `direction`.
pub fn about(direction: [f64; 3], what: &str) -> Result<Frame, NoMaterial> {
    let axis = unit(direction, what)?;
    let across = (0..3).min_by(|&i, &j| axis[i].abs().total_cmp(&axis[j].abs())).unwrap_or(0);
    let other = std::array::from_fn(|i| f64::from(u8::from(i == across)));
    let [third, first, second] = axes(Some([axis, other]))?;
    Ok([first, second, third])
}
