//! Fields of fixed width, as a Fortran format line such as `(3i9,6e21.13e3)` lays them out.

/// The layout of a line: integers, then reals, without separators.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    /// First character and width of each integer.
    integers: Vec<(usize, usize)>,
    /// First character and width of each real.
    reals: Vec<(usize, usize)>,
}

/// More fields or wider ones than this stand in no file.
const MOST: usize = 400;

impl Layout {
    /// Understands `(19i10)`, `(3i9,6e21.13e3)`, `(1i7,2i9,6e21.13)` and `(2i9,19a9)`; texts are as
    /// good as blanks.
    pub fn parse(line: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(line).ok()?.trim().to_ascii_lowercase();
        let items = text.strip_prefix('(')?.strip_suffix(')')?;
        let mut layout = Self { integers: Vec::new(), reals: Vec::new() };
        let mut end = 0;
        for item in items.split(',') {
            let (count, kind, width) = field(item.trim())?;
            let fields = match kind {
                'i' if layout.reals.is_empty() => &mut layout.integers,
                'e' | 'f' | 'g' | 'd' => &mut layout.reals,
                'a' | 'x' => &mut Vec::new(),
                _ => return None,
            };
            fields.extend((0..count).map(|i| (end + i * width, width)));
            end += count * width;
            if layout.integers.len() + layout.reals.len() > MOST {
                return None;
            }
        }
        (!layout.integers.is_empty()).then_some(layout)
    }

    /// Number of integers on a line.
    pub fn n_integers(&self) -> usize {
        self.integers.len()
    }

    /// Number of reals after the integers.
    pub fn n_reals(&self) -> usize {
        self.reals.len()
    }

    /// Integer `i` of a line: nothing if the line ends before it.
    pub fn integer(&self, line: &[u8], i: usize) -> Field<i64> {
        field_at(line, self.integers[i], |text| text.parse().ok())
    }

    /// Real `i` of a line: nothing if the line ends before it.
    pub fn real(&self, line: &[u8], i: usize) -> Field<f64> {
        field_at(line, self.reals[i], real)
    }

    /// The end of the first `count` integers.
    pub fn end_of_integers(&self, count: usize) -> usize {
        count.checked_sub(1).map_or(0, |last| self.integers[last].0 + self.integers[last].1)
    }

    /// Characters of a whole line.
    pub fn width(&self) -> usize {
        self.integers
            .iter()
            .chain(&self.reals)
            .map(|(start, width)| start + width)
            .max()
            .unwrap_or(0)
    }
}

/// Content of a field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Field<T> {
    /// The line ends before the field.
    Missing,
    /// Something that is no number.
    Bad,
    /// A number.
    Value(T),
}

/// A real as Fortran writes it: the exponent may have a `D`, or no letter (`1.5-100`).
pub(super) fn real(text: &str) -> Option<f64> {
    if let Ok(value) = text.parse() {
        return Some(value);
    }
    let text = text.replace(['d', 'D'], "e");
    if let Ok(value) = text.parse() {
        return Some(value);
    }
    let sign = text.rfind(['+', '-']).filter(|&at| at > 0 && !text.contains('e'))?;
    format!("{}e{}", &text[..sign], &text[sign..]).parse().ok()
}

/// (count, letter, width) of `6e21.13e3`, or of the blanks `2x`.
fn field(item: &str) -> Option<(usize, char, usize)> {
    if let Some(count) = item.strip_suffix('x') {
        return Some((1, 'x', count.parse().ok().filter(|count| *count <= MOST)?));
    }
    let at = item.find(|c: char| c.is_ascii_alphabetic())?;
    let count = if at == 0 { 1 } else { item[..at].parse().ok()? };
    let rest = &item[at + 1..];
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let width = rest[..end].parse().ok()?;
    let sensible =
        (1..=MOST).contains(&count) && (1..=MOST).contains(&width) && &item[at..=at] != "x";
    sensible.then_some((count, char::from(item.as_bytes()[at]), width))
}

fn field_at<T>(
    line: &[u8],
    (start, width): (usize, usize),
    parse: impl FnOnce(&str) -> Option<T>,
) -> Field<T> {
    let Some(rest) = line.get(start..).filter(|rest| !rest.is_empty()) else {
        return Field::Missing;
    };
    let text = std::str::from_utf8(&rest[..rest.len().min(width)]).ok();
    text.and_then(|text| parse(text.trim())).map_or(Field::Bad, Field::Value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn format_lines() {
        let layout = Layout::parse(b"(3i9,6e21.13e3)").unwrap();
        assert_eq!((layout.integers.len(), layout.integers[2]), (3, (18, 9)));
        assert_eq!((layout.reals.len(), layout.reals[1]), (6, (48, 21)));
        assert_eq!(layout.width(), 153);
        assert_eq!(Layout::parse(b" (19I10) ").unwrap().width(), 190);
        assert_eq!(Layout::parse(b"(1i9,3e20.9e3)").unwrap().reals[0], (9, 20));
        assert_eq!(Layout::parse(b"(2i9,19a9)").unwrap().n_integers(), 2);
        let groups = Layout::parse(b"(1i7,2i9,1x,6e21.13)").unwrap();
        assert_eq!(groups.integers, [(0, 7), (7, 9), (16, 9)]);
        assert_eq!((groups.reals[0], groups.width()), ((26, 21), 152));
        for bad in ["", "3i9", "()", "(3i)", "(i0)", "(3e20.13)", "(3i9,6x2)", "(9999i9)", "(3i9,"]
        {
            assert_eq!(Layout::parse(bad.as_bytes()), None, "{bad}");
        }
    }

    #[test]
    fn fields_touch_each_other_and_may_be_missing() {
        let layout = Layout::parse(b"(2i4,2e10.3)").unwrap();
        let line = b"   1-123-1.000E+00";
        assert_eq!(layout.integer(line, 0), Field::Value(1));
        assert_eq!(layout.integer(line, 1), Field::Value(-123));
        assert_eq!(layout.real(line, 0), Field::Value(-1.0));
        assert_eq!(layout.real(line, 1), Field::Missing);
        assert_eq!(layout.integer(b"   x", 0), Field::Bad);
        assert_eq!(layout.integer(b"        1", 0), Field::Bad);
    }

    #[test]
    fn reals_of_fortran() {
        assert_eq!(real("-2.8749388208227E-001"), Some(-0.28749388208227));
        assert_eq!(real("1.5D+02"), Some(150.0));
        assert_eq!(real("1.5-100"), Some(1.5e-100));
        assert_eq!(real("-1.5+100"), Some(-1.5e100));
        assert_eq!(real("-"), None);
        assert_eq!(real("*****"), None);
        assert_eq!(real(""), None);
    }
}
