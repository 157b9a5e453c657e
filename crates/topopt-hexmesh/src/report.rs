//! Quality of a mesh, and what it kept of the part.

use topopt_mesh::Plane;

/// Quality of a mesh, and what it kept of the part.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Size of elements that was used.
    pub size: f64,
    /// Least scaled Jacobian.
    pub least: f64,
    /// Scaled Jacobian that 5 % of the elements are below.
    pub fifth_percentile: f64,
    /// Mean scaled Jacobian.
    pub mean: f64,
    /// Volume inside of the surface.
    pub part_volume: f64,
    /// Volume of the mesh.
    pub mesh_volume: f64,
    /// Volume of each body inside of the surface and in the mesh, `[n_bodies]`.
    pub volumes: Vec<[f64; 2]>,
    /// Number of faces between two bodies.
    pub n_interfaces: usize,
    /// Planes about which the mesh mirrors itself to the last bits.
    pub mirrors: Vec<Plane>,
    /// Largest distance of a node from its corner, curve or face, or of the node that it is the
    /// image of.
    pub distance: f64,
    /// How elements are smaller in places, if that is asked for.
    pub refinement: Option<Refinement>,
    /// Ways that were tried before, and why they failed.
    pub failed: Vec<String>,
}

/// Way to smaller elements in places, and the numbers of elements that either makes at first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refinement {
    /// Times that elements were divided in three, with transitions to the others; 0 if planes of
    /// the grid do it alone.
    pub levels: usize,
    /// Elements by planes of the grid.
    pub by_planes: usize,
    /// Elements with transitions.
    pub by_transitions: usize,
}

impl Refinement {
    /// Counts of so many `images` of a part.
    pub(crate) fn of_images(self, images: usize) -> Self {
        let [by_planes, by_transitions] =
            [self.by_planes, self.by_transitions].map(|count| images * count);
        Self { by_planes, by_transitions, ..self }
    }
}

impl Report {
    /// Relative error of the volume.
    pub fn volume_error(&self) -> f64 {
        self.mesh_volume / self.part_volume - 1.0
    }

    /// Largest relative error of the volume of a body.
    pub fn worst_volume_error(&self) -> f64 {
        let errors = self.volumes.iter().map(|[exact, meshed]| (meshed / exact - 1.0).abs());
        errors.fold(0.0, f64::max)
    }
}
