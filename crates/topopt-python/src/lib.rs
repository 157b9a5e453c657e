//! The Python module `_topopt3d`, behind the package `topopt3d`: meshes, cases, runs and results as
//! NumPy arrays.
//!
//! Computing happens on threads of its own, without the lock of the interpreter; the thread that
//! called answers callbacks and signals meanwhile.

mod arrays;
mod attended;
mod case;
mod errors;
mod maps;
mod mesh;
mod own;
mod response;
mod result;
mod run;
mod solution;
mod system;

use std::ffi::OsString;

use pyo3::prelude::*;
use topopt_case::config::Device;
use topopt_study::computer::Gpu;
use topopt_study::place::Place;

#[pymodule]
mod _topopt3d {
    #[pymodule_export]
    use super::case::Case;
    #[pymodule_export]
    use super::errors::{Finding, InputError, TopoptError};
    #[pymodule_export]
    use super::mesh::Mesh;
    #[pymodule_export]
    use super::result::Result;
    #[pymodule_export]
    use super::run::Design;
    #[pymodule_export]
    use super::solution::Solution;
    #[pymodule_export]
    use super::system::System;
    #[pymodule_export]
    use super::{devices, main};
}

/// Names of the devices that compute here: the processor first, then each GPU by its number.
#[pyfunction]
fn devices(py: Python) -> Vec<(String, String)> {
    py.detach(|| {
        let named = |place: Place| (place.name(), place);
        let gpu =
            |number| Place::find(Device::Gpu(number)).ok().map(|place| (number, named(place).0));
        let gpus =
            (0..Gpu::count()).filter_map(gpu).map(|(number, name)| (format!("gpu:{number}"), name));
        std::iter::once(("cpu".to_owned(), "cpu".to_owned())).chain(gpus).collect()
    })
}

/// Runs the program with `arguments`, its name first, and returns its exit status.
#[pyfunction]
fn main(py: Python, arguments: Vec<OsString>) -> u8 {
    py.detach(|| topopt_cli::entry::enter(arguments))
}
