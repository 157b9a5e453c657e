//! TB,ANEL with TBTEMP and TBDATA: the 21 constants of an elastic matrix.

use std::array::from_fn;

use nalgebra::Matrix6;

use super::archive::Anisotropic;
use super::commands::Reader;
use super::field::real;
use super::lines::Command;
use crate::deck::DeckConstants;

impl Reader<'_> {
    /// `TB,ANEL,material,temperatures,constants,form`: form 1 is the matrix of strains by stresses.
    pub fn anisotropic(&mut self, command: &Command, material: u32) {
        let line = self.lines.number();
        let is_compliance = real(command.argument(5)) == Some(1.0);
        let table = Anisotropic { is_compliance, line, ..Anisotropic::default() };
        self.archive.anisotropic.insert(material, table);
        self.table = Some(material);
    }

    /// `TBTEMP,temperature`: constants behind it are of this temperature.
    pub fn temperature_of_table(&mut self) {
        let table = self.table.and_then(|material| self.archive.anisotropic.get_mut(&material));
        let Some(table) = table else { return };
        table.has_several |= table.n_given > 0;
        table.n_given = 0;
    }

    /// `TBDATA,place,constants...`, by default behind the last one.
    pub fn data_of_table(&mut self, command: &Command) {
        let table = self.table.and_then(|material| self.archive.anisotropic.get_mut(&material));
        let Some(table) = table else { return };
        let first = command.number(1).map_or(table.n_given, |place| place.max(1) as usize - 1);
        for (place, text) in (first..).zip(command.arguments_from(2)) {
            let (Some(constant), Some(value)) = (table.constants.get_mut(place), real(text)) else {
                continue;
            };
            *constant = value;
            table.n_given = table.n_given.max(place + 1);
        }
    }
}

impl Anisotropic {
    /// The matrix from strains to stresses, whose components Ansys has in the order of a deck.
    ///
    /// # Errors
    /// The table, and why it is not understood.
    pub(super) fn law(&self) -> Result<DeckConstants, String> {
        let fault = |why: &str| format!("TB,ANEL (line {}) {why}", self.line);
        if self.has_several {
            return Err(fault("of several temperatures"));
        }
        let mut matrix = Matrix6::zeros();
        let places = (0..6).flat_map(|i| (i..6).map(move |j| (i, j)));
        for ((i, j), constant) in places.zip(self.constants) {
            (matrix[(i, j)], matrix[(j, i)]) = (constant, constant);
        }
        let factor =
            matrix.cholesky().ok_or_else(|| fault("of a matrix that is none of a material"))?;
        let matrix = if self.is_compliance { factor.inverse() } else { matrix };
        // Symmetric to the last bit, which an inverse is not.
        let entry = |i: usize, j: usize| matrix[(i.min(j), i.max(j))];
        Ok(DeckConstants::Matrix(from_fn(|i| from_fn(|j| entry(i, j)))))
    }
}
