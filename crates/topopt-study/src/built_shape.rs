//! `BuiltShape`: the solid of a design with its surface, made once and kept beside the results.

use std::fs;
use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};
use topopt_case::finding::Finding;
use topopt_io::{WriteError, atomic};
use topopt_surface::{Filled, MeanDensity, Shape, Shaping, Solid};

use crate::design_file::DesignFile;
use crate::fingerprint::{of_bytes, of_mesh};
use crate::part_file::PartFile;
use crate::result_files::SURFACE;

/// The solid of a design, and the surface that is left of its skin within the part.
pub struct BuiltShape<'a> {
    /// The solid.
    pub solid: Solid<'a>,
    /// The surface.
    pub shape: Shape,
    /// The mean densities of the design that it was made of; none where it was kept, or made of
    /// others.
    pub mean: Option<MeanDensity>,
}

/// First line of the file of a shape, with the version of the format and of the program: another
/// version makes another surface.
const MAGIC: &str = concat!("topopt surface 4 of ", env!("CARGO_PKG_VERSION"), "\n");

/// Bytes of the checksum at the end of the file.
const CHECKSUM: usize = size_of::<u32>();

/// Content of the file of a shape.
#[derive(Serialize, Deserialize)]
struct Kept<F, S> {
    /// Checksum of all that the shape is made of.
    made_of: u32,
    filled: F,
    shape: S,
}

impl<'a> BuiltShape<'a> {
    /// The shape of the design in `file` within its `part`: the whole part where no threshold
    /// divides the densities. That of the usual `shaping` is kept beside the results, and read
    /// where it was made of the same.
    ///
    /// # Errors
    /// Densities that are not finite, too little memory, a part that cannot be cut.
    pub fn of(file: &'a DesignFile, part: &PartFile, shaping: &Shaping) -> Result<Self, Finding> {
        let place = part.folder.as_deref().filter(|_| *shaping == Shaping::default());
        let Some(folder) = place else { return Self::made(file, part, shaping) };
        let path = folder.join(SURFACE);
        let (made_of, kept) = rayon::join(|| made_of(file, part), || read(&path));
        let made_of = made_of?;
        if let Some(kept) = kept.filter(|kept| kept.made_of == made_of)
            && let Some(solid) = Solid::restored(&file.mesh, kept.filled)
        {
            return Ok(Self { solid, shape: kept.shape, mean: None });
        }

        let built = Self::made(file, part, shaping)?;
        let kept = Kept { made_of, filled: built.solid.filled(), shape: &built.shape };
        // Results may lie where nothing can be written: the next command makes the surface again.
        let _ = write(&path, &kept);
        Ok(built)
    }

    fn made(file: &'a DesignFile, part: &PartFile, shaping: &Shaping) -> Result<Self, Finding> {
        let mut uncut = file.uncut(shaping)?;
        let keeps_volume = shaping.threshold.is_none() && uncut.solid.volume() > 0.0;
        if shaping.threshold.is_none() && !keeps_volume {
            uncut = file.uncut(&Shaping { threshold: Some(0.0), ..shaping.clone() })?;
        }
        let shape = uncut.shape(&part.part).map_err(|error| Finding::new(error.to_string()))?;
        let mean = keeps_volume.then_some(uncut.mean);
        Ok(Self { solid: uncut.solid, shape, mean })
    }
}

/// Sums up the mesh, the design and the part.
fn made_of(file: &DesignFile, part: &PartFile) -> Result<u32, Finding> {
    let mut sum = of_mesh(&file.mesh);
    let surface = part.part.surface();
    let form = (&file.depth, &file.draw);
    sum.combine(&of_bytes(&(&file.density, form, surface.vertices(), surface.triangles()))?);
    Ok(sum.finalize())
}

/// Reads a shape that was kept; none if there is none, or it is damaged.
fn read(path: &Path) -> Option<Kept<Filled, Shape>> {
    let bytes = fs::read(path).ok()?;
    let (content, sum) = bytes.strip_prefix(MAGIC.as_bytes())?.split_last_chunk::<CHECKSUM>()?;
    let is_whole = crc32fast::hash(content) == u32::from_le_bytes(*sum);
    is_whole.then(|| postcard::from_bytes(content).ok()).flatten()
}

fn write(path: &Path, kept: &Kept<&Filled, &Shape>) -> Result<(), WriteError> {
    let content = postcard::to_stdvec(kept).expect("lists have lengths");
    let checksum = crc32fast::hash(&content).to_le_bytes();
    let parts = [MAGIC.as_bytes(), &content, &checksum];
    atomic::write(path, |file| parts.iter().try_for_each(|part| file.write_all(part)))
}
