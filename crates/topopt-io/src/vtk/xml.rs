//! `XmlFile`: the XML of a VTK file around its appended arrays.

use std::borrow::Cow;
use std::io::{self, Seek, SeekFrom, Write};

use super::array::Column;
use super::{Compression, appended};

/// A VTK XML file being written. The offset of an array is known only after the arrays before it,
/// so the header leaves room for it that `end` fills in.
pub(super) struct XmlFile<'a, 'f, W> {
    file: &'f mut W,
    compression: Compression,
    /// Arrays in the header, each with the position in the file of its offset.
    announced: Vec<(Column<'a>, u64)>,
}

/// Room for the digits of an offset and the quote behind them.
const OFFSET_WIDTH: usize = 21;

impl<'a, 'f, W: Write + Seek> XmlFile<'a, 'f, W> {
    /// Opens a file of `kind`, such as `UnstructuredGrid`.
    pub fn begin(file: &'f mut W, kind: &str, compression: Compression) -> io::Result<Self> {
        let compressor = match compression {
            Compression::None => "",
            Compression::Zlib => " compressor=\"vtkZLibDataCompressor\"",
        };
        writeln!(
            file,
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"{kind}\" version=\"1.0\" \
             byte_order=\"LittleEndian\" header_type=\"UInt64\"{compressor}>"
        )?;
        Ok(Self { file, compression, announced: Vec::new() })
    }

    /// Writes a line of XML.
    pub fn line(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.file, "{text}")
    }

    /// Writes the header of an element `name` that holds arrays.
    pub fn section(
        &mut self,
        name: &str,
        columns: impl IntoIterator<Item = Column<'a>>,
    ) -> io::Result<()> {
        self.line(&format!("<{name}>"))?;
        for column in columns {
            let name = escape(column.name);
            write!(
                self.file,
                "<DataArray type=\"{}\" Name=\"{name}\" NumberOfComponents=\"{}\" \
                 format=\"appended\" offset=\"",
                column.kind, column.components
            )?;
            let place = self.file.stream_position()?;
            writeln!(self.file, "{:OFFSET_WIDTH$}/>", "")?;
            self.announced.push((column, place));
        }
        self.line(&format!("</{name}>"))
    }

    /// Closes the element of `kind` and appends the arrays.
    pub fn end(mut self, kind: &str) -> io::Result<()> {
        self.line(&format!("</{kind}>\n<AppendedData encoding=\"raw\">"))?;
        self.file.write_all(b"_")?;
        let base = self.file.stream_position()?;
        for (column, place) in std::mem::take(&mut self.announced) {
            let start = self.file.stream_position()?;
            self.file.seek(SeekFrom::Start(place))?;
            // The rest of the room stays blank after the quote, where XML allows it.
            write!(self.file, "{}\"", start - base)?;
            self.file.seek(SeekFrom::Start(start))?;
            appended::write(self.file, &column, self.compression)?;
        }
        self.line("\n</AppendedData>\n</VTKFile>")
    }
}

/// Escapes `text` for an attribute. Control characters, which XML cannot hold, become blanks.
pub(super) fn escape(text: &str) -> Cow<'_, str> {
    let special = |c: char| matches!(c, '&' | '<' | '>' | '"') || c.is_control();
    if !text.contains(special) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    Cow::Owned(escaped)
}
