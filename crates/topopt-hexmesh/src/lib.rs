//! Meshes of hexahedra of any closed triangle surface, or of several that share faces, with their
//! sharp edges kept.
//!
//! [`mesh`] lays a grid into the planes of the part, keeps the cells of which more than half lies
//! inside, and maps corners, sharp curves and faces of the part to the skin of these. Layers of
//! hexahedra go under faces that do not lie along the grid. Then the nodes near these move: on the
//! surface along it, to the shapes of least energy; and along the normals of curved faces where the
//! volume would be wrong. Bodies that share faces get one mesh that conforms, with nodes on these
//! faces; layers go under either side of them. Of a part with mirror planes one half is meshed, a
//! quarter or an eighth, and mirrored. A mesh that is returned has passed all checks: no element is
//! inverted, nodes lie on their faces or near curved ones, and the part's holes are there.
//!
//! Places of smaller elements have closer planes of the grid, or elements that are divided in three
//! with transitions, by what takes clearly fewer ([`Refinement`]).
//!
//! Results do not depend on the number of threads. This crate is internal to topopt, without
//! promises of stability.
//!
//! ```
//! use topopt_hexmesh::{Surface, mesh};
//!
//! // A cube of edge 1, in six faces of two triangles.
//! let points = (0..8u32).map(|v| [0, 1, 2].map(|k| f64::from(v >> k & 1))).collect();
//! let quads =
//!     [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
//! let triangles = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
//! let faces = (0..12).map(|triangle| triangle / 2).collect();
//! let cube = Surface::new(points, triangles, faces)?;
//!
//! let meshed = mesh(&cube, 0.25, 1e6)?;
//! assert_eq!((meshed.hexes.len(), meshed.faces.len()), (64, 96));
//! assert_eq!(meshed.report.least, 1.0);
//! # Ok::<(), topopt_hexmesh::HexmeshError>(())
//! ```

mod attempt;
mod cells;
mod certify;
mod chain;
mod clip;
mod draft;
mod energy;
mod error;
mod fault;
mod features;
mod fit;
mod fraction;
mod grid;
mod groups;
mod joined;
mod ladder;
mod meshed;
mod mirror;
mod nearest;
mod objective;
mod optimize;
mod pad;
mod patches;
mod plan;
mod refine;
mod report;
mod routing;
mod sheet;
mod sizes;
mod skin;
mod surface;
mod symmetry;
mod templates;
mod turn;
mod volume;

pub use error::HexmeshError;
pub use ladder::{count, mesh};
pub use meshed::{Meshed, NumberedFace};
pub use report::{Refinement, Report};
pub use sizes::{Finer, Sizes};
pub use surface::Surface;
