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
            "BFE" => self.source(command),
            "DDEL" => self.delete_displacements(command),
            "FDEL" => self.delete_forces(command),
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

    /// The nodes that `name,node,label,value,imaginary,last,step` names, and its value.
    fn nodes_and_value(&mut self, command: &Command) -> Option<(Vec<u32>, f64)> {
        let finite = |text: &str| real(text).filter(|value| value.is_finite());
        let value = match command.argument(3) {
            "" => 0.0,
            text => finite(text)?,
        };
        let imaginary = match command.argument(4) {
            "" => 0.0,
            text => finite(text)?,
        };
        if imaginary != 0.0 {
            return None;
        }
        let of = (Entity::Nodes, &self.archive);
        Some((self.selected.named(command, 1, Some([5, 6]), of)?, value))
    }

    /// `D,node,label,value,imaginary,last,step,labels...`: UX, UY, UZ, ALL and TEMP.
    fn displacements(&mut self, command: &Command) {
        let Some((nodes, value)) = self.nodes_and_value(command) else { return self.lose(command) };
        let more = command.arguments_from(7).iter().map(String::as_str);
        for label in
            std::iter::once(command.argument(2)).chain(more).filter(|label| !label.is_empty())
        {
            let label = label.to_ascii_uppercase();
            let axes: &[usize] = match label.as_str() {
                "UX" => &[0],
                "UY" => &[1],
                "UZ" => &[2],
                "ALL" => &[0, 1, 2],
                "TEMP" => &[],
                _ => {
                    self.archive
                        .pass_over(&format!("D,{}", crate::quote::excerpt(&label)), &self.lines);
                    continue;
                }
            };
            let (by_all, is_temperature) =
                (label == "ALL", matches!(label.as_str(), "ALL" | "TEMP"));
            let cumulation = self.cumulations.displacements;
            for &node in &nodes {
                let held = self.archive.displacements.entry(node).or_default();
                for &axis in axes {
                    join_held(&mut held[axis], cumulation, value, by_all);
                }
                if is_temperature {
                    let mut held = self.archive.temperatures.remove(&node);
                    join_held(&mut held, cumulation, value, by_all);
                    self.archive.temperatures.extend(held.map(|held| (node, held)));
                }
            }
        }
    }

    /// `F,node,label,value,imaginary,last,step`: FX, FY, FZ and HEAT.
    fn forces(&mut self, command: &Command) {
        let label = command.argument(2).to_ascii_uppercase();
        let axis = match label.as_str() {
            "FX" => Some(0),
            "FY" => Some(1),
            "FZ" => Some(2),
            "HEAT" => None,
            _ => return self.lose(command),
        };
        let Some((nodes, value)) = self.nodes_and_value(command) else { return self.lose(command) };
        let cumulation = self.cumulations.forces;
        for node in nodes {
            match axis {
                Some(axis) => {
                    let force = &mut self.archive.forces.entry(node).or_default()[axis];
                    let before = Some(*force).filter(|before| *before != 0.0);
                    *force = cumulation.joined(before, value) + 0.0;
                }
                None => {
                    let before = self.archive.heats.get(&node).copied();
                    self.archive.heats.insert(node, cumulation.joined(before, value));
                }
            }
        }
    }

    /// `SFE,element,face,label,key,values`; behind a release mark they stand in the next line.
    fn surface(&mut self, command: &Command) {
        let values = self.corner_values(command, 5);
        let label = command.argument(3).to_ascii_uppercase();
        let surface = match (label.as_str(), command.argument(4)) {
            ("PRES", "" | "0" | "1") => Some(Surface::Pressure),
            ("HFLU" | "HFLUX", "" | "0" | "1") => Some(Surface::HeatFlux),
            ("CONV", "" | "0" | "1") => Some(Surface::Film),
            ("CONV", "2") => Some(Surface::Ambient),
            _ => None,
        };
        let of = (Entity::Elements, &self.archive);
        let elements = self.selected.named(command, 1, None, of);
        match (elements, command.number(2), surface, values) {
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
        let value = |text: &String| match text.as_str() {
            "" => Some(0.0),
            text => real(text).filter(|value| value.is_finite()),
        };
        let values: CornerValues =
            texts[..n_given.min(4)].iter().map(value).collect::<Option<_>>()?;
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
        let finite = |i: usize| match command.argument(i) {
            "" => Some(0.0),
            text => real(text).filter(|value| value.is_finite()),
        };
        let surfaces: &[(Surface, usize)] = match command.argument(2).to_ascii_uppercase().as_str()
        {
            "PRES" => &[(Surface::Pressure, 3)],
            "HFLU" | "HFLUX" => &[(Surface::HeatFlux, 3)],
            "CONV" => &[(Surface::Film, 3), (Surface::Ambient, 4)],
            _ => &[],
        };
        let nodes = self.selected.named(command, 1, None, (Entity::Nodes, &self.archive));
        let all = Command::parse(b"SF,ALL");
        let elements = self.selected.named(&all, 1, None, (Entity::Elements, &self.archive));
        let values = finite(3).zip(finite(4));
        let (Some(nodes), Some(elements), Some(_), false) =
            (nodes, elements, values, surfaces.is_empty())
        else {
            self.archive.pass_over(&format!("SF,{}", command.argument(2)), &self.lines);
            return;
        };
        for (element, face) in faces::within(&self.archive, &elements, &nodes) {
            for &(surface, at) in surfaces {
                self.add_surface((surface, element, face), vec![finite(at).unwrap_or(0.0)]);
            }
        }
    }

    /// `BFE,element,HGEN,place,values`.
    fn source(&mut self, command: &Command) {
        let values = self.corner_values(command, 4);
        let is_heat = command.argument(2).eq_ignore_ascii_case("HGEN");
        let elements = self.selected.named(command, 1, None, (Entity::Elements, &self.archive));
        match (elements, values) {
            (Some(elements), Some(values)) if is_heat => {
                for element in elements {
                    self.archive.sources.insert(element, values.clone());
                }
            }
            _ => self.lose(command),
        }
    }

    /// `DDELE,node,label,last,step`.
    fn delete_displacements(&mut self, command: &Command) {
        let nodes = self.selected.named(command, 1, Some([3, 4]), (Entity::Nodes, &self.archive));
        let axes: &[usize] = match command.argument(2).to_ascii_uppercase().as_str() {
            "UX" => &[0],
            "UY" => &[1],
            "UZ" => &[2],
            "" | "ALL" => &[0, 1, 2, 3],
            "TEMP" => &[3],
            "ROTX" | "ROTY" | "ROTZ" => &[],
            _ => return self.lose(command),
        };
        let Some(nodes) = nodes else { return self.lose(command) };
        for node in nodes {
            for &axis in axes {
                if axis == 3 {
                    self.archive.temperatures.remove(&node);
                } else if let Some(held) = self.archive.displacements.get_mut(&node) {
                    held[axis] = None;
                }
            }
        }
    }

    /// `FDELE,node,label,last,step`.
    fn delete_forces(&mut self, command: &Command) {
        let nodes = self.selected.named(command, 1, Some([3, 4]), (Entity::Nodes, &self.archive));
        let axes: &[usize] = match command.argument(2).to_ascii_uppercase().as_str() {
            "FX" => &[0],
            "FY" => &[1],
            "FZ" => &[2],
            "" | "ALL" => &[0, 1, 2, 3],
            "HEAT" => &[3],
            "MX" | "MY" | "MZ" => &[],
            _ => return self.lose(command),
        };
        let Some(nodes) = nodes else { return self.lose(command) };
        for node in nodes {
            for &axis in axes {
                if axis == 3 {
                    self.archive.heats.remove(&node);
                } else if let Some(force) = self.archive.forces.get_mut(&node) {
                    force[axis] = 0.0;
                }
            }
        }
    }

    /// `SFEDELE,element,face,label`.
    fn delete_surfaces(&mut self, command: &Command) {
        let elements = self.selected.named(command, 1, None, (Entity::Elements, &self.archive));
        let face = match command.argument(2).to_ascii_uppercase().as_str() {
            "" | "ALL" => Some(None),
            _ => command.number(2).map(Some),
        };
        let surfaces: &[Surface] = match command.argument(3).to_ascii_uppercase().as_str() {
            "" | "ALL" => &[Surface::Pressure, Surface::HeatFlux, Surface::Film, Surface::Ambient],
            "PRES" => &[Surface::Pressure],
            "HFLU" | "HFLUX" => &[Surface::HeatFlux],
            "CONV" => &[Surface::Film, Surface::Ambient],
            _ => return self.lose(command),
        };
        let (Some(elements), Some(face)) = (elements, face) else { return self.lose(command) };
        let elements: std::collections::HashSet<u32> = elements.into_iter().collect();
        self.archive.surfaces.retain(|(surface, element, of), _| {
            let is_deleted = surfaces.contains(surface)
                && elements.contains(element)
                && face.is_none_or(|face| face == *of);
            !is_deleted
        });
    }

    /// `SFDELE,ALL,ALL` of everything; of some nodes it is not followed.
    fn delete_all_surfaces(&mut self, command: &Command) {
        let is_all =
            |i: usize| matches!(command.argument(i).to_ascii_uppercase().as_str(), "" | "ALL");
        if is_all(1) && is_all(2) && self.selected.nodes == super::chosen::Chosen::All {
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
        let of = (Entity::Nodes, &self.archive);
        let slaves = self.selected.named(command, 2, None, of);
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
