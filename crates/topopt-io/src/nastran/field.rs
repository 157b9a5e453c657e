//! Numbers as Nastran writes them.

/// A whole number that is not negative.
pub(super) fn integer(text: &[u8]) -> Option<u64> {
    let digits = text.strip_prefix(b"+").unwrap_or(text);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// A finite number: `1.5`, `-.5`, `1.+2` and `1.5-3` (powers of ten without a letter), `1.5D+3`.
pub(super) fn real(text: &[u8]) -> Option<f64> {
    let mut number = String::with_capacity(text.len() + 1);
    let mut has_exponent = false;
    for &byte in text {
        match byte {
            b'0'..=b'9' | b'.' => number.push(byte.into()),
            b'e' | b'E' | b'd' | b'D' if !has_exponent => {
                has_exponent = true;
                number.push('e');
            }
            b'+' | b'-' => {
                let begins = number.is_empty() || number.ends_with('e');
                if !begins {
                    if has_exponent {
                        return None;
                    }
                    has_exponent = true;
                    number.push('e');
                }
                number.push(byte.into());
            }
            _ => return None,
        }
    }
    number.parse().ok().filter(|number: &f64| number.is_finite())
}

/// The components 1 to 6 that a text of digits names, each once or several times; 0 is none.
pub(super) fn components(text: &[u8]) -> Option<[bool; 6]> {
    let mut named = [false; 6];
    for &digit in text {
        match digit {
            b'0' => {}
            b'1'..=b'6' => named[usize::from(digit - b'1')] = true,
            _ => return None,
        }
    }
    Some(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_without_letters() {
        for (text, expected) in [
            ("1.5", 1.5),
            ("-.5", -0.5),
            ("1.+2", 100.0),
            ("1.5-3", 0.0015),
            ("-7.-1", -0.7),
            ("+1.5+3", 1500.0),
            ("1.5D+3", 1500.0),
            ("1.5e-3", 0.0015),
            ("2E3", 2000.0),
            ("7", 7.0),
        ] {
            assert_eq!(real(text.as_bytes()), Some(expected), "{text}");
        }
        for text in ["", "-", ".", "nan", "inf", "1.e", "1e2e3", "1-2-3", "1e5-3", "1.0.0", "1e999"]
        {
            assert_eq!(real(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn whole_numbers_and_components() {
        assert_eq!(integer(b"12"), Some(12));
        assert_eq!(integer(b"+12"), Some(12));
        for text in ["", "+", "-1", "1.0", "99999999999999999999"] {
            assert_eq!(integer(text.as_bytes()), None, "{text}");
        }
        assert_eq!(components(b"135"), Some([true, false, true, false, true, false]));
        assert_eq!(components(b"0"), Some([false; 6]));
        assert_eq!(components(b"7"), None);
    }
}
