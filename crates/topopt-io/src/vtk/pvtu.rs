//! Unstructured grids in pieces (`.pvtu`), which processes of ParaView read side by side.

use std::io::{self, Write};
use std::path::Path;

use topopt_mesh::hexahedron::with_own_nodes;

use super::Compression;
use super::array::{self, Array, Column, MeshCells};
use super::vtu::{Grid, columns, write_to};
use super::xml::escape;
use crate::atomic::{self, WriteError};

/// Writes the elements of a mesh with data in `pieces`, files named relative to `path` whose
/// folders are there: consecutive cells, as many in each as can be, with the points that they have.
/// Then `path`, which lists them. Each file is written whole or not at all.
///
/// `points`: `[n_points][3]`; `cells` as in [`vtu::write`](super::vtu::write()).
///
/// # Errors
/// [`WriteError`]: the operating system's cause, or an array whose length does not fit.
pub fn write<'a>(
    path: &Path,
    pieces: &[String],
    (points, cells): (&[[f64; 3]], impl Into<MeshCells<'a>>),
    data: [&[Array]; 2],
    compression: Compression,
) -> Result<(), WriteError> {
    let all = cells.into();
    let (folder, sizes) = (path.parent().unwrap_or(Path::new("")), [points.len(), all.len()]);
    for (k, name) in pieces.iter().enumerate() {
        let cells = all.len() * k / pieces.len()..all.len() * (k + 1) / pieces.len();
        let piece = all.range(cells.clone());
        let (nodes, own) = with_own_nodes(piece.nodes().as_chunks::<1>().0);
        let numbers: Vec<u32> = (cells.start as u32..cells.end as u32).collect();
        atomic::write(&folder.join(name), |file| {
            let [of_points, of_cells] = columns(data, sizes)?;
            let grid = Grid {
                sizes: [nodes.len(), piece.len()],
                points: array::points(points).of(&nodes),
                cells: piece.with(own.as_flattened()).columns(),
                data: [
                    of_points.into_iter().map(|column| column.of(&nodes)).collect(),
                    of_cells.into_iter().map(|column| column.of(&numbers)).collect(),
                ],
            };
            write_to(file, grid, compression)
        })?;
    }

    atomic::write(path, |file| {
        let [of_points, of_cells] = columns(data, sizes)?;
        writeln!(file, "<?xml version=\"1.0\"?>")?;
        writeln!(
            file,
            "<VTKFile type=\"PUnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" \
             header_type=\"UInt64\">"
        )?;
        writeln!(file, "<PUnstructuredGrid GhostLevel=\"0\">")?;
        section(file, "PPointData", &of_points)?;
        section(file, "PCellData", &of_cells)?;
        section(file, "PPoints", &[array::points(points)])?;
        for name in pieces {
            writeln!(file, "<Piece Source=\"{}\"/>", escape(name))?;
        }
        writeln!(file, "</PUnstructuredGrid>\n</VTKFile>")
    })
}

/// Writes the types, names and numbers of components of the arrays that all pieces have.
fn section(file: &mut impl Write, name: &str, columns: &[Column]) -> io::Result<()> {
    writeln!(file, "<{name}>")?;
    for Column { name, components, kind, .. } in columns {
        let name = escape(name);
        writeln!(
            file,
            "<PDataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{components}\"/>"
        )?;
    }
    writeln!(file, "</{name}>")
}
