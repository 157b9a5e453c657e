//! `ebe`: one thread an element [Ratnakar2022, Alg. 2].

use super::stored::Mapping;

pub(crate) static MAPPING: Mapping = Mapping {
    name: "ebe",
    ptx: include_str!("../../../../cuda/ptx/ebe.f64.ptx"),
    threads: 1,
    block: 512,
};
