//! Fields of fixed width, as a Fortran format line such as `(3i9,6e21.13e3)` lays them out.

/// The layout of a line: integers, then reals, without separators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    /// How many integers stand on a line.
    pub n_integers: usize,
    /// Characters of each.
    pub integer_width: usize,
    /// How many reals follow.
    pub n_reals: usize,
    /// Characters of each.
    pub real_width: usize,
}

/// More fields or wider ones than this stand in no file.
const MOST: usize = 400;

impl Layout {
    /// Understands `(19i10)`, `(3i9,6e21.13e3)` and `(2i9,19a9)`; texts are as good as blanks.
    pub fn parse(line: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(line).ok()?.trim().to_ascii_lowercase();
        let items = text.strip_prefix('(')?.strip_suffix(')')?;
        let mut layout = Self { n_integers: 0, integer_width: 0, n_reals: 0, real_width: 0 };
        for (i, item) in items.split(',').enumerate() {
            let (count, kind, width) = field(item.trim())?;
            match (kind, i) {
                ('i', 0) => (layout.n_integers, layout.integer_width) = (count, width),
                ('e' | 'f' | 'g' | 'd', 1) => (layout.n_reals, layout.real_width) = (count, width),
                ('a', 1) => {}
                _ => return None,
            }
        }
        (layout.n_integers > 0).then_some(layout)
    }

    /// Integer `i` of a line: nothing if the line ends before it.
    pub fn integer(&self, line: &[u8], i: usize) -> Field<i64> {
        debug_assert!(i < self.n_integers);
        field_at(line, i * self.integer_width, self.integer_width, |text| text.parse().ok())
    }

    /// Real `i` of a line: nothing if the line ends before it.
    pub fn real(&self, line: &[u8], i: usize) -> Field<f64> {
        debug_assert!(i < self.n_reals);
        let start = self.n_integers * self.integer_width + i * self.real_width;
        field_at(line, start, self.real_width, real)
    }

    /// Characters of a whole line.
    pub fn width(&self) -> usize {
        self.n_integers * self.integer_width + self.n_reals * self.real_width
    }
}

/// What stands in a field.
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

/// (count, letter, width) of `6e21.13e3`.
fn field(item: &str) -> Option<(usize, char, usize)> {
    let at = item.find(|c: char| c.is_ascii_alphabetic())?;
    let count = if at == 0 { 1 } else { item[..at].parse().ok()? };
    let rest = &item[at + 1..];
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let width = rest[..end].parse().ok()?;
    let sensible = (1..=MOST).contains(&count) && (1..=MOST).contains(&width);
    sensible.then_some((count, char::from(item.as_bytes()[at]), width))
}

fn field_at<T>(
    line: &[u8],
    start: usize,
    width: usize,
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
        assert_eq!((layout.n_integers, layout.integer_width), (3, 9));
        assert_eq!((layout.n_reals, layout.real_width), (6, 21));
        assert_eq!(layout.width(), 153);
        assert_eq!(Layout::parse(b" (19I10) ").unwrap().width(), 190);
        assert_eq!(Layout::parse(b"(1i9,3e20.9e3)").unwrap().real_width, 20);
        assert_eq!(Layout::parse(b"(2i9,19a9)").unwrap().n_integers, 2);
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
