//! Keys that had another name: old case files stay valid.

use std::borrow::Cow;

use toml::Spanned;
use toml::de::DeValue;

/// The old and the present name of each key. No two keys of a case file share an old name.
const RENAMED: [(&str, &str); 2] =
    [("centre", "center"), ("neighbour_memory_mb", "neighbor_memory_mb")];

/// The present name of `key`.
pub fn present(key: &str) -> &str {
    RENAMED.iter().find(|(old, _)| *old == key).map_or(key, |(_, new)| new)
}

/// Gives all keys in `value` their present names. An old name beside the present one stays, and is
/// then refused as any unknown key.
pub(super) fn rename(value: &mut DeValue) {
    match value {
        DeValue::Array(array) => array.iter_mut().for_each(|entry| rename(entry.get_mut())),
        DeValue::Table(table) => {
            for (old, new) in RENAMED {
                if !table.contains_key(new)
                    && let Some((key, value)) = table.remove_entry(old)
                {
                    table.insert(Spanned::new(key.span(), Cow::Borrowed(new)), value);
                }
            }
            table.iter_mut().for_each(|(_, value)| rename(value.get_mut()));
        }
        _ => {}
    }
}
