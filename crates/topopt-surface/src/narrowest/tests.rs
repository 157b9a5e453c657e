//! Members and gaps of known width.

use topopt_mesh::HexMesh;
use topopt_mesh::vector::{difference, dot, length};
use topopt_testing::distorted_cube;

use super::*;
use crate::Field;

/// A cube of 10^3 elements with a width of about 1, distorted inside.
fn cube() -> HexMesh {
    let mesh = distorted_cube(10, 0.25, false);
    let scaled = mesh.coordinates().iter().map(|x| x.map(|x| 10.0 * x)).collect();
    HexMesh::new(scaled, mesh.hexes().to_vec(), mesh.sets().clone()).unwrap()
}

/// Member and gap where `depth` is positive.
fn measured(mesh: &HexMesh, depth: impl Fn([f64; 3]) -> f64) -> [Option<Narrowest>; 2] {
    let at = |points: &[[f64; 3]]| points.iter().map(|&x| depth(x)).collect();
    let field = Field::new(mesh, at(mesh.coordinates()), at(&mesh.centers())).unwrap();
    let cut = Cut { mesh, field: &field, threshold: 0.0 };
    narrowest(cut, &vec![false; mesh.n_elements()])
}

fn width(found: Option<Narrowest>) -> f64 {
    found.map_or(f64::NAN, |found| found.width)
}

const MIDDLE: [f64; 3] = [5.07, 4.93, 5.11];

/// How deep `x` lies in a plate through [`MIDDLE`] of a `width` across `normal`.
fn plate(width: f64, normal: [f64; 3], x: [f64; 3]) -> f64 {
    0.5 * width - dot(normal, difference(x, MIDDLE)).abs() / length(normal)
}

#[test]
fn plates_and_slots_askew_to_the_elements() {
    let mesh = cube();
    for (expected, normal) in [(3.5, [1.0, 0.2, 0.1]), (2.3, [1.0; 3])] {
        let [member, gap] = measured(&mesh, |x| plate(expected, normal, x));
        assert!((width(member) - expected).abs() < 0.1, "{normal:?} {expected}: {member:?}");
        // Walls on one side only.
        assert_eq!(gap, None);
        let [_, gap] = measured(&mesh, |x| -plate(expected, normal, x));
        assert!((width(gap) - expected).abs() < 0.1, "{normal:?} {expected}: {gap:?}");
    }
}

/// A cavity has flat sides between the nodes, chords of up to 1.7 elements: 0.18 within the sphere.
#[test]
fn bars_and_cavities() {
    let mesh = cube();
    let [u, v] = [[1.0, 0.3, 0.0], [0.3, -1.0, 0.0]];
    let square = measured(&mesh, |x| plate(3.5, u, x).min(plate(3.5, v, x)));
    assert!((width(square[0]) - 3.5).abs() < 0.2, "{square:?}");
    let round = measured(&mesh, |x| 2.0 - length([x[0] - 5.0, x[1] - 5.1, 0.0]));
    assert!((width(round[0]) - 4.0).abs() < 0.3, "{round:?}");
    let cavity = measured(&mesh, |x| length(difference(x, MIDDLE)) - 2.0);
    assert!((width(cavity[1]) - 4.0).abs() < 0.4, "{cavity:?}");
}

/// Two blunt cones that meet, and a bar that widens to both sides.
#[test]
fn a_neck_is_found_between_what_is_wider() {
    let mesh = cube();
    let radius = |x: [f64; 3]| length([x[0] - 5.0, x[1] - 5.1, 0.0]);
    for slope in [0.25, 1.0] {
        let [member, _] = measured(&mesh, |x| 1.5 + slope * (x[2] - 5.2).abs() - radius(x));
        let member = member.unwrap();
        assert!((member.width - 3.0).abs() < 0.5, "{slope}: {member:?}");
        assert!((member.at[2] - 5.2).abs() < 1.0, "{slope}: {member:?}");
    }
}

/// A wedge of 45 degrees, whose tip is no member, and a bump.
#[test]
fn corners_and_bumps_count_as_what_they_stand_on() {
    let mesh = cube();
    let [member, gap] = measured(&mesh, |x| x[0] - x[1] - 0.3);
    assert!(width(member) > 4.0, "{member:?}");
    assert_eq!(gap, None);
    let block = |x: [f64; 3]| 5.1 - x[0];
    let bump = |x: [f64; 3]| 1.2 - length(difference(x, [5.1, 5.0, 5.0]));
    let [member, _] = measured(&mesh, |x| block(x).max(bump(x)));
    assert!((width(member) - 5.1).abs() < 0.3, "{member:?}");
}

/// The surface comes within a thousandth of an element to them.
#[test]
fn nodes_on_the_surface_are_no_members() {
    let mesh = distorted_cube(6, 0.0, false);
    let [member, _] = measured(&mesh, |x| 0.5 - x[0]);
    assert!((width(member) - 0.5).abs() < 0.01, "{member:?}");
}

#[test]
fn all_of_a_part_none_of_it_and_what_is_ignored() {
    let mesh = cube();
    let [member, gap] = measured(&mesh, |_| 1.0);
    assert!((width(member) - 10.0).abs() < 0.3 && gap.is_none(), "{member:?}");
    assert_eq!(measured(&mesh, |_| -1.0), [None; 2]);

    let depth = |x: [f64; 3]| plate(2.3, [1.0, 0.0, 0.0], x).max(x[0] - 8.7);
    let at = |points: &[[f64; 3]]| points.iter().map(|&x| depth(x)).collect();
    let field = Field::new(&mesh, at(mesh.coordinates()), at(&mesh.centers())).unwrap();
    let ignored: Vec<bool> = mesh.centers().iter().map(|x| x[0] < 6.5).collect();
    let cut = Cut { mesh: &mesh, field: &field, threshold: 0.0 };
    let [member, gap] = narrowest(cut, &ignored);
    assert!((width(member) - 1.3).abs() < 0.1, "{member:?}");
    assert!((width(gap) - (8.7 - 5.07 - 1.15)).abs() < 0.1, "{gap:?}");
}
