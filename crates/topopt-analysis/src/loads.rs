//! The right-hand sides of all load cases, and their terms in objective and sensitivities.
//!
//! The objective of a load case is C = -2 Pi with the potential energy Pi = u^T (K + S) u / 2 - f^T
//! u at equilibrium \[KlarbringStromberg2013\]; without prescribed displacements that is the
//! compliance f^T u. Written u = v + u_D with v zero at held components, v solves (K + S) v = f - K
//! u_D. As Pi is stationary in v, only its explicit dependence on the design counts: dC/drho_e =
//! -E'(rho_e) u_e^T K_e u_e + 2 u_e . df_e/drho_e.
//!
//! Thermal strains act by forces E(rho_e) q_e, with one law for stiffness and forces, so that no
//! material strains more than another by its own heat \[GaoZhang2010\]: dC/drho_e = -E'(rho_e)
//! (u_e^T K_e u_e - 2 v_e . q_e).
//!
//! A free part is balanced by its inertia, see [`InertiaRelief`]: v is then the solution with pins,
//! and u has a rigid motion besides.

mod displacements;
mod own;
mod relieved;

use topopt_fem::{
    Acting, Coupling, ElementOperator, ElementVectors, InertiaRelief, ProblemView, RigidMotion,
    add_film_flows,
};
use topopt_linalg::{Backend, BackendError, Space};

use crate::own_forces::OwnForces;

/// Right-hand sides of all load cases on a backend; parts that depend on the design are assembled
/// again for each design.
pub struct Loads<B: Backend> {
    /// Space of forces and states.
    nodes: Space,
    cases: Vec<CaseLoads<B>>,
    /// Stiffness of the springs to the ground.
    springs: Option<B::Vector>,
    /// Couplings of nodes by films, which are part of S as well; none where no case has u_D.
    films: Option<Vec<Coupling>>,
    /// u = v + u_D of one load case, where a case has u_D.
    nodal: Option<B::Vector>,
    /// Weighted sum of the energies of elements that are held against their thermal strains, see
    /// [`ProblemView::restrained_energies`]; empty where no case has some.
    restrained: Vec<f64>,
    /// Inertia of a free part.
    relief: Option<InertiaRelief>,
    /// Acceleration of the free part by the last adjoint load.
    adjoint: RigidMotion,
}

struct CaseLoads<B: Backend> {
    name: String,
    weight: f64,
    /// The right-hand side.
    forces: B::Vector,
    /// Constant part of the right-hand side, `[n_nodes][n]`; empty where all of it is constant.
    constant: Vec<f64>,
    /// Loads of gravity and rotation, with the densities as factors.
    weight_loads: Option<ElementVectors>,
    /// Forces against thermal strains; factors are the moduli.
    thermal_loads: Option<ElementVectors>,
    prescribed: Option<Prescribed<B>>,
    /// Forces of the caller.
    own: Vec<OwnForces>,
    /// Acceleration of the free part.
    acceleration: RigidMotion,
}

struct Prescribed<B: Backend> {
    /// u_D, zero at free components.
    displacements: B::Vector,
    /// -K u_D; factors are the moduli.
    loads: ElementVectors,
}

impl<B: Backend> Loads<B> {
    /// The loads of `problem`.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(backend: &B, problem: &dyn ProblemView) -> Result<Self, BackendError> {
        let (cases, springs) = (problem.cases(), problem.springs());
        let (nodes, is_moved) =
            (problem.unknowns(), cases.iter().any(|case| case.prescribed.is_some()));
        let case = |(k, case): (usize, Acting)| CaseLoads::new(backend, problem, k, &case);
        Ok(Self {
            nodes,
            films: problem.films().filter(|_| is_moved).map(<[_]>::to_vec),
            cases: cases.into_iter().enumerate().map(case).collect::<Result<_, _>>()?,
            springs: springs.map(|springs| backend.upload(springs, nodes)).transpose()?,
            nodal: is_moved.then(|| backend.zeros(nodes)).transpose()?,
            restrained: restrained(problem),
            relief: problem.inertia_relief(),
            adjoint: RigidMotion::default(),
        })
    }

    /// Makes the right-hand sides for a design of `density` and `moduli`, `[n_elements]`.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    pub fn assemble(
        &mut self,
        backend: &B,
        density: &B::Vector,
        moduli: &B::Vector,
    ) -> Result<(), BackendError> {
        let Self { nodes, cases, relief, .. } = self;
        if let Some(relief) = relief {
            let density = backend.download(density)?;
            if backend.has_values() {
                relief.assemble(&density, nodes.points);
            }
        }

        for case in cases {
            let CaseLoads { constant, weight_loads, thermal_loads, prescribed, own, .. } =
                &mut *case;
            let follows = weight_loads.is_some() || thermal_loads.is_some() || prescribed.is_some();
            if !follows && own.is_empty() && relief.is_none() {
                continue;
            }

            let mut f = constant.clone();
            let add = |loads: &ElementVectors, factors: &B::Vector, f: &mut [f64]| {
                let factors = backend.download(factors)?;
                if backend.has_values() {
                    loads.add(&factors, f);
                }
                Ok::<_, BackendError>(())
            };

            if let Some(loads) = weight_loads {
                add(loads, density, &mut f)?;
            }
            if !own.is_empty() && backend.has_values() {
                let density = backend.download(density)?;
                own.iter_mut().try_for_each(|own| own.add(&density, &mut f))?;
            }
            let inertia = relief.as_ref().filter(|_| backend.has_values());
            // Without forces of the moduli, which do no work on rigid motions.
            let acceleration = inertia.map(|relief| relief.acceleration(&f)).unwrap_or_default();
            let of_moduli = [thermal_loads.as_ref(), prescribed.as_ref().map(|it| &it.loads)];
            of_moduli.into_iter().flatten().try_for_each(|loads| add(loads, moduli, &mut f))?;
            if let Some(relief) = inertia {
                relief.subtract_inertia(&acceleration, &mut f);
                relief.clear_pins(&mut f);
            }
            case.acceleration = acceleration;
            case.forces = backend.upload(&f, *nodes)?;
        }
        Ok(())
    }

    /// Names of the load cases.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.cases.iter().map(|case| case.name.as_str())
    }

    /// Space of forces and states.
    pub fn nodes(&self) -> Space {
        self.nodes
    }

    /// The right-hand side of load case `case`, zero at held components.
    pub fn forces(&self, case: usize) -> &B::Vector {
        &self.cases[case].forces
    }

    /// Weights of the load cases.
    pub fn weights(&self) -> impl Iterator<Item = f64> {
        self.cases.iter().map(|case| case.weight)
    }

    /// The objective of each load case without its weight (force times length), for `free`, the
    /// displacements v of every load case, at the `moduli` that `operator` has. `scratch`,
    /// `[n_elements]`, is overwritten.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    pub fn compliances(
        &mut self,
        backend: &B,
        operator: &dyn ElementOperator<B>,
        moduli: &B::Vector,
        free: &[B::Vector],
        scratch: &mut B::Vector,
    ) -> Result<Vec<f64>, BackendError> {
        let Self { cases, springs, films, nodal, nodes, .. } = self;
        let mut compliances = Vec::with_capacity(cases.len());
        for (case, v) in cases.iter().zip(free) {
            let dot = |x: &B::Vector, y: &B::Vector| backend.value(&backend.dot(x, y));
            let mut objective = dot(&case.forces, v)?;
            if let (Some(prescribed), Some(u)) = (&case.prescribed, nodal.as_mut()) {
                // -2 Pi = 2 f^T v - u^T K u - v^T S v, in which an error of v counts squared. The
                // right-hand side is f - K u_D.
                let work = work(backend, &prescribed.loads, v)?;
                objective = 2.0 * (objective - dot(moduli, &work)?);

                prescribed.total(backend, v, u);
                operator.element_work(0, u, u, scratch);
                objective -= dot(moduli, scratch)?;
                if let Some(springs) = &springs {
                    backend.multiply(springs, v, u);
                    objective -= dot(u, v)?;
                }
                if let Some(films) = films {
                    objective -= dot(&film_flows(backend, films, v, *nodes)?, v)?;
                }
            }

            compliances.push(objective);
        }
        Ok(compliances)
    }

    /// energies = sum over load cases of weight (u_e^T K_e u_e - 2 v_e . q_e) at unit modulus, with
    /// the q_e of thermal strains. `scratch` is overwritten.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    pub fn energies(
        &mut self,
        backend: &B,
        operator: &dyn ElementOperator<B>,
        free: &[B::Vector],
        scratch: &mut B::Vector,
        energies: &mut B::Vector,
    ) -> Result<(), BackendError> {
        let Self { cases, nodal, .. } = self;
        backend.fill(0.0, energies);
        for (case, v) in cases.iter().zip(free) {
            match (&case.prescribed, nodal.as_mut()) {
                (Some(prescribed), Some(u)) => {
                    prescribed.total(backend, v, u);
                    operator.element_work(0, u, u, scratch);
                }
                _ => operator.element_work(0, v, v, scratch),
            }
            add_work(backend, case.thermal_loads.as_ref(), -2.0, v, scratch)?;
            backend.axpby(case.weight, scratch, 1.0, energies);
        }
        Ok(())
    }

    /// Energies that [`Loads::energies`] are less than the work of the stresses by thermal strains,
    /// `[n_elements]`; empty where nothing expands.
    pub fn restrained_energies(&self) -> &[f64] {
        &self.restrained
    }

    /// Adds the sensitivity to loads that follow the density: sensitivities += sum over load cases
    /// of weight 2 u_e . df_e/drho_e.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    pub fn add_sensitivities(
        &self,
        backend: &B,
        free: &[B::Vector],
        sensitivities: &mut B::Vector,
    ) -> Result<(), BackendError> {
        let mut cases = self.cases.iter().enumerate().zip(free);
        cases.try_for_each(|((case, loads), v)| {
            self.add_weight_work(backend, case, 2.0 * loads.weight, v, sensitivities)
        })
    }

    /// Adds `factor` y_e . df_e/drho_e of load case `case` to `out`, `[n_elements]`; of a free part
    /// y is what [`Loads::total`] makes of `y`, and inertia forces at their acceleration count.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    pub fn add_weight_work(
        &self,
        backend: &B,
        case: usize,
        factor: f64,
        y: &B::Vector,
        out: &mut B::Vector,
    ) -> Result<(), BackendError> {
        let weight_loads = self.cases[case].weight_loads.as_ref();
        match &self.relief {
            Some(relief) => {
                let works = self.relieved_work(backend, relief, case, y)?;
                backend.axpby(factor, &works, 1.0, out);
                Ok(())
            }
            None => {
                add_work(backend, weight_loads, factor, y, out)?;
                let own = &self.cases[case].own;
                own.iter().try_for_each(|own| own.add_work(backend, factor, y, out))
            }
        }
    }

    /// Subtracts `factor` y_e . q_e with the q_e of thermal strains of load case `case` from
    /// `work`, `[n_elements]`.
    ///
    /// # Errors
    /// [`BackendError`] if the device fails.
    pub fn subtract_thermal_work(
        &self,
        backend: &B,
        case: usize,
        factor: f64,
        y: &B::Vector,
        work: &mut B::Vector,
    ) -> Result<(), BackendError> {
        add_work(backend, self.cases[case].thermal_loads.as_ref(), -factor, y, work)
    }
}

/// Sums the energies of elements that are held against thermal strains, with the weights of the
/// load cases.
fn restrained(problem: &dyn ProblemView) -> Vec<f64> {
    let mut sum = Vec::new();
    for (k, case) in problem.cases().iter().enumerate().filter(|(_, case)| case.has_thermal_strain)
    {
        let energies = problem.restrained_energies(k);
        sum.resize(energies.len(), 0.0);
        sum.iter_mut().zip(energies).for_each(|(sum, energy)| *sum += case.weight * energy);
    }
    sum
}

/// Computes the flows through `films` at the temperatures `v`, `[n_nodes]`.
fn film_flows<B: Backend>(
    backend: &B,
    films: &[Coupling],
    v: &B::Vector,
    nodes: Space,
) -> Result<B::Vector, BackendError> {
    let v = backend.download(v)?;
    let mut flows = vec![0.0; v.len()];
    add_film_flows(films, &v, &mut flows);
    backend.upload(&flows, nodes)
}

/// Computes q_e . u_e per element, `[n_elements]`.
fn work<B: Backend>(
    backend: &B,
    loads: &ElementVectors,
    u: &B::Vector,
) -> Result<B::Vector, BackendError> {
    let u = backend.download(u)?;
    let work = if backend.has_values() { loads.work(&u) } else { Vec::new() };
    backend.upload(&work, Space::elements(loads.n_elements()))
}

/// Computes out += factor q_e . y_e for the q_e of `loads`, where there are any.
fn add_work<B: Backend>(
    backend: &B,
    loads: Option<&ElementVectors>,
    factor: f64,
    y: &B::Vector,
    out: &mut B::Vector,
) -> Result<(), BackendError> {
    if let Some(loads) = loads {
        backend.axpby(factor, &work(backend, loads, y)?, 1.0, out);
    }
    Ok(())
}

impl<B: Backend> CaseLoads<B> {
    /// Builds the loads of load case `k` of `problem`.
    fn new(
        backend: &B,
        problem: &dyn ProblemView,
        k: usize,
        case: &Acting,
    ) -> Result<Self, BackendError> {
        let prescribed = |u| {
            Ok(Prescribed {
                displacements: backend.upload(u, problem.unknowns())?,
                loads: problem.prescribed_loads(k),
            })
        };

        let follows = case.has_body_force || case.has_thermal_strain || case.prescribed.is_some();
        let follows = follows || problem.has_relief();
        Ok(Self {
            name: case.name.into(),
            weight: case.weight,
            forces: backend.upload(case.forces, problem.unknowns())?,
            constant: if follows { case.forces.to_vec() } else { Vec::new() },
            weight_loads: case.has_body_force.then(|| problem.body_loads(k)),
            thermal_loads: case.has_thermal_strain.then(|| problem.thermal_loads(k)),
            prescribed: case.prescribed.map(prescribed).transpose()?,
            own: Vec::new(),
            acceleration: RigidMotion::default(),
        })
    }
}

impl<B: Backend> Prescribed<B> {
    /// u = v + u_D.
    fn total(&self, backend: &B, v: &B::Vector, u: &mut B::Vector) {
        backend.copy(v, u);
        backend.axpby(1.0, &self.displacements, 1.0, u);
    }
}
