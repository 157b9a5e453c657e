//! The tables of a case for the optimization that a solver's deck describes.

use std::collections::HashSet;
use std::fmt::Debug;

use topopt_io::ImportedMesh;
use topopt_io::deck_design::{
    DeckDesign, DeckLimit, DeckManufacturing, DeckMeasure, DeckObjective, DeckResponse,
};
use topopt_mesh::Sets;

use crate::responses::measures::response_of;

/// Tables from `[[load_cases]]` and `[objective]` to `[filter]`, and what is not in them, a
/// sentence each; of a deck without an optimization a start.
pub(crate) fn tables(imported: &ImportedMesh) -> (String, Vec<String>) {
    let mut tables = Tables { imported, text: String::new(), lost: Vec::new() };
    match &imported.deck.design {
        Some(design) => tables.optimization(design),
        None => tables.start(),
    }
    (tables.text, tables.lost)
}

/// A TOML string.
pub(crate) fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

/// The tables that are being written.
struct Tables<'a> {
    imported: &'a ImportedMesh,
    text: String,
    lost: Vec<String>,
}

impl Tables<'_> {
    fn line(&mut self, line: &str) {
        self.text += line;
        self.text.push('\n');
    }

    fn start(&mut self) {
        self.line("\n[design]");
        self.line("volume_fraction = 0.3    # share of the part that material may fill");
        self.line(
            "# solid = []               # element sets that stay, such as rings around bores",
        );
        self.line(
            "# keep_loaded = \"solid\"    # elements at loads and supports stay, too; \"free\" designs them",
        );
        self.line("\n[filter]\nradius_in_elements = 2.5");
    }

    fn optimization(&mut self, design: &DeckDesign) {
        for (name, weight) in &design.weights {
            self.line(&format!("\n[[load_cases]]\nname = {}\nweight = {weight:?}", quoted(name)));
        }
        design.objective.iter().for_each(|objective| self.objective(objective));
        let before = self.text.len();
        let shares = self.limits(design);
        let is_limited = self.text.len() > before;

        self.line("\n[design]");
        match shares.into_iter().reduce(f64::min) {
            Some(share) => self.line(&format!("volume_fraction = {share:?}")),
            None if !is_limited => self
                .line("# volume_fraction = 0.3    # needed: no limit of the deck is carried over"),
            None => {}
        }
        if !design.solid.is_empty() {
            let solid: Vec<String> = design.solid.iter().map(|set| quoted(set)).collect();
            self.line(&format!("solid = [{}]", solid.join(", ")));
        }
        if !design.keeps_loaded {
            self.line("keep_loaded = \"free\"     # as the deck, which designs these, too");
        }

        design.manufacturing.iter().for_each(|demand| self.manufacturing(demand));
        let is_width = |demand: &_| matches!(demand, DeckManufacturing::MemberSize { .. });
        if design.manufacturing.iter().any(is_width) {
            self.line(
                "\n[filter]\nkind = \"density\"          # its radius follows from the widths",
            );
            if let Some(radius) = design.filter_radius {
                let follows = "the radius of the filter follows from the widths of members";
                self.lost.push(format!("the filter's radius of {radius:?}: {follows}"));
            }
            return;
        }
        match design.filter_radius {
            Some(radius) => self.line(&format!("\n[filter]\nradius = {radius:?}")),
            None => self.line("\n[filter]\nradius_in_elements = 2.5"),
        }
    }

    fn objective(&mut self, objective: &DeckObjective) {
        self.line("\n[objective]");
        match objective {
            DeckObjective::Other(words) => {
                let words = words.replace(char::is_control, " ");
                self.line(&format!(
                    "# minimize = \"compliance\"    # needed: the deck has {words}"
                ));
            }
            DeckObjective::Response { response, is_maximum } => {
                let key = if *is_maximum { "maximize" } else { "minimize" };
                self.response(key, response);
            }
        }
    }

    /// The keys of a response behind the one that names it.
    fn response(&mut self, key: &str, response: &DeckResponse) {
        let DeckResponse { measure, set, direction, case } = response;
        self.line(&format!("{key} = {}", quoted(response_of(*measure))));
        if let Some(set) = set {
            self.line(&format!("set = {}", quoted(set)));
            if self.sets().kinds_of(set).len() > 1 {
                let is_node =
                    matches!(measure, DeckMeasure::Displacement | DeckMeasure::Temperature);
                self.line(if is_node { "kind = \"nodes\"" } else { "kind = \"elements\"" });
            }
        }
        direction.iter().for_each(|direction| self.line(&format!("direction = {direction:?}")));
        case.iter().for_each(|case| self.line(&format!("case = {}", quoted(case))));
    }

    /// Writes the limits besides those of the volume of the design space, which it returns as
    /// shares.
    fn limits(&mut self, design: &DeckDesign) -> Vec<f64> {
        let mut shares = Vec::new();
        for limit in &design.limits {
            let DeckLimit { response, is_most, words, .. } = limit;
            match self.in_units_of_the_case(limit, design) {
                Ok(value) if is_volume(response.measure) && response.set.is_none() && *is_most => {
                    shares.push(value);
                }
                Ok(value) => self.constraint(limit, value),
                Err(why) => self.lost.push(format!("the limit {words}: {why}")),
            }
        }
        shares
    }

    /// Writes a limit with its `value` in the unit of the case.
    fn constraint(&mut self, DeckLimit { response, is_most, .. }: &DeckLimit, value: f64) {
        self.line("\n[[constraints]]");
        self.response("response", response);
        let key = if *is_most { "at_most" } else { "at_least" };
        let of = match response.measure {
            DeckMeasure::Compliance => "    # twice that of the deck, which is an energy",
            DeckMeasure::Volume => "    # the volume of the deck as a share",
            DeckMeasure::MassShare => "    # the share of the deck as a mass",
            _ => "",
        };
        self.line(&format!("{key} = {value:?}{of}"));
    }

    /// A limit in the unit that a case has it in: volumes as shares, masses as such.
    fn in_units_of_the_case(&self, limit: &DeckLimit, design: &DeckDesign) -> Result<f64, String> {
        let DeckLimit { response, value, is_most, .. } = limit;
        let set = response.set.as_deref();
        let value = match response.measure {
            DeckMeasure::Volume => self.volume_share(set, *value, design)?,
            DeckMeasure::MassShare => value * self.mass(set)?,
            _ => *value,
        };

        // A share that all designs have, or none, is no limit of a case.
        match (is_volume(response.measure), is_most) {
            (true, true) if value >= 1.0 => Err("it allows the full design space".into()),
            (true, false) if value <= 0.0 => Err("it allows an empty design space".into()),
            (true, _) if !(0.0..=1.0).contains(&value) || value == 0.0 => {
                Err(format!("no design keeps it: as a share of the design space it is {value:?}"))
            }
            _ => Ok(value),
        }
    }

    /// A volume as a share of that of a set, or, beside what stays solid, of the design space.
    fn volume_share(
        &self,
        set: Option<&str>,
        volume: f64,
        design: &DeckDesign,
    ) -> Result<f64, String> {
        let solid = if set.is_none() { self.solid(design) } else { HashSet::new() };
        let solid = self.imported.volume_of(solid);
        let whole = self.imported.volume_of(self.elements(set)) - solid;
        if whole <= 0.0 {
            return Err("no element is designed".into());
        }
        Ok(without_rounding((volume - solid) / whole))
    }

    fn sets(&self) -> &Sets {
        self.imported.mesh.sets()
    }

    /// The elements of a set, or of the part.
    fn elements(&self, set: Option<&str>) -> HashSet<u32> {
        match set {
            Some(set) => self.sets().elements.get(set).into_iter().flatten().copied().collect(),
            None => (0..self.imported.mesh.n_elements() as u32).collect(),
        }
    }

    /// The elements that stay solid, be it by several sets.
    fn solid(&self, design: &DeckDesign) -> HashSet<u32> {
        design.solid.iter().flat_map(|set| self.elements(Some(set))).collect()
    }

    /// The mass of the full set, or of the full part.
    fn mass(&self, set: Option<&str>) -> Result<f64, String> {
        let within = self.elements(set);
        let mut sum = 0.0;
        for material in &self.imported.deck.materials {
            let elements = self.elements(material.set.as_deref());
            let volume = self.imported.volume_of(elements.intersection(&within).copied());
            match material.mass_density {
                Some(density) => sum += density * volume,
                None if volume > 0.0 => {
                    return Err(format!("material `{}` has no density", material.name));
                }
                None => {}
            }
        }
        if sum > 0.0 { Ok(sum) } else { Err("no material has a density".into()) }
    }

    fn manufacturing(&mut self, demand: &DeckManufacturing) {
        let (kind, keys) = kind_and_keys(demand);
        self.line(&format!("\n[[manufacturing]]\nkind = {}\n{keys}", quoted(kind)));
    }
}

/// Kind of a demand in a case, and its other keys.
fn kind_and_keys(demand: &DeckManufacturing) -> (&'static str, String) {
    match demand {
        DeckManufacturing::Symmetry { point, normal } => {
            ("symmetry", format!("point = {point:?}\nnormal = {normal:?}"))
        }
        DeckManufacturing::Cyclic { point, axis, sectors, mirrored } => {
            let mirrored = optional("\nmirrored", *mirrored);
            let axis = format!("point = {point:?}\naxis = {axis:?}");
            ("cyclic", format!("{axis}\nsectors = {sectors}{mirrored}"))
        }
        DeckManufacturing::Extrusion { direction } => {
            ("extrusion", format!("direction = {direction:?}"))
        }
        DeckManufacturing::ExtrusionAlong { path } => ("extrusion", format!("path = {path:?}")),

        DeckManufacturing::Casting { draw, sides, is_closed, thickness } => {
            let holes = if *is_closed { "\nthrough_holes = false" } else { "" };
            let sheet = optional("\nthickness", *thickness);
            ("casting", format!("draw_direction = {draw:?}\nsides = {sides}{holes}{sheet}"))
        }
        DeckManufacturing::Overhang { build, degrees } => {
            ("overhang", format!("build_direction = {build:?}\nangle_degrees = {degrees:?}"))
        }
        DeckManufacturing::Milling { tools } => ("milling", format!("tool_directions = {tools:?}")),

        DeckManufacturing::Pattern { pitch } => ("pattern", format!("pitch = {pitch:?}")),
        DeckManufacturing::MemberSize { minimum, gap, maximum } => {
            let widths = [("minimum", minimum), ("gap", gap), ("maximum", maximum)];
            let keys = widths.map(|(key, width)| optional(key, *width));
            let given: Vec<_> = keys.into_iter().filter(|key| !key.is_empty()).collect();
            ("member_size", given.join("\n"))
        }
    }
}

/// A key with its value, nothing without one.
fn optional(key: &str, value: Option<impl Debug>) -> String {
    value.map_or(String::new(), |value| format!("{key} = {value:?}"))
}

/// A share without the rounding of sums of volumes.
fn without_rounding(share: f64) -> f64 {
    (share * 1e12).round() / 1e12
}

/// Whether a measure is a share of the design volume in a case.
fn is_volume(measure: DeckMeasure) -> bool {
    matches!(measure, DeckMeasure::Volume | DeckMeasure::VolumeShare)
}
