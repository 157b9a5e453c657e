//! The responses that `[objective]` and `[[constraints]]` amount to on the mesh of a case.

use toml::Spanned;
use topopt_design::When;
use topopt_fem::surface_load;
use topopt_mesh::SetKind;

use crate::config::{Judged, Quantity, SelectKind, TimeOf};
use crate::finding::Finding;
use crate::lookup::{Lookup, sorted};
use crate::posed::{Form, Posed, PosedConstraint, PosedResponse};

/// The exponent where the case leaves it out: the norm of a hundred equal lengths is 1.17 of them.
const EXPONENT: f64 = 30.0;

impl Lookup<'_> {
    /// The problem that the case poses.
    pub(crate) fn posed(&self, findings: &mut Vec<Finding>) -> Posed {
        let config = self.config;
        let mut posed = Posed::default();
        match config.objective.as_ref().and_then(|o| Some((o, o.judged()?))) {
            None => {
                let when = self.when(TimeOf::default());
                let label = Quantity::Compliance.name().into();
                let form = Form::Compliance;
                let response = PosedResponse { label, weight: 1.0, form, when, zero: 0.0 };
                posed.objective.push(in_time(response));
            }
            Some((objective, judged)) => {
                posed.is_maximized = objective.maximize.is_some();
                let each = objective.is_worst_case();
                posed.objective = self.responses(judged, each, findings);
            }
        }

        if let Some(fraction) = &config.design.volume_fraction {
            let label = Quantity::Volume.name().into();
            posed.constraints.push(PosedConstraint {
                response: PosedResponse {
                    label,
                    weight: 1.0,
                    form: Form::Volume,
                    when: None,
                    zero: 0.0,
                },
                limit: *fraction.get_ref(),
                is_upper: true,
                entry: None,
            });
        }
        for (entry, constraint) in config.constraints.iter().enumerate() {
            let judged = constraint.judged();
            let (limit, is_upper) = constraint.limit();
            let each = judged.quantity.get_ref().is_at_set();
            let responses = self.responses(judged, each, findings).into_iter();
            posed.constraints.extend(responses.map(|response| PosedConstraint {
                response,
                limit,
                is_upper,
                entry: Some(entry),
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

    /// Builds the responses of `judged`: if it names no load case, one for `each`, else one of all.
    fn responses(
        &self,
        judged: Judged,
        each: bool,
        findings: &mut Vec<Finding>,
    ) -> Vec<PosedResponse> {
        let names = self.config.load_case_names();
        let quantity = *judged.quantity.get_ref();
        let cases: Vec<usize> = match judged.case {
            Some(case) => {
                names.iter().position(|name| name == case.get_ref()).into_iter().collect()
            }
            None if each || quantity.is_at_set() => (0..names.len()).collect(),
            None => {
                let form = match quantity {
                    Quantity::Volume => judged.set.map_or(Form::Volume, |set| {
                        Form::VolumeOf(sorted(self.elements(set, findings)))
                    }),
                    Quantity::Mass => {
                        Form::Mass(judged.set.map(|set| sorted(self.elements(set, findings))))
                    }
                    _ => Form::Compliance,
                };
                let (label, when) = (judged.label(None), self.when_of(judged));
                return vec![in_time(PosedResponse { label, weight: 1.0, form, when, zero: 0.0 })];
            }
        };

        let Some(set) = judged.set else {
            let of = |case| (case, Form::CaseCompliance(case));
            return self.labeled(judged, cases.into_iter().map(of));
        };
        let weights = self.node_weights(set, judged.kind, findings);
        findings.extend(self.without_springs(judged, &weights));
        // Of a temperature the first component is all.
        let along_state = (quantity == Quantity::MeanTemperature).then_some([1.0, 0.0, 0.0]);
        let direction = judged.direction.map(|direction| *direction.get_ref()).or(along_state);
        let form = |case| match direction {
            Some(d) => {
                let length = d.iter().map(|d| d * d).sum::<f64>().sqrt();
                let along = |(node, weight): &(u32, f64)| (*node, d.map(|d| weight * d / length));
                Form::MeanDisplacement { case, weights: weights.iter().map(along).collect() }
            }
            None => {
                let nodes = weights.iter().map(|(node, _)| *node).collect();
                let exponent = judged.exponent.map_or(EXPONENT, |exponent| *exponent.get_ref());
                Form::LargestDisplacement { case, nodes, exponent }
            }
        };
        self.labeled(judged, cases.into_iter().map(|case| (case, form(case))))
    }

    fn labeled(
        &self,
        judged: Judged,
        forms: impl Iterator<Item = (usize, Form)>,
    ) -> Vec<PosedResponse> {
        let names = self.config.load_case_names();
        let is_temperature = judged.quantity.get_ref().is_temperature();
        let zero = if is_temperature { self.config.coldest() } else { 0.0 };
        let of = |(case, form): (usize, Form)| {
            let name = names[case];
            let mut listed = self.config.load_cases.iter();
            let weight = listed.find(|entry| entry.name.get_ref() == name);
            in_time(PosedResponse {
                label: judged.label((names.len() > 1).then_some(name)),
                weight: weight.map_or(1.0, |entry| entry.weight),
                form,
                when: self.when_of(judged),
                zero,
            })
        };
        forms.map(of).collect()
    }

    /// When a response counts, if it is of states in time.
    fn when_of(&self, judged: Judged) -> Option<When> {
        let is_of_states = judged.quantity.get_ref().is_of_states();
        let time = judged.time.map_or(TimeOf::default(), |time| *time.get_ref());
        if is_of_states { self.when(time) } else { None }
    }

    fn when(&self, time: TimeOf) -> Option<When> {
        self.config.transient.as_ref().map(|_| match time {
            TimeOf::End => When::End,
            TimeOf::Mean => When::Mean,
        })
    }

    /// The nodes of a set with their shares in it: by the areas that they stand for if it has faces,
    /// else alike.
    fn node_weights(
        &self,
        set: &Spanned<String>,
        kind: Option<SelectKind>,
        findings: &mut Vec<Finding>,
    ) -> Vec<(u32, f64)> {
        let is_first = kind.is_some()
            || self.sets.kinds_of(set.get_ref()).first().is_some_and(|(k, _)| *k == SetKind::Face);
        let faces = if is_first { self.faces(set, kind) } else { None };
        let mut weights: Vec<(u32, f64)> = match faces {
            Some(faces) => surface_load::areas(self.mesh, &faces),
            None => {
                let nodes = self.nodes(set, kind, findings);
                nodes.into_iter().map(|node| (node, 1.0)).collect()
            }
        };
        let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
        weights.iter_mut().for_each(|(_, weight)| *weight /= total);
        weights
    }

    /// An output that nothing resists along its direction: a mechanism for no work.
    fn without_springs(&self, judged: Judged, nodes: &[(u32, f64)]) -> Option<Finding> {
        let direction = judged.direction?;
        if *judged.quantity.get_ref() != Quantity::OutputDisplacement {
            return None;
        }
        // What is wrong with springs is reported with them.
        let springs = self.springs(&mut Vec::new());
        let resists = |stiffness: &[f64; 3]| {
            stiffness.iter().zip(direction.get_ref()).any(|(k, d)| *k > 0.0 && *d != 0.0)
        };
        let has_spring = springs.iter().any(|(node, stiffness)| {
            nodes.iter().any(|(other, _)| other == node) && resists(stiffness)
        });
        let name = judged.set.map_or("", |set| set.get_ref());
        let message = format!("the output `{name}` has no springs along its direction");
        let remedy = format!(
            "add [[springs]] with `set = \"{name}\"`, as stiff as what the mechanism works on; or \
             ask for the `displacement`"
        );
        let finding = Finding::new(message).remedy(remedy);
        let span = direction.span();
        (!has_spring && !nodes.is_empty())
            .then(|| finding.at(self.config.source(), span, "nothing works against it"))
    }
}

/// The response with its time in its label.
fn in_time(mut response: PosedResponse) -> PosedResponse {
    response.label += match response.when {
        None => "",
        Some(When::End) => " at the end",
        Some(When::Mean) => " over time",
    };
    response
}
