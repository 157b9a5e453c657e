//! Text of a file as it may stand in names and messages.

/// Characters of a file that a message quotes at most.
const QUOTED: usize = 40;

/// `text` with `?` in place of what does something to a terminal, or to the order of what it shows,
/// and shows nothing.
pub(crate) fn printable(text: &str) -> String {
    let turns = |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().map(|c| if c.is_control() || turns(c) { '?' } else { c }).collect()
}

/// The first 40 characters of `text`, [`printable`].
pub(crate) fn excerpt(text: &str) -> String {
    begin(text, QUOTED)
}

/// So many of the first characters of `text`, [`printable`].
pub(crate) fn begin(text: &str, count: usize) -> String {
    printable(&text.chars().take(count).collect::<String>())
}

/// The [`excerpt`] of `text` in quotation marks; `nothing` if it is empty.
pub(crate) fn quoted(text: &str) -> String {
    if text.is_empty() { "nothing".into() } else { format!("`{}`", excerpt(text)) }
}
