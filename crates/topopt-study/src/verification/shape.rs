//! The shape that is verified: that which is exported.

use topopt_mesh::numbers::shown;
use topopt_surface::Narrowest;

use super::carried::Carried;
use super::compared::Compared;
use crate::design_file::DesignFile;
use crate::finding::Finding;
use crate::model::Model;

/// The solid of a design by the elements that it fills.
pub(super) struct Shape {
    /// Density at which its surface lies.
    pub threshold: f64,
    /// Share of every element that it fills, in the order of the problem, \[n_elements\].
    pub shares: Vec<f64>,
    /// Whether that is half of an element or more.
    pub is_solid: Vec<bool>,
    /// Whether it is enough to pass a force on.
    pub is_touched: Vec<bool>,
    /// Volumes of its pieces, largest first.
    pub pieces: Vec<f64>,
    /// The thinnest member and the narrowest gap, beside elements with a fixed density.
    pub narrowest: [Option<Narrowest>; 2],
    /// Volume of material.
    pub volume: Compared,
    /// Share of material in the design elements.
    pub volume_fraction: Compared,
}

impl Shape {
    /// The solid that `topopt export` makes of the design in `file`, see [`DesignFile::solid`].
    ///
    /// # Errors
    /// A finding if the file is not of the model's mesh, or nothing is solid.
    pub fn new(
        model: &Model,
        file: &DesignFile,
        threshold: Option<f64>,
        smooth: Option<f64>,
    ) -> Result<Self, Finding> {
        let (found, needed) = (file.density.len(), model.mesh.n_elements());
        if found != needed {
            let message =
                format!("the design has {found} elements, the mesh of its case has {needed}");
            return Err(Finding::new(message)
                .remedy("the mesh has changed since the run: run the case again"));
        }

        let mut solid = file.solid(threshold, smooth)?;
        // Where no threshold divides the densities, all of the part is built or nothing.
        if threshold.is_none() && solid.volume() == 0.0 {
            solid = file.solid(Some(0.0), smooth)?;
        }
        let [pieces, _] = solid.parts();
        let shares = model.renumbering.elements_from_original(&solid.shares());
        let density = model.renumbering.elements_from_original(&file.density);
        let at_least = |least: f64| shares.iter().map(|&share| share >= least).collect();
        let (is_solid, is_touched): (Vec<bool>, Vec<bool>) = (at_least(0.5), at_least(TOUCHED));
        if !is_solid.contains(&true) {
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
        let design_volumes = model.space.design_volumes();
        let total: f64 = design_volumes.iter().sum();
        let compared = |volumes: &[f64], scale: f64| {
            Compared::new(sum(volumes, &density) / scale, sum(volumes, &shares) / scale)
        };
        Ok(Self {
            threshold: solid.threshold(),
            pieces,
            narrowest: solid.narrowest(&file.is_passive()),
            volume: compared(&model.space.volumes, 1.0),
            volume_fraction: compared(&design_volumes, total),
            shares,
            is_solid,
            is_touched,
        })
    }

    /// Share of the solid's stiffness, and of its weight, that every element has, `[n_elements]`:
    /// what it is filled, and that of void for pieces that no support holds.
    pub fn stiffness(&self, carried: &Carried) -> impl Iterator<Item = f64> {
        let touched = self.is_touched.iter().zip(&carried.is_carrying);
        self.shares.iter().zip(touched).map(|(share, (is_touched, is_carrying))| {
            let is_loose = *is_touched && !is_carrying;
            if is_loose { VOID_STIFFNESS } else { share.clamp(VOID_STIFFNESS, 1.0) }
        })
    }
}

/// Young's modulus of a void element, as a share of the solid's.
pub(super) const VOID_STIFFNESS: f64 = 1e-9;

/// Share of an element below which a force on its nodes meets nothing.
const TOUCHED: f64 = 0.1;
