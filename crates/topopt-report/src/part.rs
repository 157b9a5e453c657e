//! The whole part, with what holds it and what acts on it.

use std::borrow::Cow;

use topopt_mesh::{Face, HexMesh, surface, tetrahedra};
use topopt_surface::TriangleSurface;

use crate::arrow::arrows;
use crate::color_map::{CASES, MARKS, PART, linear};
use crate::picture::Shape;
use crate::report::Part;

/// The boundary of the part, with what is held and loaded in colors of its own, and the forces of
/// each load case in front.
pub(crate) fn shapes<'a>(mesh: &HexMesh, part: &Part) -> Vec<Shape<'a>> {
    let mut shapes = vec![boundary(mesh, part)];
    shapes.extend(part.loads.iter().zip(CASES.iter().cycle()).map(|(load, &color)| {
        Shape::plain(Cow::Owned(arrows(mesh, &load.forces, 1.0)), linear(color)).in_front()
    }));
    shapes
}

fn boundary<'a>(mesh: &HexMesh, part: &Part) -> Shape<'a> {
    let faces = surface::boundary_faces(mesh);
    let corners = |face: &Face| face.nodes(mesh);
    let marks = Marks::of(part, mesh.n_nodes(), faces.iter().map(corners));

    let (mut triangles, mut colors) = (Vec::new(), Vec::new());
    for face in &faces {
        let whole = marks.of_face(corners(face));
        for triangle in tetrahedra::of_face(mesh, *face) {
            triangles.push(triangle);
            colors.push(triangle.map(|node| whole.unwrap_or_else(|| marks.of_node(node))));
        }
    }
    let surface = TriangleSurface::new(mesh.coordinates().to_vec(), triangles);
    Shape::of_corners(Cow::Owned(surface), |triangle| colors[triangle])
}

/// Colors of what is marked. A face has one if all its nodes are marked; a marked node without such
/// a face colors what is around it.
struct Marks {
    /// Whether a node has a mark, and the color of those.
    kinds: Vec<(Vec<bool>, [f32; 3])>,
    /// Whether a node is one of a colored face, `[n_nodes]`.
    is_shown: Vec<bool>,
}

impl Marks {
    fn of(part: &Part, n_nodes: usize, faces: impl Iterator<Item = [u32; 4]>) -> Self {
        let kinds = part.marks.iter().zip(MARKS).map(|(mark, color)| {
            let mut is_marked = vec![false; n_nodes];
            mark.nodes.iter().for_each(|&node| is_marked[node as usize] = true);
            (is_marked, linear(color))
        });
        let mut marks = Self { kinds: kinds.collect(), is_shown: Vec::new() };
        let mut is_shown = vec![false; n_nodes];
        for face in faces.filter(|face| marks.of_face(*face).is_some()) {
            face.iter().for_each(|&node| is_shown[node as usize] = true);
        }
        marks.is_shown = is_shown;
        marks
    }

    fn of_face(&self, nodes: [u32; 4]) -> Option<[f32; 3]> {
        let is_whole = |is_marked: &[bool]| nodes.iter().all(|&node| is_marked[node as usize]);
        self.kinds.iter().find(|(is_marked, _)| is_whole(is_marked)).map(|(_, color)| *color)
    }

    fn of_node(&self, node: u32) -> [f32; 3] {
        let node = node as usize;
        let marked = self.kinds.iter().find(|(is_marked, _)| is_marked[node]);
        marked.filter(|_| !self.is_shown[node]).map_or(linear(PART), |(_, color)| *color)
    }
}

#[cfg(test)]
mod tests {
    use topopt_mesh::generate::{Benchmark, Resolution};

    use super::*;
    use crate::report::Mark;

    #[test]
    fn whole_faces_are_colored_and_single_nodes_color_their_surroundings() {
        let mesh = Benchmark::Cantilever.generate(Resolution::Elements(250)).unwrap();
        let nodes = |is_there: fn(&[f64; 3]) -> bool| -> Vec<u32> {
            let x = mesh.coordinates();
            (0..x.len()).filter(|&node| is_there(&x[node])).map(|node| node as u32).collect()
        };
        let mark = |nodes| Mark { name: String::new(), nodes };
        let [held, loaded] = [nodes(|x| x[0] == 0.0), nodes(|x| *x == [10.0, 5.0, 5.0])];
        let part = Part { marks: vec![mark(loaded), mark(held)], loads: Vec::new() };
        let [loaded, supported, ..] = MARKS;

        let shape = boundary(&mesh, &part);
        let (mut n_supported, mut n_loaded) = (0, 0);
        for (triangle, colors) in shape.surface.triangles().iter().zip(&shape.colors) {
            let x = triangle.map(|node| mesh.coordinates()[node as usize]);
            let on_end = x.iter().all(|x| x[0] == 0.0);
            n_supported += usize::from(on_end);
            assert_eq!(*colors == [linear(supported); 3], on_end, "{x:?}");
            n_loaded += colors.iter().filter(|color| **color == linear(loaded)).count();
            assert!(on_end || colors.iter().all(|color| *color != linear(supported)));
        }
        // Two triangles of each of 25 faces; the triangles at a corner of the box.
        assert!(n_supported == 50 && (3..=6).contains(&n_loaded), "{n_supported} {n_loaded}");
    }
}
