//! A case on a coarser mesh of its part, on which a run begins.

use toml::Spanned;

use super::{Config, NodesOfSet, SelectKind, Start};

/// Ratio of the edges of elements.
const STEP: f64 = 2.0;

/// Designs on the coarser mesh of a run without stages, the last included: as many as grey ones of
/// the style `crisp`.
const WITHOUT_STAGES: usize = 20;

/// Least radius of filters on the coarser mesh, in element widths. The six neighbors of a cube then
/// weigh as much as itself, so that densities that alternate from one to the next become equal.
const LEAST_RADIUS: f64 = 1.2;

impl Config {
    /// Whether a run is to begin on a coarser mesh.
    pub fn begins_coarse(&self) -> bool {
        self.optimizer.start == Start::Coarse && !self.is_coarser()
    }

    /// The case by elements of twice the edge, up to the design that the run on its own mesh of
    /// `n_elements` begins with. Lengths stay, those in element widths too where filters allow it;
    /// `nodes` are the numbers of nodes of sets on its own mesh.
    ///
    /// # Errors
    /// In words why there is none.
    pub fn coarser(&self, n_elements: usize, nodes: Vec<NodesOfSet>) -> Result<Self, &'static str> {
        let last = self.last_coarse();
        if last < 2 || self.optimizer.max_iterations <= last {
            return Err("it has too few iterations");
        }

        let mut coarser = self.clone();
        coarser.coarsening = Some(nodes);
        coarser.optimizer.max_iterations = last;
        coarser.coarsen_mesh(n_elements)?;
        let filter = coarser.filter.get_mut();
        filter.radius_in_elements = filter.radius_in_elements.map(|radius| radius / STEP);
        if !coarser.continuation.is_empty() {
            coarser.optimizer = coarser.optimizer.without_tolerances(); // they are for the last stage
        }
        // Where a later stage has a surface of a given width, all are blurred by 1.7 elements.
        coarser.continuation.retain(|stage| stage.from <= last);
        for stage in &mut coarser.continuation {
            let radius = &mut stage.filter_radius_in_elements;
            *radius = radius.map(|radius| radius / STEP);
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
    /// the second stage.
    fn last_coarse(&self) -> usize {
        let begins = self.continuation.iter().map(|stage| stage.from);
        let second = begins.filter(|from| *from > 1).min();
        second.map_or(WITHOUT_STAGES, |from| from - 1)
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const CASE: &str = "[mesh]\ngenerator = \"cantilever\"\nelements = 2000\n\
        [[supports]]\nset = \"fixed\"\n[[loads]]\nset = \"load\"\nforce = [0, -1, 0]\n\
        [design]\nvolume_fraction = 0.3\n[filter]\nradius_in_elements = 4\n\
        [optimizer]\nstart = \"coarse\"\n";

    fn config(text: &str) -> Config {
        Config::parse(Path::new("case.toml"), text.into(), &[]).unwrap()
    }

    fn coarser(text: &str) -> Result<Config, &'static str> {
        config(text).coarser(2000, Vec::new())
    }

    #[test]
    fn lengths_in_elements_are_those_of_the_case() {
        let coarser = coarser(CASE).unwrap();
        assert_eq!(coarser.filter.get_ref().radius_in_elements, Some(2.0));
        assert_eq!(coarser.optimizer.max_iterations, 25);
        assert_eq!(coarser.optimizer.change_tolerance, 0.0, "not of the last stage");
        assert!(config(CASE).has_half_width() && !coarser.has_half_width());
        assert!(coarser.is_coarser() && !coarser.begins_coarse());
        // A filter of 1.2 elements at least.
        assert_eq!(coarser.filter_radius(4.0, 2.0), 4.0);
        assert_eq!(coarser.filter_radius(2.0, 2.0), 2.4);
        assert_eq!(config(CASE).filter_radius(2.0, 2.0), 2.0);
    }

    #[test]
    fn what_each_node_has_is_shared_by_fewer() {
        let nodes = vec![NodesOfSet { set: "load".into(), kind: None, n: 11 }];
        let coarser = config(CASE).coarser(2000, nodes).unwrap();
        assert_eq!(coarser.share_of_node("load", None, 6), 11.0 / 6.0);
        assert_eq!(coarser.share_of_node("other", None, 6), 1.0);
        assert_eq!(coarser.share_of_node("load", Some(SelectKind::Faces), 6), 1.0);
        assert_eq!(config(CASE).share_of_node("load", None, 6), 1.0);
    }

    #[test]
    fn geometries_have_elements_of_twice_the_edge() {
        let mesh = "[mesh]\nfile = \"part.step\"\nelement_size = 2.0\nacross = 3\n\
            method = \"hexahedra\"\n[[mesh.refine]]\nset = \"hole\"\nelement_size = 0.5\n";
        let case = CASE.replace("[mesh]\ngenerator = \"cantilever\"\nelements = 2000\n", mesh);
        let coarser = coarser(&case).unwrap();
        let mesh = coarser.mesh.get_ref();
        assert_eq!(mesh.element_size.as_ref().map(|size| *size.get_ref()), Some(4.0));
        assert_eq!(mesh.across.as_ref().map(|across| *across.get_ref()), Some(2));
        let refine = &mesh.refine[0];
        assert_eq!((*refine.element_size.get_ref(), refine.distance), (1.0, Some(1.0)));

        let counted = case.replace("element_size = 2.0", "elements = 16000");
        let coarser = config(&counted).coarser(17_000, Vec::new()).unwrap();
        let elements = coarser.mesh.get_ref().elements.as_ref();
        assert_eq!(elements.map(|elements| *elements.get_ref()), Some(2125));
    }

    #[test]
    fn runs_that_cannot_begin_coarse_say_why() {
        let generated = "generator = \"cantilever\"\nelements = 2000";
        let of_file = CASE.replace(generated, "file = \"part.msh\"");
        assert_eq!(coarser(&of_file).unwrap_err(), "its mesh comes from a file");
        let of_geometry = CASE.replace(generated, "file = \"part.geo\"");
        assert!(coarser(&of_geometry).unwrap_err().starts_with("the geometry says"));
        let short = format!("{CASE}max_iterations = 25\n");
        assert_eq!(coarser(&short).unwrap_err(), "it has too few iterations");
    }
}
