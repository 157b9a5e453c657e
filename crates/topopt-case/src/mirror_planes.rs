//! Planes about which a whole problem is symmetric.

use std::collections::BTreeMap;

use topopt_mesh::{Plane, Reflections, balanced_planes};

use crate::case::Case;
use crate::case_loads::CaseLoads;
use crate::config::Config;
use crate::laws::{self, are_images};
use crate::materials;
use crate::physics::Physics;

/// Largest relative difference of values that count as equal: places do within a thousandth of an
/// element, and volumes and loads follow from them.
const ACCURACY: f64 = 3e-3;

/// Returns the planes about which mesh, materials, solid and void elements, supports and loads are
/// symmetric, places within `tolerance` (length), with the element across of each element,
/// `[n_elements]`.
pub(crate) fn find<K: Physics<N>, const N: usize>(
    config: &Config,
    case: &Case<N>,
    volumes: &[f64],
    tolerance: f64,
) -> Vec<Plane> {
    let nodes = Nodes::of(case, tolerance);
    let mut planes = balanced_planes(&case.mesh, volumes, tolerance);
    // Supports and loads are on few nodes, and refuse most planes before elements are paired.
    planes.retain(|plane| nodes.are_held_alike(plane) && nodes.are_loaded_alike(plane));
    if planes.is_empty() {
        return Vec::new();
    }

    let centers = case.mesh.centers();
    let factors = materials::factors::<K, N>(config, case);
    let values = [Some(volumes), factors.stiffness.as_deref(), factors.mass.as_deref()];
    // Of heat there are none.
    let laws = laws::laws(config, &case.materials, volumes.len()).ok().flatten();
    let of_plane = |plane: Plane| {
        let images = plane.paired(&centers, tolerance)?;
        let have_laws = laws.as_ref().is_none_or(|laws| are_images(laws, &plane, &images));
        (have_laws && has_alike_elements(case, &values, &images)).then_some(plane)
    };
    planes.into_iter().filter_map(of_plane).collect()
}

/// Whether elements have the `values` of their images and stay solid and void as they do, and not
/// each is its own image, as in a single layer.
fn has_alike_elements<const N: usize>(
    case: &Case<N>,
    values: &[Option<&[f64]>],
    images: &[u32],
) -> bool {
    values.iter().flatten().all(|values| are_equal(values, images))
        && [&case.solid, &case.void].iter().all(|set| is_own_image(set, images))
        && (0..).zip(images).any(|(element, &image): (u32, _)| element != image)
}

/// Whether elements have the values of their images.
fn are_equal(values: &[f64], images: &[u32]) -> bool {
    let mut pairs = values.iter().zip(images);
    pairs.all(|(&value, &image)| is_near(value, values[image as usize], value))
}

/// Whether a sorted set of elements is that of their images.
fn is_own_image(set: &[u32], images: &[u32]) -> bool {
    let mut mirrored: Vec<u32> = set.iter().map(|&element| images[element as usize]).collect();
    mirrored.sort_unstable();
    mirrored == set
}

/// Nodes that are held or loaded.
struct Nodes<'a, const N: usize> {
    case: &'a Case<N>,
    /// Nodes that are held, sorted, with ones in the directions in which they are.
    held: Vec<(u32, [f64; N])>,
    tolerance: f64,
}

impl<'a, const N: usize> Nodes<'a, N> {
    fn of(case: &'a Case<N>, tolerance: f64) -> Self {
        let mut held: BTreeMap<u32, [f64; N]> = BTreeMap::new();
        for (component, nodes) in case.fixed.iter().enumerate() {
            nodes.iter().for_each(|&node| held.entry(node).or_insert([0.0; N])[component] = 1.0);
        }
        Self { case, held: held.into_iter().collect(), tolerance }
    }

    /// Whether nodes are held, and bedded in springs, as their images are.
    fn are_held_alike(&self, plane: &Plane) -> bool {
        let reflection = std::array::from_fn(|i| image(plane, unit(i)));
        let is_image =
            |own: &_, other: &_, scale| is_image_of_diagonal(&reflection, own, other, scale);
        let mut lists = [&self.held, &self.case.springs].into_iter();
        self.case.films.is_empty()
            && lists.all(|list| self.are_images([list, list], plane, is_image))
    }

    /// Whether every load case is, up to its sign, the image of one of the same weight: compliances
    /// do not know signs.
    fn are_loaded_alike(&self, plane: &Plane) -> bool {
        let cases = &self.case.load_cases;
        cases.iter().all(|load| {
            let is_image = |other, sign| self.is_image_of_load([load, other], sign, plane);
            cases.iter().any(|other| is_image(other, 1.0) || is_image(other, -1.0))
        })
    }

    /// Whether the second load case is `sign` times the image of the first.
    fn is_image_of_load(
        &self,
        [load, other]: [&CaseLoads<N>; 2],
        sign: f64,
        plane: &Plane,
    ) -> bool {
        let is_image = |own: &[f64; N], other: &[f64; N], scale: f64| {
            let mirrored = image(plane, own.map(|x| sign * x));
            (0..N).all(|i| is_near(mirrored[i], other[i], scale))
        };
        load.weight == other.weight
            && self.are_images([&load.forces, &other.forces], plane, is_image)
    }

    /// Whether the nodes of the first list lie across those of the second, with values that
    /// `is_image` accepts, given the largest number of the list.
    fn are_images(
        &self,
        [list, others]: [&[(u32, [f64; N])]; 2],
        plane: &Plane,
        is_image: impl Fn(&[f64; N], &[f64; N], f64) -> bool,
    ) -> bool {
        if list.len() != others.len() || list.is_empty() {
            return list.len() == others.len();
        }
        let coordinates = self.case.mesh.coordinates();
        let [places, other_places] = [list, others].map(|list| -> Vec<[f64; 3]> {
            list.iter().map(|(node, _)| coordinates[*node as usize]).collect()
        });

        let all = list.iter().flat_map(|(_, value)| value);
        let scale = all.fold(0.0_f64, |largest, x| largest.max(x.abs()));
        let across = Reflections::new(&other_places, self.tolerance).images(&places, plane);
        let mut pairs = list.iter().zip(across);
        pairs.all(|((_, value), across)| {
            across.is_some_and(|other| is_image(value, &others[other as usize].1, scale))
        })
    }
}

/// Whether the diagonal D of `other`, of springs or of ones in the directions that are held, is
/// R D R of its `own`, with the rows of R of the plane.
fn is_image_of_diagonal<const N: usize>(
    r: &[[f64; N]; N],
    own: &[f64; N],
    other: &[f64; N],
    scale: f64,
) -> bool {
    let mut entries = (0..N).flat_map(|i| (0..N).map(move |j| (i, j)));
    entries.all(|(i, j)| {
        let mirrored = (0..N).map(|k| r[i][k] * own[k] * r[j][k]).sum();
        is_near(mirrored, if i == j { other[i] } else { 0.0 }, scale)
    })
}

/// Whether two numbers are equal, within a share of `scale`.
fn is_near(a: f64, b: f64, scale: f64) -> bool {
    (a - b).abs() <= ACCURACY * scale.abs()
}

/// Unit vector of a component.
fn unit<const N: usize>(component: usize) -> [f64; N] {
    std::array::from_fn(|i| f64::from(u8::from(i == component)))
}

/// Returns the image of what a node has: of a vector, or of a temperature, which has no direction.
fn image<const N: usize>(plane: &Plane, value: [f64; N]) -> [f64; N] {
    match <[f64; 3]>::try_from(&value[..]) {
        Ok(vector) => {
            let image = plane.image_of_vector(vector);
            std::array::from_fn(|i| image[i])
        }
        Err(_) => value,
    }
}
