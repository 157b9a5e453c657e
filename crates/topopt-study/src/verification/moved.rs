//! Loads on empty elements, moved to the nearest solid ones of the same set.

use std::collections::BTreeMap;

use rayon::prelude::*;
use topopt_case::case_loads::CaseLoads;
use topopt_case::config::{Keep, KeepLoaded};
use topopt_case::finding::Finding;
use topopt_case::nodal_loads::{NodalLoad, size};
use topopt_case::physics::Physics;
use topopt_fem::Constraints;
use topopt_fem::remote_load::{PointLoad, spread};
use topopt_mesh::HexMesh;
use topopt_mesh::numbers::shown;
use topopt_mesh::vector::{cross, difference, length};

use super::carried::{Carried, REMEDY};

/// Share of what acts on a set that may stand on empty elements: a rim that smoothing has taken,
/// and not a face that the design has left.
pub(super) const MOST: f64 = 0.05;

/// Nodes with material for the entries of a case, by nodes as the user numbers them.
pub struct Ground<'a, const N: usize> {
    pub mesh: &'a HexMesh,
    /// In the order of the problem.
    pub constraints: &'a Constraints<N>,
    /// From the user's numbers to those of the problem.
    pub new_node: &'a [u32],
    pub carried: &'a Carried,
    /// The run's `design.keep_loaded`: which elements at loads stay solid.
    pub keep_loaded: KeepLoaded,
}

/// Changes that move an entry's loads from empty nodes to solid ones.
struct Moved<const N: usize> {
    changes: Vec<(u32, [f64; N])>,
    /// Share of its size.
    share: f64,
    /// The largest distance.
    distance: f64,
}

impl<const N: usize> Ground<'_, N> {
    /// Moves the forces of `loads` on nodes that carry nothing to the nearest nodes of the same entry
    /// that do; `cases` are the load cases with their sums. What was moved is said, a sentence each.
    ///
    /// # Errors
    /// A finding if too much of an entry would be moved, or what is left of its set cannot take its
    /// moment.
    pub fn move_loads<K: Physics<N>>(
        &self,
        loads: &[NodalLoad<N>],
        cases: &mut [CaseLoads<N>],
    ) -> Result<Vec<String>, Finding> {
        let mut said = Vec::new();
        for load in loads {
            let Some(moved) = self.moved::<K>(load)? else { continue };
            let case = cases.iter_mut().find(|case| case.name == load.case);
            if let Some(case) = case {
                add(&mut case.forces, &moved.changes);
            }
            let kept = if N == 1 { "their sum is kept" } else { "resultant and moment are kept" };
            let act = K::NAMES.verb("act");
            said.push(format!(
                "load case `{}`: {} % of the {} of {} stood on empty elements and {act} on the nearest \
                 solid nodes of the set, up to {} away; {kept}",
                load.case,
                shown(percent(moved.share)),
                K::NAMES.loads,
                load.place(),
                shown(moved.distance)
            ));
        }
        Ok(said)
    }

    /// Whether a node carries.
    pub fn carries(&self, node: u32) -> bool {
        self.carried.is_carrying_node[self.new_node[node as usize] as usize]
    }

    /// The carrying node of `targets` that is nearest to `node`, with its distance.
    pub fn nearest(&self, node: u32, targets: &[u32]) -> (u32, f64) {
        let x = |node: u32| self.mesh.coordinates()[node as usize];
        let away = |&target: &u32| (target, length(difference(x(target), x(node))));
        let nearer = |a: (u32, f64), b: (u32, f64)| if b.1 < a.1 { b } else { a };
        targets.iter().map(away).fold((node, f64::INFINITY), nearer)
    }

    fn moved<K: Physics<N>>(&self, load: &NodalLoad<N>) -> Result<Option<Moved<N>>, Finding> {
        let place = |node: u32| self.new_node[node as usize] as usize;
        // What acts on held components goes straight into the support.
        let free = |&(node, force): &(u32, [f64; N])| {
            (node, self.constraints.free_part(place(node), force))
        };
        let lost: Vec<(u32, [f64; N])> = load
            .forces
            .iter()
            .filter(|(node, _)| !self.carries(*node))
            .map(free)
            .filter(|(_, force)| *force != [0.0; N])
            .collect();
        if lost.is_empty() {
            return Ok(None);
        }

        let of = |forces: &[(u32, [f64; N])]| forces.iter().map(|(_, f)| size(f)).sum::<f64>();
        let share = of(&lost) / load.size();
        let is_pushed: [bool; N] = std::array::from_fn(|i| lost.iter().any(|(_, f)| f[i] != 0.0));
        let takes = |node: u32| {
            let is_held = |i: usize| is_pushed[i] && self.constraints.is_fixed(place(node), i);
            self.carries(node) && !(0..N).any(is_held)
        };
        let targets: Vec<(u32, f64)> = load
            .forces
            .iter()
            .filter(|(node, force)| takes(*node) && size(force) > 0.0)
            .map(|(node, force)| (*node, size(force)))
            .collect();
        if share > MOST || targets.is_empty() {
            return Err(self.too_little::<K>(load, share));
        }

        let nodes: Vec<u32> = targets.iter().map(|(node, _)| *node).collect();
        let ways: Vec<(u32, f64)> =
            lost.par_iter().map(|(node, _)| self.nearest(*node, &nodes)).collect();
        let mut changes: Vec<_> = lost.iter().map(|(node, f)| (*node, f.map(|f| -f))).collect();
        changes.extend(lost.iter().zip(&ways).map(|((_, force), (target, _))| (*target, *force)));
        changes.extend(self.against_turning::<K>(load, &changes, &targets)?);
        let distance = ways.iter().map(|(_, distance)| *distance).fold(0.0, f64::max);
        Ok(Some(Moved { changes, share, distance }))
    }

    /// Forces on `targets` that take back the moment of `changes`; of what has no moment none.
    fn against_turning<K: Physics<N>>(
        &self,
        load: &NodalLoad<N>,
        changes: &[(u32, [f64; N])],
        targets: &[(u32, f64)],
    ) -> Result<Vec<(u32, [f64; N])>, Finding> {
        if N != 3 {
            return Ok(Vec::new());
        }

        let (mut turned, mut reach) = ([0.0; 3], 0.0);
        for (node, force) in changes {
            let x = self.mesh.coordinates()[*node as usize];
            let moment = cross(x, std::array::from_fn(|i| force[i]));
            reach += length(moment);
            (0..3).for_each(|i| turned[i] += moment[i]);
        }
        if length(turned) <= ROUNDING * reach {
            return Ok(Vec::new());
        }

        let back = PointLoad { force: [0.0; 3], moment: turned.map(|m| -m), at: [0.0; 3] };
        let forces = spread(self.mesh, targets, &back).map_err(|_| {
            let message = format!(
                "load case `{}`: what is left of {} cannot take the moment of its {}",
                load.case,
                load.place(),
                K::NAMES.loads
            );
            Finding::new(message).remedy(self.remedy(load))
        })?;
        let of_case = |(node, force): (u32, [f64; 3])| (node, std::array::from_fn(|i| force[i]));
        Ok(forces.into_iter().map(of_case).collect())
    }

    fn too_little<K: Physics<N>>(&self, load: &NodalLoad<N>, share: f64) -> Finding {
        let is_loose =
            |node: u32| self.carried.is_loose_node[self.new_node[node as usize] as usize];
        let (case, loads) = (&load.case, K::NAMES.loads);
        if load.share(is_loose) > MOST {
            let message = format!("no solid elements connect load case `{case}` with the supports");
            return Finding::new(message).remedy(REMEDY);
        }
        let stand = K::NAMES.verb("stand");
        let message = format!(
            "load case `{case}`: {} % of the {loads} of {} {stand} on elements that are empty in the \
             built shape, which is more than the {} % that can be moved to solid ones beside them",
            shown(percent(share)),
            load.place(),
            shown(percent(MOST))
        );
        Finding::new(message).remedy(self.remedy(load))
    }

    fn remedy(&self, load: &NodalLoad<N>) -> String {
        match (load.is_within, N, self.keep_loaded) {
            (true, 1, _) => "give void the conductivity of what fills it, from \
                             `design.void_stiffness = 1e-4` on; or name the elements with the source \
                             in `design.solid`; then run again"
                .into(),
            (true, ..) => "name the loaded elements in `design.solid`, and run again".into(),
            (false, _, KeepLoaded::Named(Keep::Free)) => {
                "run again with `design.keep_loaded = \"solid\"`, which keeps the elements at loads \
                 solid; or name them in `design.solid`"
                    .into()
            }
            _ => format!(
                "{REMEDY}; elements of `design.void` stay empty, and a length as \
                 `design.keep_loaded` keeps a thicker layer"
            ),
        }
    }
}

/// A moment that is this share of those of single forces is rounding.
const ROUNDING: f64 = 1e-12;

/// A share in percent, of so many digits as are worth reading.
pub(super) fn percent(share: f64) -> f64 {
    (1e4 * share).round() / 100.0
}

/// Adds `changes` to `forces` by increasing node.
fn add<const N: usize>(forces: &mut Vec<(u32, [f64; N])>, changes: &[(u32, [f64; N])]) {
    let mut sums: BTreeMap<u32, [f64; N]> = forces.iter().copied().collect();
    for (node, change) in changes {
        let sum = sums.entry(*node).or_insert([0.0; N]);
        (0..N).for_each(|i| sum[i] += change[i]);
    }
    *forces = sums.into_iter().collect();
}
