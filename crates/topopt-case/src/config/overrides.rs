//! `--set key.path=value`: the case file with overrides laid over it.

use std::borrow::Cow;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::aliases;
use crate::finding::{Finding, Source};

/// Keys that exclude each other: an override of the first takes the others out of the file.
const REPLACES: [(&str, &[&str]); 6] = [
    ("mesh.file", &["generator", "size", "elements", "shuffled", "design_space"]),
    ("mesh.generator", &["file", "design_space"]),
    ("mesh.size", &["elements"]),
    ("mesh.elements", &["size"]),
    ("filter.radius", &["radius_in_elements"]),
    ("filter.radius_in_elements", &["radius"]),
];

/// No key of a case file lies deeper.
const DEEPEST: usize = 16;

const USAGE: &str = "write it as --set key.path=value, for example --set solver.tolerance=1e-6";

/// The table of the case file, the first text of `source`, with the other texts, the overrides,
/// laid over it in their order. Positions in it are positions in `source`.
pub(super) fn merged(source: &Source) -> Result<Spanned<DeTable<'_>>, Finding> {
    let mut texts = source.texts();
    let (_, file) = texts.next().unwrap_or((0, ""));
    let root = DeTable::parse(file).map_err(|error| syntax_finding(&error, source))?;
    let mut root = Spanned::new(root.span(), DeValue::Table(root.into_inner()));
    aliases::rename(root.get_mut());
    for (start, argument) in texts {
        apply(&mut root, argument, start, source)?;
    }
    let span = root.span();
    match root.into_inner() {
        DeValue::Table(table) => Ok(Spanned::new(span, table)),
        _ => Ok(Spanned::new(span, DeTable::new())),
    }
}

/// Place in the source of the value at the dotted `path` in `table`, if there is one.
pub(super) fn span(table: &Spanned<DeTable>, path: &str) -> Option<Range<usize>> {
    let mut keys = path.split('.');
    let mut place = table.get_ref().get(keys.next()?)?;
    for key in keys {
        place = match place.get_ref() {
            DeValue::Table(table) => table.get(key)?,
            DeValue::Array(array) => array.get(key.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    Some(place.span())
}

fn syntax_finding(error: &toml::de::Error, source: &Source) -> Finding {
    let message = error.message().lines().next().unwrap_or("unexpected text");
    let finding = Finding::new(format!("the case file is not valid TOML: {message}"));
    match error.span() {
        Some(span) => finding.at(source, span, "here").remedy(
            "put text in double quotes; a table begins with [name], a list of tables with [[name]]",
        ),
        None => finding.remedy("tables and lists are nested too deeply, or are not closed"),
    }
}

/// Sets in `root` what `argument`, at position `start` of `source`, says.
fn apply<'i>(
    root: &mut Spanned<DeValue<'i>>,
    argument: &'i str,
    start: usize,
    source: &Source,
) -> Result<(), Finding> {
    let Some((path, text)) = argument.split_once('=') else {
        let finding = Finding::new(format!("`--set {argument}` gives no value"));
        return Err(finding.at(source, start..start + argument.len(), "no `=`").remedy(USAGE));
    };

    if path.split('.').count() > DEEPEST {
        let message = format!("--set names a key more than {DEEPEST} levels deep");
        return Err(Finding::new(message).remedy(USAGE));
    }

    let value = parse_value(text, start + path.len() + 1, source)?;
    let mut place = &mut *root;
    let mut at = start;
    for key in path.split('.') {
        let span = at..at + key.len();
        at = span.end + 1;
        place = enter(place, aliases::present(key), span.clone()).map_err(|message| {
            Finding::new(format!("--set {path}: {message}")).at(source, span, "here").remedy(USAGE)
        })?;
    }

    *place = value;
    // Keys of the file that say the same in another way would be one too many.
    evict(root, path);
    Ok(())
}

/// Reads the value in `text`, at position `start`: TOML, or else a bare word.
fn parse_value<'i>(
    text: &'i str,
    start: usize,
    source: &Source,
) -> Result<Spanned<DeValue<'i>>, Finding> {
    match DeValue::parse(text) {
        Ok(mut value) => {
            shift(&mut value, start);
            aliases::rename(value.get_mut());
            Ok(value)
        }
        Err(error) if text.trim().is_empty() || text.trim().starts_with(['[', '{', '"', '\'']) => {
            let message = error.message().lines().next().unwrap_or("unexpected text");
            Err(Finding::new(format!("the value of --set is not valid TOML: {message}"))
                .at(source, start..start + text.len(), "this value")
                .remedy(USAGE))
        }
        Err(_) => {
            let word = DeValue::String(Cow::Borrowed(text.trim()));
            Ok(Spanned::new(start..start + text.len(), word))
        }
    }
}

/// The value of `key` in `place`, made if it is not there; in an array `key` counts from 0.
fn enter<'v, 'i>(
    place: &'v mut Spanned<DeValue<'i>>,
    key: &'i str,
    span: Range<usize>,
) -> Result<&'v mut Spanned<DeValue<'i>>, String> {
    match place.get_mut() {
        DeValue::Table(table) => {
            let empty = Spanned::new(span.clone(), DeValue::Table(DeTable::new()));
            Ok(table.entry(Spanned::new(span, Cow::Borrowed(key))).or_insert(empty))
        }
        DeValue::Array(array) => {
            let n = array.len();
            let index = key.parse::<usize>().ok().filter(|&i| i < n);
            index
                .and_then(|i| array.get_mut(i))
                .ok_or(format!("there is no entry `{key}`; the list has {n}, counted from 0"))
        }
        _ => Err(format!("there can be no key `{key}` below a single value")),
    }
}

fn evict(root: &mut Spanned<DeValue>, path: &str) {
    let replaced = REPLACES.iter().find(|(key, _)| *key == path).map(|(_, replaced)| *replaced);
    let section = path.split('.').next().unwrap_or_default();
    if let Some(replaced) = replaced
        && let DeValue::Table(root) = root.get_mut()
        && let Some(DeValue::Table(table)) = root.get_mut(section).map(Spanned::get_mut)
    {
        for key in replaced {
            table.remove(*key);
        }
    }
}

fn shift(value: &mut Spanned<DeValue>, by: usize) {
    let span = value.span();
    let inner = std::mem::replace(value.get_mut(), DeValue::Boolean(false));
    *value = Spanned::new(span.start + by..span.end + by, inner);
    match value.get_mut() {
        DeValue::Array(array) => array.iter_mut().for_each(|entry| shift(entry, by)),
        DeValue::Table(table) => {
            *table = std::mem::take(table)
                .into_iter()
                .map(|(key, mut entry)| {
                    let span = key.span();
                    shift(&mut entry, by);
                    (Spanned::new(span.start + by..span.end + by, key.into_inner()), entry)
                })
                .collect();
        }
        _ => {}
    }
}
