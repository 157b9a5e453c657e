//! Groups of elements and nodes, and systems of coordinates.

use std::collections::HashSet;

use super::commands::{Command, Item};
use super::error::Fault;
use super::reader::Reader;
use crate::import::position;
use crate::read_error::{Located, Parsed};

/// Word of all elements or nodes.
const ALL: [&str; 2] = ["ALL_ELEMENTS", "ALL_NODES"];

/// Words of a group of elements and of one of nodes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    Elements,
    Nodes,
}

impl Of {
    /// Whether a GROUP_DEF is of this kind, or says none.
    fn is_kind(self, group: &Command) -> bool {
        let kind = group.keyword("TYPE");
        kind.is_empty() || kind.starts_with(if self == Self::Elements { "EL" } else { "N" })
    }
}

/// Origin and axes of a system of coordinates.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    pub origin: [f64; 3],
    pub axes: [[f64; 3]; 3],
}

/// Axes of the model.
const GLOBAL: Frame =
    Frame { origin: [0.0; 3], axes: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] };

impl<'a> Reader<'a> {
    /// The command `word` that another one names.
    pub fn named(&self, by: &Command, word: &str, name: &str) -> Parsed<&'a Command> {
        let found = self.commands.iter().find(|command| command.is(word, name));
        found.ok_or_else(|| unknown(by, word, name))
    }

    /// Numbers of what is in the group that an item of a `command` names, ascending. Groups list
    /// groups or numbers, and each group counts once, also where groups list each other.
    pub fn members(&self, of: Of, command: &Command, name: &str) -> Parsed<Vec<u32>> {
        let (mut seen, mut members) = (HashSet::new(), Vec::new());
        let mut names = vec![(command, name)];
        while let Some((by, name)) = names.pop() {
            if !seen.insert(name.to_ascii_uppercase()) {
                continue;
            }

            // A group of the file counts before a set of the model with its name.
            let is_group = |other: &&Command| other.is("GROUP_DEF", name) && of.is_kind(other);
            let group = self.commands.iter().find(is_group);
            match (group, self.set_of(of, name)) {
                (Some(group), _) if group.keyword("FORMAT").contains("GROUP") => {
                    names.extend(group.list.iter().map(|entry| (group, entry.as_str())));
                }
                (Some(group), _) => members.extend(self.numbered(of, group)?),
                (None, Some(set)) => members.extend(self.entries(of, &set)),
                (None, None) if is_all(name) => members.extend(0..self.count(of)),
                (None, None) => return Err(unknown(by, "group", name)),
            }
        }

        members.sort_unstable();
        members.dedup();
        match members.is_empty() {
            true => Err(unknown(command, "element or node in the group", name)),
            false => Ok(members),
        }
    }

    /// Number of all elements or nodes.
    fn count(&self, of: Of) -> u32 {
        let mesh = &self.imported.mesh;
        let n = if of == Of::Elements { mesh.n_elements() } else { mesh.n_nodes() };
        n as u32
    }

    /// The places of the elements or nodes that a GROUP_DEF lists by their numbers.
    fn numbered(&self, of: Of, group: &Command) -> Parsed<Vec<u32>> {
        let imported = &self.imported;
        let (tags, kind) = match of {
            Of::Elements => (&imported.element_tags, "element"),
            Of::Nodes => (&imported.node_tags, "node"),
        };
        let format = group.keyword("FORMAT");
        if !matches!(format.as_str(), "" | "LIST" | "LIST_ELEM" | "LIST_NODE") {
            return Err(unknown(
                group,
                "FORMAT that is read, a list of groups or numbers:",
                &format,
            ));
        }
        let place = |entry: &String| {
            let place = entry.parse().ok().and_then(|tag| position(tags, tag));
            place.map(|place| place as u32).ok_or_else(|| unknown(group, kind, entry))
        };
        group.list.iter().map(place).collect()
    }

    /// Name of the set of the model that a group is: its own, or one with the assembly and the
    /// instance before it.
    pub fn set_of(&self, of: Of, name: &str) -> Option<String> {
        let names: Vec<&String> = match of {
            Of::Elements => self.sets.elements.keys().collect(),
            Of::Nodes => self.sets.nodes.keys().collect(),
        };
        let own = names.iter().find(|set| set.eq_ignore_ascii_case(name));
        let name = name.to_ascii_uppercase();
        let ends = |set: &&&String| {
            let before = name.strip_suffix(&set.to_ascii_uppercase());
            before.is_some_and(|it| it.starts_with("ASSEMBLY_") && it.ends_with('_'))
        };
        let longest = || names.iter().filter(ends).max_by_key(|set| set.len());
        own.or_else(longest).map(|set| (*set).clone())
    }

    fn entries(&self, of: Of, set: &str) -> &[u32] {
        match of {
            Of::Elements => &self.sets.elements[set],
            Of::Nodes => &self.sets.nodes[set],
        }
    }

    /// Name of a set with these members: that of the model, or a new one called `name`.
    pub fn named_set(&mut self, of: Of, name: &str, members: Vec<u32>) -> String {
        if let Some(set) = self.set_of(of, name)
            && is_same(self.entries(of, &set), &members)
        {
            return set;
        }
        let sets = match of {
            Of::Elements => &mut self.sets.elements,
            Of::Nodes => &mut self.sets.nodes,
        };
        let mut name = name.to_owned();
        while sets.contains_key(&name) {
            name.push('_');
        }
        sets.insert(name.clone(), members);
        name
    }

    /// The direction that an item gives, in the system that it names before it.
    pub fn direction(&self, command: &Command, item: &Item) -> Parsed<[f64; 3]> {
        let along = item.vector(&command.to_string())?;
        match item.values.len() {
            3 => Ok(along),
            _ => Ok(sum(self.frame(command, &item.values[0])?.axes, along)),
        }
    }

    /// The system of coordinates `name`.
    pub fn frame(&self, command: &Command, name: &str) -> Parsed<Frame> {
        let named = |other: &&Command| other.is("CS_DEF", name);
        let Some(system) = self.commands.iter().find(named) else {
            return match name.to_ascii_uppercase().as_str() {
                "" | "CS_0" => Ok(GLOBAL),
                _ => Err(unknown(command, "CS_DEF", name)),
            };
        };

        let own = system.to_string();
        let vector = |key| system.needed(key, "three numbers")?.vector(&own);
        match system.keyword("DEF_TYPE").as_str() {
            "VECTOR" => {
                let axis = |key| {
                    let axis = topopt_mesh::vector::unit(vector(key)?);
                    axis.ok_or_else(|| unknown(system, "direction with a length as", key))
                };
                let axes = [axis("VECTOR_X")?, axis("VECTOR_Y")?, axis("VECTOR_Z")?];
                Ok(Frame { origin: vector("ORIGIN")?, axes })
            }
            "LOCAL" if is_global(&system.keyword("CS_REF")) => {
                let rotation = system.first("ROTATION_321").map(|item| item.vector(&own));
                let [of_z, of_y, of_x] = rotation.transpose()?.unwrap_or([0.0; 3]);
                Ok(Frame { origin: vector("ORIGIN_123")?, axes: axes([of_x, of_y, of_z]) })
            }
            kind => Err(unknown(system, "DEF_TYPE that is read, VECTOR, or LOCAL of CS_0:", kind)),
        }
    }
}

/// Whether a group is that of all elements or nodes.
pub(super) fn is_all(name: &str) -> bool {
    ALL.iter().any(|all| name.eq_ignore_ascii_case(all))
}

fn is_global(name: &str) -> bool {
    name.is_empty() || name == "CS_0"
}

fn is_same(entries: &[u32], members: &[u32]) -> bool {
    let mut entries = entries.to_vec();
    entries.sort_unstable();
    entries == members
}

/// Sum of vectors with these weights.
fn sum<const K: usize>(vectors: [[f64; 3]; K], weights: [f64; K]) -> [f64; 3] {
    let component =
        |i| vectors.iter().zip(weights).map(|(vector, weight)| weight * vector[i]).sum();
    std::array::from_fn(component)
}

/// Axes turned by angles in degrees about z, then about the new y, then about the new x.
fn axes(degrees: [f64; 3]) -> [[f64; 3]; 3] {
    let mut axes = GLOBAL.axes;
    for axis in [2, 1, 0] {
        let (sine, cosine) = degrees[axis].to_radians().sin_cos();
        let pair = [axes[(axis + 1) % 3], axes[(axis + 2) % 3]];
        axes[(axis + 1) % 3] = sum(pair, [cosine, sine]);
        axes[(axis + 2) % 3] = sum(pair, [-sine, cosine]);
    }
    axes
}

/// Builds the error about a name that nothing has.
pub(super) fn unknown(command: &Command, kind: &str, name: &str) -> Located {
    let fault =
        Fault::Unknown { command: command.to_string(), kind: kind.into(), name: name.into() };
    Located::at_line(command.line, fault)
}

#[cfg(test)]
mod tests {
    use topopt_mesh::vector::dot;

    use super::*;

    /// The example of the reference guide: about z by 45 degrees, then about y by 15.
    #[test]
    fn axes_turn_one_after_the_other() {
        let [x, y, z] = axes([0.0, 15.0, 45.0]);
        let half = 0.5_f64.sqrt();
        let (sine, cosine) = 15.0_f64.to_radians().sin_cos();
        let expected = [half * cosine, half * cosine, -sine];
        assert!((0..3).all(|i| (x[i] - expected[i]).abs() < 1e-14), "{x:?}");
        let pairs = [(x, y), (y, z), (z, x)];
        assert!(pairs.iter().all(|(a, b)| dot(*a, *b).abs() < 1e-14));
    }
}
