//! Laws of elasticity of the elements of a case.

use topopt_fem::Law;
use topopt_fem::stiffness_tensor::turned;
use topopt_mesh::Plane;

use crate::config::Config;
use crate::finding::Finding;

/// Laws, and the number of the law of each element, if it has one.
pub type ElementLaws = (Vec<Law>, Vec<Option<u32>>);

/// Returns the laws of the elements of a mesh, of those in the sets `materials` and of all others;
/// none where all have that of the kernel.
///
/// # Errors
/// A finding for constants of no material.
pub fn laws(
    config: &Config,
    materials: &[Vec<u32>],
    n_elements: usize,
) -> Result<Option<ElementLaws>, Finding> {
    let (of_all, of_sets) = config.elastic_laws()?;
    let mut laws = Vec::new();
    let mut numbered = |law: Option<Law>| {
        laws.push(law?);
        Some(laws.len() as u32 - 1)
    };
    let mut numbers = vec![numbered(of_all); n_elements];
    for (law, elements) in of_sets.into_iter().zip(materials) {
        let number = numbered(law);
        elements.iter().for_each(|&e| numbers[e as usize] = number);
    }
    Ok((!laws.is_empty()).then_some((laws, numbers)))
}

/// Largest relative difference of entries of laws that count as equal.
const ACCURACY: f64 = 1e-6;

/// Whether the laws of elements are the images of those of the elements across a plane.
pub fn are_images((laws, numbers): &ElementLaws, plane: &Plane, images: &[u32]) -> bool {
    let pairs = numbers.iter().zip(images).map(|(&own, &image)| (own, numbers[image as usize]));
    let mut pairs: Vec<_> = pairs.collect();
    pairs.sort_unstable();
    pairs.dedup();
    let law = |number: Option<u32>| number.map(|number| &laws[number as usize]);
    pairs.into_iter().all(|(own, other)| match (law(own), law(other)) {
        (Some(Law::Anisotropic(own)), Some(Law::Anisotropic(other))) => {
            let n = plane.normal;
            let mirror = std::array::from_fn(|i| {
                std::array::from_fn(|j| f64::from(u8::from(i == j)) - 2.0 * n[i] * n[j])
            });
            let image = turned(own, &mirror);
            let mut entries = image.as_flattened().iter().zip(other.as_flattened());
            let scale = other.as_flattened().iter().fold(0.0_f64, |most, d| most.max(d.abs()));
            entries.all(|(a, b)| (a - b).abs() < ACCURACY * scale)
        }
        (own, other) => own == other,
    })
}
