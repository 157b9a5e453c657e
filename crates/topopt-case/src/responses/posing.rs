//! The responses that `[objective]` and `[[constraints]]` amount to on the mesh of a case.

use topopt_design::When;

use super::posed::{Posed, PosedConstraint, PosedResponse};
use super::{Form, row};
use crate::config::{ResponseKeys, ResponseName, TimeOf};
use crate::finding::Finding;
use crate::lookup::Lookup;

impl Lookup<'_> {
    /// The problem that the case poses.
    pub(crate) fn posed(&self, findings: &mut Vec<Finding>) -> Posed {
        let config = self.config;
        let mut posed = Posed::default();
        match config.objective.as_ref().and_then(|o| Some((o, o.keys()?))) {
            None => {
                let compliance = ResponseName::spanned("compliance");
                posed.objective = self.responses(ResponseKeys::of(&compliance), false, findings);
            }
            Some((objective, keys)) => {
                posed.is_maximized = objective.maximize.is_some();
                posed.objective = self.responses(keys, objective.is_worst_case(), findings);
            }
        }

        let volume = ResponseName::spanned("volume");
        let fraction = config
            .design
            .volume_fraction
            .iter()
            .map(|fraction| (ResponseKeys::of(&volume), (*fraction.get_ref(), true), None));
        let limited = config.constraints.iter().enumerate();
        let limited =
            limited.map(|(entry, limited)| (limited.keys(), limited.limit(), Some(entry)));
        for (keys, (limit, is_upper), entry) in fraction.chain(limited) {
            let each = row(keys).0.measured_at.is_some();
            let responses = self.responses(keys, each, findings).into_iter();
            posed.constraints.extend(responses.map(|response| PosedConstraint {
                response,
                limit,
                is_upper,
                entry,
            }));
        }
        posed
    }

    /// An objective that supports hold, `fixed` as in [`Case`](crate::case::Case): no design is better.
    pub(crate) fn held_objective<const N: usize>(
        &self,
        posed: &Posed,
        fixed: &[Vec<u32>; N],
    ) -> Option<Finding> {
        let is_held = |node: u32, i: usize| fixed[i].binary_search(&node).is_ok();
        let responses = &posed.objective;
        let all_held = responses.iter().all(|response| response.form.is_held(N, is_held));
        let set = self.config.objective.as_ref()?.set.as_ref()?;
        (all_held && !responses.is_empty()).then(|| {
            let message = format!("the {} is that of [[supports]]", posed.objective_label());
            let label = "all of this set is held";
            let remedy = if N == 1 {
                "name a set whose temperature is not held"
            } else {
                "name a set that can move, or another `direction`"
            };
            Finding::new(format!("{message}: no design changes it"))
                .at(self.config.source(), set.span(), label)
                .remedy(remedy)
        })
    }

    /// Builds the responses of `keys`: if they name no load case, one for `each`, else one of all.
    fn responses(
        &self,
        keys: ResponseKeys,
        each: bool,
        findings: &mut Vec<Finding>,
    ) -> Vec<PosedResponse> {
        let names = self.config.load_case_names();
        let (kind, pose) = row(keys);
        let cases: Vec<usize> = match keys.case {
            Some(case) => {
                names.iter().position(|name| name == case.get_ref()).into_iter().collect()
            }
            None if each || kind.measured_at.is_some() => (0..names.len()).collect(),
            None => Vec::new(),
        };
        let forms = pose(self, keys, &cases, findings);
        forms.into_iter().map(|form| self.response(keys, form)).collect()
    }

    fn response(&self, keys: ResponseKeys, form: Form) -> PosedResponse {
        let names = self.config.load_case_names();
        let name = form.posed().case().map(|case| names[case]);
        let kind = &row(keys).0;
        let when = if kind.is_of_states { self.when(keys) } else { None };
        let time = match when {
            None => "",
            Some(When::End) => " at the end",
            Some(When::Mean) => " over time",
        };
        PosedResponse {
            label: kind.label(keys, name.filter(|_| names.len() > 1)) + time,
            weight: name.map_or(1.0, |name| self.config.weight_of(name)),
            form,
            when,
            zero: (kind.zero)(self.config),
        }
    }

    /// When a response of states counts, if these are in time.
    fn when(&self, keys: ResponseKeys) -> Option<When> {
        let time = keys.time.map_or(TimeOf::default(), |time| *time.get_ref());
        self.config.transient.as_ref().map(|_| match time {
            TimeOf::End => When::End,
            TimeOf::Mean => When::Mean,
        })
    }
}
