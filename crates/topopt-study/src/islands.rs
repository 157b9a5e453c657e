//! Islands of a crisp design: pieces that carry nothing, and whose material goes to members.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use topopt_case::model::Model;
use topopt_case::physics::Physics;
use topopt_case::pieces::Pieces;
use topopt_mesh::Components;
use topopt_mesh::numbers::shown;

use crate::connection::{is_connected_by_void, threshold};

/// Strain energy of a piece's volume, as a share of that of all the solid's, below which a piece
/// that hangs on another by an edge or a node carries nothing. One beside a member has 1e-6 or
/// less, and a rod that turns about such hinges 1e-2.
const IDLE: f64 = 1e-4;

/// Times that islands are looked for, at most.
const MOST_PASSES: usize = 8;

/// A design without its islands.
pub(crate) struct Cleaned {
    /// Density in the order of the problem, `[n_elements]`.
    pub density: Vec<f64>,
    /// Pieces that are left out.
    pub islands: Islands,
}

/// Islands that the last design leaves out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Islands {
    /// Number of pieces.
    pub pieces: usize,
    /// Material that they took, as a share of all.
    pub dropped: f64,
    /// Material that the surface of the others has got for it, as a share of all.
    pub given_back: f64,
}

/// A piece of the solid whose elements are joined by faces.
#[derive(Default)]
struct Piece {
    volume: f64,
    energy: f64,
    /// Whether it has passive elements, or a load acts on one of its nodes.
    is_asked_for: bool,
    /// Number of the piece among those joined by nodes.
    joined: usize,
}

impl Cleaned {
    /// Empties the islands of a design of these densities and strain energies, `[n_elements]` in
    /// the order of the problem; none where it has no island. Those of several materials stay:
    /// what is given back would make an element of another.
    pub fn of<K: Physics<N>, const N: usize>(
        model: &Model<K, N>,
        density: Vec<f64>,
        energy: &[f64],
    ) -> Option<Self> {
        let is_of_several = !model.space.candidates().is_empty();
        if is_of_several || is_connected_by_void(model) || model.timeline.is_some() {
            return None;
        }
        let mut cleaned = Self { density, islands: Islands::default() };
        // What is given back raises the level, at which further pieces may come off.
        for _ in 0..MOST_PASSES {
            let is_clean = !cleaned.pass(model, energy);
            if is_clean {
                break;
            }
        }
        (cleaned.islands.pieces > 0).then_some(cleaned)
    }

    /// Empties the islands of the density as it is, and returns whether there were any.
    fn pass<K: Physics<N>, const N: usize>(&mut self, model: &Model<K, N>, energy: &[f64]) -> bool {
        let mesh = model.problem.mesh();
        let level = threshold(&self.density, &model.space.volumes);
        let is_solid: Vec<bool> = self.density.iter().map(|density| *density >= level).collect();
        let root_of = Components::roots_by_faces(mesh, |e| is_solid[e as usize]);
        let islands = islands(model, &is_solid, &root_of, energy);
        if islands.is_empty() {
            return false;
        }

        // Grey elements around an island go with it, unless they touch other material.
        let is_island = |e: usize| is_solid[e] && islands.binary_search(&root_of[e]).is_ok();
        let mut nodes = vec![[false; 2]; mesh.n_nodes()];
        for (e, corners) in mesh.elements().enumerate().filter(|(e, _)| is_solid[*e]) {
            corners.iter().for_each(|&n| nodes[n as usize][usize::from(is_island(e))] = true);
        }
        let goes = |(e, corners): (usize, &[u32])| {
            let touches = |what: usize| corners.iter().any(|&n| nodes[n as usize][what]);
            is_island(e) || !is_solid[e] && touches(1) && !touches(0)
        };
        let gone: Vec<bool> = mesh.elements().enumerate().map(goes).collect();
        self.islands.pieces += islands.len();
        self.empty(model, level, &gone);
        true
    }

    /// Empties the elements that are `gone`, and gives their material to those others above the
    /// level that are not full, in proportion to what they lack.
    fn empty<K: Physics<N>, const N: usize>(
        &mut self,
        model: &Model<K, N>,
        level: f64,
        gone: &[bool],
    ) {
        let Self { density, islands } = self;
        let (volumes, least) = (model.space.design_volumes(), model.space.density_min);
        let material: f64 = density.iter().zip(&volumes).map(|(density, v)| density * v).sum();
        let (mut dropped, mut lacking) = (0.0, 0.0);
        for ((density, volume), gone) in density.iter_mut().zip(&volumes).zip(gone) {
            if *gone && *volume > 0.0 {
                dropped += (*density - least) * volume;
                *density = least;
            } else if *density >= level {
                lacking += (1.0 - *density) * volume;
            }
        }

        let given = dropped.min(lacking);
        let kept = if lacking > 0.0 { 1.0 - given / lacking } else { 1.0 };
        for (density, volume) in density.iter_mut().zip(&volumes) {
            if *density >= level && *volume > 0.0 {
                *density = 1.0 - (1.0 - *density) * kept;
            }
        }
        islands.dropped += dropped / material;
        islands.given_back += given / material;
    }
}

impl Islands {
    /// A sentence about them.
    pub fn said(&self) -> String {
        let percent = |share: f64| shown((1e4 * share).round() / 1e2);
        let [dropped, given_back] = [self.dropped, self.given_back].map(percent);
        let pieces = match self.pieces {
            1 => "1 piece that carries nothing is".to_owned(),
            n => format!("{n} pieces that carry nothing are"),
        };
        format!(
            "{pieces} left out of the last design, with {dropped} % of its material; {given_back} % went \
             to the surface of the others"
        )
    }
}

/// Roots of the islands among the pieces of `root_of`, increasing.
fn islands<K: Physics<N>, const N: usize>(
    model: &Model<K, N>,
    is_solid: &[bool],
    root_of: &[u32],
    energy: &[f64],
) -> Vec<u32> {
    let mesh = model.problem.mesh();
    let joined = Pieces::of(mesh, is_solid);
    let (held, loaded) = (joined.held(&model.problem), joined.loaded(&model.problem));
    let acts = has_load(model);
    let mut pieces = BTreeMap::<u32, Piece>::new();
    for (e, corners) in mesh.elements().enumerate().filter(|(e, _)| is_solid[*e]) {
        let piece = pieces.entry(root_of[e]).or_default();
        piece.volume += model.space.volumes[e];
        piece.energy += energy[e];
        piece.is_asked_for |= corners.iter().any(|&n| acts[n as usize]);
        piece.joined = joined.of_node[corners[0] as usize] as usize;
    }
    for e in &model.space.solid {
        pieces.entry(root_of[*e as usize]).or_default().is_asked_for = true;
    }

    let total = pieces.values().fold([0.0; 2], |[v, w], p| [v + p.volume, w + p.energy]);
    let largest = pieces.values().map(|piece| piece.volume).fold(0.0, f64::max);
    let is_island = |piece: &Piece| {
        let is_idle = piece.energy * total[0] < IDLE * piece.volume * total[1];
        let is_loose = !(held[piece.joined] && loaded[piece.joined]);
        !piece.is_asked_for && piece.volume < largest && (is_loose || is_idle)
    };
    pieces.iter().filter(|(_, piece)| is_island(piece)).map(|(root, _)| *root).collect()
}

/// Whether a force or a prescribed value other than 0 acts on a node, `[n_nodes]`.
fn has_load<K: Physics<N>, const N: usize>(model: &Model<K, N>) -> Vec<bool> {
    let mut acts = vec![false; model.mesh.n_nodes()];
    for case in model.problem.load_cases() {
        for values in [Some(&case.forces), case.prescribed.as_ref()].into_iter().flatten() {
            let nodes = values.as_chunks::<N>().0.iter();
            nodes
                .zip(&mut acts)
                .for_each(|(values, acts)| *acts |= values.iter().any(|v| *v != 0.0));
        }
    }
    acts.iter_mut().zip(model.loaded_nodes()).for_each(|(acts, loaded)| *acts &= loaded);
    acts
}
