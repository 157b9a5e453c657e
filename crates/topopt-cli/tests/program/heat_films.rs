//! Convection over faces: beside CalculiX, and beside dense matrices with films of their own.

use std::path::Path;

use serde_json::Value;
use topopt_fem::operators::Reference;
use topopt_fem::{Constraints, Diffusion, Discretization, ElementOperator, Formulation};
use topopt_linalg::LinearOperator;
use topopt_mesh::surface::face_coordinates;
use topopt_mesh::vector::{cross, length};
use topopt_mesh::{Face, HexMesh, hexahedron};

use crate::heat::{EXACT, part, temperatures};
use crate::solve::numbers;
use crate::{Folder, topopt};

/// Compares with CalculiX's seven digits for the same elements and films (DC3D8, *FILM).
#[test]
fn films_on_curved_faces_are_those_of_calculix() {
    let tables = "[[convection]]\nset = \"OUTER\"\nfilm_coefficient = 30\nambient = 20\n\
        [[convection]]\nset = \"TOP\"\nfilm_coefficient = 3\n";
    as_calculix("film", &format!("[elements]\nkind = \"full\"\n{tables}"), 6e-7);
}

/// Elements by modes of the gradient differ from these where they are distorted, within the error of
/// either on a coarse mesh.
#[test]
fn elements_by_modes_are_near_those_of_calculix() {
    let tables = "[[convection]]\nset = \"OUTER\"\nfilm_coefficient = 30\nambient = 20\n\
        [[convection]]\nset = \"TOP\"\nfilm_coefficient = 3\n";
    as_calculix("film", tables, 1e-3);
}

/// Compares temperatures of the deck `name`, held at 100 with a source and `tables`, with those
/// that CalculiX found, within the relative error `most`.
pub(crate) fn as_calculix(name: &str, tables: &str, most: f64) {
    let folder = Folder::new();
    let calculix = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program/calculix");
    let recorded = calculix.join(format!("{name}.inp"));
    std::fs::copy(&recorded, folder.path("part.inp")).unwrap();
    let head = "[physics]\nkind = \"heat\"\n[mesh]\nfile = \"part.inp\"\n\
        [material]\nconductivity = 4\n[solver]\ndevice = \"cpu\"\n\
        [[supports]]\nset = \"INNER\"\ntemperature = 100\n[[loads]]\nheat_source = 30\n";
    folder.write("case.toml", &format!("{head}{tables}"));
    numbers(&folder, &EXACT);

    let found = folder.array("solved/analysis.vtu", "temperature");
    let table = std::fs::read_to_string(recorded.with_extension("csv")).unwrap();
    let rows = table.lines().skip(1).map(|row| row.split_once(',').unwrap().1);
    let expected: Vec<f64> = rows.map(|value| value.parse().unwrap()).collect();
    assert_eq!(found.len(), expected.len());
    for (node, (found, expected)) in (1..).zip(found.iter().zip(&expected)) {
        assert!((found - expected).abs() < most * 100.0, "node {node}: {found} for {expected}");
    }
}

/// A matrix by rows.
type Dense = Vec<Vec<f64>>;

/// The solution of `a` x = `b`, by elimination.
fn solved(mut a: Dense, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
        a.swap(k, pivot);
        b.swap(k, pivot);
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            let row = a[k].clone();
            (k..n).for_each(|j| a[i][j] -= factor * row[j]);
            b[i] -= factor * b[k];
        }
    }
    for k in (0..n).rev() {
        let rest: f64 = (k + 1..n).map(|j| a[k][j] * b[j]).sum();
        b[k] = (b[k] - rest) / a[k][k];
    }
    b
}

fn times(a: &Dense, x: &[f64]) -> Vec<f64> {
    a.iter().map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum()).collect()
}

/// Conduction of `mesh`.
fn conduction(mesh: &HexMesh, conductivity: f64) -> Dense {
    let n = mesh.n_nodes();
    let problem = Discretization::new(
        mesh.clone(),
        Diffusion::by(Formulation::Incompatible),
        Constraints::none(n),
    );
    let mut operator = Reference::new(&problem);
    let all = |value| vec![value; mesh.n_elements()];
    operator.set_coefficients(&[&all(conductivity), &all(0.0)]);
    let column = |k: usize| {
        let unit = (0..n).map(|i| if i == k { 1.0 } else { 0.0 }).collect();
        let mut y = vec![0.0; n];
        operator.apply(&unit, &mut y);
        y
    };
    (0..n).map(column).collect() // symmetric
}

/// Adds the integral of h N_a N_b over `faces` to `a`, and h N_a to `f`.
fn add_film(mesh: &HexMesh, faces: &[Face], h: f64, a: &mut Dense, f: &mut [f64]) {
    let point = 1.0 / 3f64.sqrt();
    for face in faces {
        let (x, nodes) = (face_coordinates(mesh, *face), face.nodes(mesh));
        for [s, t] in [[-point, -point], [point, -point], [-point, point], [point, point]] {
            let shape = [
                (1.0 - s) * (1.0 - t) / 4.0,
                (1.0 + s) * (1.0 - t) / 4.0,
                (1.0 + s) * (1.0 + t) / 4.0,
                (1.0 - s) * (1.0 + t) / 4.0,
            ];
            let along = |i: usize| {
                let (low, high) = (x[1][i] - x[0][i], x[2][i] - x[3][i]);
                (low * (1.0 - t) + high * (1.0 + t)) / 4.0
            };
            let across = |i: usize| {
                let (low, high) = (x[3][i] - x[0][i], x[2][i] - x[1][i]);
                (low * (1.0 - s) + high * (1.0 + s)) / 4.0
            };
            let area = length(cross([0, 1, 2].map(along), [0, 1, 2].map(across)));
            for (i, &row) in nodes.iter().enumerate() {
                f[row as usize] += h * area * shape[i];
                for (j, &column) in nodes.iter().enumerate() {
                    a[row as usize][column as usize] += h * area * shape[i] * shape[j];
                }
            }
        }
    }
}

const COARSE: [usize; 3] = [4, 2, 2];

fn wavy([x, y, z]: [f64; 3]) -> [f64; 3] {
    let turn = (3.0 * z).sin();
    [4.0 * x + 0.3 * (5.0 * y).sin(), 2.0 * y + 0.2 * turn, z * (1.0 + 0.4 * x * y)]
}

/// The mesh of a case, as its file has it.
fn mesh_of(folder: &Folder) -> HexMesh {
    topopt_io::read_mesh(&folder.path("part.msh")).unwrap().mesh
}

/// The faces and nodes of a set.
fn faces<'m>(mesh: &'m HexMesh, set: &str) -> &'m [Face] {
    &mesh.sets().faces[set]
}

fn is_in(mesh: &HexMesh, set: &str) -> Vec<bool> {
    let mut is_in = vec![false; mesh.n_nodes()];
    let nodes = faces(mesh, set).iter().flat_map(|face| face.nodes(mesh));
    nodes.for_each(|node| is_in[node as usize] = true);
    is_in
}

/// Replaces the rows where `is_held` by those of the identity, and `b` there by `values`.
fn hold(a: &mut Dense, b: &mut [f64], is_held: &[bool], values: f64) {
    for k in (0..b.len()).filter(|k| is_held[*k]) {
        a[k].fill(0.0);
        a[k][k] = 1.0;
        b[k] = values;
    }
}

fn assert_same(folder: &Folder, expected: &[f64], what: &str) {
    let size = expected.iter().fold(0.0, |size: f64, t| size.max(t.abs()));
    for ((x, found), expected) in temperatures(folder).into_iter().zip(expected) {
        assert!((found - expected).abs() < 1e-9 * size, "{what} at {x:?}: {found} for {expected}");
    }
}

fn heat(found: &Value, name: &str) -> f64 {
    found["load_cases"][0]["heat"][name].as_f64().unwrap()
}

/// Warped faces with two films, one of them at held nodes; heat goes where the dense matrices say.
#[test]
fn steady_temperatures_and_heat_are_those_of_dense_matrices() {
    let tables = "[material]\nconductivity = 4\n[[supports]]\nset = \"low\"\ntemperature = 100\n\
        [[loads]]\nset = \"high\"\nheat_flux = 7\n\
        [[convection]]\nset = \"sides\"\nfilm_coefficient = 3\nambient = 20\n\
        [[convection]]\nset = \"high\"\nfilm_coefficient = 30\nambient = 5\n";
    let folder = part(COARSE, wavy, tables);
    let mesh = mesh_of(&folder);
    let mut a = conduction(&mesh, 4.0);
    let mut f = vec![0.0; mesh.n_nodes()];
    for (set, h, ambient) in [("sides", 3.0, 20.0), ("high", 30.0, 5.0)] {
        let mut flows = vec![0.0; f.len()];
        add_film(&mesh, faces(&mesh, set), h, &mut a, &mut flows);
        f.iter_mut().zip(flows).for_each(|(f, flow)| *f += ambient * flow);
    }
    let mut flux = vec![0.0; f.len()];
    add_film(&mesh, faces(&mesh, "high"), 1.0, &mut vec![vec![0.0; f.len()]; f.len()], &mut flux);
    f.iter_mut().zip(&flux).for_each(|(f, flux)| *f += 7.0 * flux);

    let is_held = is_in(&mesh, "low");
    let (mut held, mut right) = (a.clone(), f.clone());
    hold(&mut held, &mut right, &is_held, 100.0);
    let expected = solved(held, right);
    let comes_in: f64 = times(&a, &expected)
        .iter()
        .zip(&f)
        .zip(&is_held)
        .map(|((out, f), held)| if *held { out - f } else { 0.0 })
        .sum();

    for strategy in ["mf", "ebe", "nbn", "bsr"] {
        for preconditioner in ["multigrid", "jacobi", "block-jacobi"] {
            let set = [
                format!("solver.strategy={strategy}"),
                format!("solver.preconditioner={preconditioner}"),
            ];
            let more = ["--set", &set[0], "--set", &set[1], "--overwrite"];
            let found = numbers(&folder, &[&EXACT[..], &more].concat());
            assert_same(&folder, &expected, &format!("{strategy}, {preconditioner}"));
            let support = found["load_cases"][0]["heat"]["supports"][0]["heat"].as_f64().unwrap();
            assert!((support / comes_in - 1.0).abs() < 1e-9, "{support} for {comes_in}");
            assert!(heat(&found, "sum").abs() < 1e-8 * support, "{found}");
        }
    }
}

/// The integral of c N_a N_b, or of c N_a on the diagonal.
fn capacity(mesh: &HexMesh, c: f64, is_consistent: bool) -> Dense {
    let n = mesh.n_nodes();
    let mut matrix = vec![vec![0.0; n]; n];
    for (e, hex) in mesh.hexes().iter().enumerate() {
        let x = mesh.element_coordinates(e);
        for xi in hexahedron::gauss_points() {
            let det = hexahedron::determinant(&hexahedron::jacobian(&x, xi));
            let shape = hexahedron::shape_functions(xi);
            for (a, b) in (0..64).map(|k| (k / 8, k % 8)) {
                let (row, other) = (hex[a] as usize, hex[b] as usize);
                let column = if is_consistent { other } else { row };
                matrix[row][column] += c * det * shape[a] * shape[b];
            }
        }
    }
    matrix
}

/// Steps in time with an ambient and held temperatures by tables over time.
#[test]
fn temperatures_in_time_are_those_of_dense_matrices() {
    let tables = "[material]\nconductivity = 4\nmass_density = 2\nheat_capacity = 3\n\
        [[supports]]\nset = \"low\"\ntemperature = 100\nover_time = [[0, 0.2], [2, 1]]\n\
        [[convection]]\nset = \"sides\"\nfilm_coefficient = 3\nambient = 20\n\
        over_time = [[0, 1], [1, 3]]\n[transient]\nend = 3\nstep = 0.5\ninitial = 10\n";
    let folder = part(COARSE, wavy, tables);
    let mesh = mesh_of(&folder);
    let mut a = conduction(&mesh, 4.0);
    let mut ambient = vec![0.0; mesh.n_nodes()];
    add_film(&mesh, faces(&mesh, "sides"), 3.0, &mut a, &mut ambient);
    let is_held = is_in(&mesh, "low");
    let held_at = |t: f64| 100.0 * (0.2 + 0.8 * (t / 2.0).min(1.0));
    let ambient_at = |t: f64| 20.0 * (1.0 + 2.0 * t.min(1.0));

    for (theta, kind) in
        [(0.5, "lumped"), (1.0, "lumped"), (0.5, "consistent"), (1.0, "consistent")]
    {
        let capacity = capacity(&mesh, 6.0, kind == "consistent");
        let mut u = vec![10.0; mesh.n_nodes()];
        (0..u.len()).filter(|k| is_held[*k]).for_each(|k| u[k] = held_at(0.0));
        for step in 0..6 {
            let (from, to) = (0.5 * step as f64, 0.5 * (step + 1) as f64);
            let acting = (1.0 - theta) * ambient_at(from) + theta * ambient_at(to);
            let (flows, stored) = (times(&a, &u), times(&capacity, &u));
            let mut right: Vec<f64> = (0..u.len())
                .map(|k| acting * ambient[k] + stored[k] / 0.5 - (1.0 - theta) * flows[k])
                .collect();
            let mut left: Dense =
                a.iter().map(|row| row.iter().map(|a| theta * a).collect()).collect();
            for (left, capacity) in left.iter_mut().zip(&capacity) {
                left.iter_mut().zip(capacity).for_each(|(left, capacity)| *left += capacity / 0.5);
            }
            hold(&mut left, &mut right, &is_held, held_at(to));
            u = solved(left, right);
        }
        let theta = format!("transient.theta={theta}");
        let kind = format!("transient.capacity={kind}");
        let more = ["--set", &theta, "--set", &kind, "--overwrite"];
        let found = numbers(&folder, &[&EXACT[..], &more].concat());
        assert_same(&folder, &u, &format!("{theta}, {kind}"));
        let imbalance = found["transient"]["imbalance"].as_f64().unwrap();
        assert!(imbalance < 1e-10, "{imbalance}");
        assert!(heat(&found, "sum").abs() < 1e-8 * heat(&found, "stored").abs(), "{found}");
    }
}

/// The shape of a design that fills the part is verified with the temperatures of the part.
#[test]
fn a_verified_design_has_the_films() {
    let tables = "[material]\nconductivity = 4\n[[supports]]\nset = \"low\"\ntemperature = 100\n\
        [[loads]]\nset = \"high\"\nheat_flux = 7\n\
        [[convection]]\nset = \"high\"\nfilm_coefficient = 30\nambient = 5\n\
        [design]\nstyle = \"smooth\"\nvolume_fraction = 1.0\n[optimizer]\nmax_iterations = 1\n\
        [filter]\nradius_in_elements = 1.1\n";
    let folder = part(COARSE, wavy, tables);
    let of_part = numbers(&folder, &EXACT);
    let more = ["run", "case.toml", "-o", "results", "--set", "solver.tolerance=1e-12"];
    let (status, _, err) = topopt(&folder.path(""), &more);
    assert_eq!(status, 0, "{err}");
    let (_, out, _) = topopt(&folder.path(""), &["check", "case.toml"]);
    assert!(out.contains("convection stays on the faces of the mesh"), "{out}");
    let (status, out, err) = topopt(&folder.path(""), &["verify", "results", "--json"]);
    assert_eq!(status, 0, "{out}{err}");
    let verified: Value = serde_json::from_str(&folder.read("results/verify.json")).unwrap();
    for name in ["loads", "convection"] {
        let (verified, solved) = (heat(&verified, name), heat(&of_part, name));
        assert!((verified / solved - 1.0).abs() < 1e-6, "{name}: {verified} for {solved}");
    }
    let hottest = |found: &Value| found["load_cases"][0]["coldest"]["temperature"].as_f64();
    let (verified, solved) = (hottest(&verified).unwrap(), hottest(&of_part).unwrap());
    assert!((verified / solved - 1.0).abs() < 1e-6, "{verified} for {solved}");
}
