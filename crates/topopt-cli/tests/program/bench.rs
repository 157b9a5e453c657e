//! `topopt bench`: every operator is measured, and is right.

use super::{Folder, topopt};

/// The columns of a CSV file by name, for each row.
fn column(text: &str, name: &str) -> Vec<String> {
    let mut rows = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let at = rows.next().unwrap().iter().position(|n| *n == name).unwrap();
    rows.map(|row| row[at].to_owned()).collect()
}

#[test]
fn operators_on_a_cube() {
    let folder = Folder::new();
    for numbering in ["hilbert", "natural", "shuffled"] {
        let arguments = ["bench", "operators", "cube:5", "--device", "cpu", "--repeats", "2"];
        let more = ["--numbering", numbering, "--csv", "operators.csv"];
        let (status, out, err) = topopt(&folder.path(""), &[&arguments[..], &more].concat());
        assert_eq!((status, err.as_str()), (0, ""), "{out}");
        assert!(out.starts_with("cube:5: 125 elements, 216 nodes"), "{out}");
        let table = folder.read("operators.csv");
        assert_eq!(column(&table, "strategy"), ["mf", "ebe", "nbn"]);
        for error in column(&table, "relative_error") {
            assert!(error.parse::<f64>().unwrap() < 1e-13, "{error}");
        }
        assert!(column(&table, "seconds").iter().all(|s| s.parse::<f64>().unwrap() > 0.0));
    }
}

#[test]
fn solves_of_a_case() {
    let folder = Folder::new();
    let arguments =
        ["bench", "solve", "case.toml", "--strategies", "mf,nbn", "--csv", "solves.csv"];
    let (status, out, err) = topopt(&folder.path(""), &arguments);
    assert_eq!((status, err.as_str()), (0, ""), "{out}");
    let table = folder.read("solves.csv");
    assert_eq!(column(&table, "strategy"), ["mf", "nbn"]);
    let iterations = column(&table, "iterations");
    assert_eq!(iterations[0], iterations[1]);
    assert!(iterations[0].parse::<usize>().unwrap() > 10);
}

#[test]
fn what_is_no_cube_or_mesh() {
    let folder = Folder::new();
    let refused = |source: &str| {
        let (status, _, err) = topopt(&folder.path(""), &["bench", "operators", source]);
        assert_eq!(status, 1);
        err
    };
    insta::assert_snapshot!(refused("cube:0"), @"
      x `cube:0` is no cube
      help: write cube:N with 1 to 500 elements along an edge
    ");
    assert!(refused("none.msh").contains("none.msh"));
}
