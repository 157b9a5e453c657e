//! `topopt export RESULT -o FILE`

use std::io::Write;
use std::path::{Path, PathBuf};

use topopt_io::vtk::{Array, Compression, Values, vtp, vtu};
use topopt_io::{WriteError, obj, stl, three_mf};
use topopt_mesh::HexMesh;
use topopt_mesh::numbers::shown;
use topopt_study::config::LengthUnit;
use topopt_study::failure::Failure;
use topopt_study::finding::{Finding, InputError};
use topopt_study::run_directory::RunDirectory;
use topopt_study::verification::sorted_shares;
use topopt_surface::{Field, TriangleSurface, iso_surface, threshold_of_volume};

use crate::args::ExportArgs;

/// Writes the surface of a design.
pub(super) fn export(args: &ExportArgs, out: &mut impl Write) -> Result<(), Failure> {
    let format = Format::of(&args.output)?;
    let design = Design::read(&args.result)?;
    let threshold = match args.threshold {
        Some(threshold) => threshold,
        None => design.threshold()?,
    };
    let mut surface = iso_surface(&design.mesh, &design.field, threshold);
    if surface.triangles().is_empty() || design.field.range()[0] >= threshold {
        return Err(InputError::from(design.all_or_nothing(args.threshold)).into());
    }

    let pieces = sorted_shares(surface.piece_volumes());
    if args.largest_piece {
        surface = surface.largest_piece();
    }

    let before = surface.n_free_triangles();
    smooth_and_decimate(&mut surface, args)?;

    // What is said of the surface is true of the file.
    let mut rounding = 0.0;
    if let Format::Stl = format {
        (surface, rounding) = surface.in_single_precision();
    }
    format
        .write(&args.output, &surface, design.unit)
        .map_err(|error| InputError::from(unwritten(&error)))?;

    let (triangles, vertices) = (surface.triangles().len(), surface.vertices().len());
    writeln!(out, "wrote {}: {triangles} triangles, {vertices} vertices", args.output.display())?;
    if let Some(share) = args.decimate {
        tell_decimation(share, before, &surface, out)?;
    }

    tell_volume(threshold, surface.volume(), design.volume, out)?;
    if let Format::ThreeMf = format {
        writeln!(out, "unit of the file: {}", design.unit.name())?;
    }
    tell_rounding(rounding, &design.mesh, out)?;
    tell_pieces(&pieces, args.largest_piece, out)
}

fn tell_volume(
    threshold: f64,
    volume: f64,
    of_design: f64,
    out: &mut impl Write,
) -> std::io::Result<()> {
    // Hundredths of a percent; adding 0 takes the sign from zero.
    let change = (1e4 * (volume / of_design - 1.0)).round() / 100.0 + 0.0;
    writeln!(
        out,
        "threshold {threshold:.4}; volume {}, {change:+.2} % of the design's {}",
        shown(volume),
        shown(of_design)
    )
}

fn smooth_and_decimate(surface: &mut TriangleSurface, args: &ExportArgs) -> Result<(), InputError> {
    if args.smooth > 0 {
        surface.smooth(args.smooth.into(), surface.volume());
    }
    let Some(share) = args.decimate else { return Ok(()) };
    surface.decimate(share).map_err(|error| Finding::new(error.to_string()).into())
}

/// What the format cannot hold says itself what to do.
fn unwritten(error: &WriteError) -> Finding {
    let finding = Finding::new(error.to_string());
    match error.cause.raw_os_error() {
        Some(_) => finding.remedy("choose an existing, writable folder with enough space"),
        None => finding,
    }
}

/// A design as it was read.
struct Design {
    path: PathBuf,
    mesh: HexMesh,
    field: Field,
    /// Sum of density times volume over the elements.
    volume: f64,
    /// Of lengths: that of the case, millimeter if it states none.
    unit: LengthUnit,
}

impl Design {
    /// Reads the design of a folder of results, or of a `.vtu` file.
    fn read(result: &Path) -> Result<Self, InputError> {
        let (path, units) = if result.is_file() {
            (result.into(), None)
        } else {
            let directory = RunDirectory::open(result)?;
            (directory.design(), directory.config()?.units)
        };
        let unit = units.map_or(LengthUnit::Mm, |units| units.length);
        let (file, mut data) = vtu::read_with_cell_data(&path, &["density"])
            .map_err(|error| Finding::new(error.to_string()))?;
        let (mesh, density) = (file.mesh, data.remove(0));
        let field = Field::of_elements(&mesh, &density)
            .map_err(|error| Finding::new(format!("{}: density: {error}", path.display())))?;
        let volume = density.iter().zip(mesh.volumes()).map(|(density, v)| density * v).sum();
        Ok(Self { path, mesh, field, volume, unit })
    }

    /// The threshold that keeps the volume.
    fn threshold(&self) -> Result<f64, InputError> {
        let (threshold, volume) = threshold_of_volume(&self.mesh, &self.field, self.volume);
        if (volume / self.volume - 1.0).abs() <= VOLUME_TOLERANCE {
            return Ok(threshold);
        }

        let [least, most] = self.field.range();
        let message = format!(
            "no threshold keeps the volume {} of {}: the nearest, {threshold:.4}, gives {}; much \
             of the density has a single value",
            shown(self.volume),
            self.path.display(),
            shown(volume)
        );

        let range = [least, most].map(shown);
        let remedy = match range[0] < range[1] {
            true => {
                let [least, most] = range;
                format!("run more iterations, or give `--threshold` between {least} and {most}")
            }
            false => "run more iterations: a uniform density has no surface".into(),
        };
        Err(Finding::new(message).remedy(remedy).into())
    }

    /// Without a threshold `given`, that which keeps the volume is the least density of all.
    fn all_or_nothing(&self, given: Option<f64>) -> Finding {
        let ([least, most], path) = (self.field.range(), self.path.display());
        let Some(threshold) = given else {
            return Finding::new(format!(
                "all of {path} is solid: the densities are from {} to {}, and their volume \
                 is that of the whole part",
                shown(least),
                shown(most)
            ))
            .remedy(
                "optimize for a smaller `volume_fraction`; the surface of the whole part is that \
                 of its mesh",
            );
        };

        let what = if threshold > most { "nothing" } else { "everything" };
        let threshold = shown(threshold);
        Finding::new(format!("the threshold {threshold} keeps {what} of {path}")).remedy(format!(
            "the densities are from {} to {}: choose a threshold between, or leave \
             out `--threshold` to keep the volume",
            shown(least),
            shown(most)
        ))
    }
}

/// Largest relative difference of volumes that passes as kept.
const VOLUME_TOLERANCE: f64 = 5e-3;

/// What the extension of the file says.
enum Format {
    Stl,
    ThreeMf,
    Obj,
    Vtp,
}

impl Format {
    fn of(path: &Path) -> Result<Self, InputError> {
        let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        match extension.as_deref() {
            Some("stl") => Ok(Format::Stl),
            Some("3mf") => Ok(Format::ThreeMf),
            Some("obj") => Ok(Format::Obj),
            Some("vtp") => Ok(Format::Vtp),
            _ => Err(Finding::new(format!("cannot write the format of {}", path.display()))
                .remedy("give a file name that ends with .stl, .3mf, .obj or .vtp")
                .into()),
        }
    }

    fn write(
        &self,
        path: &Path,
        surface: &TriangleSurface,
        unit: LengthUnit,
    ) -> Result<(), WriteError> {
        let (vertices, triangles) = (surface.vertices(), surface.triangles());
        match self {
            Format::Stl => stl::write(path, vertices, triangles),
            Format::ThreeMf => three_mf::write(path, vertices, triangles, three_mf_unit(unit)),
            Format::Obj => obj::write(path, vertices, triangles),
            Format::Vtp => {
                let on_boundary: Vec<u8> =
                    surface.on_boundary().iter().map(|&b| b.into()).collect();
                let values = Values::U8(&on_boundary);
                let data = [Array { name: "on_boundary", components: 1, values }];
                vtp::write(path, vertices, triangles, &data, Compression::default())
            }
        }
    }
}

fn three_mf_unit(unit: LengthUnit) -> three_mf::Unit {
    match unit {
        LengthUnit::Mm => three_mf::Unit::Millimeter,
        LengthUnit::Cm => three_mf::Unit::Centimeter,
        LengthUnit::M => three_mf::Unit::Meter,
        LengthUnit::In => three_mf::Unit::Inch,
        LengthUnit::Ft => three_mf::Unit::Foot,
    }
}

/// What is left of the `before` triangles off the boundary of the mesh.
fn tell_decimation(
    share: f64,
    before: usize,
    surface: &TriangleSurface,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let left = surface.n_free_triangles();
    let fixed = surface.triangles().len() - left;
    writeln!(
        out,
        "decimated from {before} to {left} triangles; the other {fixed} are the mesh's own boundary"
    )?;
    if left as f64 > share * before as f64 {
        writeln!(
            out,
            "warning: fewer triangles would have changed the volume by 0.5 % or damaged the \
             surface: {:.1} % are left",
            100.0 * left as f64 / before as f64
        )?;
    }
    Ok(())
}

/// Share of the size of the part up to which nobody sees that coordinates are rounded.
const UNSEEN_ROUNDING: f64 = 1e-5;

/// That the format moves coordinates by up to `rounding`, where it can be seen.
fn tell_rounding(rounding: f64, mesh: &HexMesh, out: &mut impl Write) -> Result<(), Failure> {
    let size = mesh.bounding_box().extent().into_iter().fold(0.0, f64::max);
    if rounding > UNSEEN_ROUNDING * size {
        writeln!(
            out,
            "warning: this format holds single precision, which moves coordinates this far from \
             the origin by up to {}; .3mf, .obj and .vtp keep all digits",
            shown(rounding)
        )?;
    }
    Ok(())
}

/// Pieces that do not touch, by their `shares` of the volume.
fn tell_pieces(shares: &[f64], dropped: bool, out: &mut impl Write) -> Result<(), Failure> {
    if shares.len() < 2 {
        return Ok(());
    }
    let shown = shares.iter().take(5).map(|share| format!("{:.3} %", 100.0 * share));
    let mut shown = shown.collect::<Vec<_>>().join(", ");
    if shares.len() > 5 {
        shown += ", ...";
    }
    let remedy = match dropped {
        true => "all except the largest were dropped",
        false => "`--largest-piece` keeps only the largest",
    };
    let n = shares.len();
    writeln!(out, "warning: {n} disconnected pieces ({shown} of the volume); {remedy}")?;
    Ok(())
}
