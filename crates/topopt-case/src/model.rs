//! `Model`: a case prepared for computation, with the renumbered problem and the space of designs.

use std::ops::Deref;

use topopt_design::{Course, DesignSpace, Stage};
use topopt_fem::{
    Constraints, Coupling, DIM, Discretization, Elasticity, ElementFactors, LoadCase, Problem,
};
use topopt_io::UncutCells;
use topopt_mesh::numbers::{place, shown};
use topopt_mesh::quality::{Quality, Worst};
use topopt_mesh::{HexMesh, Renumbering, UniformGrid};

use crate::candidates;
use crate::case::Case;
use crate::case_loads::CaseLoads;
use crate::config::{Capacity, Config, Continuation, Transient};
use crate::diagnosis::Diagnosis;
use crate::filter_plan::FilterPlan;
use crate::finding::{Finding, InputError};
use crate::kept::Kept;
use crate::lookup::sorted;
use crate::manufacturing::{self, Folds};
use crate::materials::{self, MaterialShare};
use crate::own::PosedMaps;
use crate::physics::{Loaded, Physics};
use crate::refusal::{nothing_free, refused};
use crate::subject::{Half, Subject, Task};

/// A case ready to be solved. The problem is numbered along chords of the mesh, for the memory; the
/// mesh is the user's.
pub struct Model<K = Elasticity, const N: usize = DIM> {
    /// The mesh as the user numbers it.
    pub mesh: HexMesh,
    /// Renumbering from the mesh file to the problem.
    pub renumbering: Renumbering,
    /// The renumbered problem.
    pub problem: Problem<K, N>,
    /// Half that a run solves in place of the whole, see [`Model::ready`].
    pub half: Option<Half<K, N>>,
    /// Design space, filter, objective, constraints and stages, in the problem's numbering.
    pub task: Task,
    /// Nodes and elements that loads act on, in user numbers; none: every node with a load.
    pub loaded: Option<Loaded>,
    /// Elements that stay solid at loads and supports, in the user's numbers.
    pub kept: Kept,
    /// Places that are to have equal densities.
    pub equal: Folds,
    /// Warning of elements that stay solid in the air however much is printed, see
    /// [`Model::ready`].
    pub in_the_air: Option<String>,
    /// Materials of the elements, `[material]` first.
    pub materials: Vec<MaterialShare>,
    /// Mean width of an element, see [`HexMesh::element_width`].
    pub element_width: f64,
    /// Reference Young's modulus or conductivity; the moduli of the stiffness are multiples of it.
    pub solid_modulus: f64,
    /// The cells of the mesh file, where the design is written on them too.
    pub uncut: Option<UncutCells>,
    /// The grid of design.vti, if there is one.
    pub grid: Option<UniformGrid>,
    /// Notes on data left out or changed, one sentence each.
    pub notes: Vec<String>,
    /// Quality, connectivity and warnings of mesh and loads.
    pub diagnosis: Diagnosis,
}

impl<K, const N: usize> Deref for Model<K, N> {
    type Target = Task;

    fn deref(&self) -> &Task {
        &self.task
    }
}

impl<K: Physics<N>, const N: usize> Model<K, N> {
    /// Builds the problem of a case; its elements come by color where a computer `needs_colors`.
    ///
    /// # Errors
    /// A flat element, supports that leave rigid motions free, a load that does no work, a grid
    /// that is too fine.
    pub fn build(
        config: &Config,
        mut case: Case<N>,
        needs_colors: bool,
    ) -> Result<Self, InputError> {
        let mut notes = std::mem::take(&mut case.notes);
        notes.extend(config.method_in_words());
        let quality = Quality::of(&case.mesh);
        InputError::if_any(flat(config, &case, &quality).into_iter().collect())?;
        let volumes = case.mesh.volumes();
        let element_width = HexMesh::width_of(&volumes);
        let grid = grid(config, &case.mesh, element_width, &mut notes)?;

        let renumbered = || renumbered(&case.mesh, needs_colors);
        let (diagnosis, renumbered) =
            rayon::join(|| Diagnosis::of(config, &case, &quality), renumbered);
        let (renumbering, colors) = renumbered;
        let problem = problem::<K, N>(config, &case, &renumbering)?;
        let lookup = case.lookup(config);
        let materials = (&case.materials[..], &case.fields);
        let timeline = K::timeline(&lookup, &case.fixed, materials, &renumbering)?;
        let materials = MaterialShare::all::<K, N>(config, &case);
        notes.extend(K::notes(config, &case.load_cases));
        notes.extend(case.kept.notes.iter().cloned());

        let new_element = renumbering.new_elements();
        let of_problem =
            |elements: &[u32]| sorted(elements.iter().map(|&e| new_element[e as usize]).collect());
        let measures = (&volumes[..], element_width);
        let shared =
            manufacturing::shared::<K, N>(config, &case, &renumbering, measures, &mut notes)?;
        let passive = [&case.solid, &case.void].map(|elements| of_problem(elements));
        let passive = manufacturing::closed(config, problem.mesh(), passive, &mut notes)?;
        let [solid, void] = manufacturing::with_images(config, shared.as_ref(), passive)?;
        let own = [of_problem(&case.solid_by_name()), void.clone()];
        let [fixed, _] = manufacturing::with_images(config, shared.as_ref(), own)?;
        let problem = problem.with_void(void.clone());
        let space = DesignSpace::new(
            config.design.density_min,
            config.initial_volume().unwrap_or(INITIAL_VOLUME),
            renumbering.elements_from_original(&volumes),
            solid,
            void,
        );
        let sweeps =
            manufacturing::sweeps(config, &case, &renumbering, problem.mesh(), &mut notes)?;
        let openings = manufacturing::openings(config, &case, &renumbering, problem.mesh())?;
        let (space, equal) = match shared {
            Some(shared) => (space.with_variables(shared.shares, shared.have_ends), shared.folds),
            None => (space, Vec::new()),
        };
        let sheet = manufacturing::sheet(config, &space, problem.mesh(), &mut notes)?;
        let space = space.with_sweeps(sweeps).with_sheet(sheet).with_openings(openings);
        let resting = manufacturing::resting(config, &space, &fixed);
        let space = space.with_resting(resting);
        let space = space.with_candidates(candidates::of(config));

        let filter = FilterPlan::of(config, element_width);
        let stages = stages(config, element_width);
        let posed = std::mem::take(&mut case.posed).renumbered(&renumbering);
        let has_springs = !case.springs.is_empty();
        let is_mechanism = config.transient.is_none() && posed.is_of_mechanism(has_springs);
        let space = manufacturing::sized(config, filter.radius(), (&problem, is_mechanism), space);
        let task = Task {
            space,
            filter,
            posed,
            stages,
            timeline,
            colors,
            contrast: contrast(config, &materials),
            mass_density: materials::reference_density(config),
            element_width,
            own: PosedMaps::default(),
        };
        let model = Self {
            mesh: case.mesh,
            uncut: case.uncut,
            renumbering,
            problem,
            half: None,
            task,
            loaded: case.loaded,
            kept: case.kept,
            equal,
            in_the_air: None,
            materials,
            element_width,
            solid_modulus: K::coefficient(config),
            grid,
            notes,
            diagnosis,
        };
        Ok(model)
    }

    /// Whether loads act on a node, `[n_nodes]` in the order of the problem: convection is none.
    pub fn loaded_nodes(&self) -> Vec<bool> {
        let Some(loaded) = &self.loaded else { return vec![true; self.mesh.n_nodes()] };
        let mut acts = vec![false; self.mesh.n_nodes()];
        let within =
            loaded.elements.iter().flat_map(|&e| self.mesh.element(e as usize).iter().copied());
        loaded.nodes.iter().copied().chain(within).for_each(|node| acts[node as usize] = true);
        self.renumbering.nodes_from_original(&acts)
    }

    /// Returns the task and the problem, as a computer takes them, which solves all of it.
    pub fn subject(&self) -> Subject<'_, K, N> {
        Subject { task: &self.task, problem: &self.problem, equation: &self.problem, half: None }
    }

    /// Young's moduli of solid elements in the order of the problem, `[n_elements]`.
    pub fn solid_moduli(&self) -> Vec<f64> {
        let modulus = self.solid_modulus;
        match &self.problem.factors().stiffness {
            Some(factors) => factors.iter().map(|factor| factor * modulus).collect(),
            None => vec![modulus; self.mesh.n_elements()],
        }
    }

    /// Number of unknowns that are not held.
    pub fn n_free_dofs(&self) -> usize {
        self.problem.n_dofs() - self.problem.held().n_fixed()
    }
}

/// Share of the volume that a run starts with where the case says nothing of it.
const INITIAL_VOLUME: f64 = 0.5;

/// The smallest modulus of a design of `materials`, as a share of the largest, in all stages.
fn contrast(config: &Config, materials: &[MaterialShare]) -> f64 {
    let moduli = materials.iter().map(|material| material.coefficient());
    let least = moduli.clone().map(|moduli| moduli.least).fold(f64::INFINITY, f64::min);
    config.contrast() * least / moduli.map(|moduli| moduli.most).fold(0.0, f64::max)
}

/// The worst element, if it is inverted or as good as flat.
fn flat<const N: usize>(config: &Config, case: &Case<N>, quality: &Quality) -> Option<Finding> {
    let worst = Worst::among(&case.mesh, &quality.scaled_jacobian);
    let worst = Some(worst).filter(|worst| worst.is_flat())?;
    let center = case.mesh.center(worst.element as usize);
    let message = format!(
        "element {} at {} is inverted or flat: its scaled Jacobian is {:.3e}, and at least \
         {} is needed",
        case.element_number(worst.element),
        place(center),
        worst.scaled_jacobian,
        shown(worst.least)
    );
    let remedy = "improve the mesh there; `topopt check CASE --preview FILE.vtu` shows the scaled \
                  Jacobian of every element in ParaView";
    let file = config.mesh.get_ref().file.as_ref();
    let span = file.map_or_else(|| config.mesh.span(), |file| file.span());
    Some(Finding::new(message).at(config.source(), span, "this mesh").remedy(remedy))
}

/// The numbering of a problem on `mesh`; where elements come by color, how many have each.
fn renumbered(mesh: &HexMesh, needs_colors: bool) -> (Renumbering, Option<Vec<usize>>) {
    let renumbering = Renumbering::on_import(mesh);
    if !needs_colors {
        return (renumbering, None);
    }
    let (renumbering, colors) = renumbering.by_color(mesh);
    (renumbering, Some(colors))
}

fn problem<K: Physics<N>, const N: usize>(
    config: &Config,
    case: &Case<N>,
    renumbering: &Renumbering,
) -> Result<Problem<K, N>, InputError> {
    let kernel = K::of(config)?;
    let (n_nodes, new_node) = (case.mesh.n_nodes(), renumbering.new_nodes());
    let nodal = |values: &[(u32, [f64; N])]| {
        let values: Vec<_> =
            values.iter().map(|&(n, value)| (new_node[n as usize], value)).collect();
        on_all_nodes(n_nodes, &values).into_flattened()
    };

    let load_case = |load: &CaseLoads<N>| {
        Ok(LoadCase {
            weight: load.weight,
            body_force: K::body_force(config, load),
            // In time these are part of the timeline.
            prescribed: (config.transient.is_none() && !load.displacements.is_empty())
                .then(|| nodal(&load.displacements)),
            thermal: K::thermal_strains(config, &case.materials, load, renumbering)?,
            ..LoadCase::new(load.name.as_str(), nodal(&load.forces))
        })
    };

    let loads = case.load_cases.iter().map(load_case).collect::<Result<_, Finding>>()?;
    let ElementFactors { stiffness, mass } = materials::factors::<K, N>(config, case);
    let of_problem = |factors: Vec<f64>| renumbering.elements_from_original(&factors);
    let factors =
        ElementFactors { stiffness: stiffness.map(of_problem), mass: mass.map(of_problem) };
    let mesh = renumbering.apply(&case.mesh);
    let is_consistent = |keys: &Transient| keys.capacity == Capacity::Consistent;
    let discretization = Discretization::new(mesh, kernel, constraints(case, &new_node))
        .with_capacity(config.transient.as_ref().is_some_and(is_consistent))
        .with_data(K::element_data(config, (&case.materials, &case.fields), renumbering)?);
    let problem = match config.transient {
        None if config.inertia_relief => {
            let anchors = solid_nodes(case, &new_node);
            Problem::relieved(discretization, loads, &anchors)
        }
        None => Problem::of(discretization, loads),
        Some(_) => Problem::evolving(discretization, loads),
    };
    if config.inertia_relief && problem.as_ref().is_ok_and(|problem| problem.free_part().is_none())
    {
        return Err(nothing_free(config).into());
    }
    problem
        .and_then(|problem| problem.with_factors(factors))
        .and_then(|problem| problem.check_deformed().map(|()| problem))
        .map_err(|error| refused::<K, N>(config, case, &error).into())
}

/// Nodes of elements that stay solid, or of all that are not void where none does, by increasing
/// number in the problem.
fn solid_nodes<const N: usize>(case: &Case<N>, new_node: &[u32]) -> Vec<u32> {
    let is_chosen = |e: &u32| match case.solid.as_slice() {
        [] => case.void.binary_search(e).is_err(),
        solid => solid.binary_search(e).is_ok(),
    };
    let elements = (0..case.mesh.n_elements() as u32).filter(is_chosen);
    let nodes = elements.flat_map(|e| case.mesh.element(e as usize));
    sorted(nodes.map(|&node| new_node[node as usize]).collect())
}

fn constraints<const N: usize>(case: &Case<N>, new_node: &[u32]) -> Constraints<N> {
    let mut constraints = Constraints::none(new_node.len());
    for (component, nodes) in case.fixed.iter().enumerate() {
        nodes.iter().for_each(|&n| constraints.fix(new_node[n as usize] as usize, component));
    }
    for &(node, stiffness) in &case.springs {
        let node = new_node[node as usize] as usize;
        let there = (0..N).filter(|&i| stiffness[i] > 0.0);
        there.for_each(|i| constraints.add_spring(node, i, stiffness[i]));
    }
    let renumbered = |film: &Coupling| Coupling {
        nodes: film.nodes.map(|node| new_node[node as usize]),
        weight: film.weight,
    };
    constraints.with_films(case.films.iter().map(renumbered).collect())
}

/// Vectors on `n` nodes, 0 where there is none.
pub fn on_all_nodes<const N: usize>(n: usize, values: &[(u32, [f64; N])]) -> Vec<[f64; N]> {
    let mut all = vec![[0.0; N]; n];
    values.iter().for_each(|&(node, value)| all[node as usize] = value);
    all
}

/// The stages of the continuation.
fn stages(config: &Config, element_width: f64) -> Vec<Stage> {
    let methods = config.methods();
    let mut method = config.optimizer.method;
    let stage = |entry: &Continuation| {
        let in_elements = entry.filter_radius_in_elements.map(|widths| widths * element_width);
        let constant = |value: Option<f64>| value.map(Course::constant);
        method = entry.method.unwrap_or(method);
        Stage {
            from: entry.from,
            penalty: entry.penalty.map(Course::from),
            filter_radius: constant(
                entry
                    .filter_radius
                    .or(in_elements)
                    .map(|radius| config.filter_radius(radius, element_width)),
            ),
            sharpness: constant(entry.sharpness),
            half_width: entry.half_width.map(Course::from),
            excess: entry.excess.map(Course::from),
            tolerance: entry.tolerance.map(Course::from),
            move_limit: constant(entry.move_limit),
            optimizer: methods.iter().position(|other| *other == method),
            is_frozen: Some(method.is_of_criteria()),
        }
    };
    config.continuation.iter().map(stage).collect()
}

/// Cells of design.vti for each element at most, unless it has fewer than the least number: a mesh
/// of needles would need any number, and a search in its elements for each.
const CELLS_PER_ELEMENT: usize = 1000;
const LEAST_CELLS: usize = 1 << 20;

/// The grid of design.vti: of the spacing asked for, else of one element width, coarser if that
/// would be too many cells.
fn grid(
    config: &Config,
    mesh: &HexMesh,
    element_width: f64,
    notes: &mut Vec<String>,
) -> Result<Option<UniformGrid>, InputError> {
    let bounds = mesh.bounding_box();
    match config.output.vti_spacing {
        Some(0.0) => Ok(None),
        Some(spacing) => UniformGrid::covering(&bounds, spacing).map(Some).map_err(|error| {
            InputError::from(Finding::new(format!("output.vti_spacing: {error}")))
        }),
        None => {
            let most = (CELLS_PER_ELEMENT * mesh.n_elements()).max(LEAST_CELLS);
            let grid = UniformGrid::covering_by_at_most(most, &bounds, element_width).ok();
            let spacing = grid.as_ref().map(|grid| grid.spacing);
            if let Some(coarser) = spacing.filter(|spacing| *spacing > element_width) {
                notes.push(format!("design.vti has spacing {coarser:.3e}, coarser than the mesh"));
            }
            Ok(grid)
        }
    }
}
