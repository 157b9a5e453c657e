//! Just enough of Rust's grammar to ask what a source file names.

use std::collections::BTreeSet;

/// `source` with a blank in place of every comment, string and character.
pub fn code(source: &str) -> String {
    let mut code = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(next) = rest.chars().next() {
        let skipped = hidden(rest, code.ends_with(is_word));
        if skipped > 0 {
            code.push(' ');
            rest = &rest[skipped..];
        } else {
            code.push(next);
            rest = &rest[next.len_utf8()..];
        }
    }
    code
}

/// The words that identifiers of `code` are made of, in lower case: `n_nodes` and `HexMesh` give
/// n, nodes, hex, mesh.
pub fn words(code: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for part in code.split(|c: char| !c.is_alphanumeric()) {
        let mut word = String::new();
        let mut previous_lower = false;
        for c in part.chars() {
            if c.is_uppercase() && previous_lower {
                words.insert(std::mem::take(&mut word));
            }
            previous_lower = !c.is_uppercase();
            word.extend(c.to_lowercase());
        }
        words.insert(word);
    }
    words.remove("");
    words
}

/// The modules of the standard library that `code` names, as `std::fs` or within `std::{...}`.
pub fn std_modules(code: &str) -> BTreeSet<String> {
    let compact: String = code.split_whitespace().collect();
    let first_word = |text: &str| -> String { text.chars().take_while(|&c| is_word(c)).collect() };
    let mut modules = BTreeSet::new();
    for (at, path) in compact.match_indices("std::") {
        let rest = &compact[at + path.len()..];
        if let Some(group) = rest.strip_prefix('{') {
            modules.extend(group_items(group).into_iter().map(first_word));
        } else {
            modules.insert(first_word(rest));
        }
    }
    modules
}

/// The items of a group, which starts after its brace.
fn group_items(group: &str) -> Vec<&str> {
    let (mut depth, mut start) = (0, 0);
    let mut items = Vec::new();
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                items.push(&group[start..at]);
                start = at + 1;
                if c == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    items
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Length of the comment, string or character that `text` begins with, else 0.
fn hidden(text: &str, within_word: bool) -> usize {
    if text.starts_with("//") {
        text.find('\n').unwrap_or(text.len())
    } else if text.starts_with("/*") {
        block_comment(text)
    } else if let Some(inside) = text.strip_prefix('"') {
        1 + quoted(inside, '"')
    } else if text.starts_with('\'') {
        character(text)
    } else if within_word {
        0
    } else {
        raw_string(text)
    }
}

fn block_comment(text: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < text.len() {
        match &text.as_bytes()[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// Length of `text` up to and with the first `quote` that no backslash escapes.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        if c == quote && !escaped {
            return at + 1;
        }
        escaped = c == '\\' && !escaped;
    }
    text.len()
}

/// A lifetime is no character: its second letter is not a quote.
fn character(text: &str) -> usize {
    let mut letters = text.chars().skip(1);
    let (first, second) = (letters.next(), letters.next());
    let is_character = first == Some('\\') || second == Some('\'');
    if is_character { 1 + quoted(&text[1..], '\'') } else { 0 }
}

fn raw_string(text: &str) -> usize {
    let prefix = ["r", "br", "cr"].into_iter().find(|prefix| {
        text.strip_prefix(prefix).is_some_and(|rest| rest.trim_start_matches('#').starts_with('"'))
    });
    let Some(prefix) = prefix else { return 0 };
    let body = &text[prefix.len()..];
    let hashes = body.len() - body.trim_start_matches('#').len();
    let end = format!("\"{}", &body[..hashes]);
    let inside = &body[hashes + 1..];
    let length = inside.find(&end).map_or(inside.len(), |at| at + end.len());
    prefix.len() + hashes + 1 + length
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_strings_and_characters_are_no_code() {
        let source = r##"
            let a = "x \" // y"; // unsafe "
            /* unsafe /* nested */ still */ let b: &'static str = r#"unsafe " "#;
            let c = ['"', '\'', 'u']; let d = br"unsafe";
            let r#type = c;
        "##;
        let code = code(source);
        let compact: Vec<&str> = code.split_whitespace().collect();
        let expected = "let a = ; let b: &'static str = ; let c = [ , , ]; let d = ; \
                        let r#type = c;";
        assert_eq!(compact.join(" "), expected);
    }

    #[test]
    fn identifiers_are_split_into_words() {
        let found = words("n_nodes: HexMesh<CG> + 2.0 * FEM_SIZE");
        let expected = ["n", "nodes", "hex", "mesh", "cg", "2", "0", "fem", "size"];
        assert_eq!(found, expected.map(String::from).into());
    }

    #[test]
    fn modules_are_found_alone_and_in_groups() {
        let code = "use std::{fmt, io::{self, Write}, time}; std :: fs::read(x); use std::ops::Add";
        let expected = ["fmt", "io", "time", "fs", "ops"];
        assert_eq!(std_modules(code), expected.map(String::from).into());
    }
}
