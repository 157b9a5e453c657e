//! The strategies of assembly by name.

use topopt_linalg::BackendError;

use super::atomic::Atomic;
use super::elem_color::ElemColor;
#[cfg(feature = "lab")]
use super::lab::{global_nz::GlobalNz, local_nz::LocalNz, patch::Patch, shared_nz::SharedNz};
use super::local_row::LocalRow;
use super::routine::Routine;
use super::task::{Assemble, Parts};
use crate::vector::Real;

/// Name and properties of a strategy.
struct Row<R> {
    name: &'static str,
    /// Adds in a fixed order.
    is_in_order: bool,
    /// Takes stored matrices.
    takes_stored: bool,
    build: Build<R>,
}

/// Builds the assembly of some parts.
type Build<R> = fn(&Parts<'_>) -> Result<Box<dyn Assemble<R>>, BackendError>;

strategies! {
    /// How the matrix is summed up.
    AssemblyStrategy: Row<R: Real> {
        /// Element by element, a launch per color [CeckaLewDarve2011, 4.1].
        ElemColor => Row {
            name: "elem_color",
            is_in_order: true,
            takes_stored: true,
            build: |parts| Ok(Box::new(ElemColor::new(parts)?)),
        },
        /// Element by element to memory, then non-zero by non-zero [CeckaLewDarve2011, 4.2].
        #[cfg(feature = "lab")]
        GlobalNz => Row {
            name: "global_nz",
            is_in_order: true,
            takes_stored: true,
            build: |parts| Ok(Box::new(GlobalNz::new(parts)?)),
        },
        /// Non-zero by non-zero from elements in shared memory [CeckaLewDarve2011, 4.3].
        #[cfg(feature = "lab")]
        SharedNz => Row {
            name: "shared_nz",
            is_in_order: true,
            takes_stored: false,
            build: |parts| Ok(Box::new(SharedNz::new(parts)?)),
        },
        /// Non-zero by non-zero, each from the coordinates [CeckaLewDarve2011, 4.4].
        #[cfg(feature = "lab")]
        LocalNz => Row {
            name: "local_nz",
            is_in_order: true,
            takes_stored: false,
            build: |parts| Ok(Box::new(LocalNz::new(parts)?)),
        },
        /// Row by row, each from the coordinates [CeckaLewDarve2011, 3.4].
        LocalRow => Row {
            name: "local_row",
            is_in_order: true,
            takes_stored: false,
            build: |parts| Ok(Box::new(LocalRow::new(parts)?)),
        },
        /// Rows of a patch in shared memory, to which its elements add by atomics [Fu2013, 5.4].
        #[cfg(feature = "lab")]
        Patch => Row {
            name: "patch",
            is_in_order: false,
            takes_stored: true,
            build: |parts| Ok(Box::new(Patch::new(parts)?)),
        },
        /// Element by element with atomics.
        Atomic => Row {
            name: "atomic",
            is_in_order: false,
            takes_stored: true,
            build: |parts| Ok(Box::new(Atomic::new(parts)?)),
        },
    }
}

impl AssemblyStrategy {
    /// Name as on the command line.
    pub fn name(self) -> &'static str {
        self.row::<f64>().name
    }

    /// Whether it adds in a fixed order, so that two assemblies give the same bits.
    pub fn is_in_order(self) -> bool {
        self.row::<f64>().is_in_order
    }

    /// Whether it takes the routine: from stored matrices, those that evaluate elements where they
    /// need them would be `global_nz`.
    pub fn takes(self, routine: Routine) -> bool {
        routine != Routine::Stored || self.row::<f64>().takes_stored
    }

    pub(super) fn build<R: Real>(
        self,
        parts: &Parts<'_>,
    ) -> Result<Box<dyn Assemble<R>>, BackendError> {
        (self.row().build)(parts)
    }
}
