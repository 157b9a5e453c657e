//! Triangles in space, the nearest of which to a point is searched.

use crate::BoundingBox;
use crate::vector::{cross, difference, dot};

/// Triangles that are searched for the nearest one to a point: a tree of boxes, each halved across
/// its longest side. It is built and searched several times as fast as an R*-tree of triangles.
#[derive(Debug, Clone)]
pub struct Triangles {
    /// The boxes, that of all triangles first.
    nodes: Vec<Node>,
    /// Corners of the triangles and their numbers, leaf by leaf.
    triangles: Vec<(Corners, u32)>,
}

/// Corners of a triangle.
pub type Corners = [[f64; 3]; 3];

/// A box and what is in it.
#[derive(Debug, Clone, Copy)]
struct Node {
    bounds: BoundingBox,
    /// First triangle of a leaf, else the second of the two boxes within; the first one follows it.
    start: u32,
    /// Triangles of a leaf; 0 of other boxes.
    count: u32,
}

/// Most triangles of a leaf.
const LEAF: usize = 4;

/// Most triangles whose boxes one thread makes.
const ALONE: usize = 4096;

impl Triangles {
    /// Triangles by their corners, `[n_triangles][3][3]`, some of them perhaps flat.
    pub fn new(corners: impl Iterator<Item = Corners>) -> Self {
        let mut triangles: Vec<(Corners, u32)> = corners.zip(0..).collect();
        if triangles.is_empty() {
            return Self { nodes: Vec::new(), triangles };
        }
        let nothing = Node { bounds: BoundingBox::of([]), start: 0, count: 0 };
        let mut nodes = vec![nothing; boxes(triangles.len())[0]];
        build((&mut nodes, 0), (&mut triangles, 0));
        Self { nodes, triangles }
    }

    /// Number of triangles.
    pub fn len(&self) -> usize {
        self.triangles.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.triangles.is_empty()
    }

    /// Corners of one of them.
    pub fn first(&self) -> Option<Corners> {
        self.triangles.first().map(|(corners, _)| *corners)
    }

    /// The point of them that is nearest to `point`, if there are any.
    pub fn nearest(&self, point: [f64; 3]) -> Option<[f64; 3]> {
        self.nearest_of(point).map(|(_, nearest)| nearest)
    }

    /// The distance of `point` from the nearest one; infinite if there are none.
    pub fn distance(&self, point: [f64; 3]) -> f64 {
        self.nearest(point).map_or(f64::INFINITY, |nearest| squared(point, nearest).sqrt())
    }

    /// The number of the triangle that is nearest to `point`, and the point of it that is, if there
    /// are any.
    pub fn nearest_of(&self, point: [f64; 3]) -> Option<(usize, [f64; 3])> {
        let mut best: Option<(usize, [f64; 3])> = None;
        let mut least = f64::INFINITY;
        let mut open = Stack::of((0.0, 0));

        while let Some((distance, node)) = open.pop() {
            let Some(&Node { start, count, .. }) = self.nodes.get(node) else { break };
            if distance >= least && best.is_some() {
                continue;
            }
            if count == 0 {
                let [near, far] = [node + 1, start as usize]
                    .map(|child| (self.nodes[child].bounds.squared_distance(point), child));
                open.push(if near.0 <= far.0 { [far, near] } else { [near, far] });
                continue;
            }

            let leaf = start as usize..(start + count) as usize;
            for (corners, number) in &self.triangles[leaf] {
                let nearest = nearest_in(*corners, point);
                let distance = squared(point, nearest);
                if distance < least || best.is_none() {
                    (least, best) = (distance, Some((*number as usize, nearest)));
                }
            }
        }
        best
    }

    /// Visits the numbers of the triangles whose boxes have a point in common with `around`.
    pub fn in_box(&self, around: &BoundingBox, mut visit: impl FnMut(u32)) {
        let mut open = Stack::of(0);
        while let Some(node) = open.pop() {
            let Some(&Node { bounds, start, count }) = self.nodes.get(node) else { break };
            if !bounds.meets(around) {
                continue;
            }
            if count == 0 {
                open.push([start as usize, node + 1]);
                continue;
            }

            let leaf = &self.triangles[start as usize..(start + count) as usize];
            let near = leaf.iter().filter(|(corners, _)| BoundingBox::of(*corners).meets(around));
            near.for_each(|(_, number)| visit(*number));
        }
    }
}

/// Boxes still to be searched: one at most for each halving of up to 2^32 triangles, and one more.
/// On the heap, all threads would wait for it in each search.
struct Stack<T> {
    entries: [T; DEPTH],
    n: usize,
}

const DEPTH: usize = 40;

impl<T: Copy> Stack<T> {
    fn of(first: T) -> Self {
        Self { entries: [first; DEPTH], n: 1 }
    }

    fn pop(&mut self) -> Option<T> {
        self.n = self.n.checked_sub(1)?;
        Some(self.entries[self.n])
    }

    fn push(&mut self, both: [T; 2]) {
        self.entries[self.n..self.n + 2].copy_from_slice(&both);
        self.n += 2;
    }
}

/// Number of boxes for so many triangles, and for one more.
fn boxes(triangles: usize) -> [usize; 2] {
    if triangles < LEAF {
        return [1; 2];
    }
    let [half, more] = boxes(triangles / 2);
    let both = [2 * half, half + more, 2 * more];
    let is_odd = triangles % 2;
    [0, 1].map(|one| if triangles + one <= LEAF { 1 } else { 1 + both[is_odd + one] })
}

/// Makes the box around `triangles`, which begin at `start` of all, and all boxes in it, which
/// begin at `node` of all. The tree does not depend on the number of threads.
fn build((nodes, node): (&mut [Node], usize), (triangles, start): (&mut [(Corners, u32)], usize)) {
    let bounds = BoundingBox::of(triangles.iter().flat_map(|(corners, _)| *corners));
    let n = triangles.len();
    let Some((own, within)) = nodes.split_first_mut() else { return };
    if n <= LEAF {
        *own = Node { bounds, start: start as u32, count: n as u32 };
        return;
    }

    let sides = bounds.extent();
    let axis = (0..3).max_by(|&i, &j| sides[i].total_cmp(&sides[j])).unwrap_or(0);
    let middle = n / 2;
    let place = |(x, _): &(Corners, u32)| x[0][axis] + x[1][axis] + x[2][axis];
    triangles
        .select_nth_unstable_by(middle, |a, b| place(a).total_cmp(&place(b)).then(a.1.cmp(&b.1)));

    let (first, second) = triangles.split_at_mut(middle);
    let in_first = boxes(middle)[0];
    let second_node = node + 1 + in_first;
    *own = Node { bounds, start: second_node as u32, count: 0 };
    let (nodes, others) = within.split_at_mut(in_first);
    let mut of_first = || build((nodes, node + 1), (first, start));
    let mut of_second = || build((others, second_node), (second, start + middle));
    if n > ALONE {
        rayon::join(of_first, of_second);
    } else {
        of_first();
        of_second();
    }
}

fn squared(a: [f64; 3], b: [f64; 3]) -> f64 {
    let way = difference(a, b);
    dot(way, way)
}

/// Square of the sine of an angle below which a triangle counts as the segments around it: rounding
/// turns its normal by more than a hundred millionth.
const FLAT: f64 = 1e-16;

/// The point of a triangle that is nearest to `point`; of a flat one, of the segments around it.
pub fn nearest_in([a, b, c]: Corners, point: [f64; 3]) -> [f64; 3] {
    let [along, across] = [difference(b, a), difference(c, a)];
    let normal = cross(along, across);
    let is_within = |a: [f64; 3], b: [f64; 3]| {
        dot(cross(normal, difference(b, a)), difference(point, a)) >= 0.0
    };
    let area_squared = dot(normal, normal);
    let is_flat = area_squared <= FLAT * dot(along, along) * dot(across, across);
    if !is_flat && is_within(a, b) && is_within(b, c) && is_within(c, a) {
        let share = dot(normal, difference(point, a)) / area_squared;
        return [0, 1, 2].map(|d| point[d] - share * normal[d]);
    }

    let mut nearest = nearest_on_segment(point, a, b);
    for (from, to) in [(b, c), (c, a)] {
        let other = nearest_on_segment(point, from, to);
        if squared(point, other) < squared(point, nearest) {
            nearest = other;
        }
    }
    nearest
}

fn nearest_on_segment(point: [f64; 3], a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    let (along, to_point) = (difference(b, a), difference(point, a));
    let squared = dot(along, along);
    let share = if squared > 0.0 { (dot(along, to_point) / squared).clamp(0.0, 1.0) } else { 0.0 };
    [0, 1, 2].map(|d| a[d] + share * along[d])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_from_a_triangle_is_that_of_its_nearest_point() {
        let triangle = [[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]];
        for (point, expected) in [
            ([1.0, 1.0, -3.0], 9.0),
            ([2.0, -2.0, 1.0], 5.0),
            ([4.0, 4.0, 0.0], 8.0),
            ([-1.0, -2.0, 3.0], 14.0),
            ([7.0, -1.0, 0.0], 10.0),
        ] {
            let found = squared(point, nearest_in(triangle, point));
            assert!((found - expected).abs() < 1e-14, "{point:?}");
        }
        let flat = [[0.0; 3], [1.0, 1.0, 1.0], [2.0, 2.0, 2.0]];
        let found = squared([2.0, 2.0, 3.0], nearest_in(flat, [2.0, 2.0, 3.0]));
        assert!((found - 1.0).abs() < 1e-14);
        assert_eq!(nearest_in([[1.0; 3]; 3], [1.0, 1.0, 3.0]), [1.0; 3]);
    }

    #[test]
    fn the_tree_finds_the_nearest_of_all() {
        // Triangles of even corners alone are flat: these lie on lines.
        let number = |i: usize| ((i * 2654435761) % 1009) as f64 / 1009.0;
        let place = |i: usize| {
            [number(i), number(i + 1), number(if i.is_multiple_of(2) { i + 2 } else { i * i })]
        };
        let corners: Vec<Corners> =
            (0..9000).map(|i| [4 * i, 5 * i + 1, 7 * i].map(place)).collect();
        let triangles = Triangles::new(corners.iter().copied());
        for i in 0..200 {
            let x = place(11 * i).map(|x| 3.0 * x - 1.0);
            let all = corners.iter().map(|&corners| squared(x, nearest_in(corners, x)));
            let least = all.fold(f64::INFINITY, f64::min).sqrt();
            assert!((triangles.distance(x) - least).abs() < 1e-14, "{x:?}");
            let (number, nearest) = triangles.nearest_of(x).unwrap();
            assert_eq!(nearest_in(corners[number], x), nearest);
        }
        let none = Triangles::new(std::iter::empty());
        let unit = BoundingBox::of([[0.0; 3], [1.0; 3]]);
        assert_eq!(none.distance([0.0; 3]), f64::INFINITY);
        none.in_box(&unit, |number| panic!("there is no triangle {number}"));

        for i in 0..50 {
            let middle = place(13 * i);
            let around = BoundingBox::of([-0.05, 0.05].map(|half| middle.map(|x| x + half)));
            let is_in = |&t: &u32| BoundingBox::of(corners[t as usize]).meets(&around);
            let all: Vec<u32> = (0..9000).filter(is_in).collect();
            let mut found = Vec::new();
            triangles.in_box(&around, |number| found.push(number));
            found.sort_unstable();
            assert_eq!(found, all);
        }
    }
}
