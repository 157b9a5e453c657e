//! Groups of elements and nodes, and systems of coordinates.

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

/// Origin and axes of a system of coordinates.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    pub origin: [f64; 3],
    pub axes: [[f64; 3]; 3],
}

/// Axes of the model.
const GLOBAL: Frame =
    Frame { origin: [0.0; 3], axes: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] };

impl Reader<'_> {
    /// Whether a group is that of all elements or nodes.
    pub fn is_all(name: &str) -> bool {
        ALL.iter().any(|all| name.eq_ignore_ascii_case(all))
    }

    /// Numbers of what is in the group that an item of a `command` names, ascending.
    pub fn members(&self, of: Of, command: &Command, name: &str) -> Parsed<Vec<u32>> {
        if Self::is_all(name) {
            let mesh = &self.imported.mesh;
            let n = if of == Of::Elements { mesh.n_elements() } else { mesh.n_nodes() };
            return Ok((0..n as u32).collect());
        }
        let group = self.commands.iter().find(|other| other.is("GROUP_DEF", name));
        let mut members = match (group, self.set_of(of, name)) {
            (Some(group), _) => self.listed(of, group)?,
            (None, Some(set)) => self.entries(of, &set).to_vec(),
            (None, None) => return Err(unknown(command, "group", name)),
        };
        members.sort_unstable();
        members.dedup();
        Ok(members)
    }

    /// The members of a GROUP_DEF: a list of groups or of numbers.
    fn listed(&self, of: Of, group: &Command) -> Parsed<Vec<u32>> {
        let imported = &self.imported;
        let tags = if of == Of::Elements { &imported.element_tags } else { &imported.node_tags };
        let is_of_groups = group.keyword("FORMAT").contains("GROUP");
        let mut members = Vec::new();
        for entry in &group.list {
            // A group that lists itself would go on without an end.
            let is_itself = entry.eq_ignore_ascii_case(group.name());
            match (is_of_groups, entry.parse().ok().and_then(|tag| position(tags, tag))) {
                (true, _) if !is_itself => members.extend(self.members(of, group, entry)?),
                (false, Some(place)) => members.push(place as u32),
                _ => return Err(unknown(group, "entry", entry)),
            }
        }
        Ok(members)
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
            before.is_some_and(|before| before.ends_with('_'))
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
            "VECTOR" => Ok(Frame {
                origin: vector("ORIGIN")?,
                axes: [vector("VECTOR_X")?, vector("VECTOR_Y")?, vector("VECTOR_Z")?],
            }),
            "LOCAL" if is_global(&system.keyword("CS_REF")) => {
                let rotation = system.first("ROTATION_321").map(|item| item.vector(&own));
                let [of_z, of_y, of_x] = rotation.transpose()?.unwrap_or([0.0; 3]);
                Ok(Frame { origin: vector("ORIGIN_123")?, axes: axes([of_x, of_y, of_z]) })
            }
            kind => Err(unknown(system, "DEF_TYPE that is read, VECTOR, or LOCAL of CS_0:", kind)),
        }
    }
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
