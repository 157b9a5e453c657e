//! `--set`.

use std::path::Path;

use topopt_case::config::Strategy;

use crate::{CASE, override_refused, parse};

#[test]
fn overrides_replace_values() {
    let set = [
        "optimizer.max_iterations=7",
        "solver.strategy=ebe",
        "title=\"two words\"",
        "output.directory=out/here",
        "loads.0.force=[0, -2, 0]",
        "filter.radius_in_elements=2.5",
        "mesh.elements=1000",
        "design.solid=[\"ring\"]",
    ];
    let config = parse(CASE.to_owned(), &set).unwrap();

    assert_eq!(config.optimizer.max_iterations, 7);
    assert_eq!(config.solver.strategy, Strategy::Ebe);
    assert_eq!(config.title.as_deref(), Some("two words"));
    assert_eq!(config.output_directory(), Path::new("out/here"));
    assert_eq!(config.loads[0].vector("force"), Some([0.0, -2.0, 0.0]));

    let filter = config.filter.get_ref();
    assert_eq!((filter.radius, filter.radius_in_elements), (None, Some(2.5)));

    let mesh = config.mesh.get_ref();
    assert_eq!(mesh.elements.as_ref().map(|n| *n.get_ref()), Some(1000));
    assert!(mesh.size.is_none());

    assert_eq!(config.design.solid[0].get_ref(), "ring");
}

#[test]
fn later_override_wins() {
    let config = parse(CASE.to_owned(), &["design.penalty=2", "design.penalty=4"]).unwrap();
    assert_eq!(config.design.penalty, 4.0);
}

#[test]
fn override_out_of_range() {
    let set = ["solver.tolerance=1e-6", "design.volume_fraction=1.5"];
    insta::assert_snapshot!(override_refused(&set), @r"
     x `design.volume_fraction` is out of range
      ,-[--set:1:24]
    1 | design.volume_fraction=1.5
      :                        ^|^
      :                         `-- must be greater than 0 and at most 1
      `----
     help: Share of the design volume that the material may fill.
    ");
}

#[test]
fn override_of_unknown_key() {
    insta::assert_snapshot!(override_refused(&["optimiser.max_iterations=3"]), @r"
     x unknown key `optimiser` in the case file
      ,-[--set:1:1]
    1 | optimiser.max_iterations=3
      : ^^^^|^^^^
      :     `-- not a known key
      `----
     help: did you mean `optimizer`?
    ");
}

#[test]
fn override_of_missing_entry() {
    insta::assert_snapshot!(override_refused(&["loads.1.set=tip"]), @r"
     x --set loads.1.set: there is no entry `1`; the list has 1, counted from 0
      ,-[--set:1:7]
    1 | loads.1.set=tip
      :       |
      :       `-- here
      `----
     help: write it as --set key.path=value, for example --set solver.tolerance=1e-6
    ");
}

#[test]
fn override_below_a_value() {
    insta::assert_snapshot!(override_refused(&["mesh.size.x=1"]), @r"
     x --set mesh.size.x: there can be no key `x` below a single value
      ,-[--set:1:11]
    1 | mesh.size.x=1
      :           |
      :           `-- here
      `----
     help: write it as --set key.path=value, for example --set solver.tolerance=1e-6
    ");
}

#[test]
fn override_without_value() {
    insta::assert_snapshot!(override_refused(&["optimizer.max_iterations"]), @r"
     x `--set optimizer.max_iterations` gives no value
      ,-[--set:1:1]
    1 | optimizer.max_iterations
      : ^^^^^^^^^^^^|^^^^^^^^^^^
      :             `-- no `=`
      `----
     help: write it as --set key.path=value, for example --set solver.tolerance=1e-6
    ");
}

#[test]
fn override_with_broken_value() {
    insta::assert_snapshot!(override_refused(&["loads.0.force=[0, 1"]), @r"
     x the value of --set is not valid TOML: unclosed array, expected `]`
      ,-[--set:1:15]
    1 | loads.0.force=[0, 1
      :               ^^|^^
      :                 `-- this value
      `----
     help: write it as --set key.path=value, for example --set solver.tolerance=1e-6
    ");
}
