//! Elements that are mirror images of each other.

use rayon::prelude::*;
use rstar::RTree;
use rstar::primitives::GeomWithData;

use crate::HexMesh;
use crate::vector::{difference, dot, length};

/// Returns the element whose center is the mirror image of that of each element, `[n_elements]`, in
/// the plane through `point` with the unit `normal`.
///
/// # Errors
/// The first element whose image is farther than `tolerance` from every center, and that image.
pub fn mirrored_elements(
    mesh: &HexMesh,
    point: [f64; 3],
    normal: [f64; 3],
    tolerance: f64,
) -> Result<Vec<u32>, (u32, [f64; 3])> {
    let centers = mesh.centers();
    let places = centers.iter().zip(0..).map(|(&center, e)| GeomWithData::new(center, e));
    let tree = RTree::bulk_load(places.collect());
    let image = |center: &[f64; 3]| {
        let distance = dot(difference(*center, point), normal);
        std::array::from_fn(|i| center[i] - 2.0 * distance * normal[i])
    };
    let counterpart = |center: &[f64; 3]| {
        let image = image(center);
        let nearest = tree.nearest_neighbor(image)?;
        (length(difference(*nearest.geom(), image)) <= tolerance).then_some(nearest.data)
    };

    let found: Vec<Option<u32>> = centers.par_iter().map(counterpart).collect();
    match found.iter().position(Option::is_none) {
        Some(element) => Err((element as u32, image(&centers[element]))),
        None => Ok(found.into_iter().flatten().collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Benchmark, Resolution};

    #[test]
    fn images_lie_across_the_plane() {
        let mesh = Benchmark::Cantilever.generate(Resolution::Elements(250)).unwrap();
        let bounds = mesh.bounding_box();
        let middle: [f64; 3] = std::array::from_fn(|i| (bounds.min[i] + bounds.max[i]) / 2.0);
        let across = mirrored_elements(&mesh, middle, [0.0, 1.0, 0.0], 1e-9).unwrap();
        for (element, &image) in across.iter().enumerate() {
            let [[x, y, z], [u, v, w]] = [element, image as usize].map(|e| mesh.center(e));
            assert!((x - u).abs() < 1e-9 && (z - w).abs() < 1e-9);
            assert!((y + v - 2.0 * middle[1]).abs() < 1e-9);
            assert_eq!(across[image as usize] as usize, element);
        }

        let aside = [middle[0], middle[1] + 0.1, middle[2]];
        let (element, image) = mirrored_elements(&mesh, aside, [0.0, 1.0, 0.0], 1e-9).unwrap_err();
        let expected = 2.0 * aside[1] - mesh.center(element as usize)[1];
        assert!((image[1] - expected).abs() < 1e-9);
    }
}
