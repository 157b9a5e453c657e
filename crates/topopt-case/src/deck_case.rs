//! The text of a case file for a solver's deck: its mesh, materials, supports and loads.

use std::collections::BTreeSet;
use std::path::Path;

use topopt_io::ImportedMesh;
use topopt_io::deck::{
    Deck, DeckConstants, DeckFilm, DeckLaw, DeckLoad, DeckMaterial, DeckPhysics, DeckSpring,
    DeckSteps, DeckSupport, SetLoad,
};
use topopt_mesh::{SetKind, Sets};

use crate::deck_design::{self, quoted};
use crate::deck_totals;

/// A case for the deck at `file`, by its name from the folder of the case, and what of the deck is
/// not in it, a sentence each.
pub fn case_of(file: &Path, imported: &ImportedMesh) -> (String, Vec<String>) {
    let deck = &imported.deck;
    let mut case = DeckCase {
        sets: imported.mesh.sets(),
        physics: deck.physics,
        has_temperatures: deck.loads.iter().any(is_temperature),
        text: String::new(),
        lost: deck.lost.clone(),
    };
    case.lost.extend(deck_totals::differences(imported));

    let name = file.display().to_string();
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    case.line(&format!("title = {}", quoted(&stem)));
    let is_relieved = deck.inertia_relief && deck.physics == DeckPhysics::Elasticity;
    if is_relieved {
        case.line("inertia_relief = true");
    }
    if deck.physics == DeckPhysics::Heat {
        case.line("\n[physics]\nkind = \"heat\"");
    }
    case.line(&format!("\n[mesh]\nfile = {}", quoted(&name)));
    case.materials(&deck.materials, imported);
    match is_relieved.then(|| determinate(deck, imported.mesh.sets())).flatten() {
        Some(n) => case.line(&format!(
            "\n# Supports of {n} displacements are left out: with inertia relief they only say where \
             these are 0."
        )),
        None => deck.supports.iter().for_each(|support| case.support(support)),
    }
    deck.springs.iter().for_each(|spring| case.spring(spring));
    deck.films.iter().for_each(|film| case.film(film));
    deck.in_time.iter().for_each(|steps| case.in_time(steps));
    deck.loads.iter().for_each(|load| case.load(load));
    let (design, lost) = deck_design::tables(imported);
    case.text += &design;
    case.lost.extend(lost);

    let DeckCase { text, lost, .. } = case;
    let comment = |what: &String| format!("# Not carried over: {what}\n");
    let head = format!("# The case of {name}, in the units of that file.\n");
    let lost_lines: String = lost.iter().map(comment).collect();
    (head + &lost_lines + "\n" + &text, lost)
}

/// Reports that something of the deck at `file` is not carried over to a case.
pub(crate) fn note_on_lost(file: &Path, imported: &ImportedMesh) -> Option<String> {
    let (_, lost) = case_of(file, imported);
    let file = file.display();
    match lost.as_slice() {
        [] => None,
        [one] => Some(format!("of the deck, `topopt init {file}` does not carry over: {one}")),
        all => Some(format!(
            "{} things that the deck says are not carried over by `topopt init {file}`: `topopt info` \
             lists them",
            all.len()
        )),
    }
}

/// Displacements that supports hold, where they only hold the part against rigid motions, as
/// solvers ask for with inertia relief.
fn determinate(deck: &Deck, sets: &Sets) -> Option<usize> {
    let mut held = BTreeSet::new();
    for support in &deck.supports {
        let nodes = sets.nodes.get(&support.set)?;
        if nodes.len() > RIGID_MOTIONS || support.displacement != [0.0; 3] {
            return None;
        }
        let fixed = (0..3).filter(|&i| support.fixed[i]);
        held.extend(fixed.flat_map(|i| nodes.iter().map(move |&node| (node, i))));
    }
    (1..=RIGID_MOTIONS).contains(&held.len()).then_some(held.len())
}

/// Rigid motions of a part.
const RIGID_MOTIONS: usize = 6;

fn is_temperature(load: &DeckLoad) -> bool {
    matches!(load.load, SetLoad::Temperature { .. })
}

/// A case that is being written.
struct DeckCase<'a> {
    sets: &'a Sets,
    physics: DeckPhysics,
    /// Whether elements expand in a load case.
    has_temperatures: bool,
    text: String,
    lost: Vec<String>,
}

impl DeckCase<'_> {
    fn line(&mut self, line: &str) {
        self.text += line;
        self.text.push('\n');
    }

    /// The material of most elements is that of the part; others stand by their sets.
    fn materials(&mut self, materials: &[DeckMaterial], imported: &ImportedMesh) {
        let size = |material: &&DeckMaterial| match &material.set {
            None => imported.mesh.n_elements(),
            Some(set) => self.sets.elements.get(set).map_or(0, Vec::len),
        };
        let most = materials.iter().max_by_key(size);

        self.line("\n[material]");
        match most {
            Some(material) => self.properties(material),
            None => self.line(&format!("# {} = 1.0     # the file gives none", self.stiffness())),
        }

        for material in materials.iter().filter(|material| Some(*material) != most) {
            let Some(set) = &material.set else { continue };
            self.line(&format!("\n[[materials]]\nset = {}", quoted(set)));
            self.properties(material);
        }
    }

    /// The key of the law of a material.
    fn stiffness(&self) -> &'static str {
        match self.physics {
            DeckPhysics::Elasticity => "youngs_modulus",
            DeckPhysics::Heat => "conductivity",
        }
    }

    fn properties(&mut self, material: &DeckMaterial) {
        let DeckMaterial { name, youngs_modulus, mass_density, conductivity, .. } = material;
        let key = self.stiffness();
        self.line(&format!("# {}", name.replace(char::is_control, " ")));

        let directed = material.law.filter(|_| self.physics == DeckPhysics::Elasticity);
        let law = match (self.physics, conductivity.as_slice()) {
            (DeckPhysics::Elasticity, _) => youngs_modulus.map(|modulus| format!("{modulus:?}")),
            (DeckPhysics::Heat, []) => None,
            (DeckPhysics::Heat, [one]) => Some(format!("{one:?}")),
            (DeckPhysics::Heat, along) => Some(format!("{along:?}")),
        };
        match (law, &material.not_understood) {
            _ if directed.is_some() => directed.iter().for_each(|law| self.directed(law)),
            (Some(law), _) => self.line(&format!("{key} = {law}")),
            (None, Some(what)) => {
                self.line(&format!("# {key} = 1.0     # needed: not understood is {what}"));
                self.lost.push(format!(
                    "material `{name}`: {what} is not understood; give an equivalent `{key}`"
                ));
            }
            (None, None) => self.line(&format!("# {key} = 1.0     # the file gives none")),
        }

        let ratio = material.poissons_ratio.filter(|_| directed.is_none());
        if let Some(ratio) = ratio.filter(|_| self.physics == DeckPhysics::Elasticity) {
            self.line(&format!("poissons_ratio = {ratio:?}"));
        }
        if self.physics == DeckPhysics::Elasticity {
            self.expansion(&material.thermal_expansion);
        }
        if let Some(density) = mass_density {
            self.line(&format!("mass_density = {density:?}"));
        }
        if let Some(capacity) = material.heat_capacity.filter(|_| self.physics == DeckPhysics::Heat)
        {
            self.line(&format!("heat_capacity = {capacity:?}"));
        }
    }

    /// The expansion of a material: 0 where the deck gives none and others have temperatures.
    fn expansion(&mut self, expansion: &[f64]) {
        match expansion {
            [] if !self.has_temperatures => {}
            [] => self.line("thermal_expansion = 0.0"),
            [one] => self.line(&format!("thermal_expansion = {one:?}")),
            along => self.line(&format!("thermal_expansion = {along:?}")),
        }
    }

    /// The keys of a law with a direction.
    fn directed(&mut self, DeckLaw { constants, frame }: &DeckLaw) {
        let (key, constants) = match constants {
            DeckConstants::Engineering { youngs_moduli, poissons_ratios, shear_moduli } => (
                "orthotropic",
                format!(
                    "youngs_moduli = {youngs_moduli:?}, poissons_ratios = {poissons_ratios:?}, \
                     shear_moduli = {shear_moduli:?}"
                ),
            ),
            DeckConstants::Matrix(rows) => ("anisotropic", format!("stiffness = {rows:?}")),
        };
        let frame = frame.map(|frame| format!(", frame = {frame:?}")).unwrap_or_default();
        self.line(&format!("{key} = {{ {constants}{frame} }}"));
    }

    fn support(&mut self, support: &DeckSupport) {
        let DeckSupport { set, fixed, displacement, temperature, case } = support;
        if !self.has(set, "a support") {
            return;
        }
        self.line(&format!("\n[[supports]]\nset = {}", quoted(set)));
        self.kind(set, SetKind::Node);
        let is_heat = self.physics == DeckPhysics::Heat;
        if is_heat {
            self.line(&format!("temperature = {temperature:?}"));
        } else {
            let axes = ["x", "y", "z"].iter().zip(fixed).filter(|(_, fixed)| **fixed);
            let axes: Vec<String> = axes.map(|(axis, _)| quoted(axis)).collect();
            self.line(&format!("fix = [{}]", axes.join(", ")));
        }
        if *displacement != [0.0; 3] {
            self.line(&format!("displacement = {displacement:?}"));
        }
        if is_heat || *displacement != [0.0; 3] {
            case.iter().for_each(|case| self.line(&format!("case = {}", quoted(case))));
        }
    }

    fn spring(&mut self, DeckSpring { set, stiffness }: &DeckSpring) {
        if !self.has(set, "springs") {
            return;
        }
        self.line(&format!("\n[[springs]]\nset = {}", quoted(set)));
        self.kind(set, SetKind::Node);
        self.line(&format!("stiffness = {stiffness:?}"));
    }

    fn film(&mut self, DeckFilm { set, film_coefficient, ambient }: &DeckFilm) {
        if !self.has(set, "convection") {
            return;
        }
        self.line(&format!("\n[[convection]]\nset = {}", quoted(set)));
        self.kind(set, SetKind::Face);
        self.line(&format!("film_coefficient = {film_coefficient:?}\nambient = {ambient:?}"));
    }

    fn in_time(&mut self, DeckSteps { end, step, initial }: &DeckSteps) {
        self.line(&format!("\n[transient]\nend = {end:?}\nstep = {step:?}\ninitial = {initial:?}"));
        self.line("theta = 1.0                # implicit Euler");
    }

    fn load(&mut self, DeckLoad { case, load }: &DeckLoad) {
        let (set, kind) = match load {
            SetLoad::Force { set, .. }
            | SetLoad::ByNode { set }
            | SetLoad::NodalHeat { set, .. } => (Some(set), SetKind::Node),
            SetLoad::Remote { set, .. } => (Some(set), self.remote_kind(set)),
            SetLoad::Pressure { set, .. }
            | SetLoad::Traction { set, .. }
            | SetLoad::HeatFlux { set, .. } => (Some(set), SetKind::Face),
            SetLoad::HeatSource { set, .. } => (set.as_ref(), SetKind::Element),
            SetLoad::Temperature { set, kind, .. } => (set.as_ref(), *kind),
            SetLoad::Gravity { .. } | SetLoad::Centrifugal { .. } => (None, SetKind::Element),
        };
        if set.is_some_and(|set| !self.has(set, "a load")) {
            return;
        }

        for keys in self.keys_of(load) {
            self.line("\n[[loads]]");
            if let Some(set) = set {
                self.line(&format!("set = {}", quoted(set)));
                self.kind(set, kind);
            }
            keys.iter().for_each(|key| self.line(key));
            self.line(&format!("case = {}", quoted(case)));
        }
    }

    /// The keys of the entries that a load becomes.
    fn keys_of(&self, load: &SetLoad) -> Vec<Vec<String>> {
        match load {
            SetLoad::Force { force, .. } => vec![vec![format!("force = {force:?}")]],
            SetLoad::Pressure { pressure, .. } => vec![vec![format!("pressure = {pressure:?}")]],
            SetLoad::Traction { traction, .. } => vec![vec![format!("traction = {traction:?}")]],
            SetLoad::Gravity { acceleration } => vec![vec![format!("gravity = {acceleration:?}")]],
            SetLoad::Centrifugal { center, angular_velocity } => vec![vec![
                format!("angular_velocity = {angular_velocity:?}"),
                format!("center = {center:?}"),
            ]],
            SetLoad::Remote { at, force, moment, .. } => {
                let force = (*force != [0.0; 3])
                    .then(|| vec![format!("total_force = {force:?}"), format!("at = {at:?}")]);
                let moment = (*moment != [0.0; 3]).then(|| vec![format!("moment = {moment:?}")]);
                force.into_iter().chain(moment).collect()
            }
            SetLoad::Temperature { temperature, reference, .. } => vec![vec![
                format!("temperature = {temperature:?}"),
                format!("reference_temperature = {reference:?}"),
            ]],
            SetLoad::ByNode { .. } => vec![vec!["from_mesh = true".into()]],
            SetLoad::HeatFlux { heat_flux, .. } => vec![vec![format!("heat_flux = {heat_flux:?}")]],
            SetLoad::HeatSource { heat_source, .. } => {
                vec![vec![format!("heat_source = {heat_source:?}")]]
            }
            SetLoad::NodalHeat { set, heat } => {
                let total = heat * self.sets.nodes.get(set).map_or(0, Vec::len) as f64;
                vec![vec![format!("total_heat = {total:?}")]]
            }
        }
    }

    fn remote_kind(&self, set: &str) -> SetKind {
        if self.sets.faces.contains_key(set) { SetKind::Face } else { SetKind::Node }
    }

    /// Whether a set has entries; what it would have carried is lost otherwise.
    fn has(&mut self, set: &str, what: &str) -> bool {
        let is_there = !self.sets.kinds_of(set).is_empty();
        if !is_there {
            self.lost.push(format!("{what} on `{set}`, which has no nodes of solid elements"));
        }
        is_there
    }

    /// The kind of set that is meant, where several have the name.
    fn kind(&mut self, set: &str, kind: SetKind) {
        if self.sets.kinds_of(set).len() > 1 {
            self.line(&format!("kind = \"{}s\"", kind.name()));
        }
    }
}
