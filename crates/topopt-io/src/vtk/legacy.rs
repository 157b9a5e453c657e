//! Unstructured grids in legacy files (`.vtk`).

use std::path::Path;

use super::array::Section;
use super::kind::Kind;
use super::legacy_stream::Stream;
use super::read::{add_marked, ones};
use super::read_cells::Cells;
use super::read_error::Fault;
use crate::file_sets::FileSets;
use crate::import::{Cutting, ImportedMesh, Nodes, finite, read as read_file};
use crate::part::Part;
use crate::read_error::{Parsed, ReadError};

/// Reads a mesh from a legacy file of the versions 2 to 5.1, as text or big-endian bytes.
///
/// Cells and sets are those of [`super::vtu::read`]; sets are SCALARS and arrays of a FIELD.
///
/// # Errors
/// [`ReadError`] with the line or the byte, the fault and the remedy.
pub fn read(path: &Path, cutting: Cutting) -> Result<ImportedMesh, ReadError> {
    read_file(path, |bytes| {
        let mut file = Legacy::default();
        file.read(&mut Stream::new(bytes))?;
        file.import(cutting)
    })
}

/// Contents of a legacy file.
#[derive(Default)]
struct Legacy {
    points: Option<Vec<[f64; 3]>>,
    /// End of the points of every cell, `[n_cells]`, and the points of all cells.
    cells: Option<(Vec<i64>, Vec<i64>)>,
    types: Option<Vec<i64>>,
    /// The section that arrays belong to; before it they are those of the whole file.
    section: Option<Section>,
    /// Positions of the ones in arrays of zeros and ones, by section and name.
    marked: Vec<(Section, String, Vec<u64>)>,
    notes: Vec<String>,
}

impl Legacy {
    fn read(&mut self, stream: &mut Stream) -> Parsed<()> {
        let first = stream.line().ok_or(Fault::EmptyFile)?;
        if !first.to_ascii_lowercase().starts_with("# vtk datafile version") {
            return Err(Fault::NotLegacy.into());
        }
        stream.any_line();
        let encoding = stream.line().unwrap_or_default();
        stream.is_binary = match encoding.to_ascii_uppercase().as_str() {
            "ASCII" => false,
            "BINARY" => true,
            _ => return Err(stream.unexpected("ASCII or BINARY", &encoding)),
        };

        while let Some(line) = stream.line() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let word = words.first().copied().unwrap_or_default().to_ascii_uppercase();
            match word.as_str() {
                "DATASET" => {
                    let kind = words.get(1).copied().unwrap_or_default();
                    if kind.is_empty() {
                        return Err(stream.unexpected("UNSTRUCTURED_GRID", kind));
                    }
                    if !kind.eq_ignore_ascii_case("UNSTRUCTURED_GRID") {
                        return Err(stream.fault(Fault::Kind(crate::quote::excerpt(kind))));
                    }
                }
                "POINTS" => self.points(stream, &words)?,
                "CELLS" => self.cells(stream, &words)?,
                "CELL_TYPES" => {
                    let count = count(stream, &words, 1)?;
                    self.types = Some(stream.integers(Kind::Integer(4, true), count)?);
                }
                "POINT_DATA" | "CELL_DATA" => self.begin(stream, &word, &words)?,
                "METADATA" => stream.skip_paragraph(),
                _ if !self.array(stream, &word, &words)? => {
                    return Err(stream.unexpected("a section of the file", &line));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// `POINTS n type`.
    fn points(&mut self, stream: &mut Stream, words: &[&str]) -> Parsed<()> {
        let (count, kind) = (count(stream, words, 1)?, kind(stream, words, 2)?);
        let coordinates = stream.floats(kind, count.saturating_mul(3))?;
        let points = coordinates.as_chunks::<3>().0.to_vec();
        for (node, x) in (0..).zip(&points) {
            finite(node, *x)?;
        }
        self.points = Some(points);
        Ok(())
    }

    /// `CELLS n size` with the number of points before those of every cell, or, from version 5.1 on,
    /// `CELLS n+1 size` with OFFSETS and CONNECTIVITY.
    fn cells(&mut self, stream: &mut Stream, words: &[&str]) -> Parsed<()> {
        let (n_cells, size) = (count(stream, words, 1)?, count(stream, words, 2)?);
        if let Some(line) = stream.line_if("OFFSETS") {
            let words: Vec<&str> = line.split_whitespace().collect();
            let kind_of_offsets = kind(stream, &words, 1)?;
            let offsets = stream.integers(kind_of_offsets, n_cells)?;
            let Some(line) = stream.line_if("CONNECTIVITY") else {
                let found = stream.line().unwrap_or_default();
                return Err(stream.unexpected("CONNECTIVITY", &found));
            };
            let words: Vec<&str> = line.split_whitespace().collect();
            let kind = kind(stream, &words, 1)?;
            let connectivity = stream.integers(kind, size)?;
            if offsets.first().is_some_and(|first| *first != 0) {
                return Err(stream.unexpected("0 as the first offset", &offsets[0].to_string()));
            }
            self.cells = Some((offsets.into_iter().skip(1).collect(), connectivity));
            return Ok(());
        }

        let numbers = stream.integers(Kind::Integer(4, true), size)?;
        let (mut ends, mut connectivity) = (Vec::new(), Vec::new());
        let mut rest = &numbers[..];
        while let Some((&n_points, more)) = rest.split_first() {
            let points = usize::try_from(n_points).ok().and_then(|n| more.split_at_checked(n));
            let Some((points, more)) = points else {
                let found = n_points.to_string();
                return Err(stream.unexpected("the number of points of a cell", &found));
            };
            connectivity.extend_from_slice(points);
            ends.push(connectivity.len() as i64);
            rest = more;
        }
        if ends.len() as u64 != n_cells {
            return Err(stream.fault(length("CELLS", ends.len() as u64, n_cells)));
        }
        self.cells = Some((ends, connectivity));
        Ok(())
    }

    /// `POINT_DATA n` or `CELL_DATA n`.
    fn begin(&mut self, stream: &Stream, word: &str, words: &[&str]) -> Parsed<()> {
        let is_points = word == "POINT_DATA";
        self.section = Some(if is_points { Section::Points } else { Section::Cells });
        let (found, expected) = (count(stream, words, 1)?, self.n_entries());
        if found != expected {
            return Err(stream.fault(length(word, found, expected)));
        }
        Ok(())
    }

    /// Number of entries of an array of the section.
    fn n_entries(&self) -> u64 {
        match self.section {
            None => 0,
            Some(Section::Points) => self.points.as_ref().map_or(0, |points| points.len() as u64),
            Some(Section::Cells) => self.cells.as_ref().map_or(0, |(ends, _)| ends.len() as u64),
        }
    }

    /// An array that begins with the line of these words; false if none does.
    fn array(&mut self, stream: &mut Stream, word: &str, words: &[&str]) -> Parsed<bool> {
        let count_of = |components: u64| self.n_entries().saturating_mul(components);
        match word {
            "SCALARS" => {
                let kind = kind(stream, words, 2)?;
                let components = if words.len() > 3 { count(stream, words, 3)? } else { 1 };
                stream.line_if("LOOKUP_TABLE");
                let name = words[1].to_owned();
                self.values(stream, name, kind, components, self.n_entries())?;
            }
            "FIELD" => self.field(stream, words)?,
            "LOOKUP_TABLE" | "COLOR_SCALARS" => {
                let kind = if stream.is_binary { Kind::Integer(1, false) } else { Kind::Float(8) };
                let given = count(stream, words, 2)?;
                let is_table = word == "LOOKUP_TABLE";
                stream
                    .skip(kind, if is_table { given.saturating_mul(4) } else { count_of(given) })?;
            }

            "VECTORS" | "NORMALS" => stream.skip(kind(stream, words, 2)?, count_of(3))?,
            "TENSORS" => stream.skip(kind(stream, words, 2)?, count_of(9))?,
            "TENSORS6" => stream.skip(kind(stream, words, 2)?, count_of(6))?,
            "GLOBAL_IDS" | "PEDIGREE_IDS" | "EDGE_FLAGS" => {
                stream.skip(kind(stream, words, 2)?, count_of(1))?;
            }
            "TEXTURE_COORDINATES" => {
                let count = count_of(count(stream, words, 2)?);
                stream.skip(kind(stream, words, 3)?, count)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// `FIELD name n`, and n arrays `name components entries type`.
    fn field(&mut self, stream: &mut Stream, words: &[&str]) -> Parsed<()> {
        for _ in 0..count(stream, words, 2)? {
            // What VTK knows of an array stands behind it, up to a blank line.
            while stream.line_if("METADATA").is_some() {
                stream.skip_paragraph();
            }
            let line = stream.line().ok_or_else(|| stream.fault(Fault::Truncated))?;
            let words: Vec<&str> = line.split_whitespace().collect();
            let (components, entries) = (count(stream, &words, 1)?, count(stream, &words, 2)?);
            let kind = kind(stream, &words, 3)?;
            self.values(stream, words[0].to_owned(), kind, components, entries)?;
        }
        Ok(())
    }

    /// The values of an array: what they mark, if they do.
    fn values(
        &mut self,
        stream: &mut Stream,
        name: String,
        kind: Kind,
        components: u64,
        entries: u64,
    ) -> Parsed<()> {
        let name = decoded(&name);
        let is_scalar = kind.is_integer() && components == 1 && !name.starts_with("vtk");
        let Some(section) = self.section.filter(|_| is_scalar) else {
            return stream.skip(kind, components.saturating_mul(entries));
        };
        let values = stream.integers(kind, entries)?;
        if entries != self.n_entries() {
            return Err(stream.fault(length(&name, entries, self.n_entries())));
        }
        if let Some(marked) = ones(&name, &values, &mut self.notes) {
            self.marked.push((section, name, marked));
        }
        Ok(())
    }

    /// The checked mesh with its sets.
    fn import(self, cutting: Cutting) -> Parsed<ImportedMesh> {
        let points = self.points.ok_or(Fault::MissingSection("POINTS"))?;
        let (ends, connectivity) = self.cells.ok_or(Fault::MissingSection("CELLS"))?;
        let types = self.types.ok_or(Fault::MissingSection("CELL_TYPES"))?;
        if types.len() != ends.len() {
            return Err(length("CELL_TYPES", types.len() as u64, ends.len() as u64).into());
        }

        let cells = Cells::of(&types, &ends, &connectivity, &points)?;
        let mut notes = cells.notes();
        let numbers = cells.numbers;
        let nodes = Nodes::new((0..points.len() as u64).collect(), points)?;
        let part = Part::new(nodes, numbers.clone(), cells.solids, cutting)?;
        notes.extend(part.elements.note(|_| 0));
        notes.extend(self.notes);

        let mut sets = FileSets::default();
        for (section, name, marked) in self.marked {
            add_marked(&mut sets, (section, name), &marked, &numbers);
        }
        Ok(part.into_mesh(sets, notes)?)
    }
}

/// A word of a line as a count.
fn count(stream: &Stream, words: &[&str], at: usize) -> Parsed<u64> {
    let word = words.get(at).copied().unwrap_or_default();
    word.parse().map_err(|_| stream.unexpected("a count", word))
}

/// A word of a line as a number type.
fn kind(stream: &Stream, words: &[&str], at: usize) -> Parsed<Kind> {
    let word = words.get(at).copied().unwrap_or_default();
    Kind::of_legacy(word)
        .ok_or_else(|| stream.unexpected("a number type such as int or double", word))
}

fn length(array: &str, found: u64, expected: u64) -> Fault {
    let array = crate::quote::excerpt(array);
    Fault::Length { array, found, expected: expected.into(), unit: "entries" }
}

/// A name with the characters for which VTK writes `%` and two hexadecimal digits.
fn decoded(name: &str) -> String {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    while let Some((&first, more)) = rest.split_first() {
        let digits = more.get(..2).filter(|_| first == b'%');
        let code = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &more[2..];
            }
            None => {
                bytes.push(first);
                rest = more;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
