//! Designs, by elements.

use topopt_mesh::HexMesh;

/// Radius of a branch, and the width over which its rim is grey.
const RADIUS: f64 = 0.08;
const RIM: f64 = 0.04;

/// Densities from 0 to 1 on a mesh of the unit cube, `[n_elements]`: a trunk from the middle of the
/// side z = 0 that branches towards the four upper edges, solid with a grey rim, as designs of heat
/// sinks are. Tips end inside, and each fork is a joint of thin members.
pub fn branches(mesh: &HexMesh) -> Vec<f64> {
    let fork = [0.5, 0.5, 0.4];
    let mut members = vec![([0.5, 0.5, 0.0], fork)];
    for [x, y] in [[0.2, 0.2], [0.8, 0.25], [0.25, 0.8], [0.85, 0.85]] {
        let middle = [x, y, 0.65];
        members.push((fork, middle));
        members.push((middle, [x, 0.5, 0.9]));
        members.push((middle, [0.5, y, 0.95]));
    }
    let density = |x: [f64; 3]| {
        let distances = members.iter().map(|&member| distance(x, member));
        let nearest = distances.fold(f64::INFINITY, f64::min);
        ((RADIUS - nearest) / RIM + 0.5).clamp(0.0, 1.0)
    };
    mesh.centers().into_iter().map(density).collect()
}

/// The distance of a point from the line between two.
fn distance(x: [f64; 3], (start, end): ([f64; 3], [f64; 3])) -> f64 {
    let dot = |a: [f64; 3], b: [f64; 3]| (0..3).map(|i| a[i] * b[i]).sum::<f64>();
    let [along, from] = [end, x].map(|to| std::array::from_fn(|i| to[i] - start[i]));
    let share = (dot(along, from) / dot(along, along)).clamp(0.0, 1.0);
    let across: [f64; 3] = std::array::from_fn(|i| from[i] - share * along[i]);
    dot(across, across).sqrt()
}
