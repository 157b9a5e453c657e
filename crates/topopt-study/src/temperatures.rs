//! Temperatures of thermal cases that an elastic case names.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use topopt_case::config::{ComputedTemperature, Config};
use topopt_case::finding::{Finding, InputError};
use topopt_case::interrupt::Interrupt;
use topopt_case::meshing::Gmsh;
use topopt_case::nodal_temperatures::NodalTemperatures;
use topopt_fem::Diffusion;

use crate::analysis::{self, Request};
use crate::failure::Failure;

/// Solves the thermal cases whose temperatures loads of `config` have, each once, and returns the
/// case with them. Temperatures are those of the full part, whatever a design is.
///
/// # Errors
/// A thermal case that cannot be read or solved.
pub fn solved<'a>(
    config: &'a Config,
    gmsh: &Gmsh,
    interrupt: &Interrupt,
) -> Result<Cow<'a, Config>, Failure> {
    let mut with = Cow::Borrowed(config);
    for given in config.computed_temperatures().filter(|given| given.get_ref().is_of_case()) {
        let computed = given.get_ref();
        let key = (computed.path(config.folder()), computed.array().to_owned());
        if !with.solved_temperatures.contains_key(&key) {
            let at = |finding: Finding| finding.at(config.source(), given.span(), "this case");
            let found = of_case(&key.0, computed, (gmsh, interrupt), at)?;
            with.to_mut().solved_temperatures.insert(key, Arc::new(found));
        }
    }
    Ok(with)
}

fn of_case(
    path: &Path,
    computed: &ComputedTemperature,
    (gmsh, interrupt): (&Gmsh, &Interrupt),
    at: impl Fn(Finding) -> Finding,
) -> Result<NodalTemperatures, Failure> {
    let refused = |message: String, remedy: &str| {
        Failure::from(InputError::from(at(Finding::new(message).remedy(remedy))))
    };
    let shown = path.display();
    let thermal = Config::load_for_analysis(path, &[])?;
    if thermal.physics.kind.data().has_forces {
        let remedy = "name a case with `kind = \"heat\"` in its [physics]";
        return Err(refused(format!("{shown} is no thermal case"), remedy));
    }
    if thermal.transient.is_some() {
        let remedy = "solve it by `topopt solve`, and name one of the snapshots in its place";
        return Err(refused(format!("{shown} is a case in time"), remedy));
    }

    let request = Request {
        design: None,
        density: None,
        mesh: None,
        files: None,
        gauss: None,
        gmsh: gmsh.clone(),
    };
    let mut analysis = analysis::of::<Diffusion, 1>(&thermal, &request, interrupt)?;
    let (mesh, mut fields) = analysis.found.take().unzip();
    let mut points = fields.take().map_or_else(Vec::new, |fields| fields.points);
    points.retain(|field| field.components == 1);
    let names: Vec<_> = points.iter().map(|field| format!("`{}`", field.name)).collect();
    let values = points.into_iter().find(|field| field.name == computed.array());
    let found =
        mesh.zip(values).map(|(mesh, field)| NodalTemperatures { mesh, values: field.values });
    found.ok_or_else(|| {
        let message = format!("{shown} has no temperatures `{}`", computed.array());
        refused(message, &format!("give one of its arrays: {}", names.join(", ")))
    })
}
