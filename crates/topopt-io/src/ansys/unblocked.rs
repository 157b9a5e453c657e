//! Nodes and elements as commands, one for each: N, E, EMORE and EN, with TYPE and MAT.

use super::archive::Element;
use super::commands::{Reader, Unblocked};
use super::field::real;
use super::lines::Command;
use crate::read_error::Parsed;

impl Reader<'_> {
    /// Reads one of these commands.
    pub fn unblocked(&mut self, name: &str, command: &Command, line: &[u8]) -> Parsed<()> {
        let state = &mut self.unblocked;
        match name {
            "TYPE" => state.kind = command.number(1).unwrap_or(state.kind),
            "REAL" => state.real = command.number(1).unwrap_or(state.real),
            "MAT" => state.material = command.number(1).unwrap_or(state.material),
            "EMOR" => self.add_nodes(command, 1),
            _ if command.is_end() => {}
            "N" => self.node(command, line)?,
            "E" => {
                let tag = self.next_tag();
                self.begin_element(tag);
                self.add_nodes(command, 1);
            }
            _ => self.numbered(command, line)?,
        }
        Ok(())
    }

    /// The number behind the largest one so far.
    fn next_tag(&mut self) -> u32 {
        let (mut largest, counted) = self.unblocked.largest;
        let elements = &self.archive.elements;
        for element in &elements[counted..] {
            largest = largest.max(element.tag);
        }
        self.unblocked.largest = (largest, elements.len());
        largest.saturating_add(1)
    }

    fn begin_element(&mut self, tag: u32) {
        let Unblocked { kind, material, real, .. } = self.unblocked;
        let first = self.archive.connectivity.len();
        self.archive.elements.push(Element { tag, kind, material, real, first, n_nodes: 0 });
    }

    /// `EN,number,nodes...`, or `EN,R5.5,ATTR,count,material,type,...,number` and then
    /// `EN,R5.5,NODE,nodes...` as often as needed.
    fn numbered(&mut self, command: &Command, line: &[u8]) -> Parsed<()> {
        if let Some(tag) = command.number(1) {
            self.begin_element(tag);
            self.add_nodes(command, 2);
            return Ok(());
        }
        let malformed = |expected| self.lines.malformed("EN", expected, line);

        match command.argument(2).to_ascii_uppercase().as_str() {
            "ATTR" if command.arguments_from(3).iter().all(String::is_empty) => {}
            "ATTR" => {
                let expected = "the attributes of an element: nodes, material, type, ..., number";
                let number = |i: usize| command.number(i).ok_or_else(|| malformed(expected));
                let (missing, tag) = (number(3)? as usize, number(9)?);
                let real = command.number(6).unwrap_or(self.unblocked.real);
                let (material, kind) = (number(4)?, number(5)?);
                self.unblocked = Unblocked { kind, material, real, missing, ..self.unblocked };
                self.begin_element(tag);
            }
            "NODE" if self.unblocked.missing > 0 => {
                let before = self.archive.connectivity.len();
                self.add_nodes(command, 3);
                let added = self.archive.connectivity.len() - before;
                self.unblocked.missing = self.unblocked.missing.saturating_sub(added);
            }
            _ => return Err(malformed("EN,number,nodes or EN,R5.5,ATTR and EN,R5.5,NODE")),
        }
        Ok(())
    }

    /// Adds the nodes from an argument on to the last element; an argument that is left out is none.
    fn add_nodes(&mut self, command: &Command, from: usize) {
        let nodes = command.arguments_from(from).iter().filter_map(|text| text.parse::<u32>().ok());
        let nodes: Vec<u32> = nodes.filter(|&node| node > 0).collect();
        if let Some(element) = self.archive.elements.last_mut() {
            element.n_nodes += nodes.len();
            self.archive.connectivity.extend(nodes);
        }
    }

    /// `N,number,x,y,z,angles`, or `N,R5.3,LOC,number,x,y,z` and `N,R5.3,ANG,number,angles`.
    fn node(&mut self, command: &Command, line: &[u8]) -> Parsed<()> {
        let expected = "N,number,x,y,z or N,R5.3,LOC,number,x,y,z";
        let malformed = || self.lines.malformed("N", expected, line);
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
            self.archive.rotated_nodes.insert(tag, Some([x, y, z]));
            return Ok(());
        }
        if ![x, y, z].iter().all(|value| value.is_finite()) {
            return Err(malformed());
        }
        if at == 1 && angles.iter().any(|angle| *angle != 0.0) {
            self.archive.rotated_nodes.insert(tag, Some(angles));
        }
        self.archive.node_tags.push(tag);
        self.archive.coordinates.push([x, y, z]);
        Ok(())
    }
}
