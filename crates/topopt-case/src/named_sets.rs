//! The sets that the case file names: which one, where several have a name, and what is in it.

use std::ops::Range;

use toml::Spanned;
use topopt_mesh::{Face, SetError, SetKind, Sets};

use crate::config::{Condition, Near, SelectKind, closest};
use crate::finding::Finding;
use crate::loads::kind::Place;
use crate::lookup::Lookup;

impl Lookup<'_> {
    /// The nodes of a set, sorted, of the most specific kind if none is asked for; none, and a
    /// finding, if there is nothing.
    pub fn nodes(
        &self,
        set: &Spanned<String>,
        kind: Option<SelectKind>,
        findings: &mut Vec<Finding>,
    ) -> Vec<u32> {
        let (name, mesh) = (set.get_ref(), self.mesh);
        let nodes = match kind {
            Some(kind) => self.sets.nodes_of_kind(name, kind.into(), mesh),
            None => self.sets.nodes_of(name, mesh),
        };
        match nodes {
            Ok(nodes) if nodes.is_empty() => findings.push(self.empty(name, set.span())),
            Ok(nodes) => return nodes,
            Err(error) => findings.push(self.not_there(&error, set.span())),
        }
        Vec::new()
    }

    /// The faces of a set, each once; none if another kind is asked for, or there is no face.
    pub fn faces(&self, set: &Spanned<String>, kind: Option<SelectKind>) -> Option<Vec<Face>> {
        if kind.is_some_and(|kind| kind != SelectKind::Faces) {
            return None;
        }
        let mut faces = self.sets.faces.get(set.get_ref())?.clone();
        faces.sort_unstable();
        faces.dedup();
        (!faces.is_empty()).then_some(faces)
    }

    /// Reports each name shared by sets of several kinds, where the case file has no `kind`.
    pub fn notes(&self) -> Vec<String> {
        let config = self.config;
        let supports = config.supports.iter().map(|s| (s.set.get_ref(), s.kind, false));
        let springs = config.springs.iter().filter(|spring| spring.stiffness.is_some());
        let springs = springs.map(|s| (s.set.get_ref(), s.kind, false));

        let loads = config.loads.iter().filter_map(|load| {
            let faces_first = match load.kinds().next()?.place {
                Place::Nodes => false,
                Place::Set => true,
                Place::Faces(..) | Place::Elements | Place::WholePart(_) => return None,
            };
            Some((load.set.as_ref()?.get_ref(), load.kind, faces_first))
        });

        let near = config.select.iter().flat_map(|select| near(&select.condition));
        let near = near.map(|near| (&near.set, near.kind, false));

        let mut notes = Vec::new();
        for (name, kind, faces_first) in supports.chain(springs).chain(loads).chain(near) {
            let note = if kind.is_none() { self.ambiguous(name, faces_first) } else { None };
            notes.extend(note.filter(|note| !notes.contains(note)));
        }
        notes
    }

    fn ambiguous(&self, name: &str, faces_first: bool) -> Option<String> {
        let kinds = self.sets.kinds_of(name);
        let has_faces = kinds.iter().any(|(kind, _)| *kind == SetKind::Face);
        let taken = match kinds.as_slice() {
            [] | [_] => return None,
            _ if faces_first && has_faces => SetKind::Face,
            [(first, _), ..] => *first,
        };
        let counts: Vec<_> =
            kinds.iter().map(|(kind, n)| format!("{n} {}s", kind.name())).collect();
        let (counts, taken) = (counts.join(", "), taken.name());
        Some(format!(
            "set `{name}` is {counts}: the {taken}s are used; set `kind` to choose another"
        ))
    }

    pub(crate) fn empty(&self, name: &str, span: Range<usize>) -> Finding {
        empty(name).at(self.config.source(), span, "this set")
    }

    pub(crate) fn not_there(&self, error: &SetError, span: Range<usize>) -> Finding {
        not_there(self.sets, error).at(self.config.source(), span, "no such set")
    }
}

/// Builds the finding of the empty set `name`.
pub fn empty(name: &str) -> Finding {
    Finding::new(format!("set `{name}` is empty"))
        .remedy("use another set, or fill this one in the mesher")
}

/// Builds the finding of a set that is not among `sets`.
pub fn not_there(sets: &Sets, error: &SetError) -> Finding {
    let sets = sets.summary();
    let near = closest(&error.name, sets.iter().map(|(name, ..)| name.as_str()));
    let names: Vec<_> = sets
        .iter()
        .map(|(name, kind, count)| format!("{name} ({count} {}s)", kind.name()))
        .collect();
    let remedy = match (near, names.is_empty()) {
        (_, true) => "the mesh has no sets: give its parts names in the mesher (physical \
                      groups in Gmsh)"
            .into(),
        (Some(near), _) if near != error.name => {
            format!("did you mean `{near}`? the mesh has {}", names.join(", "))
        }
        _ => format!("the mesh has {}", names.join(", ")),
    };
    let wanted = error.wanted;
    Finding::new(format!("{wanted} set `{}` is not in the mesh", error.name)).remedy(remedy)
}

impl From<SelectKind> for SetKind {
    fn from(kind: SelectKind) -> Self {
        match kind {
            SelectKind::Nodes => SetKind::Node,
            SelectKind::Faces => SetKind::Face,
            SelectKind::Elements => SetKind::Element,
        }
    }
}

/// The sets that a table of conditions measures distances from.
fn near(table: &Condition) -> Vec<&Near> {
    let lists = [&table.all, &table.any].into_iter().flatten().flatten();
    let inner = lists.chain(table.not.as_deref()).flat_map(near);
    table.near.iter().chain(inner).collect()
}
