//! Shapes of the hexahedra near what was mapped: first untangled, then improved, then the worst.

use rayon::prelude::*;
use topopt_mesh::hexahedron::EDGES;
use topopt_mesh::quality::scaled_jacobian;

use crate::draft::Draft;
use crate::energy::Form;
use crate::fit::{Bound, Fit, Slide};
use crate::objective::Objective;
use crate::surface::Vec3;

/// Layers of hexahedra around moved nodes that are optimized.
const LAYERS: usize = 3;
/// Layers around transitions: with more, small elements grow by a tenth, and shapes gain nothing.
const LAYERS_BY_TRANSITIONS: usize = 0;
/// Rounds between which nodes return to the surface: untangling, then the higher power.
const ROUNDS: usize = 10;
const POLISH: usize = 6;
/// Steps of a round.
const STEPS: usize = 20;
/// Relative change of the energy in a round below which rounds end.
const SETTLED: f64 = 2e-4;
/// Powers of the rounds that raise the worst.
const LOCAL_POWERS: [i32; 4] = [6, 10, 14, 14];
/// Distance, in cells, of a node that counts as moved.
const MOVED: f64 = 1e-6;

/// Moves the nodes of `draft` to their places and to good shapes. `n_grid`: number of nodes that
/// the grid has made; layers have made the others.
pub(crate) fn optimize(draft: &mut Draft, fit: &Fit, n_grid: usize) {
    let grid = draft.points.clone();
    fit.place_curves(&mut draft.points, draft.size);
    let seeds = seeds(draft, fit, &grid, n_grid);
    let active = grown(draft, &seeds, LAYERS);
    let region = Region::new(draft, &active);
    if region.objective.is_empty() {
        return;
    }
    start(draft, fit, &region);
    untangle(draft, fit, &region);
    raise_worst(draft, fit);
}

/// Moves the nodes from number `n_before` on, which divisions have made, to the faces and curves
/// that they belong to, and the nodes near these and near transitions to good shapes.
pub(crate) fn settle(draft: &mut Draft, fit: &Fit, of_transition: &[bool], n_before: usize) {
    let old = draft.points.clone();
    let is_new: Vec<bool> = (0..old.len()).map(|v| v >= n_before).collect();
    fit.project(&mut draft.points, &is_new, true);
    let moved = |v: usize| (draft.points[v] - old[v]).norm() > MOVED * draft.size;
    let seeds: Vec<bool> = (0..old.len()).map(moved).collect();
    let near_skin = grown(draft, &seeds, LAYERS);
    let near_transitions = grown(draft, of_transition, LAYERS_BY_TRANSITIONS);
    let active: Vec<bool> =
        near_skin.into_iter().zip(near_transitions).map(|(a, b)| a || b).collect();
    let region = Region::new(draft, &active);
    if region.objective.is_empty() {
        return;
    }
    if least_determinant(draft, &region, Form { epsilon: 1e-10, power: 1 }) > 0.0 {
        polish(draft, fit, &region);
    } else {
        untangle(draft, fit, &region);
    }
    raise_worst(draft, fit);
}

/// Hexahedra that are optimized together, and whether a node may move: all of its hexahedra are
/// among them.
struct Region {
    objective: Objective,
    is_free: Vec<bool>,
}

impl Region {
    fn new(draft: &Draft, active: &[bool]) -> Self {
        let chosen: Vec<u32> = (0..).zip(active).filter(|(_, is)| **is).map(|(e, _)| e).collect();
        let mut is_free = vec![true; draft.points.len()];
        for (hex, _) in draft.hexes.iter().zip(active).filter(|(_, is)| !**is) {
            hex.iter().for_each(|&v| is_free[v as usize] = false);
        }
        let objective = Objective::new(&draft.hexes, &draft.sizes, &chosen, draft.smallest());
        Self { objective, is_free }
    }

    /// Coordinates of the objective's nodes.
    fn gather<T: Copy>(&self, of_all: &[T]) -> Vec<T> {
        self.objective.nodes.iter().map(|&v| of_all[v as usize]).collect()
    }

    fn scatter(&self, x: &[Vec3], points: &mut [Vec3]) {
        self.objective.nodes.iter().zip(x).for_each(|(&v, x)| points[v as usize] = *x);
    }
}

/// Nodes that are not where the grid has them, or that layers have made.
fn seeds(draft: &Draft, fit: &Fit, grid: &[Vec3], n_grid: usize) -> Vec<bool> {
    let mut projected = draft.points.clone();
    fit.project(&mut projected, &vec![true; grid.len()], true);
    let moved = |v: usize| v >= n_grid || (projected[v] - grid[v]).norm() > MOVED * draft.size;
    (0..grid.len()).into_par_iter().map(moved).collect()
}

/// Hexahedra within `layers` of the nodes that are set.
fn grown(draft: &Draft, seeds: &[bool], layers: usize) -> Vec<bool> {
    let mut nodes = seeds.to_vec();
    let mut active = Vec::new();
    for _ in 0..=layers {
        active = draft.hexes.par_iter().map(|hex| hex.iter().any(|&v| nodes[v as usize])).collect();
        for (hex, _) in draft.hexes.iter().zip(&active).filter(|(_, is): &(_, &bool)| **is) {
            hex.iter().for_each(|&v| nodes[v as usize] = true);
        }
    }
    active
}

/// Spreads the nodes of patches over them, then those inside, by means of their neighbors.
fn start(draft: &mut Draft, fit: &Fit, region: &Region) {
    let mut on_skin = vec![Vec::new(); draft.points.len()];
    for (a, b) in draft.quads.iter().flat_map(|quad| quad.edges()) {
        on_skin[a as usize].push(b);
    }
    let mean = |own: &[u32], points: &[Vec3]| -> Vec3 {
        own.iter().map(|&v| points[v as usize]).sum::<Vec3>() / own.len() as f64
    };
    let is_of_patch = |v: usize| region.is_free[v] && matches!(fit.bounds[v], Bound::Patch(_));
    let of_patches: Vec<bool> = (0..draft.points.len()).map(is_of_patch).collect();
    for step in 0..=12 {
        if step % 3 == 0 {
            fit.project(&mut draft.points, &of_patches, false);
        }
        if step < 12 {
            let old = draft.points.clone();
            let moving = draft.points.par_iter_mut().zip(&on_skin).zip(&of_patches);
            moving.filter(|(_, is)| **is).for_each(|((x, own), _)| *x = mean(own, &old));
        }
    }

    let mut inside = vec![Vec::new(); draft.points.len()];
    for hex in &draft.hexes {
        for (a, b) in EDGES.map(|[a, b]| (hex[a], hex[b])) {
            inside[a as usize].push(b);
            inside[b as usize].push(a);
        }
    }
    for own in &mut inside {
        own.sort_unstable();
        own.dedup();
    }
    for _ in 0..8 {
        let old = draft.points.clone();
        let free = |v: usize| region.is_free[v] && fit.bounds[v] == Bound::Free;
        let moving = draft.points.par_iter_mut().zip(&inside).enumerate();
        moving
            .filter(|(v, _)| free(*v))
            .for_each(|(_, (x, own))| *x = *x * 0.5 + mean(own, &old) * 0.5);
    }
}

/// Lowers the regularization while the least determinant rises [Garanzha2021], then polishes.
fn untangle(draft: &mut Draft, fit: &Fit, region: &Region) {
    let mut epsilon = 1.0;
    for round in 0..ROUNDS {
        let form = Form { epsilon, power: 1 };
        let found = descend(draft, fit, region, form, STEPS);
        let least = least_determinant(draft, region, form);
        let change = 1.0 - found.after / found.before;
        if least > 0.0 && round > 2 && change.abs() < SETTLED {
            break;
        }
        let root = (epsilon * epsilon + least * least).sqrt();
        let chi =
            if least > 0.0 { 0.5 * (least + root) } else { 0.5 * epsilon.powi(2) / (root - least) };
        let wanted = (1.0 - change.max(0.5)) * chi;
        epsilon =
            if least < wanted { 2.0 * (wanted * (wanted - least)).max(0.0).sqrt() } else { 0.0 };
        epsilon = epsilon.max(1e-10);
    }
    polish(draft, fit, region);
}

/// Takes the energy to the third power.
fn polish(draft: &mut Draft, fit: &Fit, region: &Region) {
    for _ in 0..POLISH {
        let least = least_determinant(draft, region, Form { epsilon: 1e-10, power: 1 });
        let epsilon = if least <= 0.0 { 1e-3 } else { 1e-10 };
        let found = descend(draft, fit, region, Form { epsilon, power: 3 }, STEPS);
        if (1.0 - found.after / found.before).abs() < SETTLED {
            break;
        }
    }
    fit.project(&mut draft.points, &region.is_free, true);
}

fn descend(
    draft: &mut Draft,
    fit: &Fit,
    region: &Region,
    form: Form,
    steps: usize,
) -> crate::objective::Search {
    let slides = region.gather(&fit.project(&mut draft.points, &region.is_free, false));
    let mut x = region.gather(&draft.points);
    let found = region.objective.minimize(form, &mut x, &slides, steps);
    region.scatter(&x, &mut draft.points);
    fit.project(&mut draft.points, &region.is_free, false);
    found
}

fn least_determinant(draft: &Draft, region: &Region, form: Form) -> f64 {
    let x = region.gather(&draft.points);
    let mut gradient = vec![Vec3::zeros(); x.len()];
    region.objective.evaluate(form, &x, &vec![Slide::Held; x.len()], &mut gradient).1
}

/// Improves the hexahedra around the worst ones alone, with powers that make the worst count most;
/// keeps what raises the minimum.
fn raise_worst(draft: &mut Draft, fit: &Fit) {
    for power in LOCAL_POWERS {
        let quality = qualities(draft);
        let worst = quality.iter().copied().fold(f64::INFINITY, f64::min);
        let bad = (worst + 0.15).clamp(0.45, 0.6);
        let mut nodes = vec![false; draft.points.len()];
        for (hex, _) in draft.hexes.iter().zip(&quality).filter(|(_, q)| **q < bad) {
            hex.iter().for_each(|&v| nodes[v as usize] = true);
        }
        let region = Region::new(draft, &grown(draft, &nodes, 1));
        if region.objective.is_empty() {
            return;
        }
        let old = draft.points.clone();
        let epsilon = if worst > 0.0 { 1e-10 } else { 1e-2 };
        descend(draft, fit, &region, Form { epsilon, power }, 2 * STEPS);
        fit.project(&mut draft.points, &region.is_free, true);
        let raised = qualities(draft).into_iter().fold(f64::INFINITY, f64::min);
        if raised < worst {
            draft.points = old;
        }
        if raised < worst + 0.002 {
            return;
        }
    }
}

/// Scaled Jacobian of each hexahedron.
pub(crate) fn qualities(draft: &Draft) -> Vec<f64> {
    let of = |hex: &[u32; 8]| scaled_jacobian(&hex.map(|v| draft.points[v as usize].into()));
    draft.hexes.par_iter().map(of).collect()
}
