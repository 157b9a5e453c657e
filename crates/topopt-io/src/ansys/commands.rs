//! Reads an archive command by command.

use super::archive::{Archive, ElementType, FacePressure, NodalValue, Property};
use super::blocks;
use super::element_type;
use super::error::Fault;
use super::field::real;
use super::lines::{Command, Lines, shown};
use super::unblocked::Unblocked;
use crate::read_error::Parsed;

/// Commands that say something about the model and are not read, by their first four characters.
const PASSED_OVER: [&str; 10] =
    ["SF", "SFA", "SFBL", "CP", "CE", "CEBL", "CERI", "RBE3", "CPBL", "BFBL"];

/// Material properties that matter here.
const PROPERTIES: [&str; 4] = ["EX", "NUXY", "PRXY", "DENS"];

/// Reads a whole file.
pub(super) fn parse(bytes: &[u8]) -> Parsed<Archive> {
    let mut lines = Lines::new(bytes);
    let mut archive = Archive::default();
    let mut nodes = false;
    let mut elements = false;
    let mut unblocked = Unblocked::default();

    while let Some(line) = lines.next_line() {
        let command = Command::parse(line);
        match command.name().as_str() {
            "NBLO" => {
                blocks::nodes(&command, &mut lines, &mut archive)?;
                nodes = true;
            }
            "EBLO" => {
                blocks::elements(&command, &mut lines, &mut archive)?;
                elements = true;
            }
            "CMBL" => blocks::component(&command, &mut lines, &mut archive)?,
            "ETBL" => blocks::element_types(&mut lines, &mut archive)?,

            "ET" => element_type(&command, &lines, line, &mut archive)?,
            "KEYO" => key_option(&command, &mut archive),
            "MP" => property(&command, 1, &mut archive),
            "MPDA" if is_release(command.argument(1)) => table(&command, 3, &mut archive),
            "MPDA" => table(&command, 1, &mut archive),
            "SFE" => pressure(&command, &mut lines, &mut archive),
            "ACEL" => archive.acceleration = vector(&command),
            "OMEG" => archive.rotation = vector(&command),
            "D" => condition(&command, &lines, &mut archive, 'U'),
            "F" => condition(&command, &lines, &mut archive, 'F'),

            _ if unblocked.command(&command, &lines, line, &mut archive)? => {}
            name if PASSED_OVER.contains(&name) && !command.is_end() => {
                archive.pass_over(name, &lines);
            }
            _ => {}
        }
    }

    nodes |= !archive.node_tags.is_empty();
    elements |= !archive.elements.is_empty();
    match (nodes, elements) {
        (false, _) => Err(Fault::MissingBlock("nodes (NBLOCK or N)").into()),
        (_, false) => Err(Fault::MissingBlock("elements (EBLOCK, EN or E)").into()),
        _ => Ok(archive),
    }
}

/// `ET,1,185` or `ET,1,SOLID185`.
fn element_type(
    command: &Command,
    lines: &Lines,
    line: &[u8],
    archive: &mut Archive,
) -> Parsed<()> {
    let number = element_type::number(command.argument(2));
    match (command.number(1), number) {
        (Some(kind), Some(number)) => {
            let first_key = command.number(3).unwrap_or(0);
            archive.element_types.insert(kind, ElementType { number, first_key });
            Ok(())
        }
        _ => {
            let expected = "a type and its number in the element library, such as ET,1,185";
            Err(lines.fault(Fault::Malformed { block: "ET", expected, found: shown(line) }))
        }
    }
}

/// `KEYOPT,type,number,value`, of which only the first matters.
fn key_option(command: &Command, archive: &mut Archive) {
    let (Some(kind), Some(1)) = (command.number(1), command.number(2)) else { return };
    if let Some(kind) = archive.element_types.get_mut(&kind) {
        kind.first_key = command.number(3).unwrap_or(0);
    }
}

/// Whether an argument is a release mark, such as `R5.0`, that CDWRITE puts first.
fn is_release(argument: &str) -> bool {
    let mut characters = argument.chars();
    matches!(characters.next(), Some('R' | 'r'))
        && characters.next().is_some_and(|c| c.is_ascii_digit())
}

/// `label,material,first,values...` from argument `at` on.
fn table(command: &Command, at: usize, archive: &mut Archive) {
    // What follows the first values only adds temperatures.
    if matches!(command.argument(at + 2), "" | "1") {
        insert_property(command, [at, at + 1, at + 3], archive);
    } else if let Some(property) = (property_name(command.argument(at)))
        .zip(command.number(at + 1))
        .and_then(|(name, material)| archive.materials.get_mut(&material)?.get_mut(name))
    {
        property.varies = true;
    }
}

/// `label,material,value,coefficients...` from argument `at` on.
fn property(command: &Command, at: usize, archive: &mut Archive) {
    insert_property(command, [at, at + 1, at + 2], archive);
}

/// A property with its label, material and first value at these arguments.
fn insert_property(command: &Command, [label, material, first]: [usize; 3], archive: &mut Archive) {
    let Some(name) = property_name(command.argument(label)) else { return };
    let values = command.arguments_from(first);
    let Some(value) = values.first().and_then(|text| real(text)) else { return };
    let Some(material) = command.number(material) else { return };
    let varies = values[1..].iter().any(|text| real(text).is_some_and(|other| other != 0.0));
    archive.materials.entry(material).or_default().insert(name, Property { value, varies });
}

/// `SFE,element,face,PRES,0 or 1,value`; behind a release mark the values stand in the next line.
fn pressure(command: &Command, lines: &mut Lines, archive: &mut Archive) {
    let next = is_release(command.argument(5)).then(|| lines.next_line().unwrap_or_default());
    let text = match next {
        Some(line) => String::from_utf8_lossy(line).replace(',', " "),
        None => command.argument(5).to_owned(),
    };
    let value = text.split_whitespace().next().and_then(real).filter(|value| value.is_finite());
    let is_real = matches!(command.argument(4), "" | "0" | "1");
    let is_pressure = command.argument(3).eq_ignore_ascii_case("PRES");
    match (command.number(1), command.number(2), value) {
        (Some(element), Some(face), Some(value)) if is_real && is_pressure => {
            archive.pressures.push(FacePressure { element, face, value });
        }
        _ => archive.pass_over("SFE", lines),
    }
}

/// Three numbers behind the name of a command; one that is left out is 0.
fn vector(command: &Command) -> [f64; 3] {
    let number = |i: usize| real(command.argument(i)).filter(|value| value.is_finite());
    [1, 2, 3].map(|i| number(i).unwrap_or(0.0))
}

fn property_name(label: &str) -> Option<&'static str> {
    PROPERTIES.into_iter().find(|name| name.eq_ignore_ascii_case(label))
}

/// `D,node,label,value` with labels UX, UY, UZ and ALL, or `F,node,label,value` with FX, FY, FZ.
fn condition(command: &Command, lines: &Lines, archive: &mut Archive, quantity: char) {
    let name = if quantity == 'U' { "D" } else { "F" };
    let label = command.argument(2).to_ascii_uppercase();
    let axis = match (label.strip_prefix(quantity), label.as_str()) {
        (Some("X"), _) => Some(0),
        (Some("Y"), _) => Some(1),
        (Some("Z"), _) => Some(2),
        (_, "ALL") if quantity == 'U' => None,
        _ => return archive.pass_over(&format!("{name},{label}"), lines),
    };

    let value = match command.argument(3) {
        "" => Some(0.0),
        text => real(text).filter(|value| value.is_finite()),
    };

    // A range of nodes, or more labels, stand behind the imaginary part of the value.
    let more = command.arguments_from(5).iter().any(|argument| !argument.is_empty());

    match (command.number(1), value) {
        (Some(node), Some(value)) if !more => {
            let value = NodalValue { node, axis, value };
            match quantity {
                'U' => archive.displacements.push(value),
                _ => archive.forces.push(value),
            }
        }
        _ => archive.pass_over(name, lines),
    }
}
