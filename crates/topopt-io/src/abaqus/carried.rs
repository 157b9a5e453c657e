//! `Carrier`: supports, loads and materials of a deck, by sets of the mesh.

use std::collections::{BTreeMap, BTreeSet};

use super::deck::{Deck, Section};
use super::elements::Elements;
use super::given::{Condition, ConditionKind, HEAT, Procedure, Step, When, factor};
use super::held::{Held, Point, Rules, set_name};
use super::sets::{Block, Item, Members};
use crate::deck::{DeckMaterial, DeckPhysics, DeckSteps, DeckSupport};
use crate::file_sets::CellFace;
use crate::found::Found;
use crate::part::Part;
use crate::quote::printable;
use crate::read_error::Parsed;

/// Supports, loads and materials that are carried over, and the sets that they need.
pub(super) struct Carrier<'a> {
    pub deck: &'a Deck,
    pub part: &'a Part,
    pub elements: &'a Elements<'a>,
    pub nodes: &'a Members<'a>,
    pub found: &'a mut Found,
    pub is_heat: bool,
    /// The steps of the physics, at least one.
    pub steps: Vec<Step>,
    /// Directions at nodes where they are turned, if they are known.
    pub axes: BTreeMap<u32, Option<[[f64; 3]; 3]>>,
    /// Forces and moments at reference points, by step and coupling.
    pub remote: BTreeMap<(usize, usize), [[f64; 3]; 2]>,
    /// The films of the first step.
    pub films_before: Vec<(f64, f64, BTreeSet<CellFace>)>,
}

/// Points that a condition acts on, with the share of a force that each gets.
type Target = Vec<(Point, f64)>;

impl<'a> Carrier<'a> {
    pub fn new(elements: &'a Elements, nodes: &'a Members, found: &'a mut Found) -> Self {
        let Elements { deck, part, .. } = *elements;
        let mut steps = deck.steps.clone();
        if steps.is_empty() {
            steps.push(Step::new("step_1".into()));
        }
        Self {
            deck,
            part,
            elements,
            nodes,
            found,
            is_heat: deck.is_heat(),
            steps,
            axes: BTreeMap::new(),
            remote: BTreeMap::new(),
            films_before: Vec::new(),
        }
    }

    /// Adds all supports and loads of the deck, with their sets.
    pub fn carry(mut self) -> Parsed<()> {
        self.physics()?;
        self.other_physics();
        self.turned_nodes()?;
        let conditions = &self.deck.conditions;
        let targets = conditions.iter().map(|condition| self.target(condition));
        let targets = targets.collect::<Parsed<Vec<_>>>()?;
        self.doubtful_targets(&targets);
        let points: Vec<Vec<Point>> =
            targets.iter().map(|target| target.iter().map(|(point, _)| *point).collect()).collect();
        let factors: Vec<Vec<f64>> = conditions
            .iter()
            .map(|c| (0..self.steps.len()).map(|s| self.factor(&c.when, s)).collect())
            .collect();

        let held = Held::new(&Rules {
            deck: self.deck,
            is_heat: self.is_heat,
            steps: &self.steps,
            points: &points,
            axes: &self.axes,
            factors: &factors,
        });
        self.held(&held);
        self.reference_nodes(&points, &held);
        self.nodal_loads(&targets, &factors);
        self.distributed_loads()?;
        self.temperatures()?;
        self.remote_loads();
        self.found.order_cases(self.steps.iter().map(|step| step.name.as_str()));
        self.grounded(&held)?;
        self.sort_sets();
        self.materials();
        self.found.deck.inertia_relief = self.deck.inertia_relief;
        self.found.deck.lost.extend(self.deck.lost.iter().cloned());
        Ok(())
    }

    /// Reports a loss, each sentence once.
    pub fn lose_once(&mut self, what: impl Into<String>) {
        let what = what.into();
        if !self.found.deck.lost.contains(&what) {
            self.found.lose(what);
        }
    }

    /// The factor of what acts at the end of step `s`; 1 where it is not known.
    pub fn factor(&mut self, when: &When, s: usize) -> f64 {
        let amplitude = when.amplitude.as_deref();
        // Times of one step stop at the end of the step in which the load or support stands.
        let own = when.step.map_or(s, |step| step.min(s));
        let found = factor((&self.steps, &self.deck.amplitudes), amplitude, [own, s]);
        let in_time = matches!(self.steps[s].procedure, Procedure::HeatInTime(_));
        match found {
            Ok(_) if in_time && amplitude.is_some() => {
                self.lose_once("amplitudes of heat in time: what has one acts in full");
                1.0
            }
            Ok(factor) => factor,
            Err(why) => {
                self.lose_once(format!("{why}: what has it acts in full"));
                1.0
            }
        }
    }

    /// The physics of the deck, and its steps if they are steps in time.
    fn physics(&mut self) -> Parsed<()> {
        if !self.is_heat {
            if self.deck.steps.iter().any(Step::is_heat) {
                self.lose_once("steps of heat in a deck of elasticity");
            }
            if !self.deck.initial.is_empty() && self.deck.temperatures.is_empty() {
                self.lose_once("*INITIAL CONDITIONS of temperatures in a deck of elasticity");
            }
            return Ok(());
        }

        if let Some((block, ..)) = self.deck.temperatures.first() {
            self.lose_of_other_physics(block);
        }
        self.found.deck.physics = DeckPhysics::Heat;
        let in_time = self.steps.iter().find_map(|step| match step.procedure {
            Procedure::HeatInTime(length) => Some((step.period, length)),
            _ => None,
        });
        let Some((end, step)) = in_time else { return Ok(()) };
        if self.steps.len() > 1 {
            self.lose_once("steps behind the first: heat in time is computed in one");
            self.steps.truncate(1);
        }
        let initial = self.initial()?;
        self.found.deck.in_time = Some(DeckSteps { end, step: step.min(end), initial });
        Ok(())
    }

    /// Reports as lost forces in a deck of heat, and heat in one of elasticity.
    fn other_physics(&mut self) {
        let deck = self.deck;
        for condition in &deck.conditions {
            let is_other = match condition.kind {
                ConditionKind::Held(first, ..) => first == HEAT && !self.is_heat,
                ConditionKind::Force(axis, _) => (axis == HEAT) != self.is_heat,
                ConditionKind::Moment(..) => self.is_heat,
                ConditionKind::HeldRotation => false,
            };
            if is_other {
                self.lose_of_other_physics(&condition.block);
            }
        }
    }

    /// The temperature at the beginning, which all nodes of a case have in common.
    pub fn initial(&mut self) -> Parsed<f64> {
        let mut temperatures = BTreeMap::<u32, f64>::new();
        for (block, value) in &self.deck.initial {
            let nodes = self.nodes.named(block)?;
            let nodes = nodes.into_iter().filter(|&node| self.part.is_used(node));
            temperatures.extend(nodes.map(|node| (node, *value)));
        }
        let first = temperatures.values().next().copied().unwrap_or(0.0);
        let differs = temperatures.values().any(|value| *value != first);
        if differs || (first != 0.0 && temperatures.len() < self.part.n_used()) {
            let what =
                "*INITIAL CONDITIONS of several temperatures: all nodes begin with the first";
            self.lose_once(what);
        }
        Ok(first)
    }

    /// The directions at nodes of *TRANSFORM.
    fn turned_nodes(&mut self) -> Parsed<()> {
        for (block, system) in &self.deck.systems {
            for node in self.nodes.named(block)? {
                self.axes.insert(node, system.axes(self.part.given_place(node)));
            }
        }
        Ok(())
    }

    fn target(&self, condition: &Condition) -> Parsed<Target> {
        let mut target = Target::new();
        let mut is_of_part = true;
        for item in &condition.block.items {
            let of_assembly = self.assembly_nodes(item);
            for tag in of_assembly {
                target.extend(self.references(|item| self.assembly_node(item) == Some(*tag)));
            }
            let has_more = matches!(item, Item::Set(key) if self.nodes.set(key).is_some());
            is_of_part &= of_assembly.is_empty() || has_more;
        }
        if !is_of_part {
            return Ok(target);
        }

        for node in self.nodes.named(&condition.block)? {
            let points = match self.part.is_used(node) {
                true => Vec::new(),
                false => self.references(|item| self.nodes.first(item) == Some(node)),
            };
            if points.is_empty() {
                let shares = self.part.shares(node).into_iter();
                target.extend(shares.map(|(node, share)| (Point::Node(node), share)));
            }
            target.extend(points);
        }
        Ok(target)
    }

    /// Reports as lost what acts on nothing, and forces that couplings share in unknown parts.
    fn doubtful_targets(&mut self, targets: &[Target]) {
        let deck = self.deck;
        for (condition, target) in deck.conditions.iter().zip(targets) {
            let (block, is_load) = (&condition.block, condition.kind.is_load());
            let (keyword, at) = (&block.keyword, deck.place(block.line));
            let couplings = target.iter().filter(|(point, _)| matches!(point, Point::Coupling(_)));
            if target.is_empty() {
                self.lose_once(format!("*{keyword} ({at}), which acts on no node of the part"));
            } else if is_load && couplings.clone().any(|(_, share)| *share < 1.0) {
                self.lose_once(format!(
                    "*{keyword} ({at}) at a node that several couplings follow: each gets an equal part"
                ));
            }
        }
    }

    /// The first node of the assembly that an item names by its number or its set.
    pub fn assembly_node(&self, item: &Item) -> Option<u64> {
        self.assembly_nodes(item).first().copied()
    }

    fn assembly_nodes<'i>(&'i self, item: &'i Item) -> &'i [u64] {
        let deck = self.deck;
        match item {
            Item::Tags(tag, _) if deck.instance.is_some() => {
                let is_there = deck.reference_nodes.contains_key(tag);
                if is_there { std::slice::from_ref(tag) } else { &[] }
            }
            Item::Set(key) => deck.reference_sets.get(key).map_or(&[], Vec::as_slice),
            _ => &[],
        }
    }

    /// Supports, and what is lost of them.
    fn held(&mut self, held: &Held) {
        if held.changes {
            let what = "what *BOUNDARY holds in some steps only: a case holds it in all load cases";
            self.lose_once(what);
        }
        for &c in &held.oblique {
            let at = self.deck.place(self.deck.conditions[c].block.line);
            self.lose_once(format!(
                "*BOUNDARY ({at}) in directions of *TRANSFORM that are none of x, y and z"
            ));
        }
        for (run, point) in held.fixed() {
            self.held_in(None, point, run, 0.0);
        }
        for (s, run, value, point) in held.displaced() {
            self.held_in(Some(s), point, run, value);
        }
    }

    fn held_in(&mut self, s: Option<usize>, point: Point, run: [usize; 2], value: f64) {
        let set = match point {
            Point::Rotation(_) => return,
            Point::Coupling(coupling) => self.set_of(coupling),
            // Those of springs and of what was left out.
            Point::Node(node) if !self.part.is_used(node) => return,
            Point::Node(node) => {
                let name = match self.is_heat {
                    true => format!("temperature_{value:?}"),
                    false => set_name(run, value),
                };
                let name = s.map_or(name.clone(), |s| self.in_step(s, name));
                self.found.sets.nodes.entry(name.clone()).or_default().push(node);
                name
            }
        };

        let is_in = |i: usize| (run[0]..=run[1]).contains(&i);
        let support = DeckSupport {
            set,
            fixed: if self.is_heat { [true; 3] } else { std::array::from_fn(is_in) },
            displacement: std::array::from_fn(
                |i| if is_in(i) && !self.is_heat { value } else { 0.0 },
            ),
            temperature: if self.is_heat { value } else { 0.0 },
            case: s.map(|s| self.steps[s].name.clone()),
        };
        // A set grows node by node.
        let supports = &mut self.found.deck.supports;
        if !supports.contains(&support) {
            supports.push(support);
        }
    }

    /// Reports as lost a load of another physics than the deck's.
    pub fn lose_of_other_physics(&mut self, block: &Block) {
        let (of, line) = (if self.is_heat { "heat" } else { "elasticity" }, block.line);
        let at = self.deck.place(line);
        self.lose_once(format!("*{} ({at}) in a deck of {of}", block.keyword));
    }

    fn materials(&mut self) {
        let sections = &self.deck.sections;
        let names: BTreeSet<_> = sections
            .iter()
            .map(|section| (&section.material[..], section.orientation.as_deref()))
            .collect();
        let materials = &self.deck.materials;
        self.found.deck.materials = match (names.len(), materials.as_slice()) {
            (0, []) => Vec::new(),
            (0, [only]) => vec![self.material((&only.name, None), None)],
            (0, [first, ..]) => vec![DeckMaterial {
                name: printable(&first.name),
                not_understood: Some("materials that no *SOLID SECTION gives to elements".into()),
                ..DeckMaterial::default()
            }],
            (1, _) => names.iter().map(|named| self.material(*named, None)).collect(),
            _ => sections.iter().map(|section| self.of_section(section)).collect(),
        };
    }

    fn of_section(&self, section: &Section) -> DeckMaterial {
        let Section { set, key, material, orientation } = section;
        let own = self.elements.names.elements(key);
        let own = own.map_or_else(|| printable(set), str::to_owned);
        self.material((material, orientation.as_deref()), Some(own))
    }

    /// A material by its name and orientation, of an element set.
    fn material(
        &self,
        (name, orientation): (&str, Option<&str>),
        set: Option<String>,
    ) -> DeckMaterial {
        let known = self.deck.materials.iter().find(|m| m.name.eq_ignore_ascii_case(name));
        let Some(material) = known else {
            let not_understood = Some("a material that no *MATERIAL defines".into());
            let name = printable(name);
            return DeckMaterial { name, set, not_understood, ..DeckMaterial::default() };
        };
        let mut material =
            DeckMaterial { name: printable(&material.name), set, ..material.clone() };
        // Expansions along axes need a law that has these.
        if material.thermal_expansion.len() > 1 && orientation.is_some() {
            material.law = material.law.or(material.along_axes());
        }
        if let (Some(law), Some(name)) = (&mut material.law, orientation) {
            match self.deck.orientations.get(name) {
                Some(Some(frame)) if self.deck.motion.rotation.is_none() => {
                    law.frame = Some(*frame)
                }
                _ => {
                    material.law = None;
                    material.not_understood =
                        Some(format!("constants along *ORIENTATION {}", printable(name)));
                }
            }
        } else if self.deck.motion.rotation.is_some() && material.law.take().is_some() {
            material.not_understood = Some("constants along axes of a turned *INSTANCE".into());
        }
        material
    }

    /// Each node once, increasing.
    fn sort_sets(&mut self) {
        for nodes in self.found.sets.nodes.values_mut() {
            nodes.sort_unstable();
            nodes.dedup();
        }
    }
}
