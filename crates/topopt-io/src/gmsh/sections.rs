//! The sections of a file, in either version.

use std::path::Path;

use super::cursor::{Cursor, Least};
use super::error::Fault;
use super::raw::RawMesh;
use super::version_4::Entities;
use super::{version_2, version_4};
use crate::quote::printable;
use crate::read_error::{Parsed, ReadError};

/// Sections that say nothing about nodes, elements and groups.
const WITHOUT_MEANING: &str = "Comments Periodic NodeData ElementData ElementNodeData \
                               InterpolationScheme GhostElements Parametrizations";

/// Reads the file at `path` as it stands.
pub(super) fn read(path: &Path) -> Result<RawMesh, ReadError> {
    crate::import::stream(path, |file, length| parse(Cursor::new(file, length)))
}

/// Reads all sections of a file.
pub(super) fn parse(mut cursor: Cursor) -> Parsed<RawMesh> {
    if !cursor.skip_blanks()? {
        return Err(Fault::EmptyFile.into());
    }

    let version = format(&mut cursor)?;
    let mut mesh = RawMesh::default();
    let mut entities = None;
    let mut nodes = false;
    let mut elements = false;

    while cursor.skip_blanks()? {
        let section = cursor.begin_section()?;
        let repeated = match section.as_str() {
            "Nodes" => std::mem::replace(&mut nodes, true),
            "Elements" => std::mem::replace(&mut elements, true),
            "Entities" => entities.is_some(),
            _ => false,
        };
        if repeated {
            return Err(cursor.fault(Fault::RepeatedSection(section)));
        }
        // The tags of its nodes are resolved as an element is read.
        if elements && !nodes {
            return Err(cursor.fault(Fault::ElementsFirst));
        }

        read_section(&mut cursor, version, section, &mut mesh, &mut entities)?;
    }

    match (nodes, elements) {
        (false, _) => Err(Fault::MissingSection("Nodes").into()),
        (_, false) => Err(Fault::MissingSection("Elements").into()),
        _ => Ok(mesh),
    }
}

/// Reads a section from behind its head on, or passes over one that is not known.
fn read_section(
    cursor: &mut Cursor,
    version: Version,
    name: String,
    mesh: &mut RawMesh,
    entities: &mut Option<Entities>,
) -> Parsed<()> {
    match (name.as_str(), version) {
        ("PhysicalNames", _) => physical_names(cursor, mesh)?,
        ("PartitionedEntities", _) => return Err(cursor.fault(Fault::Partitioned)),
        ("Nodes", Version::V2) => version_2::nodes(cursor, mesh)?,
        ("Nodes", Version::V4) => version_4::nodes(cursor, mesh)?,
        ("Elements", Version::V2) => version_2::elements(cursor, mesh)?,
        ("Elements", Version::V4) => version_4::elements(cursor, mesh, entities.as_ref())?,
        ("Entities", Version::V4) => *entities = Some(version_4::entities(cursor, mesh)?),
        (unread, _) => {
            cursor.skip_section()?;
            if !WITHOUT_MEANING.split(' ').any(|known| known == unread) {
                mesh.unknown_sections.push(name);
            }
            return Ok(());
        }
    }
    cursor.end_section()
}

#[derive(Clone, Copy)]
enum Version {
    V2,
    V4,
}

/// Reads up to and with $MeshFormat; only comments may stand before it.
fn format(cursor: &mut Cursor) -> Parsed<Version> {
    loop {
        match cursor.begin_section() {
            Ok(section) if section == "MeshFormat" => break,
            Ok(section) if section == "Comments" => cursor.skip_section()?,
            Ok(section) if section == "NOD" => return Err(Fault::Version("1.0".into()).into()),
            _ => return Err(Fault::NotMsh.into()),
        }
        cursor.skip_blanks()?;
    }

    let number = cursor.double("the version of the format")?;
    let binary = match cursor.int("0 (text) or 1 (binary)")? {
        0 => false,
        1 => true,
        other => return Err(cursor.malformed("0 (text) or 1 (binary)", format!("`{other}`"))),
    };
    let data_size = cursor.int("the size of a number")?;

    let version = match number {
        2.0..3.0 => Version::V2,
        4.1 => Version::V4,
        _ => return Err(cursor.fault(Fault::Version(format!("{number:?}")))),
    };

    if binary {
        if data_size != 8 {
            return Err(cursor.fault(Fault::DataSize(data_size)));
        }
        cursor.end_line()?;
        cursor.binary = true;
        // Written as an integer of 4 bytes, it shows the order of the bytes.
        match cursor.int("the number 1")? {
            1 => {}
            0x0100_0000 => return Err(cursor.fault(Fault::BigEndian)),
            other => return Err(cursor.malformed("the number 1", format!("`{other}`"))),
        }
    }

    cursor.end_section()?;
    Ok(version)
}

/// `dimension tag "name"` a line, in text even in a binary file.
fn physical_names(cursor: &mut Cursor, mesh: &mut RawMesh) -> Parsed<()> {
    cursor.as_text(|cursor| {
        let announced = cursor.size("the number of physical names")?;
        cursor.end_record()?;
        // `1 1 ""`, in text always.
        let least = Least { text: 6, binary: 6 };
        for _ in 0..cursor.count(announced, "physical names", least)? {
            let dimension = cursor.int("a dimension, 0 to 3")?;
            let tag = cursor.int("the tag of a physical group")?;
            if !(0..=3).contains(&dimension) {
                return Err(cursor.malformed("a dimension, 0 to 3", format!("`{dimension}`")));
            }
            let name = printable(&cursor.quoted("a name in quotation marks")?);
            mesh.names.insert((dimension as u8, tag.unsigned_abs() as u32), name);
        }
        Ok(())
    })
}
