//! What a deck says of supports, loads and materials, by sets of the mesh.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::deck::Deck;
use super::elements::Elements;
use super::given::{Condition, ConditionKind, Coupling, Distributed, DistributedKind};
use super::held::{Held, Point, set_name};
use super::sets::{Item, Members};
use crate::deck::{self, DeckLoad, DeckMaterial, DeckSupport, SetLoad};
use crate::part::{FileSets, Part};
use crate::quote::printable;
use crate::read_error::Parsed;

/// Different forces of one direction that get a node set each.
const MOST_FORCES: usize = 32;

/// What is carried over, and the sets that it needs.
pub(super) struct Carrier<'a> {
    pub deck: &'a Deck,
    pub part: &'a Part,
    pub elements: &'a Elements<'a>,
    pub nodes: &'a Members<'a>,
    pub sets: &'a mut FileSets,
    pub carried: deck::Deck,
    /// Forces and moments at reference points, by load case and coupling.
    pub remote: BTreeMap<(String, usize), [[f64; 3]; 2]>,
}

/// What a condition acts on.
enum Target {
    Nodes(Vec<u32>),
    /// The reference node of a coupling, or of none.
    Reference(Option<usize>),
}

impl Target {
    fn points(&self) -> Vec<Point> {
        match self {
            Self::Nodes(nodes) => nodes.iter().copied().map(Point::Node).collect(),
            Self::Reference(coupling) => coupling.iter().copied().map(Point::Coupling).collect(),
        }
    }
}

impl Carrier<'_> {
    /// Adds the sets of all supports and loads, and tells what these are.
    pub fn carry(mut self) -> Parsed<deck::Deck> {
        let crowded = crowded_directions(&self.deck.conditions);
        for (axis, count) in &crowded {
            self.lose(format!(
                "{count} different forces in direction {}: their nodes form one set, `cload_{}`",
                axis + 1,
                axis + 1
            ));
        }
        let conditions = &self.deck.conditions;
        let targets = conditions.iter().map(|condition| self.target(condition));
        let targets = targets.collect::<Parsed<Vec<_>>>()?;
        let points: Vec<_> = targets.iter().map(Target::points).collect();
        let held = Held::new(self.deck, &points);
        if held.changes {
            self.lose(
                "what *BOUNDARY holds in some steps only: a case holds it in all load cases".into(),
            );
        }
        for (c, target) in targets.into_iter().enumerate() {
            match target {
                Target::Nodes(nodes) => self.on_nodes(c, nodes, &crowded, &held),
                Target::Reference(Some(coupling)) => self.on_reference(c, coupling, &held),
                Target::Reference(None) => self.lose(format!(
                    "`{}`: its node belongs to no solid element and no coupling",
                    conditions[c].block.name
                )),
            }
        }
        self.sort_sets();

        for load in &self.deck.distributed {
            self.distributed(load)?;
        }
        self.remote_loads();
        self.materials();
        self.carried.lost.extend(self.deck.lost.iter().cloned());
        Ok(self.carried)
    }

    fn lose(&mut self, what: String) {
        self.carried.lost.push(what);
    }

    fn target(&self, condition: &Condition) -> Parsed<Target> {
        let items = &condition.block.items;
        if let Some(point) = items.first().and_then(|item| self.assembly_node(item)) {
            let has_it =
                |coupling: &Coupling| self.assembly_node(&coupling.reference) == Some(point);
            return Ok(Target::Reference(self.deck.couplings.iter().position(has_it)));
        }

        let mut nodes = Vec::new();
        self.nodes.add(&mut nodes, &condition.block)?;
        if nodes.is_empty() || nodes.iter().any(|&node| self.part.is_used(node)) {
            return Ok(Target::Nodes(nodes));
        }
        let has_it = |coupling: &Coupling| self.nodes.first(&coupling.reference) == Some(nodes[0]);
        let found = self.deck.couplings.iter().position(has_it);
        // A node of nothing stays a set, which is then empty.
        Ok(found.map_or(Target::Nodes(nodes), |coupling| Target::Reference(Some(coupling))))
    }

    /// A node of the assembly by its number or its set.
    fn assembly_node(&self, item: &Item) -> Option<u64> {
        match item {
            Item::Tags(tag, _) if self.deck.instance.is_some() => {
                self.deck.reference_nodes.contains_key(tag).then_some(*tag)
            }
            Item::Set(key) => self.deck.reference_sets.get(key)?.first().copied(),
            _ => None,
        }
    }

    fn on_nodes(
        &mut self,
        c: usize,
        nodes: Vec<u32>,
        crowded: &BTreeMap<usize, usize>,
        held: &Held,
    ) {
        let condition = &self.deck.conditions[c];
        let mut name = condition.block.name.clone();
        let case = self.case(condition);
        // A force in several steps is a set in each.
        if self.deck.cases.len() > 1 {
            name = format!("{case}_{name}");
        }

        match condition.kind {
            ConditionKind::Force(axis, _) if crowded.contains_key(&axis) => {
                name = format!("cload_{}", axis + 1);
                self.sets.as_listed.insert(name.clone());
            }
            ConditionKind::Force(axis, value) => {
                let mut force = [0.0; 3];
                force[axis] = value;
                self.sets.as_listed.insert(name.clone());
                self.load(case, SetLoad::Force { set: name.clone(), force });
            }
            ConditionKind::Moment(..) => {
                return self.lose(format!("`{name}`: nodes of solid elements take no moments"));
            }
            ConditionKind::Held(..) => {
                return nodes.into_iter().for_each(|node| self.hold(c, Point::Node(node), held));
            }
        }

        self.sets.nodes.entry(name).or_default().extend(nodes);
    }

    /// A condition at the reference node of a coupling.
    fn on_reference(&mut self, c: usize, coupling: usize, held: &Held) {
        let condition = &self.deck.conditions[c];
        let Coupling { name, is_rigid, .. } = &self.deck.couplings[coupling];
        let (set, is_rigid) = (printable(name), *is_rigid);

        match condition.kind {
            ConditionKind::Force(axis, value) => {
                let at = self.remote.entry((self.case(condition), coupling)).or_default();
                at[0][axis] += value;
            }
            ConditionKind::Moment(axis, value) => {
                let at = self.remote.entry((self.case(condition), coupling)).or_default();
                at[1][axis] += value;
            }
            ConditionKind::Held(..) => {
                if !is_rigid {
                    self.lose(format!(
                        "the distributing coupling of `{set}` is held at its reference node: all \
                         nodes of the set are held in its place"
                    ));
                }
                self.hold(c, Point::Coupling(coupling), held);
            }
        }
    }

    /// What condition `c` holds at `point`, and what it displaces in each step.
    fn hold(&mut self, c: usize, point: Point, held: &Held) {
        let condition = &self.deck.conditions[c];
        let ConditionKind::Held(_, _, value) = condition.kind else { return };
        if value == 0.0 {
            for run in held.fixed(condition, point) {
                self.held_in(None, point, run, value);
            }
        } else {
            for (step, run) in held.displaced(c, point) {
                self.held_in(self.deck.cases.get(step), point, run, value);
            }
        }
    }

    fn held_in(&mut self, case: Option<&String>, point: Point, run: [usize; 2], value: f64) {
        let set = match point {
            Point::Coupling(coupling) => printable(&self.deck.couplings[coupling].name),
            Point::Node(node) => {
                let name = set_name(run, value);
                let several = case.filter(|_| self.deck.cases.len() > 1);
                let name = several.map_or(name.clone(), |case| format!("{case}_{name}"));
                self.sets.nodes.entry(name.clone()).or_default().push(node);
                name
            }
        };
        let fixed = std::array::from_fn(|i| (run[0]..=run[1]).contains(&i));
        let displacement = fixed.map(|fixed| if fixed { value } else { 0.0 });
        self.support(DeckSupport {
            set,
            fixed,
            displacement,
            case: case.cloned(),
            ..Default::default()
        });
    }

    fn distributed(&mut self, load: &Distributed) -> Parsed<()> {
        let Distributed { block, kind, case } = load;
        let at = block.name.clone();

        let carried = match *kind {
            DistributedKind::Pressure(_) | DistributedKind::Traction(_)
                if !self.sets.faces.contains_key(&printable(&at)) =>
            {
                self.lose(format!("a load on the surface `{at}`, which has no faces of solids"));
                return Ok(());
            }
            DistributedKind::Pressure(pressure) => {
                SetLoad::Pressure { set: printable(&at), pressure }
            }
            DistributedKind::Traction(traction) => {
                SetLoad::Traction { set: printable(&at), traction }
            }
            DistributedKind::Face(number, pressure) => {
                let several = self.deck.cases.len() > 1;
                let prefix = if several { format!("{case}_") } else { String::new() };
                let set = format!("{prefix}dload_{pressure:?}");
                let faces = self.elements.faces_of(block, number)?;
                let known = self.sets.faces.entry(set.clone()).or_default();
                known.extend(faces);
                known.sort_unstable();
                known.dedup();
                SetLoad::Pressure { set, pressure }
            }
            DistributedKind::Gravity(acceleration) => {
                self.lose_unless_whole(block, "gravity")?;
                SetLoad::Gravity { acceleration }
            }
            DistributedKind::Centrifugal(square, center, axis) => {
                self.lose_unless_whole(block, "rotation")?;
                let speed = square.max(0.0).sqrt();
                SetLoad::Centrifugal { center, angular_velocity: axis.map(|d| d * speed) }
            }
        };

        self.load(case.clone(), carried);
        Ok(())
    }

    fn lose_unless_whole(&mut self, block: &super::sets::Block, what: &str) -> Parsed<()> {
        if !block.items.is_empty() && !self.elements.are_all(block)? {
            self.lose(format!("the {what} of some elements only: it acts on the whole part"));
        }
        Ok(())
    }

    fn remote_loads(&mut self) {
        for ((case, coupling), [force, moment]) in std::mem::take(&mut self.remote) {
            let Coupling { reference, name, .. } = &self.deck.couplings[coupling];
            let set = printable(name);
            let in_assembly = self.assembly_node(reference);
            let at = match in_assembly {
                Some(tag) => self.deck.reference_nodes.get(&tag).copied(),
                None => self.nodes.first(reference).map(|node| self.part.given_place(node)),
            };
            let Some(at) = at else { continue };
            if !self.sets.faces.contains_key(&set) && !self.sets.nodes.contains_key(&set) {
                self.lose(format!("a load on the coupling of `{set}`, which is no set"));
                continue;
            }
            self.load(case, SetLoad::Remote { set, at, force, moment });
        }
    }

    fn materials(&mut self) {
        let names: BTreeSet<&str> = self.deck.sections.iter().map(|(.., name)| &name[..]).collect();
        let of = |name: &str, set: Option<String>| {
            let material =
                self.deck.materials.iter().find(|m| m.name.eq_ignore_ascii_case(name))?;
            Some(DeckMaterial {
                name: printable(&material.name),
                set,
                youngs_modulus: material.elastic.map(|[modulus, _]| modulus),
                poissons_ratio: material.elastic.map(|[_, ratio]| ratio),
                mass_density: material.density,
                ..Default::default()
            })
        };
        let materials: Vec<_> = match (names.len(), self.deck.materials.as_slice()) {
            (0, [only]) => of(&only.name, None).into_iter().collect(),
            (1, _) => names.iter().filter_map(|name| of(name, None)).collect(),
            _ => {
                let sections = self.deck.sections.iter();
                sections.filter_map(|(set, _, name)| of(name, Some(printable(set)))).collect()
            }
        };
        self.carried.materials = materials;
    }

    fn case(&self, condition: &Condition) -> String {
        let first = || self.deck.cases.first().cloned();
        condition.case.clone().or_else(first).unwrap_or_else(|| "step_1".into())
    }

    fn load(&mut self, case: String, load: SetLoad) {
        let load = DeckLoad { case, load };
        if !self.carried.loads.contains(&load) {
            self.carried.loads.push(load);
        }
    }

    fn support(&mut self, support: DeckSupport) {
        if !self.carried.supports.contains(&support) {
            self.carried.supports.push(support);
        }
    }

    /// Each node once, increasing.
    fn sort_sets(&mut self) {
        for nodes in self.sets.nodes.values_mut() {
            nodes.sort_unstable();
            nodes.dedup();
        }
    }
}

/// Directions with too many different forces for a set each, and how many there are.
fn crowded_directions(conditions: &[Condition]) -> BTreeMap<usize, usize> {
    let mut names = BTreeMap::<usize, HashSet<&str>>::new();
    for condition in conditions {
        if let ConditionKind::Force(axis, _) = condition.kind {
            names.entry(axis).or_default().insert(&condition.block.name);
        }
    }
    let counts = names.into_iter().map(|(axis, names)| (axis, names.len()));
    counts.filter(|(_, count)| *count > MOST_FORCES).collect()
}
