//! The part of a design that stands on the supports, and the problem of that alone.

use topopt_fem::{Constraints, LoadCase, Problem};
use topopt_mesh::Renumbering;
use topopt_mesh::numbers::{place, shown};

use topopt_case::case_loads::CaseLoads;
use topopt_case::finding::Finding;
use topopt_case::model::on_all_nodes;
use topopt_case::physics::Physics;
use topopt_case::pieces::{NO_PIECE, Pieces};

/// The elements that carry.
pub struct Carried {
    /// Solid elements that are held against rigid motion, `[n_elements]`.
    pub is_carrying: Vec<bool>,
    /// Whether a node belongs to one of those, `[n_nodes]`.
    pub is_carrying_node: Vec<bool>,
    /// Whether a node belongs to a piece that nothing holds, `[n_nodes]`.
    pub is_loose_node: Vec<bool>,
    pieces: Pieces,
    is_held: Vec<bool>,
}

impl Carried {
    /// Finds the carrying part of the elements `is_solid`, `[n_elements]`; those that share a node
    /// hold each other.
    pub fn of<K: Physics<N>, const N: usize>(problem: &Problem<K, N>, is_solid: &[bool]) -> Self {
        let mesh = problem.mesh();
        let pieces = Pieces::of(mesh, is_solid);
        let is_held = pieces.held(problem);
        let nodes = |wanted: bool| -> Vec<bool> {
            let is_wanted = |&piece: &u32| piece != NO_PIECE && is_held[piece as usize] == wanted;
            pieces.of_node.iter().map(is_wanted).collect()
        };
        let [is_carrying_node, is_loose_node] = [true, false].map(nodes);
        let carries =
            |(nodes, solid): (&[u32], &bool)| *solid && is_carrying_node[nodes[0] as usize];
        let is_carrying = mesh.elements().zip(is_solid).map(carries).collect();
        Self { is_carrying, is_carrying_node, is_loose_node, pieces, is_held }
    }

    /// The problem under `loads`, by nodes as the user numbers them, in which all that does not
    /// carry is void; `springs` are there besides its own.
    ///
    /// # Errors
    /// A finding if nothing is left of a load case.
    pub fn problem<K: Physics<N>, const N: usize>(
        &self,
        problem: &Problem<K, N>,
        loads: &[CaseLoads<N>],
        springs: &[(u32, [f64; N])],
        renumbering: &Renumbering,
    ) -> Result<Problem<K, N>, Finding> {
        let new_node = renumbering.new_nodes();
        let in_problem = |(node, value): &(u32, [f64; N])| (new_node[*node as usize], *value);
        let case = |(case, loads): (&LoadCase<N>, &CaseLoads<N>)| {
            let forces: Vec<_> = loads.forces.iter().map(in_problem).collect();
            let forces = on_all_nodes(new_node.len(), &forces).into_flattened();
            LoadCase { forces, ..case.clone() }
        };
        let cases = problem.load_cases().iter().zip(loads).map(case).collect();

        let springs: Vec<_> = springs.iter().map(in_problem).collect();
        let constraints = with_springs(problem.held().clone(), &springs);
        let factors = problem.factors().clone();
        let equation = problem.with_constraints(constraints);
        let made = match problem.free_part() {
            Some(_) => Problem::relieved(equation, cases, &self.carrying_nodes()),
            None => Problem::of(equation, cases),
        };
        let made = made.and_then(|problem| problem.with_factors(factors));
        let made = made.map_err(|error| {
            let error = K::message(&error);
            Finding::new(format!("in the design of solid and void elements: {error}"))
                .remedy(REMEDY)
        })?;
        let is_empty = |e: &u32| !self.is_carrying[*e as usize];
        let n = self.is_carrying.len() as u32;
        Ok(made.with_void((0..n).filter(is_empty).collect()))
    }

    /// Numbers of the carrying nodes.
    fn carrying_nodes(&self) -> Vec<u32> {
        let nodes = (0..).zip(&self.is_carrying_node).filter(|(_, carries)| **carries);
        nodes.map(|(node, _)| node).collect()
    }

    /// The pieces that carry nothing under the loads of `problem`, a sentence each.
    pub fn idle_pieces<K: Physics<N>, const N: usize>(
        &self,
        problem: &Problem<K, N>,
        volumes: &[f64],
    ) -> Vec<String> {
        let is_loaded = self.pieces.loaded(problem);
        let volume = self.pieces.volumes(problem.mesh(), volumes);
        let total: f64 = volumes.iter().sum();

        let mut said = Vec::new();
        for (piece, nodes) in self.pieces.nodes().iter().enumerate() {
            let why = match (self.is_held[piece], is_loaded[piece]) {
                (true, true) => continue,
                (true, false) => "no load reaches: it carries nothing",
                (false, _) => "nothing holds: it was left out of the solve",
            };
            let x = problem.mesh().coordinates();
            let center = std::array::from_fn(|i| {
                nodes.iter().map(|&n| x[n as usize][i]).sum::<f64>() / nodes.len() as f64
            });
            let share = shown(100.0 * volume[piece] / total);
            said.push(format!(
                "a piece about {}, {share} % of the volume, that {why}",
                place(center)
            ));
        }
        let n = said.len();
        if n > MOST_PIECES {
            said.truncate(MOST_PIECES);
            said.push(format!("and {} more such pieces", n - MOST_PIECES));
        }
        said
    }
}

/// Pieces that are said one by one.
const MOST_PIECES: usize = 5;

fn with_springs<const N: usize>(
    mut constraints: Constraints<N>,
    springs: &[(u32, [f64; N])],
) -> Constraints<N> {
    for (node, stiffness) in springs {
        let there = (0..N).filter(|&i| stiffness[i] > 0.0);
        there.for_each(|i| constraints.add_spring(*node as usize, i, stiffness[i]));
    }
    constraints
}

/// Remedy where the shape does not hang together.
pub(super) const REMEDY: &str = "give a smaller `--threshold`, or run more iterations";
