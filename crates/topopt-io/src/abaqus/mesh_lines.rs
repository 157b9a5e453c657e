//! *NODE, *ELEMENT, *NSET, *ELSET and *SURFACE.

use super::deck::{Reader, Solid};
use super::element_type::ElementType;
use super::error::Fault;
use super::lines::{Data, Keyword, capitals};
use super::sets::{Block, Item, push};
use crate::import::finite;
use crate::quote::printable;
use crate::read_error::{Located, Parsed};

impl Reader<'_> {
    /// `number, x, y, z`; coordinates that are left out are 0.
    pub fn nodes(&mut self, keyword: &Keyword) -> Parsed<()> {
        if keyword.get("SYSTEM").is_some_and(|system| !system.eq_ignore_ascii_case("R")) {
            let what = "*NODE with cylindrical or spherical coordinates";
            return Err(keyword.fault(Fault::Generator(what.into())));
        }

        let in_assembly = self.in_assembly(keyword);
        let (mut items, mut of_assembly) = (Vec::new(), Vec::new());
        while let Some(data) = self.lines.data() {
            let tag = data.tag(data.field(0), "the number of a node")?;
            let coordinates = finite(tag, data.doubles(1, "a coordinate")?);
            let coordinates = coordinates.map_err(|fault| Located::at_line(data.line, fault))?;

            // Nodes of the assembly are reference points, with numbers of their own.
            if in_assembly {
                self.deck.reference_nodes.insert(tag, coordinates);
                of_assembly.push(tag);
                continue;
            }
            self.deck.node_tags.push(tag);
            self.deck.coordinates.push(coordinates);
            push(&mut items, tag);
        }

        match keyword.get("NSET") {
            Some(name) if in_assembly => self.reference_set(name, of_assembly),
            Some(name) => {
                let block = self.block(keyword, name, items);
                self.deck.node_sets.push(block);
            }
            None => {}
        }
        Ok(())
    }

    /// `number, nodes...`, over as many lines as needed.
    pub fn elements(&mut self, keyword: &Keyword) -> Parsed<()> {
        let kind = capitals(keyword.required("TYPE")?);
        let meaning = ElementType::of(&kind);

        let in_assembly = self.in_assembly(keyword);
        let expected = match meaning {
            ElementType::Solid(_, expected) => Some(expected),
            _ => None,
        };

        let mut items = Vec::new();
        let mut nodes = Vec::new();
        let mut count = 0;
        while let Some(data) = self.lines.data() {
            nodes.clear();
            let tag = self.element(&data, expected, &mut nodes)?;
            if in_assembly {
                self.leave_out("elements of the assembly");
                continue;
            }
            count += 1;
            let added = self.add_element(meaning, &kind, tag, &nodes);
            added.map_err(|fault| Located::at_line(data.line, fault))?;
            push(&mut items, tag);
        }

        // Counted here: other solids are refused, and have a count of their own.
        match meaning {
            ElementType::Solid(..) => drop(self.deck.solid_types.insert(kind)),
            ElementType::NoSolid if count > 0 => {
                *self.deck.no_solid_types.entry(kind).or_default() += count;
            }
            _ => {}
        }

        if let Some(name) = keyword.get("ELSET").filter(|_| !in_assembly) {
            let block = self.block(keyword, name, items);
            self.deck.element_sets.push(block);
        }
        Ok(())
    }

    /// Reads number and nodes of the element that begins at `first`. It continues on the next line
    /// until it has `expected` nodes or, where that is unknown, after a comma.
    fn element(
        &mut self,
        first: &Data,
        expected: Option<usize>,
        nodes: &mut Vec<u64>,
    ) -> Parsed<u64> {
        let mut fields = first.fields();
        let tag = first.tag(fields.next().unwrap_or(""), "the number of an element")?;

        for field in fields {
            // Elements of a network may have no node at an end.
            if expected.is_none() && matches!(field, "0" | "") {
                continue;
            }
            nodes.push(first.tag(field, "the number of a node")?);
        }

        let mut open = first.text.ends_with(',');
        while expected.map_or(open, |expected| nodes.len() < expected) {
            let Some(data) = self.lines.data() else { break };
            for field in data.fields() {
                nodes.push(data.tag(field, "the number of a node")?);
            }
            open = data.text.ends_with(',');
        }
        Ok(tag)
    }

    /// `*NSET`: numbers of nodes and names of sets.
    pub fn node_set(&mut self, keyword: &Keyword) -> Parsed<()> {
        let name = keyword.required("NSET")?;
        if keyword.has("ELSET") {
            self.deck.notes.push(format!(
                "node set `{name}` of an element set (line {}) was left out: name the element set",
                keyword.line
            ));
            return Ok(());
        }
        let (items, of_assembly) = self.set_items(keyword)?;
        if !of_assembly.is_empty() {
            self.reference_set(name, of_assembly);
            if items.is_empty() {
                return Ok(());
            }
        }
        let block = self.block(keyword, name, items);
        self.deck.node_sets.push(block);
        Ok(())
    }

    /// Adds nodes of the assembly to its set of that name.
    fn reference_set(&mut self, name: &str, nodes: Vec<u64>) {
        self.deck.reference_sets.entry(self.key(name)).or_default().extend(nodes);
    }

    /// `*ELSET`: numbers of elements and names of sets.
    pub fn element_set(&mut self, keyword: &Keyword) -> Parsed<()> {
        let name = keyword.required("ELSET")?;
        let (items, of_assembly) = self.set_items(keyword)?;
        if !of_assembly.is_empty() {
            self.leave_out("element sets with elements of the assembly");
        }
        let block = self.block(keyword, name, items);
        self.deck.element_sets.push(block);
        Ok(())
    }

    /// Adds an element of the type called `kind`, which means `meaning`, to the deck.
    fn add_element(
        &mut self,
        meaning: ElementType,
        kind: &str,
        tag: u64,
        nodes: &[u64],
    ) -> Result<(), Fault> {
        match meaning {
            ElementType::Solid(_, expected) if nodes.len() != expected => {
                let found = nodes.len();
                let kind = kind.into();
                return Err(Fault::ElementNodes { element: tag, kind, expected, found });
            }
            ElementType::Solid(shape, n_nodes) => {
                let first = self.deck.connectivity.len();
                self.deck.solids.push(Solid { tag, shape, first, n_nodes });
                self.deck.connectivity.extend_from_slice(nodes);
            }
            ElementType::OtherSolid => {
                self.deck.other_solids.entry(kind.into()).or_insert((0, tag)).0 += 1;
            }
            ElementType::NoSolid => {
                if kind.starts_with("SPRING") {
                    self.deck.spring_types.insert(tag, kind.into());
                }
                self.deck.no_solids.push((tag, nodes.to_vec()));
            }
        }
        Ok(())
    }

    /// Numbers and names, or `first, last, step` with the parameter GENERATE; and numbers of nodes
    /// or elements of the assembly.
    fn set_items(&mut self, keyword: &Keyword) -> Parsed<(Vec<Item>, Vec<u64>)> {
        let generate = keyword.has("GENERATE");
        let in_assembly = self.in_assembly(keyword);
        let (mut items, mut of_assembly) = (Vec::new(), Vec::new());
        while let Some(data) = self.lines.data() {
            if in_assembly && data.text.starts_with(|c: char| c.is_ascii_digit()) {
                of_assembly.extend(data.fields().filter_map(|field| field.parse::<u64>().ok()));
                continue;
            }

            if generate {
                items.push(range(&data)?);
                continue;
            }

            for field in data.fields() {
                match self.item(field) {
                    Item::Tags(tag, _) => push(&mut items, tag),
                    Item::Set(_) if field.is_empty() => {
                        return Err(data.malformed(field, "a number or the name of a set"));
                    }
                    item => items.push(item),
                }
            }
        }
        Ok((items, of_assembly))
    }

    /// `element or element set, S1 to S6`; of TYPE=NODE nodes or node sets.
    pub fn surface(&mut self, keyword: &Keyword) -> Parsed<()> {
        let name = keyword.required("NAME")?;
        let kind = capitals(keyword.get("TYPE").unwrap_or("ELEMENT"));
        if !matches!(kind.as_str(), "ELEMENT" | "NODE") || keyword.has("COMBINE") {
            let at = self.at(keyword.line);
            let name = printable(name);
            let note = format!("surface `{name}` ({at}) was left out: it is not made of faces");
            self.deck.notes.push(note);
            return Ok(());
        }

        let mut nodes = Vec::new();
        while let Some(data) = self.lines.data() {
            let mut fields = data.fields();
            let item = self.item(fields.next().unwrap_or(""));
            if kind == "NODE" {
                nodes.push(item);
                continue;
            }

            let face = capitals(fields.next().unwrap_or(""));
            if is_of_shell(&face) {
                self.leave_out("lines of surfaces on faces of shells");
                continue;
            }
            let number = match face.strip_prefix('S').and_then(|n| n.parse().ok()) {
                Some(number @ 1..=6) => number,
                _ => {
                    let found =
                        if face.is_empty() { "left out".into() } else { format!("`{face}`") };
                    let surface = name.to_owned();
                    return Err(Located::at_line(data.line, Fault::SurfaceFace { surface, found }));
                }
            };

            // A block per line, so that an error names it.
            let mut block = self.block(keyword, name, vec![item]);
            block.line = data.line;
            self.deck.surfaces.push((block, number));
        }

        if kind == "NODE" {
            let block = self.block(keyword, name, nodes);
            self.deck.node_sets.push(block);
        }
        Ok(())
    }

    /// A set called `name`, as `keyword` defines it.
    fn block(&self, keyword: &Keyword, name: &str, items: Vec<Item>) -> Block {
        Block {
            key: self.key(name),
            name: printable(name),
            keyword: keyword.name.clone(),
            line: keyword.line,
            items,
            hidden: keyword.has("INTERNAL"),
        }
    }
}

/// Whether a face is that of a shell or the end of a beam.
fn is_of_shell(face: &str) -> bool {
    let is_edge = face.strip_prefix('E').is_some_and(|n| n.parse::<u8>().is_ok());
    is_edge || matches!(face, "SPOS" | "SNEG" | "END1" | "END2" | "NONE")
}

/// `first, last, step`; the step is 1 if it is left out.
fn range(data: &Data) -> Parsed<Item> {
    let first = data.tag(data.field(0), "the first number of a range")?;
    let last = data.tag(data.field(1), "the last number of a range")?;
    let step = data.tag_or(2, 1, "the step of a range")?;
    if first > last {
        return Err(data.malformed(&data.text, "a range whose last number is the larger"));
    }
    Ok(Item::Range(first, last, step))
}
