//! `Grid`: an unstructured grid in memory, as VTK has it.

use std::collections::BTreeMap;

use super::read::add_marked;
use super::read_cells::Cells;
use super::{Section, read_error};
use crate::file_sets::FileSets;
use crate::import::{Cutting, ImportedMesh, Nodes, finite};
use crate::part::Part;
use crate::read_error::{Fault, Parsed};

/// Unstructured grid with sets of its points and cells, all by numbers from 0.
#[derive(Debug, Clone, Default)]
pub struct Grid {
    /// Coordinates, `[n_points][3]`.
    pub points: Vec<[f64; 3]>,
    /// Types of the cells by VTK's numbers, `[n_cells]`.
    pub types: Vec<i64>,
    /// Ends of the cells in `connectivity`, `[n_cells]`.
    pub offsets: Vec<i64>,
    /// Points of the cells, one cell after the other.
    pub connectivity: Vec<i64>,
    /// Sets of points.
    pub point_sets: BTreeMap<String, Vec<u64>>,
    /// Sets of cells.
    pub cell_sets: BTreeMap<String, Vec<u64>>,
}

impl Grid {
    /// Imports the grid as the readers of files import theirs: cells of the volume become
    /// hexahedra, or stay tetrahedra.
    ///
    /// # Errors
    /// A set with what is not in the grid, and as [`super::vtu::read`].
    pub fn import(self, cutting: Cutting) -> Result<ImportedMesh, Fault> {
        self.parsed(cutting).map_err(|located| *located.fault)
    }

    fn parsed(self, cutting: Cutting) -> Parsed<ImportedMesh> {
        self.check()?;
        let cells = Cells::of(&self.types, &self.offsets, &self.connectivity, &self.points)?;
        let mut notes = cells.notes();
        let numbers = cells.numbers;
        let nodes = Nodes::new((0..self.points.len() as u64).collect(), self.points)?;
        let part = Part::new(nodes, numbers.clone(), cells.solids, cutting)?;
        notes.extend(part.elements.note(|_| 0));

        let mut sets = FileSets::default();
        let of_points = self.point_sets.into_iter().map(|set| (Section::Points, set));
        let of_cells = self.cell_sets.into_iter().map(|set| (Section::Cells, set));
        for (section, (name, marked)) in of_points.chain(of_cells) {
            add_marked(&mut sets, (section, name), &marked, &numbers);
        }
        Ok(part.into_mesh(sets, notes)?)
    }

    /// Refuses what a file cannot hold, or its reader has looked at before.
    fn check(&self) -> Parsed<()> {
        for (node, point) in (0..).zip(&self.points) {
            finite(node, *point)?;
        }
        let bounds = [
            (&self.point_sets, self.points.len(), "points"),
            (&self.cell_sets, self.types.len(), "cells"),
        ];
        for (sets, n, what) in bounds {
            for (name, members) in sets {
                if let Some(&member) = members.iter().find(|member| **member >= n as u64) {
                    let fault =
                        read_error::Fault::NotInGrid { name: name.clone(), member, n, what };
                    return Err(fault.into());
                }
            }
        }
        Ok(())
    }
}
