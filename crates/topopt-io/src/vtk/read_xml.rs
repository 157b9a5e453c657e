//! The XML of a `.vtu` file: its arrays, and where their numbers are. The format:
//! <https://docs.vtk.org/en/latest/vtk_file_formats/vtkxml_file_format.html>.

use std::borrow::Cow;

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::decompress::Compressor;
use super::read_error::Fault;
use crate::quote::{begin, excerpt, printable, quoted};
use crate::read_error::{Located, Parsed};

/// A file taken apart. Nothing is decoded yet.
#[derive(Default)]
pub(super) struct Outline<'a> {
    /// The XML, up to the appended data.
    xml: &'a str,
    pub big_endian: bool,
    /// Bytes of the numbers in front of the data.
    pub header_width: usize,
    /// Compressor of the numbers, if they are compressed.
    pub compressor: Option<Compressor>,
    pub n_points: u64,
    pub n_cells: u64,
    pub arrays: Vec<DataArray<'a>>,
    /// Appended data, behind the underscore.
    pub appended: Option<Appended<'a>>,
}

/// The appended data of a file.
#[derive(Clone, Copy)]
pub(super) struct Appended<'a> {
    pub base64: bool,
    pub bytes: &'a [u8],
}

/// An array of the piece.
pub(super) struct DataArray<'a> {
    /// `Points`, `Cells`, `PointData` or `CellData`.
    pub section: String,
    pub name: String,
    /// VTK's name of the number type.
    pub kind: String,
    pub components: u64,
    pub content: Content<'a>,
    /// First byte of the array in the XML.
    position: usize,
}

/// Numbers of an array, as text or by their place in the appended data.
#[derive(Clone, Copy)]
pub(super) enum Content<'a> {
    Ascii(&'a str),
    Base64(&'a str),
    /// From an offset in the appended data.
    Appended(u64),
}

impl<'a> Outline<'a> {
    /// Takes the bytes of a file apart.
    pub fn of(bytes: &'a [u8]) -> Parsed<Self> {
        if bytes.trim_ascii().is_empty() {
            return Err(Fault::EmptyFile.into());
        }

        let (xml, behind) = split(bytes)?;
        let mut scan =
            Scan { reader: Reader::from_str(xml), open: Vec::new(), n_pieces: 0, base64: None };

        let mut outline = Outline { xml, header_width: 4, ..Outline::default() };

        if let Err((position, fault)) = scan.run(&mut outline) {
            return Err(outline.fault(position, fault));
        }
        match (scan.base64, behind) {
            (Some(base64), Some(bytes)) => outline.appended = Some(Appended { base64, bytes }),
            (None, _) if scan.open.is_empty() => {}
            _ => return Err(outline.fault(xml.len(), Fault::Truncated)),
        }

        if scan.n_pieces == 1 { Ok(outline) } else { Err(Fault::Pieces(scan.n_pieces).into()) }
    }

    /// A fault at the line of an array.
    pub fn fault_in(&self, array: &DataArray, fault: impl Into<crate::Fault>) -> Located {
        self.fault(array.position, fault)
    }

    fn fault(&self, position: usize, fault: impl Into<crate::Fault>) -> Located {
        let before = &self.xml.as_bytes()[..position.min(self.xml.len())];
        Located::at_line(1 + before.iter().filter(|&&b| b == b'\n').count(), fault)
    }
}

/// The XML with the begin of `<AppendedData>`, and the bytes behind the underscore after it.
fn split(bytes: &[u8]) -> Parsed<(&str, Option<&[u8]>)> {
    let mark = b"<AppendedData";
    let start = bytes.windows(mark.len()).position(|window| window == mark);
    let end = start.and_then(|start| {
        let length = bytes[start..].iter().position(|&b| b == b'>')?;
        Some(start + length + 1)
    });
    let (xml, behind) = bytes.split_at(end.unwrap_or(bytes.len()));
    let start = xml.trim_ascii_start();
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    let xml = str::from_utf8(xml);
    match xml {
        Ok(xml) if start.starts_with(b"<") => {
            let behind = behind.trim_ascii_start().strip_prefix(b"_");
            Ok((xml, behind.filter(|_| end.is_some())))
        }
        Err(error) if start.starts_with(b"<") => Err(damaged(error).into()),
        _ => Err(Fault::NotVtk.into()),
    }
}

/// A walk through the XML.
struct Scan<'a> {
    reader: Reader<&'a [u8]>,
    /// Names of the open elements.
    open: Vec<String>,
    n_pieces: usize,
    /// Encoding of the appended data, once they begin.
    base64: Option<bool>,
}

type Step<T> = Result<T, (usize, Fault)>;

impl<'a> Scan<'a> {
    /// Fills `outline` in, up to the end of the XML or the begin of the appended data.
    fn run(&mut self, outline: &mut Outline<'a>) -> Step<()> {
        loop {
            let position = self.reader.buffer_position() as usize;
            let event = self.reader.read_event();
            match event.map_err(|error| (position, damaged(error)))? {
                Event::Start(element) => {
                    self.element(outline, &element).map_err(|fault| (position, fault))?;
                    let name = element.name().as_ref().to_owned();
                    let last = name == "AppendedData";
                    self.open.push(name);
                    if last {
                        return Ok(());
                    }
                }

                Event::Empty(element) => {
                    self.element(outline, &element).map_err(|fault| (position, fault))?;
                }
                Event::End(_) => drop(self.open.pop()),

                Event::Text(text) if self.open.last().is_some_and(|name| name == "DataArray") => {
                    if let Cow::Borrowed(text) = text.into_inner() {
                        add_text(outline, &self.open, text);
                    }
                }
                Event::Eof => return Ok(()),
                _ => {}
            }
        }
    }

    /// Notes what an element says by its attributes.
    fn element(&mut self, outline: &mut Outline<'a>, element: &BytesStart) -> Result<(), Fault> {
        let name = element.name();
        let within = self.open.last().map_or("", String::as_str);
        match (name.as_ref(), within) {
            ("VTKFile", "") => file_attributes(outline, element),
            (_, "") => Err(Fault::NotVtk),

            ("Piece", _) => {
                self.n_pieces += 1;
                if self.n_pieces == 1 {
                    outline.n_points = number(element, "NumberOfPoints", None)?;
                    outline.n_cells = number(element, "NumberOfCells", None)?;
                }
                Ok(())
            }

            ("DataArray", "Points" | "Cells" | "PointData" | "CellData") if self.n_pieces == 1 => {
                let position = self.reader.buffer_position() as usize;
                outline.arrays.push(data_array(element, within, position)?);
                Ok(())
            }

            ("AppendedData", _) => {
                self.base64 = Some(match attribute(element, "encoding")?.as_deref() {
                    Some("raw") => false,
                    Some("base64") => true,
                    found => return Err(odd(element, "encoding", found)),
                });
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// Gives a text to the array it stands in.
fn add_text<'a>(outline: &mut Outline<'a>, open: &[String], text: &'a str) {
    let section = open.len().checked_sub(2).map_or("", |i| open[i].as_str());
    if text.trim().is_empty() {
        return;
    }
    if let Some(array) = outline.arrays.last_mut().filter(|array| array.section == section) {
        match &mut array.content {
            Content::Ascii(content) | Content::Base64(content) if content.is_empty() => {
                *content = text;
            }
            _ => {}
        }
    }
}

fn file_attributes(outline: &mut Outline, element: &BytesStart) -> Result<(), Fault> {
    let text = |name| attribute(element, name);
    if let Some(kind) = text("type")?.filter(|kind| kind != "UnstructuredGrid") {
        return Err(Fault::Kind(excerpt(&kind)));
    }

    // Where an attribute is missing: little endian, lengths of 4 bytes, no compression.
    outline.big_endian = match text("byte_order")?.as_deref() {
        None | Some("LittleEndian") => false,
        Some("BigEndian") => true,
        found => return Err(odd(element, "byte_order", found)),
    };

    outline.header_width = match text("header_type")?.as_deref() {
        None | Some("UInt32") => 4,
        Some("UInt64") => 8,
        found => return Err(odd(element, "header_type", found)),
    };

    outline.compressor = match text("compressor")?.as_deref() {
        None | Some("") => None,
        Some("vtkZLibDataCompressor") => Some(Compressor::Zlib),
        Some("vtkLZMADataCompressor") => Some(Compressor::Lzma),
        Some("vtkLZ4DataCompressor") => Some(Compressor::Lz4),
        Some(other) => return Err(Fault::Compressor(excerpt(other))),
    };
    Ok(())
}

fn data_array<'a>(
    element: &BytesStart,
    section: &str,
    position: usize,
) -> Result<DataArray<'a>, Fault> {
    let text = |name| attribute(element, name);
    let content = match text("format")?.as_deref() {
        None | Some("ascii") => Content::Ascii(""),
        Some("binary") => Content::Base64(""),
        Some("appended") => Content::Appended(number(element, "offset", None)?),
        found => return Err(odd(element, "format", found)),
    };
    Ok(DataArray {
        section: section.to_owned(),
        name: printable(&text("Name")?.unwrap_or_default()),
        kind: text("type")?.unwrap_or_default(),
        components: number(element, "NumberOfComponents", Some(1))?,
        content,
        position,
    })
}

/// Returns the XML parser's message, shortened, since it may quote any part of the file.
fn damaged(error: impl ToString) -> Fault {
    Fault::Xml(begin(&error.to_string(), 200))
}

/// The value of an attribute.
fn attribute(element: &BytesStart, name: &'static str) -> Result<Option<String>, Fault> {
    let found = element.try_get_attribute(name).map_err(damaged)?;
    let value = found.map(|found| found.normalized_value(XmlVersion::Implicit1_0));
    Ok(value.transpose().map_err(damaged)?.map(Into::into))
}

/// The value of an attribute that is a number.
fn number(element: &BytesStart, name: &'static str, default: Option<u64>) -> Result<u64, Fault> {
    let text = attribute(element, name)?;
    let value = match (&text, default) {
        (None, Some(default)) => Some(default),
        (Some(text), _) => text.trim().parse().ok(),
        (None, None) => None,
    };
    value.ok_or_else(|| odd(element, name, text.as_deref()))
}

fn odd(element: &BytesStart, attribute: &'static str, found: Option<&str>) -> Fault {
    let found = quoted(found.unwrap_or_default());
    Fault::Attribute { element: element.name().as_ref().to_owned(), attribute, found }
}
