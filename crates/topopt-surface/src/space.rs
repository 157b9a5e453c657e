//! The space that a design may fill: around kept parts, and clear of what must stay free.

use manifold_rust::linalg::Vec3;
use manifold_rust::manifold::Manifold;
use manifold_rust::types::Error;
use rayon::prelude::*;
use topopt_mesh::BoundingBox;
use topopt_mesh::vector::length;

use crate::TriangleSurface;
use crate::body::{Body, surface};
use crate::cylinders::{Cylinder, Rounded, match_facets};
use crate::growth::{grown, joined, vector};

/// Bodies that make the space of a design.
pub struct Space<'a> {
    /// Parts that stay as they are; at least one, if the bound follows from them.
    pub kept: &'a [TriangleSurface],
    /// Bodies that stay free, each with the distance around it that does, too.
    pub keep_out: &'a [(TriangleSurface, f64)],
    /// Outer bound.
    pub within: Within<'a>,
    /// Cylinders of all bodies: those that several have in common get the same facets, and those of
    /// keep-outs few before these grow.
    pub cylinders: &'a [Cylinder],
}

/// Outer bound of a space.
#[derive(Clone, Copy)]
pub enum Within<'a> {
    /// The box around the kept parts, and so much more on each side.
    Box(f64),
    /// The convex hull of the kept parts, and all within a distance of it.
    Hull(f64),
    /// A body.
    Envelope(&'a TriangleSurface),
}

/// A body that a space is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Member {
    /// A kept part, by its place in the list.
    Kept(usize),
    /// A keep-out, by its place in the list.
    KeepOut(usize),
    /// The envelope.
    Envelope,
}

/// Why bodies make no space.
#[derive(Debug, Clone, PartialEq)]
pub enum SpaceError {
    /// A surface that encloses no body, or touches itself.
    NoBody(Member),
    /// A keep-out that reaches into a kept part.
    Cut {
        /// Place of the keep-out in the list.
        keep_out: usize,
        /// Place of the part in the list.
        kept: usize,
        /// A place in both.
        at: [f64; 3],
    },
    /// A piece that touches nothing else.
    Apart {
        /// Place of a kept part in it, if there is one.
        kept: Option<usize>,
        /// A place on it.
        at: [f64; 3],
        /// Volume of the piece.
        volume: f64,
    },
    /// A keep-out with a clearance that is not convex, and has more facets than
    /// [`MOST_FACETS`](crate::MOST_FACETS).
    TooFine {
        /// Place of the keep-out in the list.
        keep_out: usize,
        /// Number of facets.
        facets: usize,
    },
    /// Nothing besides the kept parts.
    Nothing,
    /// Bodies that the library cannot join.
    GaveUp,
}

/// Mean thickness of an overlap that counts as none, as a share of that of the thinner body: the
/// facets of a pin and of its bore do not match.
const SLIVER: f64 = 0.02;

/// Mean thickness of what a clearance cuts off a kept part that it fits, as a share of the
/// clearance.
const FITTING: f64 = 0.1;

/// Volume that counts as none, as a share of the whole.
const LEAST: f64 = 1e-6;

/// Length that the surface does not tell apart, as a share of its diagonal.
const SMALLEST: f64 = 1e-5;

impl Space<'_> {
    /// Makes the surface of the space: what lies within the bound, or is kept, without keep-outs.
    ///
    /// # Errors
    /// [`SpaceError`]
    pub fn surface(&self) -> Result<TriangleSurface, SpaceError> {
        let kept = self.kept.iter().enumerate();
        let kept = kept.map(|(i, part)| manifold(part, Member::Kept(i)));
        let kept: Vec<Manifold> = kept.collect::<Result<_, _>>()?;
        let keep_out = self.keep_out.iter().enumerate();
        let keep_out = keep_out.map(|(i, (body, _))| manifold(body, Member::KeepOut(i)));
        let keep_out: Vec<Manifold> = keep_out.collect::<Result<_, _>>()?;
        check_cuts(&keep_out, &kept)?;

        let Matched { kept, free, envelope } = self.matched(&keep_out)?;
        let (mut space, mut fitting) = (self.bound(&kept, envelope), Vec::new());
        for (free, (_, clearance)) in free.into_iter().zip(self.keep_out) {
            let fits = |part| *clearance <= 0.0 || cut(&free, part, FITTING * clearance).is_none();
            if kept.iter().all(fits) {
                fitting.push(free);
            } else {
                space = space.difference(&free);
            }
        }
        // Where the facets of a pin and of its bore differ, those of the pin alone remain.
        let parts = joined(kept.clone());
        let space = fitting.iter().fold(space.union(&parts), |space, free| space.difference(free));
        if space.status() != Error::NoError || parts.status() != Error::NoError {
            return Err(SpaceError::GaveUp);
        }
        if space.volume() - parts.volume() <= LEAST * space.volume() {
            return Err(SpaceError::Nothing);
        }

        let diagonal = length(BoundingBox::of(surface(&space).vertices).extent());
        // As one body, so that nothing is left of where its parts met.
        let simple = space.as_original().simplify(SMALLEST * diagonal);
        Ok(surface(&in_one(&simple, &kept)?))
    }

    /// The bodies with the same facets on cylinders that they have in common; keep-outs are grown
    /// by their clearance.
    fn matched(&self, keep_out: &[Manifold]) -> Result<Matched, SpaceError> {
        let mut shapes: Vec<Rounded> = self.kept.iter().cloned().map(Rounded::given).collect();
        for (i, (body, (_, clearance))) in keep_out.iter().zip(self.keep_out).enumerate() {
            let too_fine = |facets| SpaceError::TooFine { keep_out: i, facets };
            let free = if *clearance > 0.0 {
                grown(&self.in_prisms(body), *clearance).map_err(too_fine)?
            } else {
                body.clone()
            };
            shapes.push(Rounded::grown(surface(&free), *clearance));
        }
        if let Within::Envelope(envelope) = self.within {
            shapes.push(Rounded::given(envelope.clone()));
        }
        match_facets(&mut shapes, self.cylinders, matches!(self.within, Within::Hull(_)));

        let n_kept = self.kept.len();
        let member = |i: usize| match i.checked_sub(n_kept) {
            None => Member::Kept(i),
            Some(i) if i < keep_out.len() => Member::KeepOut(i),
            Some(_) => Member::Envelope,
        };
        let bodies =
            shapes.iter().enumerate().map(|(i, shape)| manifold(&shape.surface, member(i)));
        let mut kept: Vec<Manifold> = bodies.collect::<Result<_, _>>()?;
        let mut free = kept.split_off(n_kept);
        let envelope = free.split_off(keep_out.len()).pop();
        Ok(Matched { kept, free, envelope })
    }

    /// The body with its cylinders as prisms, whose facets merge along the axis.
    fn in_prisms(&self, body: &Manifold) -> Manifold {
        let mut shapes = [Rounded::given(surface(body))];
        match_facets(&mut shapes, self.cylinders, true);
        let prisms = Body::of(&shapes[0].surface).filter(|prisms| !prisms.touches);
        prisms.map_or_else(|| body.clone(), |prisms| prisms.manifold)
    }

    /// The outer bound of kept parts, or the `envelope`.
    fn bound(&self, kept: &[Manifold], envelope: Option<Manifold>) -> Manifold {
        let vertices = || kept.iter().flat_map(|part| surface(part).vertices);
        match (self.within, envelope) {
            (Within::Hull(margin), _) => {
                let points: Vec<Vec3> = vertices().map(vector).collect();
                let hull = Manifold::hull(&points);
                // A hull is convex, and grows whatever its facets are.
                grown(&hull, margin).unwrap_or(hull)
            }
            (_, Some(envelope)) => envelope,
            (Within::Box(margin), None) => {
                let BoundingBox { min, max } = BoundingBox::of(vertices());
                let low = vector(min.map(|x| x - margin));
                let size = vector([0, 1, 2].map(|i| max[i] - min[i] + 2.0 * margin));
                Manifold::cube(size, false).translate(low)
            }
            (Within::Envelope(_), None) => Manifold::empty(),
        }
    }
}

/// Bodies with the same facets on common cylinders.
struct Matched {
    kept: Vec<Manifold>,
    /// Keep-outs with their clearances.
    free: Vec<Manifold>,
    envelope: Option<Manifold>,
}

impl TriangleSurface {
    /// Whether each of `points` lies in the body of the surface, by the facets above it.
    pub fn holds(&self, points: &[[f64; 3]]) -> Vec<bool> {
        let Some(body) = Body::of(self) else { return vec![false; points.len()] };
        let bounds = BoundingBox::of(self.vertices.iter().copied());
        let above = bounds.max[2] + length(bounds.extent());
        let is_within = |x: &[f64; 3]| {
            bounds.squared_distance(*x) == 0.0
                && body.manifold.ray_cast(vector(*x), vector([x[0], x[1], above])).len() % 2 == 1
        };
        points.par_iter().map(is_within).collect()
    }
}

/// Refuses keep-outs that reach into kept parts.
fn check_cuts(keep_out: &[Manifold], kept: &[Manifold]) -> Result<(), SpaceError> {
    for (i, body) in keep_out.iter().enumerate() {
        for (j, part) in kept.iter().enumerate() {
            let least = SLIVER * thickness(body).min(thickness(part));
            if let Some(piece) = cut(body, part, least) {
                let BoundingBox { min, max } = BoundingBox::of(surface(&piece).vertices);
                let at = [0, 1, 2].map(|k| 0.5 * (min[k] + max[k]));
                return Err(SpaceError::Cut { keep_out: i, kept: j, at });
            }
        }
    }
    Ok(())
}

/// A piece that two bodies have in common, if one is thicker than `least`.
fn cut(one: &Manifold, other: &Manifold, least: f64) -> Option<Manifold> {
    let pieces = one.intersection(other).decompose();
    pieces.into_iter().find(|piece| thickness(piece) > least)
}

/// The space without crumbs of rounding; one in several pieces is refused. Closed surfaces inside
/// out are cavities.
fn in_one(space: &Manifold, kept: &[Manifold]) -> Result<Manifold, SpaceError> {
    let least = LEAST * space.volume();
    let shells = space.decompose().into_iter().map(|shell| (surface(&shell).volume(), shell));
    let shells: Vec<(f64, Manifold)> = shells.filter(|(volume, _)| volume.abs() > least).collect();
    let is_piece = |(volume, _): &&(f64, Manifold)| *volume > 0.0;
    let mut pieces: Vec<&(f64, Manifold)> = shells.iter().filter(is_piece).collect();
    pieces.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let holder = |piece: &Manifold| {
        let shared = |part: &Manifold| piece.intersection(part).volume();
        kept.iter().position(|part| shared(part) > LEAST * part.volume())
    };
    let apart = pieces.iter().skip(1).map(|(volume, piece)| (holder(piece), *volume, piece));
    let Some((kept, volume, piece)) = apart.min_by_key(|(kept, ..)| kept.is_none()) else {
        return Ok(Manifold::compose(
            &shells.into_iter().map(|(_, shell)| shell).collect::<Vec<_>>(),
        ));
    };
    let at = surface(piece).vertices.first().copied().unwrap_or_default();
    Err(SpaceError::Apart { kept, at, volume })
}

/// Mean thickness of a body.
fn thickness(body: &Manifold) -> f64 {
    let area = body.surface_area();
    if area > 0.0 { 2.0 * body.volume() / area } else { 0.0 }
}

fn manifold(surface: &TriangleSurface, member: Member) -> Result<Manifold, SpaceError> {
    let body = Body::of(surface).filter(|body| !body.touches);
    body.map(|body| body.manifold).ok_or(SpaceError::NoBody(member))
}
