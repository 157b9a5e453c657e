//! Generators of the four benchmarks of [Ratnakar2022, ch. 3]: no external mesher, any size.
//!
//! Every mesh has the face set `fixed`, the node set `load` and the element set `design`; the
//! connecting rod also has the element set `solid`, its two rings. All four are plane meshes of
//! quadrilaterals, extruded along z. A mesh has no directions and magnitudes of loads.

mod block;
mod cantilever;
mod connecting_rod;
mod extrusion;
mod l_beam;
mod michell;
mod part;
mod section;
mod smoothing;

use std::str::FromStr;

pub use block::block;

use crate::{HexMesh, MeshError};

/// One of the four benchmarks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Benchmark {
    /// A box 2 x 1 x 1 of unit cubes, clamped at x = 0, loaded on the edge x = L, y = 0.
    Cantilever,
    /// A square less its upper right part, in unit cubes, clamped on top, loaded on the upper
    /// edge of its right end.
    LBeam,
    /// A rectangle 5R x 4R less a half disc of radius R on its left side, which is clamped;
    /// loaded at the middle of the right side.
    Michell,
    /// A plate 150 x 350 with two bores in thicker, solid rings.
    ConnectingRod,
}

/// Resolution of a generated mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resolution {
    /// The mesh 1 to 5 of \[Ratnakar2022\].
    Size(u32),
    /// Requested number of elements; the generator makes the nearest number that it can.
    Elements(usize),
}

/// Largest number of elements of a generator, so that 32 bits number the nodes too.
pub const MOST_ELEMENTS: usize = (1 << 31) - 1;

/// Reason for which a mesh cannot be generated.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum GenerateError {
    /// A name other than those of the four benchmarks.
    #[error("there is no benchmark `{name}`; there are: {}", names(), name = .0)]
    UnknownBenchmark(String),
    /// A size that the thesis does not have.
    #[error("size {0} is not one of the five; give 1 to 5, or a number of elements")]
    UnknownSize(u32),
    /// Zero elements requested.
    #[error("0 elements were requested; request at least 1")]
    NoElements,
    /// Too many elements requested.
    #[error("{0} elements are too many for 32-bit numbers; request at most {MOST_ELEMENTS}")]
    TooLarge(usize),
    /// The generated mesh is not valid.
    #[error(transparent)]
    Mesh(#[from] MeshError),
}

/// The radius of the sensitivity filter for the mesh `size` of \[Ratnakar2022\], 1 to 5, in element
/// widths: the edge of a unit cube, or the square root of the mean area of a quadrilateral of the
/// design domain in the plane.
///
/// # Errors
/// [`GenerateError::UnknownSize`].
pub fn filter_radius(size: u32) -> Result<f64, GenerateError> {
    of_size(&[3.0, 3.5, 4.0, 4.5, 5.0], size)
}

impl Benchmark {
    /// All four benchmarks.
    pub const ALL: [Benchmark; 4] =
        [Benchmark::Cantilever, Benchmark::LBeam, Benchmark::Michell, Benchmark::ConnectingRod];

    /// The name in files and commands.
    pub fn name(self) -> &'static str {
        match self {
            Benchmark::Cantilever => "cantilever",
            Benchmark::LBeam => "l_beam",
            Benchmark::Michell => "michell",
            Benchmark::ConnectingRod => "connecting_rod",
        }
    }

    /// Generates the mesh.
    ///
    /// # Errors
    /// [`GenerateError`] for a size that is not 1 to 5, or a number of elements that is zero or
    /// beyond [`MOST_ELEMENTS`].
    pub fn generate(self, resolution: Resolution) -> Result<HexMesh, GenerateError> {
        self.by_steps(resolution, 1)
    }

    /// Generates a mesh of the same body by elements of about twice the edge, an eighth as many at
    /// best: numbers along edges are rounded, and elements are stretched so that they fill the body.
    ///
    /// # Errors
    /// As [`Benchmark::generate`].
    pub fn generate_coarser(self, resolution: Resolution) -> Result<HexMesh, GenerateError> {
        self.by_steps(resolution, 2)
    }

    fn by_steps(self, resolution: Resolution, step: usize) -> Result<HexMesh, GenerateError> {
        let n_elements = match resolution {
            Resolution::Size(size) => of_size(&self.thesis_elements(), size)?,
            Resolution::Elements(n) => n,
        };
        match n_elements {
            0 => return Err(GenerateError::NoElements),
            n if n > MOST_ELEMENTS => return Err(GenerateError::TooLarge(n)),
            _ => (),
        }
        let part = match self {
            Benchmark::Cantilever => cantilever::part(n_elements, step),
            Benchmark::LBeam => l_beam::part(n_elements, step),
            Benchmark::Michell => michell::part(n_elements, step),
            Benchmark::ConnectingRod => connecting_rod::part(n_elements, step),
        };
        Ok(part.into_mesh()?)
    }

    /// Number of elements of the meshes 1 to 5 of \[Ratnakar2022\].
    pub fn thesis_elements(self) -> [usize; 5] {
        match self {
            Benchmark::Cantilever => [31_250, 85_750, 182_250, 432_000, 1_024_000],
            Benchmark::LBeam => [32_768, 85_184, 188_384, 438_976, 1_000_000],
            Benchmark::Michell => [38_148, 85_674, 183_432, 453_175, 1_170_894],
            Benchmark::ConnectingRod => [33_178, 85_376, 182_637, 465_708, 1_033_820],
        }
    }
}

impl FromStr for Benchmark {
    type Err = GenerateError;

    fn from_str(name: &str) -> Result<Self, GenerateError> {
        let found = Benchmark::ALL.into_iter().find(|benchmark| benchmark.name() == name);
        found.ok_or_else(|| GenerateError::UnknownBenchmark(name.into()))
    }
}

fn of_size<T: Copy>(values: &[T; 5], size: u32) -> Result<T, GenerateError> {
    let index = (size as usize).checked_sub(1);
    index.and_then(|i| values.get(i).copied()).ok_or(GenerateError::UnknownSize(size))
}

fn names() -> String {
    Benchmark::ALL.map(Benchmark::name).join(", ")
}

#[cfg(test)]
mod tests;
