//! Parts of a problem that the first rank deals to the others.

use topopt_linalg::{BackendError, Communicator, Layout, Link, Share, Shares};
use topopt_mesh::cells::Shape;
use topopt_mesh::{HexMesh, Neighborhood, Part, Partition};

use crate::distributed::shares;
use crate::{Constraints, Coupling, DIM, Discretization, ElementData, ElementKernel, Laws};

/// The part of a rank, and the equation on it.
pub struct DistributedPart<K, const N: usize> {
    /// The part.
    pub part: Part,
    /// The equation.
    pub equation: Discretization<K, N>,
    /// How nodes and elements of the whole are shared; which nodes are whose, only the first rank knows.
    pub shares: Shares,
}

impl<K: ElementKernel<N>, const N: usize> DistributedPart<K, N> {
    /// The part of the first rank, which sends the others theirs of `whole`. They receive them by
    /// [`DistributedPart::receive`].
    pub fn deal(communicator: &dyn Communicator, whole: &Discretization<K, N>) -> Self {
        let partition = Partition::new(whole.mesh(), communicator.size());
        let shares = shares(&partition);
        let of_part = |part: usize| {
            let part = partition.part(whole.mesh(), part);
            (whole.on_part(&part), part)
        };

        for rank in 1..communicator.size() {
            let link = Link::new(communicator, rank);
            for layout in [Layout::Elements, Layout::Nodes] {
                let counts = shares.of(layout).map(Share::counts);
                link.send_numbers(&numbers(counts.unwrap_or_default()));
            }
            let (equation, part) = of_part(rank);
            send_part(&link, &part);
            send_equation(&link, &equation);
        }
        let (equation, part) = of_part(0);
        Self { part, equation, shares }
    }

    /// Receives the part of a later rank and builds its equation of `kernel`.
    ///
    /// # Errors
    /// [`BackendError`] if another rank has failed.
    pub fn receive(communicator: &dyn Communicator, kernel: K) -> Result<Self, BackendError> {
        let link = Link::new(communicator, 0);
        let [elements, nodes] = [(); 2].map(|()| counts(link.receive_numbers()));
        let part = receive_part(&link);
        let described = Described::receive(&link);
        communicator.check()?;

        let shares = Shares::new(Share::in_order(elements), Share::by(nodes, [].into()));
        Ok(Self { equation: described.on(&part, kernel), part, shares })
    }
}

fn send_part(link: &Link, part: &Part) {
    let Part { mesh, elements, n_own_elements, nodes, n_own_nodes, neighbors } = part;
    link.send(mesh.coordinates().as_flattened());
    link.send_numbers(&[u32::from(mesh.shape() == Shape::Tetrahedron)]);
    link.send_numbers(mesh.connectivity());
    link.send_numbers(elements);
    link.send_numbers(nodes);
    link.send_numbers(&numbers(&[*n_own_elements, *n_own_nodes, neighbors.len()]));
    for neighbor in neighbors {
        link.send_numbers(&[neighbor.part as u32]);
        link.send_numbers(&neighbor.sent_nodes);
        link.send_numbers(&neighbor.received_nodes);
        link.send_numbers(&neighbor.sent_elements);
        link.send_numbers(&neighbor.received_elements);
    }
}

fn receive_part(link: &Link) -> Part {
    let coordinates = link.receive().as_chunks().0.to_vec();
    let are_tetrahedra = link.receive_numbers() == [1];
    let shape = if are_tetrahedra { Shape::Tetrahedron } else { Shape::Hexahedron };
    let mesh = HexMesh::of_part(shape, coordinates, link.receive_numbers());
    let (elements, nodes) = (link.receive_numbers(), link.receive_numbers());
    let sizes = counts(link.receive_numbers());
    let [n_own_elements, n_own_nodes, n_neighbors] = sizes[..].try_into().unwrap_or([0; 3]);
    let neighbors = (0..n_neighbors).map(|_| Neighborhood {
        part: link.receive_numbers().first().map_or(0, |&part| part as usize),
        sent_nodes: link.receive_numbers(),
        received_nodes: link.receive_numbers(),
        sent_elements: link.receive_numbers(),
        received_elements: link.receive_numbers(),
    });
    let neighbors = neighbors.collect();
    Part { mesh, elements, n_own_elements, nodes, n_own_nodes, neighbors }
}

fn send_equation<K: ElementKernel<N>, const N: usize>(
    link: &Link,
    equation: &Discretization<K, N>,
) {
    link.send_numbers(&equation.constraints().masks());
    link.send(equation.constraints().springs().unwrap_or_default());
    let films = equation.constraints().films().iter();
    link.send_numbers(&films.clone().flat_map(|film| film.nodes).collect::<Vec<_>>());
    link.send(&films.map(|film| film.weight).collect::<Vec<_>>());
    link.send_numbers(equation.void());
    link.send_numbers(&[u32::from(equation.is_capacity_consistent())]);
    link.send(equation.elements().stretches().unwrap_or_default().as_flattened());
    let (values, numbers) = equation.elements().laws().map(Laws::packed).unwrap_or_default();
    link.send(&values);
    link.send_numbers(&numbers);
}

/// Data of an equation besides the mesh of its part and its kernel.
struct Described {
    masks: Vec<u32>,
    springs: Vec<f64>,
    /// Coupled nodes, and by how much.
    coupled: Vec<u32>,
    weights: Vec<f64>,
    void: Vec<u32>,
    is_capacity_consistent: bool,
    stretches: Vec<f64>,
    /// [`Laws::packed`], empty where there are none.
    laws: (Vec<f64>, Vec<u32>),
}

impl Described {
    /// Receives the data that [`send_equation`] sends.
    fn receive(link: &Link) -> Self {
        Self {
            masks: link.receive_numbers(),
            springs: link.receive(),
            coupled: link.receive_numbers(),
            weights: link.receive(),
            void: link.receive_numbers(),
            is_capacity_consistent: link.receive_numbers() == [1],
            stretches: link.receive(),
            laws: (link.receive(), link.receive_numbers()),
        }
    }

    fn on<K: ElementKernel<N>, const N: usize>(
        self,
        part: &Part,
        kernel: K,
    ) -> Discretization<K, N> {
        let coupled = self.coupled.as_chunks().0.iter().zip(self.weights);
        let films = coupled.map(|(&nodes, weight)| Coupling { nodes, weight }).collect();
        let constraints = Constraints::of_masks(&self.masks, self.springs).with_films(films);
        let equation = Discretization::new(part.mesh.clone(), kernel, constraints);
        let equation = equation.with_void(self.void).with_capacity(self.is_capacity_consistent);
        let stretches = self.stretches.as_chunks::<DIM>().0;
        equation.with_data(ElementData {
            stretches: (!stretches.is_empty()).then(|| stretches.into()),
            laws: Laws::unpacked(&self.laws.0, &self.laws.1),
        })
    }
}

fn numbers(counts: &[usize]) -> Vec<u32> {
    counts.iter().map(|&count| count as u32).collect()
}

fn counts(numbers: Vec<u32>) -> Vec<usize> {
    numbers.into_iter().map(|number| number as usize).collect()
}
