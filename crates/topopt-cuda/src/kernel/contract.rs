//! Whether Rust's declarations are those of the `.cu` files and of the embedded PTX.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::*;
#[cfg(feature = "lab")]
use crate::assembly::lab::kernels as lab;
use crate::code::{self, KERNELS};
use crate::kernels::{DECLARED, Diffusion, VIEWS};

/// Name, type and bytes of a parameter.
type Parameter = (&'static str, &'static str, usize);

/// A file, and name and parameters of its kernels.
pub(crate) type Declared = (&'static str, &'static [(&'static str, &'static [Parameter])]);

/// Returns the declarations of all files of kernels.
fn declared() -> Vec<&'static Declared> {
    const STRETCHED: Declared = ("diffusion_stretched", Diffusion::<f64>::DECLARED.1);
    let declared = DECLARED.iter().chain([&STRETCHED]);
    #[cfg(feature = "lab")]
    let declared = declared.chain(lab::DECLARED);
    declared.collect()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("cuda")
}

/// A source without comments, every space one blank.
fn source(file: &str) -> String {
    let text = fs::read_to_string(folder().join(file)).unwrap();
    let code = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    code.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

/// Reads a source and the headers that it includes itself, without comments.
fn source_with_headers(file: &str) -> String {
    let text = source(file);
    let headers = text.split("#include \"").skip(1).filter_map(|rest| rest.split('"').next());
    let headers: Vec<String> = headers.map(source).collect();
    [&[text], &headers[..]].concat().join(" ")
}

/// Returns the text after `mark` and before the next `end`.
fn between<'a>(text: &'a str, mark: &str, end: &str) -> Option<&'a str> {
    text.split_once(mark)?.1.split_once(end).map(|(found, _)| found)
}

/// A declaration in C of what Rust declares by `name` and `kind`.
fn in_c(name: &str, kind: &str) -> String {
    if let Some(count) = between(kind, "[f64; ", "]") {
        return format!("double {name}[{count}]");
    }
    let (pointer, constant, pointee) = match kind.split_once('<') {
        Some(("In", pointee)) => ("*", "const ", pointee.trim_end_matches('>')),
        Some((_, pointee)) => ("*", "", pointee.trim_end_matches('>')),
        None => ("", "", kind),
    };
    let value = match pointee {
        "Count" | "u32" => "unsigned",
        "u8" => "unsigned char",
        "u16" => "unsigned short",
        "u64" => "unsigned long long",
        "Length" => "long long",
        "f64" => "double",
        "f32" => "float",
        "R" => "real",
        "[R; 4]" => "Four<real>",
        view => return format!("VIEW({view}) {name}"),
    };
    format!("{constant}{value}{pointer} {name}")
}

#[test]
fn the_sources_have_the_parameters_that_are_declared() {
    for (file, kernels) in declared() {
        // One file computes in double precision throughout and names that of its results.
        let text = source_with_headers(&format!("{file}.cu"))
            .replace("__restrict__ ", "")
            .replace("result*", "real*");
        for (kernel, parameters) in *kernels {
            let found = between(&text, &format!(" {kernel}("), ") {").unwrap();
            let found: Vec<&str> = found.split(',').map(str::trim).collect();
            let declared: Vec<String> = parameters.iter().map(|p| in_c(p.0, p.1)).collect();
            assert_eq!(found, declared, "{file}.cu: {kernel}");
        }
    }
}

#[test]
fn the_sources_have_the_members_that_are_declared() {
    let views = VIEWS.iter();
    #[cfg(feature = "lab")]
    let views = views.chain(lab::VIEWS);
    for (file, name, members) in views {
        let text = source(file);
        let mut found = Vec::new();
        for line in between(&text, &format!("struct {name} {{ "), " };").unwrap().split(';') {
            // `unsigned a, b` is two members.
            let mut names = line.trim().split(", ");
            let first = names.next().unwrap_or_default();
            found.extend((!first.is_empty()).then(|| first.to_owned()));
            let kind = first.rsplit_once(' ').map_or("", |(kind, _)| kind);
            found.extend(names.map(|name| format!("{kind} {name}")));
        }
        let declared: Vec<String> = members.iter().map(|m| in_c(m.0, m.1)).collect();
        assert_eq!(found, declared, "{file}: {name}");
    }
}

/// Bytes of each parameter of a kernel in `ptx`.
fn sizes(ptx: &str, kernel: &str) -> Vec<usize> {
    let list = between(ptx, &format!(".entry {kernel}("), "\n)").unwrap();
    let size = |line: &str| {
        let (kind, name) = line.trim_end_matches(',').rsplit_once(' ').unwrap();
        let bits: usize =
            kind.rsplit_once(|c: char| !c.is_ascii_digit()).unwrap().1.parse().unwrap();
        let count = between(name, "[", "]").map_or(1, |count| count.parse().unwrap());
        bits / 8 * count
    };
    list.lines().filter(|line| !line.is_empty()).map(size).collect()
}

/// Threads of a block of a kernel in `ptx`.
fn bounds(ptx: &str, kernel: &str) -> u32 {
    let entry = between(ptx, &format!(".entry {kernel}("), "{").unwrap();
    let sides = between(entry, ".maxntid ", "\n").unwrap().split(", ");
    sides.map(|side| side.parse::<u32>().unwrap()).product()
}

#[test]
fn every_kernel_of_the_ptx_is_declared_with_its_sizes_and_has_launch_bounds() {
    let mut seen = BTreeSet::new();
    for (file, _) in KERNELS {
        let (name, variant) = file.split_once('.').unwrap();
        let code = code::of(name, variant);
        let ptx = code.ptx();
        let (_, kernels) = declared().into_iter().find(|(file, _)| *file == name).expect(name);

        for entry in ptx.split(".entry ").skip(1) {
            let entry = entry.split('(').next().unwrap();
            let (_, parameters) = kernels.iter().find(|(kernel, _)| *kernel == entry).expect(entry);
            let declared: Vec<usize> = parameters.iter().map(|parameter| parameter.2).collect();
            assert_eq!(sizes(ptx, entry), declared, "{name}: {entry}");
            let threads = code.block(entry).unwrap();
            assert!((1..=1024).contains(&threads), "{name}: {entry} has blocks of {threads}");
            assert_eq!(bounds(ptx, entry), threads, "{name}: {entry}");
            seen.insert(entry.to_owned());
        }
    }
    let declared =
        declared().into_iter().flat_map(|(_, kernels)| kernels.iter().map(|kernel| kernel.0));
    let without: Vec<&str> = declared.filter(|&kernel| !seen.contains(kernel)).collect();
    assert!(without.is_empty(), "no PTX has {without:?}");
}

#[test]
fn numbers_are_read_from_sources() {
    assert_eq!(defined("#define AB 3\n##define A 48 // rows", "#define A "), 48);
}
