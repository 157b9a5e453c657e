//! Named sets of one mesh found again on another one of what is left of the same body.

use std::collections::BTreeMap;

use topopt_mesh::triangles::Triangles;
use topopt_mesh::vector::{difference, dot, length};
use topopt_mesh::{Face, HexMesh, Places, Sets, surface, tetrahedra};

/// Distance in element widths within which a face lies on another mesh's: chords of coarse elements
/// leave a bore by an eighth of their length squared over its radius.
const REACH: f64 = 0.25;

/// Cosine of the angle up to which two faces look the same way.
const SAME_WAY: f64 = 0.7;

/// Share of other nodes at a node that lies between those of a set.
const ROUNDED: f64 = 1e-6;

/// Returns the `sets` of the mesh `from` on the mesh `to`, of elements as wide as `width` in
/// `from`.
///
/// A face belongs to the sets of the face that it lies on; a node to those that hold all corners of
/// such a face, or of the element around it. Nodes of a set besides these, as on an edge, become
/// the nearest ones; elements are in the sets of the element around their center.
pub(super) fn transferred(sets: &Sets, from: &HexMesh, to: &HexMesh, width: f64) -> Sets {
    let faces = Faces::of(from, to, width);
    let nearest = Nearest::of(to);
    let around: Vec<u32> = match sets.elements.is_empty() {
        true => Vec::new(),
        false => Places::of(from, &to.centers()).elements().collect(),
    };
    Sets {
        nodes: on_each(&sets.nodes, |set| faces.nodes(set, &nearest, width)),
        faces: on_each(&sets.faces, |set| {
            faces.on(|face| set.binary_search(&face).is_ok()).collect()
        }),
        elements: on_each(&sets.elements, |set| members(&around, set)),
    }
}

/// Applies `f` to each set, sorted.
fn on_each<T: Copy + Ord>(
    sets: &BTreeMap<String, Vec<T>>,
    f: impl Fn(&[T]) -> Vec<T>,
) -> BTreeMap<String, Vec<T>> {
    let sorted = |set: &Vec<T>| {
        let mut set = set.clone();
        set.sort_unstable();
        set
    };
    sets.iter().map(|(name, set)| (name.clone(), f(&sorted(set)))).collect()
}

/// The places in `around` of what is in `set`, which is sorted.
fn members(around: &[u32], set: &[u32]) -> Vec<u32> {
    let is_in = |element: &u32| set.binary_search(&around[*element as usize]).is_ok();
    (0..around.len() as u32).filter(is_in).collect()
}

/// The faces at the boundary of a mesh, with the faces of another one that they lie on.
struct Faces<'a> {
    from: &'a HexMesh,
    to: &'a HexMesh,
    /// Boundary of `from`.
    boundary: Vec<Face>,
    /// Pairs of a face of `to` and the one of `from` that it lies on.
    pairs: Vec<(Face, Face)>,
}

impl<'a> Faces<'a> {
    fn of(from: &'a HexMesh, to: &'a HexMesh, width: f64) -> Self {
        let of_face = |face| tetrahedra::of_face(from, face).map(move |corners| (corners, face));
        let boundary = surface::boundary_faces(from);
        let triangles = boundary.iter().copied().flat_map(of_face);
        let (corners, owners): (Vec<[u32; 3]>, Vec<Face>) = triangles.unzip();
        let places = corners.iter().map(|t| t.map(|vertex| tetrahedra::coordinates(from, vertex)));
        let walls = Triangles::new(places);

        let pair = |face| Some((face, owners[under(&walls, face, (from, to), &owners, width)?]));
        let pairs = surface::boundary_faces(to).into_iter().filter_map(pair).collect();
        Self { from, to, boundary, pairs }
    }

    /// The faces of `to` on those of `from` that are `wanted`.
    fn on(&self, wanted: impl Fn(Face) -> bool) -> impl Iterator<Item = Face> {
        self.pairs.iter().filter(move |(_, owner)| wanted(*owner)).map(|(face, _)| *face)
    }

    /// The nodes of `to` that stand for the `set` of nodes of `from`, sorted.
    fn nodes(&self, set: &[u32], nearest: &Nearest, width: f64) -> Vec<u32> {
        let mut is_in = vec![false; self.from.n_nodes()];
        set.iter().for_each(|&node| is_in[node as usize] = true);
        let n_corners = self.from.shape().n_corners();
        let is_covered = |face: Face| face.nodes(self.from).iter().all(|&n| is_in[n as usize]);
        let mut nodes: Vec<u32> =
            self.on(is_covered).flat_map(|face| face.all_nodes(self.to)).collect();

        let mut in_filled = vec![[0.0]; self.from.n_nodes()];
        let is_filled = |nodes: &&[u32]| nodes[..n_corners].iter().all(|&n| is_in[n as usize]);
        let filled = self.from.elements().filter(is_filled);
        filled.flatten().for_each(|&node| in_filled[node as usize] = [1.0]);
        nodes.extend(self.within(&in_filled));

        let mut is_alone = is_in.clone();
        is_alone.iter_mut().zip(&in_filled).for_each(|(alone, [filled])| *alone &= *filled == 0.0);
        for face in self.boundary.iter().filter(|face| is_covered(**face)) {
            face.all_nodes(self.from).for_each(|node| is_alone[node as usize] = false);
        }
        let alone = set.iter().filter(|&&node| is_alone[node as usize]);
        nodes.extend(
            alone.filter_map(|&node| nearest.within(self.from.coordinates()[node as usize], width)),
        );
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    /// The nodes of `to` in elements, or at their faces, of which all nodes of `from` are `filled`,
    /// 1 or 0, `[n_nodes]`.
    fn within(&self, filled: &[[f64; 1]]) -> Vec<u32> {
        if !filled.contains(&[1.0]) {
            return Vec::new();
        }
        let values = Places::of(self.from, self.to.coordinates()).values(filled);
        (0..)
            .zip(values)
            .filter(|(_, [share])| *share > 1.0 - ROUNDED)
            .map(|(node, _)| node)
            .collect()
    }
}

/// The triangle of `walls` that `face` of `to` lies on, looking the same way as its owner in
/// `from`.
fn under(
    walls: &Triangles,
    face: Face,
    (from, to): (&HexMesh, &HexMesh),
    owners: &[Face],
    width: f64,
) -> Option<usize> {
    let x = surface::face_coordinates(to, face);
    let center = surface::face_center(&x);
    let (triangle, place) = walls.nearest_of(center)?;
    let owner = surface::face_coordinates(from, owners[triangle]);
    let [a, b] = [x, owner].map(|corners| surface::area_vector(&corners));
    let is_alike = dot(a, b) >= SAME_WAY * length(a) * length(b);
    (is_alike && length(difference(place, center)) <= REACH * width).then_some(triangle)
}

/// The nodes of a mesh, searched for the nearest one.
struct Nearest(Triangles);

impl Nearest {
    fn of(mesh: &HexMesh) -> Self {
        Self(Triangles::new(mesh.coordinates().iter().map(|&x| [x; 3])))
    }

    /// The node nearest to `x`, if that is within `reach`.
    fn within(&self, x: [f64; 3], reach: f64) -> Option<u32> {
        let (node, place) = self.0.nearest_of(x)?;
        (length(difference(place, x)) <= reach).then_some(node as u32)
    }
}

#[cfg(test)]
mod tests {
    use topopt_mesh::generate::{Benchmark, Resolution};

    use super::*;

    /// A cantilever of 10 x 5 x 5 units in about so many cubes.
    fn cantilever(elements: usize) -> HexMesh {
        let mesh = Benchmark::Cantilever.generate(Resolution::Elements(elements)).unwrap();
        let scale = 10.0 / mesh.bounding_box().extent()[0];
        let x = mesh.coordinates().iter().map(|x| x.map(|x| scale * x)).collect();
        HexMesh::new(x, mesh.hexes().to_vec(), mesh.sets().clone()).unwrap()
    }

    #[test]
    fn sets_of_a_coarse_mesh_are_found_on_a_fine_one_and_back() {
        let [coarse, fine] = [250, 2000].map(cantilever);
        for (from, to) in [(&coarse, &fine), (&fine, &coarse)] {
            let width = 10.0 / if from.n_elements() < 1000 { 10.0 } else { 20.0 };
            let sets = transferred(from.sets(), from, to, width);
            assert_eq!(sets.elements, to.sets().elements);
            let sorted = |sets: &Sets| {
                let mut faces = sets.faces["fixed"].clone();
                faces.sort_unstable();
                faces
            };
            assert_eq!(sorted(&sets), sorted(to.sets()));
        }
    }

    #[test]
    fn nodes_of_faces_take_all_and_nodes_of_an_edge_the_nearest() {
        let [coarse, fine] = [250, 2000].map(cantilever);
        let on = |mesh: &HexMesh, is_in: &dyn Fn([f64; 3]) -> bool| -> Vec<u32> {
            let nodes = 0..mesh.n_nodes() as u32;
            nodes.filter(|&node| is_in(mesh.coordinates()[node as usize])).collect()
        };
        let low = coarse.bounding_box().min;
        let face = |x: [f64; 3]| (x[0] - low[0]).abs() < 1e-9;
        let edge = |x: [f64; 3]| face(x) && (x[1] - low[1]).abs() < 1e-9;

        let mut sets = Sets::default();
        sets.nodes.insert("face".into(), on(&coarse, &face));
        sets.nodes.insert("edge".into(), on(&coarse, &edge));
        let found = transferred(&sets, &coarse, &fine, 1.0);
        assert_eq!(found.nodes["face"], on(&fine, &face));
        // A box of nodes holds all that is in its elements.
        let block = |x: [f64; 3]| x[0] - low[0] < 3.0 + 1e-9;
        sets.nodes.insert("block".into(), on(&coarse, &block));
        assert_eq!(transferred(&sets, &coarse, &fine, 1.0).nodes["block"], on(&fine, &block));
        let every_second = |x: [f64; 3]| edge(x) && ((x[2] - low[2]).fract() % 1.0).abs() < 1e-9;
        assert_eq!(found.nodes["edge"], on(&fine, &every_second));
    }

    #[test]
    fn nothing_is_found_where_nothing_is_left() {
        let coarse = cantilever(250);
        let away: Vec<[f64; 3]> =
            coarse.coordinates().iter().map(|x| [x[0] + 20.0, x[1], x[2]]).collect();
        let away = HexMesh::new(away, coarse.hexes().to_vec(), Sets::default()).unwrap();
        let found = transferred(coarse.sets(), &coarse, &away, 1.0);
        assert!(found.faces["fixed"].is_empty() && found.nodes["load"].is_empty());
    }
}
