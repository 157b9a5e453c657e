//! The same case on a coarser mesh of its part, on which a run begins.

use toml::Spanned;

use super::{Config, Course, SelectKind, Start};

/// Number of elements from which runs begin on a coarser mesh by themselves.
const MANY: usize = 200_000;

/// Ratio of the edges of elements.
const STEP: f64 = 2.0;

/// Least radius of filters on the coarser mesh, in element widths: with 1 they do nothing.
const LEAST_RADIUS: f64 = 1.5;

/// Narrowest surface of the style `crisp` that a coarser mesh has, in element widths.
const LEAST_HALF_WIDTH: f64 = 0.55;

/// Number of nodes of a set, each of which has a load or a spring.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodesOfSet {
    /// Name of the set.
    pub set: String,
    /// Kind that is asked for.
    pub kind: Option<SelectKind>,
    /// Number of nodes.
    pub n: usize,
}

impl Config {
    /// Whether a run on so many elements is to begin on a coarser mesh.
    pub fn begins_coarse(&self, n_elements: usize) -> bool {
        !self.is_coarser()
            && match self.optimizer.start {
                Start::Fine => false,
                Start::Auto => n_elements >= MANY,
                Start::Coarse => true,
            }
    }

    /// The case by elements of twice the edge, up to the design that the run on its own mesh of
    /// `n_elements` begins with. Lengths stay, those in element widths too where filters allow it;
    /// `nodes` are the numbers of nodes of sets on its own mesh.
    ///
    /// # Errors
    /// In words why there is none.
    pub fn coarser(&self, n_elements: usize, nodes: Vec<NodesOfSet>) -> Result<Self, &'static str> {
        let last = self.last_coarse();
        if last < 2 {
            return Err("it has too few iterations");
        }

        let mut coarser = self.clone();
        coarser.coarsening = Some(nodes);
        coarser.optimizer.max_iterations = last;
        coarser.coarsen_mesh(n_elements)?;
        let filter = coarser.filter.get_mut();
        filter.radius_in_elements = filter.radius_in_elements.map(|radius| radius / STEP);
        for stage in &mut coarser.continuation {
            let radius = &mut stage.filter_radius_in_elements;
            *radius = radius.map(|radius| radius / STEP);
            stage.half_width = stage.half_width.map(halved);
        }
        Ok(coarser)
    }

    /// Whether elements have about twice the edge that the case file asks for.
    pub fn is_coarser(&self) -> bool {
        self.coarsening.is_some()
    }

    /// `radius` of a filter on elements of a mean width, or the least that it needs on a mesh that
    /// is coarser than what the case asks for.
    pub(crate) fn filter_radius(&self, radius: f64, element_width: f64) -> f64 {
        let least = if self.is_coarser() { LEAST_RADIUS * element_width } else { 0.0 };
        radius.max(least)
    }

    /// Factor of what each of `n` nodes of a `set` has, so that all have as much as on the mesh of
    /// the case.
    pub(crate) fn share_of_node(&self, set: &str, kind: Option<SelectKind>, n: usize) -> f64 {
        let mut of_case = self.coarsening.iter().flatten();
        let of_case = of_case.find(|nodes| nodes.set == set && nodes.kind == kind);
        of_case.map_or(1.0, |of_case| of_case.n as f64 / n as f64)
    }

    /// The last design on the coarser mesh, which is the first on the mesh of the case: that before
    /// the second stage, or in the middle of a run without stages.
    fn last_coarse(&self) -> usize {
        if let Ok(last) = std::env::var("TOPOPT_LAST_COARSE") {
            return last.parse().unwrap();
        }
        let begins = self.continuation.iter().map(|stage| stage.from);
        let second = begins.filter(|from| *from > 1).min();
        let all = self.optimizer.max_iterations;
        second.map_or(all / 2, |from| from - 1).min(all)
    }

    /// Doubles the edge of the elements that the case asks for.
    fn coarsen_mesh(&mut self, n_elements: usize) -> Result<(), &'static str> {
        let mesh = self.mesh.get_mut();
        if mesh.generator.is_some() {
            return Ok(()); // by `coarsening`, since generated elements are as large as bodies are
        }
        if !mesh.is_of_geometry() {
            return Err("its mesh comes from a file");
        }
        if mesh.element_size.is_none() && mesh.elements.is_none() {
            return Err("the geometry says how large elements are, and not the case");
        }
        scale(&mut mesh.element_size, STEP);
        for refine in &mut mesh.refine {
            let size = *refine.element_size.get_ref();
            refine.distance.get_or_insert(crate::refinement::USUAL_DISTANCE * size);
            *refine.element_size.get_mut() = STEP * size;
        }
        if let Some(elements) = &mut mesh.elements {
            let fewer = n_elements as f64 / STEP.powi(3);
            *elements.get_mut() = (fewer as usize).max(1);
        }
        if let Some(across) = &mut mesh.across {
            *across.get_mut() = across.get_ref().div_ceil(2);
        }
        Ok(())
    }
}

fn scale(value: &mut Option<Spanned<f64>>, factor: f64) {
    if let Some(value) = value {
        *value.get_mut() *= factor;
    }
}

/// A half width by elements of twice the edge.
fn halved(course: Course) -> Course {
    let halved = |value: f64| (value / STEP).max(value.min(LEAST_HALF_WIDTH));
    match course {
        Course::Constant(value) => Course::Constant(halved(value)),
        Course::Changing(mut changing) => {
            (changing.start, changing.end) = (halved(changing.start), halved(changing.end));
            Course::Changing(changing)
        }
    }
}
