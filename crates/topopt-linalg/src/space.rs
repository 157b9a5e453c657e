//! What the entries of a vector stand on.

/// What the entries of a vector stand on, and so who owns an entry where several devices share a
/// mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// The elements of a mesh: an entry belongs to one device.
    Elements,
    /// The nodes of a mesh: devices share those between their elements.
    Nodes,
    /// A level that no mesh describes, such as a coarse level of a hierarchy.
    Level,
}

/// The space of a vector: how many points of which kind, and how many unknowns per point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    /// What the points are.
    pub layout: Layout,
    /// How many there are.
    pub points: usize,
    /// Unknowns per point. On the host they lie side by side, `[points][unknowns]`.
    pub unknowns: usize,
}

impl Space {
    /// One number per element.
    pub fn elements(points: usize) -> Self {
        Self { layout: Layout::Elements, points, unknowns: 1 }
    }

    /// `unknowns` numbers per node.
    pub fn nodes(points: usize, unknowns: usize) -> Self {
        Self { layout: Layout::Nodes, points, unknowns }
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
