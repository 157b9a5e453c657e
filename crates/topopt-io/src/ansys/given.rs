//! Supports and loads given at nodes and on elements, in the order of the commands: a later one
//! replaces what an earlier one gave, adds to it (DCUM, FCUM, SFCUM), or deletes it.

use super::archive::{Archive, CornerValues, FaceLabel, Held, Rigid, Surface};
use super::chosen::Entity;
use super::commands::Reader;
use super::cumulation::{Cumulation, Cumulations};
use super::faces;
use super::field::real;
use super::lines::{Command, is_release};

impl Reader<'_> {
    /// Reads a command of supports and loads; false if it is none.
    pub fn condition(&mut self, name: &str, command: &Command) -> bool {
        match name {
            "D" => self.displacements(command),
            "F" => self.forces(command),
            "SFE" => self.surface(command),
            "SF" => self.surface_of_nodes(command),
            "BF" => self.body_temperature(command),
            "BFE" => self.source(command),
            "DDEL" | "FDEL" => self.delete_at_nodes(command, name == "FDEL"),
            "SFED" => self.delete_surfaces(command),
            "SFDE" => self.delete_all_surfaces(command),
            "LSCL" => self.clear(command),
            "DCUM" => self.cumulate(command, 1, |all| &mut all.displacements),
            "FCUM" => self.cumulate(command, 1, |all| &mut all.forces),
            "SFCU" => self.cumulate(command, 2, |all| &mut all.surfaces),
            "CERI" => self.rigid(command),
            _ => return false,
        }
        true
    }

    fn cumulate(
        &mut self,
        command: &Command,
        at: usize,
        of: impl FnOnce(&mut Cumulations) -> &mut Cumulation,
    ) {
        match Cumulation::of(command, at) {
            Some(cumulation) => *of(&mut self.cumulations) = cumulation,
            None => self.lose(command),
        }
    }

    /// Counts a command that is not understood.
    fn lose(&mut self, command: &Command) {
        let label = command.argument(if command.name().starts_with("SF") { 3 } else { 2 });
        let name = command.argument(0).to_ascii_uppercase();
        let what = match label {
            "" => name,
            label => format!("{name},{}", label.to_ascii_uppercase()),
        };
        self.archive.pass_over(&crate::quote::excerpt(&what), &self.lines);
    }

    /// The nodes that argument `at` names, or a range by the arguments of its end and step.
    fn nodes(
        &mut self,
        command: &Command,
        at: usize,
        range: Option<[usize; 2]>,
    ) -> Option<Vec<u32>> {
        self.selected.named(command, at, range, (Entity::Nodes, &self.archive))
    }

    /// The elements that the first argument names.
    fn elements(&mut self, command: &Command) -> Option<Vec<u32>> {
        self.selected.named(command, 1, None, (Entity::Elements, &self.archive))
    }

    /// The nodes that `name,node,label,value,imaginary,last,step` names, and its value.
    fn nodes_and_value(&mut self, command: &Command) -> Option<(Vec<u32>, f64)> {
        let value = finite(command.argument(3))?;
        if finite(command.argument(4))? != 0.0 {
            return None;
        }
        Some((self.nodes(command, 1, Some([5, 6]))?, value))
    }

    /// `D,node,label,value,imaginary,last,step,labels...`: UX, UY, UZ, ALL and TEMP.
    fn displacements(&mut self, command: &Command) {
        let Some((nodes, value)) = self.nodes_and_value(command) else { return self.lose(command) };
        let labels = command.arguments_from(2).iter().enumerate();
        let labels = labels.filter(|(i, label)| (*i == 0 || *i >= 5) && !label.is_empty());
        for label in labels.map(|(_, label)| label.to_ascii_uppercase()) {
            let by_all = label == "ALL";
            if !by_all && !DISPLACEMENTS.contains(&&*label) {
                let what = format!("D,{}", crate::quote::excerpt(&label));
                self.archive.pass_over(&what, &self.lines);
                continue;
            }

            let cumulation = self.cumulations.displacements;
            let is_given = |known: &str| by_all || known == label;
            for &node in &nodes {
                let held = self.archive.displacements.entry(node).or_default();
                for axis in (0..3).filter(|&axis| is_given(DISPLACEMENTS[axis])) {
                    join_held(&mut held[axis], cumulation, value, by_all);
                }
                if is_given("TEMP") {
                    let mut held = self.archive.temperatures.remove(&node);
                    join_held(&mut held, cumulation, value, by_all);
                    self.archive.temperatures.extend(held.map(|held| (node, held)));
                }
            }
        }
    }

    /// `BF,node,TEMP,value`.
    fn body_temperature(&mut self, command: &Command) {
        let is_temperature = command.argument(2).eq_ignore_ascii_case("TEMP");
        let value = finite(command.argument(3)).filter(|_| is_temperature);
        let Some((value, nodes)) = value.zip(self.nodes(command, 1, None)) else {
            return self.lose(command);
        };
        self.archive.body_temperatures.extend(nodes.into_iter().map(|node| (node, value)));
    }

    /// `F,node,label,value,imaginary,last,step`: FX, FY, FZ and HEAT.
    fn forces(&mut self, command: &Command) {
        let label = command.argument(2).to_ascii_uppercase();
        let component = FORCES.iter().position(|known| *known == label);
        let (Some(axis), Some((nodes, value))) = (component, self.nodes_and_value(command)) else {
            return self.lose(command);
        };
        let cumulation = self.cumulations.forces;
        for node in nodes {
            if label == "HEAT" {
                let before = self.archive.heats.get(&node).copied();
                self.archive.heats.insert(node, cumulation.joined(before, value));
                continue;
            }
            let force = &mut self.archive.forces.entry(node).or_default()[axis];
            let before = Some(*force).filter(|before| *before != 0.0);
            *force = cumulation.joined(before, value) + 0.0;
        }
    }

    /// `SFE,element,face,label,key,values`; behind a release mark they stand in the next line.
    fn surface(&mut self, command: &Command) {
        let values = self.corner_values(command, 5);
        let label = command.argument(3).to_ascii_uppercase();
        let surface = match (surfaces(&label), command.argument(4)) {
            ([surface, ..], "" | "0" | "1") => Some(*surface),
            ([_, ambient], "2") => Some(*ambient),
            _ => None,
        };
        match (self.elements(command), command.number(2), surface, values) {
            (Some(elements), Some(face), Some(surface), Some(values)) => {
                for element in elements {
                    self.add_surface((surface, element, face), values.clone());
                }
            }
            // The imaginary part of a pressure that has none.
            (_, _, None, Some(values)) if label == "PRES" && values.iter().all(|v| *v == 0.0) => {}
            _ => self.lose(command),
        }
    }

    /// The values from an argument on, or those of the next line behind a release mark.
    fn corner_values(&mut self, command: &Command, at: usize) -> Option<CornerValues> {
        let texts: Vec<String> = if is_release(command.argument(at)) {
            let line = self.lines.next_line().unwrap_or_default();
            let line = String::from_utf8_lossy(line).replace(',', " ");
            line.split_whitespace().map(str::to_owned).collect()
        } else {
            command.arguments_from(at).to_vec()
        };
        let n_given = texts.iter().rposition(|text| !text.is_empty()).map_or(0, |last| last + 1);
        let values = texts[..n_given.min(4)].iter().map(|text| finite(text));
        let values: CornerValues = values.collect::<Option<_>>()?;
        (!values.is_empty()).then_some(values)
    }

    fn add_surface(&mut self, label: FaceLabel, values: CornerValues) {
        let cumulation = self.cumulations.surfaces;
        let before = self.archive.surfaces.get(&label);
        let at = |values: &CornerValues, i: usize| match values.as_slice() {
            [one] => Some(*one),
            several => several.get(i).copied(),
        };
        let n_values = values.len().max(before.map_or(0, Vec::len));
        let joined = (0..n_values)
            .map(|i| {
                cumulation.joined(before.and_then(|b| at(b, i)), at(&values, i).unwrap_or(0.0))
            })
            .collect();
        self.archive.surfaces.insert(label, joined);
    }

    /// `SF,nodes,label,value,value`: on faces of the surface whose corners are all among these nodes.
    fn surface_of_nodes(&mut self, command: &Command) {
        let surfaces = surfaces(&command.argument(2).to_ascii_uppercase());
        let nodes = self.nodes(command, 1, None);
        let elements = self.elements(&Command::parse(b"SF,ALL"));
        let values = finite(command.argument(3)).zip(finite(command.argument(4)));
        let (Some(nodes), Some(elements), Some((first, second)), false) =
            (nodes, elements, values, surfaces.is_empty())
        else {
            self.archive.pass_over(&format!("SF,{}", command.argument(2)), &self.lines);
            return;
        };
        for (element, face) in faces::within(&self.archive, &elements, &nodes) {
            for (&surface, value) in surfaces.iter().zip([first, second]) {
                self.add_surface((surface, element, face), vec![value]);
            }
        }
    }

    /// `BFE,element,HGEN,place,values`.
    fn source(&mut self, command: &Command) {
        let values = self.corner_values(command, 4);
        let is_heat = command.argument(2).eq_ignore_ascii_case("HGEN");
        match (self.elements(command), values) {
            (Some(elements), Some(values)) if is_heat => {
                let sources = elements.into_iter().map(|element| (element, values.clone()));
                self.archive.sources.extend(sources);
            }
            _ => self.lose(command),
        }
    }

    /// `DDELE,node,label,last,step` and `FDELE`; what a node of a solid has not is no loss.
    fn delete_at_nodes(&mut self, command: &Command, is_of_forces: bool) {
        let nodes = self.nodes(command, 1, Some([3, 4]));
        let label = command.argument(2).to_ascii_uppercase();
        let is_all = matches!(label.as_str(), "" | "ALL");
        let (labels, others) = match is_of_forces {
            true => (FORCES, ["MX", "MY", "MZ"]),
            false => (DISPLACEMENTS, ["ROTX", "ROTY", "ROTZ"]),
        };
        let is_known = is_all || labels.contains(&&*label) || others.contains(&&*label);
        let Some(nodes) = nodes.filter(|_| is_known) else { return self.lose(command) };

        let archive = &mut self.archive;
        for node in nodes {
            for axis in (0..4).filter(|&axis| is_all || labels[axis] == label) {
                match (axis, is_of_forces) {
                    (3, true) => drop(archive.heats.remove(&node)),
                    (3, false) => drop(archive.temperatures.remove(&node)),
                    (_, true) => {
                        archive.forces.entry(node).and_modify(|force| force[axis] = 0.0);
                    }
                    (_, false) => {
                        archive.displacements.entry(node).and_modify(|held| held[axis] = None);
                    }
                }
            }
        }
    }

    /// `SFEDELE,element,face,label`.
    fn delete_surfaces(&mut self, command: &Command) {
        let elements = self.elements(command);
        let face = match command.argument(2).to_ascii_uppercase().as_str() {
            "" | "ALL" => Some(None),
            _ => command.number(2).map(Some),
        };
        let label = command.argument(3).to_ascii_uppercase();
        let is_all = matches!(label.as_str(), "" | "ALL");
        let surfaces = surfaces(&label);
        let (Some(elements), Some(face), true) = (elements, face, is_all || !surfaces.is_empty())
        else {
            return self.lose(command);
        };
        let elements: std::collections::HashSet<u32> = elements.into_iter().collect();
        self.archive.surfaces.retain(|(surface, element, of), _| {
            let is_deleted = (is_all || surfaces.contains(surface))
                && elements.contains(element)
                && face.is_none_or(|face| face == *of);
            !is_deleted
        });
    }

    /// `SFDELE,ALL,ALL` of everything; of some nodes it is not followed.
    fn delete_all_surfaces(&mut self, command: &Command) {
        let is_all =
            |i: usize| matches!(command.argument(i).to_ascii_uppercase().as_str(), "" | "ALL");
        if is_all(1) && is_all(2) && self.selected.is_all(Entity::Nodes) {
            self.archive.surfaces.clear();
        } else {
            self.archive.pass_over("SFDELE", &self.lines);
        }
    }

    /// `LSCLEAR,label`.
    fn clear(&mut self, command: &Command) {
        let label = command.argument(1).to_ascii_uppercase();
        let archive = &mut self.archive;
        match label.as_str() {
            "ALL" | "FE" | "INER" => {}
            _ => return archive.pass_over("LSCLEAR", &self.lines),
        }
        if label != "INER" {
            archive.displacements.clear();
            archive.temperatures.clear();
            archive.forces.clear();
            archive.heats.clear();
            archive.surfaces.clear();
            archive.sources.clear();
        }
        if label != "FE" {
            (archive.acceleration, archive.rotation) = ([0.0; 3], [0.0; 3]);
        }
    }

    /// `CERIG,master,slaves,label`: the slaves move and turn with the master.
    fn rigid(&mut self, command: &Command) {
        let slaves = self.nodes(command, 2, None);
        let label = command.argument(3).to_ascii_uppercase();
        match (command.number(1), slaves) {
            (Some(master), Some(slaves)) if matches!(label.as_str(), "" | "ALL" | "UXYZ") => {
                let line = self.lines.number();
                self.archive.rigid.push(Rigid { master, slaves, line });
            }
            _ => self.archive.pass_over("CERIG", &self.lines),
        }
    }
}

/// Labels of what is given at nodes, the vector first.
const DISPLACEMENTS: [&str; 4] = ["UX", "UY", "UZ", "TEMP"];
const FORCES: [&str; 4] = ["FX", "FY", "FZ", "HEAT"];

/// Quantities on faces by their label; of a film the ambient is the second.
fn surfaces(label: &str) -> &'static [Surface] {
    match label {
        "PRES" => &[Surface::Pressure],
        "HFLU" | "HFLUX" => &[Surface::HeatFlux],
        "CONV" => &[Surface::Film, Surface::Ambient],
        _ => &[],
    }
}

/// A finite number, 0 where there is none.
fn finite(text: &str) -> Option<f64> {
    match text {
        "" => Some(0.0),
        text => real(text).filter(|value| value.is_finite()),
    }
}

fn join_held(held: &mut Option<Held>, cumulation: Cumulation, value: f64, by_all: bool) {
    let before = held.map(|held| held.value);
    let value = cumulation.joined(before, value) + 0.0;
    *held = Some(Held { value, by_all });
}

impl Archive {
    /// The ambient temperature on a face with a film.
    pub(super) fn ambient(&self, element: u32, face: u32) -> CornerValues {
        let given = self.surfaces.get(&(Surface::Ambient, element, face));
        given.cloned().unwrap_or_else(|| vec![0.0])
    }
}
