//! The case of what is built: the same supports and loads on a mesh of the built part.

use toml::Spanned;
use topopt_mesh::Sets;

use crate::config::{Config, Load, SelectKind, Spring};
use crate::finding::{Finding, InputError};
use crate::lookup::Lookup;

/// The sets of a case before and after it moves to a mesh of the built part.
struct Moved<'a> {
    before: &'a Lookup<'a>,
    after: &'a Sets,
}

/// Returns the case of the built part, whose mesh has these `sets`, for that of `lookup`. Forces
/// and springs on each node of a set keep their sum; a support with nothing left of it is among the
/// `notes`.
///
/// # Errors
/// Loads on nothing, and forces that only the mesh file has.
pub fn case(lookup: &Lookup, sets: &Sets, notes: &mut Vec<String>) -> Result<Config, InputError> {
    let mut config = lookup.config.of_built();
    let moved = Moved { before: lookup, after: sets };
    let mut findings = Vec::new();
    // What expands nowhere loads nothing.
    config.loads.retain(|load| {
        let is_gone = load.set.as_ref().is_some_and(|set| !moved.is_left(set));
        load.temperature().is_none() || !is_gone
    });
    for load in &mut config.loads {
        match moved.load(load) {
            Ok(of_built) => *load = of_built,
            Err(finding) => findings.push(finding),
        }
    }
    InputError::if_any(findings)?;

    let held = config.supports.iter().map(|support| &support.set);
    let named = held.chain(config.springs.iter().map(|spring| &spring.set));
    let named = named.chain(config.materials.iter().map(|material| &material.set));
    let gone: Vec<String> =
        named.filter(|set| !moved.is_left(set)).map(|set| format!("`{}`", set.get_ref())).collect();
    if !gone.is_empty() {
        notes.push(format!("nothing is left of {}", gone.join(", ")));
    }
    config.supports.retain(|support| moved.is_left(&support.set));
    config.materials.retain(|material| moved.is_left(&material.set));
    config.springs.retain(|spring| moved.is_left(&spring.set));
    config.springs.iter_mut().for_each(|spring| moved.share(spring));
    Ok(config)
}

impl Moved<'_> {
    fn is_left(&self, set: &Spanned<String>) -> bool {
        self.n_after(set) > 0
    }

    fn n_after(&self, set: &Spanned<String>) -> usize {
        self.after.kinds_of(set.get_ref()).first().map_or(0, |(_, n)| *n)
    }

    fn n_before(&self, set: &Spanned<String>, kind: Option<SelectKind>) -> usize {
        self.before.nodes(set, kind, &mut Vec::new()).len()
    }

    /// The load on the new mesh.
    fn load(&self, load: &Load) -> Result<Load, Finding> {
        let Some(set) = &load.set else { return Ok(load.clone()) };
        let at = |finding: Finding| finding.at(self.before.config.source(), set.span(), "this set");
        if !self.is_left(set) {
            let message = format!("nothing of the loaded set `{}` is left", set.get_ref());
            let remedy = "name the elements there in `design.solid`, and run again";
            return Err(at(Finding::new(message).remedy(remedy)));
        }
        load.clone().on_all(self.n_before(set, load.kind)).ok_or_else(|| {
            let message = "forces that differ from node to node cannot move to another mesh";
            at(Finding::new(message).remedy("leave `--remesh` out, or give one force on the set"))
        })
    }

    /// Gives each node of the new mesh its share of what the nodes had together.
    fn share(&self, spring: &mut Spring) {
        let share =
            self.n_before(&spring.set, spring.kind) as f64 / self.n_after(&spring.set) as f64;
        if let Some(stiffness) = &mut spring.stiffness {
            stiffness.get_mut().iter_mut().for_each(|stiffness| *stiffness *= share);
        }
    }
}
