//! `ebe8`: eight threads an element, three rows each [Ratnakar2022, Alg. 4].

use super::stored::Mapping;

pub(crate) static MAPPING: Mapping = Mapping {
    name: "ebe8",
    ptx: include_str!("../../../../cuda/ptx/ebe8.f64.ptx"),
    threads: 8,
    block: 512,
};
