//! FORCE and MOMENT: on nodes of solids, and on grids of couplings.

use std::collections::BTreeMap;

use topopt_mesh::vector::{cross, difference, unit};

use super::couplings::Couplings;
use super::deck::ForceVector;
use super::model::{Loads, MOST_SETS, Model};
use crate::deck::{Resultant, SetLoad};
use crate::found::Found;
use crate::read_error::Fault;
use crate::values::by_value;

/// Forces and moments of one load set at nodes.
#[derive(Default)]
struct Nodal {
    /// The sum of the forces at each node.
    at_nodes: BTreeMap<u32, [f64; 3]>,
    /// Force and moment at the grids of couplings, by their number.
    remote: BTreeMap<usize, [[f64; 3]; 2]>,
    /// Moments that nothing takes.
    n_moments: usize,
    /// Forces on grids that no solid uses, and their sum.
    n_unused: usize,
    unused: [f64; 3],
    /// Grids that are not in the deck.
    n_missing: usize,
    /// The sum of forces and moments as the deck gives them.
    given: Resultant,
    /// Forces along grids that are not there or at one place.
    n_without_direction: usize,
}

/// Adds the node sets and loads of all load sets.
pub(super) fn add(
    model: &Model,
    couplings: &Couplings,
    loads: &mut Loads,
    found: &mut Found,
) -> Result<(), Fault> {
    for (set, nodal) in collect(model, couplings)? {
        loads.given.insert(set, nodal.given);
        say_what_is_lost(set, &nodal, loads);
        for (at, [force, moment]) in nodal.remote {
            let group = &couplings.all()[at];
            let (name, place) = (group.set.clone(), model.place(group.reference));
            loads.push(set, SetLoad::Remote { set: name, at: place, force, moment });
        }

        let mut at_nodes = model.part.shared(&nodal.at_nodes);
        at_nodes.retain(|_, force| *force != [0.0; 3]);
        let forces = by_value(at_nodes.iter().map(|(node, force)| (*node, *force)));
        if forces.len() > MOST_SETS {
            // -0 becomes 0, as in the sets of the others.
            let at_nodes = at_nodes.into_iter().map(|(node, force)| (node, force.map(|f| f + 0.0)));
            loads.push(set, found.by_node(format!("force_{set}"), at_nodes));
            continue;
        }
        for (i, (force, positions)) in (1..).zip(forces) {
            let name = format!("force_{set}_{i}");
            found.add_listed(&name, positions);
            loads.push(set, SetLoad::Force { set: name, force });
        }
    }
    Ok(())
}

fn collect(model: &Model, couplings: &Couplings) -> Result<BTreeMap<u64, Nodal>, Fault> {
    let mut sets = BTreeMap::<u64, Nodal>::new();
    for force in &model.deck.forces {
        let nodal = sets.entry(force.set).or_default();
        let entry = if force.is_moment { "MOMENT" } else { "FORCE" };
        let user = || format!("{entry} of load set {}", force.set);
        let Some(position) = model.part.node(force.grid) else {
            nodal.n_missing += 1;
            continue;
        };

        let Some(vector) = vector(model, position, force.vector, user)? else {
            nodal.n_without_direction += 1;
            continue;
        };
        match force.is_moment {
            true => nodal.given.add_scaled(1.0, &Resultant { force: [0.0; 3], moment: vector }),
            false => nodal.given.add(model.place(position), vector),
        }
        let add = |sum: &mut [f64; 3]| (0..3).for_each(|i| sum[i] += vector[i]);
        if let Some((at, _)) = couplings.of_force(position) {
            add(&mut nodal.remote.entry(at).or_default()[usize::from(force.is_moment)]);
        } else if force.is_moment {
            nodal.n_moments += 1;
        } else if model.part.is_of_solid(position) {
            add(nodal.at_nodes.entry(position).or_default());
        } else {
            nodal.n_unused += 1;
            add(&mut nodal.unused);
        }
    }
    Ok(sets)
}

/// The vector of a force or a moment at the grid of a position; none if it has no direction.
fn vector(
    model: &Model,
    position: u32,
    vector: ForceVector,
    user: impl FnOnce() -> String,
) -> Result<Option<[f64; 3]>, Fault> {
    let place = |grid: u64| model.part.node(grid).map(|position| model.place(position));
    let between = |a: u64, b: u64| Some(difference(place(b)?, place(a)?));
    let (size, direction) = match vector {
        ForceVector::Given(system, vector) => {
            let system = model.systems.get(system, user)?;
            return Ok(Some(system.vector(model.place(position), vector)));
        }
        ForceVector::Along(size, [a, b]) => (size, between(a, b)),
        ForceVector::Across(size, [a, b, c, d]) => {
            (size, between(a, b).zip(between(c, d)).map(|(u, v)| cross(u, v)))
        }
    };
    Ok(direction.and_then(unit).map(|direction| direction.map(|n| size * n)))
}

fn say_what_is_lost(set: u64, nodal: &Nodal, loads: &mut Loads) {
    for (count, what) in [
        (
            nodal.n_without_direction,
            "forces and moments along grids that are not there or at one place",
        ),
        (nodal.n_moments, "moments on grids, which have no rotations"),
        (nodal.n_missing, "forces and moments on grids that are not there"),
    ] {
        loads.lose_count(set, count, what);
    }
    if nodal.n_unused > 0 {
        let (count, all) = (nodal.n_unused, nodal.unused);
        let what = format!("forces on grids that no hexahedron uses: {count}, {all:?} in all");
        loads.lose(set, what);
    }
}
