//! Thermal strains of a case.

use topopt_fem::ThermalStrains;
use topopt_fem::strain::Strain;
use topopt_mesh::Renumbering;

use crate::case_loads::CaseLoads;
use crate::config::Config;
use crate::finding::Finding;
use crate::lookup::Lookup;

/// The thermal strains in a load case of `case`, in the order of the problem, where it has
/// temperatures.
///
/// # Errors
/// A finding for axes of an expansion that are none.
pub fn thermal_strains(
    config: &Config,
    materials: &[Vec<u32>],
    load: &CaseLoads,
    renumbering: &Renumbering,
) -> Result<Option<ThermalStrains>, Finding> {
    let Some(changes) = &load.temperatures else { return Ok(None) };
    let (of_all, of_sets) = config.expansions()?;
    // Elements of a material without expansion have no change.
    let given = std::iter::once(of_all).chain(of_sets);
    let expansions: Vec<Strain> = given.map(Option::unwrap_or_default).collect();
    let mut numbers = vec![0; changes.len()];
    for (number, elements) in (1..).zip(materials) {
        elements.iter().for_each(|&e| numbers[e as usize] = number);
    }
    let in_problem = |numbers: &[u32]| renumbering.elements_from_original(numbers);
    let changes = renumbering.elements_from_original(changes);
    Ok(Some(ThermalStrains::new(expansions, in_problem(&numbers), changes)))
}

impl Lookup<'_> {
    /// Materials of elements that change their temperature, without an expansion; `sets` are the
    /// elements of each of `[[materials]]`.
    pub(crate) fn unexpanded(&self, cases: &[CaseLoads], sets: &[Vec<u32>]) -> Vec<Finding> {
        let mut changes = vec![false; self.mesh.n_elements()];
        for temperatures in cases.iter().filter_map(|case| case.temperatures.as_ref()) {
            let pairs = changes.iter_mut().zip(temperatures);
            pairs.for_each(|(changes, temperature)| *changes |= !temperature.is_zero());
        }
        let config = self.config;
        let remedy = "add `thermal_expansion = ...`: strain per temperature (steel: 12e-6 per \
                      kelvin), or 0 for a material that keeps its size";

        let mut findings = Vec::new();
        for (material, elements) in config.materials.iter().zip(sets) {
            let is_changed = elements.iter().any(|&e| changes[e as usize]);
            elements.iter().for_each(|&e| changes[e as usize] = false);
            if is_changed && material.thermal_expansion.is_none() {
                let name = material.set.get_ref();
                let message = format!("the material of set `{name}` changes its temperature");
                let finding = Finding::new(message).remedy(remedy);
                let label = "has no `thermal_expansion`";
                findings.push(finding.at(config.source(), material.set.span(), label));
            }
        }
        if changes.contains(&true) && config.material.thermal_expansion.is_none() {
            let load = config.loads.iter().find(|load| load.temperature().is_some());
            let finding = Finding::new(
                "[material] changes its temperature and has no \
                                        `thermal_expansion`",
            )
            .remedy(remedy);
            findings.push(match load {
                Some(load) => finding.at(config.source(), load.span(), "the temperature"),
                None => finding,
            });
        }
        findings
    }
}
