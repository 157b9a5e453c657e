//! Lines of comments end at column 100, as lines of code do; rustfmt leaves comments alone.

use topopt_tests::{files, text};

/// Columns of a line.
const MOST: usize = 100;

/// Comment lines that are longer; a number that may only fall.
const LONGER: usize = 251;

#[test]
fn longer_lines_of_comments_do_not_become_more() {
    let folders = ["crates", "tests", "benchmarks"].map(|folder| files(folder, "rs"));
    let is_longer =
        |line: &&str| line.trim_start().starts_with("//") && line.chars().count() > MOST;
    let longer = folders.iter().flatten().map(|path| text(path).lines().filter(is_longer).count());
    let longer: usize = longer.sum();
    assert!(longer <= LONGER, "{longer} comment lines over {MOST} columns");
}
