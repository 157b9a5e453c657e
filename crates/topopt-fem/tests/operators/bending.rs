//! Beams and strips of one element through: full integration locks, incompatible modes do not.

use topopt_fem::bending::{bending_share, tangents};
use topopt_fem::{
    Discretization, Elasticity, Formulation, LoadCase, Material, Problem, Strategy, Supports,
};
use topopt_mesh::hexahedron::of_wedge;
use topopt_mesh::passage::{Passage, Walker};
use topopt_mesh::{HexMesh, Sets};

use crate::hold;
use crate::mechanics::solve_within;
use topopt_testing::mapped_box;

/// Mean displacement along `component` of the nodes where `is_tip`, under a force of 1 along it
/// that these share equally; clamped at x = 0.
fn tip(
    formulation: Formulation,
    mesh: &HexMesh,
    material: Material,
    component: usize,
    is_tip: impl Fn([f64; 3]) -> bool,
) -> f64 {
    let at: Vec<usize> =
        (0..mesh.n_nodes()).filter(|&node| is_tip(mesh.coordinates()[node])).collect();
    let share = 1.0 / at.len() as f64;
    let mut forces = vec![0.0; 3 * mesh.n_nodes()];
    at.iter().for_each(|node| forces[3 * node + component] = share);

    let kernel = Elasticity::new(&material).with(formulation);
    let supports: Supports = hold(mesh, |x| x[0].abs() < 1e-9);
    let equation = Discretization::new(mesh.clone(), kernel, supports);
    let problem = Problem::of(equation, vec![LoadCase::new("tip", forces.clone())]).unwrap();
    // Rounding stops slender beams before 1e-10; five digits of the tip are compared at most.
    let u = solve_within(&problem, Strategy::Mf, &forces, 1e-8);
    at.iter().map(|node| share * u[3 * node + component]).sum::<f64>()
}

/// Displacements of the beam of MacNeal and Harder over 0.1081, 0.4321 and 3e-5: in its plane, out
/// of it, along it. It has six elements of 1 x 0.2 x 0.1; `shift` tilts their inner edges.
fn macneal_harder(formulation: Formulation, shift: impl Fn(f64, f64) -> f64) -> [f64; 3] {
    let mesh = mapped_box([6, 1, 1], |[x, y, z]| {
        let (i, side) = ((6.0 * x).round(), if y > 0.5 { 1.0 } else { -1.0 });
        let inner = if (1.0..=5.0).contains(&i) { shift(i, side) } else { 0.0 };
        [i + inner, 0.2 * y, 0.1 * z]
    });
    [(1, 0.1081), (2, 0.4321), (0, 3e-5)].map(|(component, reference)| {
        let unit = Material::new(1.0, 0.3).unwrap();
        tip(formulation, &mesh, unit, component, |x| x[0] > 6.0 - 1e-9) / 1e7 / reference
    })
}

fn assert_ratios<const N: usize>(found: [f64; N], expected: [f64; N]) {
    for (found, expected) in found.iter().zip(&expected) {
        assert!((found - expected).abs() < 6e-4, "{found} for {expected}");
    }
}

#[test]
fn beams_of_macneal_and_harder() {
    let straight = |_: f64, _: f64| 0.0;
    let trapezoids = |i: f64, side: f64| if i % 2.0 > 0.5 { 0.1 * side } else { -0.1 * side };
    let parallelograms = |_: f64, side: f64| 0.1 * side;
    let by = Formulation::Full;
    assert_ratios(macneal_harder(by, straight), [0.093, 0.025, 0.986]);
    assert_ratios(macneal_harder(by, trapezoids), [0.026, 0.011, 0.986]);
    assert_ratios(macneal_harder(by, parallelograms), [0.032, 0.014, 0.986]);
    let by = Formulation::Incompatible;
    assert_ratios(macneal_harder(by, straight), [0.978, 0.973, 0.988]);
    assert_ratios(macneal_harder(by, trapezoids), [0.047, 0.031, 0.994]);
    assert_ratios(macneal_harder(by, parallelograms), [0.624, 0.531, 0.994]);
}

/// A cantilever of 10 x 1 x 1 over Timoshenko's deflection, with 1, 2 and 4 cubes through.
#[test]
fn cantilevers_of_cubes() {
    let timoshenko = 1000.0 / (3.0 / 12.0) + 1.2 * 10.0 * 2.6;
    let ratios = |formulation| {
        [1, 2, 4].map(|n| {
            let mesh = mapped_box([10 * n, n, n], |[x, y, z]| [10.0 * x, y, z]);
            let material = Material::new(1.0, 0.3).unwrap();
            tip(formulation, &mesh, material, 2, |x| x[0] > 10.0 - 1e-9) / timoshenko
        })
    };
    assert_ratios(ratios(Formulation::Full), [0.643, 0.869, 0.957]);
    assert_ratios(ratios(Formulation::Incompatible), [0.9855, 0.9867, 0.9904]);
}

/// A quarter of a ring of inner radius 4.12, outer 4.32 and thickness 0.1, over 0.08734 in its
/// plane and 0.5022 out of it; a beam twisted by a quarter turn over 0.005424 and 0.001754.
#[test]
fn curved_and_twisted_beams() {
    let quarter = std::f64::consts::FRAC_PI_2;
    let curved = mapped_box([6, 1, 1], |[x, y, z]| {
        let (angle, radius) = (quarter * x, 4.12 + 0.2 * y);
        [radius * angle.sin(), radius * angle.cos(), 0.1 * z]
    });
    let material = || Material::new(1.0, 0.25).unwrap();
    let of_curved = [(1, 0.08734), (2, 0.5022)].map(|(component, reference)| {
        let by = Formulation::Incompatible;
        tip(by, &curved, material(), component, |x| x[1].abs() < 1e-9) / 1e7 / reference
    });
    assert_ratios(of_curved, [0.368, 0.817]);

    let twisted = mapped_box([12, 2, 1], |[x, y, z]| {
        let (sin, cos) = (quarter * x).sin_cos();
        let (y, z) = (1.1 * (y - 0.5), 0.32 * (z - 0.5));
        [12.0 * x, y * cos - z * sin, y * sin + z * cos]
    });
    let ratios = |by| {
        [(2, 0.005424), (1, 0.001754)].map(|(component, reference)| {
            let material = Material::new(1.0, 0.22).unwrap();
            tip(by, &twisted, material, component, |x| x[0] > 12.0 - 1e-9).abs() / 29e6 / reference
        })
    };
    assert_ratios(ratios(Formulation::Full), [0.206, 0.332]);
    assert_ratios(ratios(Formulation::Incompatible), [0.997, 0.990]);
}

/// Displacement of the end of the strip at unit modulus and force.
const STRIP: f64 = 2.0251 * 210_000.0 / 10.0;

/// A strip of steel, 120 x 20 x 2 mm, under 10 N at its tip bends 2.0251 mm.
#[test]
fn a_strip_of_one_element_through_bends_as_a_fine_one() {
    let mesh = mapped_box([60, 10, 1], |[x, y, z]| [120.0 * x, 20.0 * y, 2.0 * z]);
    let steel = || Material::new(1.0, 0.3).unwrap();
    let found = [Formulation::Full, Formulation::Incompatible]
        .map(|by| tip(by, &mesh, steel(), 2, |x| x[0] > 120.0 - 1e-9) / STRIP);
    assert!((found[0] - 0.650).abs() < 2e-3, "{found:?}");
    assert!((found[1] - 1.0).abs() < 2e-2, "{found:?}");
}

/// The median of the estimate over the passages through all of `mesh` that extend along it.
fn estimate(formulation: Formulation, mesh: &HexMesh) -> f64 {
    let walker = Walker::new(mesh, None);
    let kernel = Elasticity::new(&Material::new(1.0, 0.3).unwrap()).with(formulation);
    let is_thin = |passage: &Passage| {
        let mut tangents = tangents(passage.direction).into_iter();
        tangents.any(|tangent| walker.extends(passage, tangent, 1.5 * passage.length))
    };
    let share = |passage: Passage| {
        let corners: Vec<_> =
            passage.elements.iter().map(|&e| mesh.element_coordinates(e as usize)).collect();
        bending_share(&kernel, &corners, passage.center, passage.direction)
    };

    let faces = (0..mesh.n_elements() as u32).flat_map(|element| walker.free_faces(element));
    let passages = faces.filter_map(|face| walker.through(face, 8)).filter(is_thin);
    let mut shares: Vec<f64> = passages.map(share).collect();
    shares.sort_by(f64::total_cmp);
    shares[shares.len() / 2]
}

/// The mesh with every hexahedron in two wedges.
fn halved(mesh: &HexMesh) -> HexMesh {
    let halves = |[a, b, c, d, e, f, g, h]: &[u32; 8]| {
        [[*a, *b, *c, *e, *f, *g], [*a, *c, *d, *e, *g, *h]].map(of_wedge)
    };
    let hexes = mesh.hexes().iter().flat_map(halves).collect();
    HexMesh::new(mesh.coordinates().to_vec(), hexes, Sets::default()).unwrap()
}

/// Displacements by the estimate and by a solve, as shares of the exact ones.
#[test]
fn the_estimate_of_bending_is_as_solves_find() {
    let beam = |n: usize| mapped_box([10 * n, n, n], |[x, y, z]| [10.0 * x, y, z]);
    let timoshenko = 1000.0 / (3.0 / 12.0) + 1.2 * 10.0 * 2.6;
    let strip = |n: [usize; 3], share: f64| {
        mapped_box(n, |[x, y, z]| {
            let random = |k: f64| (1e4 * (k * x + 2.3 * k * y + 3.1 * z + k).sin()).fract();
            let is_inner = |x: f64| x > 1e-9 && x < 1.0 - 1e-9;
            let at = |i: usize, x: f64| {
                let step = share * random(1.0 + i as f64) / n[i] as f64;
                if is_inner(x) { x + step } else { x }
            };
            [120.0 * at(0, x), 20.0 * at(1, y), 2.0 * at(2, z)]
        })
    };

    for (mesh, exact, within) in [
        (beam(1), timoshenko, 0.02),
        (beam(2), timoshenko, 0.02),
        (halved(&beam(1)), timoshenko, 0.05),
        (halved(&beam(2)), timoshenko, 0.02),
        (strip([30, 5, 1], 0.0), STRIP, 0.01),
        (strip([30, 5, 1], 0.2), STRIP, 0.03),
        (strip([15, 3, 1], 0.2), STRIP, 0.03),
        (strip([60, 10, 2], 0.2), STRIP, 0.02),
    ] {
        for by in [Formulation::Full, Formulation::Incompatible] {
            let end = mesh.bounding_box().extent()[0] - 1e-9;
            let material = Material::new(1.0, 0.3).unwrap();
            let measured = tip(by, &mesh, material, 2, |x| x[0] > end) / exact;
            let found = estimate(by, &mesh);
            assert!((found - measured).abs() < within, "{by:?}: {found} for {measured}");
        }
    }
}
