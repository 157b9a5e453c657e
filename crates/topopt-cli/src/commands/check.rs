//! `topopt check CASE`

mod design;
mod elastic;
mod forecast;
mod heat;
mod load;

use std::io::Write;
use std::path::{Path, PathBuf};

use topopt_case::case::Case;
use topopt_case::config::{Config, PhysicsKind};
use topopt_case::finding::InputError;
use topopt_case::interrupt::Interrupt;
use topopt_study::analysis;
use topopt_study::failure::Failure;
use topopt_study::output_folder::{self, Earlier};
use topopt_study::place::Place;
use topopt_study::studied::Studied;
use topopt_study::temperatures;
use topopt_study::thread_pool::thread_pool;

use super::preview;
use crate::args::CheckArgs;
use crate::commands::json;
use design::is_designed;
use elastic::Held;
use forecast::{Acting, Forecast, Loads};
use heat::Heated;

/// Builds everything but solves nothing, and says what a run would do and how long that may take by
/// measuring the steps of a solve. The preview is written
/// before supports and loads are looked at, to show what is wrong with them.
pub(super) fn check(
    args: &CheckArgs,
    out: &mut dyn Write,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let mut config = Config::load_for_analysis(&args.case, &args.set)?;
    if is_designed(&config) {
        config = Config::load(&args.case, &args.set)?;
    } else {
        config.output.directory = Some(analysis::default_directory(&config));
    }

    output_folder::check(&config, None, Earlier::Replace).map_err(InputError::from)?;
    if let Some(path) = &args.preview {
        let inputs = config.inputs();
        let inputs: Vec<_> = inputs.iter().map(PathBuf::as_path).collect();
        output_folder::check_file(path, &["vtu"], &inputs).map_err(InputError::from)?;
    }

    match config.physics.kind {
        PhysicsKind::Elasticity => {
            let gmsh = (&args.gmsh).into();
            let config = temperatures::solved(&config, &gmsh, interrupt)?;
            let case = Case::build_until(&config, &gmsh, interrupt)?;
            if let Some(path) = &args.preview {
                preview::write(path, &config, &case).map_err(InputError::from)?;
                say_preview(path, args, out)?;
            }
            tell::<Held, 3>(&config, case, args, out)
        }
        PhysicsKind::Heat => {
            let gmsh = (&args.gmsh).into();
            let case = Case::of::<<Heated as Acting<1>>::Kernel>(&config, &gmsh, interrupt)?;
            if let Some(path) = &args.preview {
                preview::write_heat(path, &case).map_err(InputError::from)?;
                say_preview(path, args, out)?;
            }
            tell::<Heated, 1>(&config, case, args, out)
        }
    }
}

/// Prints the forecast of `case`.
fn tell<A: Acting<N>, const N: usize>(
    config: &Config,
    mut case: Case<N>,
    args: &CheckArgs,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    case.is_examined = true;
    let forecast = thread_pool(config.solver.threads)?.install(|| {
        let loads = Loads { given: A::given(config, &case), all: case.load_cases.clone() };
        let place =
            Place::find(config.solver.device).and_then(|place| place.on_mesh(config, &case.mesh));
        let place = place.map_err(InputError::from)?;
        let model = A::Kernel::model(config, case, &place)?;
        Forecast::of(config, &model, A::of(config, &model, &loads), &place)
    })?;

    if args.json {
        return json::print(&forecast, out);
    }
    Ok(forecast.print::<N>(out)?)
}

/// Prints that the preview was written, unless the output is JSON.
fn say_preview(path: &Path, args: &CheckArgs, out: &mut dyn Write) -> std::io::Result<()> {
    if args.json { Ok(()) } else { writeln!(out, "wrote {}", path.display()) }
}
