//! Materials of a solver's deck that a case must not leave to a default.

use topopt_io::deck::{Deck, DeckMaterial, DeckPhysics};

use crate::config::PhysicsKind;
use crate::finding::Finding;
use crate::lookup::Lookup;

impl Lookup<'_> {
    /// Refuses a case that gives elements no property of its own where the mesh file has a material
    /// for them: a default would replace the material of the deck. `sets` are the elements of each
    /// of `[[materials]]`.
    pub(crate) fn unlike_the_deck(&self, deck: &Deck, sets: &[Vec<u32>]) -> Option<Finding> {
        let left_out = |material: &&DeckMaterial| self.is_left_out(material, deck.physics, sets);
        let material = deck.materials.iter().find(left_out)?;
        Some(self.missing(material))
    }

    /// Whether elements of `material` get the default. A property of `[material]` is the user's word for
    /// all that `[[materials]]` leave out, unless the deck has a material of a set without it.
    fn is_left_out(&self, material: &DeckMaterial, of: DeckPhysics, sets: &[Vec<u32>]) -> bool {
        let (is_given, is_known, is_same) = match self.config.physics.kind {
            PhysicsKind::Elasticity => (
                self.config.gives_elasticity(),
                material.youngs_modulus.is_some() || material.law.is_some(),
                of == DeckPhysics::Elasticity,
            ),
            // It has no default.
            PhysicsKind::Heat if self.config.material.conductivity.is_none() => return false,
            PhysicsKind::Heat => (true, !material.conductivity.is_empty(), of == DeckPhysics::Heat),
        };
        if is_given && (is_known || !is_same || material.set.is_none()) {
            return false;
        }
        let has_own = |e: &u32| sets.iter().any(|set| set.binary_search(e).is_ok());
        let Some(set) = &material.set else {
            return sets.iter().map(Vec::len).sum::<usize>() < self.mesh.n_elements();
        };
        let elements = self.sets.elements.get(set).map_or(&[][..], Vec::as_slice);
        let is_said = is_given && self.is_material_of_case(elements, sets);
        !(is_said || elements.iter().all(has_own))
    }

    /// Whether `[material]` is that of `elements` alone: then its modulus was given for them.
    fn is_material_of_case(&self, elements: &[u32], sets: &[Vec<u32>]) -> bool {
        let others: usize = sets.iter().map(Vec::len).sum();
        let is_other = |e: &u32| sets.iter().any(|set| set.binary_search(e).is_ok());
        !elements.iter().any(is_other) && elements.len() + others == self.mesh.n_elements()
    }

    fn missing(&self, material: &DeckMaterial) -> Finding {
        let (name, key) = (&material.name, self.config.physics.kind.data().property);
        let file = self.config.mesh.get_ref().file.as_ref();
        let file = file.map_or_else(String::new, |file| file.get_ref().display().to_string());
        let init = format!("`topopt init {file}` writes a case with all that the file says");
        if let (Some(modulus), "youngs_modulus") = (material.youngs_modulus, key) {
            let mut keys = vec![format!("{key} = {modulus:?}")];
            let ratio = material.poissons_ratio.iter();
            keys.extend(ratio.map(|ratio| format!("poissons_ratio = {ratio:?}")));
            let density = material.mass_density.iter();
            keys.extend(density.map(|density| format!("mass_density = {density:?}")));
            return Finding::new(format!(
                "the case gives no `material.{key}`, and the mesh file has the material `{name}`"
            ))
            .remedy(format!("add [material] with {}; {init}", keys.join(", ")));
        }

        let why = match (&material.not_understood, key) {
            _ if material.law.is_some() => "has elastic constants along axes".into(),
            (Some(what), _) => format!("is not understood: {what}"),
            (None, "youngs_modulus") => "has no Young's modulus that is understood".into(),
            (None, _) => "has no conductivity that is understood".into(),
        };
        let message = format!(
            "the case gives no `{key}` for the material `{name}` of the mesh file, which {why}"
        );
        Finding::new(message).remedy(match &material.set {
            Some(set) => format!(
                "add [[materials]] with `set = \"{set}\"` and an equivalent `{key}`; {init}"
            ),
            None => format!("add [material] with an equivalent `{key}`; {init}"),
        })
    }
}
