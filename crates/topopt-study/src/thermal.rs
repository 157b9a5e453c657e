//! The analysis of heat in a part, or in a given design: a steady state, or steps in time.

mod balance;
mod fields;
mod found;
mod march;
mod part;
mod probes;
mod restart;
mod rows;
mod steps;
mod transient;

use std::collections::BTreeMap;
use std::io::Write;

use topopt_case::case::Case;
use topopt_case::case_loads::CaseLoads;
use topopt_case::config::Config;
use topopt_case::finding::InputError;
use topopt_case::interrupt::Interrupt;
use topopt_case::model::Model;
use topopt_case::physics::heat::InTime as Acting;
use topopt_case::unit_names::UnitNames;
use topopt_fem::Diffusion;
use topopt_io::atomic;

use crate::analysis::{REMEDY, Request, filling, made_ready};
use crate::doubts;
use crate::failure::Failure;
use crate::place::Place;
use crate::result_files::{ANALYSIS, ANALYSIS_FIELDS, CASE, write_json};
use crate::solved::{Conditions, States};
use crate::starting_design::StartingDesign;
use crate::summary::Preconditioner;
use crate::thread_pool::thread_pool;
pub(crate) use fields::Fields;
pub use found::{Extreme, HeatBalance, InTime, SupportHeat, ThermalAnalysis, ThermalCase};
pub(crate) use part::Part;

/// The load cases of `case` as `[[loads]]` gives them, without the heat that convection brings from an
/// ambient.
pub fn given_heat(config: &Config, case: &Case<1>) -> Vec<CaseLoads<1>> {
    let acting = Acting::of(&case.lookup(config)).loads;
    let of_case = |all: &CaseLoads<1>| {
        let mut heat: BTreeMap<u32, f64> = BTreeMap::new();
        let entries = config.loads.iter().zip(&acting).filter(|(load, _)| load.case == all.name);
        for (node, flow) in entries.flat_map(|(_, acting)| &acting.values) {
            *heat.entry(*node).or_default() += flow;
        }
        let forces = heat.into_iter().map(|(node, flow)| (node, [flow])).collect();
        CaseLoads { forces, ..all.clone() }
    };
    case.load_cases.iter().map(of_case).collect()
}

impl ThermalAnalysis {
    /// Solves the part of `config`, or the design of the request, and writes analysis.vtu,
    /// analysis.json and the case to `output.directory`; in time also transient.csv, a row per step,
    /// and the snapshots.
    ///
    /// # Errors
    /// Input that cannot be solved, a solve that does not converge, files that cannot be written.
    pub fn of(config: &Config, request: &Request, interrupt: &Interrupt) -> Result<Self, Failure> {
        request.check(config).map_err(InputError::from)?;
        let design = request.design.as_deref().map(StartingDesign::read).transpose()?;

        thread_pool(config.solver.threads)?.install(|| {
            let (place, case) = rayon::join(
                || Place::find(config.solver.device),
                || Case::<1>::of::<Diffusion>(config, &request.gmsh, interrupt),
            );
            let (place, case) = (place.map_err(InputError::from)?, case?);
            let model =
                Model::<Diffusion, 1>::build(config, case.clone(), place.needs_colors(config))?;
            let mut notes = case.notes.clone();
            notes.extend(place.note().map(str::to_owned));
            let warnings = doubts::of_part(config, &model);
            let filling = filling(config, &model, design.as_ref()).map_err(InputError::from)?;

            let (case, model) = (&case, &model);
            let part = Part { config, case, model, filling: &filling };
            let conditions = Conditions { config, place: &place, interrupt, remedy: REMEDY };
            let in_time = config.transient.as_ref().zip(model.timeline.as_ref());
            let mut analysis = match in_time {
                Some(in_time) => part.in_time(in_time, request, conditions)?,
                None => part.steady(request, conditions)?,
            };
            analysis.design = design.map(|design| design.path().display().to_string());
            analysis.notes.splice(..0, notes);
            analysis.warnings = warnings;
            write_json(&config.output_directory().join(ANALYSIS), &analysis)?;
            Ok(analysis)
        })
    }
}

impl<'a> Part<'a> {
    /// The steady state of every load case, and its files.
    fn steady(
        &self,
        request: &Request,
        conditions: Conditions,
    ) -> Result<ThermalAnalysis, Failure> {
        let solved = States::new(self.model, self.filling, conditions)?;
        let load_cases =
            solved.states.iter().enumerate().map(|(k, temperature)| {
                self.found(k, temperature, Some(solved.compliances[k]), None)
            });
        let analysis = ThermalAnalysis {
            load_cases: load_cases.collect(),
            strategy: solved.means.strategy,
            preconditioner: solved.means.preconditioner,
            pcg_iterations: solved.pcg_iterations,
            pcg_residual: solved.pcg_residual,
            seconds: solved.seconds,
            ..self.unsolved(conditions.place)
        };

        let directory = self.config.output_directory();
        let _lock = made_ready(self.config, request, None).map_err(InputError::from)?;
        self.write_case()?;
        Fields::of(self).write(&directory.join(ANALYSIS_FIELDS), &solved.states)?;
        Ok(analysis)
    }

    /// An analysis before the solve.
    fn unsolved(&self, place: &Place) -> ThermalAnalysis {
        let (config, model) = (self.config, self.model);
        ThermalAnalysis {
            topopt: env!("CARGO_PKG_VERSION"),
            title: config.title.clone(),
            units: UnitNames::of(config),
            case: config.path().display().to_string(),
            design: None,
            nodes: model.mesh.n_nodes(),
            elements: model.mesh.n_elements(),
            free_dofs: model.n_free_dofs(),
            element_width: model.element_width,
            volume: self.filling.material.iter().sum(),
            load_cases: Vec::new(),
            transient: None,
            device: place.name(),
            strategy: "",
            preconditioner: Preconditioner::default(),
            pcg_iterations: 0,
            pcg_residual: 0.0,
            seconds: 0.0,
            notes: Vec::new(),
            warnings: Vec::new(),
        }
    }

    fn write_case(&self) -> Result<(), Failure> {
        let case = self.config.to_toml().map_err(InputError::from)?;
        let path = self.config.output_directory().join(CASE);
        Ok(atomic::write(&path, |file| file.write_all(case.as_bytes()))?)
    }
}
