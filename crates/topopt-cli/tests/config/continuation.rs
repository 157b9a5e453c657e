//! `[[continuation]]`.

use crate::refused;

/// The message about `CASE` with entries of the continuation in place of those for iteration 1.
fn continuation_refused(entries: &str) -> String {
    refused("radius = 3\n", &format!("radius = 3\n{entries}"))
}

#[test]
fn continuation_from_before_the_first_iteration() {
    insta::assert_snapshot!(continuation_refused("[[continuation]]\nfrom = 0\npenalty = 2\n"), @r"
     x `continuation.from` is out of range
       ,-[cases/case.toml:19:8]
    18 | [[continuation]]
    19 | from = 0
       :        |
       :        `-- must be at least 1
    20 | penalty = 2
       `----
     help: Iteration from which the values hold.
    ");
}

#[test]
fn continuation_out_of_order() {
    let entries = "[[continuation]]\nfrom = 20\npenalty = 2\n\
                   [[continuation]]\nfrom = 20\ntolerance = 1e-6\n";
    insta::assert_snapshot!(continuation_refused(entries), @r"
     x the entries of [[continuation]] are not in the order of their iterations
       ,-[cases/case.toml:22:8]
    21 | [[continuation]]
    22 | from = 20
       :        ^|
       :         `-- not later than the previous entry
    23 | tolerance = 1e-6
       `----
     help: sort the entries by `from`, and merge those of the same iteration
    ");
}

#[test]
fn continuation_of_what_is_not_there() {
    let entries = "[[continuation]]\nfrom = 20\nsharpness = 2\n";
    insta::assert_snapshot!(continuation_refused(entries), @r"
     x [[continuation]] changes a projection that does not exist
       ,-[cases/case.toml:20:13]
    19 | from = 20
    20 | sharpness = 2
       :             |
       :             `-- no [projection]
       `----
     help: add [projection] with an initial `sharpness`, or remove the key
    ");

    let entries = "kind = \"none\"\n[[continuation]]\nfrom = 20\nfilter_radius_in_elements = 2\n";
    insta::assert_snapshot!(continuation_refused(entries), @r"
     x [[continuation]] changes a filter that does not exist
       ,-[cases/case.toml:21:29]
    20 | from = 20
    21 | filter_radius_in_elements = 2
       :                             |
       :                             `-- no filter
       `----
     help: set `filter.kind` and an initial radius, or remove the key
    ");
}

#[test]
fn continuation_of_nothing() {
    insta::assert_snapshot!(continuation_refused("[[continuation]]\nfrom = 20\n"), @r"
     x an entry of [[continuation]] changes nothing
       ,-[cases/case.toml:19:8]
    18 | [[continuation]]
    19 | from = 20
       :        ^|
       :         `-- this entry
       `----
     help: give one of `penalty`, `filter_radius`, `filter_radius_in_elements`, `sharpness`,
           `half_width`, `excess`, `method`, `move_limit` and `tolerance`
    ");
}

#[test]
fn continuation_with_two_radii() {
    let entries = "[[continuation]]\nfrom = 20\nfilter_radius_in_elements = 2\nfilter_radius = 2\n";
    insta::assert_snapshot!(continuation_refused(entries), @r"
     x [[continuation]] has both `filter_radius` and `filter_radius_in_elements`
       ,-[cases/case.toml:20:29]
    19 | from = 20
    20 | filter_radius_in_elements = 2
       :                             |
       :                             `-- one too many
    21 | filter_radius = 2
       `----
     help: give one of them
    ");
}
