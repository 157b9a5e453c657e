//! Thickness of a sheet that is drawn over a die.

use rayon::prelude::*;
use topopt_mesh::CellList;

use crate::InPart;
use crate::columns::{Run, run_at};
use crate::reach::Cubes;

/// Edges by which the center of a cube is farther from a side that is cut anywhere.
const BEYOND: f64 = 1.5;

impl InPart<'_> {
    /// Finds the centers of the cubes of the body from which the open side, where no body lies
    /// along `draw`, of length 1, is farther than `most`, and of those that are in a row along it
    /// with less than `least` of the body.
    pub fn off_thickness(&self, draw: [f64; 3], [least, most]: [f64; 2]) -> [Vec<[f64; 3]>; 2] {
        let Some(cubes) = self.cubes(draw, 0.0) else { return Default::default() };
        let columns = 0..cubes.columns.len();
        let open: Vec<_> = columns.clone().flat_map(|c| cubes.open_beside_body(c)).collect();
        let open = CellList::new(&open, most + BEYOND * self.edge);
        let deep = columns.clone().into_par_iter().flat_map_iter(|c| {
            let body = cubes.body_of(c, |_| true);
            body.filter(|place| !open.any_within(*place, |_, _| true))
        });
        let is_short = |run: &Run| ((run.to - run.from + 1) as f64) * self.edge < least;
        let narrow = columns.into_par_iter().flat_map_iter(|c| cubes.body_of(c, is_short));
        [deep.collect(), narrow.collect()]
    }
}

impl Cubes {
    /// Centers of the cubes of column `c` in runs of the body that are `wanted`.
    fn body_of(&self, c: usize, wanted: impl Fn(&Run) -> bool) -> impl Iterator<Item = [f64; 3]> {
        let runs = self.body[c].iter().filter(move |run| wanted(run));
        let layers = runs.flat_map(|run| run.from..run.to);
        layers.map(move |k| self.columns.place(c, k))
    }

    /// Centers of the cubes of column `c` above the body, or without one, that touch a body.
    fn open_beside_body(&self, c: usize) -> impl Iterator<Item = [f64; 3]> {
        let top = self.body[c].last().map_or(0, |run| run.to);
        let around: Vec<usize> = self.columns.around_column(c).collect();
        let touches = move |k: &usize| {
            let mut layers = k.saturating_sub(1)..k + 2;
            layers.any(|k| around.iter().any(|&o| run_at(&self.body[o], k).is_some()))
        };
        let open = (top..self.columns.n_layers + 1).filter(touches);
        open.map(move |k| self.columns.place(c, k))
    }
}

#[cfg(test)]
mod tests {
    use crate::InPart;
    use crate::reach::tests::blocks;

    /// A sheet three blocks thick, of edge 2, with a wall as thick between two heights.
    #[test]
    fn sheets_are_as_thick_as_their_walls() {
        let part = blocks([12, 4, 12], |_| true);
        let body = blocks([12, 4, 12], |[x, _, z]| {
            let (low, high) = if x < 6 { (7, 10) } else { (2, 5) };
            z < high && (z >= low || (3..6).contains(&x) && z >= 2)
        });
        let in_part = InPart::new([&body, &part], 0.5);
        let counted =
            |limits| in_part.off_thickness([0.0, 0.0, 1.0], limits).map(|found| found.len());
        // Of 10,752 cubes those in the lower corner of the wall, which is not rounded.
        let [deep, narrow] = counted([5.4, 6.6]);
        assert!((100..500).contains(&deep) && narrow == 0, "{deep} {narrow}");
        let [deep, narrow] = counted([6.8, 4.5]);
        assert!(deep > 1500 && narrow > 5000, "{deep} {narrow}");
    }
}
