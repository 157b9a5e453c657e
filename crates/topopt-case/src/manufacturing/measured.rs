//! `BuiltPart`: a part as it is built, and its measures by the demands of its making.

use rayon::prelude::*;
use topopt_design::DesignSpace;
use topopt_mesh::{HexMesh, Places};
use topopt_surface::{InPart, TriangleSurface};

use super::fold::{Folds, folded};
use super::kinds::{KINDS, asked};
use super::made::Made;
use crate::config::Config;

/// Edge of the cubes that a body is measured by, in widths of an element, and most of them in the
/// part.
const EDGE: f64 = 0.25;
const MOST: f64 = 2e7;

/// A part as it is built, in the order of the problem.
pub struct BuiltPart<'a> {
    /// Mesh of the problem.
    pub mesh: &'a HexMesh,
    /// Design space of the problem.
    pub space: &'a DesignSpace,
    /// Surfaces of the body and of the part that the design lies in.
    pub in_part: InPart<'a>,
    /// Share of each element that the body fills, `[n_elements]`.
    pub shares: &'a [f64],
    /// Volumes of the elements that are designed, 0 of the others.
    volumes: Vec<f64>,
}

impl<'a> BuiltPart<'a> {
    /// The `body` within its `part`, which fills `shares` of the elements of the `mesh`.
    pub fn new(
        (mesh, space): (&'a HexMesh, &'a DesignSpace),
        shares: &'a [f64],
        [body, part]: [&'a TriangleSurface; 2],
    ) -> Self {
        let edge = (EDGE * mesh.element_width()).max((part.volume() / MOST).cbrt());
        let in_part = InPart { body, part, edge };
        Self { mesh, space, in_part, shares, volumes: space.design_volumes() }
    }

    /// Measures the part by each kind of demand, and where places are to have equal densities.
    pub fn measured(&self, config: &Config, equal: &Folds) -> Vec<Made> {
        let centers = self.mesh.centers();
        let mut all = Vec::new();
        if !equal.is_empty() {
            let unequal = unequal(equal, self.in_part.apart(), self.in_part.edge);
            let share = self.share_of_solid(&unequal);
            all.push(Made::new("unequal where it is to be equal".into(), share));
        }
        for kind in &KINDS {
            let asked = asked(config, kind, &centers, self.mesh.element_width());
            all.extend(asked.map_or(Vec::new(), |asked| (kind.measure)(&asked, self)));
        }
        all
    }

    /// Share of the solid volume in which `cubes` lie; solid and void elements are not the design's.
    pub(super) fn share_of_solid(&self, cubes: &[[f64; 3]]) -> f64 {
        self.volume_of(cubes) / self.sum(|e| self.shares[e])
    }

    /// Share of the void in which `cubes` lie.
    pub(super) fn share_of_void(&self, cubes: &[[f64; 3]]) -> f64 {
        self.volume_of(cubes) / self.void()
    }

    /// Share of the void that is in elements which are `counted`.
    pub(super) fn void_share(&self, counted: impl Fn(usize) -> bool) -> f64 {
        self.sum(|e| if counted(e) { 1.0 - self.shares[e] } else { 0.0 }) / self.void()
    }

    fn void(&self) -> f64 {
        self.sum(|e| 1.0 - self.shares[e]).max(f64::MIN_POSITIVE)
    }

    fn sum(&self, amount: impl Fn(usize) -> f64) -> f64 {
        self.volumes.iter().enumerate().map(|(e, volume)| volume * amount(e)).sum()
    }

    fn volume_of(&self, cubes: &[[f64; 3]]) -> f64 {
        let elements = Places::of(self.mesh, cubes);
        let designed = elements.elements().filter(|&e| self.volumes[e as usize] > 0.0);
        designed.count() as f64 * self.in_part.edge.powi(3)
    }
}

/// A cube by the cell of the place that stands for it, whether it is void, and its center.
type Keyed = ([i64; 3], bool, [f64; 3]);

/// Returns the fewer of the `cubes` of body and of void whose places come to the same one by
/// `folds`, within an `edge`.
fn unequal(folds: &Folds, cubes: [Vec<[f64; 3]>; 2], edge: f64) -> Vec<[f64; 3]> {
    let cell = |place: [f64; 3]| folded(folds.iter(), place).map(|x| (x / edge).floor() as i64);
    let mut all: Vec<Keyed> = Vec::new();
    for (is_void, places) in [false, true].into_iter().zip(cubes) {
        all.par_extend(places.into_par_iter().map(|place| (cell(place), is_void, place)));
    }
    all.par_sort_by_key(|(cell, is_void, _)| (*cell, *is_void));
    all.chunk_by(|a, b| a.0 == b.0).flat_map(fewer).map(|(.., place)| *place).collect()
}

/// The fewer of the cubes of body and of void, the former first.
fn fewer(cubes: &[Keyed]) -> &[Keyed] {
    let (body, void) = cubes.split_at(cubes.partition_point(|(_, is_void, _)| !is_void));
    if body.len() <= void.len() { body } else { void }
}
