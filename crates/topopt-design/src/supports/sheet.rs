//! `Sheet`: what is left of a filled part within a thickness below its surface.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_3, FRAC_PI_6, TAU};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use topopt_linalg::Sample;
use topopt_mesh::HexMesh;
use topopt_mesh::surface::{area_vector, boundary_faces, face_center, face_coordinates};
use topopt_mesh::vector::{dot, length};

use super::blocks::{Block, Blocks};
use super::cone::{LEAST, Points, tangents};
use super::lists::{Lists, in_order};
use super::sweep::Supports;
use super::tool::EQUAL;
use super::{OverhangCone, sweep};

/// A sheet of constant thickness, which lies below the surface of a part that is filled along a
/// draw.
///
/// With the density p of the filled part it has s = max(0, q - min_k p_k): the samples p_k lie at
/// the thickness t from the element, on the half of a sphere that looks along the draw, so that
/// what is deeper below the surface than t, measured across it, is left out. Air above the part has
/// the density 0, and what lies beside it does not count. q is p, or that of the floor below where
/// this is nearer than t, so that the sheet is not thinner there.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Sheet {
    /// Elements nearer to the floor than t, which are filled from it.
    floor: Supports,
    /// First sample of each element, and the end of the last.
    starts: Vec<usize>,
    /// Samples, whose weights add up to less than 1 where some are of air.
    #[serde(skip)]
    samples: Vec<Sample>,
    /// Elements that are full, whatever their density is.
    full: Vec<u32>,
    /// Filled densities that leave a sheet in the middle of the part, `[n_elements]`.
    middle: Vec<f64>,
}

/// Choices that the densities of a sheet follow from.
#[derive(Debug, Default)]
pub(crate) struct Chosen {
    /// Samples of the floor.
    floor: Vec<u32>,
    /// Number of the sample with the least density, `[n_elements]`; none where nothing is left.
    least: Vec<Option<u32>>,
}

/// Angles from the draw of the samples beside it, and their number around it.
const RIMS: [f64; 3] = [FRAC_PI_6, FRAC_PI_3, FRAC_PI_2];
const AROUND: usize = 8;

/// Least cosine of the angle between the draw and the normal of a face that air lies above.
const LYING: f64 = 0.3;

impl Sheet {
    /// The sheets of a `thickness` in the elements of `mesh`, which are drawn along `draw`, of
    /// length 1; no hole goes through where `full` elements cover the floor.
    pub fn new(mesh: &HexMesh, draw: [f64; 3], thickness: f64, full: Vec<u32>) -> Self {
        let n = mesh.n_elements();
        let points = Points::of(mesh);
        let near = Near::new(mesh, points, draw, thickness);
        let owners = &near.points.owners;
        let widths: Vec<f64> = owners.iter().map(|&e| near.points.widths[e as usize]).collect();
        let least = widths.iter().copied().fold(f64::INFINITY, f64::min);
        let reach = thickness / least + 1.0;
        let blocks = Blocks { places: &near.points.places, widths: &widths, reach };
        let lists = blocks.lists(|block, e, local| {
            let center = *near.points.places[..n].get(e as usize)?;
            Some(Place { near: &near, block, local, center }.samples())
        });
        let all: Vec<u32> = (0..n as u32).collect();
        let (starts, samples) = in_order(&all, &Lists::by_element(&lists, n));
        let Column { floor, depths, middle } = Column::of(mesh, draw, thickness);
        let within = depths.iter().zip(&near.points.widths);
        let shares: Vec<f64> = within.map(|(depth, w)| share(thickness - depth, *w)).collect();
        Self { floor: floor.weighted(&shares), starts, samples, full, middle }
    }

    /// Bytes of its lists, and of the samples that are chosen.
    pub(crate) fn bytes(&self) -> usize {
        let of_elements = size_of::<usize>() + size_of::<f64>() + size_of::<Option<u32>>();
        self.floor.bytes() + size_of_val(&self.samples[..]) + of_elements * self.starts.len()
    }

    /// Volume of the sheet without holes, in elements of these `volumes`, `[n_elements]`.
    pub fn volume(&self, volumes: &[f64]) -> f64 {
        let (values, _) = self.cut(self.middle.clone(), 0.0);
        values.iter().zip(volumes).map(|(value, volume)| value * volume).sum()
    }

    /// Returns filled densities that leave a sheet in the middle of the part, `[n_elements]`.
    pub(crate) fn middle(&self) -> &[f64] {
        &self.middle
    }

    /// Computes the sheet of the filled density `p`, `[n_elements]`, on top of the least density
    /// `void`, and the samples that it has its densities of.
    pub(crate) fn cut(&self, mut p: Vec<f64>, void: f64) -> (Vec<f64>, Chosen) {
        self.full.iter().for_each(|&e| p[e as usize] = 1.0);
        let (q, floor) = self.floor.swept(&p);
        let elements = q.par_iter().enumerate().with_min_len(sweep::CHUNK);
        let cut = elements.map(|(e, q)| {
            let (value, sample) = self.least(e, &p, void);
            // Where densities are equal material may come or go, which derivatives have to tell.
            let is_left = q - value > -EQUAL;
            (void + (q - value).max(0.0), sample.filter(|_| is_left))
        });
        let (values, least) = cut.unzip();
        (values, Chosen { floor, least })
    }

    /// Least density of the samples of element `e`, and the number of the first sample that has it.
    fn least(&self, e: usize, p: &[f64], void: f64) -> (f64, Option<u32>) {
        let samples = &self.samples[self.starts[e]..self.starts[e + 1]];
        let value = |sample: &Sample| {
            let weighted = sample.points.iter().zip(&sample.weights);
            void + weighted.map(|(&other, w)| w * (p[other as usize] - void)).sum::<f64>()
        };
        let least = samples.iter().map(value).fold(f64::INFINITY, f64::min);
        let first = samples.iter().position(|sample| value(sample) - least <= EQUAL);
        (least, first.map(|first| first as u32))
    }

    /// Takes derivatives back to the filled density, for what [`Sheet::cut`] has `chosen`.
    pub(crate) fn cut_backward(&self, chosen: &Chosen, by_values: Vec<f64>) -> Vec<f64> {
        let by_floor = by_values.iter().zip(&chosen.least);
        let by_floor = by_floor.map(|(by, least)| if least.is_some() { *by } else { 0.0 });
        let mut gradient = self.floor.swept_backward(&chosen.floor, by_floor.collect());
        for ((&start, least), by) in self.starts.iter().zip(&chosen.least).zip(&by_values) {
            let Some(least) = least else { continue };
            let Sample { points, weights } = &self.samples[start + *least as usize];
            points.iter().zip(weights).for_each(|(&e, w)| gradient[e as usize] -= w * by);
        }
        self.full.iter().for_each(|&e| gradient[e as usize] = 0.0);
        gradient
    }
}

/// Share by which an element of a `width` is filled from the floor, where its middle lies so far
/// `within` the thickness above the lowest one.
fn share(within: f64, width: f64) -> f64 {
    let share = (within / width).clamp(0.0, 1.0);
    if share < SMALL { 0.0 } else { share }
}

/// Share of an element that is none.
const SMALL: f64 = 1e-3;

/// Lines of elements along a draw.
struct Column {
    /// Elements below each one.
    floor: Supports,
    /// Height of each element above the lowest one on its line.
    depths: Vec<f64>,
    /// Densities that fall from 1 to 0 around the middle between the ends of the lines.
    middle: Vec<f64>,
}

impl Column {
    fn of(mesh: &HexMesh, draw: [f64; 3], thickness: f64) -> Self {
        let heights: Vec<f64> = mesh.centers().iter().map(|x| dot(*x, draw)).collect();
        let low = heights.iter().copied().fold(f64::INFINITY, f64::min);
        let high = heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let free = vec![false; heights.len()];
        let beyond =
            |up: [f64; 3]| Supports::new(mesh, &OverhangCone::axis(up, 0.0), &free).filling();
        let floor = beyond(draw);
        let above: Vec<f64> = heights.iter().map(|height| height - low).collect();
        let below: Vec<f64> = heights.iter().map(|height| high - height).collect();
        let (highest, _) = beyond(draw.map(|x| -x)).swept(&above);
        let (lowest, _) = floor.swept(&below);
        let lowest: Vec<f64> = lowest.iter().map(|below| high - low - below).collect();
        let depths = above.iter().zip(&lowest).map(|(height, lowest)| height - lowest).collect();
        let ends = highest.iter().zip(&lowest).zip(&above);
        let middle = ends.map(|((highest, lowest), height)| {
            (0.5 + (0.5 * (highest + lowest) - height) / thickness).clamp(0.0, 1.0)
        });
        Self { floor, depths, middle: middle.collect() }
    }
}

/// Search for samples around elements.
struct Near {
    /// Centers of elements, of free faces, and of air above some of these.
    points: Points,
    is_air: Vec<bool>,
    /// Ways to the samples: sideways and along the draw.
    rays: Vec<[[f64; 3]; 2]>,
}

impl Near {
    /// Puts the centers of faces that look along the draw as far above these as the elements' lie
    /// below: from there on there is air, and densities between are linear.
    fn new(mesh: &HexMesh, mut points: Points, draw: [f64; 3], thickness: f64) -> Self {
        let n = mesh.n_elements();
        let mut is_air = vec![false; points.places.len()];
        for (k, face) in (n..).zip(boundary_faces(mesh)) {
            let corners = face_coordinates(mesh, face);
            let normal = area_vector(&corners);
            if dot(normal, draw) > LYING * length(normal) {
                let (center, own) = (face_center(&corners), points.places[face.element as usize]);
                points.places[k] = std::array::from_fn(|i| 2.0 * center[i] - own[i]);
                is_air[k] = true;
            }
        }
        let [a, b] = tangents(&points.places[..n], draw);
        let ray =
            |angle: f64, k: usize| ray([a, b, draw], angle, k).map(|x| x.map(|x| thickness * x));
        let rims = RIMS.iter().flat_map(|&angle| (0..AROUND).map(move |k| (angle, k)));
        let rays = rims.map(|(angle, k)| ray(angle, k));
        let rays = std::iter::once(ray(0.0, 0)).chain(rays).collect();
        Self { points, is_air, rays }
    }
}

/// Ways of length 1 to sample `k` at an `angle` from the draw, the last one of the `axes`: sideways
/// and along it.
fn ray([a, b, draw]: [[f64; 3]; 3], angle: f64, k: usize) -> [[f64; 3]; 2] {
    let (sin, cos) = (TAU * k as f64 / AROUND as f64).sin_cos();
    let aside = std::array::from_fn(|i| angle.sin() * (cos * a[i] + sin * b[i]));
    [aside, draw.map(|x| angle.cos() * x)]
}

/// An element in its block.
struct Place<'a> {
    near: &'a Near,
    block: &'a Block,
    local: u32,
    center: [f64; 3],
}

impl Place<'_> {
    fn samples(&self) -> Vec<Sample> {
        self.near.rays.iter().filter_map(|&[aside, along]| self.sample(aside, along)).collect()
    }

    /// Sample at the way `aside` and `along` the draw: of air above the part, and none beside it.
    fn sample(&self, aside: [f64; 3], along: [f64; 3]) -> Option<Sample> {
        let beside = moved(self.center, aside);
        let found = self.weights(moved(beside, along));
        if found.is_some() {
            return found;
        }
        self.weights(beside).map(|sample| Sample { weights: [0.0; 4], ..sample })
    }

    /// Elements around a place with their weights; none outside of the mesh.
    fn weights(&self, place: [f64; 3]) -> Option<Sample> {
        let found = self.block.weights(place, self.local)?;
        let mut sample = self.near.points.sample_at(place, found);
        let total: f64 = sample.weights.iter().sum();
        let weights = found.iter().zip(&mut sample.weights);
        let of_air = weights.filter(|((point, _), _)| self.near.is_air[*point as usize]);
        of_air.for_each(|(_, weight)| *weight = 0.0);
        sample.weights.iter_mut().for_each(|weight| *weight /= total.max(LEAST));
        (total > LEAST).then_some(sample)
    }
}

/// a + b
fn moved(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| a[i] + b[i])
}
