//! Loads on faces and elements, step by step: what acts on a face adds up within a step, and
//! replaces what acted there before it (CalculiX, *DLOAD); a film replaces another one at once.

use std::collections::{BTreeMap, BTreeSet};

use topopt_mesh::vector::{dot, length};

use super::carried::Carrier;
use super::given::{Distributed, DistributedKind, OnFaces};
use super::nodal::ascending;
use super::sets::Item;
use crate::deck::{DeckFilm, SetLoad};
use crate::file_sets::CellFace;
use crate::quote::printable;
use crate::read_error::Parsed;

/// A load with what of it still acts.
struct Acting<'a> {
    load: &'a Distributed,
    /// Number of the load by its order in the deck.
    number: usize,
    faces: BTreeSet<CellFace>,
    elements: BTreeSet<u32>,
    /// The set of all its faces, unless some were taken by a later load.
    surface: Option<String>,
}

/// Sums on faces and in elements.
#[derive(Default)]
struct Sums {
    pressures: BTreeMap<CellFace, f64>,
    fluxes: BTreeMap<CellFace, f64>,
    sources: BTreeMap<u32, f64>,
}

impl Acting<'_> {
    /// Gives way to `later`, which acts in another step.
    fn give_way(&mut self, later: &Self) {
        if !is_same_kind(self.load.kind, later.load.kind) {
            return;
        }
        if !self.faces.is_disjoint(&later.faces) {
            self.faces.retain(|face| !later.faces.contains(face));
            self.surface = None;
        }
        self.elements.retain(|element| !later.elements.contains(element));
    }

    /// Whether nothing of it is left.
    fn is_over(&self) -> bool {
        self.faces.is_empty() && self.elements.is_empty()
    }

    fn family(&self) -> &'static str {
        match self.load.kind {
            DistributedKind::Face(_, OnFaces::Film(..))
            | DistributedKind::Surface(OnFaces::Film(..)) => "FILM",
            kind if kind.is_heat() => "DFLUX",
            _ => "DLOAD",
        }
    }
}

/// Adds what acts on `elements`: what acts alike on others is one load on all of them.
fn join(
    all: &mut Vec<(DistributedKind, BTreeSet<u32>)>,
    kind: DistributedKind,
    elements: &BTreeSet<u32>,
) {
    let alike = all.iter_mut().find(|(other, on)| *other == kind && on.is_disjoint(elements));
    match alike {
        Some((_, on)) => on.extend(elements),
        None => all.push((kind, elements.clone())),
    }
}

/// Faces or elements by the value on them, if that is not 0.
fn by_ascending_value<T>(values: BTreeMap<T, f64>) -> impl Iterator<Item = (f64, Vec<T>)> {
    let mut groups = BTreeMap::<i64, (f64, Vec<T>)>::new();
    for (member, value) in values.into_iter().filter(|(_, value)| *value != 0.0) {
        groups.entry(ascending(value)).or_insert_with(|| (value, Vec::new())).1.push(member);
    }
    groups.into_values()
}

/// Whether a load takes the place of another one; gravity and rotation do so of one direction.
fn is_same_kind(a: DistributedKind, b: DistributedKind) -> bool {
    use DistributedKind::{Centrifugal, Face, Gravity, Source, Surface};
    let along = |a: [f64; 3], b: [f64; 3]| {
        (dot(a, b) - length(a) * length(b)).abs() <= 1e-12 * length(a) * length(b)
    };
    match (a, b) {
        (Face(_, a) | Surface(a), Face(_, b) | Surface(b)) => {
            std::mem::discriminant(&a) == std::mem::discriminant(&b)
        }
        (Gravity(a), Gravity(b)) => along(a, b),
        (Centrifugal(_, at, a), Centrifugal(_, other, b)) => at == other && along(a, b),
        (Source(_), Source(_)) => true,
        _ => false,
    }
}

impl Carrier<'_> {
    /// Adds loads on faces and elements, and face sets for them.
    pub fn distributed_loads(&mut self) -> Parsed<()> {
        let deck = self.deck;
        let mut acting: Vec<Acting> = Vec::new();
        for s in 0..self.steps.len() {
            let released = self.steps[s].released.clone();
            acting.retain(|acting| !released.contains(&acting.family()));

            let is_now = |load: &Distributed| match load.when.step {
                None => s == 0,
                Some(step) => step == s,
            };
            for (number, load) in deck.distributed.iter().enumerate().filter(|(_, l)| is_now(l)) {
                let Some(new) = self.acting(number, load)? else { continue };
                let is_film = new.family() == "FILM";
                let others = acting.iter_mut();
                others
                    .filter(|other| is_film || other.load.when.step != load.when.step)
                    .for_each(|other| other.give_way(&new));
                acting.retain(|other| !other.is_over());
                acting.push(new);
            }
            self.distributed_of_step(&acting, s);
        }
        Ok(())
    }

    /// Finds what a load acts on; none if that is nothing, or the load is of another physics.
    fn acting<'b>(&mut self, number: usize, load: &'b Distributed) -> Parsed<Option<Acting<'b>>> {
        let name = &load.block.name;
        if load.kind.is_heat() != self.is_heat {
            self.lose_of_other_physics(&load.block);
            return Ok(None);
        }
        let mut acting = Acting {
            load,
            number,
            faces: BTreeSet::new(),
            elements: BTreeSet::new(),
            surface: None,
        };
        match load.kind {
            DistributedKind::Face(face, _) => {
                acting.faces.extend(self.elements.faces_of(&load.block, face)?);
            }
            DistributedKind::Surface(_) => {
                let set = match load.block.items.first() {
                    Some(Item::Set(key)) => self.elements.names.faces(key),
                    _ => None,
                };
                let set = set.map_or_else(|| printable(name), str::to_owned);
                acting.faces.extend(self.found.sets.faces.get(&set).into_iter().flatten());
                acting.surface = Some(set);
            }
            _ => acting.elements.extend(self.elements.solids_of(&load.block)?),
        }

        if acting.is_over() {
            let what = match load.kind {
                DistributedKind::Surface(_) => {
                    format!("a load on the surface `{name}`, which has no faces of solids")
                }
                _ => format!(
                    "a line of *{} ({}), whose elements are no solids",
                    load.block.keyword,
                    self.deck.place(load.block.line)
                ),
            };
            self.lose_once(what);
            return Ok(None);
        }
        Ok(Some(acting))
    }

    fn distributed_of_step(&mut self, acting: &[Acting], s: usize) {
        let mut sums = Sums::default();
        let mut films = Vec::new();
        let mut on_whole = Vec::<(DistributedKind, BTreeSet<u32>)>::new();
        for acting in acting {
            let factor = self.factor(&acting.load.when, s);
            match acting.load.kind {
                DistributedKind::Face(_, OnFaces::Film(film, ambient))
                | DistributedKind::Surface(OnFaces::Film(film, ambient)) => {
                    films.push((film, factor * ambient, acting));
                }
                DistributedKind::Face(_, on) | DistributedKind::Surface(on) => {
                    self.on_faces(on, acting, (factor, s), &mut sums);
                }
                DistributedKind::Source(source) => {
                    for element in &acting.elements {
                        *sums.sources.entry(*element).or_default() += factor * source;
                    }
                }
                kind => join(&mut on_whole, kind.times(factor), &acting.elements),
            }
        }

        for (kind, elements) in on_whole {
            self.on_whole(kind, s, elements.len());
        }
        for (pressure, set) in self.sets_by_value("dload", sums.pressures, s) {
            self.load(s, SetLoad::Pressure { set, pressure });
        }
        for (heat_flux, set) in self.sets_by_value("dflux", sums.fluxes, s) {
            self.load(s, SetLoad::HeatFlux { set, heat_flux });
        }
        self.sources(sums.sources, s);
        self.films(&films, s);
    }

    /// A load on all faces of a surface, or a part of the sums.
    fn on_faces(
        &mut self,
        on: OnFaces,
        acting: &Acting,
        (factor, s): (f64, usize),
        sums: &mut Sums,
    ) {
        let add = |sums: &mut BTreeMap<CellFace, f64>, value: f64| {
            for face in &acting.faces {
                *sums.entry(*face).or_default() += factor * value;
            }
        };

        let load = match (on, acting.surface.clone()) {
            (OnFaces::Pressure(value), None) => return add(&mut sums.pressures, value),
            (OnFaces::Flux(value), None) => return add(&mut sums.fluxes, value),
            (OnFaces::Pressure(value), Some(set)) => {
                SetLoad::Pressure { set, pressure: factor * value }
            }
            (OnFaces::Flux(value), Some(set)) => {
                SetLoad::HeatFlux { set, heat_flux: factor * value }
            }
            (OnFaces::Traction(traction), _) => {
                let set = self.face_set(acting, s);
                SetLoad::Traction { set, traction: traction.map(|t| factor * t) }
            }
            // It belongs to no step.
            (OnFaces::Film(..), _) => return,
        };
        self.load(s, load);
    }

    /// Face sets by the value on each face.
    fn sets_by_value(
        &mut self,
        word: &str,
        values: BTreeMap<CellFace, f64>,
        s: usize,
    ) -> Vec<(f64, String)> {
        let mut sets = Vec::new();
        for (value, faces) in by_ascending_value(values) {
            let set = self.in_step(s, format!("{word}_{value:?}"));
            self.found.sets.faces.insert(set.clone(), faces);
            sets.push((value, set));
        }
        sets
    }

    /// The set of the faces on which a load still acts.
    fn face_set(&mut self, acting: &Acting, s: usize) -> String {
        if let Some(surface) = &acting.surface {
            return surface.clone();
        }
        let word = acting.load.block.keyword.to_lowercase();
        let set = self.in_step(s, format!("{word}_{}", acting.number + 1));
        self.found.sets.faces.insert(set.clone(), acting.faces.iter().copied().collect());
        set
    }

    /// Gravity and rotation, which act on all of a case's part.
    fn on_whole(&mut self, kind: DistributedKind, s: usize, n_elements: usize) {
        let (what, load) = match kind {
            DistributedKind::Gravity(acceleration) => {
                ("gravity", SetLoad::Gravity { acceleration })
            }
            DistributedKind::Centrifugal(square, center, axis) => {
                let angular_velocity = axis.map(|d| d * square.max(0.0).sqrt());
                ("rotation", SetLoad::Centrifugal { center, angular_velocity })
            }
            _ => return,
        };
        if n_elements != self.deck.solids.len() {
            let what = format!("the {what} of some elements only: it acts on the whole part");
            self.lose_once(what);
        }
        self.load(s, load);
    }

    fn sources(&mut self, sources: BTreeMap<u32, f64>, s: usize) {
        for (heat_source, elements) in by_ascending_value(sources) {
            let is_whole = elements.len() == self.deck.solids.len();
            let set = (!is_whole).then(|| self.in_step(s, format!("dflux_bf_{heat_source:?}")));
            if let Some(set) = &set {
                self.found.sets.elements.insert(set.clone(), elements);
            }
            self.load(s, SetLoad::HeatSource { set, heat_source });
        }
    }

    /// Films, which all load cases of a case have in common.
    fn films(&mut self, films: &[(f64, f64, &Acting)], s: usize) {
        let values = films.iter().map(|(film, ambient, on)| (*film, *ambient, on.faces.clone()));
        let values: Vec<_> = values.collect();
        if s > 0 {
            if self.films_before != values {
                self.lose_once("*FILM of later steps: all load cases have that of the first");
            }
            return;
        }
        self.films_before = values;
        for &(film_coefficient, ambient, acting) in films {
            let set = self.face_set(acting, s);
            self.found.deck.films.push(DeckFilm { set, film_coefficient, ambient });
        }
    }
}
