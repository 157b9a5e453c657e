//! Elements at loads and supports, which stay solid so that what is built can take them.

use std::cell::OnceCell;

use rayon::prelude::*;
use topopt_mesh::numbers::shown;
use topopt_mesh::selection::{Condition, Selector, Shape};
use topopt_mesh::surface::{area_vector, boundary_faces, face_coordinates};
use topopt_mesh::vector::length;
use topopt_mesh::{HexMesh, SetKind};

use crate::config::{Keep, KeepLoaded};
use crate::finding::Finding;
use crate::lookup::{Lookup, sorted};
use crate::nodal_loads::NodalLoad;
use crate::physics::Physics;
use crate::responses;

/// Elements that `design.keep_loaded` keeps solid, with notes and warnings.
#[derive(Debug, Clone, Default)]
pub struct Kept {
    /// Elements that stay solid for no other reason, sorted.
    pub elements: Vec<u32>,
    /// Notes to show before a run, one sentence each.
    pub notes: Vec<String>,
    /// Warnings about a large share of kept elements, one sentence each.
    pub warnings: Vec<String>,
    /// Depth of the nodes in parts of space that stay solid, `[n_nodes]`; none without such a part.
    pub depth: Option<Vec<f64>>,
}

/// Largest share of the part's surface that a support takes as a mount, such as a bore: a larger
/// one is a wall, and the design chooses where on it the part stands.
const MOUNT: f64 = 0.05;

/// Share of the part's volume above which a load acts on the part and not on a place of it.
const MOST: f64 = 0.5;

/// Share of the part's volume from which on layers at loads and supports are much of it.
const MUCH: f64 = 0.2;

/// Elements of the design that have a fixed density, sorted.
pub(crate) struct Passive<'a> {
    pub solid: &'a [u32],
    pub void: &'a [u32],
}

impl Kept {
    /// Selects elements to keep at loads, supports, springs and outputs, without `passive` ones.
    ///
    /// # Errors
    /// A finding if nothing is left to be designed.
    pub(crate) fn of<K: Physics<N>, const N: usize>(
        lookup: &Lookup,
        fixed: &[Vec<u32>; N],
        passive: &Passive,
    ) -> Result<Self, Finding> {
        // An analysis designs nothing.
        if lookup.config.design.keep_loaded == KeepLoaded::NOT_DESIGNED {
            return Ok(Self::default());
        }
        let loads = K::nodal_loads(lookup);
        let mut layers = Layers::new(lookup, passive);
        let mut is_kept = vec![false; loads.len()];
        if lookup.config.design.keep_loaded != KeepLoaded::Named(Keep::Free) {
            for (load, is_kept) in loads.iter().zip(&mut is_kept) {
                *is_kept = layers.keep_load(load);
            }
            layers.keep_supports(fixed);
            layers.keep_springs();
            layers.keep_outputs();
        }

        let mut kept = layers.kept()?;
        let designed = loads.iter().zip(is_kept).filter(|(_, is_kept)| !is_kept);
        let designed: Vec<_> = designed.map(|(load, _)| load).collect();
        kept.notes.extend(on_designed::<K, N>(lookup, &designed, passive));
        Ok(kept)
    }
}

/// The elements that are kept so far.
struct Layers<'a> {
    lookup: &'a Lookup<'a>,
    passive: &'a Passive<'a>,
    volumes: Vec<f64>,
    is_kept: Vec<bool>,
    /// The faces of the surface by their nodes, with their areas.
    surface: OnceCell<Vec<([u32; 4], f64)>>,
}

impl<'a> Layers<'a> {
    fn new(lookup: &'a Lookup<'a>, passive: &'a Passive<'a>) -> Self {
        let n = lookup.mesh.n_elements();
        let (volumes, is_kept) = (lookup.mesh.volumes(), vec![false; n]);
        Self { lookup, passive, volumes, is_kept, surface: OnceCell::new() }
    }

    /// Keeps the elements at a load, and says whether it does: neither sources of heat have a
    /// surface to arrive at, nor what acts on most of the part.
    fn keep_load<const N: usize>(&mut self, load: &NodalLoad<N>) -> bool {
        if load.is_within && N == 1 {
            return false;
        }
        let pushed = load.forces.iter().filter(|(_, force)| *force != [0.0; N]);
        let nodes: Vec<u32> = pushed.map(|(node, _)| *node).collect();
        match load.set.as_ref().filter(|_| load.is_within) {
            Some(set) => {
                let elements = self.lookup.sets.element_set(set).unwrap_or_default().to_vec();
                self.keep(elements)
            }
            None => self.keep_at(&nodes),
        }
    }

    /// Supports that move the part are loads; of others, mounts are kept.
    fn keep_supports<const N: usize>(&mut self, fixed: &[Vec<u32>; N]) {
        for support in &self.lookup.config.supports {
            let nodes = self.lookup.nodes(&support.set, support.kind, &mut Vec::new());
            let moves = support.moves();
            let is_held = |node: &u32| fixed.iter().all(|held| held.binary_search(node).is_ok());
            if moves || nodes.iter().all(is_held) && self.is_small(&nodes) {
                self.keep_at(&nodes);
            }
        }
    }

    /// Springs on nodes represent a workpiece, springs per area a foundation.
    fn keep_springs(&mut self) {
        for spring in &self.lookup.config.springs {
            let springs = self.lookup.stiffness(spring, &mut Vec::new());
            let nodes: Vec<u32> = springs.into_iter().map(|(node, _)| node).collect();
            if spring.stiffness_per_area.is_none() || self.is_small(&nodes) {
                self.keep_at(&nodes);
            }
        }
    }

    /// The outputs of mechanisms.
    fn keep_outputs(&mut self) {
        for keys in self.lookup.config.responses().filter(|keys| responses::kind(*keys).is_output) {
            let of_set = |set| self.lookup.nodes(set, keys.kind, &mut Vec::new());
            let nodes = keys.set.map_or_else(Vec::new, of_set);
            self.keep_at(&nodes);
        }
    }

    /// Keeps the elements that have one of `nodes`, and those within the thickness that is asked for.
    fn keep_at(&mut self, nodes: &[u32]) -> bool {
        let mesh = self.lookup.mesh;
        let is_at = flags(mesh, nodes);
        let has = |(e, nodes): (usize, &[u32])| {
            nodes.iter().any(|&node| is_at[node as usize]).then_some(e as u32)
        };
        let mut elements: Vec<u32> = mesh.par_elements().enumerate().filter_map(has).collect();
        if let KeepLoaded::Thickness(distance) = self.lookup.config.design.keep_loaded {
            let points = nodes.iter().map(|&n| mesh.coordinates()[n as usize]).collect();
            let near = Condition::Within(Shape::Near { points, distance });
            elements.extend(Selector::new(mesh, SetKind::Element).select(&near));
            elements = sorted(elements);
        }
        self.keep(elements)
    }

    /// Keeps `elements` if they are not most of the part, and says whether it does.
    fn keep(&mut self, elements: Vec<u32>) -> bool {
        let total: f64 = self.volumes.iter().sum();
        let volume: f64 = elements.iter().map(|&e| self.volumes[e as usize]).sum();
        let is_kept = volume <= MOST * total;
        if is_kept {
            elements.iter().for_each(|&e| self.is_kept[e as usize] = true);
        }
        is_kept
    }

    /// Whether the faces between `nodes` are as small a share of the surface as a mount.
    fn is_small(&self, nodes: &[u32]) -> bool {
        let mesh = self.lookup.mesh;
        let surface = self.surface.get_or_init(|| {
            let faces = boundary_faces(mesh).into_par_iter();
            let area = |face| length(area_vector(&face_coordinates(mesh, face)));
            faces.map(|face| (face.nodes(mesh), area(face))).collect()
        });
        let is_there = flags(mesh, nodes);
        let is_between = |corners: &[u32; 4]| corners.iter().all(|&node| is_there[node as usize]);
        let all: f64 = surface.iter().map(|(_, area)| area).sum();
        let between = surface.iter().filter(|(corners, _)| is_between(corners));
        between.map(|(_, area)| area).sum::<f64>() <= MOUNT * all
    }

    /// Returns the kept elements, with their share of the part in a note.
    fn kept(mut self) -> Result<Kept, Finding> {
        let Passive { solid, void } = self.passive;
        solid.iter().chain(*void).for_each(|&e| self.is_kept[e as usize] = false);
        let elements: Vec<u32> =
            (0..).zip(&self.is_kept).filter(|(_, kept)| **kept).map(|(e, _)| e).collect();
        if elements.is_empty() {
            return Ok(Kept::default());
        }
        if elements.len() + solid.len() + void.len() == self.is_kept.len() {
            let message = "every element is solid or void, with those at loads and supports, which \
                           `design.keep_loaded` keeps: nothing remains to be designed";
            let remedy = "use a finer mesh, or give `design.keep_loaded = \"free\"`";
            return Err(Finding::new(message).remedy(remedy));
        }

        let total: f64 = self.volumes.iter().sum();
        let share = elements.iter().map(|&e| self.volumes[e as usize]).sum::<f64>() / total;
        let (n, percent) = (elements.len(), shown((1e3 * share).round() / 10.0));
        let are = if n == 1 { "element is" } else { "elements are" };
        let note = format!(
            "{n} {are} kept solid at loads and supports: {percent} % of the part, besides the design \
             volume"
        );
        let much = format!(
            "the elements that are kept solid at loads and supports are {percent} % of the part; a \
             finer mesh makes the layer thinner, and `design.keep_loaded = \"free\"` leaves it out"
        );
        let warnings = (share > MUCH).then_some(much).into_iter().collect();
        Ok(Kept { elements, notes: vec![note], warnings, depth: None })
    }
}

fn flags(mesh: &HexMesh, nodes: &[u32]) -> Vec<bool> {
    let mut flags = vec![false; mesh.n_nodes()];
    nodes.iter().for_each(|&node| flags[node as usize] = true);
    flags
}

/// Loads that stand on elements which may become empty.
fn on_designed<K: Physics<N>, const N: usize>(
    lookup: &Lookup,
    loads: &[&NodalLoad<N>],
    passive: &Passive,
) -> Vec<String> {
    let is_solid = nodes_of(lookup.mesh, passive.solid);
    let remedy = |load: &NodalLoad<N>| match lookup.config.design.keep_loaded {
        KeepLoaded::Named(Keep::Free) => "`design.keep_loaded = \"solid\"` keeps them",
        _ if load.is_within && N == 1 => {
            "`design.solid` keeps those of a set, and from `design.void_stiffness = 1e-4` on void \
             conducts what they get"
        }
        _ => "`design.solid` keeps those of a set",
    };
    let free = |load: &&NodalLoad<N>| {
        let share = load.share(|node| !is_solid[node as usize]);
        (share > 0.0).then(|| {
            let acting = acting::<K, N>(load, share);
            format!("{acting} on elements that may become empty; {}", remedy(load))
        })
    };
    loads.iter().filter_map(free).collect()
}

/// A share of a load in words.
fn acting<K: Physics<N>, const N: usize>(load: &NodalLoad<N>, share: f64) -> String {
    let percent = shown((1e3 * share).round() / 10.0);
    let (loads, place, act) = (K::NAMES.loads, load.place(), K::NAMES.verb("act"));
    format!("load case `{}`: {percent} % of the {loads} of {place} {act}", load.case)
}

/// Whether a node is one of `elements`, `[n_nodes]`.
fn nodes_of(mesh: &HexMesh, elements: &[u32]) -> Vec<bool> {
    let mut is_there = vec![false; mesh.n_nodes()];
    let nodes = elements.iter().flat_map(|&e| mesh.element(e as usize));
    nodes.for_each(|&node| is_there[node as usize] = true);
    is_there
}
