//! Tetrahedra cut at a threshold.

use topopt_mesh::HexMesh;

use crate::Field;

/// A threshold cut through the tetrahedra of a mesh.
pub(crate) struct Cut<'a> {
    pub mesh: &'a HexMesh,
    pub field: &'a Field,
    pub threshold: f64,
}

/// Cut points keep this share of an edge away from its ends: no triangle is degenerate.
pub(crate) const MARGIN: f64 = 0.001;

/// Even permutations of the corners of a tetrahedron by the mask of those inside: where one or
/// three are inside, the odd one first; where two are, these first.
const ORDER: [[usize; 4]; 16] = [
    [0, 1, 2, 3],
    [0, 1, 2, 3], // 0
    [1, 0, 3, 2], // 1
    [0, 1, 2, 3], // 0 1
    [2, 0, 1, 3], // 2
    [0, 2, 3, 1], // 0 2
    [1, 2, 0, 3], // 1 2
    [3, 0, 2, 1], // 0 1 2
    [3, 0, 2, 1], // 3
    [0, 3, 1, 2], // 0 3
    [1, 3, 2, 0], // 1 3
    [2, 0, 1, 3], // 0 1 3
    [2, 3, 0, 1], // 2 3
    [1, 0, 3, 2], // 0 2 3
    [0, 1, 2, 3], // 1 2 3
    [0, 1, 2, 3],
];

/// A tetrahedron by the number of its corners inside, in the order of [`ORDER`].
pub(crate) enum Position {
    Outside,
    /// The first corner is inside.
    One([u32; 4]),
    /// The first two corners are inside.
    Two([u32; 4]),
    /// The first corner is outside.
    Three([u32; 4]),
    Inside,
}

impl Cut<'_> {
    /// Whether a vertex belongs to the solid.
    pub fn is_inside(&self, vertex: u32) -> bool {
        self.field.at(vertex) >= self.threshold
    }

    /// Whether an element has vertices on both sides, among its nodes and center.
    pub fn is_cut(&self, element: usize) -> bool {
        let center = self.is_inside((self.mesh.n_nodes() + element) as u32);
        self.mesh.element(element).iter().any(|&node| self.is_inside(node) != center)
    }

    pub fn position(&self, tetrahedron: [u32; 4]) -> Position {
        let mask = (0..4).filter(|&i| self.is_inside(tetrahedron[i])).fold(0, |m, i| m | 1 << i);
        let corners = ORDER[mask].map(|i| tetrahedron[i]);
        match mask.count_ones() {
            0 => Position::Outside,
            1 => Position::One(corners),
            2 => Position::Two(corners),
            3 => Position::Three(corners),
            _ => Position::Inside,
        }
    }

    /// Locates the surface on an edge with one end inside: the share of the edge from `a`.
    pub fn share(&self, a: u32, b: u32) -> f64 {
        let (at_a, at_b) = (self.field.at(a), self.field.at(b));
        ((self.threshold - at_a) / (at_b - at_a)).clamp(MARGIN, 1.0 - MARGIN)
    }

    /// The share of a tetrahedron's volume that is inside, enclosed by exactly the triangles of
    /// the surface.
    pub fn share_inside(&self, tetrahedron: [u32; 4]) -> f64 {
        let corner =
            |[i, j, k, l]: [u32; 4]| self.share(i, j) * self.share(i, k) * self.share(i, l);
        match self.position(tetrahedron) {
            Position::Outside => 0.0,
            Position::One(corners) => corner(corners),
            // Three tetrahedra, on the side of i and j of the triangles that `iso_surface` makes.
            Position::Two([i, j, k, l]) => {
                let [ik, il, jk, jl] =
                    [(i, k), (i, l), (j, k), (j, l)].map(|(a, b)| self.share(a, b));
                jk * jl + ik * il * (1.0 - jl) + ik * jl * (1.0 - jk)
            }
            Position::Three(corners) => 1.0 - corner(corners),
            Position::Inside => 1.0,
        }
    }
}
