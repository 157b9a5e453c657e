//! ARCHITECTURE.md against the code: who may depend on whom, and what a crate must not name.

use std::collections::{BTreeMap, BTreeSet};

use toml::{Table, Value};
use topopt_tests::imports::{Module, circle, imports, modules};
use topopt_tests::{code, files, root, std_modules, text, words};

/// Packages of the command line; of these a study knows, if asked to, how settings are given there.
const COMMAND_LINE: [&str; 5] = ["clap", "clap_complete", "ctrlc", "indicatif", "miette"];
/// Packages of the case file.
const CASE_FILE: [&str; 2] = ["schemars", "toml"];

#[test]
fn every_dependency_is_an_arrow_of_the_table() {
    let (allowed, crates) = (arrows(), workspace());
    let names = |map: &BTreeMap<String, BTreeSet<String>>| -> BTreeSet<String> {
        map.keys().cloned().collect()
    };
    assert_eq!(names(&allowed), names(&crates), "rows of the table | crates of the workspace");
    for (name, dependencies) in &crates {
        let unknown: Vec<_> =
            dependencies.difference(&allowed[name]).filter(|d| d.starts_with("topopt")).collect();
        assert!(unknown.is_empty(), "{name} depends on {unknown:?}: no arrow of ARCHITECTURE.md");
    }
}

#[test]
fn only_tests_depend_on_what_is_for_tests() {
    for member in members() {
        let manifest = manifest(&format!("{member}/Cargo.toml"));
        let mut others = manifest.clone();
        others.remove("dev-dependencies");
        let mut found = BTreeSet::new();
        collect_dependencies(&others, &mut found);
        assert!(!found.contains("topopt-testing"), "{member} depends on topopt-testing");
    }
}

#[test]
fn the_arrows_point_down() {
    let allowed = arrows();
    let mut above: BTreeSet<&String> = allowed.keys().collect();
    while !above.is_empty() {
        let rests = |name: &&String| allowed[*name].iter().all(|d| !above.contains(d));
        let bottom: Vec<&String> = above.iter().copied().filter(rests).collect();
        assert!(!bottom.is_empty(), "a circle among {above:?}");
        above.retain(|name| !bottom.contains(name));
    }
}

#[test]
fn the_files_of_a_crate_import_each_other_in_no_circle() {
    for member in members() {
        let imports = imports(&modules(&member));
        let file = |module: &Module| match &*module.join("/") {
            "" => "lib.rs".to_owned(),
            path => format!("{path}.rs"),
        };
        let named = circle(&imports).map(|modules| {
            let again = modules[0];
            let files: Vec<_> = modules.into_iter().chain([again]).map(file).collect();
            files.join(" -> ")
        });
        assert_eq!(named, None, "a circle of imports in {member}");
    }
}

/// A file that no other one names as its module is never compiled.
#[test]
fn every_file_of_a_library_is_a_module() {
    for member in members() {
        let modules = modules(&member);
        for (name, parent) in modules.keys().filter_map(|module| module.split_last()) {
            let parent = modules.get(parent).map(String::as_str).unwrap_or_default();
            assert!(parent.contains(&format!("mod {name};")), "{member}: {name}");
        }
    }
}

#[test]
fn libraries_know_neither_command_line_nor_case_file() {
    let doors = [
        "topopt-cli",
        "topopt-lab",
        "topopt-python",
        "topopt-testing",
        "topopt-tests",
        "topopt-benchmarks",
    ];
    for (name, dependencies) in workspace() {
        let is_case = name == "topopt-case";
        let mut forbidden: Vec<&str> = if is_case { vec![] } else { CASE_FILE.into() };
        forbidden
            .extend(COMMAND_LINE.into_iter().filter(|package| !(is_case && *package == "clap")));
        for package in forbidden.into_iter().filter(|_| !doors.contains(&&*name)) {
            assert!(!dependencies.contains(package), "{name} depends on {package}");
        }
    }
    let case = manifest("crates/topopt-case/Cargo.toml");
    assert_eq!(case["dependencies"]["clap"]["optional"].as_bool(), Some(true));
}

#[test]
fn only_the_lab_has_what_only_papers_need() {
    for member in members().into_iter().filter(|member| !member.ends_with("topopt-lab")) {
        let text = text(format!("{member}/Cargo.toml"));
        assert!(!text.contains("\"lab\""), "{member} asks for kernels that only papers need");
    }
}

#[test]
fn libraries_do_not_print_and_only_io_reads_and_writes() {
    let computing = [
        "topopt-mesh",
        "topopt-linalg",
        "topopt-distance",
        "topopt-hexmesh",
        "topopt-fem",
        "topopt-analysis",
        "topopt-design",
        "topopt-surface",
    ];
    for (path, code) in sources(&computing) {
        let modules = std_modules(&code);
        for module in ["fs", "io", "net", "env", "process"] {
            assert!(!modules.contains(module), "{path} names std::{module}");
        }
    }
    for (path, code) in sources(
        &[&computing[..], &["topopt-io", "topopt-report", "topopt-case", "topopt-study"]].concat(),
    ) {
        for name in ["print!", "println!", "eprint!", "eprintln!", "dbg!"] {
            let whole = |(at, _): (usize, &str)| !code[..at].ends_with(char::is_alphanumeric);
            assert!(!code.match_indices(name).any(whole), "{path} calls {name}");
        }
        assert!(!code.contains("process::exit"), "{path} ends the program");
    }
}

#[test]
fn only_design_and_those_who_run_it_read_a_clock() {
    for (path, code) in sources(&[
        "topopt-mesh",
        "topopt-distance",
        "topopt-fem",
        "topopt-analysis",
        "topopt-linalg",
        "topopt-surface",
        "topopt-report",
    ]) {
        assert!(!std_modules(&code).contains("time"), "{path} names std::time");
    }
}

#[test]
fn crates_do_not_name_what_is_above_them() {
    let forbidden = [
        (
            "topopt-linalg",
            &["mesh", "element", "elements", "node", "nodes", "hex", "stiffness", "displacement"][..],
        ),
        ("topopt-mesh", &["stiffness", "displacement", "density", "material"]),
        ("topopt-fem", &["density", "simp", "optimization", "vtk"]),
        ("topopt-analysis", &["design", "simp", "optimizer", "cuda", "gpu", "file", "path"]),
        ("topopt-design", &["cuda", "gpu", "file", "path", "console", "terminal"]),
        // Decks have springs, and so a stiffness.
        ("topopt-io", &["config", "simp"]),
        ("topopt-case", &["cuda", "terminal", "console"]),
        ("topopt-surface", &["stiffness", "displacement", "force", "simp"]),
        ("topopt-distance", &["stiffness", "displacement", "density", "force", "simp"]),
    ];

    for (name, names) in forbidden {
        // `Space` is where vectors have words for what they stand on.
        let named =
            sources(&[name]).into_iter().filter(|(path, _)| !path.ends_with("src/space.rs"));
        for (path, code) in named {
            let words = words(&code);
            let found: Vec<_> = names.iter().filter(|&&n| words.contains(n)).collect();
            assert!(found.is_empty(), "{path} names {found:?}");
        }
    }
}

#[test]
fn unsafe_code_stands_only_in_the_cuda_crate() {
    let lints = &manifest("Cargo.toml")["workspace"]["lints"]["rust"];
    assert_eq!(lints["unsafe_code"].as_str(), Some("forbid"));
    for member in members().into_iter().filter(|member| !member.ends_with("topopt-cuda")) {
        let manifest = manifest(&format!("{member}/Cargo.toml"));
        let inherits = manifest.get("lints").and_then(|lints| lints.get("workspace")?.as_bool());
        assert_eq!(inherits, Some(true), "{member} must inherit the lints of the workspace");
        for path in files(&member, "rs") {
            let code = code(&text(&path));
            let mut identifiers = code.split(|c: char| !c.is_alphanumeric() && c != '_');
            assert!(!identifiers.any(|i| i == "unsafe"), "{} is unsafe", path.display());
        }
    }
}

#[test]
fn a_strategy_has_one_name_everywhere() {
    let mut names = BTreeSet::new();
    for name in topopt_fem::Strategy::ALL.map(|strategy| strategy.name()) {
        let module = format!("crates/topopt-fem/src/operators/{name}.rs");
        assert!(root().join(&module).is_file(), "no {module}");
        names.insert(name);
    }
    for name in topopt_cuda::Strategy::ALL.map(|strategy| strategy.name()) {
        // ebeSymAtomic is the second kernel of ebeSym.cu.
        let kernels = format!("cuda/{}.cu", name.trim_end_matches("Atomic"));
        assert!(text(&kernels).contains("__global__"), "no kernel in {kernels}");
        names.insert(name);
    }
    let schema = topopt_case::config::schema();
    let key = &schema["properties"]["solver"]["properties"]["strategy"];
    let choices = choices(key);
    let accepted: BTreeSet<&str> = choices.iter().map(|s| &**s).filter(|&s| s != "auto").collect();
    assert_eq!(accepted, names, "strategies of the case file | of the operators");
}

/// The constants that a schema allows, from `enum` or `const` at any depth.
fn choices(schema: &serde_json::Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![schema];
    while let Some(value) = open.pop() {
        let Some(object) = value.as_object() else { continue };
        found.extend(object.get("const").and_then(|c| c.as_str()).map(String::from));
        let list = |key| object.get(key).and_then(|v| v.as_array()).into_iter().flatten();
        found.extend(list("enum").filter_map(|c| c.as_str()).map(String::from));
        open.extend(["oneOf", "anyOf", "allOf"].into_iter().flat_map(list));
    }
    found
}

/// The rows of the table in ARCHITECTURE.md whose first cell names a crate: crate, and the crates
/// that its last cell allows.
fn arrows() -> BTreeMap<String, BTreeSet<String>> {
    let text = text("ARCHITECTURE.md");
    let mut arrows = BTreeMap::new();
    for row in text.lines().filter(|line| line.starts_with("| `topopt-")) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').collect();
        let [name, _, allowed] = cells[..] else { panic!("not three cells: {row}") };
        let name = names_in(name).pop_first().expect("the first cell names a crate");
        let new = arrows.insert(name, names_in(allowed)).is_none();
        assert!(new, "a crate twice in the table: {row}");
    }
    assert!(!arrows.is_empty(), "ARCHITECTURE.md has no table of crates");
    arrows
}

/// What stands between backticks.
fn names_in(cell: &str) -> BTreeSet<String> {
    cell.split('`').skip(1).step_by(2).map(String::from).collect()
}

/// Crates of the workspace, each with all it depends on, tests and build included.
fn workspace() -> BTreeMap<String, BTreeSet<String>> {
    let dependencies = |member: String| {
        let manifest = manifest(&format!("{member}/Cargo.toml"));
        let name = manifest["package"]["name"].as_str().expect("a package has a name").to_owned();
        let mut found = BTreeSet::new();
        collect_dependencies(&manifest, &mut found);
        (name, found)
    };
    members().into_iter().map(dependencies).collect()
}

/// Adds the packages of every table called `*dependencies`, those of single platforms included.
fn collect_dependencies(table: &Table, found: &mut BTreeSet<String>) {
    for (key, value) in table {
        let Value::Table(inner) = value else { continue };
        if key.ends_with("dependencies") {
            let package = |(name, value): (&String, &Value)| {
                let renamed = value.get("package").and_then(Value::as_str);
                renamed.unwrap_or(name).to_owned()
            };
            found.extend(inner.iter().map(package));
        } else {
            collect_dependencies(inner, found);
        }
    }
}

/// Folders of the workspace's crates.
fn members() -> Vec<String> {
    let workspace = manifest("Cargo.toml");
    let patterns = workspace["workspace"]["members"].as_array().expect("a list of members");
    let mut members = Vec::new();
    for pattern in patterns.iter().filter_map(Value::as_str) {
        let Some(parent) = pattern.strip_suffix("/*") else {
            members.push(pattern.to_owned());
            continue;
        };
        let entries = std::fs::read_dir(root().join(parent)).expect("a folder of crates");
        let folders =
            entries.map(|e| e.expect("the folder is listed")).filter(|e| e.path().is_dir());
        members.extend(folders.map(|e| format!("{parent}/{}", e.file_name().to_string_lossy())));
    }
    assert!(members.len() > 2, "members: {members:?}");
    members
}

fn manifest(path: &str) -> Table {
    text(path).parse().unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// Path and code of every source file of the crates, their unit tests included.
fn sources(crates: &[&str]) -> Vec<(String, String)> {
    let of = |name: &&str| files(format!("crates/{name}/src"), "rs");
    let paths: Vec<_> = crates.iter().flat_map(of).collect();
    assert!(paths.len() >= crates.len(), "no sources of {crates:?}");
    paths.into_iter().map(|path| (path.display().to_string(), code(&text(&path)))).collect()
}
