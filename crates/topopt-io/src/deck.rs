//! What a solver's deck says besides its mesh: materials, supports and loads, by sets of the mesh.

/// Materials, supports and loads of a deck. The sets they name are in the mesh.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Deck {
    /// The materials that elements have.
    pub materials: Vec<DeckMaterial>,
    /// Held and displaced nodes.
    pub supports: Vec<DeckSupport>,
    /// The loads.
    pub loads: Vec<DeckLoad>,
    /// What could not be carried over, a sentence each.
    pub lost: Vec<String>,
}

/// An isotropic material, in the units of the deck.
#[derive(Debug, Clone, PartialEq)]
pub struct DeckMaterial {
    /// Its name or number in the deck.
    pub name: String,
    /// The element set that is made of it; none if all elements are.
    pub set: Option<String>,
    /// Young's modulus (force per area), if the deck gives it.
    pub youngs_modulus: Option<f64>,
    /// Poisson's ratio, if the deck gives it.
    pub poissons_ratio: Option<f64>,
    /// Mass per volume, if the deck gives it.
    pub mass_density: Option<f64>,
}

/// Nodes that are held or displaced.
#[derive(Debug, Clone, PartialEq)]
pub struct DeckSupport {
    /// The node set.
    pub set: String,
    /// Which of x, y and z are held.
    pub fixed: [bool; 3],
    /// The displacement in these directions (length); 0 where they are held.
    pub displacement: [f64; 3],
    /// The load case of the displacement; none if it belongs to all.
    pub case: Option<String>,
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
}
