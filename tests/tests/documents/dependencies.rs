//! Packages of others have licenses that `deny.toml` allows, and come from the registry.

use std::collections::BTreeSet;
use std::process::Command;

use toml::Table;
use topopt_tests::{root, text};

#[test]
fn licenses_of_all_packages_are_allowed() {
    let allowed = allowed();
    let mut used = BTreeSet::new();
    for (package, license) in licenses() {
        let chosen = chosen(&license, &allowed);
        let chosen = chosen.unwrap_or_else(|| panic!("{package} has the license {license}"));
        used.extend(chosen);
    }
    assert_eq!(used, allowed, "licenses in use | licenses that deny.toml allows");
}

#[test]
fn all_packages_come_from_the_registry() {
    const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";
    let lock: Table = text("Cargo.lock").parse().unwrap();
    for package in lock["package"].as_array().unwrap() {
        let source = package.get("source").and_then(|source| source.as_str());
        assert!(source.is_none_or(|source| source == REGISTRY), "{package}");
    }
}

#[test]
fn alternatives_of_a_license_are_told_from_conditions() {
    let allowed: BTreeSet<String> = ["MIT", "Zlib"].map(String::from).into();
    let chosen = |license| chosen(license, &allowed).map(|found| found.join(" "));
    assert_eq!(chosen("Apache-2.0 / MIT"), Some("MIT".into()));
    assert_eq!(chosen("(GPL-3.0 OR MIT) AND Zlib"), Some("MIT Zlib".into()));
    assert_eq!(chosen("MIT AND GPL-3.0"), None);
}

/// Licenses of `license`, an SPDX expression, by which a package may be used: the first allowed
/// alternative of each condition.
fn chosen(license: &str, allowed: &BTreeSet<String>) -> Option<Vec<String>> {
    let plain = license.replace(['(', ')'], "").replace('/', " OR ");
    let first = |condition: &str| {
        condition
            .split(" OR ")
            .map(|name| name.trim().to_owned())
            .find(|name| allowed.contains(name))
    };
    plain.split(" AND ").map(first).collect()
}

fn allowed() -> BTreeSet<String> {
    let deny: Table = text("deny.toml").parse().unwrap();
    let names = deny["licenses"]["allow"].as_array().expect("a list of licenses");
    names.iter().map(|name| name.as_str().expect("a name").to_owned()).collect()
}

/// Name and license of each package that the workspace compiles on this machine.
fn licenses() -> BTreeSet<(String, String)> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let tree = ["tree", "--offline", "--locked", "--workspace", "--prefix", "none", "--no-dedupe"];
    let format = ["--format", "{p}|{l}"];
    let output = Command::new(cargo).args(tree).args(format).current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    let packages = lines.lines().filter_map(|line| line.split_once('|'));
    packages.map(|(package, license)| (package.to_owned(), license.to_owned())).collect()
}
