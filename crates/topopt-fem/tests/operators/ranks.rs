//! Operators and preconditioners on virtual ranks against those of one.

mod preconditioners;

use topopt_fem::operators::Reference;
use topopt_fem::{
    Constraints, CpuSolvers, Diffusion, Discretization, Distributed, DistributedPart, ElementData,
    ElementOperator, Formulation, PartVectors, Strategy, WithSprings,
};
use topopt_linalg::{
    Backend, BackendError, Communicator, Cpu, LinearOperator, Ranks, Space, Threads,
};
use topopt_mesh::{HexMesh, Part, Renumbering};
use topopt_testing::{Noise, assert_close, distorted_cube, hexagon, mapped_box, wheel};

use crate::films::with_film;
use crate::{hold, moduli};

const SIZES: [usize; 5] = [1, 2, 3, 4, 8];

/// State of one rank: its backend, its part and the equation on the part.
struct Rank<'t, K, const N: usize> {
    backend: Ranks<Cpu, &'t Threads>,
    part: Part,
    local: Discretization<K, N>,
}

/// Returns the result of `work` on `size` ranks that share `whole`; all ranks must agree.
fn on_ranks<K: CpuSolvers<N>, T: Send + PartialEq, const N: usize>(
    whole: &Discretization<K, N>,
    size: usize,
    work: impl Fn(&Rank<K, N>) -> Result<T, BackendError> + Sync,
) -> T {
    let mut found = Threads::run(size, |rank| {
        let DistributedPart { part, equation: local, shares } = match rank.rank() {
            0 => DistributedPart::deal(rank, whole),
            _ => DistributedPart::receive(rank, *whole.kernel())?,
        };
        work(&Rank { backend: Ranks::new(Cpu, rank, shares), part, local })
    })
    .unwrap();
    assert!(found.iter().all(|of_rank| *of_rank == found[0]), "ranks differ");
    found.remove(0)
}

/// Makes an operator of an equation.
type Make<K, const N: usize> = fn(&Discretization<K, N>) -> Box<dyn ElementOperator<Cpu> + '_>;

/// The product with a vector, the diagonal and the works, with the springs of `whole`.
fn all_of<B: Backend + Sync, K: CpuSolvers<N>, const N: usize>(
    backend: &B,
    whole: &Discretization<K, N>,
    operator: Box<dyn ElementOperator<B> + '_>,
) -> Result<[Vec<f64>; 3], BackendError> {
    let n_elements = whole.mesh().n_elements();
    let elements = Space::elements(n_elements);
    let mut operator = WithSprings::new(backend, whole, operator)?;
    let terms: Vec<_> = (0..K::TERMS)
        .map(|term| {
            let mut values = moduli(n_elements);
            values.rotate_left(term);
            backend.upload(&values, elements)
        })
        .collect::<Result<_, _>>()?;
    operator.set_coefficients(&terms.iter().collect::<Vec<_>>());

    let nodal = |seed| backend.upload(&Noise(seed).vector(whole.n_dofs()), whole.space());
    let (x, v) = (nodal(11)?, nodal(12)?);
    let (mut y, mut diagonal) = (backend.zeros(whole.space())?, backend.zeros(whole.space())?);
    let mut works = backend.zeros(elements)?;
    operator.apply(&x, &mut y);
    operator.diagonal(&mut diagonal);
    operator.element_work(K::TERMS - 1, &v, &x, &mut works);
    let all = |vector: &B::Vector| backend.decide(backend.download(vector)?);
    Ok([all(&y)?, all(&diagonal)?, all(&works)?])
}

/// Every operator of `whole` on every number of ranks; with the same bits where it sums element by
/// element and all of it `is_plain`.
fn agree<K: CpuSolvers<N>, const N: usize>(
    name: &str,
    whole: &Discretization<K, N>,
    is_plain: bool,
) {
    let strategies: [(&str, Make<K, N>, bool); 5] = [
        ("reference", |problem| Box::new(Reference::new(problem)), true),
        ("nbn", |problem| Strategy::Nbn.build(problem), true),
        ("mf", |problem| Strategy::Mf.build(problem), false),
        ("ebe", |problem| Strategy::Ebe.build(problem), false),
        ("bsr", |problem| Strategy::Bsr.build(problem), false),
    ];
    for (strategy, make, same_bits) in strategies {
        let alone = all_of(&Cpu, whole, make(whole)).unwrap();
        for size in SIZES {
            let found = on_ranks(whole, size, |rank: &Rank<K, N>| {
                let n_nodes = whole.mesh().n_nodes();
                let Rank { backend, part, local } = rank;
                let vectors = PartVectors::new(backend.inner(), part, N, K::TERMS)?;
                let operator = Distributed::new(backend, part, make(local), &vectors, n_nodes)?;
                all_of(backend, whole, Box::new(operator))
            });
            for ((found, alone), what) in
                found.iter().zip(&alone).zip(["product", "diagonal", "works"])
            {
                let what = format!("{what} of {strategy} on {size} ranks, {name}");
                if same_bits && is_plain {
                    assert!(found == alone, "{what} has other bits");
                } else {
                    assert_close(found, alone, 1e-13, &what);
                }
            }
        }
    }
}

/// Meshes in the order of an import, and in none; the first has fewer elements than ranks.
fn meshes() -> Vec<(&'static str, HexMesh)> {
    let imported = |mesh: HexMesh| Renumbering::on_import(&mesh).apply(&mesh);
    let box_mesh = distorted_cube(7, 0.25, true);
    vec![
        ("two elements", mapped_box([2, 1, 1], |x| x)),
        ("shuffled box", Renumbering::shuffled(&box_mesh, 3).apply(&box_mesh)),
        ("box", imported(box_mesh)),
        ("irregular valence", imported(hexagon(5))),
        ("wedges", imported(wheel(4))),
    ]
}

#[test]
fn elastic_operators_are_those_of_one_rank() {
    for (name, mesh) in meshes() {
        let mut supports = hold(&mesh, |x| x[2] < 0.3);
        supports.fix(mesh.n_nodes() - 1, 1);
        supports.add_spring(mesh.n_nodes() - 1, 0, 3.0);
        supports.add_spring(mesh.n_nodes() / 2, 2, 2.0);
        let data = ElementData {
            laws: Some(crate::laws::mixed(mesh.n_elements())),
            ..ElementData::default()
        };
        let problem = crate::problem(mesh, supports);
        agree(name, &problem, true);
        agree(name, &Discretization::clone(&problem).with_data(data), false);
    }
}

#[test]
fn operators_of_heat_are_those_of_one_rank() {
    for (name, mesh) in meshes() {
        let mut constraints = Constraints::none(mesh.n_nodes());
        (0..mesh.n_nodes()).filter(|n| n % 7 == 0).for_each(|n| constraints.fix(n, 0));
        constraints.add_spring(1, 0, 5.0);
        let constraints = with_film(constraints, &mesh, 0.3);
        let ratios = Noise(8).vector(mesh.n_elements());
        let stretches = ratios.iter().map(|r| [1.5f64.powf(*r), 1.0, 1.5f64.powf(-r)]).collect();
        let problem =
            Discretization::new(mesh, Diffusion::by(Formulation::Incompatible), constraints)
                .with_stretches(stretches);
        agree(name, &problem, true);
        agree(name, &problem.with_capacity(true), false);
    }
}
