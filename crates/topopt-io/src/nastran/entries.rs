//! Bulk data of the mesh: grids, coordinate systems, elements, properties, sets.

use topopt_mesh::cells::Shape;

use super::deck::{Deck, Definition, GivenSet, Grid, GridDefaults, Kind, List, Points, Solid};
use super::error::Fault;
use super::field;
use super::lines::Card;
use super::origin::Origin;
use super::read::Reader;
use super::tables;
use crate::read_error::{Located, Parsed};

impl Reader {
    /// Reads an entry of the mesh; false if it is none.
    pub fn mesh_entry(&mut self, card: &Card) -> Parsed<bool> {
        match card.name.as_str() {
            "GRID" => self.grid(card)?,
            "GRDSET" => self.grid_defaults(card)?,
            "CORD2R" | "CORD2C" | "CORD2S" => self.system_by_points(card)?,
            "CORD1R" | "CORD1C" | "CORD1S" => self.systems_by_grids(card)?,
            "CHEXA" => self.solid(card, Shape::Hexahedron)?,
            "CPENTA" => self.solid(card, Shape::Wedge)?,
            "CTETRA" => self.solid(card, Shape::Tetrahedron)?,
            "CPYRAM" | "CPYRA" => self.solid(card, Shape::Pyramid)?,
            "PSOLID" | "PLSOLID" => self.property(card)?,
            "PARAM" => self.parameter(card),
            "SET" => self.set(card)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Counts an entry that is not read.
    pub fn other_entry(&mut self, card: &Card) {
        let name = card.name.as_str();
        let is_name = name.starts_with(|c: char| c.is_ascii_uppercase())
            && name.len() <= 8
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if !is_name {
            Deck::count(&mut self.deck.skipped, "");
        } else if tables::is_other_element(name) {
            Deck::count(&mut self.deck.others, name);
        } else if !tables::is_harmless(name) {
            self.lose(name, card.line);
        }
    }

    /// Counts what is not carried over, and keeps the first line.
    pub fn lose(&mut self, what: &str, line: usize) {
        let origin = Origin { line, ..self.origin };
        self.deck.lost.entry(what.to_owned()).or_insert((0, origin)).0 += 1;
    }

    /// `PARAM,name,value`: WTMASS is a factor of all masses, INREL of -1 or -2 inertia relief.
    pub fn parameter(&mut self, card: &Card) {
        let name = String::from_utf8_lossy(card.text(2)).to_uppercase();
        let value = String::from_utf8_lossy(card.text(3)).into_owned();
        self.set_parameter(&name, &value, card.line);
    }

    /// Reads the value of a parameter, from a PARAM entry or a line of case control.
    pub fn set_parameter(&mut self, name: &str, value: &str, line: usize) {
        let number = field::real(value.trim().as_bytes());
        let is_off = number == Some(0.0) || value.trim().eq_ignore_ascii_case("NO");
        match (name, number) {
            ("WTMASS", Some(factor)) => self.deck.mass_factor = Some(factor),
            ("INREL", Some(number)) => self.deck.inertia_relief = number < 0.0,
            _ if tables::is_harmless_parameter(name) => {}
            ("LGDISP", Some(number)) if number <= 0.0 => {}
            _ if is_off => {}
            _ => self.lose(&crate::quote::excerpt(&format!("PARAM,{name}")), line),
        }
    }

    /// PSOLID: `number, material, system, ..., FLUID`; PLSOLID of materials that are not understood.
    fn property(&mut self, card: &Card) -> Parsed<()> {
        let property = card.tag(2, "the number of a property")?;
        let material = card.number(3, "the number of a material")?;
        self.deck.properties.insert(property, material);
        if card.name == "PLSOLID" {
            self.not_understood(card, material);
            return Ok(());
        }
        if card.is_word(8, "PFLUID") || card.is_word(8, "FLUID") {
            self.lose("PSOLID of a fluid", card.line);
        }
        if !(card.is_blank(4) || card.text(4) == b"0") {
            self.deck.turned_properties.insert(property);
        }
        Ok(())
    }

    /// `number, system, x, y, z, system of displacements, held components`.
    fn grid(&mut self, card: &Card) -> Parsed<()> {
        let tag = card.tag(2, "the number of a grid")?;
        let held = if card.is_blank(8) { None } else { Some(card.components(8)?) };
        self.deck.grids.push(Grid {
            tag,
            coordinates: card.vector(4, "a coordinate")?,
            given_in: system_or_blank(card, 3)?,
            moves_in: system_or_blank(card, 7)?,
            held,
        });
        Ok(())
    }

    fn grid_defaults(&mut self, card: &Card) -> Parsed<()> {
        self.deck.defaults = GridDefaults {
            given_in: system_or_blank(card, 3)?.unwrap_or(0),
            moves_in: system_or_blank(card, 7)?.unwrap_or(0),
            held: card.components(8)?,
        };
        Ok(())
    }

    /// `number, system, A, B, C`: the origin, a point of the z axis, one of the plane of x and z.
    fn system_by_points(&mut self, card: &Card) -> Parsed<()> {
        let tag = card.tag(2, "the number of a coordinate system")?;
        let given_in = card.number(3, "the number of a coordinate system")?;
        let expected = "a coordinate";
        let points =
            [card.vector(4, expected)?, card.vector(7, expected)?, card.vector(10, expected)?];
        self.add_system(card, tag, Points::Given(given_in, points))
    }

    /// Once or twice `number, A, B, C`, by grids.
    fn systems_by_grids(&mut self, card: &Card) -> Parsed<()> {
        for first in [2, 6] {
            if first == 6 && card.is_blank(6) {
                break;
            }
            let tag = card.tag(first, "the number of a coordinate system")?;
            let mut grids = [0; 3];
            for (i, grid) in grids.iter_mut().enumerate() {
                *grid = card.tag(first + 1 + i, "the number of a grid")?;
            }
            self.add_system(card, tag, Points::Grids(grids))?;
        }
        Ok(())
    }

    fn add_system(&mut self, card: &Card, tag: u64, points: Points) -> Parsed<()> {
        let definition = Definition { kind: Kind::of(&card.name), points };
        match self.deck.systems.insert(tag, definition) {
            None => Ok(()),
            Some(_) => Err(Located::at_line(card.line, Fault::TwoSystems(tag))),
        }
    }

    /// `number, property, nodes`: corners, then nodes in the middles of edges, each optional.
    fn solid(&mut self, card: &Card, shape: Shape) -> Parsed<()> {
        let tag = card.tag(2, "the number of an element")?;
        // As the property the element's number is taken where the field is blank.
        let property = match card.number(3, "the number of a property")? {
            0 => tag,
            property => property,
        };

        let first = self.deck.connectivity.len();
        let n_corners = shape.n_corners();
        for field in 4..4 + n_corners {
            self.deck.connectivity.push(card.tag(field, "the number of a grid at a corner")?);
        }

        // OptiStruct puts the system of the material behind the nodes, by the word CORDM.
        let end = (4..=card.n_fields() + 1).find(|&field| card.is_word(field, "CORDM"));
        let end = end.unwrap_or(card.n_fields() + 2);
        let behind = 4 + n_corners + shape.edges().len();
        if let Some(field) = (behind..end).find(|&field| !card.is_blank(field)) {
            return Err(card.malformed(field, "no more grids"));
        }
        let mut middles = [0; 12];
        for (middle, field) in middles.iter_mut().zip(4 + n_corners..end.min(behind)) {
            *middle = card.number(field, "the number of a grid in the middle of an edge")?;
        }
        if middles != [0; 12] {
            let middles = order_of_middles(shape).iter().map(|&place| middles[place]);
            self.deck.connectivity.extend(middles);
        }

        let n_nodes = self.deck.connectivity.len() - first;
        self.deck.solids.push(Solid { tag, property, shape, first, n_nodes });
        Ok(())
    }

    /// `number, GRID or ELEM, LIST`, and the numbers from the second line on (OptiStruct).
    fn set(&mut self, card: &Card) -> Parsed<()> {
        let tag = card.tag(2, "the number of a set")?;
        let of_grids = card.is_word(3, "GRID") || card.is_word(3, "NODE");
        let of_elements = card.is_word(3, "ELEM");
        let is_list = card.is_blank(4) || card.is_word(4, "LIST");
        if !is_list || !(of_grids || of_elements) {
            self.lose("SET", card.line);
            return Ok(());
        }
        let list = list(card, 10)?;
        self.deck.sets.push(GivenSet { tag, of_grids, list });
        Ok(())
    }
}

/// The number of a coordinate system; none if the field is blank. -1 marks grids of a fluid.
fn system_or_blank(card: &Card, field: usize) -> Parsed<Option<u64>> {
    if card.is_blank(field) || card.text(field) == b"-1" {
        return Ok(None);
    }
    card.number(field, "the number of a coordinate system").map(Some)
}

/// Returns for each edge, in the order of [`Shape::edges`], the place of its middle node among the
/// middles of the entry: Nastran puts the edges between the two triangles or quadrilaterals in
/// front of those of the second (MSC Nastran Quick Reference Guide, CHEXA and CPENTA).
fn order_of_middles(shape: Shape) -> &'static [usize] {
    match shape {
        Shape::Tetrahedron => &[0, 1, 2, 3, 4, 5],
        Shape::Pyramid => &[0, 1, 2, 3, 4, 5, 6, 7],
        Shape::Wedge => &[0, 1, 2, 6, 7, 8, 3, 4, 5],
        Shape::Hexahedron => &[0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7],
    }
}

/// Numbers from a field on, with `THRU`, `BY` and `EXCEPT`; blank fields are passed over, and the
/// list ends before a real number, as that of an RBE2 may.
pub(super) fn list(card: &Card, start: usize) -> Parsed<List> {
    let mut list = List::default();
    let mut is_except = false;
    let mut at = start;

    while at <= card.n_fields() + 1 {
        let text = card.text(at);
        if text.is_empty() {
        } else if card.is_word(at, "THRU") {
            at += 1;
            let last = card.tag(at, "the last number of a range")?;
            if !list.extend_to(last) {
                return Err(card.malformed(at, "a last number that is not below the first"));
            }
            is_except = false;
        } else if card.is_word(at, "BY") {
            at += 1;
            let step = card.tag(at, "the step of a range")?;
            if let Some(range) = list.ranges.last_mut() {
                range.2 = step;
            }
        } else if card.is_word(at, "EXCEPT") {
            is_except = true;
        } else if text.contains(&b'.') && field::real(text).is_some() {
            break;
        } else {
            let tag = card.tag(at, "a number, THRU or EXCEPT")?;
            is_except &= list.ranges.last().is_some_and(|range| tag <= range.1);
            if is_except {
                list.without.push(tag);
            } else {
                list.ranges.push((tag, tag, 1));
            }
        }
        at += 1;
    }

    list.without.sort_unstable();
    Ok(list)
}
