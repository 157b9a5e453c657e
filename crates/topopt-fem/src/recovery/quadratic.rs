//! Nodal values of tetrahedra: at vertices those of the fields through the patches around, between
//! two vertices the mean of the fields of both.

use nalgebra::Vector3;
use rayon::prelude::*;
use topopt_mesh::cells::Shape;

use super::around::Around;
use super::patch_field::{PatchField, Sample};
use super::samples::{AtNodes, Samples};

/// Fields by the materials at a node.
type Fields<const C: usize> = Vec<(u32, PatchField<C>)>;

/// The values at the nodes.
pub(super) fn at_nodes<const C: usize>(samples: &Samples<C>, around: &Around) -> AtNodes<C> {
    let mesh = around.mesh;
    let ends: Vec<[u32; 2]> =
        (0..mesh.n_nodes()).into_par_iter().map(|node| ends(around, node)).collect();
    let fields = |node: usize| match ends[node] {
        [a, b] if a == b => fields(samples, around, node),
        _ => Vec::new(),
    };
    let fields: Vec<Fields<C>> = (0..mesh.n_nodes()).into_par_iter().map(fields).collect();

    let of_node = |node: usize| {
        let x = Vector3::from(mesh.coordinates()[node]);
        let value = |material: u32| {
            let own = ends[node].map(|end| value(&fields[end as usize], material, x));
            (material, std::array::from_fn(|i| 0.5 * (own[0][i] + own[1][i])))
        };
        around.materials_at(node).into_iter().map(value).collect()
    };
    (0..mesh.n_nodes()).into_par_iter().map(of_node).collect()
}

/// The vertices that a node is in the middle of; a vertex twice.
fn ends(around: &Around, node: usize) -> [u32; 2] {
    around.adjacency.of(node).next().map_or([node as u32; 2], |(element, local)| {
        let nodes = around.mesh.element(element as usize);
        match (local as usize).checked_sub(4) {
            Some(edge) => Shape::Tetrahedron.edges()[edge].map(|a| nodes[a]),
            None => [node as u32; 2],
        }
    })
}

fn value<const C: usize>(fields: &Fields<C>, material: u32, x: Vector3<f64>) -> [f64; C] {
    let own = fields.iter().find(|(other, _)| *other == material);
    own.map_or([0.0; C], |(_, field)| field.at(x))
}

/// The field of every material at a vertex, through the integration points of its tetrahedra.
fn fields<const C: usize>(samples: &Samples<C>, around: &Around, node: usize) -> Fields<C> {
    let field = |material| {
        let patch = around.patch(node, material);
        let points: Vec<_> = patch.iter().flat_map(|&e| at_points(samples, around, e)).collect();
        (material, PatchField::through(&points))
    };
    around.materials_at(node).into_iter().map(field).collect()
}

/// The values of a tetrahedron at its integration points, weighted by its volume.
fn at_points<const C: usize>(
    samples: &Samples<C>,
    around: &Around,
    element: u32,
) -> impl Iterator<Item = Sample<C>> {
    let (mesh, e) = (around.mesh, element as usize);
    let center = Vector3::from(mesh.point(e, mesh.reference_center()));
    let (value, slopes) = (samples.values[e], samples.slopes[e]);
    mesh.integration_points().into_iter().map(move |xi| {
        let at = Vector3::from(mesh.point(e, xi));
        let arm = at - center;
        let own = |i: usize| value[i] + (0..3).map(|j| arm[j] * slopes[j][i]).sum::<f64>();
        Sample { at, weight: mesh.determinant(e, xi), value: std::array::from_fn(own) }
    })
}
