//! Numbers of the project's own text that may only fall. Raising one takes a reason beside it.

use std::path::PathBuf;

use topopt_tests::{files, text};

/// Words with which the first sentence of a doc comment does not begin: they point at what stands elsewhere.
const POINTING: [&str; 11] =
    ["What", "Where", "Of", "By", "Its", "It", "Which", "Those", "That", "The same", "As"];

/// Lines that a named closure may have; a longer one is a function.
const CLOSURE_LINES: usize = 3;

/// Name and largest value of a number, with the function that counts it.
type Number = (&'static str, usize, fn() -> usize);

const NUMBERS: [Number; 5] = [
    ("doc comments of `crates` that begin with a pointing word", 65, pointing_openings),
    ("named closures of `crates/*/src` over three lines", 189, long_closures),
    ("lines of Rust in `crates/*/src`", 101_816, source_lines),
    ("files of `crates/*/src` over 400 lines", 6, long_files),
    ("bytes of ARCHITECTURE.md", 14_336, architecture_bytes),
];

#[test]
fn numbers_of_the_text_do_not_rise() {
    let risen = NUMBERS.iter().filter_map(|(name, most, count)| {
        let found = count();
        (found > *most).then(|| format!("{found} {name}: {most} in the table"))
    });
    let risen: Vec<String> = risen.collect();
    assert!(risen.is_empty(), "{risen:#?}");
}

#[test]
fn openings_and_closures_are_told_from_others() {
    let text =
        "/// What it is.\n/// Of a second line.\nfn f() {}\n/// Ofen.\nfn g() {}\n//! The same,\n";
    assert_eq!(openings(text), 2);
    let closures = "let f = |x| {\n    1;\n    2;\n    3;\n    4\n};\nlet g = |x| x;\nlet h = |x| {\n    x\n};\n";
    assert_eq!(closures_over(closures, 3), 1);
}

fn rust_of_crates() -> Vec<PathBuf> {
    files("crates", "rs")
}

fn sources() -> Vec<PathBuf> {
    let is_source = |path: &PathBuf| path.components().any(|part| part.as_os_str() == "src");
    rust_of_crates().into_iter().filter(is_source).collect()
}

fn pointing_openings() -> usize {
    rust_of_crates().into_iter().map(|path| openings(&text(path))).sum()
}

/// Counts doc comments in `text` whose first line begins with a pointing word.
fn openings(text: &str) -> usize {
    let mut count = 0;
    let mut is_in_comment = false;
    for line in text.lines().map(str::trim_start) {
        let doc = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        let begins = |opening: &str| POINTING.iter().any(|word| begins_with(opening, word));
        count += usize::from(!is_in_comment && doc.is_some_and(|doc| begins(doc.trim_start())));
        is_in_comment = doc.is_some();
    }
    count
}

fn begins_with(opening: &str, word: &str) -> bool {
    let rest = opening.strip_prefix(word);
    rest.is_some_and(|rest| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '\''))
}

fn long_closures() -> usize {
    sources().into_iter().map(|path| closures_over(&text(path), CLOSURE_LINES)).sum()
}

/// Counts closures that a `let` names and whose block has more than `most` lines.
fn closures_over(text: &str, most: usize) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    let is_named = |line: &str| {
        line.trim_start().starts_with("let ")
            && line.ends_with('{')
            && [" = |", " = move |"].iter().any(|start| line.contains(start))
    };
    let is_long = |&at: &usize| {
        let indent = lines[at].len() - lines[at].trim_start().len();
        let end = lines[at..].iter().position(|line| *line == format!("{}}};", " ".repeat(indent)));
        is_named(lines[at]) && end.is_some_and(|end| end - 1 > most)
    };
    (0..lines.len()).filter(is_long).count()
}

fn source_lines() -> usize {
    sources().into_iter().map(|path| text(path).lines().count()).sum()
}

fn long_files() -> usize {
    sources().into_iter().filter(|path| text(path).lines().count() > 400).count()
}

fn architecture_bytes() -> usize {
    text("ARCHITECTURE.md").len()
}
