//! Steps, amplitudes, directions, materials, sections, springs and temperatures at the beginning,
//! as they stand in the file.

use super::conditions::one_item;
use topopt_mesh::vector::difference;

use super::deck::{Reader, Section};
use super::given::{Amplitude, Procedure, Springs, Step};
use super::laws;
use super::lines::{Keyword, capitals, unquoted};
use super::sets::Item;
use super::systems::System;
use crate::deck::{DeckLaw, DeckMaterial};
use crate::quote::printable;
use crate::read_error::Parsed;

/// Beginning of the note on a material; its values follow as they are read.
const OF_MATERIAL: &str = "the file has the material";

impl Reader<'_> {
    pub fn step(&mut self, keyword: &Keyword) -> Parsed<()> {
        let name = || format!("step_{}", self.deck.steps.len() + 1);
        let name = keyword.get("NAME").map_or_else(name, printable);
        self.case = Some(self.deck.steps.len());
        self.deck.steps.push(Step::new(name));
        // Otherwise it is the default of a linear step.
        if keyword.has("NLGEOM") && keyword.get("NLGEOM").is_none_or(|v| capitals(v) != "NO") {
            self.lose_keyword(keyword, ", NLGEOM: displacements are computed as small");
        }
        Ok(())
    }

    /// *STATIC and *HEAT TRANSFER: `first increment, period`.
    pub fn procedure(&mut self, keyword: &Keyword) -> Parsed<()> {
        let (mut increment, mut period) = (1.0, 1.0);
        if let Some(data) = self.lines.data() {
            increment = data.double_or(0, increment, "a length of time")?;
            period = data.double_or(1, period, "a length of time")?;
        }

        let procedure = match keyword.name.as_str() {
            "STATIC" => Procedure::Static,
            _ if keyword.has("STEADYSTATE") => Procedure::Heat,
            _ => {
                if !keyword.has("DIRECT") {
                    let how = format!(
                        ": its increments are chosen by the solver; the case has steps of {increment:?}"
                    );
                    self.lose_keyword(keyword, &how);
                }
                Procedure::HeatInTime(increment)
            }
        };
        if let Some(step) = self.deck.steps.last_mut() {
            (step.procedure, step.period) = (procedure, period);
        }
        Ok(())
    }

    /// `time, factor`, up to four pairs in a line.
    pub fn amplitude(&mut self, keyword: &Keyword) -> Parsed<()> {
        let name = capitals(keyword.required("NAME")?);
        let is =
            |parameter, word: &str| keyword.get(parameter).is_some_and(|v| capitals(v) == word);
        let mut amplitude =
            Amplitude { name, is_total: is("TIME", "TOTALTIME"), ..Amplitude::default() };
        let is_plain = |p: &str| {
            matches!(p, "NAME" | "TIME")
                || p == "VALUE" && is("VALUE", "RELATIVE")
                || p == "DEFINITION" && is("DEFINITION", "TABULAR")
        };
        let strange = keyword.parameters().find(|name| !is_plain(name));
        amplitude.not_understood = strange.map(|name| {
            let value = keyword.get(name).map_or(String::new(), |v| format!("={}", printable(v)));
            format!("*AMPLITUDE with {name}{value} ({})", self.at(keyword.line))
        });

        let mut numbers = Vec::new();
        while let Some(data) = self.lines.data() {
            if amplitude.not_understood.is_some() {
                continue;
            }
            for field in data.fields().filter(|field| !field.is_empty()) {
                numbers.push(data.double(field, "a time or a factor")?);
            }
        }
        amplitude.points = numbers.as_chunks::<2>().0.to_vec();
        if amplitude.not_understood.is_none()
            && (amplitude.points.is_empty() || !amplitude.points.is_sorted_by(|a, b| a[0] < b[0]))
        {
            let at = self.at(keyword.line);
            amplitude.not_understood =
                Some(format!("*AMPLITUDE whose times do not increase ({at})"));
        }
        self.deck.amplitudes.push(amplitude);
        Ok(())
    }

    /// *TRANSFORM: two points of three coordinates each.
    pub fn transform(&mut self, keyword: &Keyword) -> Parsed<()> {
        let name = unquoted(keyword.required("NSET")?).to_owned();
        let kind = keyword.get("TYPE").map_or("R".into(), capitals);
        let data = self.lines.data();
        let values = data.map_or(Ok([0.0; 6]), |data| data.doubles(0, "a coordinate"));
        let [ax, ay, az, bx, by, bz] = values?;
        let (a, b) = ([ax, ay, az], [bx, by, bz]);
        let system = match kind.as_str() {
            "R" => System::Cartesian(a, b),
            "C" => System::Cylindrical(a, b),
            _ => System::Unknown,
        };
        let item = Item::Set(self.key(&name));
        self.deck.systems.push((one_item(keyword, keyword.line, name, item), system));
        Ok(())
    }

    pub fn material(&mut self, keyword: &Keyword) -> Parsed<()> {
        let name = keyword.get("NAME").unwrap_or("").to_owned();
        let at = self.at(keyword.line);
        self.deck.notes.push(format!("{OF_MATERIAL} `{name}` ({at})"));
        self.deck.materials.push(DeckMaterial { name, ..DeckMaterial::default() });
        Ok(())
    }

    /// Keeps which elements are of a material.
    pub fn section(&mut self, keyword: &Keyword) -> Parsed<()> {
        if let Some((set, material)) = keyword.get("ELSET").zip(keyword.get("MATERIAL")) {
            self.deck.sections.push(Section {
                set: set.to_owned(),
                key: self.key(set),
                material: material.to_owned(),
                orientation: keyword.get("ORIENTATION").map(|name| capitals(unquoted(name))),
            });
        }
        Ok(())
    }

    /// *ORIENTATION: points on axis 1 and in the plane of axes 1 and 2, and the origin; then an
    /// axis and an angle about it.
    pub fn orientation(&mut self, keyword: &Keyword) -> Parsed<()> {
        let name = capitals(unquoted(keyword.required("NAME")?));
        let is = |parameter, word: &str| keyword.get(parameter).is_none_or(|v| capitals(v) == word);
        let mut is_plain = is("SYSTEM", "RECTANGULAR") && is("DEFINITION", "COORDINATES");
        let Some(data) = self.lines.data() else { return Ok(()) };
        let mut points = [0.0; 9];
        if is_plain {
            for (at, value) in points.iter_mut().enumerate() {
                *value = data.double_or(at, 0.0, "a coordinate")?;
            }
        }
        while let Some(data) = self.lines.data() {
            is_plain &= data.double_or(1, 0.0, "an angle")? == 0.0;
        }
        let [a, b, origin] = [0, 3, 6].map(|at| [points[at], points[at + 1], points[at + 2]]);
        let frame = [difference(a, origin), difference(b, origin)];
        self.deck.orientations.insert(name, is_plain.then_some(frame));
        Ok(())
    }

    /// The values of a material, added to the note: one row, as a second one is of another temperature.
    pub fn property(&mut self, keyword: &Keyword) -> Parsed<()> {
        let kind = keyword.get("TYPE").map_or("ISO".into(), capitals);
        if keyword.name == "ELASTIC" && laws::N_CONSTANTS.iter().any(|(name, _)| *name == kind) {
            return self.directed(keyword, &kind);
        }
        let names: &[&str] = match (keyword.name.as_str(), kind.as_str()) {
            ("ELASTIC", "ISO" | "ISOTROPIC") => &["Young's modulus", "Poisson's ratio"],
            ("CONDUCTIVITY", "ISO" | "ISOTROPIC") => &["conductivity"],
            ("CONDUCTIVITY", "ORTHO" | "ORTHOTROPIC") => {
                &["conductivity along x", "conductivity along y", "conductivity along z"]
            }
            ("DENSITY", _) => &["density"],
            ("EXPANSION", "ISO" | "ISOTROPIC") => &["thermal expansion"],
            ("EXPANSION", "ORTHO" | "ORTHOTROPIC") => {
                &["thermal expansion along 1", "along 2", "along 3"]
            }
            ("SPECIFICHEAT", _) => &["specific heat"],
            _ => {
                let kind = keyword.get("TYPE").map(printable).unwrap_or_default();
                return self.not_understood(keyword, &format!(", TYPE={kind}"));
            }
        };
        let Some(data) = self.lines.data() else { return Ok(()) };
        let (mut text, mut values) = (String::new(), Vec::new());
        for (name, field) in names.iter().zip(data.fields()) {
            let value = data.double(field, "a number")?;
            text.push_str(&format!(", {name} {value:?}"));
            values.push(value);
        }
        if self.lines.data().is_some() {
            return self.not_understood(keyword, ": rows of several temperatures");
        }

        // Of the last material: its keyword stands above its values.
        if let Some(note) = self.deck.notes.iter_mut().rfind(|n| n.starts_with(OF_MATERIAL)) {
            note.push_str(&text);
        }
        if let Some(material) = self.deck.materials.last_mut() {
            match (keyword.name.as_str(), values.as_slice()) {
                ("DENSITY", [density, ..]) => material.mass_density = Some(*density),
                ("SPECIFICHEAT", [capacity, ..]) => material.heat_capacity = Some(*capacity),
                ("ELASTIC", [modulus, rest @ ..]) => {
                    material.youngs_modulus = Some(*modulus);
                    material.poissons_ratio = Some(rest.first().copied().unwrap_or(0.0));
                }
                ("CONDUCTIVITY", _) if values.len() == names.len() => {
                    material.conductivity = values
                }
                ("EXPANSION", _) if values.len() == names.len() => {
                    material.thermal_expansion = values
                }
                _ => return self.not_understood(keyword, ""),
            }
        }
        Ok(())
    }

    /// *ELASTIC of a material with a direction: eight constants in a line; one temperature.
    fn directed(&mut self, keyword: &Keyword, kind: &str) -> Parsed<()> {
        let mut values = Vec::new();
        while let Some(data) = self.lines.data() {
            for field in data.fields() {
                values.push(data.double(field, "a number")?);
            }
        }
        let Some(constants) = laws::constants(kind, &values) else {
            let how =
                format!(", TYPE={}: rows of several temperatures, or constants missing", kind);
            return self.not_understood(keyword, &how);
        };
        if let Some(note) = self.deck.notes.iter_mut().rfind(|n| n.starts_with(OF_MATERIAL)) {
            note.push_str(", elastic constants along axes");
        }
        if let Some(material) = self.deck.materials.last_mut() {
            material.law = Some(DeckLaw { constants, frame: None });
        }
        Ok(())
    }

    /// Passes over a property of a material in a form that is not understood.
    fn not_understood(&mut self, keyword: &Keyword, how: &str) -> Parsed<()> {
        while self.lines.data().is_some() {}
        let (parameter, reason) = how.split_once(": ").unwrap_or((how, ""));
        let reason = if reason.is_empty() { String::new() } else { format!(" with {reason}") };
        let what = format!("*{}{parameter}{reason} ({})", keyword.written, self.at(keyword.line));
        let is_law = matches!(keyword.name.as_str(), "ELASTIC" | "CONDUCTIVITY");
        match self.deck.materials.last_mut().filter(|_| is_law) {
            Some(material) => material.not_understood = Some(what),
            None => self.lose(what),
        }
        Ok(())
    }

    /// *SPRING: the directions, then the stiffness.
    pub fn springs(&mut self, keyword: &Keyword) -> Parsed<()> {
        let name = unquoted(keyword.required("ELSET")?).to_owned();
        let mut lines = Vec::new();
        // The first line of SPRINGA is empty, and so is not there.
        while let Some(data) = self.lines.data() {
            let values = data.fields().filter(|field| !field.is_empty());
            let values = values.map(|field| data.double(field, "a direction or stiffness"));
            lines.push(values.collect::<Parsed<Vec<f64>>>()?);
        }

        let (directions, stiffness) = match lines.as_slice() {
            [stiffness] => (Vec::new(), stiffness.as_slice()),
            [directions, stiffness] => {
                (directions.iter().map(|d| *d as usize).collect(), stiffness.as_slice())
            }
            _ => (Vec::new(), &[][..]),
        };
        let (false, [stiffness, ..]) = (keyword.has("NONLINEAR"), stiffness) else {
            self.lose_keyword(keyword, ": springs that are not linear");
            return Ok(());
        };
        let item = Item::Set(self.key(&name));
        let block = one_item(keyword, keyword.line, name, item);
        let directions = directions.into_iter().map(|d| d.wrapping_sub(1)).collect();
        self.deck.springs.push(Springs { block, directions, stiffness: *stiffness });
        Ok(())
    }

    /// *INITIAL CONDITIONS, TYPE=TEMPERATURE: `node or set, temperature`.
    pub fn initial_conditions(&mut self, keyword: &Keyword) -> Parsed<()> {
        if keyword.get("TYPE").is_none_or(|kind| capitals(kind) != "TEMPERATURE") {
            self.pass_over_as(keyword, "TYPE");
            return Ok(());
        }
        while let Some(data) = self.lines.data() {
            let item = self.item(data.field(0));
            let temperature = data.double(data.field(1), "a temperature")?;
            let block = one_item(keyword, data.line, keyword.written.clone(), item);
            self.deck.initial.push((block, temperature));
        }
        Ok(())
    }

    /// *TEMPERATURE: `node or set, temperature`.
    pub fn temperatures(&mut self, keyword: &Keyword) -> Parsed<()> {
        self.release(keyword, "TEMPERATURE");
        while let Some(data) = self.lines.data() {
            let item = self.item(data.field(0));
            let temperature = data.double(data.field(1), "a temperature")?;
            let block = one_item(keyword, data.line, keyword.written.clone(), item);
            let when = self.when(keyword);
            self.deck.temperatures.push((block, temperature, when));
        }
        Ok(())
    }
}
