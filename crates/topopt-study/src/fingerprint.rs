//! A checksum of all that a model takes from its mesh file; a run resumes only if it is the same.

use std::io::{self, BufWriter, Write};

use crc32fast::Hasher;
use rayon::prelude::*;
use serde::Serialize;
use topopt_mesh::HexMesh;

use topopt_case::finding::Finding;
use topopt_case::model::Model;
use topopt_case::physics::Physics;
use topopt_case::subject::Task;

/// A checksum of mesh, supports, springs, loads, materials, passive elements, responses and what acts in
/// time: of all that may change with the mesh file while the case file stays. A problem is taken whole, and
/// what is left out of a model and a task is named here, so that nothing new is forgotten. Samples of
/// supports, half a gigabyte at 1 M elements, are not serialized: they follow from what is.
///
/// # Errors
/// A finding if a part of it cannot be written as bytes.
pub(crate) fn fingerprint<K: Physics<N>, const N: usize>(
    model: &Model<K, N>,
) -> Result<u32, Finding> {
    let Model {
        mesh,
        problem,
        task,
        // Made of the mesh and of what is summed here.
        kept: _,
        diagnosis: _,
        equal: _,
        in_the_air: _,
        renumbering: _,
        element_width: _,
        grid: _,
        half: _,
        // Written, and nothing is computed from them.
        loaded: _,
        materials: _,
        uncut: _,
        notes: _,
        // A number of the case file.
        solid_modulus: _,
    } = model;

    let Task {
        space,
        posed,
        timeline,
        // Settings, which are compared by their keys.
        filter: _,
        stages: _,
        element_width: _,
        contrast: _,
        mass_density: _,
        // Runs with them are not resumed.
        own: _,
        // Made of the mesh.
        colors: _,
    } = task;

    let (of_mesh, (of_problem, of_task)) = rayon::join(
        || of_mesh(mesh),
        || rayon::join(|| of_bytes(problem), || of_bytes(&(space, posed, timeline))),
    );
    let mut sum = of_mesh;
    [of_problem?, of_task?].iter().for_each(|part| sum.combine(part));
    Ok(sum.finalize())
}

/// The sum of nodes and elements, by all threads.
pub(crate) fn of_mesh(mesh: &HexMesh) -> Hasher {
    let mut sum = Hasher::new();
    add(&mut sum, mesh.connectivity(), |node| [node.to_le_bytes()]);
    add(&mut sum, mesh.coordinates(), |x| x.map(f64::to_le_bytes));
    sum
}

/// Adds the bytes of all `values`, which several threads sum up in pieces.
fn add<T: Sync, const N: usize, const M: usize>(
    sum: &mut Hasher,
    values: &[T],
    bytes: impl Fn(&T) -> [[u8; N]; M] + Sync,
) {
    let of_piece = |values: &[T]| {
        let mut sum = Hasher::new();
        sum.update(values.iter().map(&bytes).collect::<Vec<_>>().as_flattened().as_flattened());
        sum
    };
    let pieces: Vec<Hasher> = values.par_chunks(1 << 16).map(of_piece).collect();
    pieces.iter().for_each(|piece| sum.combine(piece));
}

/// Bytes that are summed at once.
const BUFFER: usize = 1 << 16;

/// The sum of all that is in `value`.
///
/// # Errors
/// A finding if it cannot be written as bytes.
pub(crate) fn of_bytes(value: &impl Serialize) -> Result<Hasher, Finding> {
    let fault = |error: String| Finding::new(format!("cannot sum up the case: {error}"));
    let buffer = BufWriter::with_capacity(BUFFER, Sum(Hasher::new()));
    let written = postcard::to_io(value, buffer).map_err(|error| fault(error.to_string()))?;
    let Sum(sum) = written.into_inner().map_err(|error| fault(error.to_string()))?;
    Ok(sum)
}

/// A checksum as a file.
struct Sum(Hasher);

impl Write for Sum {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
