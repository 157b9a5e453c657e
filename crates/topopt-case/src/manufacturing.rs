//! Demands of the way in which the part is made: a file per kind, and a line of the table below.

mod built_part;
mod cast;
mod copy;
mod counts;
mod curve;
mod cyclic;
mod extrusion;
mod fold;
mod found_planes;
mod kind;
mod kinds;
mod made;
mod measured;
mod member_size;
mod milling;
mod named;
mod open_voids;
mod overhang;
mod passive;
mod pattern;
mod schema;
mod shares;
mod sweep;
mod sweeps;
mod symmetry;
mod uniform;

use rayon::prelude::*;
use topopt_linalg::Csr;
use topopt_mesh::vector::{difference, length};
use topopt_mesh::{CellList, HexMesh, Plane, Renumbering};
use topopt_surface::Draw;

use crate::case::Case;
use crate::config::Config;
use crate::finding::Finding;
use crate::physics::Physics;
pub use built_part::BuiltPart;
use cast::Mold;
pub use fold::Folds;
use fold::folded;
use kind::ManufacturingKind;
use kinds::{KINDS, asked, entries};
pub(crate) use made::HOLD_UP;
pub use made::{Made, Missing};
pub use measured::measured;
pub use member_size::measured_widths;
pub(crate) use member_size::radius;
pub(crate) use passive::{Shared, with_images};
pub(crate) use schema::misused;
use shares::Gathered;
use sweep::Sweep;
pub(crate) use sweeps::{Printed, openings, printed, resting, sheet, sized, sweeps};
use symmetry::Mirrors;

/// Share of the mean element width within which centers of elements repeat each other.
const TOLERANCE: f64 = 1e-3;

/// Demands of one kind on the part.
struct Posed {
    kind: &'static ManufacturingKind,
    folds: Folds,
}

/// The elements of a part in the order of the problem, `[n_elements]` each.
struct Elements {
    centers: Vec<[f64; 3]>,
    /// Distances within which places stand for one.
    reaches: Vec<f64>,
    /// Distance within which places are the same.
    tolerance: f64,
}

/// Returns the variables that elements share by `[[manufacturing]]`, or by planes of symmetry that
/// are found where the user gives none, in the order of the problem; none without such demands.
/// Notes go to `notes`.
///
/// # Errors
/// A finding about demands that make no sense on the part, or do not go together.
pub(crate) fn shared<K: Physics<N>, const N: usize>(
    config: &Config,
    case: &Case<N>,
    renumbering: &Renumbering,
    (volumes, width): (&[f64], f64),
    notes: &mut Vec<String>,
) -> Result<Option<Shared>, Finding> {
    if config.manufacturing.is_empty() && config.design.keep_symmetry != Some(true) {
        return Ok(None);
    }
    let elements = Elements {
        centers: renumbering.elements_from_original(&case.mesh.centers()),
        reaches: renumbering.elements_from_original(&shares::reaches(&case.mesh)),
        tolerance: TOLERANCE * width,
    };
    let mut all = posed(config, &elements.centers, width)?;
    let sweep = Sweep::of(config, &elements.centers, width)?;
    if let Some(first) = all.first() {
        notes.extend(found_planes::not_looked_for(config, first.kind.name));
    } else if config.design.keep_symmetry == Some(true) {
        let measures = (volumes, elements.tolerance);
        let mirror = |plane: &Plane| {
            sweep.as_ref().is_none_or(|it| it.is_mirrored_by(plane, elements.tolerance))
        };
        let found = found_planes::kept::<K, N>(config, case, measures, mirror)?;
        notes.extend(found.iter().map(found_planes::told));
        let mirrors = (!found.is_empty()).then(|| Mirrors::of(found, width)).flatten();
        let of_mirrors =
            |mirrors| Posed { kind: &symmetry::SYMMETRY, folds: vec![Box::new(mirrors) as Box<_>] };
        all.extend(mirrors.map(of_mirrors));
    }
    if all.is_empty() {
        return Ok(None);
    }

    go_together(config, &all, &elements)?;
    for posed in &all {
        let is_kept = |sweep: &Sweep| {
            elements.samples().all(|at| sweep.is_kept_at(at, &posed.folds, elements.tolerance))
        };
        if let Some(sweep) = sweep.as_ref().filter(|sweep| !is_kept(sweep)) {
            return Err(sweep.not_kept(config, posed.kind));
        }
    }
    let demands: Vec<_> = all.iter().collect();
    let of_all = elements.gathered(&demands);
    for posed in all.iter().filter(|posed| posed.kind.must_join.is_some()) {
        let n_variables = elements.by(&[posed], (&all, &of_all), Gathered::len);
        joins_elements(config, posed, n_variables < elements.centers.len())?;
    }
    let (shares, groups) = elements.shared(&all, &of_all, notes);
    let have_ends = all.iter().any(|posed| posed.kind.has_ends);
    let folds = all.into_iter().flat_map(|posed| posed.folds).collect();
    Ok(Some(Shared { shares, groups, folds, have_ends }))
}

/// Reads the entries of each kind.
fn posed(config: &Config, centers: &[[f64; 3]], width: f64) -> Result<Vec<Posed>, Finding> {
    let mut all = Vec::new();
    for kind in &KINDS {
        if let Some(asked) = asked(config, kind, centers, width) {
            let folds = (kind.pose)(&asked)?;
            all.push(Posed { kind, folds });
        }
    }
    all.retain(|posed| !posed.folds.is_empty());
    Ok(all)
}

/// Whether the user asks for planes of symmetry.
pub(crate) fn are_symmetric(config: &Config) -> bool {
    entries(config, &symmetry::SYMMETRY).next().is_some()
}

/// Returns the ways of a mold or of tools out of a part that is cast or milled.
pub fn way_out(config: &Config) -> Option<Draw> {
    if let Some(mold) = mold(config) {
        return Some(mold.way_out());
    }
    let ways = milling::directions(&asked(config, &milling::MILLING, &[], 0.0)?).ok()?;
    Some(Draw { ways, parting: None, draft: 0.0 })
}

/// Returns the mold of a part that is cast.
fn mold(config: &Config) -> Option<Mold> {
    cast::mold(&asked(config, &cast::CASTING, &[], 0.0)?).ok()
}

/// Returns the solid and the void elements, sorted, with those that stay solid so that no hole goes
/// through a part that is cast, on the `mesh` of the problem; a note says how many these are.
///
/// # Errors
/// A finding if nothing remains to be designed.
pub(crate) fn closed(
    config: &Config,
    mesh: &HexMesh,
    [mut solid, void]: [Vec<u32>; 2],
    notes: &mut Vec<String>,
) -> Result<[Vec<u32>; 2], Finding> {
    let mut closing = mold(config).map_or(Vec::new(), |mold| mold.closing(mesh));
    let is_fixed = |list: &[u32], e: &u32| list.binary_search(e).is_ok();
    closing.retain(|e| !is_fixed(&void, e) && !is_fixed(&solid, e));
    if !closing.is_empty() {
        notes.push(format!(
            "{} elements stay solid, so that no hole goes through along the draw",
            closing.len()
        ));
    }
    let closes = !closing.is_empty();
    solid.extend(closing);
    solid.sort_unstable();
    if closes && solid.len() + void.len() == mesh.n_elements() {
        return Err(nothing_left(config));
    }
    Ok([solid, void])
}

/// Builds the finding about a part in which all elements close it.
fn nothing_left(config: &Config) -> Finding {
    let entry = entries(config, &cast::CASTING).next();
    let place = entry.map_or(0..0, |entry| entry.span_of(cast::HOLES).unwrap_or(entry.kind.span()));
    let message = "with the elements that close the part nothing remains to be designed";
    let finding = Finding::new(message).at(config.source(), place, "closes all");
    finding.remedy("take a finer mesh along the draw, or remove `through_holes`")
}

impl Elements {
    /// Places that stand for the centers by `demands`, one after the other.
    fn folded(&self, demands: &[&Posed]) -> Vec<[f64; 3]> {
        let folds = || demands.iter().flat_map(|posed| &posed.folds);
        self.centers.par_iter().map(|&center| folded(folds(), center)).collect()
    }

    /// Gathers elements by the places that stand for theirs by `demands`: those that are the same,
    /// where elements repeat each other, else those within the reaches of each other.
    fn gathered(&self, demands: &[&Posed]) -> Gathered {
        let gathered = Gathered::of(self.folded(demands), &self.reaches, self.tolerance);
        if gathered.is_exact || !self.repeat_each_other(demands) {
            return gathered;
        }
        // Centers of neighboring tetrahedra may be nearer to each other than any reach.
        let reaches = vec![self.tolerance; self.centers.len()];
        Gathered::of(gathered.places, &reaches, self.tolerance)
    }

    /// Reads what `some` of all demands gather, which is not searched again where they are all.
    fn by<T>(
        &self,
        some: &[&Posed],
        (all, of_all): (&[Posed], &Gathered),
        read: impl FnOnce(&Gathered) -> T,
    ) -> T {
        if some.len() == all.len() { read(of_all) } else { read(&self.gathered(some)) }
    }

    /// Whether images of centers by `demands` are centers themselves, unless they lie beside the part.
    /// Images between centers are as far from these as those next to the part: only among others
    /// that are centers do they count as beside it.
    fn repeat_each_other(&self, demands: &[&Posed]) -> bool {
        let farthest = self.reaches.iter().copied().fold(self.tolerance, f64::max);
        let list = CellList::new(&self.centers, BETWEEN * farthest);
        let distances = |&center: &[f64; 3]| {
            let folds = demands.iter().flat_map(|posed| &posed.folds);
            let images = folds.flat_map(move |fold| fold.images(center));
            images.map(|image| nearest(&list, image)).collect::<Vec<_>>()
        };
        let all = || self.centers.par_iter().flat_map_iter(distances);
        let is_center = |distance: f64| distance <= self.tolerance;
        all().all(|distance| is_center(distance) || distance > farthest)
            && (all().any(is_center) || all().all(f64::is_infinite))
    }

    /// Centers by whose images demands are tried for whether they go together, in shares of the
    /// numbering that no rows of elements follow.
    fn samples(&self) -> impl Iterator<Item = [f64; 3]> {
        let n = self.centers.len();
        let share = |k: usize| (k as f64 * GOLDEN).fract();
        (0..SAMPLES.min(n)).map(move |k| self.centers[(share(k) * n as f64) as usize])
    }

    /// The variables that elements share by all demands, which gather them as `of_all`, and the
    /// groups of those whose passive elements have images.
    fn shared(
        &self,
        all: &[Posed],
        of_all: &Gathered,
        notes: &mut Vec<String>,
    ) -> (Csr, Option<Vec<u32>>) {
        if !of_all.is_exact {
            notes.push(format!(
                "the elements do not repeat each other as [[manufacturing]] asks: {} densities \
                 follow from {} variables by weights",
                self.centers.len(),
                of_all.len()
            ));
        }
        let has_images = |posed: &&Posed| posed.kind.has_passive_images;
        let with_images: Vec<_> = all.iter().filter(has_images).collect();
        let groups = (!with_images.is_empty())
            .then(|| self.by(&with_images, (all, of_all), Gathered::variable_of));
        (of_all.shares(&self.reaches), groups)
    }
}

/// Distance of `image` from the nearest center of `list`, infinite where all are out of reach.
fn nearest(list: &CellList, image: [f64; 3]) -> f64 {
    let mut nearest = f64::INFINITY;
    list.for_each_within(image, |_, distance| nearest = nearest.min(distance));
    nearest
}

/// Largest distance of a place in the part from the nearest center, in largest reaches: the half
/// diagonal of a cube is less.
const BETWEEN: f64 = 2.0;

/// Elements that demands are tried on.
const SAMPLES: usize = 400;

/// Golden ratio, less 1.
const GOLDEN: f64 = 0.618_033_988_749_894_8;

/// Refuses demands whose images of a place do not come to the same place as itself.
fn go_together(config: &Config, all: &[Posed], elements: &Elements) -> Result<(), Finding> {
    for (k, second) in all.iter().enumerate() {
        for first in &all[..=k] {
            let both = [first, second];
            if !elements.samples().all(|center| is_kept(&both, center, elements.tolerance)) {
                return Err(not_together(config, first, second));
            }
        }
    }
    Ok(())
}

/// Whether all images of `center` by `both` demands come to the same place as itself.
fn is_kept(both: &[&Posed], center: [f64; 3], tolerance: f64) -> bool {
    let folds = || both.iter().flat_map(|posed| &posed.folds);
    let place = folded(folds(), center);
    let images = folds().flat_map(|fold| fold.images(center));
    images
        .map(|image| folded(folds(), image))
        .all(|other| length(difference(place, other)) <= tolerance)
}

fn not_together(config: &Config, first: &Posed, second: &Posed) -> Finding {
    let [first, second] = [first, second].map(|posed| posed.kind.name);
    let message = match first == second {
        true => {
            format!("two demands of `kind = \"{first}\"` do not go together in these directions")
        }
        false => format!("`{first}` and `{second}` do not go together in these directions"),
    };
    let last = config.manufacturing.iter().rfind(|entry| entry.kind.get_ref() == second);
    let place = last.map_or(0..0, |entry| entry.kind.span());
    Finding::new(message).at(config.source(), place, "changes what the other demands").remedy(
        "let one direction lie along or across the other, or remove one; mirrored sectors are \
         `kind = \"cyclic\"` with `mirrored`",
    )
}

/// Refuses demands that have to join elements where none `are_joined`.
fn joins_elements(config: &Config, posed: &Posed, are_joined: bool) -> Result<(), Finding> {
    let Some([message, remedy]) = posed.kind.must_join.filter(|_| !are_joined) else {
        return Ok(());
    };
    let place = entries(config, posed.kind).next().map_or(0..0, |entry| entry.kind.span());
    Err(Finding::new(message).at(config.source(), place, "without effect").remedy(remedy))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two elements above a plane and their images below it, one of them moved by `shift`.
    fn gathered(posed: &Posed, shift: f64) -> Gathered {
        let above = [[0.1, 0.0, 0.4], [0.3, 0.0, 0.4]];
        let below = [[0.1, 0.0, -0.4], [0.3 + shift, 0.0, -0.4]];
        let centers = [above, below].concat();
        let elements = Elements { centers, reaches: vec![0.5; 4], tolerance: 1e-3 };
        elements.gathered(&[posed])
    }

    #[test]
    fn neighbors_nearer_than_their_reach_stay_apart_where_elements_repeat_each_other() {
        let normal = [0.0, 0.0, 1.0];
        let mirrors = Mirrors::of(vec![Plane { point: [0.0; 3], normal }], 1.0).unwrap();
        let posed = Posed { kind: &symmetry::SYMMETRY, folds: vec![Box::new(mirrors)] };
        assert!(gathered(&posed, 0.0).is_exact);
        assert_eq!(gathered(&posed, 0.0).variable_of(), [0, 1, 0, 1]);
        assert!(!gathered(&posed, 0.1).is_exact);
    }

    /// Images by a plane across the diagonal of squares lie at their corners, 0.7 from the centers.
    #[test]
    fn images_between_centers_are_not_beside_the_part() {
        let across = 0.5_f64.sqrt();
        let plane = Plane { point: [2.25, 2.25, 0.0], normal: [across, across, 0.0] };
        let mirrors = Mirrors::of(vec![plane], 1.0).unwrap();
        let posed = Posed { kind: &symmetry::SYMMETRY, folds: vec![Box::new(mirrors)] };
        let centers: Vec<[f64; 3]> =
            (0..25).map(|e| [(e % 5) as f64, (e / 5) as f64, 0.0]).collect();
        let elements = Elements { centers, reaches: vec![0.5; 25], tolerance: 1e-3 };
        assert!(!elements.repeat_each_other(&[&posed]));
    }
}
