//! Triangles for printing, with their unit (`.3mf`, 3D Manufacturing Format).
//!
//! lib3mf 2.5 in its strict mode reads what is written here without a warning, and calls it a
//! manifold turned outwards; trimesh 5.2 reads it as well. lib3mf refuses coordinates beyond 1e9.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::atomic::{self, WriteError};

/// The unit of the coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// 1e-3 m
    Millimeter,
    /// 1e-2 m
    Centimeter,
    /// 0.0254 m
    Inch,
    /// 0.3048 m
    Foot,
    /// 1 m
    Meter,
}

/// Writes triangles as one object to `path`, whole or not at all. The coordinates keep all their
/// digits.
///
/// `vertices` `[n_vertices][3]`; `triangles` `[n_triangles][3]`, counter-clockwise from outside.
///
/// # Errors
/// [`WriteError`] with the operating system's cause.
pub fn write(
    path: &Path,
    vertices: &[[f64; 3]],
    triangles: &[[u32; 3]],
    unit: Unit,
) -> Result<(), WriteError> {
    atomic::write(path, |file| {
        let mut archive = ZipWriter::new(file);
        for (name, text) in [(CONTENT_TYPES, TYPES), ("_rels/.rels", RELATIONS)] {
            archive.start_file(name, SimpleFileOptions::default())?;
            archive.write_all(text.as_bytes())?;
        }
        archive.start_file(MODEL, SimpleFileOptions::default())?;
        write_model(&mut BufWriter::new(&mut archive), vertices, triangles, unit)?;
        archive.finish()?;
        Ok(())
    })
}

/// The usual name: there are programs that look for it and not for the relation that states it.
const MODEL: &str = "3D/3dmodel.model";
const CONTENT_TYPES: &str = "[Content_Types].xml";

/// Content type of each file name extension.
const TYPES: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Default Extension="model" ContentType="application/vnd.ms-package.3dmanufacturing-3dmodel+xml"/>
</Types>
"#;

/// Relation that names the file of the model, [`MODEL`].
const RELATIONS: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
<Relationship Target="/3D/3dmodel.model" Id="rel0"
 Type="http://schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel"/>
</Relationships>
"#;

fn write_model(
    out: &mut impl Write,
    vertices: &[[f64; 3]],
    triangles: &[[u32; 3]],
    unit: Unit,
) -> io::Result<()> {
    writeln!(
        out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<model unit=\"{}\" xml:lang=\"en-US\" \
         xmlns=\"http://schemas.microsoft.com/3dmanufacturing/core/2015/02\">\n\
         <resources><object id=\"1\" type=\"model\"><mesh>\n<vertices>",
        unit.name()
    )?;
    for [x, y, z] in vertices {
        writeln!(out, "<vertex x=\"{x}\" y=\"{y}\" z=\"{z}\"/>")?;
    }
    writeln!(out, "</vertices>\n<triangles>")?;
    for [a, b, c] in triangles {
        writeln!(out, "<triangle v1=\"{a}\" v2=\"{b}\" v3=\"{c}\"/>")?;
    }
    writeln!(
        out,
        "</triangles>\n</mesh></object></resources>\n<build><item objectid=\"1\"/></build>\n</model>"
    )?;
    out.flush()
}

impl Unit {
    /// Returns the format's name of the unit.
    fn name(self) -> &'static str {
        match self {
            Self::Millimeter => "millimeter",
            Self::Centimeter => "centimeter",
            Self::Inch => "inch",
            Self::Foot => "foot",
            Self::Meter => "meter",
        }
    }
}
