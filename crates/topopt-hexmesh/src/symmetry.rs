//! Half, a quarter or an eighth of a part with mirror planes, and the whole mesh of its mesh.

use topopt_mesh::hexahedron::FACES;
use topopt_mesh::{Face, Plane};

use crate::clip::clipped;
use crate::meshed::{Meshed, NumberedFace};
use crate::mirror::{Mirror, mirrors};
use crate::report::Report;
use crate::sizes::Field;
use crate::surface::{Surface, Vec3};
use crate::turn::{SAME, axes};

/// Corner across each axis of a hexahedron, by the bits in which its number differs.
const FLIPS: [usize; 3] = [1, 3, 4];
/// Distance, in cells, from a mirror plane within which vertices are moved into it.
const SNAP: f64 = 1e-5;

/// Part with mirror planes, or without any.
pub(crate) struct Symmetry {
    /// Surface of one side of all planes, closed by a cap in each.
    pub part: Surface,
    /// Whether a plane lies oblique to the grid of the whole.
    pub is_oblique: bool,
    /// The planes, with the face number of the cap in each.
    mirrors: Vec<(Mirror, u32)>,
    /// Volume of the whole.
    volume: f64,
    /// Volume of each body of the whole.
    volumes: Vec<f64>,
    /// Number of faces between bodies of the whole.
    n_interfaces: usize,
}

impl Symmetry {
    /// Finds the mirror planes of `surface` as seen by elements of `size`: all, if some lie oblique
    /// to the grid of the whole; then those along it, together and alone; at last none.
    pub fn ways(surface: &Surface, size: f64) -> Vec<Self> {
        let found = mirrors(surface, size);
        let axes = axes(surface);
        let is_along = |mirror: &Mirror| {
            let along = |n| Vec3::from(mirror.plane.normal).dot(&n).abs() > SAME;
            axes.column_iter().any(|n| along(n.into_owned()))
        };
        let along: Vec<Mirror> = found.iter().filter(|mirror| is_along(mirror)).cloned().collect();
        let of = |planes: &[Mirror]| Self::new(surface, planes, size);
        let mut ways = Vec::new();
        if along.len() < found.len() {
            ways.push(Self { is_oblique: true, ..of(&found) });
        }
        if along.len() > 1 {
            ways.push(of(&along));
        }
        ways.extend(along.chunks(1).map(of));
        ways.push(of(&[]));
        ways
    }

    /// Cuts `surface` along planes, but not where the cut is no set of polygons.
    fn new(surface: &Surface, mirrors: &[Mirror], size: f64) -> Self {
        let mut own = Self {
            part: surface.clone(),
            is_oblique: false,
            mirrors: Vec::new(),
            volume: surface.volume(),
            volumes: surface.volumes(),
            n_interfaces: surface.n_interfaces(),
        };
        let mut cap = surface.faces.iter().max().copied().unwrap_or_default();
        for mirror in mirrors {
            cap = cap.wrapping_add(1);
            if let Some(part) = clipped(&own.part, &mirror.plane, cap, SNAP * size) {
                own.part = part;
                own.mirrors.push((mirror.clone(), cap));
            }
        }
        own
    }

    /// Sizes on all sides of the planes, brought to each.
    pub fn with_images(&self, field: &Field) -> Field {
        let planes = self.mirrors.iter().map(|(mirror, _)| &mirror.plane);
        planes.fold(field.clone(), |field, plane| field.mirrored(plane))
    }

    /// Whether places of smaller elements mirror themselves about all planes.
    pub fn is_even(&self, field: &Field) -> bool {
        self.mirrors.iter().all(|(mirror, _)| field.is_even(&mirror.plane))
    }

    /// Number of images that make the whole.
    pub fn images(&self) -> usize {
        1 << self.mirrors.len()
    }

    /// Planes and what failed, in words.
    pub fn shown(&self, fault: &str) -> String {
        match self.mirrors.len() {
            0 => fault.to_owned(),
            1 => format!("as a half and its image: {fault}"),
            count => format!("as a part and its images in {count} planes: {fault}"),
        }
    }

    /// The whole mesh: what was `meshed` of the part, and its images.
    pub fn whole(&self, meshed: Meshed) -> Meshed {
        let mut whole = meshed;
        for (mirror, cap) in self.mirrors.iter().rev() {
            whole = with_image(whole, mirror, *cap);
        }
        let mirrors = self.mirrors.iter().map(|(mirror, _)| mirror.plane).collect();
        let images = self.images() as f64;
        let own = self.volumes.iter().zip(&whole.report.volumes);
        let volumes = own.map(|(exact, [_, meshed])| [*exact, images * meshed]).collect();
        let report = Report {
            mirrors,
            part_volume: self.volume,
            mesh_volume: images * whole.report.mesh_volume,
            volumes,
            n_interfaces: self.n_interfaces,
            refinement: whole.report.refinement.map(|own| own.of_images(self.images())),
            ..whole.report
        };
        Meshed { report, ..whole }
    }
}

/// Joins a mesh with its image across the cap.
fn with_image(meshed: Meshed, mirror: &Mirror, cap: u32) -> Meshed {
    let Meshed { mut points, mut hexes, mut bodies, faces, report } = meshed;
    let (in_cap, mut faces): (Vec<NumberedFace>, Vec<NumberedFace>) =
        faces.into_iter().partition(|face| face.number == cap);
    let mut images: Vec<u32> = vec![u32::MAX; points.len()];
    for face in in_cap {
        for v in FACES[face.face.local as usize].map(|a| hexes[face.face.element as usize][a]) {
            images[v as usize] = v;
        }
    }
    for (v, image) in images.iter_mut().enumerate() {
        if *image == u32::MAX {
            *image = points.len() as u32;
            points.push(mirror.plane.image(points[v]));
        } else {
            points[v] = onto(&mirror.plane, points[v]);
        }
    }

    let n_hexes = hexes.len();
    let axes: Vec<usize> = hexes.iter().map(|hex| axis(&points, hex, &mirror.plane)).collect();
    for (element, &axis) in axes.iter().enumerate() {
        let across = |a: usize| images[hexes[element][a ^ FLIPS[axis]] as usize];
        hexes.push(std::array::from_fn(across));
    }
    bodies.extend_from_within(..);
    for at in 0..faces.len() {
        let NumberedFace { face, number } = faces[at];
        let is_across = usize::from(face.local) / 2 == axes[face.element as usize];
        let face = Face {
            element: face.element + n_hexes as u32,
            local: face.local ^ u8::from(is_across),
        };
        let number = mirror.images.get(&number).copied().unwrap_or(number);
        faces.push(NumberedFace { face, number });
    }
    Meshed { points, hexes, bodies, faces, report }
}

/// Foot of a point in a plane.
fn onto(plane: &Plane, point: [f64; 3]) -> [f64; 3] {
    let (x, normal) = (Vec3::from(point), Vec3::from(plane.normal));
    (x - normal * (x - Vec3::from(plane.point)).dot(&normal)).into()
}

/// Axis of a hexahedron that is nearest to the normal of a plane. Flipped along it, the image of a
/// cell of the grid is a cell with the same order of corners.
fn axis(points: &[[f64; 3]], hex: &[u32; 8], plane: &Plane) -> usize {
    let at = |a: usize| Vec3::from(points[hex[a] as usize]);
    let along = FLIPS.map(|flip| {
        let edge = at(6) - at(6 ^ flip) + at(flip) - at(0);
        edge.normalize().dot(&Vec3::from(plane.normal)).abs()
    });
    (0..3).fold(0, |best, k| if along[k] > along[best] { k } else { best })
}
