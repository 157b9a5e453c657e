//! A case that is ready to be solved for heat.

use topopt_case::case::Case;
use topopt_case::config::Config;
use topopt_case::lookup::Lookup;
use topopt_case::model::Model;
use topopt_case::physics::heat::InTime;
use topopt_case::tags::Tags;
use topopt_fem::Diffusion;

use crate::solved::Filling;

/// A case ready to be solved for heat.
pub(crate) struct Part<'a> {
    pub config: &'a Config,
    pub case: &'a Case<1>,
    pub model: &'a Model<Diffusion, 1>,
    pub filling: &'a Filling,
}

impl<'a> Part<'a> {
    /// Returns the lookup of sets of its case.
    pub fn lookup(&self) -> Lookup<'a> {
        self.case.lookup(self.config)
    }

    /// Returns the heat flows and held temperatures over time, by nodes as the user numbers them.
    pub fn acting(&self) -> InTime {
        InTime::of(&self.lookup())
    }

    /// The number of a node of the problem in the mesh file, and its place.
    pub fn node(&self, node: usize) -> (u64, [f64; 3]) {
        let original = self.model.renumbering.original_nodes()[node];
        let number = Tags::node(self.case.tags.as_ref(), original);
        (number, self.case.mesh.coordinates()[original as usize])
    }
}
