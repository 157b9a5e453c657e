//! What the documents show exists, and the commands they name are those that are checked. The
//! commands and cases that they show are run by the tests of the program.

mod case_file;
mod columns;
mod dependencies;
mod paths;
mod ratchet;
mod references;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use topopt_case::config::Config;
use topopt_tests::{files, root, text};

/// The two commands that a newcomer runs first.
const FIRST_COMMANDS: [&str; 2] =
    ["cargo run --release -- run benchmarks/cantilever.toml", "cargo test --workspace"];

const BENCHMARKS: [&str; 4] = ["cantilever", "l_beam", "michell", "connecting_rod"];

#[test]
fn the_readme_opens_with_the_two_commands() {
    let text = text("README.md");
    let first_blocks: Vec<&str> = text.split("```").skip(1).step_by(2).take(3).collect();
    for command in FIRST_COMMANDS {
        let shown = |block: &&str| block.lines().any(|line| line.trim() == command);
        assert!(first_blocks.iter().any(shown), "README.md does not open with `{command}`");
    }
}

#[test]
fn the_readme_is_short() {
    let n = text("README.md").lines().count();
    assert!(n <= 120, "README.md has {n} lines: what is more belongs in the guide");
}

#[test]
fn the_checks_run_the_command_of_the_readme() {
    assert!(text(".ci/run").lines().any(|line| line.ends_with(FIRST_COMMANDS[1])));
}

#[test]
fn every_benchmark_is_a_case_that_can_be_read() {
    for name in BENCHMARKS {
        let path = root().join(format!("benchmarks/{name}.toml"));
        let config = Config::load(&path, &[]).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(config.optimizer.max_iterations, 50, "{name}");
    }
}

#[test]
fn links_between_documents_lead_somewhere() {
    let documents = documents();
    assert!(documents.len() > 20, "{documents:?}");
    let headings: BTreeMap<PathBuf, BTreeSet<String>> =
        documents.iter().map(|path| (path.canonicalize().unwrap(), anchors(&text(path)))).collect();

    let mut n_links = 0;
    for document in &documents {
        for link in links(&text(document)) {
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));

            let target = match file {
                "" => document.clone(),
                file => document.parent().unwrap().join(file),
            };

            let place = format!("{} links to {link}", document.display());
            let target = target.canonicalize().unwrap_or_else(|error| panic!("{place}: {error}"));
            let there = anchor.is_empty() || headings[&target].contains(anchor);
            assert!(there, "{place}: there is no such heading");
            n_links += 1;
        }
    }
    assert!(n_links > 60, "{n_links} links");
}

#[test]
fn every_page_is_in_the_contents_of_its_folder() {
    let folders = [
        ("docs/guide/src", "SUMMARY.md"),
        ("docs/internals", "README.md"),
        ("docs/decisions", "README.md"),
    ];
    for (folder, contents) in folders {
        let folder = root().join(folder);
        let listed: BTreeSet<String> = links(&text(folder.join(contents)))
            .into_iter()
            .filter(|link| !link.starts_with("../"))
            .collect();
        let pages: BTreeSet<String> = files(&folder, "md")
            .iter()
            .map(|path| path.strip_prefix(&folder).unwrap().to_str().unwrap().to_owned())
            .filter(|name| name != contents)
            .collect();
        assert_eq!(listed, pages, "{contents} of {}", folder.display());
    }
}

#[test]
fn a_decision_has_context_decision_and_consequence() {
    for path in files("docs/decisions", "md").iter().filter(|path| !path.ends_with("README.md")) {
        let (text, name) = (text(path), path.file_name().unwrap().to_str().unwrap());
        let number: usize = name[..4].parse().expect("a name begins with its number");
        assert!(text.starts_with(&format!("# {number}. ")), "{name}");
        for part in ["Context", "Decision", "Consequence"] {
            assert!(text.contains(&format!("\n**{part}.** ")), "{name} has no {part}");
        }
        assert!(text.lines().count() <= 40, "{name} is long: numbers go to benchmarks/results");
    }
}

#[test]
fn links_and_anchors_are_found() {
    let text = "# What is `a_b`, and why?\n[x](y.md#z) ![p](q.png) [web](https://a.b)\n\
                ```sh\n# no heading\nf [a](b)\n```\n## The end\n";
    assert_eq!(links(text), ["y.md#z", "q.png"]);
    assert_eq!(anchors(text), ["the-end", "what-is-a_b-and-why"].map(String::from).into());
}

/// The documents of the project.
fn documents() -> Vec<PathBuf> {
    let names = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md"];
    let top = names.map(|name| root().join(name));
    let folders = ["docs", "cuda", "meshes", "benchmarks", "examples"];
    top.into_iter().chain(folders.into_iter().flat_map(|folder| files(folder, "md"))).collect()
}

/// The lines of a Markdown text outside of its blocks of code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut in_code = false;
    text.lines().filter(move |line| {
        let is_fence = line.starts_with("```");
        in_code ^= is_fence;
        !in_code && !is_fence
    })
}

/// What a Markdown text links to within the project.
fn links(text: &str) -> Vec<String> {
    let targets = prose(text).flat_map(|line| line.split("](").skip(1));
    let targets = targets.filter_map(|rest| rest.split(')').next());
    targets.filter(|target| !target.contains("://")).map(String::from).collect()
}

/// The anchors of the headings of a Markdown text: letters, digits, `_` and `-`, in lower case.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = prose(text).filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| {
        let kept = heading.trim_start_matches('#').trim().chars().filter_map(|c| match c {
            ' ' => Some('-'),
            c if c.is_alphanumeric() || "_-".contains(c) => Some(c.to_ascii_lowercase()),
            _ => None,
        });
        kept.collect()
    };
    headings.map(anchor).collect()
}
