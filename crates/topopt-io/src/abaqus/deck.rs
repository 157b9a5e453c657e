//! `Deck`: the content of an input file, read keyword by keyword.

use std::collections::{BTreeMap, BTreeSet};

use topopt_mesh::cells::Shape;

use super::error::Fault;
use super::given::{Amplitude, Condition, Coupling, Distributed, Springs, Step, When};
use super::include::Text;
use super::lines::{Keyword, Lines, capitals, unquoted};
use super::sets::{Block, Item};
use super::systems::{Motion, System};
use crate::deck::DeckMaterial;
use crate::read_error::Parsed;

/// Content of an input file, with the numbers of the file.
#[derive(Default)]
pub(super) struct Deck {
    pub node_tags: Vec<u64>,
    pub coordinates: Vec<[f64; 3]>,
    /// The solid elements that can be used.
    pub solids: Vec<Solid>,
    /// Nodes of the `solids`, one element after the other.
    pub connectivity: Vec<u64>,
    /// Types of the `solids`.
    pub solid_types: BTreeSet<String>,
    /// Other solid elements by type: their number, and the first.
    pub other_solids: BTreeMap<String, (usize, u64)>,
    /// Shells, beams and the like with their nodes.
    pub no_solids: Vec<(u64, Vec<u64>)>,
    /// Type of each spring among the `no_solids`, by element.
    pub spring_types: BTreeMap<u64, String>,
    /// Number of `no_solids` per type.
    pub no_solid_types: BTreeMap<String, usize>,
    pub node_sets: Vec<Block>,
    pub element_sets: Vec<Block>,
    /// Face sets: an element set with the number of the face of each of its elements, from 1.
    pub surfaces: Vec<(Block, usize)>,
    pub conditions: Vec<Condition>,
    pub distributed: Vec<Distributed>,
    pub couplings: Vec<Coupling>,
    pub materials: Vec<DeckMaterial>,
    pub sections: Vec<Section>,
    /// Axis 1 of an orientation, and a vector in the plane of the axes 1 and 2; none for an
    /// orientation that is not understood.
    pub orientations: BTreeMap<String, Option<[[f64; 3]; 2]>>,
    /// Coordinates of nodes of the assembly, which no element has, and sets of them by key.
    pub reference_nodes: BTreeMap<u64, [f64; 3]>,
    pub reference_sets: BTreeMap<String, Vec<u64>>,
    /// Motion of the instance.
    pub motion: Motion,
    pub steps: Vec<Step>,
    pub amplitudes: Vec<Amplitude>,
    /// Node sets with local directions; the last one counts.
    pub systems: Vec<(Block, System)>,
    pub springs: Vec<Springs>,
    /// Whether a step has *INERTIA RELIEF.
    pub inertia_relief: bool,
    /// Initial temperature per node set.
    pub initial: Vec<(Block, f64)>,
    /// Temperatures of node sets that elements expand by.
    pub temperatures: Vec<(Block, f64, When)>,
    /// Lines of conditions and loads for people, as they stand in their files.
    pub places: BTreeMap<usize, String>,
    /// Content that cannot be carried over to a case.
    pub lost: Vec<String>,
    /// The instance of the part, once it is known.
    pub instance: Option<String>,
    pub notes: Vec<String>,
}

/// A solid element.
#[derive(Debug, Clone, Copy)]
pub(super) struct Solid {
    pub tag: u64,
    pub shape: Shape,
    /// Start of the nodes in [`Deck::connectivity`].
    pub first: usize,
    /// Number of nodes.
    pub n_nodes: usize,
}

/// Material of an element set.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Section {
    /// The element set as written.
    pub set: String,
    /// Key of the set.
    pub key: String,
    pub material: String,
    /// Name of the orientation in capitals.
    pub orientation: Option<String>,
}

/// Reads a file into a [`Deck`].
pub(super) struct Reader<'a> {
    pub lines: Lines<'a>,
    text: &'a Text,
    pub deck: Deck,
    scope: Scope,
    n_parts: usize,
    /// Index of the step being read.
    pub case: Option<usize>,
    /// Keywords that were passed over: first line, number of times, and lines of data.
    pub passed_over: BTreeMap<String, (usize, usize, usize)>,
    /// Numbers of items that were left out, by kind.
    left_out: BTreeMap<&'static str, usize>,
}

/// Place of a keyword in the model. Within `Part` and `Instance` names are those of the part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    Model,
    Part,
    Assembly,
    Instance,
}

/// Reads all of a file.
pub(super) fn read(text: &Text) -> Parsed<Deck> {
    let mut reader = Reader {
        lines: Lines::new(&text.bytes),
        text,
        deck: Deck::default(),
        scope: Scope::Model,
        n_parts: 0,
        case: None,
        passed_over: BTreeMap::new(),
        left_out: BTreeMap::new(),
    };

    let has_text = reader.lines.data().is_some();
    let Some(first) = reader.lines.keyword() else {
        return Err(if has_text { Fault::NotInp } else { Fault::EmptyFile }.into());
    };
    if !first.name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return Err(Fault::NotInp.into());
    }
    if has_text {
        reader.deck.notes.push("the text before the first keyword was skipped".into());
    }

    reader.keyword(&first)?;
    while let Some(keyword) = reader.lines.keyword() {
        reader.keyword(&keyword)?;
    }

    reader.keep_places();
    // Last, as it counts what was passed over and left out.
    reader.add_notes();
    Ok(reader.deck)
}

impl Deck {
    /// Whether the deck is of heat: by its steps, or without steps by its materials.
    pub fn is_heat(&self) -> bool {
        let conducts = |material: &DeckMaterial| {
            let is_elastic = material.youngs_modulus.or(material.poissons_ratio).is_some()
                || material.law.is_some();
            !is_elastic && material.not_understood.is_none() && !material.conductivity.is_empty()
        };
        match self.steps.as_slice() {
            [] => self.materials.iter().any(conducts),
            steps => steps.iter().all(Step::is_heat),
        }
    }

    /// A line of the text for people.
    pub fn place(&self, line: usize) -> &str {
        self.places.get(&line).map_or("", String::as_str)
    }
}

impl Reader<'_> {
    fn keyword(&mut self, keyword: &Keyword) -> Parsed<()> {
        if !self.is_read(keyword) {
            return Ok(());
        }
        match keyword.name.as_str() {
            "NODE" => self.nodes(keyword),
            "ELEMENT" => self.elements(keyword),
            "NSET" => self.node_set(keyword),
            "ELSET" => self.element_set(keyword),
            "SURFACE" => self.surface(keyword),
            "BOUNDARY" => self.boundary(keyword),
            "CLOAD" | "CFLUX" => self.loads(keyword),
            "DLOAD" | "DFLUX" | "FILM" => self.element_loads(keyword),
            "DSLOAD" | "DSFLUX" | "SFILM" => self.surface_loads(keyword),
            "COUPLING" | "RIGIDBODY" => self.coupling(keyword),
            "KINEMATIC" => self.kinematic(keyword),
            "MATERIAL" => self.material(keyword),
            "SOLIDSECTION" => self.section(keyword),
            "ORIENTATION" => self.orientation(keyword),
            "ELASTIC" | "DENSITY" | "CONDUCTIVITY" | "SPECIFICHEAT" | "EXPANSION" => {
                self.property(keyword)
            }
            "SPRING" => self.springs(keyword),
            "TRANSFORM" => self.transform(keyword),
            "AMPLITUDE" => self.amplitude(keyword),
            "STATIC" | "HEATTRANSFER" => self.procedure(keyword),
            "INITIALCONDITIONS" => self.initial_conditions(keyword),
            "TEMPERATURE" => self.temperatures(keyword),

            "PART" | "ENDPART" | "ASSEMBLY" | "ENDASSEMBLY" | "INSTANCE" | "ENDINSTANCE" => {
                self.part(keyword)
            }
            "NGEN" | "NFILL" | "NCOPY" | "NMAP" | "ELGEN" | "ELCOPY" | "SYSTEM"
            | "SUBSTRUCTURE" => Err(keyword.fault(Fault::Generator(format!("*{}", keyword.name)))),

            "INERTIARELIEF" => {
                // Its data are directions: those that supports leave free.
                while self.lines.data().is_some() {}
                self.deck.inertia_relief |= keyword.get("REMOVE").is_none();
                Ok(())
            }

            "STEP" => self.step(keyword),
            // Its file stands behind it.
            "INCLUDE" => keyword.required("INPUT").map(|_| ()),
            _ => Ok(()),
        }
    }

    /// `x, y, z` of a translation, then two points and an angle of a rotation, each in a line.
    fn motion(&mut self) -> Parsed<Motion> {
        let mut lines = Vec::new();
        while let Some(data) = self.lines.data() {
            let mut values = [0.0; 7];
            for (value, field) in values.iter_mut().zip(data.fields()) {
                *value = data.double(field, "a translation or rotation")?;
            }
            lines.push(values);
        }
        let translation = lines.first().map_or([0.0; 3], |[x, y, z, ..]| [*x, *y, *z]);
        let rotation = lines.get(1).map(|&[a, b, c, d, e, f, angle]| ([a, b, c], [d, e, f], angle));
        Ok(Motion { translation, rotation })
    }

    /// A single part with one instance.
    fn part(&mut self, keyword: &Keyword) -> Parsed<()> {
        let refused = |what| Err(keyword.fault(Fault::Assembly(what)));
        self.scope = match keyword.name.as_str() {
            "PART" => {
                self.n_parts += 1;
                if self.n_parts > 1 {
                    return refused("a second part");
                }
                Scope::Part
            }

            "INSTANCE" => {
                if self.deck.instance.is_some() {
                    return refused("a second instance of a part");
                }
                self.deck.instance = Some(keyword.get("NAME").unwrap_or("instance").to_owned());
                self.deck.motion = self.motion()?;
                Scope::Instance
            }

            "ASSEMBLY" | "ENDINSTANCE" => Scope::Assembly,
            _ => Scope::Model,
        };
        Ok(())
    }

    /// Whether nodes and elements of `keyword` belong to the assembly and not to the mesh.
    pub fn in_assembly(&self, keyword: &Keyword) -> bool {
        self.scope == Scope::Assembly && keyword.get("INSTANCE").is_none()
    }

    /// Counts an item that is not read.
    pub fn leave_out(&mut self, what: &'static str) {
        *self.left_out.entry(what).or_default() += 1;
    }

    /// A line of the text for people: `line 7`, `line 7 of mesh.inc`.
    pub fn at(&self, line: usize) -> String {
        self.text.shown(line)
    }

    /// Records content that cannot be carried over to a case.
    pub fn lose(&mut self, what: String) {
        self.deck.lost.push(what);
    }

    /// The set `name` for comparison, as the key of a [`Block`].
    pub fn key(&self, name: &str) -> String {
        let key = capitals(unquoted(name));
        if matches!(self.scope, Scope::Part | Scope::Instance) {
            return format!(".{key}");
        }
        match self.without_instance(&key) {
            Some(of_part) => format!(".{of_part}"),
            None => key,
        }
    }

    /// A number or the name of a set; either may have the instance before it, with a dot.
    pub fn item(&self, field: &str) -> Item {
        let of_part = self.without_instance(field).unwrap_or(field);
        match of_part.parse() {
            Ok(tag) => Item::Tags(tag, tag),
            Err(_) => Item::Set(self.key(field)),
        }
    }

    fn without_instance<'b>(&self, name: &'b str) -> Option<&'b str> {
        let (instance, rest) = name.split_once('.')?;
        (self.deck.instance.as_ref().is_some_and(|own| capitals(own) == capitals(instance)))
            .then_some(rest)
    }

    fn keep_places(&mut self) {
        let conditions = self.deck.conditions.iter().map(|condition| condition.block.line);
        let loads = self.deck.distributed.iter().map(|load| load.block.line);
        self.deck.places = conditions.chain(loads).map(|line| (line, self.at(line))).collect();
    }

    fn add_notes(&mut self) {
        for (what, count) in &self.left_out {
            self.deck.notes.push(format!("{count} {what} were left out"));
        }
        self.lose_passed_over();
    }
}
