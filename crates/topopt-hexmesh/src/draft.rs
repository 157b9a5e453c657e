//! The mesh under construction, and the skins of its bodies.

use std::collections::{BTreeMap, HashMap};

use topopt_mesh::hexahedron::{EDGES, FACES};

use crate::cells::Region;
use crate::grid::Grid;
use crate::surface::Vec3;

/// Mesh whose skins are being mapped to the features.
#[derive(Debug, Clone, Default)]
pub(crate) struct Draft {
    /// Nodes, `[n_nodes]`.
    pub points: Vec<Vec3>,
    /// Nodes of the hexahedra, `[n_hexes][8]`.
    pub hexes: Vec<[u32; 8]>,
    /// Body that each hexahedron is of, `[n_hexes]`.
    pub bodies: Vec<u32>,
    /// Lengths that the edges of each hexahedron should have, `[n_hexes][3]`.
    pub sizes: Vec<[f64; 3]>,
    /// Faces of the skins; one between two bodies stands twice, once for each.
    pub quads: Vec<Quad>,
    /// Chain that each edge of the skin lies on, if any; smaller node first.
    pub curves: BTreeMap<(u32, u32), u32>,
    /// Corner that a node stands on.
    pub corners: BTreeMap<u32, u32>,
    /// Size of the smallest cells of the grid.
    pub size: f64,
    /// Times that the smallest elements were divided in three.
    pub levels: i32,
    /// Size of cells where nothing asks for smaller ones.
    pub usual: f64,
}

/// Face of the skin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Quad {
    /// Nodes, counter-clockwise from outside.
    pub nodes: [u32; 4],
    /// Hexahedron that it belongs to.
    pub hex: u32,
    /// Patch that it lies on.
    pub patch: u32,
}

impl Quad {
    /// The edges, from node to node.
    pub fn edges(&self) -> [(u32, u32); 4] {
        [0, 1, 2, 3].map(|k| (self.nodes[k], self.nodes[(k + 1) % 4]))
    }
}

/// Edge between two nodes, smaller first.
pub(crate) fn edge(a: u32, b: u32) -> (u32, u32) {
    (a.min(b), a.max(b))
}

/// The edges of a hexahedron, smaller node first.
pub(crate) fn hex_edges(hex: &[u32; 8]) -> [(u32, u32); 12] {
    EDGES.map(|[a, b]| edge(hex[a], hex[b]))
}

impl Draft {
    /// Makes a hexahedron of each cell that is not outside.
    pub fn of_cells(grid: &Grid, regions: &[Region], [size, usual]: [f64; 2]) -> Self {
        let n = grid.cells();
        let mut number = vec![u32::MAX; (0..3).map(|k| n[k] + 1).product()];
        let mut draft = Self { size, usual, ..Self::default() };
        let region = |at: [usize; 3]| regions[grid.cell(at)];
        for at in places(n).filter(|&at| region(at) > 0) {
            let hex = OFFSETS.map(|offset| {
                let at = [0, 1, 2].map(|k| at[k] + offset[k]);
                let known = &mut number[grid.crossing(at)];
                if *known == u32::MAX {
                    *known = draft.points.len() as u32;
                    draft.points.push(Vec3::from_fn(|k, _| grid.planes[k][at[k]]));
                }
                *known
            });
            for (local, face) in FACES.iter().enumerate() {
                let mut behind = at;
                behind[local / 2] =
                    if local % 2 == 0 { at[local / 2] - 1 } else { at[local / 2] + 1 };
                if region(behind) != region(at) {
                    let hex_number = draft.hexes.len() as u32;
                    draft.quads.push(Quad {
                        nodes: face.map(|a| hex[a]),
                        hex: hex_number,
                        patch: 0,
                    });
                }
            }
            draft.hexes.push(hex);
            draft.bodies.push(u32::from(region(at)) - 1);
            draft.sizes.push([0, 1, 2].map(|k| grid.planes[k][at[k] + 1] - grid.planes[k][at[k]]));
        }
        draft
    }

    /// Size of the smallest elements.
    pub fn smallest(&self) -> f64 {
        self.size / 3.0_f64.powi(self.levels)
    }

    /// Body that a quad is of.
    pub fn body(&self, quad: &Quad) -> u32 {
        self.bodies[quad.hex as usize]
    }

    /// Quad on the left of each edge of each body's skin, by the ends of the edge and the body.
    pub fn quad_at(&self) -> HashMap<(u32, u32, u32), u32> {
        let of_quad = |(quad, q): (&Quad, u32)| {
            let body = self.body(quad);
            quad.edges().map(|(a, b)| ((a, b, body), q))
        };
        self.quads.iter().zip(0..).flat_map(of_quad).collect()
    }

    /// Regions on both sides of each quad, ascending, `[n_quads]`: 0 is outside, bodies follow.
    pub fn sheets(&self) -> Vec<[u32; 2]> {
        let own = |quad: &Quad| self.body(quad) + 1;
        if self.bodies.iter().all(|body| *body == self.bodies[0]) {
            return self.quads.iter().map(|quad| [0, own(quad)]).collect();
        }
        let mut sums: HashMap<[u32; 4], [u32; 2]> = HashMap::new();
        for quad in &self.quads {
            sums.entry(sorted(quad.nodes))
                .and_modify(|sides| sides[0] = own(quad))
                .or_insert([0, own(quad)]);
        }
        let of_quad = |quad: &Quad| {
            let [a, b] = sums[&sorted(quad.nodes)];
            [a.min(b), a.max(b)]
        };
        self.quads.iter().map(of_quad).collect()
    }

    /// Chain that the edge between two nodes lies on.
    pub fn chain(&self, a: u32, b: u32) -> Option<u32> {
        self.curves.get(&edge(a, b)).copied()
    }

    /// Quads that turn by a half circle at a node in the middle of a chain: pairs of patch and
    /// chain, one for each such corner of a quad.
    pub fn zigzags(&self) -> Vec<(u32, u32)> {
        let mut found = Vec::new();
        for quad in &self.quads {
            for k in 0..4 {
                let [last, node, next] = [3, 0, 1].map(|step| quad.nodes[(k + step) % 4]);
                let chains = [self.chain(last, node), self.chain(node, next)];
                if let [Some(a), Some(b)] = chains
                    && a == b
                    && !self.corners.contains_key(&node)
                {
                    found.push((quad.patch, a));
                }
            }
        }
        found
    }

    /// Whether the quads of the skin are the faces of one hexahedron alone and, twice, those of two
    /// hexahedra of different bodies, and no face has three.
    pub fn is_conforming(&self) -> bool {
        let of_hex = |(hex, &body): (&[u32; 8], &u32)| {
            FACES.map(|face| (sorted(face.map(|a| hex[a])), body))
        };
        let hexes = self.hexes.iter().zip(&self.bodies);
        let mut faces: Vec<([u32; 4], u32)> = hexes.flat_map(of_hex).collect();
        faces.sort_unstable();
        let groups = || faces.chunk_by(|a, b| a.0 == b.0);
        let is_skin = |group: &&[([u32; 4], u32)]| group[0].1 != group[1 % group.len()].1;
        let is_free = |group: &&[([u32; 4], u32)]| group.len() == 1 || is_skin(group);
        let free: Vec<([u32; 4], u32)> = groups().filter(is_free).flatten().copied().collect();
        let of_quad = |quad: &Quad| (sorted(quad.nodes), self.body(quad));
        let mut skin: Vec<([u32; 4], u32)> = self.quads.iter().map(of_quad).collect();
        skin.sort_unstable();
        groups().all(|group| group.len() <= 2) && free == skin
    }

    /// Adds hexahedra, and the body of each, whose first four nodes and last four are copies of
    /// each other, with the sizes that these faces have now, as thick as they are wide.
    pub fn add_layer(&mut self, layer: Vec<([u32; 8], u32)>) {
        let at = |node: u32| self.points[node as usize];
        let longest = |hex: &[u32; 8], pairs: [[usize; 2]; 2]| {
            let lengths = pairs.map(|[a, b]| (at(hex[a]) - at(hex[b])).norm());
            let longest = lengths[0].max(lengths[1]);
            if longest < 1e-9 * self.size { self.size } else { longest }
        };
        let of_hex = |hex: &[u32; 8]| {
            let [a, b] = [[[0, 1], [4, 5]], [[0, 3], [4, 7]]].map(|pairs| longest(hex, pairs));
            [a, b, a.min(b).clamp(self.size, self.usual)]
        };
        let sizes: Vec<[f64; 3]> = layer.iter().map(|(hex, _)| of_hex(hex)).collect();
        self.sizes.extend(sizes);
        let (hexes, bodies): (Vec<[u32; 8]>, Vec<u32>) = layer.into_iter().unzip();
        self.hexes.extend(hexes);
        self.bodies.extend(bodies);
    }
}

/// Nodes of a face in ascending order.
fn sorted(mut nodes: [u32; 4]) -> [u32; 4] {
    nodes.sort_unstable();
    nodes
}

/// Corners of a cell in the order of the nodes of a hexahedron.
pub(crate) const OFFSETS: [[usize; 3]; 8] =
    [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]];

/// Place in a hexahedron with corners `x` at shares of its edges from corner 0.
pub(crate) fn interpolated(x: &[Vec3; 8], shares: [f64; 3]) -> Vec3 {
    let along = |k: usize, end: usize| if end == 1 { shares[k] } else { 1.0 - shares[k] };
    let weight = |offset: [usize; 3]| (0..3).map(|k| along(k, offset[k])).product::<f64>();
    (0..8).map(|a| x[a] * weight(OFFSETS[a])).sum()
}

/// Cells of a grid of `n` cells in their order.
fn places(n: [usize; 3]) -> impl Iterator<Item = [usize; 3]> {
    let row = move |i: usize, j: usize| (0..n[2]).map(move |k| [i, j, k]);
    (0..n[0]).flat_map(move |i| (0..n[1]).flat_map(move |j| row(i, j)))
}
