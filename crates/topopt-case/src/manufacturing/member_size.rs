//! Members and gaps of a least width, and members of a largest one.

use rayon::prelude::*;
use topopt_design::{DesignSpace, Sizes, depth_of, share_behind, share_in_plate, whole_sum};
use topopt_fem::Problem;
use topopt_mesh::numbers::shown;
use topopt_mesh::vector::{difference, dot};
use topopt_mesh::{BoundingBox, CellList, HexMesh};

use super::kind::{self, Asked, Key, ManufacturingKind};
use super::made::Made;
use crate::config::{Config, Continuation, FilterKind, FilterWeights, Manufacturing, Shape};
use crate::filter_plan::FilterPlan;
use crate::finding::Finding;
use crate::physics::Physics;

/// The kind `member_size`.
pub(super) const MEMBER_SIZE: ManufacturingKind = ManufacturingKind {
    name: kind::MEMBER_SIZE,
    text: "Members, or gaps between them, have a least width, of three elements at least, or members \
           a largest one. It needs the density filter with the weights `cone`, whose radius may be \
           left out beside a least width.",
    keys: &[
        Key::optional("minimum", Shape::Positive, "Least width of members (length)."),
        Key::optional("gap", Shape::Positive, "Least width of gaps between members (length)."),
        Key::optional("maximum", Shape::Positive, "Largest width of members (length)."),
    ],
    has_passive_images: false,
    has_ends: false,
    must_join: None,
    follows: false,
    suits,
    pose: |asked| fit(asked).map(|()| Vec::new()),
    measure: kind::no_measure,
};

/// Names of the keys of least widths, and of the largest one.
const LENGTHS: [&str; 2] = ["minimum", "gap"];
const MAXIMUM: &str = "maximum";

/// Radius of the filter where none is given, as a multiple of the largest least width.
const RADIUS: f64 = 1.0;

/// Least number of elements in a least width.
const ELEMENTS: f64 = 3.0;

fn entries(config: &Config) -> impl Iterator<Item = &Manufacturing> {
    config.manufacturing.iter().filter(|entry| entry.kind.get_ref() == MEMBER_SIZE.name)
}

fn suits(config: &Config, entry: &Manufacturing) -> Option<[&'static str; 3]> {
    if entries(config).count() > 1 {
        return Some([
            "widths of members are asked for twice",
            "one of several",
            "give all widths in one entry with `kind = \"member_size\"`",
        ]);
    }
    if LENGTHS.iter().chain(&[MAXIMUM]).all(|key| !entry.gives(key)) {
        return Some([
            "`kind = \"member_size\"` asks for no width",
            "without a length",
            "add `minimum = ...`, `gap = ...`, or `maximum = ...`",
        ]);
    }
    let filter = config.filter.get_ref();
    if filter.kind != FilterKind::Density || filter.weights != FilterWeights::Cone {
        return Some([
            "`kind = \"member_size\"` needs the density filter with the weights `cone`",
            "with another filter",
            "add `kind = \"density\"` to [filter], and leave out `weights`",
        ]);
    }
    let radii = |stage: &Continuation| stage.filter_radius.or(stage.filter_radius_in_elements);
    if config.has_half_width() || config.continuation.iter().any(|it| radii(it).is_some()) {
        return Some([
            "`kind = \"member_size\"` goes with one radius and a growing sharpness alone",
            "with `filter_radius` or `half_width` in [[continuation]]",
            "give `sharpness` there",
        ]);
    }
    config.projection.as_ref().is_none_or(|projection| projection.threshold != 0.5).then_some([
        "`kind = \"member_size\"` needs a projection with the threshold 0.5",
        "without it",
        "leave out `design.style` and [projection], or give [projection] a `sharpness` alone",
    ])
}

/// Returns the radius of the filter by the widths that are asked for, where there are some.
pub(crate) fn radius(config: &Config) -> Option<f64> {
    let entry = entries(config).next()?;
    LENGTHS.iter().filter_map(|key| entry.number(key)).reduce(f64::max).map(|width| RADIUS * width)
}

/// Least widths of members and of gaps, 0 for any.
pub(super) fn widths(entry: &Manufacturing) -> [f64; 2] {
    LENGTHS.map(|key| entry.number(key).unwrap_or(0.0))
}

/// Share of a least width that members and gaps of the built part must have, and the multiple of a
/// largest one that members may have.
const KEPT: f64 = 0.9;
const ABOVE: f64 = 1.1;

/// Measures a built part by the widths that are asked for, where some are: `beyond` returns the
/// shares of its surface beside members and beside gaps that are narrower than given widths, and
/// beside members that are wider than a third one, besides at the elements that it is given. Near
/// elements with a fixed density, where `is_passive`, `[n_elements]`, widths are not those of the
/// design.
pub fn measured_widths(
    config: &Config,
    mesh: &HexMesh,
    is_passive: &[bool],
    beyond: impl FnOnce(([f64; 2], f64), &[bool]) -> [f64; 3],
) -> Vec<Made> {
    let Some(entry) = entries(config).next() else { return Vec::new() };
    let (asked, largest) = (widths(entry), entry.number(MAXIMUM));
    let centers = mesh.centers();
    let passive = centers.iter().zip(is_passive).filter(|(_, is_passive)| **is_passive);
    let passive: Vec<[f64; 3]> = passive.map(|(center, _)| *center).collect();
    let widest = asked.into_iter().chain(largest).fold(0.0, f64::max);
    let ignored = within(&passive, widest, &centers);

    let (least, most) = (asked.map(|width| KEPT * width), largest.map(|width| ABOVE * width));
    let [members, gaps, wide] = beyond((least, most.unwrap_or(f64::INFINITY)), &ignored);
    let narrow = ["members", "gaps"].into_iter().zip(least).zip([members, gaps]);
    let asked = narrow.filter(|((_, least), _)| *least > 0.0);
    let narrow = asked.map(|((what, least), share)| {
        Made::of_surface(format!("beside {what} less than {} wide", shown(least)), share)
    });
    let wide = most.map(|most| {
        Made::of_surface(format!("beside members more than {} wide", shown(most)), wide)
    });
    narrow.chain(wide).collect()
}

/// Refuses a width of less than three elements.
pub(super) fn is_resolved(
    asked: &Asked,
    (key, which): (&str, &str),
    width: f64,
) -> Result<(), Finding> {
    // A mesh of cubes has its width to rounding.
    if width >= (1.0 - 1e-9) * ELEMENTS * asked.width {
        return Ok(());
    }
    let remedy = format!(
        "give at least {}, or elements of at most {}",
        shown(ELEMENTS * asked.width),
        shown(width / ELEMENTS)
    );
    let message = format!("a {which} width is less than three elements");
    Err(asked.finding(asked.entries[0], key, [&message, "too fine for this mesh", &remedy]))
}

/// Refuses a largest width that is less than three elements, or than the least one, and one that
/// nothing in the part exceeds.
fn fits_largest(asked: &Asked) -> Result<(), Finding> {
    let entry = asked.entries[0];
    let Some(largest) = entry.number(MAXIMUM) else { return Ok(()) };
    let finding = |text: [&str; 3]| Err(asked.finding(entry, MAXIMUM, text));
    is_resolved(asked, (MAXIMUM, "largest"), largest)?;

    let [least, _] = widths(entry);
    if largest < least {
        let remedy = format!("give at least {}, the `minimum`", shown(least));
        let message = "the largest width of members is less than their least one";
        return finding([message, "less than `minimum`", &remedy]);
    }

    let extent = BoundingBox::of(asked.centers.iter().copied()).extent();
    let thickness = extent.into_iter().fold(f64::INFINITY, f64::min) + asked.width;
    if largest >= (1.0 - 1e-9) * thickness {
        let remedy = format!("give less than {}, or leave it out", shown(thickness));
        let message = "no member of the part can be thicker than the largest width";
        return finding([message, "as thick as the part", &remedy]);
    }
    Ok(())
}

/// Refuses widths that the elements, or the filter, are too coarse for, or that do not fit into the
/// part.
fn fit(asked: &Asked) -> Result<(), Finding> {
    fits_largest(asked)?;
    let entry = asked.entries[0];
    let mut extents = BoundingBox::of(asked.centers.iter().copied()).extent();
    extents.sort_by(f64::total_cmp);
    let radius = FilterPlan::of(asked.config, asked.width).radius().unwrap_or(0.0);

    for (key, width) in LENGTHS.into_iter().zip(widths(entry)).filter(|(_, width)| *width > 0.0) {
        is_resolved(asked, (key, "least"), width)?;

        // A plate may be thinner than its members are wide.
        let room = extents[1] + asked.width;
        if width > (1.0 + 1e-9) * room {
            let message = "a least width is larger than the part";
            let remedy = format!("give less than {}, and check the unit of length", shown(room));
            return Err(asked.finding(entry, key, [message, "wider than the part", &remedy]));
        }

        if width > (1.0 + 1e-9) * radius {
            let remedy = format!(
                "leave the radius out of [filter], or give at least `radius = {}`",
                shown(width)
            );
            let message = "a least width is larger than the radius of the filter";
            let label = "too wide for this radius";
            return Err(asked.finding(entry, key, [message, label, &remedy]));
        }
    }
    Ok(())
}

/// Gives `space` the widths that are asked for, where there are some, by a filter of that `radius`
/// on the mesh of `problem`; `up` is the direction of build of a part that is printed. Of a
/// mechanism the thinner and the thicker design are solved.
pub(super) fn sized<K: Physics<N>, const N: usize>(
    config: &Config,
    (radius, up): (Option<f64>, Option<[f64; 3]>),
    (problem, is_mechanism): (&Problem<K, N>, bool),
    space: DesignSpace,
) -> DesignSpace {
    let (Some(entry), Some(radius)) = (entries(config).next(), radius) else {
        return space;
    };
    let [minimum, gap] = widths(entry).map(|width| width / radius);
    let sizes = Sizes::new(minimum, gap);
    let sizes = if is_mechanism { sizes.solving_both() } else { sizes };
    let least_sums = match minimum > 0.0 {
        true => {
            let sums = least_sums((radius, minimum), sizes, problem, &space);
            on_plate((radius, up), problem.mesh(), &space, sums)
        }
        false => vec![0.0; space.n_elements()],
    };
    space.with_sizes(sizes, least_sums)
}

/// The least `sums` without what lies below the plate, where the part is printed: what elements
/// there have less than a whole member, all has that is printed on them.
fn on_plate(
    (radius, up): (f64, Option<[f64; 3]>),
    mesh: &HexMesh,
    space: &DesignSpace,
    mut sums: Vec<f64>,
) -> Vec<f64> {
    let (centers, width) = (mesh.centers(), mesh.element_width());
    let (Some(up), Some(supports)) = (up, space.sweeps().first()) else { return sums };
    let stand = centers.iter().zip(supports.standing(centers.len()));
    let standing: Vec<[f64; 3]> =
        stand.filter_map(|(center, stands)| stands.then_some(*center)).collect();

    let list = CellList::new(&standing, radius);
    let above = |center: [f64; 3]| match nearest(&list, center) {
        Some(other) => dot(difference(center, standing[other as usize]), up) + 0.5 * width,
        None => radius,
    };
    let elements = sums.par_iter_mut().zip(&centers);
    elements.for_each(|(sum, center)| *sum *= share_behind(above(*center) / radius));
    sums
}

/// Number of the point of `list` nearest to `center`, if one is within its radius.
fn nearest(list: &CellList, center: [f64; 3]) -> Option<u32> {
    let mut nearest = (f64::INFINITY, None);
    list.for_each_within(center, |other, distance| {
        if distance < nearest.0 {
            nearest = (distance, Some(other));
        }
    });
    nearest.1
}

/// Least sums of filter weights: with them the outside of the part counts as void, else members on
/// its faces could be half as wide. Sums stay as they are where the part goes on in the model's
/// sense, at supports, loads and solid elements, and where it is itself thinner than a member. The
/// `radius` is a length, and `minimum` the least width in radii.
fn least_sums<K: Physics<N>, const N: usize>(
    (radius, minimum): (f64, f64),
    sizes: Sizes,
    problem: &Problem<K, N>,
    space: &DesignSpace,
) -> Vec<f64> {
    let centers = problem.mesh().centers();
    let list = CellList::new(&centers, radius);
    let sum = |center: &[f64; 3]| row_sum(&list, *center, radius, &space.volumes);
    let sums: Vec<f64> = centers.par_iter().map(sum).collect();

    let (whole, share) = (whole_sum(radius), share_in_plate(THICK * minimum));
    let is_core = |e: &usize| sums[*e] >= share * whole;
    let cores: Vec<[f64; 3]> = (0..sums.len()).filter(is_core).map(|e| centers[e]).collect();
    let reach = |share: f64| depth_of(share) * radius;
    let width = problem.mesh().element_width();
    let is_thick = within(&cores, CORNER * reach(share) + width, &centers);
    // The solved design passes to a support through as much as it is thinner, and has a member's
    // width to gather around a load.
    let is_held = within(&held(problem), reach(sizes.eroded) + width, &centers);
    let is_loaded = within(&loaded(problem, space), minimum * radius, &centers);
    let is_bounded = |e: usize| is_thick[e] && !is_held[e] && !is_loaded[e];
    (0..sums.len()).map(|e| if is_bounded(e) { whole } else { 0.0 }).collect()
}

/// Sum of the weights and `volumes` of the elements of `list` under a cone about `center`.
fn row_sum(list: &CellList, center: [f64; 3], radius: f64, volumes: &[f64]) -> f64 {
    let mut sum = 0.0;
    list.for_each_within(center, |other, distance| {
        sum += (radius - distance) * volumes[other as usize];
    });
    sum
}

/// Multiple of the least width from which a part counts as thicker than a member: where it is
/// hardly so, the solved design would be a film.
const THICK: f64 = 1.25;

/// Distance of a corner of three faces from a point that is at a distance of 1 from each.
const CORNER: f64 = 1.733;

/// Whether each of `places` has one of `points` within `distance`.
pub(super) fn within(points: &[[f64; 3]], distance: f64, places: &[[f64; 3]]) -> Vec<bool> {
    if points.is_empty() {
        return vec![false; places.len()];
    }
    let list = CellList::new(points, distance);
    let is_within = |place: &[f64; 3]| {
        let mut found = false;
        list.for_each_within(*place, |_, _| found = true);
        found
    };
    places.par_iter().map(is_within).collect()
}

/// Places of the nodes that are held.
fn held<K: Physics<N>, const N: usize>(problem: &Problem<K, N>) -> Vec<[f64; 3]> {
    let (mesh, constraints) = (problem.mesh(), problem.held());
    let springs = |node: usize| constraints.springs().map_or(&[][..], |all| &all[N * node..][..N]);
    let is_held =
        |node: &usize| constraints.is_held(*node) || springs(*node).iter().any(|k| *k > 0.0);
    (0..mesh.n_nodes()).filter(is_held).map(|node| mesh.coordinates()[node]).collect()
}

/// Places of the nodes that are loaded, and of solid elements.
fn loaded<K: Physics<N>, const N: usize>(
    problem: &Problem<K, N>,
    space: &DesignSpace,
) -> Vec<[f64; 3]> {
    let mesh = problem.mesh();
    let forces = |node: usize| {
        problem.load_cases().iter().flat_map(move |case| &case.forces[N * node..][..N])
    };
    let is_loaded = |node: &usize| forces(*node).any(|force| *force != 0.0);
    let nodes = (0..mesh.n_nodes()).filter(is_loaded).map(|node| mesh.coordinates()[node]);
    nodes.chain(space.solid.iter().map(|&e| mesh.center(e as usize))).collect()
}
