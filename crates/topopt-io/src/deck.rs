//! `Deck`: materials, supports and loads of a solver's deck, by sets of its mesh.
//!
//! A reader knows the words of its format that it carries over and those that have no bearing on
//! the result, such as requests for output. All others go to [`Deck::lost`]: nothing that bears on
//! the result is passed over without a word.

use std::collections::BTreeMap;

use topopt_mesh::SetKind;

use crate::deck_design::DeckDesign;

/// Materials, supports and loads of a deck. The sets they name are in the mesh.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Deck {
    /// The physics of its steps.
    pub physics: DeckPhysics,
    /// Whether inertia balances the loads of a free part.
    pub inertia_relief: bool,
    /// The materials that elements have.
    pub materials: Vec<DeckMaterial>,
    /// Held and displaced nodes; of heat, nodes whose temperature is held.
    pub supports: Vec<DeckSupport>,
    /// Springs to the ground.
    pub springs: Vec<DeckSpring>,
    /// Faces that give heat to an ambient.
    pub films: Vec<DeckFilm>,
    /// The loads.
    pub loads: Vec<DeckLoad>,
    /// Forces on single nodes, of heat flows in their first component, by the set of these nodes
    /// and in its order: those of [`SetLoad::ByNode`].
    pub nodal: BTreeMap<String, Vec<[f64; 3]>>,
    /// The steps of heat in time.
    pub in_time: Option<DeckSteps>,
    /// The optimization that it describes.
    pub design: Option<DeckDesign>,
    /// The sums of the forces and moments at nodes as the deck gives them, by load case; none if
    /// the reader does not sum them.
    pub given: BTreeMap<String, Resultant>,
    /// Words that bear on the result and could not be carried over, a sentence each.
    pub lost: Vec<String>,
}

/// The physics of a deck.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DeckPhysics {
    /// Displacements.
    #[default]
    Elasticity,
    /// Temperatures.
    Heat,
}

/// Heat in time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DeckSteps {
    /// The time at which it ends; it begins at 0.
    pub end: f64,
    /// Length of a step.
    pub step: f64,
    /// Temperature at the beginning.
    pub initial: f64,
}

/// A material, in the units of the deck. A property is none if the deck does not give it, or gives
/// it in a form that is not understood.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DeckMaterial {
    /// Name or number of the material in the deck.
    pub name: String,
    /// The element set that is made of it; none if all elements are.
    pub set: Option<String>,
    /// Young's modulus (force per area), if the deck gives it.
    pub youngs_modulus: Option<f64>,
    /// Poisson's ratio, if the deck gives it.
    pub poissons_ratio: Option<f64>,
    /// Law in place of both, if it has a direction.
    pub law: Option<DeckLaw>,
    /// Mass per volume, if the deck gives it.
    pub mass_density: Option<f64>,
    /// Strain per temperature, if the deck gives it: one number, or those along the axes of its
    /// law, without one along x, y and z.
    pub thermal_expansion: Vec<f64>,
    /// Temperature without thermal strain; 0 in decks that have one for the part.
    pub reference: f64,
    /// Conductivity, if the deck gives it: one number, or those along x, y and z.
    pub conductivity: Vec<f64>,
    /// Heat per mass and temperature, if the deck gives it.
    pub heat_capacity: Option<f64>,
    /// Words of the deck on elasticity or conductivity that are not understood, such as
    /// `*ELASTIC, TYPE=ORTHO (line 7)`: a case then needs a number of the user's.
    pub not_understood: Option<String>,
}

impl DeckMaterial {
    /// The isotropic law as one along axes.
    pub(crate) fn along_axes(&self) -> Option<DeckLaw> {
        let (modulus, ratio) = (self.youngs_modulus?, self.poissons_ratio?);
        let constants = DeckConstants::Engineering {
            youngs_moduli: [modulus; 3],
            poissons_ratios: [ratio; 3],
            shear_moduli: [modulus / (2.0 * (1.0 + ratio)); 3],
        };
        Some(DeckLaw { constants, frame: None })
    }
}

/// A law of elasticity with a direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DeckLaw {
    /// Constants along the axes 1, 2 and 3.
    pub constants: DeckConstants,
    /// Axis 1, and a vector in the plane of the axes 1 and 2; none for x and y.
    pub frame: Option<[[f64; 3]; 2]>,
}

/// Constants of a law of elasticity.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there is one per material")]
pub enum DeckConstants {
    /// Engineering constants.
    Engineering {
        /// Young's moduli along the axes 1, 2 and 3.
        youngs_moduli: [f64; 3],
        /// Poisson's ratios 12, 13 and 23.
        poissons_ratios: [f64; 3],
        /// Shear moduli in the planes 12, 13 and 23.
        shear_moduli: [f64; 3],
    },
    /// Symmetric matrix from strains to stresses, both as 11, 22, 33, 12, 23, 13.
    Matrix([[f64; 6]; 6]),
}

/// A force and its moment about the origin.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Resultant {
    /// The force.
    pub force: [f64; 3],
    /// The moment about the origin.
    pub moment: [f64; 3],
}

impl Resultant {
    /// Adds a force at a point.
    pub fn add(&mut self, at: [f64; 3], force: [f64; 3]) {
        let moment = topopt_mesh::vector::cross(at, force);
        self.add_scaled(1.0, &Self { force, moment });
    }

    /// Adds another one, times a factor.
    pub fn add_scaled(&mut self, factor: f64, other: &Self) {
        for i in 0..3 {
            self.force[i] += factor * other.force[i];
            self.moment[i] += factor * other.moment[i];
        }
    }
}

/// Nodes that are held or displaced.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DeckSupport {
    /// The node set.
    pub set: String,
    /// Whether the nodes are held in x, y and z.
    pub fixed: [bool; 3],
    /// The displacement in these directions (length); 0 where they are held.
    pub displacement: [f64; 3],
    /// The temperature at which they are held, of heat.
    pub temperature: f64,
    /// The load case of the displacement or temperature; none if it belongs to all.
    pub case: Option<String>,
}

/// Springs between nodes and the ground.
#[derive(Debug, Clone, PartialEq)]
pub struct DeckSpring {
    /// The node set.
    pub set: String,
    /// Force per displacement in x, y and z on each node.
    pub stiffness: [f64; 3],
}

/// Faces that give heat to an ambient.
#[derive(Debug, Clone, PartialEq)]
pub struct DeckFilm {
    /// The face set.
    pub set: String,
    /// Heat per time, area and temperature.
    pub film_coefficient: f64,
    /// Temperature of the ambient.
    pub ambient: f64,
}

/// A load in a load case: a step, a load step or a subcase of the deck.
#[derive(Debug, Clone, PartialEq)]
pub struct DeckLoad {
    /// Name of the load case.
    pub case: String,
    /// The load.
    pub load: SetLoad,
}

/// A load and the set it acts on.
#[derive(Debug, Clone, PartialEq)]
pub enum SetLoad {
    /// A force on each node of a set.
    Force {
        /// The node set.
        set: String,
        /// The force on each node.
        force: [f64; 3],
    },
    /// A force on each node of a set as [`Deck::nodal`] has it; of heat, a heat flow.
    ByNode {
        /// The node set.
        set: String,
    },
    /// A force per area against the outward normals.
    Pressure {
        /// The face set.
        set: String,
        /// The pressure; positive pushes.
        pressure: f64,
    },
    /// A force per area in a fixed direction.
    Traction {
        /// The face set.
        set: String,
        /// The force per area.
        traction: [f64; 3],
    },
    /// Gravity on the whole part.
    Gravity {
        /// Acceleration (length per time squared).
        acceleration: [f64; 3],
    },
    /// Temperature by which elements expand.
    Temperature {
        /// The set; none for all nodes.
        set: Option<String>,
        /// Whether it is one of nodes or of elements.
        kind: SetKind,
        /// The temperature.
        temperature: f64,
        /// Temperature without thermal strain.
        reference: f64,
    },
    /// Rotation of the whole part.
    Centrifugal {
        /// A point of the axis.
        center: [f64; 3],
        /// Angular velocity about the axis (radians per time).
        angular_velocity: [f64; 3],
    },
    /// A force and a moment at a point, spread over a set by least squares (RBE3), or carried by a
    /// rigid coupling that is read as that.
    Remote {
        /// The node set.
        set: String,
        /// The point.
        at: [f64; 3],
        /// The force.
        force: [f64; 3],
        /// The moment.
        moment: [f64; 3],
    },
    /// Heat per time and area into faces.
    HeatFlux {
        /// The face set.
        set: String,
        /// The heat flux; positive heats.
        heat_flux: f64,
    },
    /// Heat per time and volume.
    HeatSource {
        /// The element set; none if it is the whole part.
        set: Option<String>,
        /// The source.
        heat_source: f64,
    },
    /// Heat per time into each node of a set.
    NodalHeat {
        /// The node set.
        set: String,
        /// The heat into each node.
        heat: f64,
    },
}
