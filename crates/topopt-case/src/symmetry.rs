//! Elements that share a design variable because the design is symmetric.

use topopt_mesh::numbers::place;
use topopt_mesh::vector::length;
use topopt_mesh::{Plane, Reflections, Renumbering};

use crate::case::Case;
use crate::config::{Config, Manufacturing};
use crate::finding::Finding;
use crate::mirror_planes;
use crate::physics::Physics;

/// Share of the mean element width within which centers of elements mirror each other.
const TOLERANCE: f64 = 1e-3;

/// Design variable of each element in the order of the problem, `[n_elements]`; none for a case
/// without planes of symmetry. Elements that any sequence of reflections joins share a variable.
/// Planes are found only where the user gives none, and `notes` name them.
///
/// # Errors
/// A finding about a normal of length zero, or an element without a mirror image.
pub(crate) fn variables<K: Physics<N>, const N: usize>(
    config: &Config,
    case: &Case<N>,
    renumbering: &Renumbering,
    (volumes, element_width): (&[f64], f64),
    notes: &mut Vec<String>,
) -> Result<Option<Vec<u32>>, Finding> {
    let tolerance = TOLERANCE * element_width;
    let images = if !config.manufacturing.is_empty() {
        let centers = Reflections::new(case.mesh.centers(), tolerance);
        let planes = config.manufacturing.iter();
        let mirrored = planes.map(|plane| mirrored(config, case, plane, &centers));
        mirrored.collect::<Result<Vec<_>, Finding>>()?
    } else if config.design.keep_symmetry == Some(true) {
        let found = mirror_planes::find::<K, N>(config, case, volumes, tolerance);
        notes.extend(found.iter().map(|(plane, _)| told(plane)));
        found.into_iter().map(|(_, images)| images).collect()
    } else {
        Vec::new()
    };
    if images.is_empty() {
        return Ok(None);
    }
    let first = first_of_orbits(&images, case.mesh.n_elements());

    // Counted in the order of the problem, variables are near each other where their elements are.
    let first = renumbering.elements_from_original(&first);
    let mut number = vec![u32::MAX; first.len()];
    let mut n_variables = 0;
    let variable_of = first.into_iter().map(|first| {
        let number = &mut number[first as usize];
        if *number == u32::MAX {
            *number = n_variables;
            n_variables += 1;
        }
        *number
    });
    Ok(Some(variable_of.collect()))
}

/// Returns the solid and the void elements, sorted, with the images of both: an element that shares
/// its variable with a solid or void one stays so too, unless it is the other of both itself.
///
/// # Errors
/// A finding if nothing remains to be designed.
pub(crate) fn with_images(
    config: &Config,
    variable_of: &[u32],
    [solid, void]: [Vec<u32>; 2],
) -> Result<[Vec<u32>; 2], Finding> {
    let mut own = vec![Kind::Designed; variable_of.len()];
    let mut shared = own.clone();
    for (kind, elements) in [(Kind::Void, void), (Kind::Solid, solid)] {
        for element in elements {
            own[element as usize] = kind;
            shared[variable_of[element as usize] as usize] = kind;
        }
    }

    let mut of_kinds = [Vec::new(), Vec::new()];
    for (element, &variable) in variable_of.iter().enumerate() {
        match (own[element], shared[variable as usize]) {
            (Kind::Solid, _) | (Kind::Designed, Kind::Solid) => of_kinds[0].push(element as u32),
            (Kind::Void, _) | (Kind::Designed, Kind::Void) => of_kinds[1].push(element as u32),
            (Kind::Designed, Kind::Designed) => {}
        }
    }
    if of_kinds.iter().map(Vec::len).sum::<usize>() < variable_of.len() {
        return Ok(of_kinds);
    }

    let message = "with the images of solid and void elements nothing remains to be designed";
    let finding = Finding::new(message);
    let plane = config.manufacturing[0].normal.span();
    let finding = finding.at(config.source(), plane, "across this plane");
    Err(finding.remedy("make a set of `design.solid` or `design.void` smaller"))
}

/// Whether an element is designed.
#[derive(Clone, Copy)]
enum Kind {
    Designed,
    Solid,
    Void,
}

/// Returns the element across `plane` of each element, `[n_elements]`.
fn mirrored<const N: usize>(
    config: &Config,
    case: &Case<N>,
    plane: &Manufacturing,
    centers: &Reflections,
) -> Result<Vec<u32>, Finding> {
    let (normal, span) = (*plane.normal.get_ref(), plane.normal.span());
    let long = length(normal);
    if !(long > 0.0 && long.is_finite()) {
        let finding = Finding::new("the normal of a plane of symmetry has no direction");
        let finding = finding.at(config.source(), span, "of length zero");
        return Err(finding.remedy("give the direction across the plane, such as [0, 1, 0]"));
    }

    let normal = normal.map(|x| x / long);
    let plane = Plane { point: plane.point, normal };
    centers.mirrored(&plane).map_err(|(element, image)| {
        let message = format!(
            "the mesh is not symmetric about this plane: element {} at {} has no counterpart at {}",
            case.element_number(element),
            place(case.mesh.center(element as usize)),
            place(image)
        );
        let finding = Finding::new(message).at(config.source(), span, "across this plane");
        finding.remedy("move the plane by `point` and `normal`, or mesh the part symmetrically")
    })
}

/// Returns the sentence about a plane that was found.
fn told(plane: &Plane) -> String {
    format!(
        "the problem is symmetric about the plane through {} across {}, and so is the design; \
         `design.keep_symmetry = false` leaves it free",
        place(plane.point),
        place(plane.normal)
    )
}

/// Returns the first element of the orbit of each element under several `images`.
fn first_of_orbits(images: &[Vec<u32>], n_elements: usize) -> Vec<u32> {
    let mut first: Vec<u32> = (0..n_elements as u32).collect();
    let mut has_changed = true;
    while has_changed {
        has_changed = false;
        for (element, &image) in images.iter().flat_map(|images| images.iter().enumerate()) {
            let least = first[element].min(first[image as usize]);
            has_changed |= first[element] != least || first[image as usize] != least;
            (first[element], first[image as usize]) = (least, least);
        }
    }
    first
}
