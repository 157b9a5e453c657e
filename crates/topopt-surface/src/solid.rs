//! `Solid`: the one shape of a design that is exported, pictured and verified.

use rayon::prelude::*;
use topopt_mesh::HexMesh;

use crate::cut::Cut;
use crate::iso_surface::with_keys;
use crate::parts::Parts;
use crate::shaping::{Shaping, SolidError};
use crate::threshold::Volumes;
use crate::{Field, Narrowest, Places, TriangleSurface, iso_surface, narrowest, smoothing};

/// The solid of a design, bounded by a level surface of its field and the boundary of the mesh.
#[derive(Debug, Clone)]
pub struct Solid<'a> {
    mesh: &'a HexMesh,
    /// Densities, or after smoothing distances inwards.
    field: Field,
    level: f64,
    threshold: f64,
    volume: f64,
    dropped: Dropped,
}

/// Numbers of pieces and cavities smaller than an element, which a solid leaves out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Pieces of material, removed.
    pub pieces: usize,
    /// Cavities, filled.
    pub cavities: usize,
}

impl<'a> Solid<'a> {
    /// The solid of `density`, `[n_elements]`, in `mesh`: all of it, or nothing, where no threshold
    /// divides the densities.
    ///
    /// Pieces and cavities smaller than the elements that they lie in are dropped.
    ///
    /// # Errors
    /// [`SolidError`].
    pub fn of(mesh: &'a HexMesh, density: &[f64], shaping: &Shaping) -> Result<Self, SolidError> {
        let diffusion = Field::diffusion(mesh);
        let mut field = Field::by_diffusion(mesh, &diffusion, density)?;
        let design = density.iter().zip(mesh.volumes()).map(|(density, v)| density * v).sum();
        let volumes = Volumes::of(mesh);
        let at = |field: &Field| match shaping.threshold {
            Some(threshold) => (threshold, volumes.clipped(field, threshold)),
            None => volumes.threshold(field, design),
        };

        let (threshold, _) = at(&field);
        field = field.keeping(&shaping.pinned, mesh, &diffusion, density, threshold)?;
        drop(diffusion);
        let ((threshold, volume), dropped) = drop_small(&volumes, &mut field, at);
        let mut solid = Self { mesh, field, level: threshold, threshold, volume, dropped };

        if shaping.smoothing > 0.0 && solid.is_cut() {
            solid.field = smoothing::smoothed(&volumes, &solid.cut(), volume, shaping)?;
            let at = |field: &Field| volumes.threshold(field, volume);
            let again;
            ((solid.level, solid.volume), again) = drop_small(&volumes, &mut solid.field, at);
            solid.dropped.pieces += again.pieces;
            solid.dropped.cavities += again.cavities;
        }
        Ok(solid)
    }

    /// Returns the mesh around the solid.
    pub fn mesh(&self) -> &'a HexMesh {
        self.mesh
    }

    /// Returns the density at which the surface lies.
    pub fn threshold(&self) -> f64 {
        self.threshold
    }

    /// Returns the volume inside the surface.
    pub fn volume(&self) -> f64 {
        self.volume
    }

    /// Returns the numbers of pieces and cavities that were too small to stay.
    pub fn dropped(&self) -> Dropped {
        self.dropped
    }

    /// Whether the solid is neither empty nor the whole mesh, so that its surface cuts elements.
    pub fn is_cut(&self) -> bool {
        let [least, most] = self.field.range();
        least < self.level && self.level <= most
    }

    /// Builds the surface of the solid.
    pub fn surface(&self) -> TriangleSurface {
        iso_surface(self.mesh, &self.field, self.level)
    }

    /// Builds the surface of the solid, and the places of its vertices in the mesh.
    pub fn surface_in_mesh(&self) -> (TriangleSurface, Places<'a>) {
        let cut = self.cut();
        let (surface, keys) = with_keys(&cut);
        (surface, Places::of(self.mesh, &cut, keys))
    }

    /// Share of every element's volume that is solid, `[n_elements]`.
    pub fn shares(&self) -> Vec<f64> {
        let (volumes, cut) = (Volumes::of(self.mesh), self.cut());
        let share = |element: usize| volumes.inside(&cut, element) / volumes.of_element(element);
        (0..self.mesh.n_elements()).into_par_iter().map(share).collect()
    }

    /// Volumes of the connected pieces, and of the cavities that they enclose, largest first.
    pub fn parts(&self) -> [Vec<f64>; 2] {
        let cut = self.cut();
        let parts = Parts::of(&cut);
        let volumes = parts.volumes(&cut, &Volumes::of(self.mesh));
        let on_boundary = parts.on_boundary(self.mesh);
        let mut sorted = [Vec::new(), Vec::new()];
        for (part, [volume, _]) in volumes.into_iter().enumerate() {
            match (parts.is_solid[part], on_boundary[part]) {
                (true, _) => sorted[0].push(volume),
                (false, false) => sorted[1].push(volume),
                (false, true) => {}
            }
        }
        sorted.iter_mut().for_each(|volumes| volumes.sort_by(|a, b| b.total_cmp(a)));
        sorted
    }

    /// Finds the thinnest member and the narrowest gap, without places in elements that are
    /// `ignored`, `[n_elements]`. None without a pair of facing walls.
    ///
    /// A width is the diameter of a ball that fits between the walls, in the middle of them: from
    /// there the distance from the surface rises to no side, or along the member to both. So
    /// corners count as what they belong to, unless their walls meet at less than 15 degrees, and
    /// so do bumps. Widths are exact to a twentieth of an element. A gap lies within the mesh.
    pub fn narrowest(&self, ignored: &[bool]) -> [Option<Narrowest>; 2] {
        narrowest::narrowest(self.cut(), ignored)
    }

    pub(crate) fn cut(&self) -> Cut<'_> {
        Cut { mesh: self.mesh, field: &self.field, threshold: self.level }
    }
}

/// Rounds of dropping small parts: each round moves the threshold, which may cut off more.
const ROUNDS: usize = 4;

/// Empties pieces of {`field` >= threshold} smaller than an element, and fills such cavities. `at`
/// computes the threshold of a field, and the volume above it.
fn drop_small(
    volumes: &Volumes,
    field: &mut Field,
    at: impl Fn(&Field) -> (f64, f64),
) -> ((f64, f64), Dropped) {
    let (mut cut, mut dropped) = (at(field), Dropped::default());
    for _ in 0..ROUNDS {
        let found = drop_small_at(volumes, field, cut.0);
        if found == Dropped::default() {
            break;
        }
        dropped.pieces += found.pieces;
        dropped.cavities += found.cavities;
        cut = at(field);
    }
    (cut, dropped)
}

fn drop_small_at(volumes: &Volumes, field: &mut Field, threshold: f64) -> Dropped {
    let mesh = volumes.mesh();
    let cut = Cut { mesh, field, threshold };
    let parts = Parts::of(&cut);
    let (volumes, on_boundary) = (parts.volumes(&cut, volumes), parts.on_boundary(mesh));
    let is_small: Vec<bool> = volumes.iter().map(|[volume, element]| volume < element).collect();
    let is_dropped: Vec<bool> = (0..is_small.len())
        .map(|part| is_small[part] && (parts.is_solid[part] || !on_boundary[part]))
        .collect();
    let count = |is_solid: bool| {
        let dropped = is_dropped.iter().zip(&parts.is_solid);
        dropped.filter(|&(&dropped, &solid)| dropped && solid == is_solid).count()
    };
    let dropped = Dropped { pieces: count(true), cavities: count(false) };

    if dropped != Dropped::default() {
        // The ends of the range stay on their side of any later threshold.
        let [least, most] = field.range();
        field.update(|vertex, value| {
            let part = parts.of_vertex[vertex] as usize;
            match (is_dropped[part], parts.is_solid[part]) {
                (false, _) => value,
                (true, true) => least,
                (true, false) => most,
            }
        });
    }
    dropped
}
