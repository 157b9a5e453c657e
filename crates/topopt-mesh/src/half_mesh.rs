//! Halves, quarters and eighths of meshes that mirror themselves about planes across the axes.

use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;

use crate::{HexMesh, Part, Plane};

/// Distance within which nodes are at the images of others, as a share of the mean element width:
/// what a solve makes of it is below its own rounding.
const TOLERANCE: f64 = 1e-9;

/// A plane across an axis, about which a mesh mirrors itself with all of its elements, none of
/// which lies on both sides.
#[derive(Debug, Clone, PartialEq)]
pub struct Mirror {
    /// The plane.
    pub plane: Plane,
    /// Axis across which it lies, 0 to 2.
    pub axis: usize,
    /// Image of each node, `[n_nodes]`.
    pub nodes: Vec<u32>,
    /// Image of each element, `[n_elements]`.
    pub elements: Vec<u32>,
    /// Distance from the plane within which a node lies in it.
    tolerance: f64,
}

impl Mirror {
    /// Finds the mirror of `mesh`, whose mean element width is `width`, in each of `planes`; none
    /// where it does not mirror itself there, or the plane is askew.
    pub fn of(mesh: &HexMesh, width: f64, planes: &[Plane]) -> Vec<Option<Self>> {
        let tolerance = TOLERANCE * width;
        let centers = mesh.centers();
        planes.iter().map(|plane| Self::in_plane(mesh, &centers, *plane, tolerance)).collect()
    }

    /// The mirror of `mesh`, whose elements have these `centers`, in `plane`.
    fn in_plane(
        mesh: &HexMesh,
        centers: &[[f64; 3]],
        plane: Plane,
        tolerance: f64,
    ) -> Option<Self> {
        let axis = plane.axis()?;
        let nodes = plane.paired(mesh.coordinates(), tolerance)?;
        let elements = plane.paired(centers, tolerance)?;
        let mirror = Self { plane, axis, nodes, elements, tolerance };
        mirror.maps(mesh).then_some(mirror)
    }

    /// Distance of `node` from the plane, signed; 0 in it.
    fn height(&self, mesh: &HexMesh, node: u32) -> f64 {
        let height = mesh.coordinates()[node as usize][self.axis] - self.plane.point[self.axis];
        if height.abs() <= self.tolerance { 0.0 } else { height }
    }

    /// Whether images of images are the nodes themselves, and elements have the nodes of their
    /// images, each as often, and lie on one side.
    fn maps(&self, mesh: &HexMesh) -> bool {
        let image = |node: u32| self.nodes[node as usize];
        let all = (0..mesh.n_nodes() as u32).into_par_iter();
        let is_paired = |node: u32| {
            let is_own = image(node) == node;
            image(image(node)) == node && is_own == (self.height(mesh, node) == 0.0)
        };
        let elements = mesh.par_elements().enumerate();
        all.all(is_paired) && elements.all(|(e, nodes)| self.maps_element(mesh, e, nodes))
    }

    fn maps_element(&self, mesh: &HexMesh, e: usize, nodes: &[u32]) -> bool {
        let other = self.elements[e] as usize;
        let sides = || nodes.iter().map(|&node| self.height(mesh, node));
        let is_aside = sides().all(|side| side >= 0.0) || sides().all(|side| side <= 0.0);
        let mut mirrored: Vec<u32> = nodes.iter().map(|&node| self.nodes[node as usize]).collect();
        let mut theirs = mesh.element(other).to_vec();
        mirrored.sort_unstable();
        theirs.sort_unstable();
        is_aside && other != e && mirrored == theirs
    }
}

/// Number of a node that is not there.
const NONE: u32 = u32::MAX;

/// The elements of a mesh on the upper side of each of some planes: a half of it, a quarter or an
/// eighth.
#[derive(Debug, Clone)]
pub struct HalfMesh {
    /// These elements with their nodes, both in the order of the whole mesh; it owns all of them.
    pub part: Part,
    /// Node of the part that a node is an image of, `[n_nodes]`.
    pub node_of: Vec<u32>,
    /// Axes along which the images of vectors have the other sign, a bit each, `[n_nodes]`.
    pub flips: Vec<u8>,
    /// Axes across which a node of the part lies in a plane, a bit each, `[nodes of the part]`.
    pub in_planes: Vec<u8>,
}

impl HalfMesh {
    /// Cuts `mesh` along `mirrors` of different axes. None where it has nodes without elements.
    pub fn of(mesh: &HexMesh, mirrors: &[Mirror]) -> Option<Self> {
        let is_above = |nodes: &[u32]| {
            let mut all = mirrors.iter().flat_map(|mirror| nodes.iter().map(move |n| (mirror, *n)));
            all.all(|(mirror, node)| mirror.height(mesh, node) >= 0.0)
        };
        let elements = mesh.par_elements().enumerate();
        let elements = elements.filter(|(_, nodes)| is_above(nodes)).map(|(e, _)| e as u32);
        let elements: Vec<u32> = elements.collect();

        let (nodes, local) = numbered(mesh, &elements);
        let of_part = elements.par_iter().flat_map_iter(|&e| mesh.element(e as usize));
        let connectivity = of_part.map(|&node| local[node as usize]).collect();
        let coordinates = nodes.par_iter().map(|&node| mesh.coordinates()[node as usize]).collect();
        let in_planes = nodes.par_iter().map(|&node| {
            let there = mirrors.iter().filter(|mirror| mirror.height(mesh, node) == 0.0);
            there.fold(0, |bits, mirror| bits | 1 << mirror.axis)
        });
        let in_planes = in_planes.collect();
        let all = (0..mesh.n_nodes() as u32).into_par_iter();
        let images = all.map(|node| image_above(mesh, mirrors, node));
        let (node_of, flips): (Vec<u32>, Vec<u8>) =
            images.map(|(node, flips)| (local[node as usize], flips)).unzip();
        if node_of.par_iter().any(|&node| node == NONE) {
            return None;
        }

        let part = Part {
            mesh: mesh.part_of(coordinates, connectivity),
            n_own_elements: elements.len(),
            elements,
            n_own_nodes: nodes.len(),
            nodes,
            neighbors: Vec::new(),
        };
        Some(Self { part, node_of, flips, in_planes })
    }
}

/// Returns the nodes of `elements`, increasing, and the number of each node of `mesh` among them,
/// [`NONE`] where it is not there.
fn numbered(mesh: &HexMesh, elements: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let all = || (0..mesh.n_nodes() as u32).into_par_iter();
    let numbers: Vec<AtomicU32> = all().map(|_| NONE.into()).collect();
    let set = |node: u32, number| numbers[node as usize].store(number, Ordering::Relaxed);
    let of_elements = elements.par_iter().flat_map_iter(|&e| mesh.element(e as usize));
    of_elements.for_each(|&node| set(node, 0));
    let is_there = |&node: &u32| numbers[node as usize].load(Ordering::Relaxed) == 0;
    let nodes: Vec<u32> = all().filter(is_there).collect();
    nodes.par_iter().zip(0..nodes.len() as u32).for_each(|(&node, number)| set(node, number));
    (nodes, numbers.into_par_iter().map(AtomicU32::into_inner).collect())
}

/// Returns the image of a node above all planes, and the axes along which it was mirrored.
fn image_above(mesh: &HexMesh, mirrors: &[Mirror], node: u32) -> (u32, u8) {
    let below = |(node, flips), mirror: &Mirror| match mirror.height(mesh, node) < 0.0 {
        true => (mirror.nodes[node as usize], flips | 1 << mirror.axis),
        false => (node, flips),
    };
    mirrors.iter().fold((node, 0), below)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Renumbering;
    use crate::generate::{Benchmark, Resolution};

    fn planes(mesh: &HexMesh) -> [Plane; 3] {
        let bounds = mesh.bounding_box();
        let point = std::array::from_fn(|i| (bounds.min[i] + bounds.max[i]) / 2.0);
        let normal = |axis| std::array::from_fn(|i| if i == axis { -1.0 } else { 0.0 });
        [0, 1, 2].map(|axis| Plane { point, normal: normal(axis) })
    }

    /// Whether there is a mirror in each of `planes`.
    fn found(mesh: &HexMesh, planes: &[Plane]) -> Vec<bool> {
        Mirror::of(mesh, 1.0, planes).iter().map(Option::is_some).collect()
    }

    #[test]
    fn an_eighth_has_an_eighth_of_the_elements_and_unfolds_to_all_nodes() {
        let mesh = Benchmark::Cantilever.generate(Resolution::Elements(2000)).unwrap();
        let planes = planes(&mesh);
        let mirrors: Vec<_> = Mirror::of(&mesh, 1.0, &planes).into_iter().flatten().collect();
        assert_eq!(mirrors.len(), 3);
        let half = HalfMesh::of(&mesh, &mirrors).unwrap();
        assert_eq!(8 * half.part.elements.len(), mesh.n_elements());
        for (node, x) in mesh.coordinates().iter().enumerate() {
            let mut image = half.part.mesh.coordinates()[half.node_of[node] as usize];
            for (axis, plane) in planes.iter().enumerate() {
                if half.flips[node] & (1 << axis) != 0 {
                    image = plane.image(image);
                }
            }
            assert!((0..3).all(|i| (image[i] - x[i]).abs() < 1e-12));
        }
        let in_all = half.in_planes.iter().filter(|&&bits| bits == 7).count();
        assert_eq!(in_all, 1);
    }

    /// The mesh with a second node in the place of one, for one of its elements.
    fn cracked(mesh: &HexMesh, plane: Plane, on_plane: bool) -> HexMesh {
        let (mut nodes, mut hexes) = (mesh.coordinates().to_vec(), mesh.hexes().to_vec());
        let is_on_plane = |x: &[f64; 3]| plane.distance(*x) == 0.0;
        let first = nodes.iter().position(|x| is_on_plane(x) == on_plane).unwrap();
        let mut all = hexes.as_flattened_mut().iter_mut();
        *all.find(|node| **node as usize == first).unwrap() = nodes.len() as u32;
        nodes.push(nodes[first]);
        HexMesh::new(nodes, hexes, Default::default()).unwrap()
    }

    /// A crack in the plane has two nodes in each place of it, which are no images of each other.
    #[test]
    fn cracked_meshes_and_nodes_in_the_same_place_have_no_half() {
        let mesh = Benchmark::Cantilever.generate(Resolution::Elements(2000)).unwrap();
        let mesh = Renumbering::shuffled(&mesh, 1).apply(&mesh);
        let [plane, ..] = planes(&mesh);
        let mirror = Mirror::of(&mesh, 1.0, &[plane]).remove(0).unwrap();
        for (node, &image) in mirror.nodes.iter().enumerate() {
            let [x, image] = [node, image as usize].map(|node| mesh.coordinates()[node]);
            assert_eq!(plane.image(x), image);
        }

        for on_plane in [true, false] {
            assert_eq!(found(&cracked(&mesh, plane, on_plane), &[plane]), [false]);
        }
    }

    /// Five elements across have one that the plane cuts; a node that is moved has no image.
    #[test]
    fn planes_through_elements_and_meshes_that_do_not_mirror_themselves_have_no_half() {
        let odd = Benchmark::Cantilever.generate(Resolution::Elements(250)).unwrap();
        assert_eq!(found(&odd, &planes(&odd)), [true, false, false]);

        let even = Benchmark::Cantilever.generate(Resolution::Elements(2000)).unwrap();
        let mut nodes = even.coordinates().to_vec();
        nodes[7][0] += 1e-6;
        let moved = HexMesh::new(nodes, even.hexes().to_vec(), Default::default()).unwrap();
        assert_eq!(found(&moved, &planes(&even)), [false; 3]);
        let askew = Plane { point: [0.0; 3], normal: [0.6, 0.8, 0.0] };
        assert_eq!(found(&even, &[askew]), [false]);
    }
}
