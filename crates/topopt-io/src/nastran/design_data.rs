//! `Design`: the entries of an optimization of OptiStruct, by the numbers of the deck.

use std::collections::{BTreeMap, BTreeSet};

use super::origin::Origin;

/// The optimization that a deck asks for.
#[derive(Default)]
pub(super) struct Design {
    /// DTPL of solids.
    pub spaces: Vec<Space>,
    /// Least width of members where a DTPL gives none (DOPTPRM, MINDIM).
    pub least_member: Option<f64>,
    /// Whether WCOMP divides each compliance by that of the first iteration (DOPTPRM, AUTOWGHT).
    pub is_normalized: bool,
    /// DRESP1 and other responses, by number.
    pub responses: BTreeMap<u64, Response>,
    /// DCONSTR.
    pub limits: Vec<Limit>,
    /// DCONADD: the sets of limits that a set adds.
    pub sums: BTreeMap<u64, Vec<u64>>,
    /// DESGLB and DESSUB.
    pub selections: Vec<Selection>,
    /// DESOBJ.
    pub objective: Option<Objective>,
    /// WEIGHT by the place of the subcase; none for all.
    pub weights: BTreeMap<Option<usize>, f64>,
}

/// DTPL.
pub(super) struct Space {
    pub number: u64,
    /// Properties of the space; all if there are none.
    pub properties: BTreeSet<u64>,
    pub demands: Vec<Demand>,
    pub origin: Origin,
}

/// A demand of a DTPL on the way in which the part is made.
pub(super) enum Demand {
    /// MEMBSIZ: least and largest width of members, least width of gaps.
    Members([Option<f64>; 3]),
    /// PATRN of one to three planes: anchor, first and second point.
    Planes(usize, [Point; 3]),
    /// PATRN of sectors, and whether each mirrors itself: anchor, first and second point.
    Sectors(u64, bool, [Point; 3]),
    /// DRAW.
    Draw {
        /// Whether the mold opens to both sides.
        is_split: bool,
        /// NOHOLE: whether no hole may go through.
        is_closed: bool,
        /// STAMP: thickness of a sheet.
        thickness: Option<f64>,
        /// Anchor and first point.
        points: [Point; 2],
        /// Properties that keep the mold out (OBST).
        obstacles: BTreeSet<u64>,
    },
    /// EXTR: the grids of its path.
    Extrusion(Vec<u64>),
}

/// A point, by a grid or by its coordinates in the basic system.
#[derive(Debug, Clone, Copy)]
pub(super) enum Point {
    /// A blank one.
    None,
    Grid(u64),
    At([f64; 3]),
}

/// DRESP1, and others by their kind alone.
#[derive(Default)]
pub(super) struct Response {
    /// Kind, such as `VOLFRAC`; the name of other entries than DRESP1.
    pub kind: String,
    /// Word for what the numbers are of: `PSOLID`, `MAT`; blank for grids or the whole part.
    pub of: String,
    /// Component, or another attribute.
    pub component: String,
    /// `SUM`, or another attribute.
    pub sum: String,
    /// Properties, materials or grids.
    pub numbers: Vec<u64>,
    /// First word among the numbers, such as `EXCL`.
    pub more: Option<String>,
    pub origin: Origin,
}

/// DCONSTR.
pub(super) struct Limit {
    pub number: u64,
    pub response: u64,
    pub least: Option<f64>,
    pub most: Option<f64>,
    /// Whether it has other fields, or a bound is the number of a table.
    pub is_special: bool,
    pub origin: Origin,
}

/// DESGLB or DESSUB.
pub(super) struct Selection {
    /// The word.
    pub word: &'static str,
    /// Place of its subcase; none above all of them.
    pub subcase: Option<usize>,
    /// The set of limits.
    pub set: u64,
    pub origin: Origin,
}

/// DESOBJ.
pub(super) struct Objective {
    /// The line in words: `DESOBJ(MIN) = 2`.
    pub words: String,
    /// The response; none if the line says something that is not understood.
    pub response: Option<u64>,
    pub is_maximum: bool,
    /// Place of its subcase; none above all of them.
    pub subcase: Option<usize>,
    pub origin: Origin,
}
