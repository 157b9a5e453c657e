//! From an archive to a checked mesh.

use std::collections::BTreeMap;
use std::mem::take;

use topopt_mesh::cells::Cells;

use super::archive::{Archive, Element, ElementType, Ranges};
use super::element_type::{self, MESH, Role, SPRING};
use super::error::Fault as AnsysFault;
use super::{carried, conditions, materials, springs, temperatures};
use crate::deck::DeckPhysics;
use crate::found::Found;
use crate::import::{Cutting, ImportedMesh, Nodes};
use crate::part::Part;
use crate::read_error::Fault;

/// Picks the solids, resolves the nodes, makes the sets and checks the mesh.
pub(super) fn import(mut archive: Archive, cutting: Cutting) -> Result<ImportedMesh, Fault> {
    let selection = Selection::of(&archive)?;
    let mut found = Found::default();
    found.deck.physics = selection.physics;
    found.notes.extend(selection.notes());
    found.notes.extend(notes_on_file(&archive, &selection.solids));

    let node_tags = take(&mut archive.node_tags).into_iter().map(u64::from).collect();
    let nodes = Nodes::new(node_tags, take(&mut archive.coordinates))?;
    let cells = cells(&archive, &selection.solids, &nodes)?;
    let element_tags = selection.solids.iter().map(|solid| solid.tag.into()).collect();
    let part = Part::new(nodes, element_tags, cells, cutting)?;
    found.notes.extend(part.elements.note(|_| 0));

    for (name, ranges) in &archive.node_components {
        let members = members_of(&part.node_tags, ranges).map(|at| at as u32);
        found.sets.nodes.insert(name.clone(), members.collect());
    }
    for (name, ranges) in &archive.element_components {
        let others = members_of(&selection.skipped_tags, ranges).count();
        if others > 0 {
            found.notes.push(format!(
                "element set `{name}`: elements that are not solids were left out: {others}"
            ));
        }
        let members = members_of(part.elements.tags(), ranges).map(|at| at as u32);
        found.sets.elements.insert(name.clone(), members.collect());
    }

    // After the components, whose names these sets avoid.
    let (n_springs, grounds) = springs::add(&archive, &part, &mut found);
    conditions::add(&archive, &part, &grounds, &mut found);
    carried::loads(&archive, &part, &mut found);
    materials::add(&archive, &selection.solids, &mut found);
    temperatures::add(&archive, &part, &mut found);
    found.deck.lost.extend(selection.lost(n_springs));
    found.deck.inertia_relief = archive.inertia_relief;
    say_what_is_lost(&archive, &mut found);
    found.import(part)
}

/// Keeps the content of an archive that is not carried over.
fn say_what_is_lost(archive: &Archive, found: &mut Found) {
    let is_heat = found.deck.physics == DeckPhysics::Heat;
    // Temperatures are given at nodes or as those of the part; they strain a part that expands.
    let temperatures = archive.temperatures.values().filter(|held| !held.by_all).count();
    let temperature = archive.temperature;
    let is_strained = temperature.uniform.is_some_and(|t| t != temperature.reference);
    let forces = archive.forces.values().filter(|force| **force != [0.0; 3]).count();
    let displacements = archive.displacements.values().flatten().flatten();
    let displacements = displacements.filter(|held| !held.by_all).count();

    for (is_lost, count, what) in [
        (!is_heat, temperatures, "D,TEMP, temperatures of an elastic part"),
        (!is_heat, archive.heats.len(), "F,HEAT, heat in an elastic part"),
        (!is_heat, archive.sources.len(), "BFE,HGEN, heat in an elastic part"),
        (
            !is_heat && archive.expands && (is_strained || !archive.body_temperatures.is_empty()),
            1,
            "temperatures (TUNIF, BFUNIF, BF) that strain the part with CTEX or THSX",
        ),
        (is_heat, displacements, "D of displacements, in a part that conducts heat"),
        (is_heat, forces, "F of forces, in a part that conducts heat"),
        (is_heat, archive.rigid.len(), "CERIG, in a part that conducts heat"),
    ] {
        found.lose_count(if is_lost { count } else { 0 }, what);
    }
    for (command, (count, line)) in &archive.passed_over {
        found.lose(format!("{command} commands: {count}, the first on line {line}"));
    }
}

/// Elements that become solids, and those that are left out.
#[derive(Default)]
struct Selection {
    /// Elements that become solids, by ascending tags.
    solids: Vec<Element>,
    /// Tags of the elements that were left out, ascending.
    skipped_tags: Vec<u64>,
    /// Number of elements left out, by their number in the element library.
    skipped: BTreeMap<u32, usize>,
    /// Heat if all solids conduct heat and have no displacements.
    physics: DeckPhysics,
    /// Solids of other physics, by number in the element library.
    others: BTreeMap<u32, usize>,
}

impl Selection {
    /// MESH200 carries no load: where there are other solids it is left out.
    fn of(archive: &Archive) -> Result<Self, AnsysFault> {
        let mut known = Vec::with_capacity(archive.elements.len());
        for element in &archive.elements {
            let kind = type_of(archive, element)?;
            known.push((element, kind.number, element_type::role(&kind) != Role::Skipped));
        }
        let has_solids = known.iter().any(|(_, number, solid)| *solid && *number != MESH);

        let mut selection = Self::default();
        let (mut n_thermal, mut n_meshes) = (0, 0);
        for (element, number, is_solid) in known {
            if is_solid && !(has_solids && number == MESH) {
                selection.solids.push(*element);
                n_thermal += usize::from(element_type::is_thermal(number));
                n_meshes += usize::from(number == MESH);
                if element_type::is_of_other_physics(number) {
                    *selection.others.entry(number).or_default() += 1;
                }
            } else {
                selection.skipped_tags.push(element.tag.into());
                *selection.skipped.entry(number).or_default() += 1;
            }
        }
        if selection.solids.is_empty() {
            let names = selection.skipped.keys().map(|&number| element_type::name(number));
            let names: Vec<String> = names.collect();
            let names = if names.is_empty() { "none".into() } else { names.join(", ") };
            return Err(AnsysFault::NoSolids(names));
        }

        let n_solids = selection.solids.len();
        let gives_heat = !archive.heats.is_empty() || !archive.temperatures.is_empty();
        let is_bare = n_meshes == n_solids && archive.displacements.is_empty() && gives_heat;
        if n_thermal == n_solids || is_bare {
            selection.physics = DeckPhysics::Heat;
        } else if n_thermal > 0 {
            selection.others.insert(70, n_thermal);
        }
        selection.solids.sort_by_key(|solid| solid.tag);
        selection.skipped_tags.sort_unstable();
        Ok(selection)
    }

    fn notes(&self) -> impl Iterator<Item = String> {
        let left_out = self.skipped.iter().filter(|(number, _)| **number != SPRING);
        left_out.map(|(&number, count)| {
            format!("{} elements were left out: {count}", element_type::name(number))
        })
    }

    /// Lists elements lost with their stiffness, all but `n_springs` springs, and physics lost.
    fn lost(&self, n_springs: usize) -> impl Iterator<Item = String> {
        let left_out = move |(&number, &count): (&u32, &usize)| {
            (number, if number == SPRING { count - n_springs } else { count })
        };
        let is_lost =
            |(number, count): &(u32, usize)| !element_type::is_idle(*number) && *count > 0;
        let skipped = self.skipped.iter().map(left_out).filter(is_lost);
        let skipped = skipped.map(|(number, count)| {
            let name = element_type::name(number);
            format!(
                "{name} elements, which are no solids: {count}; their stiffness and mass are lost"
            )
        });
        let others = self.others.iter().map(|(&number, count)| {
            let name = element_type::name(number);
            format!("the physics of {name} elements: {count}; they are elastic solids here")
        });
        skipped.chain(others)
    }
}

fn type_of(archive: &Archive, element: &Element) -> Result<ElementType, AnsysFault> {
    let undefined = AnsysFault::UndefinedType { element: element.tag, kind: element.kind };
    archive.element_types.get(&element.kind).copied().ok_or(undefined)
}

/// The solids by the positions of their nodes.
fn cells(archive: &Archive, solids: &[Element], nodes: &Nodes) -> Result<Cells, Fault> {
    let mut cells = Cells::default();
    for element in solids {
        let of_element = archive.nodes_of(element);
        let kind = type_of(archive, element)?;
        let Some(shape) = element_type::shape(element_type::role(&kind), of_element.len()) else {
            let (element, name) = (element.tag, element_type::name(kind.number));
            return Err(AnsysFault::NodeCount { element, name, n_nodes: of_element.len() }.into());
        };

        let mut corners = [0; 8];
        for (corner, &tag) in corners.iter_mut().zip(&of_element[..shape.n_corners()]) {
            *corner = nodes.position(element.tag.into(), tag.into())?;
        }
        // A middle that the file does not have is none: CDWRITE leaves out nodes not selected.
        let middle = |tag: u32| nodes.find(tag.into()).unwrap_or(topopt_mesh::cells::NO_NODE);
        let middles = element_type::middles(shape, of_element, middle);
        cells.push(shape, &corners[..shape.n_corners()], &middles);
    }
    Ok(cells)
}

fn notes_on_file(archive: &Archive, solids: &[Element]) -> Vec<String> {
    let mut n_solids = BTreeMap::<u32, usize>::new();
    for solid in solids {
        *n_solids.entry(solid.material).or_default() += 1;
    }
    let materials = archive.materials.iter().map(|(material, properties)| {
        let value = |(name, property): (&&str, &super::Property)| {
            let first = if property.varies { " (the first of several)" } else { "" };
            format!("{name} {}{first}", property.value)
        };
        let values: Vec<_> = properties.iter().map(value).collect();
        let count = n_solids.get(material).copied().unwrap_or(0);
        let values = values.join(", ");
        format!("the file has the material {material} (elements: {count}): {values}")
    });
    materials.collect()
}

/// Returns the positions of those of the ascending `tags` that lie within `ranges`, ascending,
/// none twice.
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
