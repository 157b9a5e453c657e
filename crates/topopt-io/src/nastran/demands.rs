//! The demands of DTPL on the way in which the part is made.

use topopt_mesh::vector::{cross, difference, dot, length};

use super::design_data::{Demand, Point, Space};
use super::error::Fault;
use super::model::Model;
use crate::deck_design::DeckManufacturing;
use crate::found::Found;
use crate::read_error::Parsed;

/// Grids of a path of extrusion are on a line if they are this near to it, by its length.
const STRAIGHT: f64 = 1e-6;

/// Points at one place are this near, as a share of their distance from the origin.
const SAME: f64 = 1e-12;

/// Returns the demands that all design spaces have; those of some alone are lost.
pub(super) fn common(model: &Model, found: &mut Found) -> Parsed<Vec<DeckManufacturing>> {
    let spaces = &model.deck.design.spaces;
    let all = spaces.iter().map(|space| Demands { model, space }.all(found));
    let all: Vec<Vec<(&str, DeckManufacturing)>> = all.collect::<Parsed<_>>()?;
    let is_common = |demand| all.iter().all(|demands| demands.contains(demand));

    let mut carried = Vec::new();
    for (space, demands) in spaces.iter().zip(&all) {
        let (common, own): (Vec<_>, Vec<_>) = demands.iter().partition(|demand| is_common(*demand));
        if carried.is_empty() {
            carried = common.into_iter().map(|(_, demand)| demand.clone()).collect();
        }
        let mut words: Vec<&str> = own.into_iter().map(|(word, _)| *word).collect();
        words.dedup();
        for word in words {
            found.lose(format!(
                "{word} of DTPL {}, which holds for some of the design spaces alone; a demand of \
                 [[manufacturing]] holds for all of them",
                space.number
            ));
        }
    }
    Ok(carried)
}

/// The demands of a design space.
struct Demands<'a> {
    model: &'a Model<'a>,
    space: &'a Space,
}

impl Demands<'_> {
    /// Returns all demands of the space, with their words.
    fn all(&self, found: &mut Found) -> Parsed<Vec<(&'static str, DeckManufacturing)>> {
        let mut all = Vec::new();
        let members = |demand: &Demand| matches!(demand, Demand::Members(_));
        if !self.space.demands.iter().any(members) && !self.is_stamped() {
            all.extend(self.members([None; 3], found).map(|demand| ("DOPTPRM", demand)));
        }
        for demand in &self.space.demands {
            match demand {
                Demand::Members(_) if self.is_stamped() => found.lose(format!(
                    "MEMBSIZ of DTPL {}, as a part that is stamped has the width of its thickness",
                    self.space.number
                )),
                Demand::Members(widths) => {
                    let members = self.members(*widths, found);
                    all.extend(members.map(|demand| ("MEMBSIZ", demand)));
                }
                Demand::Planes(count, points) => {
                    let planes = self.planes(*count, points)?;
                    all.extend(planes.into_iter().map(|demand| ("PATRN", demand)));
                }
                Demand::Sectors(sectors, is_mirrored, points) => {
                    all.push(("PATRN", self.sectors(*sectors, *is_mirrored, points)?));
                }
                Demand::Draw { is_split, is_closed, thickness, points, obstacles } => {
                    let draw = self.direction("DRAW", points)?;
                    let sides = if *is_split { 2 } else { 1 };
                    let is_closed = *is_closed && self.says_parting(*is_split, found);
                    let thickness = *thickness;
                    let mold = DeckManufacturing::Casting { draw, sides, is_closed, thickness };
                    all.push(("DRAW", mold));
                    self.say_obstacles(|property| obstacles.contains(property), found);
                }
                Demand::Extrusion(path) => {
                    let extrusion = self.extrusion(path, found)?;
                    all.extend(extrusion.map(|extrusion| ("EXTR", extrusion)));
                }
            }
        }
        Ok(all)
    }

    /// Whether the part is a sheet.
    fn is_stamped(&self) -> bool {
        let has = |demand: &Demand| matches!(demand, Demand::Draw { thickness: Some(_), .. });
        self.space.demands.iter().any(has)
    }

    /// Widths of members, if there are any. A largest width asks for gaps as wide, and a gap is for
    /// nothing without one (Altair OptiStruct User Guide, Topology Optimization Manufacturability).
    fn members(
        &self,
        [minimum, maximum, gap]: [Option<f64>; 3],
        found: &mut Found,
    ) -> Option<DeckManufacturing> {
        let minimum = minimum.or(self.model.deck.design.least_member);
        if gap.is_some() && maximum.is_none() {
            found.lose(format!(
                "MINGAP of DTPL {} without MAXDIM, which has no effect in OptiStruct",
                self.space.number
            ));
        }
        let gap = maximum.map(|maximum| gap.unwrap_or(0.0).max(maximum));
        let members = DeckManufacturing::MemberSize { minimum, gap, maximum };
        (minimum.is_some() || maximum.is_some()).then_some(members)
    }

    /// Planes through the anchor: across the way to the first point; across that to
    /// the second one along the first plane; across both.
    fn planes(&self, count: usize, points: &[Point; 3]) -> Parsed<Vec<DeckManufacturing>> {
        let point = self.place("PATRN", points[0])?;
        let first = self.direction("PATRN", &[points[0], points[1]])?;
        let mut normals = vec![first];
        if count > 1 {
            let second = self.second(points, point, first)?;
            normals.extend([second, cross(first, second)]);
        }
        normals.truncate(count);
        let plane = |normal| DeckManufacturing::Symmetry { point, normal };
        Ok(normals.into_iter().map(plane).collect())
    }

    /// Sectors about the axis from the anchor to the first point, which mirror themselves about the
    /// plane with the second one.
    fn sectors(
        &self,
        sectors: u64,
        is_mirrored: bool,
        points: &[Point; 3],
    ) -> Parsed<DeckManufacturing> {
        let point = self.place("PATRN", points[0])?;
        let axis = self.direction("PATRN", &[points[0], points[1]])?;
        let mirrored = is_mirrored.then(|| self.second(points, point, axis)).transpose()?;
        Ok(DeckManufacturing::Cyclic { point, axis, sectors, mirrored })
    }

    /// The way from the anchor to the second point, without its part along the first one.
    fn second(&self, points: &[Point; 3], anchor: [f64; 3], first: [f64; 3]) -> Parsed<[f64; 3]> {
        let to = difference(self.place("PATRN", points[2])?, anchor);
        let along = dot(to, first) / dot(first, first);
        let across = [0, 1, 2].map(|i| to[i] - along * first[i]);
        if length(across) > STRAIGHT * length(to) {
            return Ok(across);
        }
        self.no_direction("PATRN", "the second point and its image on the first axis")
    }

    /// An extrusion along a straight path, or along a curve.
    fn extrusion(&self, path: &[u64], found: &mut Found) -> Parsed<Option<DeckManufacturing>> {
        let [first, .., last] = path else {
            found.lose(format!("EXTR of DTPL {} without a path (EPATH1)", self.space.number));
            return Ok(None);
        };
        let places = path.iter().map(|&grid| self.place("EXTR", Point::Grid(grid)));
        let path: Vec<[f64; 3]> = places.collect::<Parsed<_>>()?;
        let ends = [*first, *last].map(Point::Grid);
        let chord = difference(path[path.len() - 1], path[0]);
        let long: f64 = path.windows(2).map(|ends| length(difference(ends[1], ends[0]))).sum();
        if length(chord) <= STRAIGHT * long {
            found.lose(format!(
                "EXTR of DTPL {}, whose path (EPATH1) ends at grid {last}, where it begins; a path \
                 of `kind = \"extrusion\"` is open, and the sections of a ring repeat themselves by \
                 `kind = \"cyclic\"` with many `sectors`",
                self.space.number
            ));
            return Ok(None);
        }
        let is_on = |place: &[f64; 3]| {
            let off = length(cross(difference(*place, path[0]), chord));
            off <= STRAIGHT * dot(chord, chord)
        };
        Ok(Some(match path.iter().all(is_on) {
            true => DeckManufacturing::Extrusion { direction: self.direction("EXTR", &ends)? },
            false => DeckManufacturing::ExtrusionAlong { path },
        }))
    }

    /// Says that holes may go through where the mold opens to both sides, and nobody knows in which
    /// plane; returns whether it does not.
    fn says_parting(&self, is_split: bool, found: &mut Found) -> bool {
        if is_split {
            found.lose(format!(
                "NOHOLE of DTPL {}, as a mold of two sides needs `parting`, a point of the plane \
                 in which they meet, beside `through_holes = false`",
                self.space.number
            ));
        }
        !is_split
    }

    /// Says which solids keep the mold out here and not in the deck.
    fn say_obstacles(&self, is_obstacle: impl Fn(&u64) -> bool, found: &mut Found) {
        let solid = self.model.deck.solid_properties();
        let others = solid.iter().filter(|property| !is_obstacle(property));
        let others: Vec<String> = others.map(u64::to_string).collect();
        if !others.is_empty() {
            found.lose(format!(
                "DRAW of DTPL {} passes over property {} (no OBST); here all solid elements keep \
                 the mold out",
                self.space.number,
                others.join(", ")
            ));
        }
    }

    /// The way from a point to another one.
    fn direction(&self, word: &str, points: &[Point; 2]) -> Parsed<[f64; 3]> {
        let [from, to] = [self.place(word, points[0])?, self.place(word, points[1])?];
        let way = difference(to, from);
        if length(way) > SAME * length(from).max(length(to)) {
            return Ok(way);
        }
        self.no_direction(word, "the anchor and the first point")
    }

    fn no_direction<T>(&self, word: &str, points: &'static str) -> Parsed<T> {
        let entry = format!("{word} of DTPL {}", self.space.number);
        Err(self.model.deck.at(self.space.origin, Fault::NoDirection { entry, points }))
    }

    /// The place of a point in the basic system.
    fn place(&self, word: &str, point: Point) -> Parsed<[f64; 3]> {
        let user = format!("{word} of DTPL {}", self.space.number);
        let fault = match point {
            Point::At(place) => return Ok(place),
            Point::Grid(number) => match self.model.part.node(number) {
                Some(position) => return Ok(self.model.place(position)),
                None => Fault::Missing { user, what: "grid", number },
            },
            Point::None => Fault::NoSecondPoint(user),
        };
        Err(self.model.deck.at(self.space.origin, fault))
    }
}
