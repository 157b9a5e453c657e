//! Heat: held temperatures (SPC, SPC1), heat into grids (SLOAD), faces (QHBDY) and elements (QVOL).

use std::collections::{BTreeMap, HashMap};

use topopt_mesh::Face;

use super::conditions::SET;
use super::entries::list;
use super::lines::Card;
use super::model::{Loads, Model};
use super::read::Reader;
use super::supports;
use crate::deck::{DeckSupport, SetLoad};
use crate::file_sets::CellFace;
use crate::found::Found;
use crate::read_error::Parsed;

impl Reader {
    /// Reads an entry of heat; false if it is none.
    pub fn heat_entry(&mut self, card: &Card) -> Parsed<bool> {
        match card.name.as_str() {
            "SLOAD" => {
                for first in (3..card.n_fields() + 2).step_by(2).take(3) {
                    let grid = card.tag(first, "the number of a grid")?;
                    let heat = card.real(first + 1, "heat")?;
                    self.deck.heat.into_grids.push((card.tag(2, SET)?, grid, heat));
                }
            }
            "QHBDY" => self.heat_into_face(card)?,
            "QVOL" => {
                let (set, heat) = (card.tag(2, SET)?, card.real(3, "heat per volume")?);
                if card.number(4, "the number of a grid")? != 0 {
                    self.lose("QVOL with a control node", card.line);
                }
                self.deck.heat.in_elements.push((set, heat, list(card, 5)?));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// `set, kind, heat per area, factor, grids`.
    fn heat_into_face(&mut self, card: &Card) -> Parsed<()> {
        let n_corners = match card.text(3).to_ascii_uppercase().as_slice() {
            b"AREA3" | b"AREA6" => 3,
            b"AREA4" | b"AREA8" => 4,
            _ => {
                self.lose("QHBDY on points and lines", card.line);
                return Ok(());
            }
        };
        let mut grids = Vec::new();
        for field in 6..6 + n_corners {
            grids.push(card.tag(field, "the number of a grid")?);
        }
        let set = card.tag(2, SET)?;
        self.deck.heat.into_faces.push((set, card.real(4, "heat per area")?, grids));
        Ok(())
    }
}

/// Adds the node sets of held temperatures, and those of them that the deck selects as supports.
pub(super) fn add_temperatures(model: &Model, found: &mut Found) {
    let selected = supports::selected(model.deck, found);
    let mut groups = BTreeMap::<(u64, u64), Vec<u32>>::new();
    let mut n_unused = 0;
    for support in &model.deck.supports {
        let (positions, missing) = support.grids.positions(&model.part.node_tags);
        n_unused += missing;
        for position in positions {
            if model.part.is_of_solid(position) {
                let key = (support.set, (support.displacement + 0.0).to_bits());
                groups.entry(key).or_default().push(position);
            } else {
                n_unused += 1;
            }
        }
    }

    found.lose_count(n_unused, "temperatures of grids that no solid uses");
    for ((set, bits), mut positions) in groups {
        let temperature = f64::from_bits(bits);
        let name = format!("spc_{set}_temperature_{temperature:?}");
        super::deck::sort(&mut positions);
        found.sets.nodes.insert(name.clone(), positions);
        if selected.contains(&set) {
            found.deck.supports.push(DeckSupport {
                set: name,
                fixed: [true; 3],
                temperature,
                ..Default::default()
            });
        }
    }
}

/// Adds the loads of all load sets.
pub(super) fn add_loads(model: &Model, loads: &mut Loads, found: &mut Found) {
    let heat = &model.deck.heat;
    let mut groups = BTreeMap::<u64, BTreeMap<u32, f64>>::new();
    for &(set, grid, value) in &heat.into_grids {
        let Some(position) = model.part.node_of_solid(grid) else {
            loads.lose(set, format!("SLOAD on the grid {grid}, which no solid uses"));
            continue;
        };
        for (node, share) in model.part.shares(position) {
            *groups.entry(set).or_default().entry(node).or_default() += share * value;
        }
    }
    for (set, at_nodes) in groups {
        let flows = at_nodes.into_iter().map(|(node, heat)| (node, [heat, 0.0, 0.0]));
        loads.push(set, found.by_node(format!("sload_{set}"), flows));
    }

    let faces = faces(model);
    let mut fluxes = BTreeMap::<(u64, u64), Vec<CellFace>>::new();
    for (set, flux, grids) in &heat.into_faces {
        let positions: Vec<u32> = grids.iter().filter_map(|&grid| model.part.node(grid)).collect();
        match faces.get(&Face::key_of(&positions)) {
            Some(&face) => fluxes.entry((*set, flux.to_bits())).or_default().push(face),
            None => {
                loads.lose(*set, format!("QHBDY on grids {grids:?}, which are no face of a solid"))
            }
        }
    }
    for ((set, bits), faces) in fluxes {
        let heat_flux = f64::from_bits(bits);
        let name = format!("qhbdy_{set}_{heat_flux:?}");
        found.sets.faces.insert(name.clone(), faces);
        loads.push(set, SetLoad::HeatFlux { set: name, heat_flux });
    }
    for (i, (set, heat_source, elements)) in (1..).zip(&heat.in_elements) {
        let name = format!("qvol_{set}_{i}");
        let members = elements.positions(model.part.elements.tags()).0;
        found.sets.elements.insert(name.clone(), members);
        loads.push(*set, SetLoad::HeatSource { set: Some(name), heat_source: *heat_source });
    }
}

/// The faces of all solids by their corners; nothing where the deck heats no faces.
fn faces(model: &Model) -> HashMap<[u32; 4], CellFace> {
    let mut faces = HashMap::new();
    if model.deck.heat.into_faces.is_empty() {
        return faces;
    }
    for (number, cell) in (0..).zip(model.part.cells.iter()) {
        for face in cell.shape.faces() {
            let key = cell.face_key(face);
            faces.insert(key, CellFace { cell: number, key });
        }
    }
    faces
}

/// Reports loads of the other physics as lost: elastic ones of a deck of heat, or the reverse.
pub(super) fn say_other_physics(model: &Model, found: &mut Found) {
    let deck = model.deck;
    let heat = &deck.heat;
    let part = if deck.is_heat { "a part that conducts heat" } else { "an elastic part" };
    for (is_of_heat, what, count) in [
        (false, "FORCE and MOMENT", deck.forces.len()),
        (false, "PLOAD4", deck.pressures.len()),
        (false, "GRAV", deck.gravities.len()),
        (false, "RFORCE", deck.rotations.len()),
        (false, "RBE2 and RBE3", deck.couplings.len()),
        (true, "SLOAD", heat.into_grids.len()),
        (true, "QHBDY", heat.into_faces.len()),
        (true, "QVOL", heat.in_elements.len()),
    ] {
        if is_of_heat != deck.is_heat {
            found.lose_count(count, &format!("{what} entries in {part}"));
        }
    }
}
