//! `Quality` of a surface.

/// Length of the edges of a surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Quality {
    /// Edges of an element, to look at.
    Draft,
    /// Edges of half an element, to print and to compute with.
    #[default]
    Print,
    /// Edges of a quarter of an element, for pictures.
    Show,
}

impl Quality {
    /// Mean length of the edges, in element widths.
    pub(crate) fn edge(self) -> f64 {
        match self {
            Self::Draft => 1.0,
            Self::Print => 0.5,
            Self::Show => 0.25,
        }
    }
}
