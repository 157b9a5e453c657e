//! `Kind`: the number types of VTK.

/// A number type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// So many bytes, with a sign or without.
    Integer(usize, bool),
    /// So many bytes.
    Float(usize),
    /// Eight in a byte.
    Bit,
}

impl Kind {
    /// The type of an array in XML, such as `UInt8` or `Float64`.
    pub fn of(name: &str) -> Option<Self> {
        let (kind, bits) = name.split_at(name.find(|c: char| c.is_ascii_digit())?);
        let width = match bits {
            "8" => 1,
            "16" => 2,
            "32" => 4,
            "64" => 8,
            _ => return None,
        };
        match kind {
            "Int" | "UInt" => Some(Self::Integer(width, kind == "Int")),
            "Float" if width >= 4 => Some(Self::Float(width)),
            _ => None,
        }
    }

    /// The type of an array in a legacy file; VTK writes vtkIdType as int.
    pub fn of_legacy(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "bit" => Self::Bit,
            "char" | "signed_char" | "vtktypeint8" => Self::Integer(1, true),
            "unsigned_char" | "vtktypeuint8" => Self::Integer(1, false),
            "short" | "vtktypeint16" => Self::Integer(2, true),
            "unsigned_short" | "vtktypeuint16" => Self::Integer(2, false),
            "int" | "vtkidtype" | "vtktypeint32" => Self::Integer(4, true),
            "unsigned_int" | "vtktypeuint32" => Self::Integer(4, false),
            "long" | "vtktypeint64" => Self::Integer(8, true),
            "unsigned_long" | "vtktypeuint64" => Self::Integer(8, false),
            "float" | "vtktypefloat32" => Self::Float(4),
            "double" | "vtktypefloat64" => Self::Float(8),
            _ => return None,
        })
    }

    pub fn is_integer(self) -> bool {
        !matches!(self, Self::Float(_))
    }

    /// Bytes of `count` numbers.
    pub fn length(self, count: u64) -> Option<usize> {
        let length = match self {
            Self::Bit => Some(count.div_ceil(8)),
            Self::Integer(width, _) | Self::Float(width) => count.checked_mul(width as u64),
        };
        length.and_then(|length| usize::try_from(length).ok())
    }

    /// The integer of big-endian bytes.
    pub fn integer(self, bytes: &[u8]) -> i64 {
        let value = bytes.iter().fold(0_u64, |value, &byte| value << 8 | u64::from(byte));
        match self {
            Self::Integer(1, true) => i64::from(value as i8),
            Self::Integer(2, true) => i64::from(value as i16),
            Self::Integer(4, true) => i64::from(value as i32),
            Self::Integer(8, true) => value as i64,
            Self::Float(_) => self.float(bytes) as i64,
            _ => i64::try_from(value).unwrap_or(i64::MAX),
        }
    }

    /// The floating-point number of big-endian bytes.
    pub fn float(self, bytes: &[u8]) -> f64 {
        match (self, bytes) {
            (Self::Float(4), &[a, b, c, d]) => f32::from_be_bytes([a, b, c, d]).into(),
            (Self::Float(_), bytes) => bytes.try_into().map_or(f64::NAN, f64::from_be_bytes),
            _ => self.integer(bytes) as f64,
        }
    }
}
