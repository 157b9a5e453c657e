//! FORCE and MOMENT: on nodes of solids, and on grids of couplings.

use std::collections::{BTreeMap, HashMap};

use super::couplings::Couplings;
use super::load_sets::{Loads, MOST_SETS};
use super::model::{Found, Model};
use crate::deck::SetLoad;
use crate::read_error::Fault;

/// What acts in a load set.
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
}

/// Adds the node sets and loads of all load sets.
pub(super) fn add(
    model: &Model,
    couplings: &Couplings,
    loads: &mut Loads,
    found: &mut Found,
) -> Result<(), Fault> {
    for (set, nodal) in collect(model, couplings)? {
        say_what_is_lost(set, &nodal, loads);
        for (at, [force, moment]) in nodal.remote {
            let group = &couplings.all()[at];
            let (name, place) = (group.set.clone(), model.place(group.reference));
            loads.push(set, SetLoad::Remote { set: name, at: place, force, moment });
        }

        let forces = different(nodal.at_nodes);
        if forces.len() > MOST_SETS {
            loads.lose(set, format!("different forces, more than {MOST_SETS}: {}", forces.len()));
            continue;
        }
        for (i, (force, positions)) in (1..).zip(forces) {
            let name = format!("force_{set}_{i}");
            found.sets.as_listed.insert(name.clone());
            found.sets.nodes.insert(name.clone(), positions);
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
        let system = model.systems.get(force.system, user)?;
        let Some(position) = model.part.node(force.grid) else {
            nodal.n_missing += 1;
            continue;
        };

        let vector = system.vector(model.place(position), force.vector);
        let add = |sum: &mut [f64; 3]| (0..3).for_each(|i| sum[i] += vector[i]);
        if let Some((at, _)) = couplings.of_force(position) {
            add(&mut nodal.remote.entry(at).or_default()[usize::from(force.is_moment)]);
        } else if force.is_moment {
            nodal.n_moments += 1;
        } else if model.part.is_used(position) {
            add(nodal.at_nodes.entry(position).or_default());
        } else {
            nodal.n_unused += 1;
            add(&mut nodal.unused);
        }
    }
    Ok(sets)
}

fn say_what_is_lost(set: u64, nodal: &Nodal, loads: &mut Loads) {
    let Nodal { n_moments, n_unused, n_missing, unused, .. } = *nodal;
    if n_moments > 0 {
        loads.lose(set, format!("moments on grids, which have no rotations: {n_moments}"));
    }
    if n_missing > 0 {
        loads.lose(set, format!("forces and moments on grids that are not there: {n_missing}"));
    }
    if n_unused > 0 {
        loads.lose(
            set,
            format!("forces on grids that no hexahedron uses: {n_unused}, {unused:?} in all"),
        );
    }
}

/// The different forces other than 0 with their nodes.
fn different(at_nodes: BTreeMap<u32, [f64; 3]>) -> Vec<([f64; 3], Vec<u32>)> {
    let mut groups: Vec<([f64; 3], Vec<u32>)> = Vec::new();
    let mut index = HashMap::new();
    for (position, force) in at_nodes {
        if force == [0.0; 3] {
            continue;
        }
        // -0 becomes 0, as forces are compared by their bits.
        let force = force.map(|f| f + 0.0);
        let at = *index.entry(force.map(f64::to_bits)).or_insert(groups.len());
        if at == groups.len() {
            groups.push((force, Vec::new()));
        }
        groups[at].1.push(position);
    }
    groups
}
