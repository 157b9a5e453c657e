//! Nodes and elements as commands, one for each: N, E, EMORE and EN, with TYPE and MAT.

use super::archive::{Archive, Element};
use super::field::real;
use super::lines::{Command, Lines};
use crate::read_error::Parsed;

/// State that commands leave to the elements behind them.
pub(super) struct Unblocked {
    kind: u32,
    material: u32,
    real: u32,
    /// Nodes that the element begun by EN,...,ATTR still lacks.
    missing: usize,
    /// The largest number of the elements that were counted, and how many these are.
    largest: (u32, usize),
}

impl Default for Unblocked {
    fn default() -> Self {
        Self { kind: 1, material: 1, real: 1, missing: 0, largest: (0, 0) }
    }
}

impl Unblocked {
    /// Reads a command, if it is one of these.
    pub fn command(
        &mut self,
        command: &Command,
        lines: &Lines,
        line: &[u8],
        archive: &mut Archive,
    ) -> Parsed<bool> {
        match command.name().as_str() {
            "TYPE" => self.kind = command.number(1).unwrap_or(self.kind),
            "REAL" => self.real = command.number(1).unwrap_or(self.real),
            "MAT" => self.material = command.number(1).unwrap_or(self.material),
            "N" if !command.is_end() => node(command, lines, line, archive)?,
            "E" if !command.is_end() => {
                let tag = self.next_tag(archive);
                self.begin(archive, tag);
                add_nodes(archive, command, 1);
            }
            "EMOR" => add_nodes(archive, command, 1),
            "EN" if !command.is_end() => self.numbered(command, lines, line, archive)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The number behind the largest one so far.
    fn next_tag(&mut self, archive: &Archive) -> u32 {
        let (mut largest, counted) = self.largest;
        for element in &archive.elements[counted..] {
            largest = largest.max(element.tag);
        }
        self.largest = (largest, archive.elements.len());
        largest.saturating_add(1)
    }

    fn begin(&mut self, archive: &mut Archive, tag: u32) {
        let (kind, material, real) = (self.kind, self.material, self.real);
        let first = archive.connectivity.len();
        archive.elements.push(Element { tag, kind, material, real, first, n_nodes: 0 });
    }

    /// `EN,number,nodes...`, or `EN,R5.5,ATTR,count,material,type,...,number` and then
    /// `EN,R5.5,NODE,nodes...` as often as needed.
    fn numbered(
        &mut self,
        command: &Command,
        lines: &Lines,
        line: &[u8],
        archive: &mut Archive,
    ) -> Parsed<()> {
        let malformed = |expected| lines.malformed("EN", expected, line);
        if let Some(tag) = command.number(1) {
            self.begin(archive, tag);
            add_nodes(archive, command, 2);
            return Ok(());
        }

        match command.argument(2).to_ascii_uppercase().as_str() {
            "ATTR" if command.arguments_from(3).iter().all(String::is_empty) => {}
            "ATTR" => {
                let expected = "the attributes of an element: nodes, material, type, ..., number";
                let number = |i: usize| command.number(i).ok_or_else(|| malformed(expected));
                (self.missing, self.material, self.kind) =
                    (number(3)? as usize, number(4)?, number(5)?);
                self.real = command.number(6).unwrap_or(self.real);
                let tag = number(9)?;
                self.begin(archive, tag);
            }
            "NODE" if self.missing > 0 => {
                let before = archive.connectivity.len();
                add_nodes(archive, command, 3);
                let added = archive.connectivity.len() - before;
                self.missing = self.missing.saturating_sub(added);
            }
            _ => return Err(malformed("EN,number,nodes or EN,R5.5,ATTR and EN,R5.5,NODE")),
        }
        Ok(())
    }
}

/// Adds the nodes from an argument on to the last element; an argument that is left out is none.
fn add_nodes(archive: &mut Archive, command: &Command, from: usize) {
    let nodes = command.arguments_from(from).iter().filter_map(|text| text.parse::<u32>().ok());
    let nodes: Vec<u32> = nodes.filter(|&node| node > 0).collect();
    if let Some(element) = archive.elements.last_mut() {
        element.n_nodes += nodes.len();
        archive.connectivity.extend(nodes);
    }
}

/// `N,number,x,y,z,angles`, or `N,R5.3,LOC,number,x,y,z` and `N,R5.3,ANG,number,angles`.
fn node(command: &Command, lines: &Lines, line: &[u8], archive: &mut Archive) -> Parsed<()> {
    let expected = "N,number,x,y,z or N,R5.3,LOC,number,x,y,z";
    let malformed = || lines.malformed("N", expected, line);
    let what = command.argument(2).to_ascii_uppercase();
    let at = match command.number(1) {
        Some(_) => 1,
        None if matches!(what.as_str(), "LOC" | "ANG") => 3,
        None => return Err(malformed()),
    };
    let tag = command.number(at).filter(|tag| *tag > 0).ok_or_else(malformed)?;
    let mut values = [0.0; 6];
    for (value, text) in values.iter_mut().zip(command.arguments_from(at + 1)) {
        *value = if text.is_empty() { 0.0 } else { real(text).ok_or_else(malformed)? };
    }

    let [x, y, z, angles @ ..] = values;
    if at == 3 && what == "ANG" {
        archive.rotated_nodes.insert(tag, Some([x, y, z]));
        return Ok(());
    }
    if ![x, y, z].iter().all(|value| value.is_finite()) {
        return Err(malformed());
    }
    if at == 1 && angles.iter().any(|angle| *angle != 0.0) {
        archive.rotated_nodes.insert(tag, Some(angles));
    }
    archive.node_tags.push(tag);
    archive.coordinates.push([x, y, z]);
    Ok(())
}
