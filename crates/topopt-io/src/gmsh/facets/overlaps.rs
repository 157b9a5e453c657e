//! Bodies of a file that overlap, as those of an assembly do that was never united in CAD.

use manifold_rust::manifold::Manifold;
use manifold_rust::types::{Error, MeshGLP};
use topopt_mesh::BoundingBox;

use super::shells::Shells;
use super::triangles::volume;

/// Bodies, each with its cavities, as one.
pub(super) struct United {
    /// `[n_vertices][3]`.
    pub vertices: Vec<[f64; 3]>,
    /// `[n_triangles][3]`.
    pub triangles: Vec<[u32; 3]>,
    n_bodies: usize,
    /// Share of the volume that stood in several bodies.
    overlap: f64,
}

/// Share of the volume of all bodies above which they overlap, and do not merely touch.
const LEAST: f64 = 1e-6;

type Mesh = MeshGLP<f64, u32>;

impl United {
    /// Sentence on what was done.
    pub fn note(&self) -> String {
        format!(
            "{} bodies overlap and were united: {:.2} % of their volume stood in several of them",
            self.n_bodies,
            100.0 * self.overlap
        )
    }
}

/// Unites the bodies that `triangles` bound, if some overlap; none where they do not, where one is
/// within another, or where the library gives up.
pub(super) fn united(
    vertices: &[[f64; 3]],
    triangles: &[[u32; 3]],
    shells: &Shells,
) -> Option<United> {
    let volumes = shells.volumes(vertices, triangles);
    let place = |shell: u32| {
        let own = shells.triangles(&[shell], triangles);
        BoundingBox::of(own.into_iter().flatten().map(|v| vertices[v as usize]))
    };
    let boxes: Vec<BoundingBox> = (0..shells.len() as u32).map(place).collect();
    let bodies = bodies(&volumes, &boxes, shells);
    let outer: Vec<BoundingBox> = bodies.iter().map(|own| boxes[own[0] as usize]).collect();
    let pairs = (0..outer.len()).flat_map(|i| (0..i).map(move |j| [i, j]));
    let near: Vec<[usize; 2]> = pairs.filter(|&[i, j]| outer[i].meets(&outer[j])).collect();
    if near.is_empty() {
        return None;
    }

    let bodies: Vec<Manifold> = bodies
        .iter()
        .map(|own| body(vertices, &shells.triangles(own, triangles)))
        .collect::<Option<_>>()?;
    if near.iter().any(|&[i, j]| is_within(&bodies[i], &bodies[j])) {
        return None;
    }
    let volume: f64 = bodies.iter().map(Manifold::volume).sum();
    let n_bodies = bodies.len();
    let one = bodies.into_iter().reduce(|one, other| one.union(&other))?;
    let overlap = 1.0 - one.volume() / volume;
    if one.status() != Error::NoError || overlap < LEAST {
        return None;
    }

    let mesh: Mesh = one.get_mesh_glp(-1);
    let vertices = mesh.vert_properties.chunks_exact(3).map(|x| [x[0], x[1], x[2]]).collect();
    let triangles = mesh.tri_verts.chunks_exact(3).map(|t| [t[0], t[1], t[2]]).collect();
    Some(United { vertices, triangles, n_bodies, overlap })
}

/// Whether one of two bodies lies within the other, and is a cavity by mistake or of no use.
fn is_within(one: &Manifold, other: &Manifold) -> bool {
    let least = one.volume().min(other.volume());
    one.intersection(other).volume() > (1.0 - LEAST) * least
}

/// The body that `triangles` bound, turned outwards.
fn body(vertices: &[[f64; 3]], triangles: &[[u32; 3]]) -> Option<Manifold> {
    let mut used = triangles.as_flattened().to_vec();
    used.sort_unstable();
    used.dedup();
    let number = |v: &u32| used.binary_search(v).expect("a vertex that is used") as u32;
    let is_inside_out = volume(vertices, triangles) < 0.0;
    let turned = |&[a, b, c]: &[u32; 3]| if is_inside_out { [a, c, b] } else { [a, b, c] };
    let mesh = Mesh {
        num_prop: 3,
        vert_properties: used.iter().flat_map(|&v| vertices[v as usize]).collect(),
        tri_verts: triangles.iter().flat_map(turned).map(|v| number(&v)).collect(),
        ..Mesh::default()
    };
    let body = Manifold::from_mesh_glp(&mesh);
    (body.status() == Error::NoError).then_some(body)
}

/// Innermost body around a cavity.
fn owner(
    cavity: u32,
    boxes: &[BoundingBox],
    shells: &Shells,
    is_body: impl Fn(u32) -> bool,
) -> Option<u32> {
    let BoundingBox { min, max } = boxes[cavity as usize];
    let holds = |shell: u32, x: [f64; 3]| boxes[shell as usize].squared_distance(x) == 0.0;
    let is_outer = |&shell: &u32| is_body(shell) && [min, max].iter().all(|x| holds(shell, *x));
    let outer = shells.around(cavity).iter().copied().filter(is_outer);
    outer.max_by_key(|&shell| shells.around(shell).len())
}

/// Shells of each body: one that is turned as the largest is, and the cavities right within it.
fn bodies(volumes: &[f64], boxes: &[BoundingBox], shells: &Shells) -> Vec<Vec<u32>> {
    let largest = volumes.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs()));
    let is_body = |shell: u32| volumes[shell as usize] * largest.unwrap_or_default() > 0.0;
    let all = || 0..volumes.len() as u32;
    let owner = |cavity: u32| owner(cavity, boxes, shells, is_body);
    let of_body = |outer: u32| {
        let cavities = all().filter(|&shell| !is_body(shell) && owner(shell) == Some(outer));
        std::iter::once(outer).chain(cavities).collect()
    };
    all().filter(|&shell| is_body(shell)).map(of_body).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Appends a box, turned inside out where `is_cavity` says so.
    fn add(
        (vertices, triangles): &mut (Vec<[f64; 3]>, Vec<[u32; 3]>),
        [low, high]: [[f64; 3]; 2],
        is_cavity: bool,
    ) {
        let first = vertices.len() as u32;
        let corner =
            |v: usize| std::array::from_fn(|k| if v >> k & 1 == 1 { high[k] } else { low[k] });
        vertices.extend((0..8).map(corner));
        let quads =
            [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        for [a, b, c, d] in quads {
            for [a, b, c] in [[a, b, c], [a, c, d]] {
                let turned = if is_cavity { [a, c, b] } else { [a, b, c] };
                triangles.push(turned.map(|v| first + v));
            }
        }
    }

    fn volume_of(boxes: &[([[f64; 3]; 2], bool)]) -> Option<f64> {
        let mut soup = (Vec::new(), Vec::new());
        boxes.iter().for_each(|&(ends, is_cavity)| add(&mut soup, ends, is_cavity));
        let (vertices, triangles) = soup;
        let shells = Shells::of(&vertices, &triangles);
        let united = united(&vertices, &triangles, &shells)?;
        Some(volume(&united.vertices, &united.triangles))
    }

    #[test]
    fn bodies_that_overlap_are_united_and_others_left() {
        let cube = [[0.0; 3], [10.0; 3]];
        let bar = [[5.0, 3.0, 3.0], [20.0, 8.0, 8.0]];
        let hole = [[1.0; 3], [3.0; 3]];
        let near = |volume: Option<f64>, expected: f64| {
            assert!((volume.unwrap() / expected - 1.0).abs() < 1e-9, "{volume:?}");
        };
        near(volume_of(&[(cube, false), (bar, false)]), 1250.0);
        near(volume_of(&[(bar, false), (cube, false), (hole, true)]), 1242.0);
        // Inside out altogether.
        near(volume_of(&[(cube, true), (bar, true)]), 1250.0);

        let apart = [[12.0, 0.0, 0.0], [20.0, 10.0, 10.0]];
        let touching = [[10.0, 2.0, 2.0], [20.0, 8.0, 8.0]];
        let inside = [[2.0; 3], [8.0; 3]];
        for other in [apart, touching, inside] {
            assert_eq!(volume_of(&[(cube, false), (other, false)]), None);
        }
        assert_eq!(volume_of(&[(cube, false), (hole, true)]), None);
    }
}
