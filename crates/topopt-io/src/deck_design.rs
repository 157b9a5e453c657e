//! `DeckDesign`: the optimization that a solver's deck describes.

/// An optimization that a deck describes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DeckDesign {
    /// Element sets that are no part of the design space.
    pub solid: Vec<String>,
    /// Response that is minimized or maximized; none where the deck does not say.
    pub objective: Option<DeckObjective>,
    /// Limits of responses.
    pub limits: Vec<DeckLimit>,
    /// Weights of load cases in the compliance; 1 for those that are not here.
    pub weights: Vec<(String, f64)>,
    /// Demands of the way in which the part is made.
    pub manufacturing: Vec<DeckManufacturing>,
    /// Whether elements at loads and supports stay solid, too.
    pub keeps_loaded: bool,
    /// Radius of the filter (length), if the deck gives it.
    pub filter_radius: Option<f64>,
}

/// Response that a deck minimizes or maximizes.
#[derive(Debug, Clone, PartialEq)]
pub enum DeckObjective {
    /// A response.
    Response {
        /// The response.
        response: DeckResponse,
        /// Whether it is maximized.
        is_maximum: bool,
    },
    /// Words of an objective without a counterpart: a case then needs one of the user's.
    Other(String),
}

/// A limit of a response.
#[derive(Debug, Clone, PartialEq)]
pub struct DeckLimit {
    /// The response.
    pub response: DeckResponse,
    /// The limit, in the unit of the measure.
    pub value: f64,
    /// Whether it is the largest value allowed, else the smallest.
    pub is_most: bool,
    /// The limit in the words of the deck: `DCONSTR 10 of the response 3 (DISP)`.
    pub words: String,
}

/// A response of a part.
#[derive(Debug, Clone, PartialEq)]
pub struct DeckResponse {
    /// The measure.
    pub measure: DeckMeasure,
    /// The set that it is of, of nodes or of elements; none for the part.
    pub set: Option<String>,
    /// Direction of a displacement; none for its size.
    pub direction: Option<[f64; 3]>,
    /// The load case; none for all of them.
    pub case: Option<String>,
}

/// A measure of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeckMeasure {
    /// Force times displacement.
    Compliance,
    /// The volume of the part, or of a set.
    Volume,
    /// Share of the design volume that material fills, or of the volume of a set.
    VolumeShare,
    /// The mass of the part, or of a set.
    Mass,
    /// Share of the mass of the full part, or of the full set.
    MassShare,
    /// The displacement of a node.
    Displacement,
    /// The temperature of a node.
    Temperature,
}

/// A demand of the way in which the part is made.
#[derive(Debug, Clone, PartialEq)]
pub enum DeckManufacturing {
    /// The design mirrors itself across a plane.
    Symmetry {
        /// A point of the plane.
        point: [f64; 3],
        /// A vector across it.
        normal: [f64; 3],
    },
    /// The design repeats itself about an axis.
    Cyclic {
        /// A point of the axis.
        point: [f64; 3],
        /// A vector along it.
        axis: [f64; 3],
        /// How often in a full turn.
        sectors: u64,
        /// A direction from the axis about which each sector mirrors itself.
        mirrored: Option<[f64; 3]>,
    },
    /// The design has one section along a direction.
    Extrusion {
        /// The direction.
        direction: [f64; 3],
    },
    /// The design has one section along a smooth curve.
    ExtrusionAlong {
        /// Points of the curve, in order.
        path: Vec<[f64; 3]>,
    },
    /// The part comes out of a mold.
    Casting {
        /// Direction of draw.
        draw: [f64; 3],
        /// Number of sides that the mold opens to, 1 or 2.
        sides: usize,
        /// Whether no hole may go through along it.
        is_closed: bool,
        /// Thickness of a part that is a sheet (length).
        thickness: Option<f64>,
    },
    /// The part is printed without props.
    Overhang {
        /// Direction of build.
        build: [f64; 3],
        /// Largest angle between the part and that direction, in degrees.
        degrees: f64,
    },
    /// The part is milled.
    Milling {
        /// Directions from the part to the tools.
        tools: Vec<[f64; 3]>,
    },
    /// The design repeats itself along a vector.
    Pattern {
        /// Vector from each cell to the next.
        pitch: [f64; 3],
    },
    /// Members and gaps have widths within limits (length).
    MemberSize {
        /// Least width of members.
        minimum: Option<f64>,
        /// Least width of gaps.
        gap: Option<f64>,
        /// Largest width of members.
        maximum: Option<f64>,
    },
}
