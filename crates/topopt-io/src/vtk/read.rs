//! From the arrays of a `.vtu` file to a checked mesh.

use topopt_mesh::Sets;

use super::read_cells::Cells;
use super::read_error::Fault;
use super::read_xml::{DataArray, Outline};
use crate::import::{ImportedMesh, Nodes, Numbering, UNUSED, add_nodes};
use crate::quote::excerpt;
use crate::read_error::{self, Parsed};

/// Reads the bytes of a file: the mesh, and the arrays `names` of its elements.
pub(super) fn parse(bytes: &[u8], names: &[&str]) -> Parsed<(ImportedMesh, Vec<Vec<f64>>)> {
    let file = Outline::of(bytes)?;
    // First: nothing is inflated before the sizes are known to be possible.
    measure(&file)?;
    let cells = cells(&file)?;
    let given: Vec<Vec<f64>> =
        names.iter().map(|name| element_data(&file, &cells, name)).collect::<Parsed<_>>()?;

    let nodes = nodes(&file)?;
    let (tags, corners): (Vec<u64>, Vec<[u64; 8]>) = cells.hexes.iter().copied().unzip();
    let numbering = Numbering::new(nodes, tags, corners.into_iter())?;
    let elements = &numbering.elements;
    let element_data = given.into_iter().map(|data| elements.kept_of(data.into_iter())).collect();

    let mut notes: Vec<String> = (cells.high_order.iter())
        .map(|(points, count)| {
            format!("{count} hexahedra of {points} points were read by their eight corners")
        })
        .collect();
    if cells.left_out > 0 {
        notes.push(format!("{} cells that are not volumes were left out", cells.left_out));
    }
    notes.extend(elements.note(|_| 0));
    notes.extend(numbering.note());
    let sets = marked_sets(&file, &cells, &numbering, &mut notes)?;
    Ok((numbering.into_mesh(sets, notes)?, element_data))
}

/// The sets of points and cells that arrays of zeros and ones mark.
fn marked_sets(
    file: &Outline,
    cells: &Cells,
    numbering: &Numbering,
    notes: &mut Vec<String>,
) -> Parsed<Sets> {
    let mut sets = Sets::default();
    for array in &file.arrays {
        match array.section.as_str() {
            "PointData" => {
                let Some(points) = marked(file, array, file.n_points, notes)? else {
                    continue;
                };
                let number = |&point: &u64| numbering.node(point).unwrap_or(UNUSED);
                let members = points.iter().map(number).collect();
                add_nodes(&mut sets, &array.name, members, notes);
            }

            "CellData" => {
                let Some(marked) = marked(file, array, file.n_cells, notes)? else {
                    continue;
                };
                let number = |cell: &u64| cells.hexes.binary_search_by_key(cell, |hex| hex.0).ok();
                let given = marked.iter().filter_map(number);
                let mut set: Vec<u32> =
                    given.map(|e| numbering.elements.number(e as u32)).collect();
                set.sort_unstable();
                set.dedup();
                sets.elements.insert(array.name.clone(), set);
            }
            _ => {}
        }
    }
    Ok(sets)
}

/// The values that a scalar array of the cells has for the hexahedra.
fn element_data(file: &Outline, cells: &Cells, name: &str) -> Parsed<Vec<f64>> {
    let scalars = || file.arrays.iter().filter(|a| a.section == "CellData" && a.components == 1);
    let Some(array) = scalars().find(|array| array.name == name) else {
        let present: Vec<String> = scalars().map(|array| excerpt(&array.name)).collect();
        return Err(
            Fault::MissingCellData { name: name.into(), present: present.join(", ") }.into()
        );
    };
    let values = file.floats(array, file.n_cells)?;
    Ok(cells.hexes.iter().map(|(cell, _)| values[*cell as usize]).collect())
}

/// Cells that a point may be a corner of on average: far more than in any mesh.
const CELLS_PER_POINT: u64 = 1000;

/// Holds what the file says of its size against the lengths of its arrays before any is inflated: a
/// small file of compressed zeros may claim more than the memory.
fn measure(file: &Outline) -> Parsed<()> {
    let connectivity = array(file, "Cells", "connectivity")?;
    let (cells, points) = (file.n_cells, file.n_points);
    let Some(corners) = file.declared(connectivity)? else { return Ok(()) };
    if u128::from(cells) > corners || cells > points.saturating_mul(CELLS_PER_POINT) {
        return Err(file.fault_in(connectivity, Fault::TooManyCells { cells, points, corners }));
    }
    Ok(())
}

fn cells(file: &Outline) -> Parsed<Cells> {
    let types = file.integers(array(file, "Cells", "types")?, file.n_cells)?;
    let offsets_array = array(file, "Cells", "offsets")?;
    let offsets = file.integers(offsets_array, file.n_cells)?;
    let length = u64::try_from(offsets.last().copied().unwrap_or(0)).unwrap_or(0);
    let connectivity_array = array(file, "Cells", "connectivity")?;
    let connectivity = file.integers(connectivity_array, length)?;
    Cells::of(&types, &offsets, &connectivity)
        .map_err(|fault| file.fault_in(connectivity_array, fault))
}

fn nodes(file: &Outline) -> Parsed<Nodes> {
    let points = array(file, "Points", "Points")?;
    let count = file.n_points.checked_mul(3).ok_or_else(|| {
        let (element, found) = ("Piece".into(), file.n_points.to_string());
        file.fault_in(points, Fault::Attribute { element, attribute: "NumberOfPoints", found })
    })?;
    let coordinates = file.floats(points, count)?;
    let coordinates = coordinates.as_chunks::<3>().0.to_vec();
    for (node, x) in (0..).zip(&coordinates) {
        if x.iter().any(|x| !x.is_finite()) {
            let fault = read_error::Fault::NotFinite { node, coordinates: *x };
            return Err(file.fault_in(points, fault));
        }
    }
    Ok(Nodes::new((0..file.n_points).collect(), coordinates)?)
}

/// The array `name`; there is only one of the points, whatever its name.
fn array<'a>(
    file: &'a Outline<'a>,
    section: &str,
    name: &'static str,
) -> Result<&'a DataArray<'a>, Fault> {
    let is_wanted = |array: &&DataArray| {
        array.section == section && (section == "Points" || array.name == name)
    };
    file.arrays.iter().find(is_wanted).ok_or(Fault::MissingArray(name))
}

/// The points or cells for which an array of integers has 1, if it has 0 for all the others.
fn marked(
    file: &Outline,
    array: &DataArray,
    count: u64,
    notes: &mut Vec<String>,
) -> Parsed<Option<Vec<u64>>> {
    let integers = array.kind.starts_with("Int") || array.kind.starts_with("UInt");
    // Arrays of VTK itself: ghost cells, numbers in another mesh.
    if !integers || array.components != 1 || array.name.starts_with("vtk") {
        return Ok(None);
    }
    let values = file.integers(array, count)?;
    if values.iter().all(|value| matches!(value, 0 | 1)) {
        let marked = (0..).zip(&values).filter(|(_, value)| **value == 1);
        return Ok(Some(marked.map(|(i, _)| i).collect()));
    }
    notes.push(format!("array `{}` is not a set: it has values other than 0 and 1", array.name));
    Ok(None)
}
