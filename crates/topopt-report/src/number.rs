//! Numbers as text for people.

/// Formats `x` with `digits` significant digits, without trailing zeros; with a power of ten if the
/// digits would be far from the decimal point.
pub fn number(x: f64, digits: usize) -> String {
    if x == 0.0 || !x.is_finite() {
        return if x == 0.0 { "0".into() } else { "\u{2013}".into() };
    }
    let scientific = format!("{x:.*e}", digits.max(1) - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let power: i32 = exponent.parse().unwrap_or(0);
    let text = if (-3..6).contains(&power) {
        let decimals = (digits as i32 - 1 - power).max(0) as usize;
        let rounded: f64 = scientific.parse().unwrap_or(x);
        trimmed(&format!("{rounded:.decimals$}"))
    } else {
        format!("{}\u{b7}10{}", trimmed(mantissa), superscript(power))
    };
    text.replace('-', "\u{2212}")
}

/// Formats a count with its thousands set apart.
pub fn count(n: usize) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) && digits.len() > 4 {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

fn trimmed(decimal: &str) -> String {
    if decimal.contains('.') {
        decimal.trim_end_matches('0').trim_end_matches('.').into()
    } else {
        decimal.into()
    }
}

fn superscript(power: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let digit = |c: char| c.to_digit(10).map_or('⁻', |digit| DIGITS[digit as usize]);
    power.to_string().chars().map(digit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_true() {
        let cases = [
            (3_861.267_575_9, "3861.27"),
            (0.3, "0.3"),
            (0.022_053_7, "0.0220537"),
            (-12.0, "\u{2212}12"),
            (210e3, "210000"),
            (1e6, "1\u{b7}10⁶"),
            (-7.829_456_7e-6, "\u{2212}7.82946\u{b7}10⁻⁶"),
            (0.999_999_99, "1"),
            (0.0, "0"),
            (f64::NAN, "\u{2013}"),
        ];
        for (x, text) in cases {
            assert_eq!(number(x, 6), text);
        }
    }

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(
            [0, 950, 1040, 31_250, 1_012_500].map(count).join(" "),
            "0 950 1040 31\u{202f}250 1\u{202f}012\u{202f}500"
        );
    }
}
