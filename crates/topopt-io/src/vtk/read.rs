//! Conversion of the arrays of a `.vtu` file to a checked mesh.

use super::array::Section;
use super::read_cells::Cells;
use super::read_error::Fault;
use super::read_xml::{DataArray, Outline};
use crate::file_sets::FileSets;
use crate::import::{Cutting, ImportedMesh, Nodes, finite};
use crate::part::Part;
use crate::quote::excerpt;
use crate::read_error::Parsed;

/// Reads the bytes of a file: the mesh, and the arrays `names` of its elements, `[n_elements]` each.
pub(super) fn parse(
    bytes: &[u8],
    names: &[&str],
    cutting: Cutting,
) -> Parsed<(ImportedMesh, Vec<Vec<f64>>)> {
    let file = Outline::of(bytes)?;
    // First: nothing is inflated before the sizes are known to be possible.
    measure(&file)?;
    let nodes = nodes(&file)?;
    let cells = cells(&file, &nodes.coordinates)?;
    let given: Vec<Vec<f64>> =
        names.iter().map(|name| element_data(&file, &cells, name)).collect::<Parsed<_>>()?;

    let mut notes = cells.notes();
    let (numbers, solids) = (cells.numbers.clone(), cells.solids);
    let part = Part::new(nodes, numbers, solids, cutting)?;
    let data = given.into_iter().map(|data| part.of_hexahedra(data)).collect();

    notes.extend(part.elements.note(|_| 0));
    let sets = marked_sets(&file, &cells.numbers, &mut notes)?;
    Ok((part.into_mesh(sets, notes)?, data))
}

/// The sets of points and of the cells with these `numbers` that arrays of zeros and ones mark.
fn marked_sets(file: &Outline, numbers: &[u64], notes: &mut Vec<String>) -> Parsed<FileSets> {
    let mut sets = FileSets::default();
    for array in &file.arrays {
        let (section, count) = match array.section.as_str() {
            "PointData" => (Section::Points, file.n_points),
            "CellData" => (Section::Cells, file.n_cells),
            _ => continue,
        };
        if let Some(marked) = marked(file, array, count, notes)? {
            add_marked(&mut sets, (section, array.name.clone()), &marked, numbers);
        }
    }
    Ok(sets)
}

/// Adds the set of the points that are `marked`, or of the cells among those with these `numbers`.
pub(super) fn add_marked(
    sets: &mut FileSets,
    (section, name): (Section, String),
    marked: &[u64],
    numbers: &[u64],
) {
    match section {
        Section::Points => {
            let members = marked.iter().map(|&point| point as u32);
            sets.nodes.insert(name, members.collect());
        }
        Section::Cells => {
            let given = marked.iter().filter_map(|cell| numbers.binary_search(cell).ok());
            sets.elements.insert(name, given.map(|given| given as u32).collect());
        }
    }
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
    Ok(cells.numbers.iter().map(|cell| values[*cell as usize]).collect())
}

/// Reads of the bytes of a file the arrays `names` with C components, in the order of the file, `[n][C]`
/// each; nothing for one that it does not have.
pub(super) fn arrays<const C: usize>(
    bytes: &[u8],
    section: Section,
    names: &[&str],
) -> Parsed<Vec<Option<Vec<[f64; C]>>>> {
    let file = Outline::of(bytes)?;
    measure(&file)?;
    let (section, count) = match section {
        Section::Points => ("PointData", file.n_points),
        Section::Cells => ("CellData", file.n_cells),
    };
    let components = C as u64;
    let mut found = Vec::new();
    for name in names {
        let mut all = file.arrays.iter().filter(|a| a.section == section);
        let is_wanted = |a: &&DataArray| a.components == components && a.name == *name;
        let count = components.saturating_mul(count);
        let values = all.find(is_wanted).map(|array| file.floats(array, count)).transpose()?;
        found.push(values.map(|values| values.as_chunks().0.to_vec()));
    }
    Ok(found)
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

fn cells(file: &Outline, points: &[[f64; 3]]) -> Parsed<Cells> {
    let types = file.integers(array(file, "Cells", "types")?, file.n_cells)?;
    let offsets_array = array(file, "Cells", "offsets")?;
    let offsets = file.integers(offsets_array, file.n_cells)?;
    let length = u64::try_from(offsets.last().copied().unwrap_or(0)).unwrap_or(0);
    let connectivity_array = array(file, "Cells", "connectivity")?;
    let connectivity = file.integers(connectivity_array, length)?;
    Cells::of(&types, &offsets, &connectivity, points)
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
        finite(node, *x).map_err(|fault| file.fault_in(points, fault))?;
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
    Ok(ones(&array.name, &file.integers(array, count)?, notes))
}

/// Returns the positions where the array `name` is 1, if all other values are 0; else adds a note.
pub(super) fn ones(name: &str, values: &[i64], notes: &mut Vec<String>) -> Option<Vec<u64>> {
    if values.iter().all(|value| matches!(value, 0 | 1)) {
        let marked = (0..).zip(values).filter(|(_, value)| **value == 1);
        return Some(marked.map(|(i, _)| i).collect());
    }
    notes.push(format!("array `{name}` is not a set: it has values other than 0 and 1"));
    None
}
