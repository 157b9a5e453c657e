//! `Printing`: what of a part is held up when it is printed, layer by layer.

use rayon::prelude::*;

use crate::InPart;
use crate::columns::{Columns, Run, Runs, run_at};

/// A way of printing a part without props, in layers of cubes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Printing {
    /// Direction of build, upwards, of length 1.
    pub up: [f64; 3],
    /// Largest angle from the direction of build at which a layer holds up the next one, in
    /// radians.
    pub angle: f64,
    /// Length that material may reach out beyond that, as a bridge does.
    pub bridged: f64,
}

impl Printing {
    /// Finds the centers of the cubes of the `built` body that nothing holds up.
    ///
    /// A cube reaches as far out as the nearest one in its layer that rests on another, and as that
    /// did, less what the angle allows from layer to layer; it falls where that is more than may be
    /// bridged. Where a column of cubes begins, `stands` says whether it is on the plate.
    pub fn unsupported(
        &self,
        built: &InPart,
        stands: impl FnOnce(&[[f64; 3]]) -> Vec<bool>,
    ) -> Vec<[f64; 3]> {
        let Some((columns, runs)) = built.columns(self.up) else { return Vec::new() };
        let starts = starts(&columns, &runs, stands);
        let allowed = columns.edge * self.angle.tan();
        let mut before = vec![f64::INFINITY; columns.len()];
        let mut fallen = Vec::new();
        for k in 0..columns.n_layers {
            let rests = |c: usize| match run_at(&runs[c], k) {
                Some(run) if starts[c][run] == k => 0.0,
                Some(_) => before[c] - allowed,
                None => f64::NAN,
            };
            let mut layer = columns.layer((0..columns.len()).into_par_iter().map(rests).collect());
            layer.spread();
            for (c, out) in layer.lengths.iter().enumerate() {
                let is_held = *out <= self.bridged;
                before[c] = if is_held { out.max(0.0) } else { f64::INFINITY };
                if !is_held && !out.is_nan() {
                    fallen.push(columns.place(c, k));
                }
            }
        }
        fallen
    }
}

/// First layer of each run, of those that stand, by the centers of their first cubes; no layer of
/// the others.
fn starts(
    columns: &Columns,
    runs: &Runs,
    stands: impl FnOnce(&[[f64; 3]]) -> Vec<bool>,
) -> Vec<Vec<usize>> {
    let of_column = |(c, runs): (usize, &Vec<Run>)| -> Vec<[f64; 3]> {
        runs.iter().map(|run| columns.place(c, run.from)).collect()
    };
    let places: Vec<[f64; 3]> = runs.iter().enumerate().flat_map(of_column).collect();
    let mut stand = stands(&places).into_iter();
    let mut start = |run: &Run| match stand.next() {
        Some(true) => run.from,
        _ => usize::MAX,
    };
    runs.iter().map(|runs| runs.iter().map(&mut start).collect()).collect()
}

#[cfg(test)]
mod tests {
    use topopt_mesh::vector::{across, cross, dot};

    use super::*;
    use crate::TriangleSurface;

    /// A bar of square section, of edge 1 and 20 high, that leans from `up` by some degrees.
    fn bar(degrees: f64, up: [f64; 3]) -> TriangleSurface {
        let [side, _] = across(up);
        let other = cross(up, side);
        let lean = degrees.to_radians().tan();
        let corner = |v: u32| -> [f64; 3] {
            let [a, b, h] = [0, 1, 2].map(|k| f64::from(v >> k & 1));
            let height = 20.0 * h;
            std::array::from_fn(|i| (a + lean * height) * side[i] + b * other[i] + height * up[i])
        };
        let quads =
            [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        let triangles = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
        TriangleSurface::new((0..8).map(corner).collect(), triangles)
    }

    /// Share of the volume of a body that falls at 45 degrees.
    fn share(surface: &TriangleSurface, up: [f64; 3], bridged: f64) -> f64 {
        let edge = 0.25;
        let printing = Printing { up, angle: 45.0_f64.to_radians(), bridged };
        let lowest = surface.vertices.iter().map(|&x| dot(x, up)).fold(f64::INFINITY, f64::min);
        let stands = |places: &[[f64; 3]]| -> Vec<bool> {
            places.iter().map(|&x| dot(x, up) < lowest + edge).collect()
        };
        let fallen = printing.unsupported(&InPart::new([surface; 2], edge), stands);
        fallen.len() as f64 * edge.powi(3) / surface.volume()
    }

    #[test]
    fn bars_that_lean_too_much_fall_in_all_directions() {
        for up in [[0.0, 0.0, 1.0], [0.6, 0.0, 0.8], [0.48, -0.6, -0.64]] {
            for (degrees, falls) in [(0.0, false), (42.0, false), (49.0, true), (60.0, true)] {
                let share = share(&bar(degrees, up), up, 0.25);
                let fits = if falls { share > 0.5 } else { share < 0.01 };
                assert!(fits, "{degrees} from {up:?}: {share}");
            }
        }
    }
}
