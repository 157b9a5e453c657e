//! Candidate materials: elements may be of one lighter than the solid, by ordered SIMP.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use topopt_linalg::{BackendError, Pointwise, Space};

use crate::Interpolation;

/// Material lighter and softer than the solid, of which an element may be in its place.
///
/// The density of an element is its mass over that of the solid, and the moduli of the materials
/// are met at their densities: in between E = a f(rho) + b, where f is the law of the
/// [`Interpolation`], with a and b of the interval \[ZuoSaitou2017\]. So one variable for each
/// element says both whether there is material and which.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// Mass per volume, as a share of that of the solid: between 0 and 1.
    pub mass: f64,
    /// Stiffness as a share of that of the solid: between 0 and 1.
    pub stiffness: f64,
}

/// Materials of an element by increasing mass; the solid, which is not among them, is the last.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Candidates(Vec<Candidate>);

/// Filling and material that a density stands for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Made {
    /// Share of the element that is filled.
    pub filled: f64,
    /// Number of the nearest material by its mass, from 1; 0 where less than half is filled.
    pub material: u8,
}

impl Candidates {
    /// Sorts the candidates.
    pub fn new(mut candidates: Vec<Candidate>) -> Self {
        candidates.sort_by(|a, b| a.mass.total_cmp(&b.mass));
        Self(candidates)
    }

    /// Whether elements are of the solid or empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Shares of the solid's mass at which there is one material alone, by increasing mass: 0,
    /// those of the candidates, 1.
    pub fn masses(&self) -> impl Iterator<Item = f64> + Clone {
        [0.0].into_iter().chain(self.0.iter().map(|candidate| candidate.mass)).chain([1.0])
    }

    fn stiffnesses(&self) -> impl Iterator<Item = f64> + Clone {
        let own = self.0.iter().map(|candidate| candidate.stiffness);
        [0.0].into_iter().chain(own).chain([1.0])
    }

    /// Filling and material of a `density`: below the mass of the lightest material an element is
    /// filled in part, above it all of it.
    pub fn made(&self, density: f64) -> Made {
        let lightest = self.masses().nth(1).unwrap_or(1.0);
        let middles = self.masses().zip(self.masses().skip(1)).map(|(a, b)| 0.5 * (a + b));
        let material = middles.filter(|middle| density >= *middle).count() as u8;
        Made { filled: (density / lightest).min(1.0), material }
    }

    /// Shares that elements of a `density` are filled.
    pub fn filled<'d>(&self, density: &'d [f64]) -> Cow<'d, [f64]> {
        if self.is_empty() {
            return Cow::Borrowed(density);
        }
        density.iter().map(|density| self.made(*density).filled).collect()
    }

    /// Density from which [`Candidates::made`] makes this, up to its rounding.
    pub fn density(&self, Made { filled, material }: Made) -> f64 {
        self.masses().nth(material.max(1).into()).unwrap_or(1.0) * filled
    }
}

/// Moduli of candidates in place of those of a law alone, with the vectors that they are made with,
/// `[n_elements]` each.
pub(crate) struct Ladder<B: Pointwise> {
    candidates: Candidates,
    /// 0 and 1.
    bounds: [B::Vector; 2],
    moduli: B::Vector,
    beyond: B::Vector,
    slope: B::Vector,
}

/// Moduli of materials over those of a law: first a line, and then its bends.
struct Bent {
    /// Modulus of void, which both have.
    void: f64,
    /// Slope from there on.
    slope: f64,
    /// Moduli of the law at the candidates, and by how much the slope rises there.
    bends: Vec<(f64, f64)>,
}

/// A factor that takes any difference of moduli beyond 1.
const STEEP: f64 = 1e300;

impl<B: Pointwise> Ladder<B> {
    /// Prepares the `candidates` for `elements`.
    ///
    /// # Errors
    /// [`BackendError`] if the device has no room.
    pub fn new(backend: &B, elements: Space, candidates: Candidates) -> Result<Self, BackendError> {
        let zeros = || backend.zeros(elements);
        let mut one = zeros()?;
        backend.fill(1.0, &mut one);
        let bounds = [zeros()?, one];
        Ok(Self { candidates, bounds, moduli: zeros()?, beyond: zeros()?, slope: zeros()? })
    }

    /// Turns `moduli` of `law` into those of the materials. `scratch` is overwritten.
    pub fn stiffen(
        &mut self,
        backend: &B,
        law: &Interpolation,
        scratch: &mut B::Vector,
        moduli: &mut B::Vector,
    ) {
        let Bent { void, slope, bends } = self.candidates.bent(law);
        backend.copy(moduli, &mut self.moduli);
        backend.fill(void - slope * void, scratch);
        backend.axpby(1.0, scratch, slope, moduli);
        for (at, rise) in bends {
            subtracted(backend, &self.moduli, at, scratch);
            backend.positive_part(1.0, scratch, &mut self.beyond);
            backend.axpby(rise, &self.beyond, 1.0, moduli);
        }
    }

    /// Turns `sensitivities` by moduli of `law` at `density` into those by the materials' moduli.
    /// `scratch` is overwritten.
    pub fn scale_sensitivities(
        &mut self,
        backend: &B,
        (law, density): (&Interpolation, &B::Vector),
        scratch: &mut B::Vector,
        sensitivities: &mut B::Vector,
    ) {
        let Bent { slope, bends, .. } = self.candidates.bent(law);
        law.moduli(backend, density, scratch, &mut self.moduli);
        backend.fill(slope, &mut self.slope);
        let [zero, one] = &self.bounds;
        for (at, rise) in bends {
            subtracted(backend, &self.moduli, at, scratch);
            backend.scale_within(STEEP, scratch, [zero, one], &mut self.beyond);
            backend.axpby(rise, &self.beyond, 1.0, &mut self.slope);
        }
        backend.multiply(&self.slope, sensitivities, scratch);
        backend.copy(scratch, sensitivities);
    }
}

/// Writes `moduli` - `at` to `out`.
fn subtracted<B: Pointwise>(backend: &B, moduli: &B::Vector, at: f64, out: &mut B::Vector) {
    backend.fill(-at, out);
    backend.axpby(1.0, moduli, 1.0, out);
}

impl Candidates {
    fn bent(&self, law: &Interpolation) -> Bent {
        let void = law.modulus(0.0);
        let range = law.modulus(1.0) - void;
        let of_law: Vec<f64> = self.masses().map(|mass| law.modulus(mass)).collect();
        let own: Vec<f64> = self.stiffnesses().map(|share| void + share * range).collect();
        let slope = |k: usize| (own[k + 1] - own[k]) / (of_law[k + 1] - of_law[k]);
        let bends = (1..=self.0.len()).map(|k| (of_law[k], slope(k) - slope(k - 1)));
        Bent { void, slope: slope(0), bends: bends.collect() }
    }

    /// Stiffness of the thinnest material, as a multiple of that which `law` gives it without
    /// candidates.
    pub fn first_slope(&self, law: &Interpolation) -> f64 {
        self.bent(law).slope
    }
}

#[cfg(test)]
mod tests {
    use topopt_linalg::Cpu;

    use super::*;
    use crate::Law;

    const N: usize = 7;
    const MASSES: [f64; N] = [0.0, 0.1, 0.3, 0.3 + 1e-9, 0.5, 0.8, 1.0];

    fn candidates() -> Candidates {
        let of = |mass, stiffness| Candidate { mass, stiffness };
        Candidates::new(vec![of(0.5, 0.7), of(0.3, 0.2)])
    }

    fn law(law: Law, void_stiffness: f64) -> Interpolation {
        Interpolation { law, penalty: 3.0, youngs_modulus: 2.0, void_stiffness }
    }

    /// Moduli at [`MASSES`] and `shift` further.
    fn moduli(law: &Interpolation, shift: f64) -> Vec<f64> {
        let density = MASSES.map(|mass| mass + shift).to_vec();
        let (mut scratch, mut moduli) = (vec![0.0; N], vec![0.0; N]);
        law.moduli(&Cpu, &density, &mut scratch, &mut moduli);
        let mut ladder = Ladder::new(&Cpu, Space::elements(N), candidates()).unwrap();
        ladder.stiffen(&Cpu, law, &mut scratch, &mut moduli);
        moduli
    }

    #[test]
    fn each_material_has_its_modulus_at_its_mass() {
        for law in [law(Law::Simp, 0.0), law(Law::Simp, 1e-3), law(Law::Ramp, 1e-3)] {
            let void = 2.0 * law.void_stiffness;
            let found = moduli(&law, 0.0);
            for (at, share) in [(0, 0.0), (2, 0.2), (4, 0.7), (6, 1.0)] {
                let exact = void + share * (2.0 - void);
                assert!((found[at] - exact).abs() < 1e-14, "{law:?}: {found:?}");
            }
            assert!(found.is_sorted());
        }
        // Halfway by the law, halfway between the materials: of SIMP 0.064 of 0.027 to 0.125.
        let simp = law(Law::Simp, 0.0);
        let mut half = vec![2.0 * 0.5 * (0.027 + 0.125)];
        let mut ladder = Ladder::new(&Cpu, Space::elements(1), candidates()).unwrap();
        ladder.stiffen(&Cpu, &simp, &mut vec![0.0], &mut half);
        assert!((half[0] - 2.0 * 0.45).abs() < 1e-15);
    }

    #[test]
    fn sensitivities_are_slopes_of_the_moduli_from_below() {
        for law in [law(Law::Simp, 1e-9), law(Law::Ramp, 0.0)] {
            let density = MASSES.to_vec();
            let energies = vec![1.5; N];
            let (mut scratch, mut found) = (vec![0.0; N], vec![0.0; N]);
            law.sensitivities(&Cpu, &density, &energies, &mut scratch, &mut found);
            let mut ladder = Ladder::new(&Cpu, Space::elements(N), candidates()).unwrap();
            ladder.scale_sensitivities(&Cpu, (&law, &density), &mut scratch, &mut found);
            let (from, to) = (moduli(&law, -1e-10), moduli(&law, 0.0));
            for k in 1..N {
                let slope = -1.5 * (to[k] - from[k]) / 1e-10;
                assert!((found[k] / slope - 1.0).abs() < 1e-4, "{k}: {found:?}, {slope}");
            }
        }
    }

    #[test]
    fn a_density_is_a_filling_up_to_the_lightest_material_and_then_a_material() {
        let candidates = candidates();
        let made = |density| {
            let Made { filled, material } = candidates.made(density);
            (filled, material)
        };
        assert_eq!(made(0.0), (0.0, 0));
        assert_eq!(made(0.075), (0.25, 0));
        assert_eq!(made(0.15), (0.5, 1));
        assert_eq!([0.3, 0.39, 0.41, 0.74, 0.76].map(|x| made(x).1), [1, 1, 2, 2, 3]);
        assert_eq!(made(1.0), (1.0, 3));
        for exact in [0.03, 0.2, 0.3, 0.5, 1.0] {
            assert!((candidates.density(candidates.made(exact)) - exact).abs() < 1e-15);
        }
        assert_eq!(*candidates.filled(&[0.075, 0.5]), [0.25, 1.0]);
        let none = Candidates::default();
        assert_eq!(*none.filled(&[0.075, 0.5]), [0.075, 0.5]);
        assert_eq!(none.made(0.6), Made { filled: 0.6, material: 1 });
    }
}
