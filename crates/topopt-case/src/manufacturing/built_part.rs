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

    /// Share of the solid volume in which `cubes` lie; solid and void elements are not the
    /// design's.
    pub(super) fn share_of_solid(&self, cubes: &[[f64; 3]]) -> f64 {
        self.solid_share(&self.elements_of(cubes))
    }

    /// Share of the solid volume that cubes in these `elements` fill, see
    /// [`BuiltPart::share_of_solid`].
    pub(super) fn solid_share(&self, elements: &[u32]) -> f64 {
        self.designed(elements) / self.sum(|e| self.shares[e])
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

    /// Share of the void in which `cubes` lie.
    pub(super) fn share_of_void(&self, cubes: &[[f64; 3]]) -> f64 {
        self.designed(&self.elements_of(cubes)) / self.void()
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
