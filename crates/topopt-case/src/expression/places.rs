//! Places of errors in an expression, whose parser gives only the reason.

use std::ops::Range;

/// The place of the first text in backticks in `why`; none where `text` has it several times, as
/// any of them may be meant. What is no variable or function is wrong wherever it stands.
pub(super) fn of_quoted(text: &str, why: &str) -> Option<Range<usize>> {
    let quoted = why.split('`').nth(1)?;
    let is_always_wrong = why.ends_with("is no variable") || why.ends_with("is no function");
    let mut places = tokens(text, quoted);
    let first = places.next()?;
    (is_always_wrong || places.next().is_none()).then_some(first)
}

/// The first parenthesis without a partner.
pub(super) fn unmatched(text: &str) -> Option<Range<usize>> {
    let mut open = Vec::new();
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => open.push(at),
            ')' => match open.pop() {
                Some(_) => {}
                None => return Some(at..at + 1),
            },
            _ => {}
        }
    }
    open.first().map(|&at| at..at + 1)
}

/// The places in `text` of `part` as a whole word or a whole operator.
fn tokens<'t>(text: &'t str, part: &'t str) -> impl Iterator<Item = Range<usize>> + 't {
    let is_of_word = |c: char| c.is_alphanumeric() || "_.".contains(c);
    let is_of_operator = |c: char| "<>=!&|".contains(c);
    let goes_on = move |end: Option<char>, beside: Option<char>| {
        end.zip(beside).is_some_and(|(end, beside)| {
            is_of_word(end) && is_of_word(beside) || is_of_operator(end) && is_of_operator(beside)
        })
    };
    let all = text.match_indices(part).map(|(at, part)| at..at + part.len());
    all.filter(move |place| {
        let (before, after) = (&text[..place.start], &text[place.end..]);
        !goes_on(part.chars().next(), before.chars().next_back())
            && !goes_on(part.chars().next_back(), after.chars().next())
    })
}
