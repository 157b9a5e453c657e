//! `Deck`: the entries of a Nastran deck, by the numbers of the deck.

use std::collections::{BTreeMap, BTreeSet};

use topopt_mesh::cells::Shape;

use super::design_data::Design;
use super::error::Fault;
use super::origin::Origin;
use crate::deck::DeckConstants;
use crate::read_error::{Located, Place};

/// Entries of a Nastran deck, by the numbers of the deck.
#[derive(Default)]
pub(super) struct Deck {
    /// Names of the included files.
    pub included: Vec<String>,
    pub grids: Vec<Grid>,
    /// GRDSET: what grids have where their fields are blank.
    pub defaults: GridDefaults,
    pub systems: BTreeMap<u64, Definition>,
    pub solids: Vec<Solid>,
    /// Their nodes, one element after the other; 0 where a middle is left out.
    pub connectivity: Vec<u64>,
    /// Materials of PSOLID, by property.
    pub properties: BTreeMap<u64, u64>,
    /// Properties whose material has directions of a system (CORDM).
    pub turned_properties: BTreeSet<u64>,
    pub materials: BTreeMap<u64, Material>,
    /// MAT4, MAT5.
    pub conductors: BTreeMap<u64, Conductor>,
    /// Entry of each material that is not understood, such as `MAT9 (line 7)`.
    pub not_understood: BTreeMap<u64, String>,
    /// Entries of nonlinear or varying behavior per material, such as `MATT1 (line 7)`.
    pub behaviors: BTreeMap<u64, Vec<String>>,
    /// PARAM,WTMASS: a factor of all masses.
    pub mass_factor: Option<f64>,
    /// PARAM,INREL of -1 or -2.
    pub inertia_relief: bool,
    /// Optimization that the deck asks for.
    pub design: Design,
    /// Heat in load sets.
    pub heat: Heat,
    /// Whether the deck computes temperatures.
    pub is_heat: bool,
    pub sets: Vec<GivenSet>,
    pub supports: Vec<Support>,
    /// SPCADD.
    pub support_sums: BTreeMap<u64, Vec<u64>>,
    pub forces: Vec<Force>,
    pub pressures: Vec<Pressure>,
    pub gravities: Vec<Gravity>,
    pub rotations: Vec<Rotation>,
    /// TEMPD: temperatures of all other grids by set.
    pub default_temperatures: BTreeMap<u64, f64>,
    /// TEMP: temperatures of grids by set.
    pub temperatures: BTreeMap<u64, BTreeMap<u64, f64>>,
    /// LOAD: factors and load sets.
    pub combinations: BTreeMap<u64, Vec<(f64, u64)>>,
    pub couplings: Vec<Coupling>,
    /// Default selections of all subcases.
    pub common: Subcase,
    pub subcases: Vec<Subcase>,
    /// Elements that are no solids, by name: how many.
    pub others: BTreeMap<String, usize>,
    /// Other entries, by name: how many.
    pub skipped: BTreeMap<String, usize>,
    /// Entries that are not carried over, by name: how often, and where first.
    pub lost: BTreeMap<String, (usize, Origin)>,
}

/// GRID.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grid {
    pub tag: u64,
    /// In its coordinate system, then in the basic one.
    pub coordinates: [f64; 3],
    /// The coordinate system it is given in; none where the field is blank.
    pub given_in: Option<u64>,
    /// The coordinate system of its displacements.
    pub moves_in: Option<u64>,
    /// Components that are held in all subcases.
    pub held: Option<[bool; 6]>,
}

/// GRDSET.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct GridDefaults {
    pub given_in: u64,
    pub moves_in: u64,
    pub held: [bool; 6],
}

/// A coordinate system as the deck defines it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Definition {
    pub kind: Kind,
    pub points: Points,
}

/// Coordinates of a system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Rectangular,
    /// Radius, angle in degrees, height.
    Cylindrical,
    /// Radius, angle from the z axis and angle about it, in degrees.
    Spherical,
}

/// The origin, a point of the z axis, and one of the plane of x and z.
#[derive(Debug, Clone, Copy)]
pub(super) enum Points {
    /// In another system.
    Given(u64, [[f64; 3]; 3]),
    Grids([u64; 3]),
}

/// CHEXA, CPENTA, CTETRA or CPYRAM.
#[derive(Debug, Clone, Copy)]
pub(super) struct Solid {
    pub tag: u64,
    pub property: u64,
    pub shape: Shape,
    /// Start of the nodes in [`Deck::connectivity`]: corners, and then middles if there are any, in
    /// the order of [`Shape::edges`].
    pub first: usize,
    /// Number of nodes.
    pub n_nodes: usize,
}

/// MAT1, MAT9 or MAT11.
#[derive(Debug, Clone, Default)]
pub(super) struct Material {
    pub youngs_modulus: Option<f64>,
    pub shear_modulus: Option<f64>,
    pub poissons_ratio: Option<f64>,
    /// Law of a MAT11, or of a MAT9 that is not isotropic.
    pub law: Option<DeckConstants>,
    pub mass_density: Option<f64>,
    /// One number, or those along x, y and z.
    pub thermal_expansion: Vec<f64>,
    /// Temperature without thermal strain.
    pub reference: f64,
}

/// MAT4, MAT5.
#[derive(Debug, Clone, Default)]
pub(super) struct Conductor {
    /// One number, or those along x, y and z.
    pub conductivity: Vec<f64>,
    pub heat_capacity: Option<f64>,
    pub mass_density: Option<f64>,
    /// Film coefficient of the films that name this material.
    pub film_coefficient: Option<f64>,
}

/// Numbers of grids, elements or load sets: ranges `first, last, step`, and numbers, ascending,
/// that are none of them.
#[derive(Debug, Clone, Default)]
pub(super) struct List {
    pub ranges: Vec<(u64, u64, u64)>,
    pub without: Vec<u64>,
}

/// Heat in load sets.
#[derive(Default)]
pub(super) struct Heat {
    /// SLOAD: load set, grid, heat.
    pub into_grids: Vec<(u64, u64, f64)>,
    /// QHBDY: load set, heat per area, corners of the face.
    pub into_faces: Vec<(u64, f64, Vec<u64>)>,
    /// QVOL: load set, heat per volume, elements.
    pub in_elements: Vec<(u64, f64, List)>,
}

/// SET among the bulk data.
pub(super) struct GivenSet {
    pub tag: u64,
    /// Whether the set holds grids; else it holds elements.
    pub of_grids: bool,
    pub list: List,
}

/// SPC, SPC1.
pub(super) struct Support {
    pub set: u64,
    pub components: [bool; 6],
    pub displacement: f64,
    pub grids: List,
}

/// FORCE, MOMENT, and those along grids.
#[derive(Debug, Clone, Copy)]
pub(super) struct Force {
    pub set: u64,
    pub grid: u64,
    pub is_moment: bool,
    pub vector: ForceVector,
}

/// The vector of a force or a moment.
#[derive(Debug, Clone, Copy)]
pub(super) enum ForceVector {
    /// In a coordinate system.
    Given(u64, [f64; 3]),
    /// Vector of this size from one grid to another (FORCE1).
    Along(f64, [u64; 2]),
    /// Vector of this size along the product of those between grids 1 and 2, and 3 and 4 (FORCE2).
    Across(f64, [u64; 4]),
}

/// PLOAD4 on one element.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pressure {
    pub set: u64,
    pub element: u64,
    /// At the corners of the face.
    pub values: [f64; 4],
    /// G1, and G3 or G4; 0 where they are blank.
    pub grids: [u64; 2],
    /// System and direction of a traction.
    pub direction: Option<(u64, [f64; 3])>,
    pub origin: Origin,
}

/// GRAV.
pub(super) struct Gravity {
    pub set: u64,
    pub system: u64,
    pub acceleration: [f64; 3],
}

/// RFORCE.
pub(super) struct Rotation {
    pub set: u64,
    /// A grid of the axis; 0 is the origin.
    pub grid: u64,
    pub system: u64,
    /// Radians per time.
    pub angular_velocity: [f64; 3],
}

/// RBE2, RBE3.
pub(super) struct Coupling {
    pub tag: u64,
    pub is_rigid: bool,
    /// The grid that moves the others, or that moves by their mean.
    pub reference: u64,
    /// Components of the others that are coupled.
    pub components: [bool; 6],
    pub grids: List,
    /// Whether the others count differently.
    pub is_uneven: bool,
}

/// Support and load set that a subcase selects.
#[derive(Debug, Clone, Default)]
pub(super) struct Subcase {
    pub number: u64,
    pub name: Option<String>,
    pub supports: Option<u64>,
    pub loads: Option<u64>,
    /// TEMPERATURE(LOAD).
    pub temperatures: Option<u64>,
}

impl Deck {
    /// A fault at a line of a file.
    pub fn at(&self, origin: Origin, fault: impl Into<crate::Fault>) -> Located {
        self.within(origin.file, Located::at_line(origin.line, fault))
    }

    /// A fault at a line of a file: an included one is named.
    pub fn within(&self, file: usize, located: Located) -> Located {
        match (file.checked_sub(1), located.place) {
            (Some(included), Some(Place::Line(line))) => {
                let file = self.included[included].clone();
                Fault::Included { file, line, fault: located.fault }.into()
            }
            _ => located,
        }
    }

    /// Counts an entry by its name.
    pub fn count(list: &mut BTreeMap<String, usize>, name: &str) {
        match list.get_mut(name) {
            Some(count) => *count += 1,
            None => drop(list.insert(name.to_owned(), 1)),
        }
    }
}

impl Kind {
    /// The kind of `CORD2C` and the like, by the last letter.
    pub fn of(entry: &str) -> Self {
        match entry.as_bytes().last() {
            Some(b'C') => Self::Cylindrical,
            Some(b'S') => Self::Spherical,
            _ => Self::Rectangular,
        }
    }
}

impl List {
    pub fn one(tag: u64) -> Self {
        Self { ranges: vec![(tag, tag, 1)], without: Vec::new() }
    }

    /// Extends the last single number to a range that ends at `last`; false if there is none before.
    pub fn extend_to(&mut self, last: u64) -> bool {
        match self.ranges.last_mut() {
            Some(range) if range.0 == range.1 && range.0 <= last => {
                range.1 = last;
                true
            }
            _ => false,
        }
    }

    /// The positions of its members among the ascending `tags`, and how many single numbers are not
    /// there.
    pub fn positions(&self, tags: &[u64]) -> (Vec<u32>, usize) {
        let (mut found, mut missing) = (Vec::new(), 0);
        for &(first, last, step) in &self.ranges {
            let start = tags.partition_point(|&tag| tag < first);
            let end = tags.partition_point(|&tag| tag <= last).max(start);
            missing += usize::from(first == last && start == end);
            let fits = |i: &usize| {
                (tags[*i] - first).is_multiple_of(step)
                    && self.without.binary_search(&tags[*i]).is_err()
            };
            found.extend((start..end).filter(fits).map(|i| i as u32));
            // Ranges that overlap many times stay bounded.
            if found.len() > 2 * tags.len() {
                sort(&mut found);
            }
        }
        sort(&mut found);
        (found, missing)
    }
}

/// Each entry once, ascending.
pub(super) fn sort<T: Ord>(list: &mut Vec<T>) {
    list.sort_unstable();
    list.dedup();
}
