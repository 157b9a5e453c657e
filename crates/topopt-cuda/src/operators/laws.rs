//! Elements whose materials are not isotropic with one Poisson's ratio: `cuda/laws.cu` and
//! `cuda/tetrahedra_laws.cu`, a launch for each law.

use std::sync::Arc;

use cudarc::driver::CudaSlice;
use topopt_fem::stiffness_tensor::{PLACE, Stiffness, inverted};
use topopt_fem::{DIM, Discretization, Elasticity, ElementKernel, Law, Laws};
use topopt_linalg::{BackendError, Cost};
use topopt_mesh::cells::Shape;
use topopt_mesh::{HexMesh, tetrahedron};

use super::ProblemOnDevice;
use super::clusters::Clusters;
use super::element_list::ElementList;
use super::mf::Mf;
use super::product::Product;
use super::tetrahedra_clusters::TetrahedraClusters;
use crate::Device;
use crate::kernel::Grid::Threads;
use crate::kernels::{self, LawView, Part};
use crate::vector::DeviceVector;

/// Additions and multiplications of a hexahedron, and of a straight tetrahedron, counted in the
/// kernels.
const FLOPS: [f64; 2] = [2300.0, 1150.0];

/// Components of a stress in the order of the kernels.
const COMPONENTS: [(usize, usize); 6] = [(0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1)];

/// The product `mf` of elements with laws of their own. Preconditioners, and the diagonal, take the
/// elements to be of the kernel's material, which is near enough.
pub(super) struct ByLaws {
    kernels: Kernels,
    groups: Vec<Group>,
}

/// Kernels for elements of one shape, and those for clusters where all elements have one law.
enum Kernels {
    Hexahedra(kernels::Laws, Option<(kernels::LawsInClusters, Arc<Clusters>)>),
    Tetrahedra(
        kernels::TetrahedraLaws,
        Option<(kernels::TetrahedraLawsInClusters, Arc<TetrahedraClusters>)>,
    ),
}

/// Elements of one law.
struct Group {
    law: LawView,
    all: ElementList,
    /// Tetrahedra of these with straight edges, and the others.
    straight: Option<ElementList>,
    curved: Option<ElementList>,
}

/// Bytes of the lists of the elements of `mesh`.
pub(super) fn bytes(mesh: &HexMesh) -> usize {
    let lists = if mesh.shape() == Shape::Tetrahedron { 2 } else { 1 };
    4 * lists * mesh.n_elements()
}

impl ByLaws {
    /// Loads the kernels for the elements of `problem`, which have `laws`.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room or the kernels cannot be loaded.
    pub fn new(
        on_device: &ProblemOnDevice,
        problem: &Discretization,
        laws: &Laws,
    ) -> Result<Self, BackendError> {
        let device = &on_device.device;
        let group = |(law, elements): (Option<&Law>, Vec<u32>)| {
            let kernel = law.map_or(*problem.kernel(), |law| problem.kernel().of_law(law));
            Group::new(device, problem, &kernel, elements)
        };
        let groups = laws.groups().into_iter().map(group).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { kernels: Kernels::load(on_device, groups.len() == 1)?, groups })
    }
}

impl Kernels {
    fn load(on_device: &ProblemOnDevice, are_of_one_law: bool) -> Result<Self, BackendError> {
        let (device, formulation) = (&on_device.device, on_device.formulation());
        if on_device.mesh.are_tetrahedra() {
            let clusters = on_device.tetrahedra.as_ref().filter(|_| are_of_one_law);
            let load = |clusters: &Arc<TetrahedraClusters>| -> Result<_, BackendError> {
                Ok((kernels::TetrahedraLawsInClusters::load(device)?, clusters.clone()))
            };
            let in_clusters = clusters.map(load).transpose()?;
            return Ok(Self::Tetrahedra(kernels::TetrahedraLaws::load(device)?, in_clusters));
        }
        let clusters = on_device.clusters.as_ref().filter(|_| are_of_one_law);
        let load = |clusters: &Arc<Clusters>| -> Result<_, BackendError> {
            Ok((kernels::LawsInClusters::load_for(formulation, device)?, clusters.clone()))
        };
        let in_clusters = clusters.map(load).transpose()?;
        Ok(Self::Hexahedra(kernels::Laws::load_for(formulation, device)?, in_clusters))
    }
}

impl Group {
    fn new(
        device: &Device,
        problem: &Discretization,
        kernel: &Elasticity,
        elements: Vec<u32>,
    ) -> Result<Self, BackendError> {
        let mut lists = [Vec::new(), Vec::new()];
        if problem.elements().are_tetrahedra() {
            let mesh = problem.mesh();
            let is_straight =
                |e: &u32| tetrahedron::is_straight(&mesh.tetrahedron_coordinates(*e as usize));
            let (straight, curved) = elements.iter().partition(|e| is_straight(e));
            lists = [straight, curved];
        }

        let list = |elements: Vec<u32>| match elements.is_empty() {
            true => Ok(None),
            false => ElementList::new(device, elements).map(Some),
        };
        let [straight, curved] = lists;
        Ok(Self {
            law: view(device, &kernel.unit_stiffness())?,
            all: ElementList::new(device, elements)?,
            straight: list(straight)?,
            curved: list(curved)?,
        })
    }
}

/// The law of a launch with the matrix `d`.
fn view(device: &Device, d: &Stiffness) -> Result<LawView, BackendError> {
    let compliance = inverted(d).ok_or_else(|| BackendError {
        device: device.name().into(),
        operation: "a law of elasticity".into(),
        message: "its matrix has no inverse".into(),
    })?;
    let coupled = |(i, j): Component, (k, l): Component| {
        0.5 * (at(d, (i, k), (j, l)) + at(d, (i, l), (j, k)))
    };
    Ok(LawView {
        stiffness: upper(|p, q| at(d, p, q)),
        compliance: upper(|p, q| at(&compliance, p, q)),
        coupling: upper(coupled),
    })
}

/// Components ij of a tensor.
type Component = (usize, usize);

/// The entry of a matrix at two components.
fn at(d: &Stiffness, (i, j): Component, (k, l): Component) -> f64 {
    d[PLACE[i][j]][PLACE[k][l]]
}

/// The entries of a symmetric matrix by rows from the diagonal on.
fn upper(entry: impl Fn(Component, Component) -> f64) -> [f64; 21] {
    let mut entries = [0.0; 21];
    let places = (0..6).flat_map(|r| (r..6).map(move |c| (COMPONENTS[r], COMPONENTS[c])));
    entries.iter_mut().zip(places).for_each(|(value, (p, q))| *value = entry(p, q));
    entries
}

/// A list, and the part of it that lies in a `part` of the elements, where that has any.
fn within(list: Option<&ElementList>, part: Part) -> Option<(&CudaSlice<u32>, Part)> {
    let list = list?;
    Some((list.on_device(), list.within(part))).filter(|(_, own)| own.count > 0)
}

impl Product<Elasticity, DIM> for ByLaws {
    const NAME: &'static str = "mf";

    fn apply(&self, plain: &Mf<f64>, x: &DeviceVector<f64>, y: &mut DeviceVector<f64>) {
        plain.held_part(x, y);
        for part in plain.problem().mesh.parts() {
            self.groups.iter().for_each(|group| self.add(plain, group, part, (x, &mut *y)));
        }
    }

    fn work(
        &self,
        plain: &Mf<f64>,
        _: usize,
        [v, u]: [&DeviceVector<f64>; 2],
        out: &mut DeviceVector<f64>,
    ) {
        let mesh = &plain.problem().mesh;
        for Group { law, all, .. } in &self.groups {
            let (list, part) = (all.on_device(), all.all());
            let grid = Threads(part.count as usize);
            match &self.kernels {
                Kernels::Hexahedra(kernels, _) => {
                    kernels.laws_work(grid, mesh, part, list, *law, v, u, &mut *out);
                }
                Kernels::Tetrahedra(kernels, _) => {
                    kernels.tetrahedra_laws_work(grid, mesh, part, list, *law, v, u, &mut *out);
                }
            }
        }
    }

    fn cost(&self, problem: &ProblemOnDevice) -> Cost {
        let mesh = &problem.mesh;
        let (elements, nodes) = (mesh.n_elements as f64, mesh.n_nodes as f64);
        let [of_hexahedra, of_tetrahedra] = FLOPS;
        let flops = if mesh.are_tetrahedra() { of_tetrahedra } else { of_hexahedra };
        Cost {
            bytes_read: elements * (12.125 + 4.0 * mesh.nodes_per_element as f64) + nodes * 48.0,
            bytes_written: nodes * 24.0,
            flops: elements * flops,
        }
    }
}

impl ByLaws {
    /// Adds the products of the elements of one law in a part of the mesh.
    fn add(
        &self,
        plain: &Mf<f64>,
        Group { law, all, straight, curved }: &Group,
        part: Part,
        (x, y): (&DeviceVector<f64>, &mut DeviceVector<f64>),
    ) {
        let ProblemOnDevice { mesh, constraints, .. } = plain.problem();
        let (held, at) = (&constraints.held, &constraints.at_supports);
        let moduli = &plain.coefficients()[0];

        match &self.kernels {
            Kernels::Hexahedra(_, Some((kernels, clusters))) => {
                let (grid, clusters) = (Threads(clusters.threads()), &**clusters);
                kernels.laws_clusters(grid, clusters, mesh, *law, moduli, x, y);
            }
            Kernels::Hexahedra(kernels, None) => {
                let Some((list, own)) = within(Some(all), part) else { return };
                let grid = Threads(own.count as usize);
                kernels.laws(grid, mesh, own, list, held, at, *law, moduli, x, y);
            }
            Kernels::Tetrahedra(kernels, clusters) => {
                if let Some((kernels, clusters)) = clusters {
                    let (grid, bits) = (Threads(clusters.threads()), mesh.are_curved());
                    let clusters = &**clusters;
                    kernels.tetrahedra_clusters_laws(
                        grid, clusters, mesh, bits, *law, moduli, x, &mut *y,
                    );
                } else if let Some((list, own)) = within(straight.as_ref(), part) {
                    let (y, grid) = (&mut *y, Threads(own.count as usize));
                    kernels.tetrahedra_laws(grid, mesh, own, list, held, at, *law, moduli, x, y);
                }
                if let Some((list, own)) = within(curved.as_ref(), part) {
                    let grid = Threads(own.count as usize);
                    kernels.curved_tetrahedra_laws(
                        grid, mesh, own, list, held, at, *law, moduli, x, y,
                    );
                }
            }
        }
    }
}
