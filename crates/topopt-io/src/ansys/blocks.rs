//! NBLOCK, EBLOCK, CMBLOCK and ETBLOCK: fields of fixed width by the format line that follows.

use super::archive::{Archive, Element, ElementType};
use super::error::Fault;
use super::field::{Field, Layout};
use super::lines::{Command, Lines};
use crate::import::finite;
use crate::quote::printable;
use crate::read_error::{Located, Parsed};

/// Numbers before the nodes of an element.
const ELEMENT_HEADER: usize = 11;

/// No element has more nodes than this.
const MOST_NODES: i64 = 27;

/// A block that is being read.
struct Block<'a, 'b> {
    name: &'static str,
    lines: &'a mut Lines<'b>,
    layout: Layout,
    line: &'b [u8],
}

/// `NBLOCK,6,SOLID,largest node,nodes`, then `node, two more integers, x, y, z, three angles`;
/// trailing zeros may be missing. It ends with `N,R5.3,LOC,-1,` or `-1`.
pub(super) fn nodes(command: &Command, lines: &mut Lines, archive: &mut Archive) -> Parsed<()> {
    let mut block = Block::begin("NBLOCK", lines)?;
    if block.layout.n_reals() < 3 {
        return Err(block.malformed("a format line with three reals, such as (3i9,6e21.13e3)"));
    }

    let start = archive.node_tags.len();
    let mut largest = 0;
    while block.next()? {
        if block.line.first().is_some_and(|b| b.eq_ignore_ascii_case(&b'N')) {
            if Command::parse(block.line).is_end() {
                break;
            }
            return Err(block.malformed("a node, or the end mark N,R5.3,LOC,-1,"));
        }

        let tag = block.tag(0, "the number of a node")?;
        if block.line.len() > block.layout.width() {
            return Err(block.malformed("a line no longer than the format line says"));
        }
        let mut values = [0.0; 6];
        for (i, value) in values.iter_mut().enumerate().take(block.layout.n_reals()) {
            *value = block.real(i)?;
        }

        let [x, y, z, angles @ ..] = values;
        let place = finite(tag.into(), [x, y, z]).map_err(|fault| block.lines.fault(fault))?;
        if angles.iter().any(|&angle| angle != 0.0) {
            archive.rotated_nodes.insert(tag, Some(angles));
        }

        archive.node_tags.push(tag);
        archive.coordinates.push(place);
        largest = largest.max(tag);
    }

    block.check_count(command, "nodes", archive.node_tags.len() - start, largest)
}

/// `EBLOCK,19,SOLID,largest element,elements`, then eleven integers and the nodes of an element;
/// more than fit on a line continue on the next. It ends with `-1`.
pub(super) fn elements(command: &Command, lines: &mut Lines, archive: &mut Archive) -> Parsed<()> {
    let mut block = Block::begin("EBLOCK", lines)?;
    if !command.argument(2).eq_ignore_ascii_case("SOLID") {
        archive.pass_over("EBLOCK (without SOLID)", block.lines);
        while block.next()? {}
        return Ok(());
    }

    if block.layout.n_integers() <= ELEMENT_HEADER {
        return Err(block.malformed("a format line with 19 integers, such as (19i10)"));
    }

    let start = archive.elements.len();
    let mut largest = 0;
    while block.next()? {
        let material = block.unsigned(0, "the material of an element")?;
        let kind = block.tag(1, "the type of an element")?;
        let real = block.optional(2);
        archive.has_element_systems |= block.optional(4) != 0;
        if block.optional(5) != 0 {
            archive.pass_over("EBLOCK (elements that are dead)", block.lines);
        }
        let n_nodes = match block.layout.integer(block.line, 8) {
            Field::Value(count @ 1..=MOST_NODES) => count as usize,
            _ => return Err(block.malformed("the number of nodes of an element, 1 to 27")),
        };
        let tag = block.tag(10, "the number of an element")?;

        let first = archive.connectivity.len();
        let mut at = ELEMENT_HEADER;
        for _ in 0..n_nodes {
            if at == block.layout.n_integers() {
                at = 0;
                if !block.next()? {
                    return Err(block.malformed("more nodes of an element"));
                }
            }
            archive.connectivity.push(block.unsigned(at, "a node of an element")?);
            at += 1;
        }

        archive.elements.push(Element { tag, kind, material, real, first, n_nodes });
        largest = largest.max(tag);
    }

    block.check_count(command, "elements", archive.elements.len() - start, largest)
}

/// `CMBLOCK,name,NODE,numbers`, then numbers; a negative one ends a range.
pub(super) fn component(command: &Command, lines: &mut Lines, archive: &mut Archive) -> Parsed<()> {
    let announced = command.argument(3).parse::<u64>();
    let mut block = Block::begin("CMBLOCK", lines)?;
    let Ok(announced) = announced else {
        return Err(block.malformed("CMBLOCK,name,type,count before the format line"));
    };

    let mut ranges: Vec<(u32, u32)> = Vec::new();
    let mut read = 0;
    let mut open = false;
    while read < announced {
        if !block.next()? {
            return Err(block.malformed("more numbers of the component"));
        }
        for i in 0..(announced - read).min(block.layout.n_integers() as u64) as usize {
            let value = match block.layout.integer(block.line, i) {
                Field::Value(value) => value,
                _ => return Err(block.malformed("a number of the component")),
            };

            // A range ends after it begins, and once: a second negative number would end nothing.
            let number = u32::try_from(value.unsigned_abs()).ok().filter(|&number| number > 0);
            match (number, ranges.last_mut()) {
                (Some(number), _) if value > 0 => ranges.push((number, number)),
                (Some(last), Some(range)) if open && last > range.1 => range.1 = last,
                _ => return Err(block.malformed("a number, or minus the end of a range")),
            }
            open = value > 0;
            read += 1;
        }
    }

    block.no_more_numbers(announced)?;

    let name = printable(command.argument(1));
    match command.argument(2).to_ascii_uppercase().as_str() {
        "NODE" => drop(archive.node_components.insert(name, ranges)),
        "ELEM" | "ELEMENT" => drop(archive.element_components.insert(name, ranges)),
        _ => {}
    }
    Ok(())
}

/// `ETBLOCK,types,largest`, then `type, number in the element library, keys`. It ends with `-1`.
pub(super) fn element_types(lines: &mut Lines, archive: &mut Archive) -> Parsed<()> {
    let mut block = Block::begin("ETBLOCK", lines)?;
    if block.layout.n_integers() < 2 {
        return Err(block.malformed("a format line with two integers, such as (2i9,19a9)"));
    }
    while block.next()? {
        let kind = block.tag(0, "the number of a type")?;
        let number = block.tag(1, "the number of a type in the element library")?;
        let mut keys = [0; 3];
        for (i, key) in keys.iter_mut().enumerate() {
            if block.layout.n_integers() > 2 + i {
                *key = block.optional(2 + i);
            }
        }
        archive.element_types.insert(kind, ElementType { number, keys });
    }
    Ok(())
}

/// `RLBLOCK,sets,...`, two format lines, and then `number, count, constants`; more than fit on a line go
/// on in the next. Only the first constant of a set is kept.
pub(super) fn real_constants(lines: &mut Lines, archive: &mut Archive) -> Parsed<()> {
    let mut block = Block::begin("RLBLOCK", lines)?;
    if block.layout.n_integers() < 2 || block.layout.n_reals() == 0 {
        return Err(block.malformed("a format line with two integers and reals, as (2i8,6g16.9)"));
    }

    loop {
        let next = block.lines.peek().trim_ascii();
        if next.starts_with(b"(") {
            block.lines.next_line();
            continue;
        }
        let is_data = next.first().is_some_and(|b| b.is_ascii_digit() || b"+-.".contains(b));
        if !is_data {
            return Ok(());
        }
        block.next()?;
        // A continuation has reals in the place of the number of a set.
        if let (Field::Value(number), Field::Value(_), Field::Value(first)) = (
            block.layout.integer(block.line, 0),
            block.layout.integer(block.line, 1),
            block.layout.real(block.line, 0),
        ) {
            archive.reals.extend(u32::try_from(number).ok().map(|number| (number, first)));
        }
    }
}

impl<'a, 'b> Block<'a, 'b> {
    /// Reads the format line.
    fn begin(name: &'static str, lines: &'a mut Lines<'b>) -> Parsed<Self> {
        let Some(line) = lines.next_line() else {
            return Err(lines.fault(Fault::Truncated(name)));
        };
        match Layout::parse(line) {
            Some(layout) => Ok(Self { name, lines, layout, line }),
            None => {
                let expected = "the format line of the block, such as (3i9,6e21.13e3) or (19i10)";
                Err(lines.malformed(name, expected, line))
            }
        }
    }

    /// Goes to the next line; `false` at the end mark `-1`.
    fn next(&mut self) -> Parsed<bool> {
        match self.lines.next_line() {
            Some(line) => {
                self.line = line;
                Ok(line.trim_ascii() != b"-1")
            }
            None => Err(self.lines.fault(Fault::Truncated(self.name))),
        }
    }

    fn malformed(&self, expected: &'static str) -> Located {
        self.lines.malformed(self.name, expected, self.line)
    }

    /// Integer `i` of the line, from 0 to what 32 bits hold.
    fn unsigned(&self, i: usize, expected: &'static str) -> Parsed<u32> {
        match self.layout.integer(self.line, i) {
            Field::Value(value) => value.try_into().map_err(|_| self.malformed(expected)),
            _ => Err(self.malformed(expected)),
        }
    }

    /// Integer `i` of the line, 0 if the line ends before it or it is no whole number, as key
    /// options may be.
    fn optional(&self, i: usize) -> u32 {
        match self.layout.integer(self.line, i) {
            Field::Value(value) => value.try_into().unwrap_or(0),
            _ => 0,
        }
    }

    /// Integer `i` of the line, from 1.
    fn tag(&self, i: usize, expected: &'static str) -> Parsed<u32> {
        match self.unsigned(i, expected)? {
            0 => Err(self.malformed(expected)),
            tag => Ok(tag),
        }
    }

    /// Real `i` of the line, 0 if the line ends before it.
    fn real(&self, i: usize) -> Parsed<f64> {
        match self.layout.real(self.line, i) {
            Field::Value(value) => Ok(value),
            Field::Missing => Ok(0.0),
            Field::Bad => Err(self.malformed("a coordinate or angle")),
        }
    }

    /// Compares the length with the last argument of the command. Some programs write the largest
    /// number there too, or nothing.
    fn check_count(
        &self,
        command: &Command,
        what: &'static str,
        found: usize,
        largest: u32,
    ) -> Parsed<()> {
        let block = self.name;
        match command.argument(4).parse::<u64>() {
            Ok(announced)
                if announced > 0
                    && announced != found as u64
                    && announced != u64::from(largest) =>
            {
                Err(self.lines.fault(Fault::Count { block, what, announced, found }))
            }
            _ => Ok(()),
        }
    }

    /// Nothing but blanks may follow `announced` numbers on this line, and no number on the next.
    fn no_more_numbers(&self, announced: u64) -> Parsed<()> {
        let n_integers = self.layout.n_integers() as u64;
        let on_line = match announced % n_integers {
            0 if announced > 0 => n_integers,
            rest => rest,
        };
        let end = self.layout.end_of_integers(on_line as usize);
        let rest = if announced > 0 { self.line.get(end..).unwrap_or_default() } else { &[] };
        let next = self.lines.peek().trim_ascii_start();
        if !rest.trim_ascii().is_empty()
            || next.first().is_some_and(|b| b.is_ascii_digit() || *b == b'-')
        {
            return Err(self.malformed("as many numbers as the component announces"));
        }
        Ok(())
    }
}
