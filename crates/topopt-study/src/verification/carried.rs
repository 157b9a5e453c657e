//! What of a design stands on the supports, and which loads it carries.

use topopt_fem::{Discretization, LoadCase, Problem};
use topopt_mesh::{HexMesh, Region};

use crate::case_loads::CaseLoads;
use crate::finding::Finding;
use crate::physics::Physics;

/// The elements that carry, and the loads that they carry.
pub(super) struct Carried {
    /// Solid elements that are held against rigid motion, \[n_elements\].
    pub is_carrying: Vec<bool>,
    /// Whether a node belongs to one of those, \[n_nodes\].
    pub is_carrying_node: Vec<bool>,
    /// What was left out, a sentence each.
    pub notes: Vec<String>,
}

impl Carried {
    /// Of the elements `is_solid`, `[n_elements]`; those that share a node hold each other.
    /// Returned with the problem without loads on nodes of void elements alone, in which all that
    /// does not carry is void.
    ///
    /// # Errors
    /// What `stays`, `[n_nodes][N]`, acts whatever carries.
    ///
    /// # Errors
    /// A finding if a load acts on a part that is not held, or nothing is left of a load case.
    pub fn new<K: Physics<N>, const N: usize>(
        problem: &Problem<K, N>,
        is_solid: &[bool],
        stays: Option<&[f64]>,
    ) -> Result<(Self, Problem<K, N>), Finding> {
        let (mut carried, is_loose_node) = Self::held(problem, is_solid);
        let mut load_cases = problem.load_cases().to_vec();
        for case in &mut load_cases {
            let note = drop_loads::<K, N>(case, &carried.is_carrying_node, &is_loose_node, stays)?;
            carried.notes.extend(note);
        }

        let factors = problem.factors().clone();
        let problem = Problem::of(Discretization::clone(problem), load_cases)
            .and_then(|problem| problem.with_factors(factors));
        let problem = problem.map_err(|error| {
            let error = K::message(&error);
            Finding::new(format!("in the design of solid and void elements: {error}"))
                .remedy(REMEDY)
        })?;
        let is_empty = |e: &u32| !carried.is_carrying[*e as usize];
        let n = carried.is_carrying.len() as u32;
        let problem = problem.with_void((0..n).filter(is_empty).collect());
        Ok((carried, problem))
    }

    /// Leaves of `loads`, by nodes as the user numbers them, the forces on nodes that carry;
    /// `new_node` leads to the numbers of the problem.
    pub fn keep(&self, loads: &mut [CaseLoads], new_node: &[u32]) {
        let carries = |node: u32| self.is_carrying_node[new_node[node as usize] as usize];
        loads.iter_mut().for_each(|case| case.forces.retain(|&(node, _)| carries(node)));
    }

    /// What is held against rigid motion, and whether a node is of solid elements that are not,
    /// `[n_nodes]`.
    fn held<K: Physics<N>, const N: usize>(
        problem: &Problem<K, N>,
        is_solid: &[bool],
    ) -> (Self, Vec<bool>) {
        let mesh = problem.mesh();
        let mut is_carrying = vec![false; mesh.n_elements()];
        let mut is_carrying_node = vec![false; mesh.n_nodes()];
        let mut is_loose_node = vec![false; mesh.n_nodes()];
        let mut n_loose = 0;
        for group in groups(mesh, is_solid) {
            let mut nodes: Vec<u32> =
                group.iter().flat_map(|&e| mesh.hexes()[e as usize]).collect();
            nodes.sort_unstable();
            nodes.dedup();

            let held = problem.constraints();
            let is_held = problem.kernel().free_motions(held, mesh, &nodes).is_empty();
            let flags = if is_held { &mut is_carrying_node } else { &mut is_loose_node };
            nodes.iter().for_each(|&node| flags[node as usize] = true);
            group.iter().for_each(|&e| is_carrying[e as usize] = is_held);
            n_loose += usize::from(!is_held);
        }

        let mut notes = Vec::new();
        if n_loose > 0 {
            let (pieces, were) = if n_loose == 1 { ("piece", "was") } else { ("pieces", "were") };
            notes.push(format!(
                "{n_loose} {pieces} that no support holds {were} left out of the solve"
            ));
        }
        (Self { is_carrying, is_carrying_node, notes }, is_loose_node)
    }
}

/// Takes the forces out of `case` that act on nodes which carry nothing, except what `stays`, and
/// says so.
fn drop_loads<K: Physics<N>, const N: usize>(
    case: &mut LoadCase<N>,
    is_carrying_node: &[bool],
    is_loose_node: &[bool],
    stays: Option<&[f64]>,
) -> Result<Option<String>, Finding> {
    let stays = |node: usize| stays.map_or([0.0; N], |all| all.as_chunks::<N>().0[node]);
    // What does not stay: sum of the absolute components.
    let size = |node: usize, force: &[f64; N]| -> f64 {
        force.iter().zip(stays(node)).map(|(force, stays)| (force - stays).abs()).sum()
    };
    let (mut n_dropped, mut all, mut dropped, mut on_loose) = (0, 0.0, 0.0, 0.0);
    for (node, force) in case.forces.as_chunks_mut::<N>().0.iter_mut().enumerate() {
        let size = size(node, force);
        all += size;
        if size == 0.0 || is_carrying_node[node] {
            continue;
        }
        dropped += size;
        on_loose += if is_loose_node[node] { size } else { 0.0 };
        *force = stays(node);
        n_dropped += 1;
    }

    // A few specks beside a loaded face are no reason to refuse; a load that leads nowhere is.
    if on_loose > LOOSE * all {
        return Err(not_connected(&case.name));
    }

    Ok((n_dropped > 0).then(|| {
        let share = 100.0 * dropped / all;
        let nodes = if n_dropped == 1 { "node" } else { "nodes" };
        let and_loose = if on_loose > 0.0 { " and loose pieces" } else { "" };
        let loads = K::NAMES.loads;
        let were = if loads.ends_with('s') { "were" } else { "was" };
        format!(
            "load case `{}`: the {loads} on {n_dropped} {nodes} of void elements{and_loose}, \
             {share:.2} % of all, {were} left out",
            case.name
        )
    }))
}

/// Share of a load that may act on pieces that no support holds.
const LOOSE: f64 = 0.1;

const REMEDY: &str = "give a smaller `--threshold`, or run more iterations";

fn not_connected(case: &str) -> Finding {
    let message = format!("no solid elements connect load case `{case}` with the supports");
    Finding::new(message).remedy(REMEDY)
}

/// The solid elements in groups that share no node.
fn groups(mesh: &HexMesh, is_solid: &[bool]) -> Vec<Vec<u32>> {
    let parts = Region::new(mesh, is_solid).parts();
    let mut group: Vec<usize> = (0..parts.len()).collect();
    let mut first_at = vec![None; mesh.n_nodes()];

    // Two parts that meet in a node are one group, which the smaller number names.
    for (part, elements) in parts.iter().enumerate() {
        for node in elements.iter().flat_map(|&e| mesh.hexes()[e as usize]) {
            let first = *first_at[node as usize].get_or_insert(part);
            let (a, b) = (root(&group, first), root(&group, part));
            group[a.max(b)] = a.min(b);
        }
    }

    let mut groups = vec![Vec::new(); parts.len()];
    for (part, elements) in parts.iter().enumerate() {
        groups[root(&group, part)].extend(elements);
    }
    groups.retain(|group| !group.is_empty());
    groups
}

fn root(group: &[usize], mut part: usize) -> usize {
    while group[part] != part {
        part = group[part];
    }
    part
}
