//! Reads an archive command by command.

use std::collections::BTreeMap;

use super::archive::{Archive, ElementType};
use super::chosen::{Entity, Selected};
use super::cumulation::Cumulations;
use super::error::Fault;
use super::field::real;
use super::lines::{self, Command, Lines, Parameters, is_release};
use super::{blocks, element_type, tables};
use crate::read_error::Parsed;

/// An archive that is being read.
#[derive(Default)]
pub(super) struct Reader<'a> {
    pub lines: Lines<'a>,
    pub archive: Archive,
    pub selected: Selected,
    pub cumulations: Cumulations,
    /// MPTEMP: temperatures by their places from 1.
    pub temperatures: BTreeMap<usize, f64>,
    /// Material of the TB,ANEL to which TBTEMP and TBDATA belong.
    pub table: Option<u32>,
    pub unblocked: Unblocked,
    parameters: Parameters,
    has_nodes: bool,
    has_elements: bool,
    /// Whether the commands are of a postprocessor.
    is_post: bool,
    /// Solutions and load step files.
    n_solutions: usize,
    has_ended: bool,
}

/// State that commands leave to the elements behind them.
#[derive(Clone, Copy)]
pub(super) struct Unblocked {
    pub kind: u32,
    pub material: u32,
    pub real: u32,
    /// Nodes that the element begun by EN,...,ATTR still lacks.
    pub missing: usize,
    /// The largest number of the elements that were counted, and how many these are.
    pub largest: (u32, usize),
}

impl Default for Unblocked {
    fn default() -> Self {
        Self { kind: 1, material: 1, real: 1, missing: 0, largest: (0, 0) }
    }
}

/// Reads a whole file.
pub(super) fn parse(bytes: &[u8]) -> Parsed<Archive> {
    let mut reader = Reader { lines: Lines::new(bytes), ..Reader::default() };
    while let Some(line) = reader.lines.next_line().filter(|_| !reader.has_ended) {
        for code in lines::commands(line) {
            reader.line(code)?;
        }
    }

    let archive = reader.archive;
    let has_nodes = reader.has_nodes || !archive.node_tags.is_empty();
    let has_elements = reader.has_elements || !archive.elements.is_empty();
    match (has_nodes, has_elements) {
        (false, _) => Err(Fault::MissingBlock("nodes (NBLOCK or N)").into()),
        (_, false) => Err(Fault::MissingBlock("elements (EBLOCK, EN or E)").into()),
        _ => Ok(archive),
    }
}

/// Whether the first lines of a file are commands of Ansys: no other deck has lines that begin with
/// a slash and a letter, or these blocks.
pub(super) fn are_of_ansys(bytes: &[u8]) -> bool {
    bytes.split(|&b| b == b'\n').map(<[u8]>::trim_ascii_start).any(|line| {
        matches!(line, [b'/', letter, ..] if letter.is_ascii_alphabetic())
            || ["NBLOCK,", "EBLOCK,", "CMBLOCK,"].iter().any(|name| {
                let begin = line.get(..name.len());
                begin.is_some_and(|begin| begin.eq_ignore_ascii_case(name.as_bytes()))
            })
    })
}

impl Reader<'_> {
    fn line(&mut self, line: &[u8]) -> Parsed<()> {
        let mut command = Command::parse(line);
        // Lines of numbers belong to a command before that is not read.
        let is_data = line.trim_ascii_start().first();
        if is_data.is_some_and(|b| b.is_ascii_digit() || b"+-.(%".contains(b)) {
            return Ok(());
        }
        if self.parameters.set(&command) {
            return Ok(());
        }

        command.resolve(&self.parameters);
        let name = command.name();
        if self.changes_processor(&name, &command) || self.is_post {
            return Ok(());
        }
        let is_read = self.mesh(&name, &command, line)?
            || self.selected.command(&command, &mut self.archive)
            || self.condition(&name, &command)
            || self.material(&name, &command)
            || self.control(&name, &command);
        if !is_read {
            self.other(&name, &command)?;
        }
        Ok(())
    }

    /// Follows `/PREP7`, `/SOLU`, `/POST1` and the end of the file.
    fn changes_processor(&mut self, name: &str, command: &Command) -> bool {
        match name {
            "/POS" => self.is_post = true,
            "/PRE" | "/SOL" => self.is_post = false,
            "/EOF" | "/EXI" => self.has_ended = true,
            "/CLE" => self.archive.pass_over("/CLEAR", &self.lines),
            "*IF" if !command.argument(1).to_ascii_uppercase().starts_with("_CDR") => {
                self.archive.pass_over("*IF (taken as true)", &self.lines);
            }
            _ => return false,
        }
        true
    }

    /// Reads a command of nodes, elements and components; false if it is none.
    fn mesh(&mut self, name: &str, command: &Command, line: &[u8]) -> Parsed<bool> {
        let (lines, archive) = (&mut self.lines, &mut self.archive);
        match name {
            "NBLO" => {
                blocks::nodes(command, lines, archive)?;
                self.has_nodes = true;
            }
            "EBLO" => {
                blocks::elements(command, lines, archive)?;
                self.has_elements = true;
            }
            "CMBL" => blocks::component(command, lines, archive)?,
            "ETBL" => blocks::element_types(lines, archive)?,
            "ET" => self.element_type(command, line)?,
            "KEYO" => key_option(command, archive),
            "R" => first_constant(command, archive),
            "RLBL" => blocks::real_constants(lines, archive)?,
            "N" if self.selected.is_turned && !command.is_end() => {
                return Err(lines.fault(Fault::ActiveSystem));
            }
            "TYPE" | "MAT" | "REAL" | "N" | "E" | "EMOR" | "EN" => {
                self.unblocked(name, command, line)?;
            }
            "CSYS" => self.selected.is_turned = !is_zero(command),
            // They make a system the active one; CDWRITE defines systems and does not.
            "LOCA" | "CS" | "CSKP" | "CLOC" if !is_release(command.argument(1)) => {
                self.selected.is_turned = true;
            }
            "ESYS" => archive.has_element_systems |= !is_zero(command),
            "NROT" => archive.rotate_unknown(),
            name if tables::is_of_mesh(name) => {
                return Err(lines.fault(Fault::MeshCommand(command.argument(0).to_owned())));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// `ET,1,185` or `ET,1,SOLID185`, and key options.
    fn element_type(&mut self, command: &Command, line: &[u8]) -> Parsed<()> {
        let number = element_type::number(command.argument(2));
        let Some((kind, number)) = command.number(1).zip(number) else {
            let expected = "a type and its number in the element library, such as ET,1,185";
            return Err(self.lines.malformed("ET", expected, line));
        };
        let keys = [3, 4, 5].map(|i| command.number(i).unwrap_or(0));
        self.archive.element_types.insert(kind, ElementType { number, keys });
        Ok(())
    }

    /// Reads a command of the whole solution; false if it is none.
    fn control(&mut self, name: &str, command: &Command) -> bool {
        let (lines, archive) = (&self.lines, &mut self.archive);
        let first = command.argument(1).to_ascii_uppercase();

        match name {
            "ACEL" => archive.acceleration = vector(command),
            "OMEG" => archive.rotation = vector(command),
            // Without balance where it is -1.
            "IRLF" => archive.inertia_relief = real(&first).is_some_and(|key| key > 0.0),
            "TREF" => archive.temperature.reference = real(&first).unwrap_or(0.0),
            "TUNI" => archive.temperature.uniform = real(&first),
            "BFUN" if first.starts_with("TEMP") => {
                archive.temperature.uniform = real(command.argument(2));
            }
            "ANTY" if !matches!(first.as_str(), "" | "0" | "STAT" | "STATIC") => {
                archive.pass_over(&format!("ANTYPE,{first} (computed as static)"), lines);
            }
            "NLGE" if matches!(first.as_str(), "ON" | "1") => {
                archive.pass_over("NLGEOM,ON (computed as linear)", lines);
            }
            "ANTY" | "NLGE" => {}
            "SOLV" | "LSWR" => {
                self.n_solutions += 1;
                if self.n_solutions == 2 {
                    archive.pass_over(
                        "SOLVE and LSWRITE of several load steps (the last is read)",
                        lines,
                    );
                }
                if !(self.selected.is_all(Entity::Nodes) && self.selected.is_all(Entity::Elements))
                {
                    archive.pass_over("SOLVE of what is selected (all is computed)", lines);
                }
            }
            _ => return false,
        }
        true
    }

    /// A command that is not read: harmless, or lost.
    fn other(&mut self, name: &str, command: &Command) -> Parsed<()> {
        let is_nothing =
            is_zero(command) && command.arguments_from(1).iter().any(|a| !a.is_empty());
        if tables::is_program(name) {
            let what =
                format!("{} (its commands are not followed)", command.argument(0).to_uppercase());
            self.archive.pass_over(&what, &self.lines);
        } else if !(tables::is_harmless(name) || is_nothing) {
            let what = crate::quote::excerpt(&command.argument(0).to_uppercase());
            self.archive.pass_over(&what, &self.lines);
        }
        Ok(())
    }
}

/// Whether all arguments of a command are 0, blank or as little as `_TINY`.
fn is_zero(command: &Command) -> bool {
    let is_nothing = |text: &String| {
        text.is_empty() || text.eq_ignore_ascii_case("_TINY") || real(text) == Some(0.0)
    };
    command.arguments_from(1).iter().all(is_nothing)
}

/// `KEYOPT,type,number,value`; options 1 to 3 matter.
fn key_option(command: &Command, archive: &mut Archive) {
    let (Some(kind), Some(number @ 1..=3)) = (command.number(1), command.number(2)) else { return };
    if let Some(kind) = archive.element_types.get_mut(&kind) {
        kind.keys[number as usize - 1] = command.number(3).unwrap_or(0);
    }
}

/// `R,number,first constant`.
fn first_constant(command: &Command, archive: &mut Archive) {
    if let (Some(number), Some(value)) = (command.number(1), real(command.argument(2))) {
        archive.reals.insert(number, value);
    }
}

/// Three numbers behind the name of a command; one that is left out is 0.
fn vector(command: &Command) -> [f64; 3] {
    let number = |i: usize| real(command.argument(i)).filter(|value| value.is_finite());
    [1, 2, 3].map(|i| number(i).unwrap_or(0.0))
}
