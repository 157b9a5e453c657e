//! The proof of a design: made solid and void by a threshold, solved again, and measured.

mod carried;
mod compared;
mod measures;
mod shape;

use std::path::Path;

use serde::Serialize;
use serde_json::Value;
use topopt_io::vtk::{Array, Compression, Values, vtu};

use crate::case::Case;
use crate::config::Config;
use crate::design_file::{DISPLACEMENT, DesignFile, array_name};
use crate::failure::Failure;
use crate::finding::InputError;
use crate::interrupt::Interrupt;
use crate::meshing::Gmsh;
use crate::model::Model;
use crate::place::Place;
use crate::result_files::{VERIFIED, VERIFIED_DESIGN, write_json};
use crate::run_directory::RunDirectory;
use crate::solved::{Conditions, Displacement, Given, Solved, SolvedCase, Stress};
use carried::Carried;
pub use compared::Compared;
pub use measures::{Width, sorted_shares};
use shape::Shape;

/// What a verification is asked for.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Density at which the surface lies; by default that which keeps the volume.
    pub threshold: Option<f64>,
    /// Length by which smoothing may move the surface; by default the mean width of an element.
    pub smooth: Option<f64>,
    /// Makes the mesh of the case, if it is one of a geometry.
    pub gmsh: Gmsh,
}

/// What `topopt verify` finds: numbers of the optimized design and of the one of solid and void.
/// Units are those of the case; nodes and elements have the numbers of the mesh file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verification {
    /// Density at which the surface of the solid lies.
    pub threshold: f64,
    /// Young's modulus of a void element, as a share of the solid's.
    pub void_stiffness: f64,
    /// Weighted compliance (force times length).
    pub compliance: Compared,
    /// Volume of material, passive elements included.
    pub volume: Compared,
    /// Share of the design elements' volume that material takes.
    pub volume_fraction: Compared,
    /// Mass of the solid elements, where all materials have a mass density.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mass: Option<f64>,
    /// The largest displacement of a solid element's node.
    pub largest_displacement: Displacement,
    /// The stress of von Mises at the centers of the solid elements.
    pub von_mises: Stress,
    /// The measure of non-discreteness of the optimized design \[Sigmund2007\],
    /// sum 4 rho (1 - rho) v / sum v over the design elements: 0 where all are solid or void.
    pub grey_level: f64,
    /// Shares of the solid's volume of its connected pieces, largest first.
    pub parts: Vec<f64>,
    /// The thinnest member; see [`Solid::narrowest`](topopt_surface::Solid::narrowest).
    pub smallest_member: Option<Width>,
    /// The narrowest gap; see the same.
    pub smallest_gap: Option<Width>,
    /// Mean width of an element: what widths are uncertain by.
    pub element_width: f64,
    /// Every load case by itself.
    pub load_cases: Vec<SolvedCase>,
    /// Where it was solved.
    pub device: String,
    /// Iterations of conjugate gradients, summed over load cases.
    pub pcg_iterations: usize,
    /// Largest relative residual over load cases.
    pub pcg_residual: f64,
    /// What was left out, a sentence each.
    pub notes: Vec<String>,
}

impl Verification {
    /// Solves the design in `results` again as the solid that is exported: elements have the
    /// stiffness of the share that it fills \[AllaireJouveToader2004\]. Computes where the case
    /// says, and writes verify.json and verify.vtu beside the design.
    ///
    /// Void elements keep 1e-9 of the stiffness. So the mesh stays as it is, with its numbers,
    /// operators and preconditioner, and neither loose pieces nor elements that meet in an edge
    /// make the system singular.
    ///
    /// # Errors
    /// Results that cannot be read, a threshold with nothing left, a design that does not connect
    /// loads and supports, a solve that does not converge, a file that cannot be written.
    pub fn of(
        results: &RunDirectory,
        config: &Config,
        request: &Request,
        interrupt: &Interrupt,
    ) -> Result<Self, Failure> {
        let summary = results.summary().map_err(InputError::from)?;
        let case = Case::build_until(config, &request.gmsh, interrupt)?;
        let mut given = Given::of(config, &case);
        let place = Place::find(config.solver.device).map_err(InputError::from)?;
        let mut model = Model::build(config, case, place.needs_colors(config))?;
        let file = DesignFile::read(&results.design()).map_err(InputError::from)?;
        let design = Shape::new(&model, &file, request.threshold, request.smooth);
        let design = design.map_err(InputError::from)?;
        let carried = Carried::new(&model.problem, &design.is_touched);
        let (carried, problem) = carried.map_err(InputError::from)?;
        model.problem = problem;
        carried.keep(&mut given.loads, &model.renumbering.new_nodes());

        let filling = design.filling(&model, &carried);
        let conditions = Conditions { config, place: &place, interrupt, remedy: REMEDY };
        let solved = Solved::new(&model, given, filling, conditions)?;
        let verified = Verified { solved, design, carried };
        let verification = verified.verification(config, &summary, &place);
        verified.write(results.path())?;
        write_json(&results.path().join(VERIFIED), &verification)?;
        Ok(verification)
    }
}

/// What to do where the solve does not converge.
const REMEDY: &str = "raise `solver.max_iterations` or loosen `solver.tolerance` in the case.toml \
                      of the results, or give a smaller `--threshold`";

/// A shape that has been solved.
struct Verified<'a> {
    solved: Solved<'a>,
    design: Shape,
    carried: Carried,
}

impl Verified<'_> {
    /// `summary`: that of the run, for what it says of the optimized design.
    fn verification(&self, config: &Config, summary: &Value, place: &Place) -> Verification {
        let Self { solved, design, carried } = self;
        let Solved { model, given, solution, .. } = solved;
        let width = |found| Width::of(found, given.tags.as_ref());
        let [member, gap] = design.narrowest;
        let optimized = |key: &str| summary[key].as_f64().unwrap_or(f64::NAN);

        let load_cases = solved.cases();
        let displacements = load_cases.iter().map(|case| &case.largest_displacement);
        let largest = displacements.max_by(|a, b| a.value.total_cmp(&b.value)).cloned();
        Verification {
            threshold: design.threshold,
            void_stiffness: shape::VOID_STIFFNESS,
            compliance: Compared::new(optimized("compliance"), solution.compliance),
            volume: design.volume,
            volume_fraction: design.volume_fraction,
            mass: solved.mass(config, &design.shares),
            largest_displacement: largest.unwrap_or_else(|| solved.displacement(0)),
            von_mises: solved
                .stress(&solution.largest_von_mises, |element| solution.worst_case[element]),
            grey_level: optimized("grey_level"),
            parts: sorted_shares(design.pieces.clone()),
            smallest_member: member.map(width),
            smallest_gap: gap.map(width),
            element_width: model.element_width,
            load_cases,
            device: place.name(),
            pcg_iterations: solution.pcg_iterations,
            pcg_residual: solution.pcg_residual,
            notes: carried.notes.clone(),
        }
    }

    /// Writes the design of solid and void in the mesh file's numbering.
    fn write(&self, folder: &Path) -> Result<(), Failure> {
        let Self { solved: Solved { model, solution, .. }, design, .. } = self;
        let (mesh, renumbering) = (&model.mesh, &model.renumbering);
        let solid: Vec<u8> = design.is_solid.iter().map(|&is_solid| is_solid.into()).collect();
        let solid = renumbering.elements_to_original(&solid);
        let shares = renumbering.elements_to_original(&design.shares);
        let stress = renumbering.elements_to_original(&solution.largest_von_mises);

        let cells = [
            Array { name: "share", components: 1, values: Values::F64(&shares) },
            Array { name: "solid", components: 1, values: Values::U8(&solid) },
            Array { name: "von_mises", components: 1, values: Values::F64(&stress) },
        ];

        let cases = model.problem.load_cases().iter().zip(&solution.displacements);
        let displacements: Vec<(String, Vec<[f64; 3]>)> = cases
            .enumerate()
            .map(|(k, (case, u))| {
                let name = array_name(DISPLACEMENT, k, &case.name);
                (name, renumbering.nodes_to_original(u.as_chunks::<3>().0))
            })
            .collect();
        let points: Vec<Array> = displacements
            .iter()
            .map(|(name, u)| Array { name, components: 3, values: Values::F64(u.as_flattened()) })
            .collect();

        let path = folder.join(VERIFIED_DESIGN);
        let (x, hexes) = (mesh.coordinates(), mesh.hexes());
        Ok(vtu::write(&path, x, hexes, &points, &cells, Compression::default())?)
    }
}
