//! Laws of elasticity that single elements have in place of the kernel's material.

use std::sync::Arc;

use serde::Serialize;

use crate::Material;
use crate::stiffness_tensor::Stiffness;

/// A law between strains and stresses at Young's modulus 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[expect(clippy::large_enum_variant, reason = "there are few, and kernels copy them")]
pub enum Law {
    /// An isotropic material; its own modulus does not enter.
    Isotropic(Material),
    /// Stiffness matrix along the axes of the mesh.
    Anisotropic(Stiffness),
}

/// Laws, and the number of the law of each element, if it has one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Laws {
    laws: Arc<[Law]>,
    of_element: Arc<[Option<u32>]>,
}

impl Laws {
    /// Takes the laws and their numbers by element, `[n_elements]`.
    pub fn new(laws: Vec<Law>, of_element: Vec<Option<u32>>) -> Self {
        debug_assert!(of_element.iter().flatten().all(|&number| (number as usize) < laws.len()));
        Self { laws: laws.into(), of_element: of_element.into() }
    }

    /// Returns the law of element `e`.
    pub fn of(&self, e: usize) -> Option<&Law> {
        self.law(self.of_element[e])
    }

    /// Returns the number of the law of element `e`.
    pub(crate) fn number(&self, e: usize) -> Option<u32> {
        self.of_element[e]
    }

    /// Returns the law of a number.
    pub(crate) fn law(&self, number: Option<u32>) -> Option<&Law> {
        self.laws.get(number? as usize)
    }

    /// Lists the elements of every law, increasing, in the order of the first of each.
    pub fn groups(&self) -> Vec<(Option<&Law>, Vec<u32>)> {
        let mut groups: Vec<(Option<u32>, Vec<u32>)> = Vec::new();
        for (e, number) in self.of_element.iter().enumerate() {
            match groups.iter_mut().find(|(own, _)| own == number) {
                Some((_, elements)) => elements.push(e as u32),
                None => groups.push((*number, vec![e as u32])),
            }
        }
        groups.into_iter().map(|(number, elements)| (self.law(number), elements)).collect()
    }

    /// Packs the laws for another rank: a ratio or the entries of D for each, and the number of
    /// each element's law, counted from 1, after the number of laws.
    pub(crate) fn packed(&self) -> (Vec<f64>, Vec<u32>) {
        let packed = |law: &Law| match law {
            Law::Isotropic(material) => [[material.poissons_ratio(); 6]; 6],
            Law::Anisotropic(stiffness) => *stiffness,
        };
        let values = self.laws.iter().flat_map(|law| packed(law).concat()).collect();
        let is_isotropic = |law: &Law| u32::from(matches!(law, Law::Isotropic(_)));
        let numbers = self.of_element.iter().map(|number| number.map_or(0, |n| 1 + n));
        let n_laws = std::iter::once(self.laws.len() as u32);
        (values, n_laws.chain(self.laws.iter().map(is_isotropic)).chain(numbers).collect())
    }

    /// Unpacks laws that another rank [`packed`](Self::packed).
    pub(crate) fn unpacked(values: &[f64], numbers: &[u32]) -> Option<Self> {
        let (&n_laws, rest) = numbers.split_first()?;
        let (are_isotropic, numbers) = rest.split_at_checked(n_laws as usize)?;
        let matrices = values.as_chunks::<6>().0.as_chunks::<6>().0;
        let law = |(matrix, is_isotropic): (&Stiffness, &u32)| match is_isotropic {
            1 => Material::new(1.0, matrix[0][0]).map(Law::Isotropic),
            _ => Some(Law::Anisotropic(*matrix)),
        };
        let laws = matrices.iter().zip(are_isotropic).map(law).collect::<Option<_>>()?;
        let of_element = numbers.iter().map(|number| number.checked_sub(1));
        Some(Self::new(laws, of_element.collect()))
    }

    /// Returns the laws of some elements, in their order.
    #[must_use]
    pub fn of_elements(&self, elements: &[u32]) -> Self {
        let of_element = elements.iter().map(|&e| self.of_element[e as usize]).collect();
        Self { laws: self.laws.clone(), of_element }
    }
}
