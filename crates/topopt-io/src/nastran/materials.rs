//! Bulk data of materials.

use super::deck::{Conductor, Material};
use super::lines::Card;
use super::read::Reader;
use crate::deck::DeckConstants;
use crate::read_error::Parsed;

const NUMBER: &str = "the number of a material";
const EXPANSION: &str = "a thermal expansion";
const REFERENCE: &str = "a reference temperature";
const DENSITY: &str = "a mass density";

impl Reader {
    /// Reads an entry of materials; false if it is none.
    pub fn material_entry(&mut self, card: &Card) -> Parsed<bool> {
        match card.name.as_str() {
            "MAT1" => self.material(card)?,
            "MAT4" | "MAT5" => self.conductor(card)?,
            "MAT9" => self.anisotropic(card)?,
            "MAT11" => self.orthotropic(card)?,
            // Of solids: those of shells are MAT2 and MAT8.
            "MAT3" | "MAT10" | "MATHE" | "MATHP" | "MATF" | "MAT9OR" => {
                self.not_understood(card, card.tag(2, NUMBER)?);
            }
            "MATT1" | "MATT4" | "MATT5" | "MATT9" | "MATT11" | "MATS1" | "MATEP" | "MATVE"
            | "CREEP" => {
                let material = card.tag(2, NUMBER)?;
                self.deck.behaviors.entry(material).or_default().push(card.label());
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Keeps that a material is none that is understood.
    pub fn not_understood(&mut self, card: &Card, material: u64) {
        self.deck.not_understood.insert(material, card.label());
    }

    /// `number, E, G, NU, RHO`.
    fn material(&mut self, card: &Card) -> Parsed<()> {
        let tag = card.tag(2, NUMBER)?;
        let material = Material {
            youngs_modulus: card.real_if_any(3, "Young's modulus")?,
            shear_modulus: card.real_if_any(4, "the shear modulus")?,
            poissons_ratio: card.real_if_any(5, "Poisson's ratio")?,
            mass_density: card.real_if_any(6, DENSITY)?,
            thermal_expansion: card.real_if_any(7, EXPANSION)?.into_iter().collect(),
            reference: card.real_or(8, 0.0, REFERENCE)?,
            law: None,
        };
        self.deck.materials.insert(tag, material);
        Ok(())
    }

    /// MAT11: `number, E1, E2, E3, NU12, NU13, NU23, G12, G13, G23, RHO, A1, A2, A3, TREF`.
    fn orthotropic(&mut self, card: &Card) -> Parsed<()> {
        let tag = card.tag(2, NUMBER)?;
        if (3..12).any(|field| card.is_blank(field)) {
            self.not_understood(card, tag);
            return Ok(());
        }
        let constants = DeckConstants::Engineering {
            youngs_moduli: card.vector(3, "Young's modulus")?,
            poissons_ratios: card.vector(6, "Poisson's ratio")?,
            shear_moduli: card.vector(9, "the shear modulus")?,
        };
        let material = Material {
            law: Some(constants),
            mass_density: card.real_if_any(12, DENSITY)?,
            thermal_expansion: expansion(card.vector(13, EXPANSION)?),
            reference: card.real_or(16, 0.0, REFERENCE)?,
            ..Material::default()
        };
        self.deck.materials.insert(tag, material);
        Ok(())
    }

    /// MAT4: `number, K, CP, RHO, H`; MAT5: `number, KXX, KXY, KXZ, KYY, KYZ, KZZ, CP, RHO`.
    fn conductor(&mut self, card: &Card) -> Parsed<()> {
        let tag = card.tag(2, NUMBER)?;
        let value = |field| card.real_if_any(field, "a number");
        let mut conductor = Conductor::default();
        if card.name == "MAT4" {
            conductor.conductivity.extend(value(3)?);
            (conductor.heat_capacity, conductor.mass_density) = (value(4)?, value(5)?);
            conductor.film_coefficient = value(6)?;
        } else {
            let [xx, yy, zz] = [value(3)?, value(6)?, value(8)?].map(|k| k.unwrap_or(0.0));
            let across = [value(4)?, value(5)?, value(7)?];
            match across.iter().flatten().all(|k| *k == 0.0) {
                true if [yy, zz] == [xx; 2] => conductor.conductivity = vec![xx],
                true => conductor.conductivity = vec![xx, yy, zz],
                false => self.not_understood(card, tag),
            }
            (conductor.heat_capacity, conductor.mass_density) = (value(9)?, value(10)?);
        }
        self.deck.conductors.insert(tag, conductor);
        Ok(())
    }

    /// MAT9: `number, G11, G12, ... G66` by rows of the upper triangle, `RHO, A1, ... A6, TREF`.
    fn anisotropic(&mut self, card: &Card) -> Parsed<()> {
        let tag = card.tag(2, NUMBER)?;
        let mut g = [[0.0; 6]; 6];
        let mut at = 3;
        for i in 0..6 {
            for j in i..6 {
                g[i][j] = card.real_or(at, 0.0, "a number of the material matrix")?;
                at += 1;
            }
        }
        let mass_density = card.real_if_any(at, DENSITY)?;
        let mut expansions = [0.0; 6];
        for (i, expansion) in expansions.iter_mut().enumerate() {
            *expansion = card.real_or(at + 1 + i, 0.0, EXPANSION)?;
        }
        let [x, y, z, shears @ ..] = expansions;
        if shears != [0.0; 3] {
            self.lose("thermal expansion in shear of MAT9", card.line);
        }
        let mut material = Material {
            mass_density,
            thermal_expansion: expansion([x, y, z]),
            reference: card.real_or(at + 7, 0.0, REFERENCE)?,
            ..Material::default()
        };
        match isotropic(&g) {
            Some((modulus, ratio)) => {
                (material.youngs_modulus, material.poissons_ratio) = (Some(modulus), Some(ratio));
            }
            None => {
                let entry = |i: usize, j: usize| g[i.min(j)][i.max(j)];
                let matrix = std::array::from_fn(|i| std::array::from_fn(|j| entry(i, j)));
                material.law = Some(DeckConstants::Matrix(matrix));
            }
        }
        self.deck.materials.insert(tag, material);
        Ok(())
    }
}

/// Expansions along three axes; none if all are 0.
fn expansion(along: [f64; 3]) -> Vec<f64> {
    if along == [0.0; 3] { Vec::new() } else { along.to_vec() }
}

/// Young's modulus and Poisson's ratio of a material matrix (the upper triangle, for strains along
/// x, y and z and shear strains), if it is isotropic to the digits of a field.
fn isotropic(g: &[[f64; 6]; 6]) -> Option<(f64, f64)> {
    const DIGITS: f64 = 1e-5;
    let (along, across, shear) = (g[0][0], g[0][1], g[3][3]);
    let is_near = |a: f64, b: f64| (a - b).abs() <= DIGITS * along;
    let mut expected = [[0.0; 6]; 6];
    for i in 0..3 {
        expected[i][..3].fill(across);
        (expected[i][i], expected[i + 3][i + 3]) = (along, shear);
    }
    let is_as_expected = (0..6).all(|i| (i..6).all(|j| is_near(g[i][j], expected[i][j])));
    let is_isotropic = is_as_expected && is_near(2.0 * shear, along - across);
    let ratio = across / (along + across);
    let modulus = 2.0 * shear * (1.0 + ratio);
    (is_isotropic && along > 0.0 && modulus.is_finite()).then_some((modulus, ratio))
}
