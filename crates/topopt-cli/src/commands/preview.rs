//! The file of `topopt check --preview`: sets, supports and loads, to look at in ParaView.

use std::collections::BTreeMap;
use std::path::Path;

use topopt_fem::{DIM, Diffusion, Elasticity};
use topopt_io::vtk::{Array, Compression, Values, vtu};
use topopt_mesh::Quality;

use topopt_case::case::Case;
use topopt_case::case_loads::CaseLoads;
use topopt_case::config::Config;
use topopt_case::finding::Finding;
use topopt_case::materials::body_forces;
use topopt_case::model::on_all_nodes;
use topopt_case::physics::Physics;

/// Writes the mesh with what lies on it. Cells: `solid`, `void` and the element sets, 0 or 1, and the
/// `scaled_jacobian`.
/// Points: `support`, 1 + 2 + 4 where x, y and z are held; `force` of the first load case and
/// `force_NAME` of the others; `displacement` and `body_force`, of gravity and rotation where all is
/// solid, under such names too; `spring`, the stiffness, where there are any; the nodes of node and
/// face sets. Sets are called `set_NAME`.
///
/// # Errors
/// A finding if the file cannot be written, or if its name does not end with .vtu.
pub(super) fn write(path: &Path, config: &Config, case: &Case) -> Result<(), Finding> {
    let body = |load: &CaseLoads| {
        (!load.acceleration().is_zero()).then(|| body_forces(config, case, load))
    };
    write_of::<Elasticity, DIM>(path, case, SPRING, body)
}

/// Writes the preview of a heat case. Points: `support`, 1 where the temperature is held; `heat` by
/// load case, named as forces are, with the inflow from the ambient; held values of `temperature` by
/// load case; `film`, film coefficient times area. Cells: `heat_source`, 1 where heat comes from
/// within.
///
/// # Errors
/// As [`write`].
pub(super) fn write_heat(path: &Path, case: &Case<1>) -> Result<(), Finding> {
    write_of::<Diffusion, 1>(path, case, FILM, |_| None)
}

/// Names of the arrays of springs, and for heat of films.
const SPRING: &str = "spring";
const FILM: &str = "film";

/// Name of the cells that are heated from within.
const HEAT_SOURCE: &str = "heat_source";

/// Writes the mesh with arrays of vectors by load case: `body` computes the forces on all nodes that
/// act besides those of the case, and `spring` names the array of springs.
fn write_of<K: Physics<N>, const N: usize>(
    path: &Path,
    case: &Case<N>,
    spring: &str,
    body: impl Fn(&CaseLoads<N>) -> Option<Vec<[f64; N]>>,
) -> Result<(), Finding> {
    if !path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("vtu")) {
        let finding = Finding::new(format!("cannot write a preview to {}", path.display()));
        return Err(finding.remedy("give a file name that ends with .vtu"));
    }

    let (flags, vectors) = (point_flags(case), vectors::<K, N>(case, spring, body));
    let vectors = vectors.iter().map(|(name, values)| Array {
        name: name.as_str(),
        components: N,
        values: Values::F64(values.as_flattened()),
    });

    let points: Vec<_> = flags.iter().map(scalar).chain(vectors).collect();
    let cells = cell_flags(case);
    let quality = Quality::of(&case.mesh).scaled_jacobian;
    let quality = Array { name: "scaled_jacobian", components: 1, values: Values::F64(&quality) };
    let cells: Vec<_> = cells.iter().map(scalar).chain([quality]).collect();

    let mesh = &case.mesh;
    vtu::write(path, mesh.coordinates(), mesh, &points, &cells, Compression::Zlib).map_err(
        |error| {
            let remedy = "choose an existing, writable folder";
            Finding::new(error.to_string()).remedy(remedy)
        },
    )
}

fn scalar<'a>((name, values): (&'a String, &'a Vec<u8>)) -> Array<'a> {
    Array { name, components: 1, values: Values::U8(values) }
}

fn cell_flags<const N: usize>(case: &Case<N>) -> BTreeMap<String, Vec<u8>> {
    let n = case.mesh.n_elements();
    let own = [("solid".to_owned(), &case.solid), ("void".to_owned(), &case.void)];
    let sets = case.sets.elements.iter().map(|(name, set)| (format!("set_{name}"), set));
    let within = case.loaded.as_ref().map(|loaded| (HEAT_SOURCE.to_owned(), &loaded.elements));
    let within = within.filter(|(_, elements)| !elements.is_empty());
    let all = own.into_iter().chain(sets).chain(within);
    all.map(|(name, set)| (name, flags(n, set))).collect()
}

fn point_flags<const N: usize>(case: &Case<N>) -> BTreeMap<String, Vec<u8>> {
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
        let nodes = faces.iter().flat_map(|face| face.all_nodes(&case.mesh));
        nodes.for_each(|node| array[node as usize] = 1);
    }
    arrays
}

/// Forces and displacements on all nodes by load case, then springs.
fn vectors<K: Physics<N>, const N: usize>(
    case: &Case<N>,
    spring: &str,
    body: impl Fn(&CaseLoads<N>) -> Option<Vec<[f64; N]>>,
) -> Vec<(String, Vec<[f64; N]>)> {
    let all = |values| on_all_nodes(case.mesh.n_nodes(), values);
    let mut vectors = Vec::new();
    for (k, load) in case.load_cases.iter().enumerate() {
        let of = |what: &str| if k == 0 { what.into() } else { format!("{what}_{}", load.name) };
        vectors.push((of(K::NAMES.load), all(&load.forces)));
        vectors.extend(body(load).map(|forces| (of("body_force"), forces)));
        if !load.displacements.is_empty() {
            vectors.push((of(K::NAMES.state), all(&load.displacements)));
        }
    }
    if !case.springs.is_empty() {
        vectors.push((spring.into(), all(&case.springs)));
    }
    vectors
}

fn flags(n: usize, numbers: &[u32]) -> Vec<u8> {
    let mut flags = vec![0; n];
    numbers.iter().for_each(|&i| flags[i as usize] = 1);
    flags
}
