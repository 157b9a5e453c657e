//! Points at which temperatures are recorded.

use topopt_case::config::Transient;
use topopt_case::finding::Finding;
use topopt_fem::Diffusion;
use topopt_mesh::locate;

use crate::solved::Part;

/// A probe in its element.
pub(super) struct Located {
    pub name: String,
    /// Nodes of the element as the problem numbers them, with their shares.
    nodes: Vec<(u32, f64)>,
}

impl Part<'_, Diffusion, 1> {
    /// The probes in their elements.
    ///
    /// # Errors
    /// A point outside of the part.
    pub(super) fn located(&self, keys: &Transient) -> Result<Vec<Located>, Finding> {
        let mesh = self.model.problem.mesh();
        let mut all: Vec<Located> = Vec::new();
        for probe in &keys.probes {
            let (point, span) = (*probe.point.get_ref(), probe.point.span());
            let at = |message: String, label: &str, remedy: &str| {
                Finding::new(message).at(self.config.source(), span.clone(), label).remedy(remedy)
            };
            let Some((element, shape)) = locate(mesh, point) else {
                let message = format!("the probe `{}` is outside of the part", probe.name);
                let remedy = "give a point in the part; `topopt info` shows where it lies";
                return Err(at(message, "no element holds this point", remedy));
            };
            let nodes = mesh.element(element as usize).iter().copied().zip(shape).collect();
            all.push(Located { name: probe.name.clone(), nodes });
        }
        Ok(all)
    }
}

impl Located {
    /// The temperature there, of a `state` of the problem.
    pub fn temperature(&self, state: &[f64]) -> f64 {
        self.nodes.iter().map(|(node, share)| share * state[*node as usize]).sum()
    }
}
