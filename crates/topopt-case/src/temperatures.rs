//! Changes of temperature of the elements in a load case.

use topopt_fem::{TemperatureChange, temperature_changes};
use topopt_mesh::SetKind;
use topopt_mesh::numbers::{place, shown};

use crate::config::{ComputedTemperature, Load, SelectKind, Temperature};
use crate::expression::{Expression, PARTS};
use crate::finding::Finding;
use crate::lookup::Lookup;
use crate::nodal_temperatures::NodalTemperatures;

impl Lookup<'_> {
    /// The changes in load case `case`, `[n_elements]`; none where no temperature is given. Element
    /// sets have theirs; all other elements have the temperatures of node sets, between these that
    /// of the entry without a set, and without one no change.
    pub(crate) fn temperatures(
        &self,
        case: &str,
        findings: &mut Vec<Finding>,
    ) -> Option<Vec<TemperatureChange>> {
        let is_here = |load: &&Load| load.case == case && load.temperature().is_some();
        let given: Vec<&Load> = self.config.loads.iter().filter(is_here).collect();
        given.first()?;
        let (of_elements, at_nodes): (Vec<_>, Vec<_>) =
            given.into_iter().partition(|load| self.is_of_elements(load));
        let mut all = temperature_changes(self.mesh, &self.at_nodes(&at_nodes, findings));
        let mut is_taken = vec![false; all.len()];
        for load in of_elements {
            let Some(set) = &load.set else { continue };
            let elements = self.elements(set, findings);
            let twice = elements.iter().filter(|&&e| is_taken[e as usize]).count();
            if twice > 0 {
                findings.push(self.with_two(load, &format!("{twice} elements have")));
            }
            let changes = temperature_changes(self.mesh, &self.changes(load, findings));
            for e in elements {
                (is_taken[e as usize], all[e as usize]) = (true, changes[e as usize]);
            }
        }
        Some(all)
    }

    /// Whether a temperature is that of an element set, and not of nodes or the whole part.
    fn is_of_elements(&self, load: &Load) -> bool {
        let Some(set) = &load.set else { return false };
        let kinds = self.sets.kinds_of(set.get_ref());
        match load.kind {
            Some(kind) => kind == SelectKind::Elements,
            None => kinds.is_empty() || kinds.iter().any(|(kind, _)| *kind == SetKind::Element),
        }
    }

    /// Changes at the nodes, `[n_nodes]`, by node sets and by the entry without a set.
    fn at_nodes(&self, given: &[&Load], findings: &mut Vec<Finding>) -> Vec<f64> {
        let mut values: Vec<Option<f64>> = vec![None; self.mesh.n_nodes()];
        for load in given {
            let Some(set) = &load.set else { continue };
            let changes = self.changes(load, findings);
            let nodes = self.nodes(set, load.kind, findings).into_iter();
            let pairs = nodes.map(|node| (node as usize, changes[node as usize]));
            let differ = |(node, change): (usize, f64)| {
                let before = values[node].replace(change);
                before.is_some_and(|before| before != change)
            };
            let twice = pairs.map(differ).filter(|differ| *differ).count();
            if twice > 0 {
                findings.push(self.with_two(load, &format!("{twice} nodes have")));
            }
        }

        let mut of_rest = given.iter().filter(|load| load.set.is_none());
        let others = of_rest.next().map(|load| self.changes(load, findings));
        if let Some(load) = of_rest.next() {
            findings.push(self.with_two(load, "all other elements have"));
        }
        let rest = others.unwrap_or_else(|| vec![0.0; values.len()]);
        values.into_iter().zip(rest).map(|(value, rest)| value.unwrap_or(rest)).collect()
    }

    fn with_two(&self, load: &Load, what: &str) -> Finding {
        let message = format!("{what} two temperatures in load case `{}`", load.case);
        let place = load.set.as_ref().map_or_else(|| load.span(), |set| set.span());
        let finding = Finding::new(message).at(self.config.source(), place, "the second");
        finding.remedy(
            "give sets that share nothing; one temperature without `set` is that of all others",
        )
    }

    /// The changes of an entry at all nodes, `[n_nodes]`.
    fn changes(&self, load: &Load, findings: &mut Vec<Finding>) -> Vec<f64> {
        let reference = load.number("reference_temperature").unwrap_or(0.0);
        let n_nodes = self.mesh.n_nodes();
        let Some(temperature) = load.temperature() else { return vec![0.0; n_nodes] };
        let found = match temperature.get_ref() {
            Temperature::Number(value) => Ok(vec![*value; n_nodes]),
            Temperature::Expression(text) => self.evaluated(text),
            Temperature::Computed(computed) => self.computed(computed, &self.needed(load)),
        };
        let values = found.unwrap_or_else(|finding| {
            findings.push(finding.at(self.config.source(), temperature.span(), "here"));
            vec![reference; n_nodes]
        });
        values.into_iter().map(|value| value - reference).collect()
    }

    /// Whether nodes have the temperature of an entry, `[n_nodes]`: those of its set, or those of
    /// none of the load case.
    fn needed(&self, load: &Load) -> Vec<bool> {
        let mut is_named = vec![false; self.mesh.n_nodes()];
        let loads = self.config.loads.iter();
        let named = loads.filter(|other| match load.set {
            Some(_) => std::ptr::eq(*other, load),
            None => other.case == load.case && other.temperature().is_some(),
        });
        for node in named.flat_map(|load| self.nodes_of(load)) {
            is_named[node as usize] = true;
        }
        is_named.into_iter().map(|is_named| is_named == load.set.is_some()).collect()
    }

    /// Nodes of the set of an entry, or of its elements; none without one.
    fn nodes_of(&self, load: &Load) -> Vec<u32> {
        let Some(set) = &load.set else { return Vec::new() };
        if !self.is_of_elements(load) {
            return self.nodes(set, load.kind, &mut Vec::new());
        }
        let elements = self.elements(set, &mut Vec::new());
        elements.iter().flat_map(|&e| self.mesh.element(e as usize)).copied().collect()
    }

    /// The values of an expression at the nodes.
    fn evaluated(&self, text: &str) -> Result<Vec<f64>, Finding> {
        let expression = Expression::parse(text).map_err(|fault| {
            Finding::new(format!("`temperature` is no expression: {}", fault.why)).remedy(PARTS)
        })?;
        let places = self.mesh.coordinates();
        let values: Vec<f64> = places.iter().map(|x| expression.at(x)).collect();
        match values.iter().zip(places).find(|(value, _)| !value.is_finite()) {
            None => Ok(values),
            Some((value, x)) => {
                let message = format!("`temperature` is {} at {}", shown(*value), place(*x));
                let remedy = "give an expression that is finite in the whole part";
                Err(Finding::new(message).remedy(remedy))
            }
        }
    }

    /// The temperatures of a thermal case at the nodes; those that are `needed` lie in its part.
    fn computed(
        &self,
        computed: &ComputedTemperature,
        needed: &[bool],
    ) -> Result<Vec<f64>, Finding> {
        let (path, array) = (computed.path(self.config.folder()), computed.array());
        if !computed.is_of_case() {
            return NodalTemperatures::read(&path, array)?.on(self.mesh, needed);
        }
        let solved = self.config.solved_temperatures.get(&(path, array.to_owned()));
        let solved = solved.ok_or_else(|| {
            let message = "the thermal case of this temperature has not been solved";
            Finding::new(message).remedy("name the analysis.vtu of its analysis in its place")
        })?;
        solved.on(self.mesh, needed)
    }
}
