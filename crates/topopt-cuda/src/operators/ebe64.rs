//! `ebe64`: 64 threads an element, a 3x3 tile each [Ratnakar2022, Alg. 6].

use super::stored::Mapping;

pub(crate) static MAPPING: Mapping = Mapping {
    name: "ebe64",
    ptx: include_str!("../../../../cuda/ptx/ebe64.f64.ptx"),
    threads: 64,
    block: 512,
};
