//! Blocks of points that make tetrahedra of their own, with what is around them.

use rayon::prelude::*;
use topopt_linalg::Sample;
use topopt_mesh::{CellList, Delaunay};

use super::lists::Lists;
use super::sweep::CHUNK;

/// Widths around a block, besides the length of its rays, in which tetrahedra at the ends of these
/// have all points that they depend on.
const AROUND: f64 = 4.0;

/// Points of a block at most: so few that its tetrahedra stay in the cache.
const MOST: usize = 20_000;

/// Tetrahedra of the points of a block and of those around it.
pub(super) struct Block {
    /// Number of points that belong to the block, which come first.
    n_own: usize,
    /// Number of each point.
    ids: Vec<u32>,
    delaunay: Delaunay,
}

impl Block {
    /// Numbers of the points that belong to the block, with their places in it.
    fn own(&self) -> impl Iterator<Item = (u32, u32)> {
        self.ids[..self.n_own].iter().copied().zip(0..)
    }

    /// See [`Blocks::lists`].
    fn lists(
        &self,
        of_element: &(impl Fn(&Self, u32, u32) -> Option<Vec<Sample>> + Sync),
    ) -> Vec<Lists> {
        let own: Vec<(u32, u32)> = self.own().collect();
        let listed = |&(e, local): &(u32, u32)| Some((e, of_element(self, e, local)?));
        own.par_chunks(CHUNK).map(|own| own.iter().filter_map(listed).collect()).collect()
    }

    /// Numbers and weights of the points around `place`, see [`Delaunay::weights`], near the point
    /// at `from` in the block.
    pub fn weights(&self, place: [f64; 3], from: u32) -> Option<[(u32, f64); 4]> {
        let found = self.delaunay.weights(place, from)?;
        Some(found.map(|(point, weight)| (self.ids[point as usize], weight)))
    }
}

/// Points in blocks: `places` of elements of the `widths` around them, from which rays go so many
/// widths far as `reach`.
pub(super) struct Blocks<'a> {
    pub places: &'a [[f64; 3]],
    pub widths: &'a [f64],
    pub reach: f64,
}

impl Blocks<'_> {
    /// Lists the samples `of_element`, by the numbers of an element and of its place in a block;
    /// none for points that are no such elements.
    pub fn lists(
        &self,
        of_element: impl Fn(&Block, u32, u32) -> Option<Vec<Sample>> + Sync,
    ) -> Vec<Lists> {
        let all = (0..self.places.len() as u32).collect();
        let of_blocks = self.made(self.divided(all, MOST), |block| block.lists(&of_element));
        of_blocks.into_iter().flatten().collect()
    }

    fn made<T: Send>(&self, blocks: Vec<Vec<u32>>, work: impl Fn(&Block) -> T + Sync) -> Vec<T> {
        let widest = self.widths.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let list = CellList::new(self.places, 2.0 * widest);
        blocks.into_par_iter().map(|own| work(&self.block(own, &list))).collect()
    }

    /// Divides points by halves along their longest extent until parts have `most` of them.
    fn divided(&self, mut points: Vec<u32>, most: usize) -> Vec<Vec<u32>> {
        if points.len() <= most {
            points.sort_unstable();
            return vec![points];
        }
        let [low, high] = self.bounds(&points);
        let longest = |a: &usize, b: &usize| (high[*a] - low[*a]).total_cmp(&(high[*b] - low[*b]));
        let axis = (0..3).max_by(longest).unwrap_or(0);
        let at = |point: &u32| self.places[*point as usize][axis];
        let middle = points.len() / 2;
        points.select_nth_unstable_by(middle, |a, b| at(a).total_cmp(&at(b)).then(a.cmp(b)));
        let second = points.split_off(middle);
        let half = |points| self.divided(points, most);
        let (mut first, second) = rayon::join(|| half(points), || half(second));
        first.extend(second);
        first
    }

    fn bounds(&self, points: &[u32]) -> [[f64; 3]; 2] {
        let first = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
        points.iter().fold(first, |[low, high], &point| {
            let x = self.places[point as usize];
            [std::array::from_fn(|i| low[i].min(x[i])), std::array::from_fn(|i| high[i].max(x[i]))]
        })
    }

    /// A block of its `own` points and those around it.
    fn block(&self, own: Vec<u32>, list: &CellList) -> Block {
        let [low, high] = self.bounds(&own);
        let widest = |points: &[u32]| {
            points.iter().map(|&point| self.widths[point as usize]).fold(0.0, f64::max)
        };
        let (of_rays, n_own) = (self.reach * widest(&own), own.len());
        let mut width = widest(&own);

        loop {
            let far = of_rays + AROUND * width;
            let [low, high] = [low.map(|x| x - far), high.map(|x| x + far)];
            let mut ids = own.clone();
            list.for_each_near_box(low, high, |id, x| {
                let is_near = (0..3).all(|i| low[i] <= x[i] && x[i] <= high[i]);
                if is_near && own.binary_search(&id).is_err() {
                    ids.push(id);
                }
            });
            // Larger elements around it need more around themselves.
            let found = widest(&ids);
            if found <= width {
                let places: Vec<_> = ids.iter().map(|&id| self.places[id as usize]).collect();
                return Block { n_own, delaunay: Delaunay::new(&places), ids };
            }
            width = found;
        }
    }
}

#[cfg(test)]
mod tests {
    use topopt_testing::{distorted_cube, distorted_tetrahedra};

    use super::*;

    /// Points and weights around a place below the center of each element.
    type Found = Vec<(u32, Vec<(u32, f64)>)>;

    /// Points around places below the centers of elements, sorted, by blocks of at most so many
    /// points as `most`, and the number of blocks.
    fn below(blocks: &Blocks, most: usize) -> (Found, usize) {
        let parts = blocks.divided((0..blocks.places.len() as u32).collect(), most);
        let n_parts = parts.len();
        let mut all = blocks.made(parts, |block| of_block(blocks, block)).concat();
        all.sort_by_key(|(id, _)| *id);
        (all, n_parts)
    }

    fn of_block(blocks: &Blocks, block: &Block) -> Found {
        let mut all = Vec::new();
        for (id, from) in block.own() {
            let [x, y, z] = blocks.places[id as usize];
            let far = 1.9 * blocks.widths[id as usize];
            let found = block.weights([x + 0.3 * far, y - 0.2 * far, z - 0.8 * far], from);
            let mut found = found.map(|all| all.to_vec()).unwrap_or_default();
            found.sort_by_key(|(id, _)| *id);
            all.push((id, found));
        }
        all
    }

    #[test]
    fn blocks_have_the_tetrahedra_of_the_whole() {
        for mesh in [distorted_cube(14, 0.25, true), distorted_tetrahedra(7, 0.2, true)] {
            let places = mesh.centers();
            let widths: Vec<f64> = mesh.volumes().into_iter().map(f64::cbrt).collect();
            let blocks = Blocks { places: &places, widths: &widths, reach: 2.0 };
            let ((whole, one), (divided, many)) = (below(&blocks, usize::MAX), below(&blocks, 200));
            assert!(one == 1 && many > 8, "{many}");
            for ((id, a), (_, b)) in whole.iter().zip(&divided) {
                assert_eq!(a.len(), b.len(), "{id}");
                for (a, b) in a.iter().zip(b) {
                    assert!(a.0 == b.0 && (a.1 - b.1).abs() < 1e-9, "{id}: {a:?}, {b:?}");
                }
            }
        }
    }
}
