//! Which files of a crate name things of which others.

use std::collections::{BTreeMap, BTreeSet};

use crate::{code, files, root, text};

/// Path of a module within its crate: `[]` of the root, `["gmsh", "import"]`.
pub type Module = Vec<String>;

/// Returns the modules of the library in the folder `member`, with the code of their files; `x.rs` and
/// `x/mod.rs` are `x`.
///
/// # Panics
/// If a file cannot be read.
pub fn modules(member: &str) -> BTreeMap<Module, String> {
    let folder = root().join(member).join("src");
    let module = |path: &std::path::Path| -> Module {
        let path = path.strip_prefix(&folder).expect("a file of the folder").with_extension("");
        let names = path.iter().map(|name| name.to_string_lossy().into_owned());
        names.filter(|name| !["lib", "mod"].contains(&&**name)).collect()
    };
    let sources = if folder.is_dir() { files(&folder, "rs") } else { Vec::new() };
    let is_program = |path: &std::path::PathBuf| path.ends_with("src/main.rs");
    let library = sources.into_iter().filter(|path| !is_program(path));
    library.map(|path| (module(&path), code(&text(&path)))).collect()
}

/// Imports among the modules of a crate that have a file of their own. `sources` holds the text of
/// each, without comments and strings ([`code`]). A module depends on the one that
/// defines what it names, not on those that pass the name on. Unit tests are left out.
pub fn imports(sources: &BTreeMap<Module, String>) -> BTreeMap<Module, BTreeSet<Module>> {
    let mut modules = BTreeMap::new();
    let mut tests = Vec::new();
    for (module, source) in sources {
        let (tokens, test_modules) = without_tests(tokens(source));
        modules.insert(module.clone(), Names::of(&tokens));
        tests.extend(test_modules.iter().map(|name| child(module, name)));
    }
    modules.retain(|module, _| !tests.iter().any(|test| module.starts_with(test)));

    let of = |(module, names): (&Module, &Names)| {
        let defining = names.used.iter().filter_map(|path| defining(&modules, module, path));
        (module.clone(), defining.collect())
    };
    modules.iter().map(of).collect()
}

/// A circle of imports, if there is one: each module depends on the next, the last on the first.
pub fn circle(imports: &BTreeMap<Module, BTreeSet<Module>>) -> Option<Vec<&Module>> {
    let mut left: BTreeSet<&Module> = imports.keys().collect();
    loop {
        let above = |module: &&Module| imports[*module].iter().any(|other| left.contains(other));
        let rest: BTreeSet<&Module> = left.iter().copied().filter(above).collect();
        if rest.len() == left.len() {
            break;
        }
        left = rest;
    }
    // Each of those left depends on another of them, so that every walk comes back to where it was.
    let mut walk = vec![*left.first()?];
    loop {
        let next = imports[walk[walk.len() - 1]].iter().find(|other| left.contains(other))?;
        if let Some(begin) = walk.iter().position(|module| *module == next) {
            return Some(walk.split_off(begin));
        }
        walk.push(next);
    }
}

/// What one file names.
#[derive(Default)]
struct Names {
    /// The path that each imported name stands for.
    scope: BTreeMap<String, Vec<String>>,
    /// Paths that the file uses, single words among them: all but those that it only passes on by
    /// `pub use`.
    used: Vec<Vec<String>>,
}

impl Names {
    fn of(tokens: &[&str]) -> Self {
        let mut names = Self::default();
        let mut at = 0;
        while at < tokens.len() {
            let before = if at > 0 { tokens[at - 1] } else { "" };
            if tokens[at] == "use" && tokens.get(at + 1) != Some(&"<") {
                let passed_on = ["pub", ")"].contains(&before);
                at = names.add_tree(tokens, at + 1, &[], passed_on);
            } else if is_word(tokens[at]) && ![".", "::"].contains(&before) {
                let path: Vec<&str> = path(&tokens[at..]).collect();
                at += 2 * path.len() - 1;
                names.used.push(path.into_iter().map(String::from).collect());
            } else {
                at += 1;
            }
        }
        names
    }

    /// Adds the tree of a `use` that begins at `at`, below `prefix`, and returns where it ends.
    fn add_tree(
        &mut self,
        tokens: &[&str],
        mut at: usize,
        prefix: &[String],
        passed_on: bool,
    ) -> usize {
        let begin = at;
        let mut path = prefix.to_vec();
        while !["{", ",", "}", ";", "as"].contains(&tokens[at]) {
            // `a::{self}` is `a`.
            if tokens[at] != "::" && (tokens[at] != "self" || path.is_empty()) {
                path.push(tokens[at].to_owned());
            }
            at += 1;
        }
        if tokens[at] == "{" {
            while tokens[at] != "}" {
                at = self.add_tree(tokens, at + 1, &path, passed_on);
            }
            return at + 1;
        }

        let Some(mut name) = path.last().cloned().filter(|_| at > begin) else { return at };
        if tokens[at] == "as" {
            name = tokens[at + 1].to_owned();
            at += 2;
        }
        if !passed_on {
            self.used.push(path.clone());
        }
        self.scope.insert(name, path);
        at
    }
}

/// The other module that defines what `path` stands for in `module`. None for what `module` defines
/// itself, for a module as such, and for what is not of this crate.
fn defining(modules: &BTreeMap<Module, Names>, module: &Module, path: &[String]) -> Option<Module> {
    let (mut at, mut path) = (module.clone(), path.to_vec());
    // A path has few steps; the bound ends `use x::x` of another crate.
    for _ in 0..64 {
        let (first, rest) = path.split_first()?;
        let imported =
            modules.get(&at)?.scope.get(first).filter(|target| **target != [first.clone()]);
        let inside = Some(child(&at, first)).filter(|inside| modules.contains_key(inside));

        match (first.as_str(), imported, inside) {
            ("crate", ..) => at.clear(),
            ("self", ..) => {}
            ("super", ..) => _ = at.pop(),
            // A module and an item may have one name; what more of the path follows is in the
            // module.
            (_, _, Some(inside)) if !rest.is_empty() || imported.is_none() => at = inside,
            (_, Some(target), _) => {
                path = target.iter().chain(rest).cloned().collect();
                continue;
            }
            _ => return (at != *module).then_some(at),
        }

        path = rest.to_vec();
    }
    None
}

/// The words of the path that `tokens` begin with.
fn path<'a>(tokens: &[&'a str]) -> impl Iterator<Item = &'a str> {
    let goes_on = |pair: &&[&str]| pair.len() == 2 && pair[0] == "::" && is_word(pair[1]);
    let rest: Vec<&str> = tokens[1..].chunks(2).take_while(goes_on).map(|pair| pair[1]).collect();
    [tokens[0]].into_iter().chain(rest)
}

fn child(module: &[String], name: &str) -> Module {
    module.iter().cloned().chain([name.to_owned()]).collect()
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Words, `::`, and every other character alone.
fn tokens(code: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let in_word = |c: char| c.is_alphanumeric() || c == '_';
        let length = match rest.find(|c| !in_word(c)) {
            _ if rest.starts_with("::") => 2,
            Some(0) => first.len_utf8(),
            end => end.unwrap_or(rest.len()),
        };
        tokens.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    tokens
}

/// Takes the items under `#[cfg(test)]` out, and gives the names of test modules that are files.
fn without_tests(tokens: Vec<&str>) -> (Vec<&str>, Vec<&str>) {
    const TEST: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let (mut kept, mut modules) = (Vec::new(), Vec::new());

    let mut at = 0;
    while at < tokens.len() {
        if !tokens[at..].starts_with(&TEST) {
            kept.push(tokens[at]);
            at += 1;
            continue;
        }

        let mut depth = 0;
        let begin = at;
        loop {
            match tokens[at] {
                "{" | "(" | "[" => depth += 1,
                "}" | ")" | "]" => depth -= 1,
                _ => {}
            }
            at += 1;
            if depth == 0 && (tokens[at - 1] == "}" || tokens[at - 1] == ";") {
                break;
            }
        }

        if let [.., "mod", name, ";"] = tokens[begin..at] {
            modules.push(name);
        }
    }
    (kept, modules)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(path: &str) -> Module {
        path.split("::").filter(|name| !name.is_empty()).map(String::from).collect()
    }

    fn of(files: &[(&str, &str)]) -> BTreeMap<Module, BTreeSet<Module>> {
        imports(&files.iter().map(|(path, code)| (module(path), (*code).to_owned())).collect())
    }

    fn found(imports: &BTreeMap<Module, BTreeSet<Module>>, of: &str) -> String {
        let joined: Vec<_> = imports[&module(of)].iter().map(|path| path.join("::")).collect();
        joined.join(" ")
    }

    #[test]
    fn a_name_leads_to_the_file_that_defines_it() {
        let imports = of(&[
            (
                "",
                "mod a; mod b; mod c; pub use a::A; pub use b::{self as other, inner::{B, D as E}};",
            ),
            ("a", "use crate::{B, E as F}; use std::fmt; pub struct A;"),
            ("b", "pub mod inner; pub use inner::B; fn f() -> crate::A { inner::g() }"),
            (
                "b::inner",
                "pub struct B; pub struct D; pub fn g() {} #[cfg(test)] mod t { use crate::A; }",
            ),
            ("d", "macro_rules! m { () => {} } pub(crate) use m; pub fn d() { c::C }"),
            (
                "c",
                "use crate::d::m; fn i() { m!(crate::d()) } use super::other; use crate::b; fn h(x: b::B) -> other::f { x.a.b() }",
            ),
        ]);

        assert_eq!(found(&imports, ""), "");
        assert_eq!(found(&imports, "a"), "b::inner");
        assert_eq!(found(&imports, "b"), "a b::inner");
        assert_eq!(found(&imports, "b::inner"), "");
        assert_eq!(found(&imports, "c"), "b b::inner d");
        assert_eq!(found(&imports, "d"), "");
    }

    #[test]
    fn a_circle_is_found_through_names_that_are_passed_on() {
        let mut files = vec![
            ("", "mod low; mod mid; mod high; pub use high::High;"),
            ("low", "pub struct Low;"),
            ("mid", "use crate::low::Low;"),
            ("high", "use crate::mid::Mid; use crate::low;"),
        ];
        assert_eq!(circle(&of(&files)), None);
        files[2].1 = "use crate::low::Low; use crate::High;";
        let imports = of(&files);
        let path = circle(&imports).expect("high and mid");
        assert_eq!(path.iter().map(|m| m.join("::")).collect::<Vec<_>>(), ["high", "mid"]);
        files.extend([("mid::tests", "use crate::High;")]);
        files[2].1 = "use crate::low::Low; #[cfg(test)] mod tests;";
        assert_eq!(circle(&of(&files)), None);
    }
}
