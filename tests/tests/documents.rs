//! What the documents show exists, and the commands they name are those that are checked.

use topopt_study::config::Config;
use topopt_tests::{root, text};

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
    for document in ["README.md", "ARCHITECTURE.md", "CHANGELOG.md"] {
        let text = text(document);
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
        for target in targets.filter(|t| !t.is_empty() && !t.contains("://")) {
            assert!(root().join(target).exists(), "{document} links to {target}, which is missing");
        }
    }
}
