//! Bulk data of supports, loads and couplings.

use super::deck::{Coupling, Force, ForceVector, Gravity, List, Pressure, Rotation, Support};
use super::entries::list;
use super::field;
use super::lines::Card;
use super::origin::Origin;
use super::read::Reader;
use crate::read_error::Parsed;

pub(super) const SET: &str = "the number of a set";
const GRID: &str = "the number of a grid";
const SYSTEM: &str = "the number of a coordinate system";

impl Reader {
    /// Reads an entry of supports, loads or couplings; false if it is none.
    pub fn condition_entry(&mut self, card: &Card) -> Parsed<bool> {
        match card.name.as_str() {
            "SPC" => self.supports(card)?,
            "SPC1" => {
                let (set, components) = (card.tag(2, SET)?, card.components(3)?);
                let grids = list(card, 4)?;
                let support = Support { set, components, displacement: 0.0, grids };
                self.deck.supports.push(support);
            }
            "SPCADD" => {
                let set = card.tag(2, SET)?;
                let ranges = list(card, 3)?.ranges;
                let known = self.deck.support_sums.entry(set).or_default();
                known.extend(ranges.iter().map(|range| range.0));
            }

            "FORCE" | "MOMENT" => self.force(card)?,
            "FORCE1" | "MOMENT1" | "FORCE2" | "MOMENT2" => self.force_by_grids(card)?,
            "PLOAD4" => self.pressures(card)?,
            "GRAV" => {
                let factor = card.real(4, "an acceleration")?;
                self.deck.gravities.push(Gravity {
                    set: card.tag(2, SET)?,
                    system: card.number(3, SYSTEM)?,
                    acceleration: card.vector(5, "a component")?.map(|n| factor * n),
                });
            }
            "RFORCE" => self.rotation(card)?,
            "TEMP" | "TEMPD" => self.temperatures(card)?,
            "LOAD" | "LOADADD" => self.combination(card)?,

            "RBE2" => self.rigid(card)?,
            "RBE3" => self.mean(card)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Once or twice `grid, components, displacement` behind the number of the set.
    fn supports(&mut self, card: &Card) -> Parsed<()> {
        let set = card.tag(2, SET)?;
        for first in [3, 6] {
            if first == 6 && card.is_blank(6) {
                break;
            }
            let grids = List::one(card.tag(first, GRID)?);
            let components = card.components(first + 1)?;
            let displacement = card.real_or(first + 2, 0.0, "a displacement")?;
            self.deck.supports.push(Support { set, components, displacement, grids });
        }
        Ok(())
    }

    /// `set, grid, system, factor, vector`.
    fn force(&mut self, card: &Card) -> Parsed<()> {
        let factor = card.real(5, "a force or a moment")?;
        let vector = card.vector(6, "a component")?.map(|n| factor * n);
        self.deck.forces.push(Force {
            set: card.tag(2, SET)?,
            grid: card.tag(3, GRID)?,
            is_moment: card.name == "MOMENT",
            vector: ForceVector::Given(card.number(4, SYSTEM)?, vector),
        });
        Ok(())
    }

    /// FORCE1: `set, grid, size, G1, G2`; FORCE2: `set, grid, size, G1, G2, G3, G4`.
    fn force_by_grids(&mut self, card: &Card) -> Parsed<()> {
        let size = card.real(4, "a force or a moment")?;
        let grid = |i: usize| card.tag(i, GRID);
        let vector = match card.name.ends_with('1') {
            true => ForceVector::Along(size, [grid(5)?, grid(6)?]),
            false => ForceVector::Across(size, [grid(5)?, grid(6)?, grid(7)?, grid(8)?]),
        };
        let (set, is_moment) = (card.tag(2, SET)?, card.name.starts_with('M'));
        self.deck.forces.push(Force { set, grid: grid(3)?, is_moment, vector });
        Ok(())
    }

    /// `set, element, P1 to P4, G1, G3 or G4`, and `system, direction` for a traction.
    fn pressures(&mut self, card: &Card) -> Parsed<()> {
        let set = card.tag(2, SET)?;
        let element = card.tag(3, "the number of an element")?;
        // Of THRU, shells have it: a solid needs a grid of its face.
        if card.is_word(8, "THRU") {
            self.lose("PLOAD4 with THRU", card.line);
            return Ok(());
        }

        let first = card.real_or(4, 0.0, "a pressure")?;
        let mut values = [first; 4];
        for (i, value) in values.iter_mut().enumerate().skip(1) {
            *value = card.real_or(4 + i, first, "a pressure")?;
        }
        let direction = card.vector(11, "a component")?;
        let has_direction = direction != [0.0; 3];
        let is_line = card.is_word(14, "LINE") || !(card.is_blank(15) || card.is_word(15, "NORM"));
        if is_line {
            self.lose("PLOAD4 with SORL or LDIR", card.line);
            return Ok(());
        }

        let direction = has_direction.then_some((card.number(10, SYSTEM)?, direction));
        let grids = [card.number(8, GRID)?, card.number(9, GRID)?];
        let origin = Origin { line: card.line, ..self.origin };
        self.deck.pressures.push(Pressure { set, element, values, grids, direction, origin });
        Ok(())
    }

    /// `set, grid, system, turns per time, vector, method, angular acceleration`.
    fn rotation(&mut self, card: &Card) -> Parsed<()> {
        let turns = card.real_or(5, 0.0, "turns per time")?;
        if card.real_or(10, 0.0, "an angular acceleration")? != 0.0 {
            self.lose("RFORCE with angular acceleration", card.line);
        }
        let radians = std::f64::consts::TAU * turns;
        self.deck.rotations.push(Rotation {
            set: card.tag(2, SET)?,
            grid: card.number(3, GRID)?,
            system: card.number(4, SYSTEM)?,
            angular_velocity: card.vector(6, "a component")?.map(|n| radians * n),
        });
        Ok(())
    }

    /// `set, S`, and then factors and sets.
    fn combination(&mut self, card: &Card) -> Parsed<()> {
        let set = card.tag(2, SET)?;
        let factor = card.real(3, "a factor")?;
        let mut parts = Vec::new();
        for at in (4..=card.n_fields() + 1).step_by(2) {
            if !(card.is_blank(at) && card.is_blank(at + 1)) {
                parts.push((factor * card.real(at, "a factor")?, card.tag(at + 1, SET)?));
            }
        }
        self.deck.combinations.entry(set).or_default().extend(parts);
        Ok(())
    }

    /// RBE2: `number, independent grid, components, dependent grids`.
    fn rigid(&mut self, card: &Card) -> Parsed<()> {
        self.deck.couplings.push(Coupling {
            tag: card.tag(2, "the number of an element")?,
            is_rigid: true,
            reference: card.tag(3, GRID)?,
            components: card.components(4)?,
            grids: list(card, 5)?,
            is_uneven: false,
        });
        Ok(())
    }

    /// RBE3: `number, , dependent grid, components`, and then groups of `weight, components,
    /// independent grids`.
    fn mean(&mut self, card: &Card) -> Parsed<()> {
        let mut grids = List::default();
        let (mut components, mut weight, mut is_uneven) = (None, None, false);
        let mut at = 6;
        while at <= card.n_fields() + 1 {
            let text = card.text(at);
            if card.is_word(at, "UM") || card.is_word(at, "ALPHA") {
                break;
            }
            // Weights are real numbers, grids are not.
            let is_weight = at == 6 || field::integer(text).is_none();
            if is_weight && !text.is_empty() && !card.is_word(at, "THRU") {
                let found = card.real(at, "a weight")?;
                let of_group = card.components(at + 1)?;
                is_uneven |= *weight.get_or_insert(found) != found;
                is_uneven |= *components.get_or_insert(of_group) != of_group;
                at += 1;
            } else if card.is_word(at, "THRU") {
                at += 1;
                let last = card.tag(at, "the last number of a range")?;
                if !grids.extend_to(last) {
                    return Err(card.malformed(at, "a last number that is not below the first"));
                }
            } else if !text.is_empty() {
                let grid = card.tag(at, GRID)?;
                grids.ranges.push((grid, grid, 1));
            }
            at += 1;
        }

        self.deck.couplings.push(Coupling {
            tag: card.tag(2, "the number of an element")?,
            is_rigid: false,
            reference: card.tag(4, GRID)?,
            components: components.unwrap_or_default(),
            grids,
            is_uneven,
        });
        Ok(())
    }
}
