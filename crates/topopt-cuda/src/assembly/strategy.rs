//! The strategies of assembly by name.

use topopt_linalg::BackendError;

use super::atomic::Atomic;
use super::elem_color::ElemColor;
use super::global_nz::GlobalNz;
use super::local_nz::LocalNz;
use super::local_row::LocalRow;
use super::patch::Patch;
use super::shared_nz::SharedNz;
use super::task::{Assemble, Parts, Routine};
use crate::vector::Real;

/// How the matrix is summed up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AssemblyStrategy {
    /// Element by element, a launch per color [CeckaLewDarve2011, 4.1].
    ElemColor,
    /// Element by element to memory, then non-zero by non-zero [CeckaLewDarve2011, 4.2].
    GlobalNz,
    /// Non-zero by non-zero from elements in shared memory [CeckaLewDarve2011, 4.3].
    SharedNz,
    /// Non-zero by non-zero, each from the coordinates [CeckaLewDarve2011, 4.4].
    LocalNz,
    /// Row by row, each from the coordinates [CeckaLewDarve2011, 3.4].
    LocalRow,
    /// Rows of a patch in shared memory, to which its elements add by atomics [Fu2013, 5.4].
    Patch,
    /// Element by element with atomics.
    Atomic,
}

impl AssemblyStrategy {
    /// All strategies.
    pub const ALL: [Self; 7] = [
        Self::ElemColor,
        Self::GlobalNz,
        Self::SharedNz,
        Self::LocalNz,
        Self::LocalRow,
        Self::Patch,
        Self::Atomic,
    ];

    /// Name as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::ElemColor => "elem_color",
            Self::GlobalNz => "global_nz",
            Self::SharedNz => "shared_nz",
            Self::LocalNz => "local_nz",
            Self::LocalRow => "local_row",
            Self::Patch => "patch",
            Self::Atomic => "atomic",
        }
    }

    /// Whether it adds in a fixed order, so that two assemblies give the same bits.
    pub fn is_in_order(self) -> bool {
        !matches!(self, Self::Patch | Self::Atomic)
    }

    /// Whether it takes the routine: from stored matrices, those that evaluate elements where they need
    /// them would be `global_nz`.
    pub fn takes(self, routine: Routine) -> bool {
        let evaluates = matches!(self, Self::SharedNz | Self::LocalNz | Self::LocalRow);
        routine != Routine::Stored || !evaluates
    }

    pub(super) fn build<R: Real>(
        self,
        parts: &Parts<'_>,
    ) -> Result<Box<dyn Assemble<R>>, BackendError> {
        Ok(match self {
            Self::ElemColor => Box::new(ElemColor::new(parts)?),
            Self::GlobalNz => Box::new(GlobalNz::new(parts)?),
            Self::SharedNz => Box::new(SharedNz::new(parts)?),
            Self::LocalNz => Box::new(LocalNz::new(parts)?),
            Self::LocalRow => Box::new(LocalRow::new(parts)?),
            Self::Patch => Box::new(Patch::new(parts)?),
            Self::Atomic => Box::new(Atomic::new(parts)?),
        })
    }
}
