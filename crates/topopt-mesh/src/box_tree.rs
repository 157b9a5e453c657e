//! A tree of boxes around things, which are searched for those near a place.

use crate::BoundingBox;

/// Something with a box around it.
pub(crate) trait Boxed: Send {
    /// The smallest box around it.
    fn bounds(&self) -> BoundingBox;

    /// Place along an axis, up to a factor and a shift.
    fn place(&self, axis: usize) -> f64;

    /// Number of its own, which tells apart those in the same place.
    fn number(&self) -> u32;
}

impl Boxed for (BoundingBox, u32) {
    fn bounds(&self) -> BoundingBox {
        self.0
    }

    fn place(&self, axis: usize) -> f64 {
        self.0.min[axis] + self.0.max[axis]
    }

    fn number(&self) -> u32 {
        self.1
    }
}

/// Things in a tree of boxes, each halved across its longest side. It is built by all threads, and
/// searched several times as fast as an R*-tree.
#[derive(Debug, Clone)]
pub(crate) struct BoxTree<T> {
    /// The boxes, that of all things first.
    nodes: Vec<Node>,
    /// The things, leaf by leaf.
    pub things: Vec<T>,
}

/// A box and what is in it.
#[derive(Debug, Clone, Copy)]
struct Node {
    bounds: BoundingBox,
    /// First thing of a leaf, else the second of the two boxes within; the first one follows it.
    start: u32,
    /// Things of a leaf; 0 of other boxes.
    count: u32,
}

/// Most things of a leaf.
const LEAF: usize = 4;

/// Most things whose boxes one thread makes.
const ALONE: usize = 4096;

impl<T: Boxed> BoxTree<T> {
    /// The tree of `things`, the same on any number of threads.
    pub fn new(mut things: Vec<T>) -> Self {
        if things.is_empty() {
            return Self { nodes: Vec::new(), things };
        }
        let nothing = Node { bounds: BoundingBox::of([]), start: 0, count: 0 };
        let mut nodes = vec![nothing; boxes(things.len())[0]];
        build((&mut nodes, 0), (&mut things, 0));
        Self { nodes, things }
    }

    /// Visits things from `point` outwards, about the nearest first: all whose boxes are nearer
    /// than the square of the distance that the last visit has returned.
    pub fn outwards(&self, point: [f64; 3], mut visit: impl FnMut(&T) -> f64) {
        let (mut most, mut has_visited) = (f64::INFINITY, false);
        let mut open = Stack::of((0.0, 0));
        while let Some((distance, node)) = open.pop() {
            let Some(&Node { start, count, .. }) = self.nodes.get(node) else { break };
            if distance >= most && has_visited {
                continue;
            }
            if count == 0 {
                let [near, far] = [node + 1, start as usize]
                    .map(|child| (self.nodes[child].bounds.squared_distance(point), child));
                open.push(if near.0 <= far.0 { [far, near] } else { [near, far] });
                continue;
            }

            let leaf = &self.things[start as usize..(start + count) as usize];
            leaf.iter().for_each(|thing| most = visit(thing));
            has_visited = true;
        }
    }

    /// Visits the things whose boxes have a point in common with `around`.
    pub fn in_box(&self, around: &BoundingBox, mut visit: impl FnMut(&T)) {
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

            let leaf = &self.things[start as usize..(start + count) as usize];
            leaf.iter().filter(|thing| thing.bounds().meets(around)).for_each(&mut visit);
        }
    }
}

/// Boxes still to be searched: one at most for each halving of up to 2^32 things, and one more.
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

/// Number of boxes for so many things, and for one more.
fn boxes(things: usize) -> [usize; 2] {
    if things < LEAF {
        return [1; 2];
    }
    let [half, more] = boxes(things / 2);
    let both = [2 * half, half + more, 2 * more];
    let is_odd = things % 2;
    [0, 1].map(|one| if things + one <= LEAF { 1 } else { 1 + both[is_odd + one] })
}

/// Makes the box around `things`, which begin at `start` of all, and all boxes in it, which begin
/// at `node` of all.
fn build<T: Boxed>((nodes, node): (&mut [Node], usize), (things, start): (&mut [T], usize)) {
    let all = things.iter().map(Boxed::bounds);
    let bounds = BoundingBox::of(all.flat_map(|bounds| [bounds.min, bounds.max]));
    let n = things.len();
    let Some((own, within)) = nodes.split_first_mut() else { return };
    if n <= LEAF {
        *own = Node { bounds, start: start as u32, count: n as u32 };
        return;
    }

    let sides = bounds.extent();
    let axis = (0..3).max_by(|&i, &j| sides[i].total_cmp(&sides[j])).unwrap_or(0);
    let middle = n / 2;
    things.select_nth_unstable_by(middle, |a, b| {
        a.place(axis).total_cmp(&b.place(axis)).then(a.number().cmp(&b.number()))
    });

    let (first, second) = things.split_at_mut(middle);
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
