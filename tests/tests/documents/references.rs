//! Every work that is cited stands in references.bib.

use std::collections::{BTreeMap, BTreeSet};

use topopt_tests::{files, root, text};

#[test]
fn every_citation_has_its_entry() {
    let entries = entries();
    let mut cited = BTreeMap::new();
    let folders = ["crates", "cuda"];
    let sources = folders.iter().flat_map(|f| ["rs", "cu", "md"].map(|e| files(f, e)));
    let documents = files("docs", "md").into_iter().chain([root().join("ARCHITECTURE.md")]);
    for path in sources.flatten().chain(documents) {
        for key in citations(&text(&path)) {
            cited.entry(key).or_insert(path.clone());
        }
    }
    assert!(cited.contains_key("Ratnakar2022"), "no citation was found: {cited:?}");
    for (key, path) in cited {
        assert!(entries.contains(&key), "{} cites [{key}]: not in references.bib", path.display());
    }
}

#[test]
fn citations_are_keys_in_brackets() {
    let text = r"as in [Doe1999, Eq. 2], \[Roe2001\] and [`Vec`], x[Bad12], [Doe1999x], [A2001 b]";
    assert_eq!(citations(text), ["Doe1999", "Roe2001"].map(String::from).into());
}

/// Keys of the entries in references.bib.
fn entries() -> BTreeSet<String> {
    let text = text("references.bib");
    let keys = text.lines().filter(|line| line.starts_with('@'));
    keys.filter_map(|line| line.split_once('{')?.1.strip_suffix(',')).map(String::from).collect()
}

/// Names with a year in brackets: `[Key1999]`, `[Key1999, place]`.
fn citations(text: &str) -> BTreeSet<String> {
    let key = |after: &str| {
        let end = after.find([']', ',', '\\'])?;
        let name = after[..end].trim_end_matches(|c: char| c.is_ascii_digit());
        let year = end - name.len();
        let is_name = name.starts_with(|c: char| c.is_ascii_uppercase())
            && name.chars().all(|c| c.is_ascii_alphabetic());
        (is_name && year == 4).then(|| after[..end].to_owned())
    };
    text.split('[').skip(1).filter_map(key).collect()
}
