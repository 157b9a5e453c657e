//! Materials with a yield strength.

use topopt_case::case::Case;
use topopt_case::config::Config;
use topopt_case::fields::others;

/// A material with a yield strength.
pub(crate) struct Ductile {
    /// Element set; none for `[material]`.
    pub set: Option<String>,
    /// Yield strength (force per area).
    pub yield_strength: f64,
    /// Elements as the user numbers them.
    pub elements: Vec<u32>,
}

impl Ductile {
    /// All of a case, `[material]` first.
    pub fn all<const N: usize>(config: &Config, case: &Case<N>) -> Vec<Self> {
        let of_all = config.material.yield_strength.map(|yield_strength| Self {
            set: None,
            yield_strength,
            elements: others(case.mesh.n_elements(), &case.materials),
        });
        let of_sets = config.materials.iter().zip(&case.materials).filter_map(|(material, own)| {
            let set = Some(material.set.get_ref().clone());
            Some(Self { set, yield_strength: material.yield_strength?, elements: own.clone() })
        });
        of_all.into_iter().chain(of_sets).collect()
    }
}
