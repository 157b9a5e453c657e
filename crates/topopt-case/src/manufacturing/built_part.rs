//! `BuiltPart`: a part as it is built, to be measured by the demands of its making.

use topopt_design::DesignSpace;
use topopt_mesh::{HexMesh, Places};
use topopt_surface::{InPart, TriangleSurface};

use super::made::{Made, Missing};

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
    /// The body within the first of the `surfaces`, in the part within the other, which fills
    /// `shares` of the elements of the `mesh`.
    pub fn new(
        (mesh, space): (&'a HexMesh, &'a DesignSpace),
        shares: &'a [f64],
        surfaces: [&'a TriangleSurface; 2],
    ) -> Self {
        let edge = (EDGE * mesh.element_width()).max((surfaces[1].volume() / MOST).cbrt());
        let in_part = InPart::new(surfaces, edge);
        Self { mesh, space, in_part, shares, volumes: space.design_volumes() }
    }

    /// Measures the share of the solid volume in which `cubes` lie; solid and void elements are not
    /// the design's.
    pub(super) fn missing_solid(&self, measure: String, cubes: &[[f64; 3]]) -> Made {
        self.missing_solid_in(measure, self.elements_of(cubes))
    }

    /// Measures the share of the solid volume that cubes in these `elements` fill, see
    /// [`BuiltPart::missing_solid`].
    pub(super) fn missing_solid_in(&self, measure: String, elements: Vec<u32>) -> Made {
        let share = self.designed(&elements) / self.sum(|e| self.shares[e]);
        Made::new(measure, share).at(elements)
    }

    /// Shares of the elements in which cubes miss the demands that `made` has measures of,
    /// `[n_elements]`.
    pub fn missed(&self, made: &[Made]) -> Vec<f64> {
        let mut missed = vec![0.0; self.volumes.len()];
        let of_cube = self.volume(1);
        for &e in made.iter().flat_map(|made| &made.cubes) {
            missed[e as usize] += of_cube / self.space.volumes[e as usize];
        }
        missed.iter_mut().for_each(|share| *share = share.min(1.0));
        missed
    }

    /// Measures how much of the part is kept solid where `cubes` in these `elements` are missing,
    /// the lowest first; none where no element is kept solid.
    pub(super) fn kept_share(
        &self,
        measure: String,
        (cubes, elements): (&[[f64; 3]], &[u32]),
    ) -> Option<Made> {
        let solid = &self.space.solid;
        let volumes = self.space.volumes.iter().zip(self.shares);
        let whole: f64 = volumes.map(|(volume, share)| volume * share).sum();
        let is_kept = |(_, e): &(&[f64; 3], &u32)| solid.binary_search(e).is_ok();
        let mut kept = cubes.iter().zip(elements).filter(is_kept);

        let first = kept.next().map(|(place, _)| *place);
        let volume = self.volume(first.iter().count() + kept.count());
        let missing = first.map(|at| Missing { volume, at });
        (!solid.is_empty()).then(|| Made::of_part(measure, volume / whole, missing))
    }

    /// Measures the share of the void in which `cubes` lie.
    pub(super) fn missing_void(&self, measure: String, cubes: &[[f64; 3]]) -> Made {
        let elements = self.elements_of(cubes);
        Made::of_void(measure, self.designed(&elements) / self.void()).at(elements)
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

    /// Elements that `cubes` lie in, `[n_cubes]`.
    pub(super) fn elements_of(&self, cubes: &[[f64; 3]]) -> Vec<u32> {
        Places::of(self.mesh, cubes).elements().collect()
    }

    /// Volume of the cubes in those of the `elements` that are designed.
    fn designed(&self, elements: &[u32]) -> f64 {
        self.volume(elements.iter().filter(|&&e| self.volumes[e as usize] > 0.0).count())
    }

    /// Volume of `n` cubes.
    fn volume(&self, n: usize) -> f64 {
        n as f64 * self.in_part.edge.powi(3)
    }
}
