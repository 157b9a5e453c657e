//! Set of the designs that are allowed.

use std::sync::Arc;

use rayon::iter::repeat_n;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use topopt_linalg::{Csr, Levels};

use crate::{Candidates, Openings, Sheet, Sizes, Supports};

/// Bounds and passive elements of designs, and the volume that a run starts with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DesignSpace {
    /// Smallest density of a design element, 0 < density_min < 1.
    pub density_min: f64,
    /// Share of the volume of the design elements that material takes at the start; a limit of the
    /// volume is a [`Constraint`](crate::Constraint).
    pub initial_volume_fraction: f64,
    /// Volume of every element, `[n_elements]`, > 0; of several ranks the first alone has them.
    pub volumes: Vec<f64>,
    /// Elements that stay solid, outside the volume constraint.
    pub solid: Vec<u32>,
    /// Elements that stay at `density_min`, outside the volume constraint; none of them is solid.
    pub void: Vec<u32>,
    /// Solid elements that are as dense as what a part is printed on holds them up; of several
    /// ranks the first alone has them.
    resting: Vec<u32>,
    /// Weights of the design variables in each element, where elements share some; of several
    /// ranks the first alone has the rows.
    shares: Option<Csr>,
    /// Whether each element has one of the variables alone.
    shares_whole: bool,
    /// Whether places of equal density end within the part.
    shares_have_ends: bool,
    /// Supports of a part that is printed, or of the sides of one that is cast, of which the least
    /// density counts; of several ranks the first alone has them.
    sweeps: Vec<Arc<Supports>>,
    /// Sheet that is left of a part that is stamped; of several ranks the first alone has it.
    sheet: Option<Arc<Sheet>>,
    /// Ways to the outside of a part without enclosed voids; of several ranks the first alone has
    /// them.
    openings: Option<Arc<Openings>>,
    /// Thresholds of thinner and thicker designs, where members or gaps have a least width.
    sizes: Option<Sizes>,
    /// Least sums of filter weights, `[n_elements]`: with them the outside of the mesh counts as
    /// void; of several ranks the first alone has them.
    least_sums: Vec<f64>,
    /// Materials lighter than the solid of which elements may be, too.
    candidates: Candidates,
    n_variables: usize,
    n_elements: usize,
    /// Volume of the design elements.
    design_volume: f64,
}

impl DesignSpace {
    /// Densities from `density_min` to 1, which at the start take `initial_volume_fraction` of the
    /// design elements, for elements of these `volumes`; `solid` and `void` ones stay so.
    pub fn new(
        density_min: f64,
        initial_volume_fraction: f64,
        volumes: Vec<f64>,
        solid: Vec<u32>,
        void: Vec<u32>,
    ) -> Self {
        let n_elements = volumes.len();
        let mut space = Self {
            density_min,
            initial_volume_fraction,
            volumes,
            solid,
            void,
            resting: Vec::new(),
            shares: None,
            shares_whole: false,
            shares_have_ends: false,
            sweeps: Vec::new(),
            sheet: None,
            openings: None,
            sizes: None,
            least_sums: Vec::new(),
            candidates: Candidates::default(),
            n_variables: n_elements,
            n_elements,
            design_volume: 0.0,
        };
        space.design_volume = space.design_volumes().iter().sum();
        space
    }

    /// Returns a copy without the values of elements, for ranks after the first, which alone has
    /// them.
    #[must_use]
    pub fn without_values(&self) -> Self {
        Self {
            volumes: Vec::new(),
            solid: Vec::new(),
            void: Vec::new(),
            resting: Vec::new(),
            shares: self.shares.as_ref().map(|_| Csr::empty()),
            sweeps: self.sweeps.iter().map(|_| Arc::default()).collect(),
            sheet: self.sheet.as_ref().map(|_| Arc::default()),
            openings: self.openings.as_ref().map(|_| Arc::default()),
            least_sums: Vec::new(),
            candidates: self.candidates.clone(),
            ..*self
        }
    }

    /// Lets elements be of `candidates`, too.
    #[must_use]
    pub fn with_candidates(self, candidates: Candidates) -> Self {
        Self { candidates, ..self }
    }

    /// Materials lighter than the solid of which elements may be, too.
    pub fn candidates(&self) -> &Candidates {
        &self.candidates
    }

    /// Lets elements share design variables: `shares` has a row of weights per element, which add
    /// up to 1, and leaves out no variable up to its largest. The places of a variable may
    /// `have_ends` within the part, across which neighbors are others.
    #[must_use]
    pub fn with_variables(self, shares: Csr, have_ends: bool) -> Self {
        let n_variables = shares.columns.iter().max().map_or(0, |&last| last as usize + 1);
        let shares_whole = shares.columns.len() == shares.n_rows();
        let (shares, shares_have_ends) = (Some(shares), have_ends);
        Self { shares, shares_whole, shares_have_ends, n_variables, ..self }
    }

    /// Weights of the design variables in each element, where elements share some.
    pub fn shares(&self) -> Option<&Csr> {
        self.shares.as_ref()
    }

    /// Values of elements that share design variables of the values `variables`, `[n_elements]`;
    /// the variables themselves where elements share none.
    pub fn of_variables(&self, variables: Vec<f64>) -> Vec<f64> {
        let Some(shares) = &self.shares else { return variables };
        let value = |e| shares.row(e).map(|(v, share)| share * variables[v as usize]).sum();
        (0..self.n_elements).into_par_iter().map(value).collect()
    }

    /// Lets elements have densities by those that they rest on, or that cover them.
    #[must_use]
    pub fn with_sweeps(self, sweeps: Vec<Supports>) -> Self {
        Self { sweeps: sweeps.into_iter().map(Arc::new).collect(), ..self }
    }

    /// Supports of a part that is printed, or of the sides of one that is cast.
    pub fn sweeps(&self) -> &[Arc<Supports>] {
        &self.sweeps
    }

    /// Lets solid elements be as dense as what a part is printed on holds them up.
    #[must_use]
    pub fn with_resting(self, resting: Vec<u32>) -> Self {
        Self { resting, ..self }
    }

    /// Solid elements that are as dense as what a part is printed on holds them up.
    pub fn resting(&self) -> &[u32] {
        &self.resting
    }

    /// Leaves a `sheet` of the part that the sweeps fill.
    #[must_use]
    pub fn with_sheet(self, sheet: Option<Sheet>) -> Self {
        Self { sheet: sheet.map(Arc::new), ..self }
    }

    /// Sheet that is left of a part that is stamped.
    pub fn sheet(&self) -> Option<&Arc<Sheet>> {
        self.sheet.as_ref()
    }

    /// Lets elements have densities at which they are open to the outside.
    #[must_use]
    pub fn with_openings(self, openings: Option<Openings>) -> Self {
        Self { openings: openings.map(Arc::new), ..self }
    }

    /// Ways to the outside of a part without enclosed voids.
    pub fn openings(&self) -> Option<&Arc<Openings>> {
        self.openings.as_ref()
    }

    /// Gives members and gaps a least width by `sizes`. Filters sum weights and volumes to
    /// `least_sums` at least, `[n_elements]`.
    #[must_use]
    pub fn with_sizes(self, sizes: Sizes, least_sums: Vec<f64>) -> Self {
        Self { sizes: Some(sizes), least_sums, ..self }
    }

    /// Thresholds of thinner and thicker designs, where members or gaps have a least width.
    pub fn sizes(&self) -> Option<Sizes> {
        self.sizes
    }

    /// Whether the thicker design is solved, too.
    pub fn solves_both(&self) -> bool {
        self.sizes.is_some_and(|sizes| sizes.solves_both)
    }

    /// Least sums of filter weights, `[n_elements]`, where there are `sizes`.
    pub(crate) fn least_sums(&self) -> &[f64] {
        &self.least_sums
    }

    /// Whether densities follow those of other elements in what comes after the filter.
    pub fn is_shaped(&self) -> bool {
        !self.sweeps.is_empty() || self.openings.is_some() || self.sheet.is_some()
    }

    /// Whether densities are made equal once more at the end: extremes of equal densities, as of
    /// elements below others, need not be the same on both sides of a plane, nor means over
    /// neighbors at the ends of cells. Elements that share parts of variables have different
    /// densities.
    pub fn is_evened_at_last(&self) -> bool {
        (self.is_shaped() || self.shares_have_ends) && self.shares_whole
    }

    /// Bytes on the host of the lists by which elements share variables or rest on each other, with
    /// what transforms make of them: maps of the first, the samples chosen of the second.
    pub fn list_bytes(&self) -> usize {
        let maps = if self.is_evened_at_last() { 11 } else { 7 };
        let of_shares = |shares: &Csr| (1 + maps) * shares.bytes() + 8 * self.n_elements;
        let of_sweeps = self.sweeps.iter().map(|supports| supports.bytes() + self.n_elements);
        let of_openings = self.openings.as_ref().map_or(0, |openings| openings.bytes());
        let of_sheet = self.sheet.as_ref().map_or(0, |sheet| sheet.bytes());
        let of_sums = of_sheet + of_openings + size_of_val(&self.least_sums[..]);
        self.shares.as_ref().map_or(0, of_shares) + of_sweeps.sum::<usize>() + of_sums
    }

    /// The levels of elements that rest on each other, if a device can compute them: of one sweep
    /// without a tool.
    pub fn levels(&self) -> Option<Levels<'_>> {
        match self.sweeps() {
            [sweep] => sweep.levels(self.n_elements),
            _ => None,
        }
    }

    /// Number of design variables.
    pub fn n_variables(&self) -> usize {
        self.n_variables
    }

    /// Number of elements.
    pub fn n_elements(&self) -> usize {
        self.n_elements
    }

    /// Volume of the design elements.
    pub fn design_volume(&self) -> f64 {
        self.design_volume
    }

    /// The uniform start: the initial volume fraction everywhere, 1 in solid elements,
    /// `density_min` in void.
    pub fn uniform(&self) -> Vec<f64> {
        self.densities(self.initial_volume_fraction)
    }

    /// Volumes of the design elements, 0 for solid and void ones, `[n_elements]`.
    pub fn design_volumes(&self) -> Vec<f64> {
        let mut volumes: Vec<f64> = self.volumes.par_iter().copied().collect();
        self.solid.iter().chain(&self.void).for_each(|&e| volumes[e as usize] = 0.0);
        volumes
    }

    /// Volume that material takes in the design elements at the start.
    pub fn initial_volume(&self) -> f64 {
        self.initial_volume_fraction * self.design_volume
    }

    /// Share of the volume of the design elements that material takes with the densities `design`,
    /// `[n_elements]`, brought within their bounds.
    pub fn volume_fraction(&self, design: &[f64]) -> f64 {
        let within = |(volume, x): (f64, &f64)| volume * x.clamp(self.density_min, 1.0);
        let volumes = self.design_volumes().into_iter();
        volumes.zip(design).map(within).sum::<f64>() / self.design_volume
    }

    /// Smallest and largest density of every element, `[n_elements]`.
    pub fn bounds(&self) -> [Vec<f64>; 2] {
        [self.floor(), self.ceiling()]
    }

    /// Smallest density of every element, `[n_elements]`.
    pub(crate) fn floor(&self) -> Vec<f64> {
        self.densities(self.density_min)
    }

    /// Largest density of every element, `[n_elements]`.
    pub(crate) fn ceiling(&self) -> Vec<f64> {
        self.densities(1.0)
    }

    /// `design` in design elements, what the others are bound to in those.
    pub(crate) fn densities(&self, design: f64) -> Vec<f64> {
        self.with_passive(design, self.density_min)
    }

    /// `design` in design elements, 1 in solid and `void` in void ones, `[n_elements]`.
    pub(crate) fn with_passive(&self, design: f64, void: f64) -> Vec<f64> {
        let mut values: Vec<f64> = repeat_n(design, self.volumes.len()).collect();
        self.solid.iter().for_each(|&e| values[e as usize] = 1.0);
        self.void.iter().for_each(|&e| values[e as usize] = void);
        values
    }
}

#[cfg(test)]
impl DesignSpace {
    /// 500 elements of five volumes; every fiftieth is solid, every fortieth from element 7 on is
    /// void.
    pub(crate) fn uneven() -> Self {
        let volumes = (0..500).map(|e| 1.0 + (e % 5) as f64 * 0.3).collect();
        let (solid, void) = ((0..500).step_by(50).collect(), (7..500).step_by(40).collect());
        Self::new(0.01, 0.4, volumes, solid, void)
    }
}
