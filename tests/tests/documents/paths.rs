//! Paths that the documents for developers name exist.

use std::path::{Path, PathBuf};

use topopt_tests::{files, root, text};

#[test]
fn named_paths_exist() {
    let folders = ["crates", "cuda", "tests", "fuzz", "benchmarks", "docs"];
    let extensions = ["rs", "cu", "cuh", "py", "toml", "js", "sh", "md"];
    let all: Vec<PathBuf> =
        folders.iter().flat_map(|f| extensions.map(|e| files(f, e))).flatten().collect();
    let exists =
        |path: &str| root().join(path).exists() || all.iter().any(|file| file.ends_with(path));

    let mut n_paths = 0;
    for document in documents() {
        let text = text(&document);
        for path in paths(&text, &extensions) {
            assert!(exists(path), "{} names {path}: there is no such file", document.display());
            n_paths += 1;
        }
    }
    assert!(n_paths > 50, "{n_paths} paths");
}

#[test]
fn paths_are_told_from_code_and_patterns() {
    let text = "`a/b.rs` and `x.rs::f`, `a/NAME.rs`, `cargo x.toml`, `c.md`, `case.toml`";
    assert_eq!(paths(text, &["rs", "md"]), ["a/b.rs", "c.md"]);
}

fn documents() -> Vec<PathBuf> {
    let top = ["ARCHITECTURE.md", "CONTRIBUTING.md"].map(|name| root().join(name));
    top.into_iter().chain(files("docs/internals", "md")).collect()
}

/// Text between backticks that ends as a file with one of `extensions`. NAME and TABLE stand for
/// any name, and a `.toml` file without a folder is one of the user's.
fn paths<'a>(text: &'a str, extensions: &[&str]) -> Vec<&'a str> {
    let quoted = text.split('`').skip(1).step_by(2);
    let is_path = |path: &&str| {
        let extension = Path::new(path).extension().and_then(|e| e.to_str());
        let is_pattern = path.contains("NAME") || path.contains("TABLE") || path.contains(' ');
        let is_users = extension == Some("toml") && !path.contains('/');
        extension.is_some_and(|e| extensions.contains(&e)) && !is_pattern && !is_users
    };
    quoted.filter(is_path).collect()
}
