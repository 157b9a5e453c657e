//! `topopt export RESULT -o FILE`

use std::io::Write;
use std::path::{Path, PathBuf};

use topopt_case::config::LengthUnit;
use topopt_case::finding::{Finding, InputError};
use topopt_io::vtk::{Array, Compression, Values, vtp};
use topopt_io::{WriteError, glb, obj, ply, stl, three_mf};
use topopt_mesh::HexMesh;
use topopt_mesh::numbers::shown;
use topopt_study::built_shape::BuiltShape;
use topopt_study::design_file::DesignFile;
use topopt_study::failure::Failure;
use topopt_study::part_file::PartFile;
use topopt_study::run_directory::RunDirectory;
use topopt_study::surface_measures::SurfaceMeasures;
use topopt_surface::{Crumbs, Shape, Shaping, TriangleSurface};

use crate::args::ExportArgs;

/// Writes the surface of a design.
pub(super) fn export(args: &ExportArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let format = Format::of(&args.output)?;
    let (design, folder, unit) = design(&args.result)?;
    let shaping = Shaping {
        threshold: args.threshold,
        quality: args.quality.into(),
        decimation: args.decimate,
    };
    let part = PartFile::read(folder.as_deref(), &design.mesh).map_err(InputError::from)?;
    let built = BuiltShape::of(&design, &part, &shaping).map_err(InputError::from)?;
    let BuiltShape { solid, mut shape, .. } = built;
    design.check(&solid, args.threshold).map_err(InputError::from)?;
    let parts = shape.surface.parts();
    if args.largest_piece {
        shape.surface = shape.surface.largest_piece();
    }
    check_crossings(&shape)?;
    let rounding = format.round(&mut shape.surface)?;
    let surface = &shape.surface;
    // A disk takes as long as the measures.
    let (written, measures) = rayon::join(
        || format.write(&args.output, surface, unit),
        || SurfaceMeasures::of(&shape, &part, &design),
    );
    written.map_err(|error| InputError::from(unwritten(&error)))?;

    let (triangles, vertices) = (surface.triangles().len(), surface.vertices().len());
    writeln!(out, "wrote {}: {triangles} triangles, {vertices} vertices", args.output.display())?;
    tell_volume(solid.threshold(), measures.volume, design.volume(), out)?;
    for (name, text) in measures.rows() {
        writeln!(out, "{name}: {text}")?;
    }
    if let Some(warning) = measures.thin_member() {
        writeln!(out, "warning: {warning}")?;
    }
    match format {
        Format::ThreeMf => writeln!(out, "unit of the file: {}", unit.name())?,
        Format::Glb => writeln!(out, "unit of the file: m, with y upwards")?,
        _ => {}
    }
    tell_rounding(rounding, &design.mesh, out)?;
    tell_parts(&parts, shape.crumbs, args.largest_piece, out)
}

/// A surface that crosses itself encloses nothing that can be printed.
fn check_crossings(shape: &Shape) -> Result<(), InputError> {
    let Shape { surface, crossings, .. } = shape;
    let Some([first, _]) = crossings.first() else { return Ok(()) };
    let near = surface.vertices()[surface.triangles()[*first as usize][0] as usize];
    let message = format!(
        "the surface crosses itself at {} pairs of triangles, the first near {:?}; nothing was \
         written",
        crossings.len(),
        near.map(shown)
    );
    Err(Finding::new(message)
        .remedy(
            "if parts of the mesh lie in each other, join them; else keep more triangles, or give \
             a finer `--quality`",
        )
        .into())
}

/// Far from the origin single precision folds what is small of a `surface` that does not cross itself.
fn check_rounded(crossings: usize) -> Result<(), InputError> {
    if crossings == 0 {
        return Ok(());
    }
    let message = format!(
        "in single precision, the precision of this format, the surface crosses itself at {crossings} \
         pairs of triangles; nothing was written"
    );
    let remedy =
        "write .3mf, .obj, .ply or .vtp, which keep all digits; or move the part to the origin";
    Err(Finding::new(message).remedy(remedy).into())
}

fn tell_volume(
    threshold: f64,
    volume: f64,
    of_design: f64,
    out: &mut dyn Write,
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

/// Converts an error of writing; only errors of the system need a remedy, others state their own.
fn unwritten(error: &WriteError) -> Finding {
    let finding = Finding::new(error.to_string());
    match error.cause.raw_os_error() {
        Some(_) => finding.remedy("choose an existing, writable folder with enough space"),
        None => finding,
    }
}

/// The file of a design, the folder of its results, and the unit of its lengths: that of the case,
/// millimeter if it states none.
fn design(result: &Path) -> Result<(DesignFile, Option<PathBuf>, LengthUnit), InputError> {
    if result.is_file() {
        return Ok((DesignFile::read(result)?, None, LengthUnit::Mm));
    }
    let directory = RunDirectory::open(result)?;
    let config = directory.config()?;
    let file = DesignFile::read(&directory.design())?.made_by(&config);
    let unit = config.units.map_or(LengthUnit::Mm, |units| units.length);
    Ok((file, Some(result.into()), unit))
}

/// Format, by the extension of the file.
enum Format {
    Stl,
    ThreeMf,
    Obj,
    Ply,
    Glb,
    Vtp,
}

impl Format {
    fn of(path: &Path) -> Result<Self, InputError> {
        let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        match extension.as_deref() {
            Some("stl") => Ok(Format::Stl),
            Some("3mf") => Ok(Format::ThreeMf),
            Some("obj") => Ok(Format::Obj),
            Some("ply") => Ok(Format::Ply),
            Some("glb") => Ok(Format::Glb),
            Some("vtp") => Ok(Format::Vtp),
            _ => Err(Finding::new(format!("cannot write the format of {}", path.display()))
                .remedy("give a file name that ends with .stl, .3mf, .obj, .ply, .glb or .vtp")
                .into()),
        }
    }

    /// Rounds the surface to what the format holds, so that what is said of it is true of the file;
    /// returns how far coordinates move.
    fn round(&self, surface: &mut TriangleSurface) -> Result<f64, InputError> {
        let Format::Stl = self else { return Ok(0.0) };
        let (mut rounded, largest) = surface.in_single_precision();
        let mut crossings = rounded.crossings().len();
        if crossings > 0 {
            // What is as thin as coordinates are rounded goes, and nothing else.
            let (tidy, _) = surface.simplified(ROUNDED * largest).in_single_precision();
            let is_same = (tidy.volume() / surface.volume() - 1.0).abs() < SAME_VOLUME;
            if is_same {
                (crossings, rounded) = (tidy.crossings().len(), tidy);
            }
        }
        check_rounded(crossings)?;
        *surface = rounded;
        Ok(largest)
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
            Format::Ply => ply::write(path, vertices, triangles),
            Format::Glb => glb::write(path, vertices, triangles, unit.meters()),
            Format::Vtp => {
                let on_boundary: Vec<u8> =
                    surface.on_boundary().iter().map(|&is_on| u8::from(is_on)).collect();
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

/// Thickness, by how far coordinates are rounded, up to which triangles may fold.
const ROUNDED: f64 = 4.0;

/// Relative difference of volumes up to which a surface is still the same.
const SAME_VOLUME: f64 = 1e-3;

/// Share of the size of the part up to which nobody sees that coordinates are rounded.
const UNSEEN_ROUNDING: f64 = 1e-5;

/// Warns that the format moves coordinates by up to `rounding`, where it can be seen.
fn tell_rounding(rounding: f64, mesh: &HexMesh, out: &mut dyn Write) -> Result<(), Failure> {
    let size = mesh.bounding_box().extent().into_iter().fold(0.0, f64::max);
    if rounding > UNSEEN_ROUNDING * size {
        writeln!(
            out,
            "warning: this format holds single precision, which moves coordinates this far from \
             the origin by up to {}; .3mf, .obj, .ply and .vtp keep all digits",
            shown(rounding)
        )?;
    }
    Ok(())
}

/// Pieces that do not touch, cavities that no powder leaves, and what was too small for either.
fn tell_parts(
    [pieces, cavities]: &[Vec<f64>; 2],
    crumbs: Crumbs,
    only_largest: bool,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let listed = |volumes: &[f64]| {
        let first = volumes.iter().take(5).map(|&volume| shown(volume)).collect::<Vec<_>>();
        first.join(", ") + if volumes.len() > 5 { ", ..." } else { "" }
    };

    if pieces.len() > 1 {
        let remedy = match only_largest {
            true => "all except the largest were dropped",
            false => "`--largest-piece` keeps only the largest",
        };
        let (n, volumes) = (pieces.len(), listed(pieces));
        writeln!(out, "warning: {n} disconnected pieces of volume {volumes}; {remedy}")?;
    }
    if !cavities.is_empty() {
        let (n, volumes) = (cavities.len(), listed(cavities));
        let cavities = if n == 1 { "cavity" } else { "cavities" };
        writeln!(out, "warning: {n} closed {cavities} of volume {volumes}: powder stays inside")?;
    }

    if crumbs.n > 0 {
        let (n, volume) = (crumbs.n, shown(crumbs.volume));
        writeln!(out, "pieces smaller than an element, dropped: {n} of volume {volume}")?;
    }
    Ok(())
}
