//! The space that a design may fill: around kept parts, and clear of what must stay free.

use manifold_rust::linalg::Vec3;
use manifold_rust::manifold::Manifold;
use manifold_rust::types::Error;
use rayon::prelude::*;
use topopt_mesh::BoundingBox;
use topopt_mesh::vector::{cross, difference, length};

use crate::TriangleSurface;
use crate::body::Body;

/// Bodies that make the space of a design.
pub struct Space<'a> {
    /// Parts that stay as they are, at least one.
    pub kept: &'a [TriangleSurface],
    /// Bodies that stay free, each with the distance around it that does, too.
    pub keep_out: &'a [(TriangleSurface, f64)],
    /// Outer bound.
    pub within: Within<'a>,
}

/// Outer bound of a space.
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
    /// A surface that encloses no body, or crosses or touches itself.
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
    /// More facets than a keep-out that is not convex may have where it has a clearance.
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

/// Segments of a circle around the ball that rounds what is grown: edges and corners of it lie up
/// to 1 % of the distance too near, faces not at all.
const SEGMENTS: i32 = 32;

/// Facets of a body that is grown and not convex, at most.
pub const MOST_FACETS: usize = 2000;

/// Mean thickness of an overlap that counts as none, as a share of that of the thinner body: the
/// facets of a pin and of its bore do not match.
const SLIVER: f64 = 0.02;

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

        let mut space = self.bound()?;
        for (i, (body, (_, clearance))) in keep_out.iter().zip(self.keep_out).enumerate() {
            let (facets, is_convex) = (body.num_tri(), body.as_impl().is_convex());
            if *clearance > 0.0 && !is_convex && facets > MOST_FACETS {
                return Err(SpaceError::TooFine { keep_out: i, facets });
            }
            space = space.difference(&grown(body, *clearance));
        }
        let parts = joined(kept.clone());
        let space = space.union(&parts);
        if space.status() != Error::NoError || parts.status() != Error::NoError {
            return Err(SpaceError::GaveUp);
        }
        if space.volume() - parts.volume() <= LEAST * space.volume() {
            return Err(SpaceError::Nothing);
        }

        check_is_one(&space, &kept)?;
        let whole = surface(&space);
        let diagonal = length(BoundingBox::of(whole.vertices.iter().copied()).extent());
        Ok(surface(&space.simplify(SMALLEST * diagonal)))
    }

    /// The outer bound.
    fn bound(&self) -> Result<Manifold, SpaceError> {
        let vertices = self.kept.iter().flat_map(|part| part.vertices.iter().copied());
        Ok(match self.within {
            Within::Box(margin) => {
                let BoundingBox { min, max } = BoundingBox::of(vertices);
                let low = vector(min.map(|x| x - margin));
                let size = vector([0, 1, 2].map(|i| max[i] - min[i] + 2.0 * margin));
                Manifold::cube(size, false).translate(low)
            }
            Within::Hull(margin) => {
                let points: Vec<Vec3> = vertices.map(vector).collect();
                grown(&Manifold::hull(&points), margin)
            }
            Within::Envelope(envelope) => manifold(envelope, Member::Envelope)?,
        })
    }
}

/// A body that points may lie in.
pub struct Interior {
    body: Manifold,
    bounds: BoundingBox,
}

impl Interior {
    /// The interior of a closed surface; none if that is open.
    pub fn of(surface: &TriangleSurface) -> Option<Self> {
        let body = manifold(surface, Member::Envelope).ok()?;
        Some(Self { body, bounds: BoundingBox::of(surface.vertices.iter().copied()) })
    }

    /// Whether `x` lies in it, by the facets between it and a place outside.
    pub fn contains(&self, x: [f64; 3]) -> bool {
        if self.bounds.squared_distance(x) > 0.0 {
            return false;
        }
        // Along no edge that a part is likely to have.
        let extent = self.bounds.extent();
        let shares = [1.137, 1.271, 1.413];
        let outside = [0, 1, 2].map(|i| self.bounds.min[i] + shares[i] * extent[i]);
        self.body.ray_cast(vector(x), vector(outside)).len() % 2 == 1
    }
}

/// Refuses keep-outs that reach into kept parts.
fn check_cuts(keep_out: &[Manifold], kept: &[Manifold]) -> Result<(), SpaceError> {
    for (i, body) in keep_out.iter().enumerate() {
        for (j, part) in kept.iter().enumerate() {
            let least = SLIVER * thickness(body).min(thickness(part));
            let pieces = body.intersection(part).decompose();
            if let Some(piece) = pieces.iter().find(|piece| thickness(piece) > least) {
                let BoundingBox { min, max } = BoundingBox::of(surface(piece).vertices);
                let at = [0, 1, 2].map(|k| 0.5 * (min[k] + max[k]));
                return Err(SpaceError::Cut { keep_out: i, kept: j, at });
            }
        }
    }
    Ok(())
}

/// Refuses a space in several pieces. Closed surfaces inside out are cavities.
fn check_is_one(space: &Manifold, kept: &[Manifold]) -> Result<(), SpaceError> {
    let shells = space.decompose().into_iter().map(|shell| (surface(&shell).volume(), shell));
    let mut pieces: Vec<(f64, Manifold)> = shells.filter(|(volume, _)| *volume > 0.0).collect();
    pieces.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let holder = |piece: &Manifold| {
        let shared = |part: &Manifold| piece.intersection(part).volume();
        kept.iter().position(|part| shared(part) > LEAST * part.volume())
    };
    let apart = pieces.iter().skip(1).map(|(volume, piece)| (holder(piece), *volume, piece));
    let Some((kept, volume, piece)) = apart.min_by_key(|(kept, ..)| kept.is_none()) else {
        return Ok(());
    };
    let at = surface(piece).vertices.first().copied().unwrap_or_default();
    Err(SpaceError::Apart { kept, at, volume })
}

/// The body and all within a `distance` of it. Of one that is not convex each facet grows alone.
fn grown(body: &Manifold, distance: f64) -> Manifold {
    if distance <= 0.0 {
        return body.clone();
    }
    let shape = surface(body);
    let ball = surface(&Manifold::sphere(distance, SEGMENTS)).vertices;
    if body.as_impl().is_convex() {
        let triangles = shape.triangles.iter();
        let faces = triangles.flat_map(|triangle| moved(&shape, triangle, distance));
        let corners = shape.vertices.iter().flat_map(|x| around(*x, &ball));
        return Manifold::hull(&corners.chain(faces).collect::<Vec<_>>());
    }

    let of_facet = |triangle: &[u32; 3]| {
        let corners = triangle.map(|vertex| shape.vertices[vertex as usize]);
        let corners = corners.into_iter().flat_map(|x| around(x, &ball));
        Manifold::hull(&corners.chain(moved(&shape, triangle, distance)).collect::<Vec<_>>())
    };
    let mut bodies: Vec<Manifold> = shape.triangles.par_iter().map(of_facet).collect();
    bodies.push(body.clone());
    joined(bodies)
}

/// The union of bodies, by pairs: the same on any number of threads.
fn joined(mut bodies: Vec<Manifold>) -> Manifold {
    let pair = |bodies: &[Manifold]| match bodies {
        [one, other] => one.union(other),
        _ => bodies[0].clone(),
    };
    while bodies.len() > 1 {
        bodies = bodies.par_chunks(2).map(pair).collect();
    }
    bodies.pop().unwrap_or_default()
}

/// The points of a ball around `x`.
fn around(x: [f64; 3], ball: &[[f64; 3]]) -> impl Iterator<Item = Vec3> {
    ball.iter().map(move |point| vector([0, 1, 2].map(|i| x[i] + point[i])))
}

/// Corners of a triangle, moved outwards by a `distance`.
fn moved(surface: &TriangleSurface, triangle: &[u32; 3], distance: f64) -> Vec<Vec3> {
    let corners = triangle.map(|vertex| surface.vertices[vertex as usize]);
    let [a, b, c] = corners;
    let normal = cross(difference(b, a), difference(c, a));
    let size = length(normal);
    if size == 0.0 {
        return Vec::new();
    }
    let step = normal.map(|n| distance * n / size);
    corners.map(|x| vector([0, 1, 2].map(|i| x[i] + step[i]))).into()
}

/// Mean thickness of a body.
fn thickness(body: &Manifold) -> f64 {
    let area = body.surface_area();
    if area > 0.0 { 2.0 * body.volume() / area } else { 0.0 }
}

fn manifold(surface: &TriangleSurface, member: Member) -> Result<Manifold, SpaceError> {
    Body::of(surface).and_then(Body::into_manifold).ok_or(SpaceError::NoBody(member))
}

fn surface(body: &Manifold) -> TriangleSurface {
    crate::body::surface(&body.get_mesh_glp(-1))
}

fn vector([x, y, z]: [f64; 3]) -> Vec3 {
    Vec3 { x, y, z }
}
