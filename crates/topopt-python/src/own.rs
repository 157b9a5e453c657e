//! Functions of Python that take part in a run.

use std::sync::Arc;

use pyo3::prelude::*;
use topopt_case::own::Own;
use topopt_case::responses::own::OwnResponse;
use topopt_design::HostMap;

use crate::maps::{Gives, PyMap};
use crate::response::{PyFunction, Raised, role};

/// Functions of one run: label, function, goal and limit of each response; a transform; function
/// and load case of each load.
#[derive(FromPyObject)]
pub struct Functions(
    Vec<(String, Py<PyAny>, String, Option<f64>)>,
    Option<Py<PyAny>>,
    Vec<(Py<PyAny>, Option<String>)>,
);

impl Functions {
    /// Makes functions of states with `unknowns` per node, and the place of an exception of one.
    ///
    /// # Errors
    /// A goal that no response has.
    pub fn of(self, unknowns: usize) -> PyResult<(Own, Raised)> {
        let Self(responses, transform, loads) = self;
        let raised = Raised::default();
        let responses = responses.into_iter().map(|(label, function, goal, limit)| {
            let function = PyFunction { function, unknowns, raised: raised.clone() };
            Ok(OwnResponse { label, function: Arc::new(function), role: role(&goal, limit)? })
        });
        let responses = responses.collect::<PyResult<_>>()?;
        let map = |function, gives| -> Arc<dyn HostMap> {
            Arc::new(PyMap { function, gives, raised: raised.clone() })
        };
        let forces = loads.into_iter().map(|(f, case)| (case, map(f, Gives::Forces(unknowns))));
        let transform = transform.map(|function| map(function, Gives::Density));
        let own = Own { responses, transform, forces: forces.collect() };
        Ok((own, raised))
    }
}
