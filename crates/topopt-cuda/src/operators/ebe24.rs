//! `ebe24`: 24 threads an element, a row each [Ratnakar2022, Alg. 5].

use super::stored::Mapping;

pub(crate) static MAPPING: Mapping = Mapping {
    name: "ebe24",
    ptx: include_str!("../../../../cuda/ptx/ebe24.f64.ptx"),
    threads: 24,
    block: 504,
};
