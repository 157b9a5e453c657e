//! Ways to a mesh, one after the other until one passes.

use std::f64::consts::PI;

use nalgebra::Matrix3;
use topopt_mesh::Face;
use topopt_mesh::hexahedron::FACES;
use topopt_mesh::numbers::{place_in, shown};

use crate::attempt;
use crate::chain::Chain;
use crate::draft::{Draft, Quad};
use crate::error::HexmeshError;
use crate::features::{Features, Tangent};
use crate::fraction::{PER_CELL, samples_inside};
use crate::grid::Grid;
use crate::meshed::{Meshed, NumberedFace};
use crate::plan::{Plan, is_clearly_fewer};
use crate::report::{Refinement, Report};
use crate::sizes::{Field, Sizes};
use crate::surface::{Surface, Vec3};
use crate::symmetry::Symmetry;
use crate::turn::axes;

/// Sizes of the attempts, as shares of the size asked for: other places of the grid first, then
/// smaller cells.
const SIZES: [f64; 6] = [1.0, 0.96, 1.05, 0.9, 0.8, 0.67];
/// Least scaled Jacobian that ends the attempts.
const GOOD: f64 = 0.3;
/// One that ends them with tangent curves, which may cost quality: in a block whose bores are of
/// two halves 0.35 in place of 0.64.
const GOOD_WITH_TANGENT: f64 = 0.5;
/// Gain of the least scaled Jacobian that is worth a mirror plane.
const WORTH: f64 = 0.05;
/// Valid meshes that are compared.
const ENOUGH: usize = 3;
/// Most cells of a grid, which are numbered by 32 bits.
const MOST_CELLS: f64 = 1e9;
/// Least diameter of a bore, in elements, that is kept.
const LEAST_DIAMETER: f64 = 1.5;
/// Sizes of the attempts with transitions, before planes of the grid are taken in their place.
const SIZES_DIVIDED: [f64; 2] = [1.0, 0.96];
/// Begins a fault with transitions.
const DIVIDED: &str = "with transitions of elements in three, ";
/// Begins a fault of an attempt that keeps tangent curves.
const KEPT: &str = "with borders of faces that meet smoothly, ";
/// Cells along the longest edge of the part in which overlaps of bodies are looked for.
const OVERLAP_CELLS: f64 = 48.0;
/// Sum of the shares of a cell in bodies that do not overlap, with rounding.
const MOST_SHARED: f32 = 1.25;
/// Lost features that are listed, at most.
const MOST_LISTED: usize = 6;

/// Meshes the inside of `surface` by hexahedra of about the edges `sizes`, on grids of at most so
/// many cells as `most_cells`: of one side of its mirror planes, if it has any, mirrored to the
/// others. Where that is not possible, or is poor, the whole is meshed, and grids of other sizes
/// are tried; [`Report::failed`] says which and why.
///
/// # Errors
/// [`HexmeshError`]: no way led to a valid mesh.
pub fn mesh(
    surface: &Surface,
    sizes: impl Into<Sizes>,
    most_cells: f64,
) -> Result<Meshed, HexmeshError> {
    let field = checked(surface, &sizes.into(), most_cells)?;
    let ways = Symmetry::ways(surface, field.usual);
    let divided = count_divided(surface, &field, &ways);
    let (mut best, mut faults): (Option<Meshed>, _) = (None, Vec::new());
    for way in &ways {
        let own = Aligned::new(&way.part, &way.with_images(&field));
        if let Some(fault) = own.wasted(way, &field, divided) {
            faults.push(fault);
            faults.truncate(1);
            continue;
        }
        match own.mesh() {
            Ok(part) => {
                let least = part.report.least;
                if best.as_ref().is_none_or(|best| least > best.report.least + WORTH) {
                    best = Some(way.whole(part));
                }
                if least >= GOOD && !way.is_oblique {
                    break;
                }
            }
            Err(fault) => faults.push(way.shown(&fault)),
        }
    }
    match best {
        Some(mut best) => {
            best.report.failed.splice(0..0, faults);
            Ok(best)
        }
        None => {
            let fault = faults.pop().unwrap_or_default();
            Err(HexmeshError::NoMesh { size: field.usual, fault })
        }
    }
}

/// Counts the hexahedra that [`mesh`] makes at first, in a fraction of the time.
///
/// # Errors
/// [`HexmeshError`]: as [`mesh`].
pub fn count(
    surface: &Surface,
    sizes: impl Into<Sizes>,
    most_cells: f64,
) -> Result<usize, HexmeshError> {
    let field = checked(surface, &sizes.into(), most_cells)?;
    let ways = Symmetry::ways(surface, field.usual);
    let divided = count_divided(surface, &field, &ways);
    let along = || ways.iter().filter(|way| !way.is_oblique);
    let of_part = |way: &Symmetry| {
        let own = Aligned::new(&way.part, &way.with_images(&field));
        let is_wasted = own.wasted(way, &field, divided).is_some();
        if is_wasted { None } else { own.count().ok().map(|count| way.images() * count) }
    };
    let counted = along().find_map(of_part);
    counted.map_or_else(|| Aligned::new(surface, &field).count(), Ok)
}

/// Counts the elements of the whole with transitions, where these are taken for places of smaller
/// elements that do not mirror themselves as the part does.
fn count_divided(surface: &Surface, field: &Field, ways: &[Symmetry]) -> Option<usize> {
    if field.most_levels() == 0 || ways.iter().all(|way| way.is_even(field)) {
        return None;
    }
    let counts = Aligned::new(surface, field).plan?.counts;
    (counts.levels > 0).then_some(counts.by_transitions)
}

/// Checks that elements of `sizes` make a grid of at most `most_cells` cells around `surface`, and
/// gives them in space.
fn checked(surface: &Surface, sizes: &Sizes, most_cells: f64) -> Result<Field, HexmeshError> {
    let own = [sizes.usual].into_iter().chain(sizes.finer.iter().map(|finer| finer.size));
    if let Some(bad) = own.into_iter().find(|size| !(*size > 0.0 && size.is_finite())) {
        return Err(HexmeshError::BadSize(bad));
    }
    check_overlap(surface)?;
    let field = Field::new(surface, sizes);
    let turn = axes(surface).transpose();
    let [low, high] = surface.moved(|x| turn * x).bounds();
    let spacings = field.turned(&turn).spacings();
    let along = |k: usize| spacings[k].most_cells(low[k], high[k]).ceil() + 5.0;
    let cells: f64 = (0..3).map(along).product();
    let (size, most) = (field.smallest(), most_cells.min(MOST_CELLS));
    if cells > most { Err(HexmeshError::TooFine { size, cells, most }) } else { Ok(field) }
}

/// Checks that no cell of a coarse grid lies inside of two bodies.
fn check_overlap(surface: &Surface) -> Result<(), HexmeshError> {
    if surface.n_bodies() == 1 {
        return Ok(());
    }
    let grid = Grid::coarse(surface.bounds(), OVERLAP_CELLS);
    let samples = samples_inside(surface, &grid);
    let share = |own: &Vec<u8>, cell: usize| f32::from(own[cell]) / f32::from(PER_CELL);
    let sum = |cell: usize| samples.iter().map(|own| share(own, cell)).sum::<f32>();
    match (0..samples[0].len()).find(|&cell| sum(cell) > MOST_SHARED) {
        Some(cell) => {
            let mut bodies: Vec<usize> = (0..samples.len()).collect();
            bodies.sort_by_key(|&body| std::cmp::Reverse(samples[body][cell]));
            let at = surface.place(grid.center(cell));
            Err(HexmeshError::Overlap { bodies: [bodies[0] as u32, bodies[1] as u32], at })
        }
        None => Ok(()),
    }
}

/// Surface along the axes of the grid.
struct Aligned {
    surface: Surface,
    /// Sharp curves alone.
    features: Features,
    /// Features with tangent curves besides, if there are any.
    with_tangent: Option<Features>,
    /// Sizes of elements.
    field: Field,
    /// Way to smaller elements in places.
    plan: Option<Plan>,
    /// Axes of the grid, as columns.
    turn: Matrix3<f64>,
}

/// Valid mesh of one attempt.
struct Found<'a> {
    draft: Draft,
    report: Report,
    features: &'a Features,
}

impl Aligned {
    fn new(surface: &Surface, field: &Field) -> Self {
        let turn = axes(surface);
        let field = field.turned(&turn.transpose());
        let surface = surface.moved(|x| turn.transpose() * x);
        let [features, more] =
            [Tangent::Free, Tangent::Kept].map(|tangent| Features::of(&surface, tangent));
        let with_tangent = (more.chains.len() > features.chains.len()).then_some(more);
        let plan = Plan::of(&surface, with_tangent.as_ref().unwrap_or(&features), &field);
        Self { surface, features, with_tangent, field, plan, turn }
    }

    /// Says how many elements images of places of smaller elements make, if the whole with
    /// transitions, of `divided` elements, has clearly fewer.
    fn wasted(&self, way: &Symmetry, field: &Field, divided: Option<usize>) -> Option<String> {
        let (divided, plan) = divided.zip(self.plan.as_ref())?;
        let count = way.images() * plan.count();
        let is_wasted = !way.is_even(field) && is_clearly_fewer(divided, count);
        is_wasted.then(|| {
            format!("images of the smaller elements: about {count}, and {divided} without")
        })
    }

    /// Meshes the part, or says what failed: by planes of the grid where a mesh with transitions is
    /// not good, unless that of the planes is poorer still.
    fn mesh(&self) -> Result<Meshed, String> {
        let counts = self.plan.as_ref().map(|plan| plan.counts);
        let (mut divided, mut faults) = (None, Vec::new());
        if let Some(plan) = self.plan.as_ref().filter(|plan| plan.counts.levels > 0) {
            let (best, failed) = self.best(&plan.field, &SIZES_DIVIDED);
            if let Some(found) = best {
                if found.report.least >= GOOD {
                    return Ok(self.finished(found, failed, counts));
                }
                divided = Some(found);
            }
            faults = failed.iter().map(|fault| format!("{DIVIDED}{fault}")).collect();
        }

        let (planes, failed) = self.best(&self.field, &SIZES);
        let failed = [faults, failed].concat();
        let least = planes.as_ref().map(|found| found.report.least);
        if let Some(found) = divided.filter(|found| Some(found.report.least) > least) {
            return Ok(self.finished(found, failed, counts));
        }
        let counts = counts.map(|counts| Refinement { levels: 0, ..counts });
        match planes {
            Some(found) => Ok(self.finished(found, failed, counts)),
            None => Err([failed, self.lost()].concat().join("; ")),
        }
    }

    fn count(&self) -> Result<usize, HexmeshError> {
        if let Some(plan) = &self.plan {
            return Ok(plan.count());
        }
        let features = self.with_tangent.as_ref().unwrap_or(&self.features);
        attempt::count(&self.surface, features, &self.field).map_err(|fault| HexmeshError::NoMesh {
            size: self.field.usual,
            fault: fault.message(&self.turn, self.surface.diagonal()),
        })
    }

    /// Finds the first good mesh of `field` times one of `sizes`, or the best of some valid ones,
    /// and says what failed. Tangent curves are let go at once where they are in the way.
    fn best(&self, field: &Field, sizes: &[f64]) -> (Option<Found<'_>>, Vec<String>) {
        let (mut best, mut failed, mut n_valid): (Option<Found>, Vec<(Vec<String>, String)>, _) =
            (None, Vec::new(), 0);
        let tangent =
            self.with_tangent.iter().map(|features| (features, 1.0, KEPT, GOOD_WITH_TANGENT));
        let ways = tangent.chain(sizes.iter().map(|&share| (&self.features, share, "", GOOD)));
        for (features, share, kept, good) in ways {
            let field = field.scaled(share);
            let fault = match attempt::attempt(&self.surface, features, &field) {
                Ok((draft, report)) => {
                    n_valid += 1;
                    let least = report.least;
                    if best.as_ref().is_none_or(|best| least > best.report.least) {
                        best = Some(Found { draft, report, features });
                    }
                    if least >= good {
                        break;
                    }
                    format!("the least scaled Jacobian is {least:.2}")
                }
                Err(fault) => fault.message(&self.turn, self.surface.diagonal()),
            };
            let fault = format!("{kept}{fault}");
            match failed.last_mut().filter(|(_, last)| *last == fault) {
                Some((sizes, _)) => sizes.push(shown(field.usual)),
                None => failed.push((vec![shown(field.usual)], fault)),
            }
            if n_valid >= ENOUGH {
                break;
            }
        }
        let text =
            |(sizes, fault): &(Vec<String>, String)| format!("size {}: {fault}", sizes.join(", "));
        (best, failed.iter().map(text).collect())
    }

    /// Says which closed curves, as of bores, are too small for the elements there, and which size
    /// keeps them.
    fn lost(&self) -> Vec<String> {
        let spacings = self.field.spacings();
        let size = |x: &Vec3| (0..3).map(|k| spacings[k].at(x[k])).fold(0.0, f64::max);
        let closed = self.features.chains.iter().filter(|chain| chain.is_closed());
        let kept = |chain: &Chain| chain.length() / PI / LEAST_DIAMETER;
        let small = closed.filter(|chain| kept(chain) < size(&chain.points[0]));
        let text = |chain: &Chain| {
            let at = place_in((self.turn * chain.points[0]).into(), self.surface.diagonal());
            format!("the closed curve at {at} needs elements of at most {}", shown(kept(chain)))
        };
        small.map(text).take(MOST_LISTED).collect()
    }

    /// Turns the mesh back, and gives each face of the skin the number of the nearest face of the
    /// part.
    fn finished(
        &self,
        found: Found,
        failed: Vec<String>,
        refinement: Option<Refinement>,
    ) -> Meshed {
        let Found { draft, report, features } = found;
        let numbered = |quad: &Quad| numbered(&self.surface, features, &draft, quad);
        let is_first = |quad: &&Quad| {
            let sides = features.sides[quad.patch as usize];
            sides.twin.is_none_or(|twin| sides.body < features.sides[twin as usize].body)
        };
        let quads = draft.quads.iter().filter(is_first);
        let mut faces: Vec<NumberedFace> = quads.map(numbered).collect();
        faces.sort_unstable_by_key(|face| face.face);
        let points = draft.points.iter().map(|x| (self.turn * x).into()).collect();
        let report = Report { failed, refinement, ..report };
        Meshed { points, hexes: draft.hexes, bodies: draft.bodies, faces, report }
    }
}

fn numbered(surface: &Surface, features: &Features, draft: &Draft, quad: &Quad) -> NumberedFace {
    let center = quad.nodes.map(|v| draft.points[v as usize]).iter().sum::<Vec3>() / 4.0;
    let foot = features.patches[quad.patch as usize].foot(&center);
    let hex = draft.hexes[quad.hex as usize];
    let is_own = |face: &[usize; 4]| face.iter().all(|&a| quad.nodes.contains(&hex[a]));
    let local = FACES.iter().position(is_own).unwrap_or_default() as u8;
    let face = Face { element: quad.hex, local };
    NumberedFace { face, number: surface.faces[foot.index] }
}
