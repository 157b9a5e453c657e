//! Gates of the supports: known sums, properties that hold exactly, and the angle of the limit.

mod lattices;

use topopt_mesh::generate::block;
use topopt_mesh::vector::{difference, dot, length};
use topopt_mesh::{HexMesh, Sets};
use topopt_testing::{Noise, distorted_cube, distorted_tetrahedra};

use super::cone::Points;
use super::{OverhangCone, Supports, standing};
use lattices::plane_lattice;

const UP: [f64; 3] = [0.0, 0.0, 1.0];
const ACROSS: [[f64; 3]; 2] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];

/// Angle in radians of 45 degrees.
const HALF: f64 = std::f64::consts::FRAC_PI_4;

/// Supports of a lattice of 7 x 6 x 8 places that stands on its first layer, with the numbers of
/// places along the axes.
fn lattice(share: f64, cone: OverhangCone) -> (Supports, Vec<[f64; 3]>) {
    let counted = (0..7 * 6 * 8).map(|e| [e / 48, e / 8 % 6, e % 8].map(|i| i as f64));
    let counted: Vec<[f64; 3]> = counted.collect();
    let n = counted.len();
    let points = Points {
        places: counted.iter().map(|&at| place(share, at)).collect(),
        owners: (0..n as u32).collect(),
        widths: vec![1.0; n],
        radii: vec![f64::INFINITY; n],
        depths: Vec::new(),
    };
    let stand: Vec<bool> = counted.iter().map(|[.., k]| *k == 0.0).collect();
    (Supports::of_points(&points, &cone, ACROSS, &stand), counted)
}

/// Place in a lattice, moved by `share` of its spacing.
fn place(share: f64, [i, j, k]: [f64; 3]) -> [f64; 3] {
    [
        i + 0.5 + share * (12.9898 * i + 78.233 * j + 3.1 * k).sin(),
        j + 0.5 + share * (39.3468 * i + 11.135 * j + 2.3 * k).cos(),
        k + 0.5 + share * (5.77 * i + 9.13 * j + 17.7 * k).sin(),
    ]
}

fn wavy(counted: &[[f64; 3]]) -> Vec<f64> {
    let density = |[i, j, k]: &[f64; 3]| 0.5 + 0.5 * (0.7 * i + 1.3 * j + 0.9 * k).sin();
    counted.iter().map(density).collect()
}

/// Sums of an independent program with another Delaunay triangulation.
#[test]
fn a_distorted_lattice_has_the_sums_of_another_program() {
    let cone = OverhangCone { depth: 2.0, ..OverhangCone::new(UP, HALF) };
    let (supports, counted) = lattice(0.15, cone);
    let (p, chosen) = supports.swept(&wavy(&counted));
    let weighted = |x: &[f64], weight: fn(&[f64; 3]) -> f64| -> f64 {
        x.iter().zip(&counted).map(|(x, at)| x * weight(at)).sum()
    };
    let sum = weighted(&p, |_| 1.0);
    assert!((sum - 155.434_469_266_5).abs() < 1e-8, "{sum}");
    let sum = weighted(&p, |[i, j, k]| (i + 1.0) * (j + 1.0) * (k + 1.0));
    assert!((sum - 9_259.728_913).abs() < 1e-5, "{sum}");

    let gradient = supports.swept_backward(&chosen, vec![1.0; counted.len()]);
    let sum = weighted(&gradient, |[i, ..]| i + 1.0);
    assert!((sum - 1_396.534_588_59).abs() < 1e-7, "{sum}");
    let links = supports.samples.iter().flat_map(|sample| sample.weights);
    assert_eq!(links.filter(|weight| *weight > 0.0).count(), 7562);
}

/// The layer filter of \[Langelaar2016\] with exact extremes.
#[test]
fn voxels_have_the_layer_filter() {
    let cone = OverhangCone { depth: 1.0, n_rim: 4, ..OverhangCone::new(UP, HALF) };
    let (supports, counted) = lattice(0.0, cone);
    let x = wavy(&counted);
    let mut expected = x.clone();
    let by_layers = (0..8).flat_map(|k| (0..x.len()).skip(k).step_by(8));
    for e in by_layers {
        let [i, j, k] = counted[e];
        let is_below = |&other: &usize| {
            let [u, v, w] = counted[other];
            w + 1.0 == k && (u - i).abs() + (v - j).abs() <= 1.0
        };
        let below = (0..x.len()).filter(is_below).map(|other| expected[other]);
        if k > 0.0 {
            expected[e] = x[e].min(below.fold(0.0, f64::max));
        }
    }
    let (p, _) = supports.swept(&x);
    for (p, expected) in p.iter().zip(&expected) {
        assert!((p - expected).abs() < 4e-16, "{p} and {expected}");
    }
}

#[test]
fn printing_scales_shifts_grows_and_repeats_exactly() {
    let (lattice, counted) = plane_lattice([30, 20], 0.15, OverhangCone::new(UP, HALF));
    prints_exactly("plane lattice", &lattice, counted.len());
    for (name, mesh, up) in [
        ("hexahedra", distorted_cube(8, 0.3, true), [0.36, 0.48, 0.8]),
        ("tetrahedra", distorted_tetrahedra(5, 0.25, true), [0.28, 0.0, 0.96]),
        ("one layer", distorted_layer(16), [0.6, 0.0, 0.8]),
    ] {
        let stand: Vec<bool> = mesh.centers().iter().map(|&x| dot(x, up) < 0.35).collect();
        let supports = Supports::new(&mesh, &OverhangCone::new(up, HALF), &stand);
        prints_exactly(name, &supports, mesh.n_elements());
    }
}

/// Asserts the properties of printing on `n` elements that all rest on others. Weights have the sum
/// 1, and sums of four terms their values, up to a rounding or two of 2.2e-16 each.
fn prints_exactly(name: &str, supports: &Supports, n: usize) {
    let x: Vec<f64> = (0..n).map(|e| 0.5 + 0.45 * (e as f64 * 1.7).sin()).collect();
    let (p, chosen) = supports.swept(&x);
    assert!(p.iter().zip(&x).all(|(p, x)| p <= x) && p.iter().zip(&x).any(|(p, x)| p < x));

    let holds = |changed: Vec<f64>, expected: &dyn Fn(f64) -> f64| {
        let pairs = supports.swept(&changed).0.into_iter().zip(&p);
        let error = pairs.map(|(found, &p)| (found / expected(p) - 1.0).abs()).fold(0.0, f64::max);
        assert!(error < 8e-16, "{name}: {error}");
    };
    holds(x.iter().map(|x| 0.3 * x).collect(), &|p| 0.3 * p);
    holds(x.iter().map(|x| x + 0.125).collect(), &|p| p + 0.125);
    assert_eq!(supports.swept(&p).0, p, "{name}");
    let more: Vec<f64> = x.iter().enumerate().map(|(e, x)| x + 0.1 * (e % 2) as f64).collect();
    assert!(supports.swept(&more).0.iter().zip(&p).all(|(more, p)| more >= p));

    // Derivatives along one direction, and the sum of all.
    let cotangent: Vec<f64> = (0..n).map(|e| (e as f64 * 0.9).cos()).collect();
    let gradient = supports.swept_backward(&chosen, cotangent.clone());
    let direction: Vec<f64> = (0..n).map(|e| (e as f64 * 2.3).sin()).collect();
    let value = |step: f64| {
        let moved: Vec<f64> = x.iter().zip(&direction).map(|(x, d)| x + step * d).collect();
        supports.swept(&moved).0.iter().zip(&cotangent).map(|(p, c)| p * c).sum::<f64>()
    };
    let difference = (value(1e-6) - value(-1e-6)) / 2e-6;
    let expected: f64 = gradient.iter().zip(&direction).map(|(g, d)| g * d).sum();
    assert!((difference / expected - 1.0).abs() < 2e-9, "{name}: {difference}, {expected}");
    let sums = [&gradient, &cotangent].map(|list| list.iter().sum::<f64>());
    assert!((sums[0] - sums[1]).abs() < 1e-13, "{name}: {sums:?}");
}

/// Filling is printing of the complement from the other side, with one sample on the axis.
#[test]
fn columns_of_voxels_are_filled_without_undercuts() {
    let cone = OverhangCone::axis([0.0, 0.0, -1.0], 0.0);
    let n = 7 * 6 * 8;
    let (supports, counted) = lattice(0.0, cone);
    let x = wavy(&counted);
    let (filled, chosen) = supports.filling().swept(&x);
    for e in 0..n {
        let above = (e..n).take_while(|other| other / 8 == e / 8).map(|other| x[other]);
        assert_eq!(filled[e], if e % 8 == 0 { x[e] } else { above.fold(0.0, f64::max) });
    }
    assert!(chosen.len() < n);
}

/// Angle of the cone that is printed on a pad in a block of solid elements.
fn spread(mesh: &HexMesh, up: [f64; 3], angle: f64) -> f64 {
    let cone = OverhangCone::new(up, angle.to_radians());
    let (centers, volumes) = (mesh.centers(), mesh.volumes());
    let from_middle = |center: &[f64; 3]| difference(*center, [0.5; 3]);
    let height = |center: &[f64; 3]| dot(from_middle(center), up);
    let stand: Vec<bool> = centers.iter().map(|center| height(center) < -0.3).collect();
    let on_pad = |center: &[f64; 3]| {
        let arm = from_middle(center);
        length(arm).powi(2) - height(center).powi(2) < 0.12_f64.powi(2)
    };
    let solid = |(center, stand): (&[f64; 3], &bool)| f64::from(!stand || on_pad(center));
    let x: Vec<f64> = centers.iter().zip(&stand).map(solid).collect();
    let (p, _) = Supports::new(mesh, &cone, &stand).swept(&x);

    // Radius of the disc with the volume of a slab of the cone, by hats that layers do not show in.
    let radius = |at: f64| {
        let hat = |e: usize| (1.0 - (height(&centers[e]) + 0.3 - at).abs() / 0.1).max(0.0);
        let volume: f64 = (0..p.len()).map(|e| volumes[e] * p[e] * hat(e)).sum();
        (volume / 0.1 / std::f64::consts::PI).sqrt()
    };
    ((radius(0.27) - radius(0.12)) / 0.15).atan().to_degrees()
}

#[test]
fn the_limit_is_the_angle_asked_for_in_every_direction() {
    let hexahedra = distorted_cube(20, 0.2, false);
    let tetrahedra = distorted_tetrahedra(13, 0.25, false);
    for (up, angle) in [
        ([0.0, 0.0, 1.0], 45.0),
        ([0.28, 0.0, 0.96], 45.0),
        ([0.36, 0.48, 0.8], 45.0),
        ([0.6, 0.64, 0.48], 45.0),
        ([0.36, 0.48, 0.8], 35.0),
    ] {
        for (mesh, limit) in [(&hexahedra, 1.5), (&tetrahedra, 2.0)] {
            let (found, shape) = (spread(mesh, up, angle), mesh.shape());
            assert!((found - angle).abs() < limit, "{shape:?}, {up:?}: {found} for {angle}");
        }
    }
}

/// The unit square in n x 1 x n elements, moved at random inside.
fn distorted_layer(n: usize) -> HexMesh {
    let mut noise = Noise(3);
    let (coordinates, hexes) = block([n, 1, n], |at| {
        let is_inside = |i: usize| i != 1 && at[i] > 0 && at[i] < n;
        let moved = |i: usize| at[i] as f64 + if is_inside(i) { 0.2 * noise.number() } else { 0.0 };
        [0, 1, 2].map(moved).map(|x| x / n as f64)
    });
    HexMesh::new(coordinates, hexes, Sets::default()).unwrap()
}

/// A block around the unit cube, whose hexahedra lean by a `shear` to the side.
fn sheared(shear: f64) -> HexMesh {
    let (coordinates, hexes) = block([52, 20, 20], |at| {
        let [x, y, z] = place(0.1, at.map(|i| i as f64 - 0.5)).map(|x| x / 20.0);
        [x - 0.8 + shear * (z - 0.5), y, z]
    });
    HexMesh::new(coordinates, hexes, Sets::default()).unwrap()
}

/// Widths say nothing of the shape: hexahedra that lean by 52 and 63 degrees are as wide as cubes.
#[test]
fn the_limit_is_the_angle_asked_for_on_sheared_hexahedra() {
    for shear in [1.3, 2.0] {
        let mesh = sheared(shear);
        for angle in [30.0, 45.0] {
            let found = spread(&mesh, UP, angle);
            assert!((found - angle).abs() < 2.0, "{shear}: {found} for {angle}");
        }
    }
}

/// Angle of the cone that is filled below a disc at the top of an empty block.
fn drafted(mesh: &HexMesh, up: [f64; 3], draft: f64) -> f64 {
    let cone = OverhangCone::axis(up.map(|x| -x), draft.to_radians());
    let (centers, volumes) = (mesh.centers(), mesh.volumes());
    let height = |center: &[f64; 3]| dot(difference(*center, [0.5; 3]), up);
    let on_disc = |center: &[f64; 3]| {
        let arm = difference(*center, [0.5; 3]);
        let out = length(arm).powi(2) - height(center).powi(2);
        out < 0.15_f64.powi(2) && height(center) > 0.3
    };
    let x: Vec<f64> = centers.iter().map(|center| f64::from(on_disc(center))).collect();
    let (p, _) = Supports::new(mesh, &cone, &vec![false; x.len()]).filling().swept(&x);
    let hat = |e: usize, at: f64| (1.0 - (height(&centers[e]) - at).abs() / 0.1).max(0.0);
    let solid: Vec<usize> = (0..p.len()).filter(|&e| p[e] > 0.5).collect();
    let radius = |at: f64| {
        let volume: f64 = solid.iter().map(|&e| volumes[e] * hat(e, at)).sum();
        (volume / 0.1 / std::f64::consts::PI).sqrt()
    };
    ((radius(-0.3) - radius(0.2)) / 0.5).atan().to_degrees()
}

/// Eight rays have walls of the octagon in their cone, which is steeper by up to 8 %.
#[test]
fn molds_have_the_draft_asked_for_in_every_direction() {
    let meshes = [distorted_cube(20, 0.2, false), distorted_tetrahedra(13, 0.25, false)];
    let all = [5.0, 10.0, 20.0];
    // A cone of 20 degrees in an oblique direction leaves the block.
    let ways =
        [([0.0, 0.0, 1.0], &all[..]), ([0.28, 0.0, 0.96], &all), ([0.36, 0.48, 0.8], &all[..2])];
    for (up, drafts) in ways {
        for mesh in &meshes {
            let found: Vec<f64> = drafts.iter().map(|&draft| drafted(mesh, up, draft)).collect();
            let off = found.iter().zip(drafts).map(|(x, draft)| (x - draft).abs() - 0.08 * draft);
            let off = off.fold(0.0, f64::max);
            assert!(off < 1.0, "{:?}, {up:?}: {found:?}", mesh.shape());
        }
    }
}

/// Without a draft rows are filled as they are; the disc, three elements in radius, shrinks by 5
/// degrees on tetrahedra, where densities between centers blur.
#[test]
fn molds_without_a_draft_fill_rows() {
    let found = drafted(&distorted_cube(20, 0.2, false), UP, 0.0);
    assert!(found.abs() < 1.0, "{found}");
}

#[test]
fn parts_stand_on_their_lowest_faces_or_wherever_they_overhang() {
    let mesh = distorted_cube(4, 0.0, false);
    let cone = OverhangCone::new(UP, HALF);
    let count = |cone, anywhere| standing(&mesh, &cone, anywhere).iter().filter(|s| **s).count();
    assert_eq!([count(cone, false), count(cone, true)], [16, 16]);
    let tilted = OverhangCone::new([0.6, 0.0, 0.8], HALF);
    assert_eq!([count(tilted, false), count(tilted, true)], [0, 16]);
}

/// Columns of elements stand on each other, however many times as high as wide they are.
#[test]
fn tall_elements_rest_on_those_below() {
    for height in [3.0, 7.0, 10.0, 30.0] {
        let (coordinates, hexes) =
            block([4, 4, 4], |[i, j, k]| [i as f64, j as f64, height * k as f64]);
        let mesh = HexMesh::new(coordinates, hexes, Sets::default()).unwrap();
        for angle in [0.1, HALF, 1.4] {
            let cone = OverhangCone::new(UP, angle);
            let supports = Supports::new(&mesh, &cone, &standing(&mesh, &cone, false));
            let (p, _) = supports.swept(&[1.0; 64]);
            assert!(p.iter().all(|p| (p - 1.0).abs() < 1e-12), "{height} {angle}: {p:?}");
        }
    }
}

/// A column of solid elements, with one void element in it.
#[test]
fn nothing_is_printed_beyond_a_void_element() {
    let (supports, counted) = lattice(0.0, OverhangCone::new(UP, HALF));
    let is_column = |[i, j, _]: &[f64; 3]| *i == 3.0 && *j == 3.0;
    for (is_whole, printed) in [(true, 1.0), (false, 0.5)] {
        let solid = |at: &[f64; 3]| is_column(at) && (is_whole || at[2] != 4.0);
        let x: Vec<f64> = counted.iter().map(|at| f64::from(u8::from(solid(at)))).collect();
        let (p, _) = supports.swept(&x);
        let last = counted.iter().zip(&p).filter(|(at, _)| is_column(at) && at[2] == 7.0);
        last.for_each(|(_, p)| assert!(*p <= printed && (!is_whole || *p == 1.0), "{p}"));
    }
}

/// Elements are in the first level after those that they rest on, by height.
#[test]
fn each_level_rests_on_the_one_before() {
    for mesh in [distorted_cube(12, 0.2, false), distorted_tetrahedra(7, 0.25, false)] {
        for up in [UP, [0.36, 0.48, 0.8]] {
            let cone = OverhangCone::new(up, HALF);
            let stand = standing(&mesh, &cone, false);
            let Supports { order, levels, starts, samples, .. } =
                Supports::new(&mesh, &cone, &stand);
            let heights: Vec<f64> = mesh.centers().iter().map(|x| dot(*x, up)).collect();
            let (mut start, unknown) = (0, 1000);
            let mut level: Vec<usize> =
                stand.iter().map(|stands| if *stands { 0 } else { unknown }).collect();

            for (number, &end) in (1..).zip(&levels) {
                let own = &order[start..end];
                assert!(own.is_sorted_by(|a, b| heights[*a as usize] <= heights[*b as usize]));
                for k in start..end {
                    let links = samples[starts[k]..starts[k + 1]].iter().flat_map(|s| s.points);
                    let highest = links.map(|other| level[other as usize]).max().unwrap_or(0);
                    assert_eq!(highest + 1, number, "{up:?}");
                }
                own.iter().for_each(|&e| level[e as usize] = number);
                start = end;
            }
            assert!(start == order.len() && levels.len() > 9, "{}", levels.len());
            assert!(level.iter().all(|level| *level != unknown));
        }
    }
}
