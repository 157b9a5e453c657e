//! Distance from bodies of known shape, and widths of members.

use topopt_mesh::vector::{cross, difference, dot, length};
use topopt_surface::Quality;

use super::*;

/// Root mean square, and mean, of `depth` at the vertices off the part's surface, in element
/// widths: how far they are from where they should be, and inside of it.
fn error(shape: &Shape, depth: impl Fn([f64; 3]) -> f64) -> [f64; 2] {
    let margin = 1.5 * shape.width;
    let is_free = |x: &&[f64; 3]| x.iter().all(|x| (margin..1.0 - margin).contains(x));
    let free: Vec<f64> =
        shape.surface.vertices().iter().filter(is_free).map(|x| depth(*x)).collect();
    let mean =
        |of: &dyn Fn(f64) -> f64| free.iter().map(|d| of(*d)).sum::<f64>() / free.len() as f64;
    [mean(&|d| d * d).sqrt() / shape.width, mean(&|d| d) / shape.width]
}

const MIDDLE: [f64; 3] = [0.52, 0.49, 0.51];

fn sphere(x: [f64; 3]) -> f64 {
    0.3 - length(difference(x, MIDDLE))
}

/// A round bar askew to the elements.
fn bar(diameter: f64, x: [f64; 3]) -> f64 {
    0.5 * diameter - length(cross(difference(x, MIDDLE), [0.8, 0.6, 0.0]))
}

/// A plate askew to the elements.
fn plate(thickness: f64, x: [f64; 3]) -> f64 {
    0.5 * thickness - dot(difference(x, MIDDLE), [0.8, 0.36, 0.48]).abs()
}

fn gyroid(x: [f64; 3]) -> f64 {
    let k = 2.0 * std::f64::consts::PI * 1.5;
    let [x, y, z] = x.map(|x| k * x);
    let f = x.sin() * y.cos() + y.sin() * z.cos() + z.sin() * x.cos();
    let gradient = [
        x.cos() * y.cos() - z.sin() * x.sin(),
        y.cos() * z.cos() - x.sin() * y.sin(),
        z.cos() * x.cos() - y.sin() * z.sin(),
    ];
    f / (k * length(gradient))
}

/// Closed, without crossings, of the volume of the design and the topology of the level set.
fn assert_sound(shape: &Shape, mesh: &HexMesh, density: &[f64]) {
    assert_closed(&shape.surface);
    assert!(shape.surface.crossings().is_empty());
    let design: f64 = density.iter().zip(mesh.volumes()).map(|(d, v)| d * v).sum();
    assert!((shape.surface.volume() / design - 1.0).abs() < 1e-3, "{}", shape.surface.volume());
    assert_eq!(shape.surface.topology(), shape.level_set);
}

#[test]
fn a_sphere_and_a_gyroid_are_where_they_should_be() {
    for mesh in meshes(24) {
        let part = Part::of_mesh(&mesh).unwrap();
        for (depth, most) in [(sphere as fn([f64; 3]) -> f64, 0.05), (gyroid, 0.05)] {
            let density = shares(&mesh, depth);
            let shape = shaped(&mesh, &density, &part);
            assert_sound(&shape, &mesh, &density);
            let [square, mean] = error(&shape, depth);
            assert!(square < most && mean.abs() < 0.5 * most, "{square} {mean}");
        }
    }
}

/// A mean over a few elements alone would take a third of a bar of two elements.
#[test]
fn bars_keep_their_thickness() {
    for mesh in meshes(20) {
        let (h, part) = (width(&mesh), Part::of_mesh(&mesh).unwrap());
        for (elements, most) in [(2.0, 0.1), (3.0, 0.08), (4.0, 0.06), (6.0, 0.06)] {
            let depth = |x| bar(elements * h, x);
            let density = shares(&mesh, depth);
            let shape = shaped(&mesh, &density, &part);
            assert_sound(&shape, &mesh, &density);
            let [square, mean] = error(&shape, depth);
            assert!(square < most && mean.abs() < 0.05, "{elements}: {square} {mean}");
            let [members, gaps] = shape.widths(&mesh, &[]);
            let median = members.unwrap().median / h;
            assert!((median / elements - 1.0).abs() < 0.1, "{elements}: {median}");
            assert_eq!(gaps, None);
        }
    }
}

/// The mean over a few elements alone hardly reaches the level of a part that is thick elsewhere:
/// a web fell into crumbs that touched and crossed each other.
#[test]
fn webs_of_one_element_stay_whole() {
    let [mesh, _] = meshes(20);
    let (h, part) = (width(&mesh), Part::of_mesh(&mesh).unwrap());
    let off_middle = |x: [f64; 3]| (x[2] - 10.5 * h).abs();
    let density = crisp(&mesh, |x| (0.5 * h - off_middle(x)).max(0.3 - x[0]));
    let shape = shaped(&mesh, &density, &part);
    assert_sound(&shape, &mesh, &density);
    let found = shape.surface.topology();
    assert_eq!((found.pieces, found.cavities, found.genus), (1, 0, 0));

    let is_web = |x: &&[f64; 3]| x[0] > 0.5 && off_middle(**x) < h;
    let web: Vec<f64> =
        shape.surface.vertices().iter().filter(is_web).map(|x| off_middle(*x)).collect();
    let thickness = 2.0 * web.iter().sum::<f64>() / web.len() as f64 / h;
    // The height of its ridge is that of a safe margin: a tenth more than the element.
    assert!((thickness - 1.05).abs() < 0.1, "{thickness}");
}

#[test]
fn plates_and_slots_have_their_widths() {
    for mesh in meshes(20) {
        let (h, part) = (width(&mesh), Part::of_mesh(&mesh).unwrap());
        for elements in [2.5, 5.0] {
            let depth = |x| plate(elements * h, x);
            let [members, gaps] = shaped(&mesh, &shares(&mesh, depth), &part).widths(&mesh, &[]);
            let median = members.unwrap().median / h;
            assert!((median / elements - 1.0).abs() < 0.1, "{elements}: {members:?}");
            assert!(members.unwrap().first_percentile > 0.5 * elements * h, "{members:?}");
            assert_eq!(gaps, None);

            let slot = shaped(&mesh, &shares(&mesh, |x| -depth(x)), &part);
            let [_, gaps] = slot.widths(&mesh, &[]);
            let median = gaps.unwrap().median / h;
            assert!((median / elements - 1.0).abs() < 0.1, "{elements}: {gaps:?}");
        }
    }
}

/// The full part is no member of the width of its edges.
#[test]
fn edges_of_a_part_are_no_members() {
    let [mesh, _] = meshes(8);
    let part = Part::of_mesh(&mesh).unwrap();
    let shape = shaped(&mesh, &vec![1.0; mesh.n_elements()], &part);
    assert!((shape.surface.volume() - 1.0).abs() < 1e-9);
    let members = shape.widths(&mesh, &[])[0].unwrap();
    assert!(members.first_percentile > 0.9 && members.median < 1.01, "{members:?}");
}

/// Waves of a crisp design go; the measure is that of edges of half an element.
#[test]
fn crisp_designs_are_smooth() {
    for mesh in meshes(20) {
        let part = Part::of_mesh(&mesh).unwrap();
        let shape = shaped(&mesh, &crisp(&mesh, sphere), &part);
        let found = shape.roughness(&part);
        assert!(found.bent < 0.03 && found.steep == 0.0 && found.deviation < 3.0, "{found:?}");
        let edge = found.edge / shape.width;
        assert!((0.45..0.55).contains(&edge), "{edge}");
        assert!(found.on_part < 1e-3, "{found:?}");
    }
}

#[test]
fn qualities_are_lengths_of_edges() {
    let [mesh, _] = meshes(10);
    let part = Part::of_mesh(&mesh).unwrap();
    let density = shares(&mesh, sphere);
    let edges = [Quality::Draft, Quality::Print, Quality::Show].map(|quality| {
        let shaping = Shaping { quality, ..Shaping::default() };
        let shape = UncutSolid::of(&mesh, &density, &shaping).unwrap().shape(&part).unwrap();
        shape.roughness(&part).edge / shape.width
    });
    assert!(edges[0] > 1.6 * edges[1] && edges[1] > 1.6 * edges[2], "{edges:?}");
}

/// A ring whose elements are solid as their centers lie in it: its surface is that of the ring
/// where its depth is known, and has the steps of the elements where it is not.
#[test]
fn rings_that_stay_solid_are_round() {
    for mesh in meshes(24) {
        let (h, part) = (width(&mesh), Part::of_mesh(&mesh).unwrap());
        let radius = |x: [f64; 3]| ((x[0] - 0.52).powi(2) + (x[1] - 0.49).powi(2)).sqrt();
        let ring = |x: [f64; 3]| 1.5 * h - (radius(x) - 0.3).abs();
        let density = crisp(&mesh, ring);
        let depth: Vec<f64> = mesh.coordinates().iter().map(|x| ring(*x)).collect();
        let shape_with = |depth| {
            let form = Form { depth, ..Form::default() };
            let uncut = UncutSolid::formed(&mesh, &density, form, &Shaping::default()).unwrap();
            uncut.shape(&part).unwrap()
        };
        let round = shape_with(Some(&depth[..]));
        assert_sound(&round, &mesh, &density);
        let [[exact, _], [stairs, _]] = [&round, &shape_with(None)].map(|shape| error(shape, ring));
        // As far as the surface of a bar three elements thick, and half of the steps.
        assert!(exact < 0.08 && stairs > 2.0 * exact, "{exact} {stairs}");
    }
}
