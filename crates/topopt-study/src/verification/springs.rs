//! Springs and moved supports of a verified elastic design whose nodes have lost their material.

use topopt_case::config::{Config, Spring};
use topopt_case::finding::Finding;
use topopt_case::lookup::Lookup;
use topopt_mesh::numbers::shown;

use super::moved::{Ground, MOST, percent};
use crate::solved::{Hold, Restraint};

/// Springs moved to other nodes, with notes.
#[derive(Default)]
pub struct MovedSprings<const N: usize> {
    /// Added stiffness per node (force per length), in the numbering of the mesh file.
    pub added: Vec<(u32, [f64; N])>,
    /// Notes for the user, one sentence each.
    pub notes: Vec<String>,
}

impl Ground<'_, 3> {
    /// Moves the stiffness of `[[springs]]` from nodes without material to the nearest ones of the
    /// set with it. Restraints of springs follow those of supports in `restraints`. An elastic
    /// foundation is not moved: it acts only where there is material.
    ///
    /// # Errors
    /// A finding if too little of a set has material.
    pub fn move_springs(
        &self,
        config: &Config,
        restraints: &mut [Restraint],
    ) -> Result<MovedSprings<3>, Finding> {
        let mut moved = MovedSprings::default();
        let of_springs = restraints[config.supports.len()..].iter_mut();
        for (spring, restraint) in config.springs.iter().zip(of_springs) {
            let Hold::Stiffness(nodes) = &mut restraint.hold else { continue };
            self.move_spring(spring, nodes, &mut moved)?;
        }
        Ok(moved)
    }

    fn move_spring(
        &self,
        spring: &Spring,
        nodes: &mut [(u32, [f64; 3])],
        moved: &mut MovedSprings<3>,
    ) -> Result<(), Finding> {
        let sum = |stiffness: &[f64; 3]| stiffness.iter().sum::<f64>();
        let all: f64 = nodes.iter().map(|(_, k)| sum(k)).sum();
        let is_lost = |node: u32| !self.carries(node);
        let lost: f64 = nodes.iter().filter(|(node, _)| is_lost(*node)).map(|(_, k)| sum(k)).sum();
        let share = if all > 0.0 { lost / all } else { 0.0 };
        if share == 0.0 {
            return Ok(());
        }
        let name = spring.set.get_ref();
        let targets: Vec<u32> =
            nodes.iter().map(|(node, _)| *node).filter(|node| !is_lost(*node)).collect();
        let is_foundation = spring.stiffness_per_area.is_some();
        if targets.is_empty() || share > MOST && !is_foundation {
            let message = format!(
                "{} % of the stiffness of the springs at `{name}` is on elements that are empty in \
                 the built shape",
                shown(percent(share))
            );
            let remedy = "run again with `design.keep_loaded = \"solid\"`, or name the elements at the \
                          springs in `design.solid`";
            return Err(Finding::new(message).remedy(remedy));
        }

        let percent = shown(percent(share));
        if is_foundation {
            moved.notes.push(format!(
                "{percent} % of the foundation `{name}` is on empty elements, which it does not hold"
            ));
            return Ok(());
        }
        for (node, stiffness) in nodes.iter_mut().filter(|(node, _)| is_lost(*node)) {
            let (target, _) = self.nearest(*node, &targets);
            *node = target;
            moved.added.push((target, *stiffness));
        }
        moved.notes.push(format!(
            "{percent} % of the springs at `{name}` stood on empty elements and are tied to the nearest \
             solid nodes of the set"
        ));
        Ok(())
    }

    /// Notes the supports whose sets have no material left.
    ///
    /// # Errors
    /// A finding if one of them moves the part.
    pub fn empty_supports(&self, lookup: &Lookup) -> Result<Vec<String>, Finding> {
        let mut notes = Vec::new();
        for support in &lookup.config.supports {
            let nodes = lookup.nodes(&support.set, support.kind, &mut Vec::new());
            if nodes.into_iter().any(|node| self.carries(node)) {
                continue;
            }
            let name = support.set.get_ref();
            let moves = support.moves();
            if moves {
                let message = format!(
                    "nothing is left of `{name}`, which a support moves: the built shape does not \
                     feel its displacement"
                );
                let remedy = "run again with `design.keep_loaded = \"solid\"`, or name the elements at \
                              the support in `design.solid`";
                return Err(Finding::new(message).remedy(remedy));
            }
            notes.push(format!("nothing is left of the support `{name}`, which holds nothing"));
        }
        Ok(notes)
    }
}
