//! Functions of a caller that take part in a design: responses, a transform of the density, and
//! forces that follow it.

use std::fmt;
use std::sync::Arc;

use topopt_design::{HostMap, Pullback};
use topopt_fem::ProblemView;
use topopt_linalg::BackendError;
use topopt_mesh::Renumbering;

use crate::finding::Finding;
use crate::responses::own::{OwnResponse, clear_held, gathered, is_held, scattered};

/// Functions of a caller, in the user's numbering.
#[derive(Clone, Default)]
pub struct Own {
    /// Responses beside those of the case.
    pub responses: Vec<OwnResponse>,
    /// Map from the density that filter and projection make to the one that is built,
    /// `[n_elements]`.
    pub transform: Option<Arc<dyn HostMap>>,
    /// Maps from the density that is built to forces on all nodes, `[n_nodes][n]`, with the names
    /// of their load cases; without a name, the first one.
    pub forces: Vec<(Option<String>, Arc<dyn HostMap>)>,
}

/// Maps of a caller, in the numbering of a problem.
#[derive(Clone, Default)]
pub struct PosedMaps {
    /// Transform of the density.
    pub transform: Option<Arc<dyn HostMap>>,
    /// Forces by number of the load case.
    pub forces: Vec<(usize, Arc<dyn HostMap>)>,
}

impl fmt::Debug for PosedMaps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut maps = f.debug_struct("PosedMaps");
        maps.field("has_transform", &self.transform.is_some());
        maps.field("n_forces", &self.forces.len()).finish()
    }
}

impl Own {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        !self.is_needed() && self.transform.is_none()
    }

    /// Whether neither states nor responses of a design can be computed without them.
    pub fn is_needed(&self) -> bool {
        !self.responses.is_empty() || !self.forces.is_empty()
    }

    /// Makes the maps those of `problem`, whose numbers are those of `renumbering`.
    ///
    /// # Errors
    /// A finding for forces in a load case that is not there.
    pub fn maps_on(
        &self,
        problem: &dyn ProblemView,
        renumbering: &Renumbering,
    ) -> Result<PosedMaps, Finding> {
        if self.is_empty() {
            return Ok(PosedMaps::default());
        }
        let elements: Arc<[u32]> = renumbering.new_elements().into();
        let of_user = |map: &Arc<dyn HostMap>, values, is_held| -> Arc<dyn HostMap> {
            let (map, elements) = (map.clone(), elements.clone());
            Arc::new(Renumbered { map, elements, values, is_held })
        };

        let is_held: Arc<[bool]> = is_held(problem).into();
        let is_free: Arc<[bool]> = vec![false; elements.len()].into();
        let nodes: Arc<[u32]> = renumbering.new_nodes().into();
        let forces = self.forces.iter().map(|(case, map)| {
            let case = numbered(case.as_deref(), problem)?;
            Ok((case, of_user(map, nodes.clone(), is_held.clone())))
        });
        let transform = self.transform.as_ref();
        Ok(PosedMaps {
            transform: transform.map(|map| of_user(map, elements.clone(), is_free)),
            forces: forces.collect::<Result<_, Finding>>()?,
        })
    }
}

/// The number of the load case of that name, the first one without a name.
fn numbered(name: Option<&str>, problem: &dyn ProblemView) -> Result<usize, Finding> {
    let names: Vec<&str> = problem.cases().iter().map(|case| case.name).collect();
    let found = name.map_or(Some(0), |name| names.iter().position(|case| *case == name));
    found.ok_or_else(|| {
        let message = format!("there is no load case `{}`", name.unwrap_or_default());
        Finding::new(message).remedy(format!("name one of these: `{}`", names.join("`, `")))
    })
}

/// A map of values in the user's numbering, on those of the problem.
struct Renumbered {
    map: Arc<dyn HostMap>,
    /// Element of the problem by element of the user, `[n_elements]`.
    elements: Arc<[u32]>,
    /// Row of the values of the problem by row of those of the user.
    values: Arc<[u32]>,
    /// Whether a value is 0 whatever the map gives, as many as values.
    is_held: Arc<[bool]>,
}

impl HostMap for Renumbered {
    fn evaluate(&self, x: &[f64]) -> Result<(Vec<f64>, Pullback), BackendError> {
        let Self { map, elements, values, is_held } = self;
        let (y, pullback) = map.evaluate(&gathered(elements, x))?;
        sized(y.len(), is_held.len(), "values")?;
        let mut y = scattered(values, &y);
        clear_held(&mut y, is_held);

        let (elements, values) = (elements.clone(), values.clone());
        let back = move |w: &[f64]| -> Result<Vec<f64>, BackendError> {
            let slope = pullback(&gathered(&values, w))?;
            sized(slope.len(), elements.len(), "derivatives by the density")?;
            Ok(scattered(&elements, &slope))
        };
        Ok((y, Box::new(back)))
    }
}

fn sized(given: usize, wanted: usize, values: &str) -> Result<(), BackendError> {
    match given == wanted {
        true => Ok(()),
        false => Err(BackendError {
            device: "the caller".into(),
            operation: "a map of the density".into(),
            message: format!("it gives {given} {values} for {wanted}"),
        }),
    }
}
