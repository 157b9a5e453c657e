//! Every strategy of assembly on the device against rows that the CPU sums up by plain loops.

use std::sync::Arc;

use topopt_cuda::assembly::{Assembled, Assembly, AssemblyStrategy, Pattern, Routine};
use topopt_cuda::{Cuda, Device, DeviceVector, MeshOnDevice, Real};
use topopt_fem::{
    Constraints, Diffusion, Discretization, Elasticity, Formulation, Material, matrix_row,
};
use topopt_linalg::{Backend, Space};
use topopt_mesh::{HexMesh, NodeToElements, Renumbering};
use topopt_testing::{Noise, assert_close, distorted_cube, hexagon, mixed_cut, wheel};

use crate::device;

/// One distorted element, a distorted box, one in random order, a mesh of irregular valence,
/// wedges, and tetrahedra and pyramids that are cut; large enough for several patches and colors.
fn meshes() -> [(&'static str, HexMesh); 6] {
    let mesh = distorted_cube(5, 0.2, true);
    let shuffled = Renumbering::shuffled(&mesh, 9).apply(&mesh);
    [
        ("one element", distorted_cube(1, 0.2, true)),
        ("distorted box", distorted_cube(6, 0.25, true)),
        ("random order", shuffled),
        ("irregular valence", hexagon(4)),
        ("wedges", wheel(9)),
        ("pyramids", mixed_cut()),
    ]
}

fn elasticity() -> Elasticity {
    Elasticity::new(&Material::new(1.0, 0.3).unwrap())
}

/// Elasticity of elements by each formulation.
fn formulations() -> [Elasticity; 2] {
    [Formulation::Full, Formulation::Incompatible].map(|of| elasticity().with(of))
}

/// Whole nodes, single components and the last node are held.
fn problem<K: Assembled<N>, const N: usize>(mesh: HexMesh, kernel: K) -> Discretization<K, N> {
    let mut constraints = Constraints::none(mesh.n_nodes());
    for (node, x) in mesh.coordinates().iter().enumerate() {
        let held = if x[2] < 0.1 { 0..N } else { node % N..node % N + usize::from(node % 5 == 0) };
        held.for_each(|i| constraints.fix(node, i));
    }
    constraints.fix(mesh.n_nodes() - 1, N / 2);
    Discretization::new(mesh, kernel, constraints)
}

/// Moduli over a SIMP contrast of 1e-6, and capacities of about 1.
fn coefficients(n: usize) -> [Vec<f64>; 2] {
    let moduli = Noise(3).vector(n).iter().map(|v| 10f64.powf(3.0 * (v - 1.0))).collect();
    [moduli, Noise(4).vector(n).iter().map(|v| 1.0 + 0.5 * v).collect()]
}

/// A problem on the device with all that strategies start from.
struct Subject<K, const N: usize> {
    name: &'static str,
    problem: Discretization<K, N>,
    mesh: Arc<MeshOnDevice>,
    adjacency: NodeToElements,
    pattern: Pattern,
    coefficients: [Vec<f64>; 2],
    /// The rows of the reference, `[n_blocks][N][N]`.
    expected: Vec<f64>,
}

impl<K: Assembled<N>, const N: usize> Subject<K, N> {
    fn all(device: &Arc<Device>, kernel: K) -> Vec<Self> {
        meshes().map(|(name, mesh)| Self::new(device, name, mesh, kernel)).into()
    }

    fn new(device: &Arc<Device>, name: &'static str, mesh: HexMesh, kernel: K) -> Self {
        let problem = problem(mesh, kernel);
        let adjacency = NodeToElements::new(problem.mesh());
        let pattern = Pattern::new(&problem, &adjacency).unwrap();
        let coefficients = coefficients(problem.mesh().n_elements());
        let mut expected = Vec::new();
        for node in 0..problem.mesh().n_nodes() {
            let coefficients = coefficients.each_ref().map(Vec::as_slice);
            let row = matrix_row(&problem, &adjacency, &coefficients, node);
            let offsets = &pattern.row_offsets()[node..];
            let columns = &pattern.columns()[offsets[0] as usize..offsets[1] as usize];
            assert!(row.keys().eq(columns), "{name}, columns of node {node}");
            expected.extend(row.values().flatten().flatten());
        }
        let mesh = MeshOnDevice::new(device, problem.mesh()).unwrap();
        Self { name, problem, mesh, adjacency, pattern, coefficients, expected }
    }

    fn assembly<R: Real>(&self, strategy: AssemblyStrategy) -> Assembly<R> {
        let Self { mesh, problem, adjacency, pattern, .. } = self;
        let mut assembly = Assembly::new(mesh, problem, adjacency, pattern, strategy).unwrap();
        assembly.store().unwrap();
        assembly
    }

    fn upload<R: Real>(&self) -> [DeviceVector<R>; 2] {
        let backend = Cuda::<R>::new(self.mesh.device()).unwrap();
        let elements = Space::elements(self.problem.mesh().n_elements());
        self.coefficients.clone().map(|values| backend.upload(&values, elements).unwrap())
    }

    /// All values, after an assembly of other coefficients, of which nothing may stay.
    fn values<R: Real>(&self, assembly: &mut Assembly<R>, routine: Routine) -> Vec<f64> {
        let [k, c] = self.upload::<R>();
        assembly.assemble(routine, [&c, &k]);
        assembly.assemble(routine, [&k, &c]);
        assembly.values(0..self.pattern.columns().len()).unwrap()
    }

    /// Row by row, as a row of soft elements is as exact as one of stiff ones.
    fn assert_rows(&self, values: &[f64], tolerance: f64, what: &str) {
        for (node, row) in self.pattern.row_offsets().windows(2).enumerate() {
            let row = N * N * row[0] as usize..N * N * row[1] as usize;
            let (found, expected) = (&values[row.clone()], &self.expected[row]);
            assert_close(found, expected, tolerance, &format!("{what}, node {node}"));
        }
    }
}

#[test]
fn every_strategy_gives_the_rows_of_the_reference() {
    let Some(device) = device() else { return };
    let subjects = formulations().map(|kernel| Subject::all(&device, kernel));
    subjects.iter().flatten().for_each(assert_strategies);
    for formulation in [Formulation::Full, Formulation::Incompatible] {
        Subject::all(&device, Diffusion::by(formulation)).iter().for_each(assert_strategies);
    }
}

fn assert_strategies<K: Assembled<N>, const N: usize>(subject: &Subject<K, N>) {
    for strategy in AssemblyStrategy::ALL {
        for routine in [Routine::Computed, Routine::Stored] {
            if !strategy.takes(routine) {
                continue;
            }
            let [name, routine_name] = [strategy.name(), routine.name()];
            let what = format!("{name}, {routine_name}, {}, {N} unknowns", subject.name);
            let values = subject.values::<f64>(&mut subject.assembly(strategy), routine);
            subject.assert_rows(&values, 1e-13, &what);
            let values = subject.values::<f32>(&mut subject.assembly(strategy), routine);
            subject.assert_rows(&values, 1e-5, &format!("{what}, single precision"));
        }
    }
}

/// Elements are added in increasing order, or color by color. An order of its own for threads and
/// blocks is what `TOPOPT_EMULATOR_ORDER=reverse` gives.
#[test]
fn strategies_that_add_in_order_give_the_same_bits_again() {
    let Some(device) = device() else { return };
    for subject in Subject::all(&device, elasticity()) {
        for strategy in AssemblyStrategy::ALL.into_iter().filter(|s| s.is_in_order()) {
            let mut assembly = subject.assembly::<f64>(strategy);
            let once = subject.values(&mut assembly, Routine::Computed);
            let again = subject.values(&mut assembly, Routine::Computed);
            let name = format!("{}, {}", strategy.name(), subject.name);
            assert!(once == again, "{name}");
            // FNV-1a of the bits, to be compared with those of threads in reverse order.
            let hash = |hash: u64, v: &f64| (hash ^ v.to_bits()).wrapping_mul(0x0100_0000_01b3);
            println!("{name}: {:x}", once.iter().fold(0xcbf2_9ce4_8422_2325, hash));
        }
    }
}

#[test]
fn what_lies_below_the_diagonal_is_the_mirror_image() {
    let Some(device) = device() else { return };
    for subject in formulations().into_iter().flat_map(|kernel| Subject::all(&device, kernel)) {
        let (offsets, columns) = (subject.pattern.row_offsets(), subject.pattern.columns());
        let row = |i: usize| offsets[i] as usize..offsets[i + 1] as usize;
        // `local_row` makes both blocks of a pair, and adds those of a node that stands twice in
        // another order.
        let mirrored = |strategy: &AssemblyStrategy| *strategy != AssemblyStrategy::LocalRow;
        for strategy in AssemblyStrategy::ALL.into_iter().filter(mirrored) {
            let values = subject.values::<f64>(&mut subject.assembly(strategy), Routine::Computed);
            for i in 0..offsets.len() - 1 {
                for at in row(i) {
                    let j = columns[at] as usize;
                    let mirror = row(j).start + columns[row(j)].partition_point(|&c| c < i as u32);
                    let is_mirrored =
                        |k: usize| values[9 * at + k] == values[9 * mirror + 3 * (k % 3) + k / 3];
                    let what = format!("{}, {}: {i} {j}", strategy.name(), subject.name);
                    assert!(i == j || (0..9).all(is_mirrored), "{what}");
                }
            }
        }
    }
}

/// Without arithmetic the same numbers are read and written: the matrix has no meaning, but every
/// strategy takes the routine, and held rows are those of the identity.
#[test]
fn the_empty_routine_writes_every_row() {
    let Some(device) = device() else { return };
    let subject =
        Subject::new(&device, "distorted box", distorted_cube(4, 0.2, true), Diffusion::default());
    for strategy in AssemblyStrategy::ALL {
        let values = subject.values::<f64>(&mut subject.assembly(strategy), Routine::Empty);
        let offsets = subject.pattern.row_offsets();
        for node in 0..subject.problem.mesh().n_nodes() {
            let row = offsets[node] as usize..offsets[node + 1] as usize;
            let sum: f64 = values[row].iter().sum();
            let held = subject.problem.constraints().is_held(node);
            assert!(if held { sum == 1.0 } else { sum.is_finite() }, "{} {node}", strategy.name());
        }
    }
}

#[test]
fn costs_are_counted() {
    let Some(device) = device() else { return };
    let subject =
        Subject::new(&device, "distorted box", distorted_cube(6, 0.2, true), elasticity());
    let blocks = subject.pattern.columns().len() as f64;
    for strategy in AssemblyStrategy::ALL {
        let assembly = subject.assembly::<f64>(strategy);
        let computed = assembly.cost(Routine::Computed);
        assert!(computed.bytes_written >= 72.0 * blocks, "{}", strategy.name());
        assert!(computed.flops > assembly.cost(Routine::Empty).flops, "{}", strategy.name());
        assert!(assembly.strategy_bytes() > 0 && assembly.bytes() as f64 > 72.0 * blocks);
    }
}
