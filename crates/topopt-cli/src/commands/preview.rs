//! The file of `topopt check --preview`: sets, supports and loads, to look at in ParaView.

use std::collections::BTreeMap;
use std::path::Path;

use topopt_io::vtk::{Array, Compression, Values, vtu};
use topopt_mesh::Quality;

use topopt_study::case::Case;
use topopt_study::config::Config;
use topopt_study::finding::Finding;
use topopt_study::materials::body_forces;
use topopt_study::model::on_all_nodes;

/// Writes the mesh with what lies on it. Cells: `solid`, `void` and the element sets, 0 or 1, and the
/// `scaled_jacobian`.
/// Points: `support`, 1 + 2 + 4 where x, y and z are held; `force` of the first load case and
/// `force_NAME` of the others, `displacement` likewise, `body_force` likewise, of gravity and rotation
/// where all is solid, and `spring`, the stiffness, where there are any; the nodes of node and face sets. Sets are called `set_NAME`.
///
/// # Errors
/// A finding if the file cannot be written, or is not to be a .vtu file.
pub(super) fn write(path: &Path, config: &Config, case: &Case) -> Result<(), Finding> {
    if !path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("vtu")) {
        let finding = Finding::new(format!("cannot write a preview to {}", path.display()));
        return Err(finding.remedy("give a file name that ends with .vtu"));
    }

    let (flags, vectors) = (point_flags(case), vectors(config, case));
    let vectors = vectors.iter().map(|(name, values)| Array {
        name: name.as_str(),
        components: 3,
        values: Values::F64(values.as_flattened()),
    });

    let points: Vec<_> = flags.iter().map(scalar).chain(vectors).collect();
    let cells = cell_flags(case);
    let quality = Quality::of(&case.mesh).scaled_jacobian;
    let quality = Array { name: "scaled_jacobian", components: 1, values: Values::F64(&quality) };
    let cells: Vec<_> = cells.iter().map(scalar).chain([quality]).collect();

    let mesh = &case.mesh;
    vtu::write(path, mesh.coordinates(), mesh.hexes(), &points, &cells, Compression::Zlib).map_err(
        |error| {
            let remedy = "choose an existing, writable folder";
            Finding::new(error.to_string()).remedy(remedy)
        },
    )
}

fn scalar<'a>((name, values): (&'a String, &'a Vec<u8>)) -> Array<'a> {
    Array { name, components: 1, values: Values::U8(values) }
}

fn cell_flags(case: &Case) -> BTreeMap<String, Vec<u8>> {
    let n = case.mesh.n_elements();
    let own = [("solid".to_owned(), &case.solid), ("void".to_owned(), &case.void)];
    let sets = case.sets.elements.iter().map(|(name, set)| (format!("set_{name}"), set));
    own.into_iter().chain(sets).map(|(name, set)| (name, flags(n, set))).collect()
}

fn point_flags(case: &Case) -> BTreeMap<String, Vec<u8>> {
    let n = case.mesh.n_nodes();
    let mut arrays = BTreeMap::new();
    let mut support = vec![0; n];
    for (nodes, bit) in case.fixed.iter().zip([1, 2, 4]) {
        nodes.iter().for_each(|&node| support[node as usize] |= bit);
    }
    arrays.insert("support".to_owned(), support);
    for (name, nodes) in &case.sets.nodes {
        arrays.insert(format!("set_{name}"), flags(n, nodes));
    }
    for (name, faces) in &case.sets.faces {
        let array = arrays.entry(format!("set_{name}")).or_insert_with(|| vec![0; n]);
        let nodes = faces.iter().flat_map(|face| face.nodes(case.mesh.hexes()));
        nodes.for_each(|node| array[node as usize] = 1);
    }
    arrays
}

/// Forces and displacements on all nodes by load case, then springs.
fn vectors(config: &Config, case: &Case) -> Vec<(String, Vec<[f64; 3]>)> {
    let all = |values| on_all_nodes(case.mesh.n_nodes(), values);
    let mut vectors = Vec::new();
    for (k, load) in case.load_cases.iter().enumerate() {
        let of = |what: &str| if k == 0 { what.into() } else { format!("{what}_{}", load.name) };
        vectors.push((of("force"), all(&load.forces)));
        if !load.acceleration().is_zero() {
            vectors.push((of("body_force"), body_forces(config, case, load)));
        }
        if !load.displacements.is_empty() {
            vectors.push((of("displacement"), all(&load.displacements)));
        }
    }
    if !case.springs.is_empty() {
        vectors.push(("spring".into(), all(&case.springs)));
    }
    vectors
}

fn flags(n: usize, numbers: &[u32]) -> Vec<u8> {
    let mut flags = vec![0; n];
    numbers.iter().for_each(|&i| flags[i as usize] = 1);
    flags
}
