//! Weights of shared design variables in elements.

use rayon::prelude::*;
use topopt_linalg::Csr;
use topopt_mesh::vector::{difference, length};
use topopt_mesh::{CellList, HexMesh, first_near};

/// Elements gathered by places that stand for them.
pub(super) struct Gathered {
    /// Places that stand for those of the elements, `[n_elements]`.
    pub places: Vec<[f64; 3]>,
    /// Number of the element whose place stands for that of each element, `[n_elements]`.
    pub first: Vec<u32>,
    /// Whether all elements have the place that stands for theirs, up to rounding.
    pub is_exact: bool,
}

impl Gathered {
    /// Gathers `places` within the `reaches`, `[n_elements]`, of first ones; those within
    /// `tolerance` of each other are the same.
    pub fn of(places: Vec<[f64; 3]>, reaches: &[f64], tolerance: f64) -> Self {
        let first = first_near(&places, reaches, tolerance);
        let of_first = first.par_iter().zip(&places);
        let is_exact = of_first
            .all(|(&first, &place)| length(difference(place, places[first as usize])) <= tolerance);
        Self { places, first, is_exact }
    }

    /// Number of places that stand for others or for themselves.
    pub fn len(&self) -> usize {
        (0..).zip(&self.first).filter(|(element, first)| element == *first).count()
    }

    /// Number of the variable of each element, `[n_elements]`, counted in the order of elements.
    pub fn variable_of(&self) -> Vec<u32> {
        let mut number = vec![u32::MAX; self.first.len()];
        let mut n_variables = 0;
        let mut variable_of = Vec::with_capacity(self.first.len());
        for &first in &self.first {
            let number = &mut number[first as usize];
            if *number == u32::MAX {
                *number = n_variables;
                n_variables += 1;
            }
            variable_of.push(*number);
        }
        variable_of
    }

    /// Rows of weights of the variables in the elements: a single 1 where places coincide; else
    /// hats about the places of variables, so that the density is a function of the place.
    pub fn shares(&self, reaches: &[f64]) -> Csr {
        let places = &self.places;
        let variable_of = self.variable_of();
        if self.is_exact {
            return Csr::selection(variable_of);
        }
        let is_first = |&element: &u32| self.first[element as usize] == element;
        let firsts: Vec<u32> = (0..places.len() as u32).filter(is_first).collect();
        let nodes: Vec<[f64; 3]> = firsts.iter().map(|&first| places[first as usize]).collect();
        let farthest = firsts.iter().map(|&first| reaches[first as usize]).fold(0.0, f64::max);
        let list = CellList::new(&nodes, HAT * farthest);

        let reach = |element: usize| reaches[self.first[element] as usize];
        let row = |element| hats(&list, places[element], HAT * reach(element));
        let rows: Vec<_> = (0..places.len()).into_par_iter().map(row).collect();
        let mut starts = vec![0];
        rows.iter().for_each(|row| starts.push(starts[starts.len() - 1] + row.len()));
        let (columns, values) = rows.into_iter().flatten().unzip();
        Csr { starts, columns, values }
    }
}

/// Radius of a hat in reaches of the place that it is about: the own variable, which is within one,
/// has half of the weight of a hat at least.
const HAT: f64 = 2.0;

/// Weights of the points of `list` at `place`, by hats of that `radius`, with the sum 1.
fn hats(list: &CellList, place: [f64; 3], radius: f64) -> Vec<(u32, f64)> {
    let mut row: Vec<(u32, f64)> = Vec::new();
    list.for_each_within(place, |variable, distance| {
        row.extend((distance < radius).then_some((variable, 1.0 - distance / radius)));
    });
    row.sort_unstable_by_key(|(variable, _)| *variable);
    let total: f64 = row.iter().map(|(_, weight)| weight).sum();
    row.iter_mut().for_each(|(_, weight)| *weight /= total);
    row
}

/// Half of the shortest edge of each element, `[n_elements]`: places that are nearer stand for one.
pub(super) fn reaches(mesh: &HexMesh) -> Vec<f64> {
    (0..mesh.n_elements())
        .into_par_iter()
        .map(|element| mesh.shortest_edge(element) / 2.0)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_that_coincide_are_gathered_exactly() {
        let place = |i: usize| [(i % 7) as f64, 1e-9 * i as f64, 0.0];
        let gathered = Gathered::of((0..70).map(place).collect(), &[0.4; 70], 1e-6);
        assert!(gathered.is_exact);
        assert!((0..70).all(|i| gathered.first[i] as usize == i % 7));
    }
}
