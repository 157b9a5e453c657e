//! Writes numbers as text or binary, and the blocks made of them.

use std::io::{self, Write};

/// Numbers in either encoding. In a text file a record is a line; in a binary one its end writes
/// nothing.
pub(super) struct Records<W> {
    out: W,
    binary: bool,
    /// Whether the line already holds a number.
    open: bool,
}

impl<W: Write> Records<W> {
    pub fn new(out: W, binary: bool) -> Self {
        Self { out, binary, open: false }
    }

    /// Text as it stands.
    pub fn text(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(text.as_bytes())
    }

    pub fn int(&mut self, value: i64) -> io::Result<()> {
        if !self.binary {
            return self.word(value);
        }
        let value = i32::try_from(value).map_err(|_| {
            io::Error::other("version 2.2 numbers at most 2147483647 entities; write version 4.1")
        })?;
        self.out.write_all(&value.to_le_bytes())
    }

    pub fn size(&mut self, value: u64) -> io::Result<()> {
        if self.binary { self.out.write_all(&value.to_le_bytes()) } else { self.word(value) }
    }

    /// Ends a record.
    pub fn end(&mut self) -> io::Result<()> {
        if self.binary {
            return Ok(());
        }
        self.open = false;
        self.out.write_all(b"\n")
    }

    /// A record of sizes.
    pub fn sizes(&mut self, values: &[u64]) -> io::Result<()> {
        for &value in values {
            self.size(value)?;
        }
        self.end()
    }

    /// Three coordinates, and the end of the record.
    pub fn coordinates(&mut self, x: &[f64; 3]) -> io::Result<()> {
        self.doubles(x)?;
        self.end()
    }

    /// The header of a block of version 4.1.
    pub fn header(&mut self, ints: &[i64; 3], count: u64) -> io::Result<()> {
        for &value in ints {
            self.int(value)?;
        }
        self.sizes(&[count])
    }

    /// A geometric entity of version 4.1, up to its physical groups.
    pub fn entity(&mut self, tag: i64, place: &[f64], groups: &[i64]) -> io::Result<()> {
        self.int(tag)?;
        self.doubles(place)?;
        self.size(groups.len() as u64)?;
        groups.iter().try_for_each(|&group| self.int(group))
    }

    /// An element of version 4.1, by nodes from 0.
    pub fn element_4(&mut self, tag: u64, nodes: &[u32]) -> io::Result<()> {
        self.size(tag)?;
        nodes.iter().try_for_each(|&node| self.size(u64::from(node) + 1))?;
        self.end()
    }

    /// A block of elements of version 4.1 with tags from `tag`; the next tag.
    pub fn block_4(
        &mut self,
        header: &[i64; 3],
        tag: u64,
        elements: impl ExactSizeIterator<Item: AsRef<[u32]>>,
    ) -> io::Result<u64> {
        let next = tag + elements.len() as u64;
        self.header(header, elements.len() as u64)?;
        for (tag, nodes) in (tag..).zip(elements) {
            self.element_4(tag, nodes.as_ref())?;
        }
        Ok(next)
    }

    /// Elements of version 2.2 of type `number` in [physical group, geometric entity], with tags
    /// from `tag`; the next tag.
    pub fn block_2(
        &mut self,
        number: i64,
        groups: [i64; 2],
        tag: i64,
        elements: impl ExactSizeIterator<Item: AsRef<[u32]>>,
    ) -> io::Result<i64> {
        let next = tag + elements.len() as i64;
        if self.binary && elements.len() > 0 {
            for value in [number, elements.len() as i64, 2] {
                self.int(value)?;
            }
        }
        for (tag, nodes) in (tag..).zip(elements) {
            self.int(tag)?;
            if !self.binary {
                self.int(number)?;
                self.int(2)?;
            }
            groups.iter().try_for_each(|&group| self.int(group))?;
            nodes.as_ref().iter().try_for_each(|&node| self.int(i64::from(node) + 1))?;
            self.end()?;
        }
        Ok(next)
    }

    /// $MeshFormat.
    pub fn format(&mut self, version: &str) -> io::Result<()> {
        self.text(&format!("$MeshFormat\n{version} {} 8\n", u8::from(self.binary)))?;
        if self.binary {
            self.int(1)?;
            self.text("\n")?;
        }
        self.text("$EndMeshFormat\n")
    }

    /// $PhysicalNames, by (dimension, name), with tags from 1.
    pub fn names(&mut self, names: &[(u8, &str)]) -> io::Result<()> {
        if names.is_empty() {
            return Ok(());
        }
        self.text(&format!("$PhysicalNames\n{}\n", names.len()))?;
        for (tag, (dimension, name)) in (1..).zip(names) {
            self.text(&format!("{dimension} {tag} \"{name}\"\n"))?;
        }
        self.text("$EndPhysicalNames\n")
    }

    /// The end mark of a section.
    pub fn end_section(&mut self, name: &str) -> io::Result<()> {
        if self.binary {
            self.text("\n")?;
        }
        self.text(&format!("$End{name}\n"))
    }

    fn doubles(&mut self, values: &[f64]) -> io::Result<()> {
        for value in values {
            if self.binary {
                self.out.write_all(&value.to_le_bytes())?;
            } else {
                // Debug: as many digits as needed to read back the same bits, with an exponent
                // where that is shorter.
                self.word(format_args!("{value:?}"))?;
            }
        }
        Ok(())
    }

    fn word(&mut self, value: impl std::fmt::Display) -> io::Result<()> {
        let separator = if self.open { " " } else { "" };
        self.open = true;
        write!(self.out, "{separator}{value}")
    }
}
