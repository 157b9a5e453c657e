//! The shape that is verified: that which is exported.

use topopt_case::config::Config;
use topopt_case::finding::Finding;
use topopt_case::manufacturing::{BuiltPart, Made, measured, measured_widths};
use topopt_case::model::Model;
use topopt_case::physics::Physics;
use topopt_design::{Interpolation, Law};
use topopt_mesh::Places;
use topopt_mesh::numbers::shown;
use topopt_surface::Widths;

use super::carried::Carried;
use super::compared::Compared;
use super::request::Request;
use crate::built_shape::BuiltShape;
use crate::design_file::DesignFile;
use crate::part_file::PartFile;
use crate::solved::Filling;

/// The solid of a design by the elements that it fills.
pub(super) struct Shape {
    /// Density at which its surface lies.
    pub threshold: f64,
    /// Share of every element that it fills, in the order of the problem, `[n_elements]`.
    pub shares: Vec<f64>,
    /// Whether that is half of an element or more.
    pub is_solid: Vec<bool>,
    /// Whether it is enough to pass a force on.
    pub is_touched: Vec<bool>,
    /// Volumes of its pieces, largest first.
    pub pieces: Vec<f64>,
    /// Widths of the members and gaps, besides at elements with a fixed density, and the elements
    /// in which the first percentiles are.
    pub widths: [Option<(Widths, u32)>; 2],
    /// Measures of the widths that are asked for.
    pub made: Vec<Made>,
    /// Share of every element in cubes that miss what its making demands, `[n_elements]`; none
    /// without demands.
    pub missed: Option<Vec<f64>>,
    /// Volume of material.
    pub volume: Compared,
    /// Material besides that of passive elements, as a share of the design elements' volume.
    pub volume_fraction: Compared,
    /// Warning that much of the design is left out, if so.
    pub fallen_apart: Option<Finding>,
}

impl Shape {
    /// The solid that `topopt export` makes of the design in `file`, as it was `built`.
    ///
    /// # Errors
    /// A finding if the file is not of the model's mesh, or nothing is solid.
    pub fn new<K: Physics<N>, const N: usize>(
        (config, model): (&Config, &Model<K, N>),
        (file, part, built): (&DesignFile, &PartFile, BuiltShape),
        request: &Request,
    ) -> Result<Self, Finding> {
        let (found, needed) = (file.density.len(), model.mesh.n_elements());
        if found != needed {
            let message =
                format!("the design has {found} elements, the mesh of its case has {needed}");
            return Err(Finding::new(message)
                .remedy("the mesh has changed since the run: run the case again"));
        }

        let BuiltShape { solid, shape, .. } = built;
        let [pieces, _] = shape.surface.parts();
        let is_passive = file.is_passive();
        let widths = shape.widths(&file.mesh, &is_passive);
        let by_width = measured_widths(config, &file.mesh, &is_passive, |limits, ignored| {
            shape.beyond(&file.mesh, ignored, limits)
        });
        let places: Vec<[f64; 3]> = widths.iter().flatten().map(|widths| widths.at).collect();
        let elements: Vec<u32> = Places::of(&file.mesh, &places).elements().collect();
        let mut elements = elements.into_iter();
        let widths = widths.map(|found| Some((found?, elements.next()?)));
        let shares = solid.shares();
        let fallen_apart = file.fallen_apart(&solid).filter(|_| request.threshold.is_none());
        let shares = model.renumbering.elements_from_original(shares);
        let density = model.renumbering.elements_from_original(&file.density);
        let surfaces = [&shape.surface, part.part.surface()];
        let built = BuiltPart::new((model.problem.mesh(), &model.space), &shares, surfaces);
        let mut made = measured(config, &built, &model.equal);
        let missed = (!made.is_empty()).then(|| built.missed(&made));
        made.extend(by_width);
        let at_least = |least: f64| shares.iter().map(|&share| share >= least).collect();
        let (is_solid, is_touched): (Vec<bool>, Vec<bool>) = (at_least(0.5), at_least(TOUCHED));
        if !is_solid.contains(&true) {
            if let Some(finding) = fallen_apart {
                return Err(finding);
            }
            let largest = density.iter().copied().fold(0.0, f64::max);
            let message = format!(
                "nothing has a density of {} or more: the largest is {largest:.4}",
                shown(solid.threshold())
            );
            return Err(Finding::new(message)
                .remedy("give a smaller `--threshold`, or leave it out to keep the volume"));
        }

        let sum = |volumes: &[f64], values: &[f64]| -> f64 {
            volumes.iter().zip(values).map(|(volume, value)| volume * value).sum()
        };
        let volumes = &model.space.volumes;
        let volume = Compared::new(sum(volumes, &density), solid.volume());
        // What the surface takes of passive elements it adds elsewhere, as it keeps the volume of all.
        let passive = volume.optimized - sum(&model.space.design_volumes(), &density);
        let fraction = |volume: f64| (volume - passive) / model.space.design_volume();
        Ok(Self {
            threshold: solid.threshold(),
            pieces,
            widths,
            made,
            missed,
            volume,
            volume_fraction: Compared::new(fraction(volume.optimized), fraction(volume.verified)),
            fallen_apart,
            shares,
            is_solid,
            is_touched,
        })
    }

    /// Returns the material in the elements for the solve: stiffness (or conductivity) and weight
    /// are scaled by the share that the solid fills, at least by `void`; stresses are those of the
    /// solid in elements at least half full.
    pub fn filling<K: Physics<N>, const N: usize>(
        &self,
        config: &Config,
        model: &Model<K, N>,
        carried: &Carried,
        void: f64,
    ) -> Filling {
        let carrying = carried.is_carrying.iter().zip(&self.is_solid);
        let is_counted: Vec<bool> = carrying.map(|(carries, solid)| *carries && *solid).collect();

        let where_counted = |values: &[f64]| {
            let values = values.iter().zip(&is_counted);
            values.map(|(value, counts)| if *counts { *value } else { 0.0 }).collect()
        };

        Filling {
            density: self.stiffness(carried, void).collect(),
            interpolation: Interpolation {
                law: Law::Simp,
                penalty: 1.0,
                youngs_modulus: K::coefficient(config),
                void_stiffness: 0.0,
            },
            contrast: void,
            stress_moduli: where_counted(&model.solid_moduli()),
            material: where_counted(&model.space.volumes),
            is_carrying_node: carried.is_carrying_node.clone(),
        }
    }

    /// Share of the solid's stiffness, and of its weight, that every element has, `[n_elements]`:
    /// what it is filled, and that of `void` for pieces that no support holds.
    fn stiffness(&self, carried: &Carried, void: f64) -> impl Iterator<Item = f64> {
        let touched = self.is_touched.iter().zip(&carried.is_carrying);
        self.shares.iter().zip(touched).map(move |(share, (is_touched, is_carrying))| {
            let is_loose = *is_touched && !is_carrying;
            if is_loose { void } else { share.clamp(void, 1.0) }
        })
    }
}

/// Young's modulus of a void element, as a share of the solid's.
pub(super) const VOID: f64 = 1e-9;

/// Share of an element below which a force on its nodes meets nothing.
const TOUCHED: f64 = 0.1;
