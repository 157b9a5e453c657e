//! From an archive to a checked mesh.

use std::collections::BTreeMap;
use std::mem::take;

use topopt_mesh::Sets;

use super::archive::{Archive, Element, Ranges};
use super::conditions;
use super::element_type::{self, Role};
use super::error::Fault as AnsysFault;
use crate::import::{ImportedMesh, Nodes, Numbering, UNUSED, add_nodes};
use crate::read_error::Fault;

/// Picks the bricks, resolves the nodes, makes the sets and checks the mesh.
pub(super) fn import(mut archive: Archive) -> Result<ImportedMesh, Fault> {
    let mut notes = Vec::new();
    let selection = Selection::of(&archive)?;
    let bricks = &selection.bricks;
    only_bricks_and_wedges(&archive, bricks)?;
    notes.extend(selection.notes());
    notes.extend(notes_on_file(&archive, bricks));

    let node_tags = take(&mut archive.node_tags).into_iter().map(u64::from).collect();
    let nodes = Nodes::new(node_tags, take(&mut archive.coordinates))?;

    let element_tags = bricks.iter().map(|brick| brick.tag.into()).collect();
    let corners = bricks.iter().map(|brick| {
        let nodes = archive.nodes_of(brick);
        std::array::from_fn(|a| nodes[a].into())
    });
    let numbering = Numbering::new(nodes, element_tags, corners)?;
    notes.extend(numbering.elements.note(|_| 0));
    notes.extend(numbering.note());

    let mut sets = Sets::default();
    for (name, ranges) in &archive.node_components {
        let members = nodes_in(&numbering, ranges);
        add_nodes(&mut sets, name, members, &mut notes);
    }
    for (name, ranges) in &archive.element_components {
        let members = elements_in(&numbering, ranges);
        let others = members_of(&selection.skipped_tags, ranges).count();
        if others > 0 {
            notes.push(format!(
                "element set `{name}`: elements that are not hexahedra were left out: {others}"
            ));
        }
        sets.elements.insert(name.clone(), members);
    }

    // After the components, whose names these sets avoid.
    conditions::add(&archive, &numbering, &mut sets, &mut notes);
    numbering.into_mesh(sets, notes)
}

/// What becomes of the elements.
struct Selection {
    /// By ascending tags.
    bricks: Vec<Element>,
    /// How many of them have twenty nodes.
    n_quadratic: usize,
    /// Tags of the elements that were left out, ascending.
    skipped_tags: Vec<u64>,
    /// How many were, by number in the element library.
    skipped: BTreeMap<u32, usize>,
}

impl Selection {
    fn of(archive: &Archive) -> Result<Self, AnsysFault> {
        let mut selection = Self {
            bricks: Vec::new(),
            n_quadratic: 0,
            skipped_tags: Vec::new(),
            skipped: BTreeMap::new(),
        };

        let mut refused = BTreeMap::<u32, (usize, u32)>::new();
        for element in &archive.elements {
            let number = number_of(archive, element)?;
            match element_type::role(number) {
                Role::Brick => selection.bricks.push(*element),
                Role::QuadraticBrick => {
                    selection.bricks.push(*element);
                    selection.n_quadratic += 1;
                }
                Role::Skipped => {
                    selection.skipped_tags.push(element.tag.into());
                    *selection.skipped.entry(number).or_default() += 1;
                }
                Role::Refused(..) => refused.entry(number).or_insert((0, element.tag)).0 += 1,
            }
        }

        // Of the refused types, that of most elements is named.
        if let Some((number, (count, element))) = refused.into_iter().max_by_key(|(_, (n, _))| *n)
            && let Role::Refused(shape, remedy) = element_type::role(number)
        {
            let name = element_type::name(number);
            return Err(AnsysFault::NotHexahedra { name, shape, count, element, remedy });
        }
        if selection.bricks.is_empty() {
            return Err(AnsysFault::NoHexahedra);
        }

        selection.bricks.sort_by_key(|brick| brick.tag);
        selection.skipped_tags.sort_unstable();
        Ok(selection)
    }

    fn notes(&self) -> impl Iterator<Item = String> {
        let quadratic = (self.n_quadratic > 0).then(|| {
            "hexahedra of 20 nodes (SOLID186 or SOLID95) were read by their eight corners".into()
        });
        let skipped = self.skipped.iter().map(|(&number, count)| {
            format!("{} elements were left out: {count}", element_type::name(number))
        });
        quadratic.into_iter().chain(skipped)
    }
}

fn number_of(archive: &Archive, element: &Element) -> Result<u32, AnsysFault> {
    let undefined = AnsysFault::UndefinedType { element: element.tag, kind: element.kind };
    archive.element_types.get(&element.kind).copied().ok_or(undefined)
}

/// Elements that a message names.
const NAMED: usize = 10;

/// Every brick must have eight distinct corners or be a wedge.
fn only_bricks_and_wedges(archive: &Archive, bricks: &[Element]) -> Result<(), AnsysFault> {
    let mut shapes = BTreeMap::<&str, usize>::new();
    let mut degenerate = Vec::new();

    for brick in bricks {
        let nodes = archive.nodes_of(brick);
        let number = number_of(archive, brick)?;
        let (allowed, needed) = match element_type::role(number) {
            Role::Brick => (8..=8, "8"),
            _ => (8..=20, "8 to 20"),
        };
        if !allowed.contains(&nodes.len()) {
            let (element, name) = (brick.tag, element_type::name(number));
            return Err(AnsysFault::NodeCount { element, name, n_nodes: nodes.len(), needed });
        }

        let corners = std::array::from_fn(|a| nodes[a]);
        if let Some(shape) = element_type::degenerate(&corners) {
            *shapes.entry(shape).or_default() += 1;
            degenerate.push(brick);
        }
    }

    let Some(first) = degenerate.first() else { return Ok(()) };
    let shapes: Vec<_> = shapes.iter().map(|(shape, count)| format!("{count} {shape}")).collect();
    Err(AnsysFault::Degenerate {
        name: element_type::name(number_of(archive, first)?),
        count: degenerate.len(),
        total: bricks.len(),
        shapes: shapes.join(", "),
        elements: degenerate.iter().take(NAMED).map(|brick| brick.tag).collect(),
    })
}

fn notes_on_file(archive: &Archive, bricks: &[Element]) -> Vec<String> {
    let passed_over = archive.passed_over.iter().map(|(command, (count, line))| {
        format!("{command} commands were skipped: {count}, the first on line {line}")
    });
    let mut n_bricks = BTreeMap::<u32, usize>::new();
    for brick in bricks {
        *n_bricks.entry(brick.material).or_default() += 1;
    }
    let materials = archive.materials.iter().map(|(material, properties)| {
        let value = |(name, property): (&&str, &super::Property)| {
            let first = if property.varies { " (the first of several)" } else { "" };
            format!("{name} {}{first}", property.value)
        };
        let values: Vec<_> = properties.iter().map(value).collect();
        let count = n_bricks.get(material).copied().unwrap_or(0);
        let values = values.join(", ");
        format!("material {material} (elements: {count}) belongs in the case file: {values}")
    });
    passed_over.chain(materials).collect()
}
fn nodes_in(numbering: &Numbering, ranges: &Ranges) -> Vec<u32> {
    let members = members_of(numbering.node_tags(), ranges);
    members.map(|at| numbering.node(numbering.node_tags()[at]).unwrap_or(UNUSED)).collect()
}

fn elements_in(numbering: &Numbering, ranges: &Ranges) -> Vec<u32> {
    let elements = &numbering.elements;
    let members = members_of(elements.tags(), ranges);
    let mut members: Vec<u32> = members.map(|given| elements.number(given as u32)).collect();
    members.sort_unstable();
    members.dedup();
    members
}

/// Where the ascending `tags` lie within `ranges`, ascending, none twice.
fn members_of(tags: &[u64], ranges: &Ranges) -> impl Iterator<Item = usize> {
    let mut ranges = ranges.clone();
    ranges.sort_unstable();
    let mut behind = 0;
    ranges.into_iter().flat_map(move |(first, last)| {
        let start = tags.partition_point(|&tag| tag < first.into()).max(behind);
        behind = tags.partition_point(|&tag| tag <= last.into()).max(behind);
        start..behind
    })
}
