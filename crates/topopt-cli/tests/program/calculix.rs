//! `topopt solve` beside numbers that CalculiX has printed for the same decks, which
//! `benchmarks/calculix.py` has recorded: eight distorted bricks C3D8 under each kind of load,
//! eight regular ones of C3D8I, and eight bricks of six tetrahedra C3D10 each, straight and curved;
//! those named `ply` are orthotropic in an oblique frame, those named `warm` expand, and `bimetal`
//! is of steel and aluminium.

use std::collections::BTreeMap;
use std::path::Path;

use crate::{Folder, topopt};

/// A row of the numbers of CalculiX.
struct Row {
    /// Number of the node or the element.
    number: usize,
    /// Coordinates of a Gauss point, none at nodes.
    at: Vec<f64>,
    /// Displacement, force, or stress (xx, yy, zz, xy, zx, yz).
    values: Vec<f64>,
}

/// Rows by load case, in the order of these, and by quantity.
type Recorded = Vec<(String, BTreeMap<String, Vec<Row>>)>;

fn numbers(text: &str, separator: char) -> Vec<f64> {
    text.split(separator).filter(|x| !x.is_empty()).map(|x| x.parse().unwrap()).collect()
}

fn recorded(text: &str) -> Recorded {
    let mut cases: Recorded = Vec::new();
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let [case, what, number, x, y, z, values] = fields[..] else { panic!("{line}") };
        if cases.last().is_none_or(|(name, _)| name != case) {
            cases.push((case.into(), BTreeMap::new()));
        }
        let row = Row {
            number: number.parse().unwrap(),
            at: numbers(&[x, y, z].join(","), ','),
            values: numbers(values, ' '),
        };
        cases.last_mut().unwrap().1.entry(what.into()).or_default().push(row);
    }
    cases
}

/// Rows of the table of Gauss points from the element on, by load case and element.
type Points = BTreeMap<(String, usize), Vec<Vec<f64>>>;

/// The case of a deck, solved: the folder with the results in `out`, and the stresses.
fn solved(deck: &Path) -> (Folder, Points) {
    let is_full = !deck.to_string_lossy().ends_with("modes.inp");
    let folder = Folder::new();
    std::fs::copy(deck, folder.path("deck.inp")).unwrap();
    assert_eq!(topopt(&folder.path(""), &["init", "deck.inp"]).0, 0);

    let elements = format!("elements.kind={}", if is_full { "full" } else { "incompatible_modes" });
    let set = ["solver.tolerance=1e-12", "output.compression=none", &elements];
    let set = set.map(|key| ["--set", key]);
    let args = ["solve", "deck.toml", "-o", "out", "--device", "cpu", "--gauss", "gauss.csv"];
    let (status, _, err) = topopt(&folder.path(""), &[&args[..], set.as_flattened()].concat());
    assert_eq!((status, err.as_str()), (0, ""), "{}", deck.display());

    let mut points = Points::new();
    for line in folder.read("gauss.csv").lines().skip(1) {
        let (case, rest) = line.split_once(',').unwrap();
        let values = numbers(rest, ',');
        points.entry((case.to_owned(), values[0] as usize)).or_default().push(values);
    }
    (folder, points)
}

/// The largest difference is a share of the largest number; seven digits are printed.
fn assert_same(what: &str, pairs: &[(Vec<f64>, Vec<f64>)]) {
    let largest = pairs.iter().flat_map(|(theirs, _)| theirs).fold(0.0, |m: f64, x| m.max(x.abs()));
    let differences = pairs.iter().flat_map(|(a, b)| a.iter().zip(b).map(|(a, b)| (a - b).abs()));
    let largest_difference = differences.fold(0.0, f64::max);
    assert!(largest > 0.0 && largest_difference < 6e-7 * largest, "{what}: {largest_difference}");
}

#[test]
fn decks_are_solved_as_by_calculix() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program/calculix");
    let hexahedra = ["forces", "faces", "body", "moved", "springs", "remote", "modes"];
    let others = ["tetrahedra", "curved", "ply", "ply_modes", "ply_curved"];
    let warm = ["warm", "warm_modes", "warm_curved", "warm_ply", "bimetal"];
    for name in hexahedra.into_iter().chain(others).chain(warm) {
        let (folder, points) = solved(&root.join(name).with_extension("inp"));
        let text = std::fs::read_to_string(root.join(name).with_extension("csv")).unwrap();
        for (k, (case, theirs)) in recorded(&text).iter().enumerate() {
            let is_heavy = name == "body" || case.as_str() == "weight";
            compare(&folder, &points, theirs, (k, case), is_heavy);
        }
    }
}

fn compare(
    folder: &Folder,
    points: &Points,
    theirs: &BTreeMap<String, Vec<Row>>,
    (k, case): (usize, &String),
    is_heavy: bool,
) {
    let array = |what: &str| {
        let name = if k == 0 { what.to_owned() } else { format!("{what}_{case}") };
        folder.array("out/analysis.vtu", &name)
    };
    let pairs = |what: &str, ours: &[f64]| -> Vec<_> {
        let pair =
            |row: &Row| (row.values.clone(), ours[3 * row.number - 3..3 * row.number].to_vec());
        theirs[what].iter().map(pair).collect()
    };
    assert_same("displacement", &pairs("displacement", &array("displacement")));

    // What acts on a node from outside.
    let mut external = array("force");
    let more = [Some("reaction"), is_heavy.then_some("body_force")];
    for name in more.into_iter().flatten() {
        external.iter_mut().zip(array(name)).for_each(|(sum, force)| *sum += force);
    }
    assert_same("force", &pairs("force", &external));

    let stress = |row: &Row| {
        let off = |found: &[f64]| (0..3).map(|i| (found[2 + i] - row.at[i]).abs()).sum::<f64>();
        let found = points[&(case.clone(), row.number)].iter().find(|found| off(found) < 1e-4);
        let [xx, yy, zz, xy, yz, zx] = found.unwrap()[5..11] else { panic!() };
        (row.values.clone(), vec![xx, yy, zz, xy, zx, yz])
    };
    assert_same("stress", &theirs["stress"].iter().map(stress).collect::<Vec<_>>());
}
