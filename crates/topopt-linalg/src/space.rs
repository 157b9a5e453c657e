//! Spaces of vectors, and how ranks share their points.

use std::ops::Range;
use std::sync::Arc;

/// Kind of the points of a vector, and so who owns an entry where several devices share a mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// The elements of a mesh: an entry belongs to one device.
    Elements,
    /// The nodes of a mesh: devices share those between their elements.
    Nodes,
    /// The vertices of a mesh of tetrahedra, shared as nodes are.
    Vertices,
    /// Design variables, as many as a design has: devices hold them in turn, equal numbers each.
    Variables,
    /// A level that no mesh describes, such as a coarse level of a hierarchy.
    Level,
}

/// The space of a vector: kind and number of points, and unknowns per point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    /// Kind of the points.
    pub layout: Layout,
    /// Number of points.
    pub points: usize,
    /// Unknowns per point. On the host they lie side by side, `[points][unknowns]`.
    pub unknowns: usize,
}

impl Space {
    /// One number per element.
    pub fn elements(points: usize) -> Self {
        Self { layout: Layout::Elements, points, unknowns: 1 }
    }

    /// One number per design variable.
    pub fn variables(points: usize) -> Self {
        Self { layout: Layout::Variables, points, unknowns: 1 }
    }

    /// `unknowns` numbers per node.
    pub fn nodes(points: usize, unknowns: usize) -> Self {
        Self { layout: Layout::Nodes, points, unknowns }
    }

    /// One number per vertex of a mesh of tetrahedra.
    pub fn vertices(points: usize) -> Self {
        Self { layout: Layout::Vertices, points, unknowns: 1 }
    }

    /// `unknowns` numbers per point of a level.
    pub fn level(points: usize, unknowns: usize) -> Self {
        Self { layout: Layout::Level, points, unknowns }
    }

    /// Number of entries of a vector.
    #[allow(clippy::len_without_is_empty)] // a dimension
    pub fn len(self) -> usize {
        self.points * self.unknowns
    }
}

/// How a mesh is shared among ranks.
#[derive(Debug, Clone)]
pub struct Shares {
    elements: Share,
    nodes: Share,
    vertices: Option<Share>,
}

/// Values of a rank that cross at a time between the host of the first one and its own: 64 MB, and
/// few in tests.
pub(crate) const ROUND: usize = if cfg!(test) { 4 } else { 1 << 23 };

/// How points are shared among ranks.
#[derive(Debug, Clone)]
pub struct Share {
    /// Number of points per rank.
    counts: Vec<usize>,
    /// The points of the first rank, then those of the next, and so on; none where that is the
    /// order of the points itself.
    order: Option<Arc<[u32]>>,
}

impl Shares {
    /// Combines the shares of elements and of nodes.
    pub fn new(elements: Share, nodes: Share) -> Self {
        Self { elements, nodes, vertices: None }
    }

    /// Adds the share of the vertices of tetrahedra.
    #[must_use]
    pub fn with_vertices(self, vertices: Share) -> Self {
        Self { vertices: Some(vertices), ..self }
    }

    /// The share of the points of a mesh; none of other layouts.
    pub fn of(&self, layout: Layout) -> Option<&Share> {
        match layout {
            Layout::Elements => Some(&self.elements),
            Layout::Nodes => Some(&self.nodes),
            Layout::Vertices => self.vertices.as_ref(),
            Layout::Variables | Layout::Level => None,
        }
    }
}

impl Share {
    /// So many points for each rank, in their order.
    pub fn in_order(counts: Vec<usize>) -> Self {
        Self { counts, order: None }
    }

    /// So many points for each rank: those of the first, then those of the next, are `order`, which
    /// only the first rank needs.
    pub fn by(counts: Vec<usize>, order: Arc<[u32]>) -> Self {
        debug_assert!(order.is_empty() || counts.iter().sum::<usize>() == order.len());
        Self { counts, order: Some(order) }
    }

    /// Shares points among ranks in their order; each rank has one if there are enough.
    pub(crate) fn even(n_points: usize, n_ranks: usize) -> Self {
        let first = |rank: usize| n_points * rank / n_ranks;
        Self::in_order((0..n_ranks).map(|rank| first(rank + 1) - first(rank)).collect())
    }

    /// Whether the order of the ranks is that of the points.
    pub(crate) fn is_in_order(&self) -> bool {
        self.order.is_none()
    }

    /// Number of points, over all ranks.
    pub fn n_points(&self) -> usize {
        self.counts.iter().sum()
    }

    /// Number of points per rank.
    pub fn counts(&self) -> &[usize] {
        &self.counts
    }

    /// The points of a rank in the order of the ranks.
    pub(crate) fn own(&self, rank: usize) -> Range<usize> {
        let first = self.counts[..rank].iter().sum();
        first..first + self.counts[rank]
    }

    /// Rounds in which values of the ranks after the first cross: what crosses at a time needs room
    /// on a device.
    pub(crate) fn n_rounds(&self, unknowns: usize) -> usize {
        let most = self.counts.iter().skip(1).max();
        most.map_or(0, |most| most.div_ceil(Self::round_size(unknowns)))
    }

    /// The points of a rank that cross in a round, in the order of the ranks.
    pub(crate) fn in_round(&self, round: usize, unknowns: usize, rank: usize) -> Range<usize> {
        let Range { start, end } = self.own(rank);
        let at = |round: usize| (start + round * Self::round_size(unknowns)).min(end);
        at(round)..at(round + 1)
    }

    fn round_size(unknowns: usize) -> usize {
        (ROUND / unknowns).max(1)
    }

    /// Takes the rows of `values`, `[points][unknowns]`, at the places `points` in the order of the
    /// ranks.
    pub(crate) fn take(&self, values: &[f64], unknowns: usize, points: Range<usize>) -> Vec<f64> {
        match &self.order {
            None => values[unknowns * points.start..unknowns * points.end].to_vec(),
            Some(order) => {
                let row = |&point: &u32| &values[unknowns * point as usize..][..unknowns];
                order[points].iter().flat_map(row).copied().collect()
            }
        }
    }

    /// Writes the values `taken` at `points` in the order of the ranks to those of all points.
    pub(crate) fn put(
        &self,
        taken: &[f64],
        unknowns: usize,
        points: Range<usize>,
        values: &mut [f64],
    ) {
        match &self.order {
            None => {
                values[unknowns * points.start..unknowns * points.end].copy_from_slice(taken);
            }
            Some(order) => {
                for (&point, row) in order[points].iter().zip(taken.chunks_exact(unknowns)) {
                    values[unknowns * point as usize..][..unknowns].copy_from_slice(row);
                }
            }
        }
    }
}

#[cfg(test)]
impl Space {
    /// One space of each kind that ranks share.
    pub(crate) const SHARED: [Self; 3] = [
        Self { layout: Layout::Elements, points: 10, unknowns: 1 },
        Self { layout: Layout::Variables, points: 5, unknowns: 1 },
        Self { layout: Layout::Nodes, points: 7, unknowns: 3 },
    ];
}
