//! FORCE, MOMENT, PLOAD4, GRAV and RFORCE as sets and loads, and the load cases they are in.

use std::collections::{BTreeMap, BTreeSet};

use super::couplings::Couplings;
use super::deck::{Deck, Subcase};
use super::error::Fault::Missing;
use super::model::{LoadCase, Loads, Model};
use super::{heat, nodal, pressures, temperatures};
use crate::deck::SetLoad;
use crate::found::Found;
use crate::read_error::{Fault, Parsed};

/// Loads in all load cases together.
const MOST_LOADS: usize = 100_000;

/// Adds the sets of all loads, and returns the load cases.
pub(super) fn add(
    model: &Model,
    couplings: &Couplings,
    found: &mut Found,
) -> Parsed<Vec<LoadCase>> {
    let mut loads = Loads::default();
    if model.deck.is_heat {
        heat::add_loads(model, &mut loads, found);
    } else {
        nodal::add(model, couplings, &mut loads, found)?;
        pressures::add(model, &mut loads, found)?;
        loads.add_accelerations(model)?;
    }
    let cases = loads.cases(model.deck);
    loads.add_cases(&cases, model.deck, found);
    temperatures::add(model, &cases, found);
    found.order_cases(cases.iter().map(|case| case.name.as_str()));
    Ok(cases)
}

impl Loads {
    /// GRAV and RFORCE.
    fn add_accelerations(&mut self, model: &Model) -> Result<(), Fault> {
        for gravity in &model.deck.gravities {
            let user = || format!("GRAV of load set {}", gravity.set);
            let system = model.systems.get(gravity.system, user)?;
            if !system.is_rectangular() {
                self.lose(gravity.set, "GRAV in a system that is not rectangular");
                continue;
            }
            let acceleration = system.vector([0.0; 3], gravity.acceleration);
            self.push(gravity.set, SetLoad::Gravity { acceleration });
        }

        for rotation in &model.deck.rotations {
            let user = || format!("RFORCE of load set {}", rotation.set);
            let system = model.systems.get(rotation.system, user)?;
            let center = match (rotation.grid, model.part.node(rotation.grid)) {
                (0, _) => [0.0; 3],
                (_, Some(position)) => model.place(position),
                (number, None) => {
                    return Err(Missing { user: user(), what: "grid", number }.into());
                }
            };
            if !system.is_rectangular() {
                self.lose(rotation.set, "RFORCE in a system that is not rectangular");
                continue;
            }
            let angular_velocity = system.vector(center, rotation.angular_velocity);
            self.push(rotation.set, SetLoad::Centrifugal { center, angular_velocity });
        }
        Ok(())
    }

    /// The load cases, and what is lost of the load sets in them.
    fn add_cases(&self, cases: &[LoadCase], deck: &Deck, found: &mut Found) {
        let mut said = BTreeSet::new();
        let mut n_left_out = 0;
        let with_loads = cases.iter().filter_map(|case| Some((&case.name, case.loads?)));
        for (case, set) in with_loads {
            for (set, factor) in parts(deck, set, found) {
                let loads = self.of_sets.get(&set);
                let lost = self.lost.get(&set);
                let is_new = said.insert(set);
                if loads.is_none() && lost.is_none() && is_new {
                    let what = format!("load set {set} is in load case `{case}`, and has no loads");
                    found.lose(what);
                }
                if let Some(lost) = lost.filter(|_| is_new) {
                    lost.iter().for_each(|what| found.lose(format!("load set {set}: {what}")));
                }

                if let Some(given) = self.given.get(&set) {
                    let sum = found.deck.given.entry(case.clone()).or_default();
                    sum.add_scaled(factor, given);
                }
                for load in loads.into_iter().flatten() {
                    if found.deck.loads.len() == MOST_LOADS {
                        n_left_out += 1;
                        continue;
                    }
                    match scaled(load, factor, &mut found.deck) {
                        Some(load) => found.load(case, load),
                        None => found.lose(format!(
                            "RFORCE of load set {set} with the factor {factor:?} in `{case}`"
                        )),
                    }
                }
            }
        }
        let what = format!("loads over all load cases beyond {MOST_LOADS}");
        found.lose_count(n_left_out, &what);
    }

    /// The load cases with the sets that they select.
    fn cases(&self, deck: &Deck) -> Vec<LoadCase> {
        let common = &deck.common;
        let places = deck.subcases.iter().enumerate();
        let all = places.map(|(place, case)| (case.number, load_case(Some(place), case, common)));
        let selected: Vec<_> = all.filter(|(_, case)| case.acts()).collect();
        let mut used = BTreeSet::new();
        if !selected.is_empty() {
            let named = selected.into_iter().map(|(number, case)| {
                let is_free = !case.name.is_empty() && !used.contains(&case.name);
                let mut name =
                    if is_free { case.name.clone() } else { format!("subcase_{number}") };
                while !used.insert(name.clone()) {
                    name.push('_');
                }
                LoadCase { name, ..case }
            });
            return named.collect();
        }
        let of_all = load_case(None, common, common);
        if let Some(set) = of_all.loads.or(of_all.temperatures) {
            let name = common.name.clone().unwrap_or(format!("load_{set}"));
            return vec![LoadCase { name, ..of_all }];
        }

        // Nothing is selected: every load set that is not a part of another one.
        let combined: BTreeSet<u64> =
            deck.combinations.values().flatten().map(|(_, part)| *part).collect();
        let sets = self.of_sets.keys().chain(self.lost.keys()).chain(deck.combinations.keys());
        let sets: BTreeSet<u64> = sets.copied().filter(|set| !combined.contains(set)).collect();
        let case = |set: u64| LoadCase {
            name: format!("load_{set}"),
            loads: Some(set),
            ..LoadCase::default()
        };
        sets.into_iter().map(case).collect()
    }
}

/// A subcase at a place as a load case, which selects what is `common` where it selects nothing.
fn load_case(subcase: Option<usize>, case: &Subcase, common: &Subcase) -> LoadCase {
    LoadCase {
        name: case.name.clone().unwrap_or_default(),
        subcase,
        loads: case.loads.or(common.loads),
        temperatures: case.temperatures.or(common.temperatures),
    }
}

/// The load sets in a load set, which may be a combination, with their factors.
fn parts(deck: &Deck, set: u64, found: &mut Found) -> BTreeMap<u64, f64> {
    let Some(combination) = deck.combinations.get(&set) else {
        return BTreeMap::from([(set, 1.0)]);
    };
    let mut parts = BTreeMap::new();
    for &(factor, part) in combination {
        if deck.combinations.contains_key(&part) {
            found.lose(format!("LOAD {set} combines LOAD {part}, which is a combination itself"));
        } else {
            *parts.entry(part).or_default() += factor;
        }
    }
    parts
}

/// A load times a factor; none if it has no such multiple.
fn scaled(load: &SetLoad, factor: f64, deck: &mut crate::deck::Deck) -> Option<SetLoad> {
    let times = |vector: &[f64; 3]| vector.map(|v| factor * v);
    let mut load = load.clone();
    match &mut load {
        SetLoad::Force { force: vector, .. }
        | SetLoad::Traction { traction: vector, .. }
        | SetLoad::Gravity { acceleration: vector } => *vector = times(vector),
        SetLoad::Remote { force, moment, .. } => (*force, *moment) = (times(force), times(moment)),
        SetLoad::Pressure { pressure: value, .. }
        | SetLoad::HeatFlux { heat_flux: value, .. }
        | SetLoad::HeatSource { heat_source: value, .. }
        | SetLoad::NodalHeat { heat: value, .. } => *value *= factor,

        // The forces grow with the square of the angular velocity.
        SetLoad::Centrifugal { .. } if factor < 0.0 => return None,
        SetLoad::Centrifugal { angular_velocity, .. } => {
            *angular_velocity = angular_velocity.map(|v| factor.sqrt() * v);
        }
        SetLoad::Temperature { .. } => {}
        SetLoad::ByNode { .. } if factor == 1.0 => {}
        SetLoad::ByNode { set } => {
            let forces = deck.nodal[set].iter().map(times).collect();
            *set = format!("{set}_times_{factor:?}");
            deck.nodal.insert(set.clone(), forces);
        }
    }
    Some(load)
}
