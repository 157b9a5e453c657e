//! Places in the voids of a part that a mold or a tool does not reach.

use std::sync::OnceLock;

use rayon::prelude::*;

use crate::body::Body;
use crate::columns::{Columns, Layer, Run, Runs, run_at};
use crate::{Draw, TriangleSurface};

/// Tool that comes along a straight way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tool {
    /// Direction to where it comes from, of length 1.
    pub direction: [f64; 3],
    /// Half of its diameter (length), 0 for a thin one.
    pub radius: f64,
}

/// A built body within the part that it is made of, by their closed surfaces.
pub struct InPart<'a> {
    /// Surfaces of the body, and of the part that the design lies in.
    surfaces: [&'a TriangleSurface; 2],
    /// Bodies within these, made for the first way that is looked along.
    bodies: [OnceLock<Option<Body>>; 2],
    /// Edge of the cubes that voids are measured by.
    pub edge: f64,
}

/// Columns of cubes with what is in them.
pub(crate) struct Cubes {
    pub columns: Columns,
    pub body: Runs,
    part: Runs,
}

/// Marks of cubes, `[n_layers][n_columns]`.
type Marks = Vec<Vec<bool>>;

/// Cubes of a body, and of the void around it, that lie away from its surface.
pub struct Apart {
    columns: Columns,
    /// Marks of the body, and of the void.
    marks: [Marks; 2],
}

impl Apart {
    /// Centers of the cubes, and whether they are void.
    pub fn places(&self) -> impl ParallelIterator<Item = (bool, [f64; 3])> + '_ {
        let layers = (0..2 * self.columns.n_layers).into_par_iter();
        layers.flat_map_iter(move |at| {
            let (is_void, k) = (at % 2 == 1, at / 2);
            let layer = self.marks[at % 2][k].iter().enumerate();
            let marked = layer.filter(|(_, marked)| **marked);
            marked.map(move |(c, _)| (is_void, self.columns.place(c, k)))
        })
    }
}

impl<'a> InPart<'a> {
    /// Surface of the body.
    pub fn surface(&self) -> &TriangleSurface {
        self.surfaces[0]
    }

    /// The built body within `body`, in that within `part`, measured by cubes with an `edge`.
    pub fn new([body, part]: [&'a TriangleSurface; 2], edge: f64) -> Self {
        Self { surfaces: [body, part], bodies: Default::default(), edge }
    }

    /// Finds the centers of the cubes in the void of the part from which material lies along the
    /// ways out, within the cone of the draft.
    pub fn undercuts(&self, draw: &Draw) -> Vec<[f64; 3]> {
        let missed = |way: &[f64; 3]| {
            let cubes = self.cubes(*way, 0.0)?;
            let marks = cubes.missed(&cubes.shaded(draw.draft.tan()), 0.0);
            Some((cubes, marks))
        };
        let all: Option<Vec<_>> = draw.ways.iter().map(missed).collect();
        let all = all.unwrap_or_default();
        if draw.parting.is_none() {
            return in_all(&all);
        }
        let (above, below) = all.split_at(1);
        let mut places = in_all(above);
        places.retain(|place| draw.is_above(*place));
        places.extend(in_all(below).into_iter().filter(|place| !draw.is_above(*place)));
        places
    }

    /// Finds the centers of the cubes in the void of the part that none of the `tools` reaches.
    pub fn out_of_reach(&self, tools: &[Tool]) -> Vec<[f64; 3]> {
        let missed = |tool: &Tool| {
            let cubes = self.cubes(tool.direction, tool.radius)?;
            let marks = cubes.missed(&cubes.shaded(0.0), tool.radius);
            Some((cubes, marks))
        };
        let all: Option<Vec<_>> = tools.iter().map(missed).collect();
        in_all(&all.unwrap_or_default())
    }

    /// Finds the cubes of the body, and those of the void of the part, that have no cube of the other
    /// around them; none if a surface is open.
    pub fn apart(&self) -> Option<Apart> {
        let cubes = self.cubes([0.0, 0.0, 1.0], 0.0)?;
        let layers = 0..cubes.columns.n_layers;
        let contents: Vec<Vec<Content>> = layers.map(|k| cubes.content(k)).collect();
        let marks = [[Content::Body, Content::Void], [Content::Void, Content::Body]].map(|pair| {
            let layers = (0..cubes.columns.n_layers).into_par_iter();
            layers.map(|k| cubes.apart(&contents, k, pair)).collect()
        });
        Some(Apart { columns: cubes.columns, marks })
    }

    pub(crate) fn cubes(&self, up: [f64; 3], margin: f64) -> Option<Cubes> {
        let [_, part] = self.surfaces;
        let columns = Columns::around(part, up, self.edge, margin);
        let [body, part] = [0, 1].map(|which| Some(columns.runs(self.body(which)?)));
        Some(Cubes { body: body?, part: part?, columns })
    }

    fn body(&self, which: usize) -> Option<&Body> {
        self.bodies[which].get_or_init(|| Body::of(self.surfaces[which])).as_ref()
    }

    /// Columns of cubes around the body along `up`, and its runs; none if its surface is open.
    pub(crate) fn columns(&self, up: [f64; 3]) -> Option<(Columns, Runs)> {
        let columns = Columns::around(self.surfaces[0], up, self.edge, 0.0);
        let runs = columns.runs(self.body(0)?);
        Some((columns, runs))
    }
}

/// Centers of the cubes that all have marked.
fn in_all(all: &[(Cubes, Marks)]) -> Vec<[f64; 3]> {
    let Some(((first, marks), others)) = all.split_first() else { return Vec::new() };
    let is_marked = |place: &[f64; 3], (cubes, marks): &(Cubes, Marks)| {
        cubes.columns.at(*place).is_some_and(|(c, k)| marks[k][c])
    };
    let mut places: Vec<[f64; 3]> = first.marked(marks).collect();
    places.retain(|place| others.iter().all(|other| is_marked(place, other)));
    places
}

/// Content of a cube.
#[derive(Clone, Copy, PartialEq)]
enum Content {
    Body,
    Void,
    Outside,
}

impl Cubes {
    fn content(&self, k: usize) -> Vec<Content> {
        let of_column = |(body, part): (&Vec<Run>, &Vec<Run>)| match () {
            () if run_at(body, k).is_some() => Content::Body,
            () if run_at(part, k).is_some() => Content::Void,
            () => Content::Outside,
        };
        self.body.par_iter().zip(&self.part).map(of_column).collect()
    }

    /// Marks the cubes of layer `k` with the content `own` and none of the `other` around them,
    /// where layers have these `contents`.
    fn apart(&self, contents: &[Vec<Content>], k: usize, [own, other]: [Content; 2]) -> Vec<bool> {
        let near = &contents[k.saturating_sub(1)..(k + 2).min(contents.len())];
        let is_apart = |c: usize| {
            let mut around = self.columns.around_column(c);
            contents[k][c] == own && around.all(|c| near.iter().all(|layer| layer[c] != other))
        };
        (0..self.columns.len()).map(is_apart).collect()
    }

    /// Marks the cubes of the void from which a body lies upwards, or that are well within the cone
    /// of a `slope` below one, and those of the body; what lies beyond a gap of the part does not
    /// count.
    fn shaded(&self, slope: f64) -> Marks {
        let (n, columns) = (self.columns.n_layers, &self.columns);
        let mut marks = vec![Vec::new(); n];
        let mut is_shaded = vec![false; columns.len()];
        let mut cone = columns.layer(vec![f64::INFINITY; columns.len()]);
        for k in (0..n).rev() {
            let content = self.content(k);
            shade(&content, &mut is_shaded);
            if slope > 0.0 {
                cone.widen(&content, slope * columns.edge);
            }
            let is_within = cone.lengths.iter().map(|length| *length <= -columns.edge);
            let shaded = is_shaded.iter().zip(is_within).map(|(shaded, within)| *shaded || within);
            marks[k] = shaded.collect();
        }
        marks
    }

    /// Marks the cubes of the void to which a tool of that `radius` finds no way down between those
    /// that are `shaded`, nor to those beside them.
    fn missed(&self, shaded: &Marks, radius: f64) -> Marks {
        let columns = &self.columns;
        let missed = |(k, shaded): (usize, &Vec<bool>)| {
            columns.well_within(&self.content(k), &columns.without_room(shaded, radius))
        };
        shaded.par_iter().enumerate().map(missed).collect()
    }

    /// Centers of the cubes that are marked.
    fn marked<'a>(&'a self, marks: &'a Marks) -> impl Iterator<Item = [f64; 3]> + 'a {
        marks.iter().enumerate().flat_map(move |(k, layer)| {
            let marked = layer.iter().enumerate().filter(|(_, marked)| **marked);
            marked.map(move |(c, _)| self.columns.place(c, k))
        })
    }
}

/// Takes what `is_shaded` in a layer, `[n_columns]`, on to the next one with this `content`.
fn shade(content: &[Content], is_shaded: &mut [bool]) {
    for (shaded, content) in is_shaded.iter_mut().zip(content) {
        *shaded = match content {
            Content::Body => true,
            Content::Void => *shaded,
            Content::Outside => false,
        };
    }
}

impl Layer {
    /// Takes lengths from bodies above on to the next layer, with this `content`, by `less` for
    /// each.
    fn widen(&mut self, content: &[Content], less: f64) {
        for (length, content) in self.lengths.iter_mut().zip(content) {
            *length = match content {
                // A body reaches to half an edge from the centers of its cubes.
                Content::Body => (*length - less).min(-0.5 * self.edge),
                Content::Void if length.is_nan() => f64::INFINITY,
                Content::Void => *length - less,
                Content::Outside => f64::NAN,
            };
        }
        self.spread();
    }
}

/// Share of an edge within which a length is none.
const ROUNDING: f64 = 1e-9;

impl Columns {
    /// Distances of the columns from those that are `sources`, `[n_columns]`.
    fn distances(&self, sources: impl Fn(usize) -> bool) -> Vec<f64> {
        let length = |c: usize| if sources(c) { 0.0 } else { f64::INFINITY };
        let mut layer = self.layer((0..self.len()).map(length).collect());
        layer.spread();
        layer.lengths
    }

    /// Whether each cube of the void in a layer is `missed`, as are those beside it: by less a body
    /// may be off within its elements.
    fn well_within(&self, content: &[Content], missed: &[bool]) -> Vec<bool> {
        let length = |c: usize| match content[c] {
            Content::Body => f64::NAN,
            Content::Void if missed[c] => f64::INFINITY,
            _ => 0.0,
        };
        let mut layer = self.layer((0..self.len()).map(length).collect());
        layer.spread();
        layer.lengths.iter().map(|length| *length > (1.0 + ROUNDING) * self.edge).collect()
    }

    /// Whether each column of a layer is `taken`, or has no room for a disc of that `radius` around
    /// it anywhere that keeps off those that are, `[n_columns]`.
    fn without_room(&self, taken: &[bool], radius: f64) -> Vec<bool> {
        if radius <= self.edge {
            return taken.to_vec();
        }
        // Centers of cubes lie up to half an edge from the walls.
        let room = radius - self.edge;
        let off = self.distances(|c| taken[c]);
        let off = self.distances(|c| off[c] > room);
        off.iter().zip(taken).map(|(off, taken)| *taken || *off > radius).collect()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The surface of the solid cells, of edge 2, in a box of `n` cells.
    pub(crate) fn blocks(n: [usize; 3], is_solid: impl Fn([usize; 3]) -> bool) -> TriangleSurface {
        let solid = |x: [isize; 3]| {
            let within = (0..3).all(|i| x[i] >= 0 && x[i] < n[i] as isize);
            within && is_solid(x.map(|x| x as usize))
        };
        let number = |x: [isize; 3]| -> u32 {
            let [a, b] = [n[0] as isize + 1, n[1] as isize + 1];
            (x[0] + a * (x[1] + b * x[2])) as u32
        };
        let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
        for z in 0..=n[2] {
            for y in 0..=n[1] {
                vertices.extend((0..=n[0]).map(|x| [x, y, z].map(|x| 2.0 * x as f64)));
            }
        }
        for cell in 0..n.iter().product() {
            let x = [cell % n[0], cell / n[0] % n[1], cell / (n[0] * n[1])].map(|x| x as isize);
            for axis in 0..3 {
                for side in [0, 1] {
                    let mut behind = x;
                    behind[axis] += 2 * side - 1;
                    if !solid(x) || solid(behind) {
                        continue;
                    }
                    let [a, b, c, d] = [[0, 0], [1, 0], [1, 1], [0, 1]].map(|offset| {
                        let mut at = x;
                        at[axis] += side;
                        at[(axis + 1) % 3] += offset[0];
                        at[(axis + 2) % 3] += offset[1];
                        number(at)
                    });
                    let out = side == 1;
                    triangles.extend(if out {
                        [[a, b, c], [a, c, d]]
                    } else {
                        [[a, c, b], [a, d, c]]
                    });
                }
            }
        }
        TriangleSurface::new(vertices, triangles).compact()
    }

    const EDGE: f64 = 0.5;

    /// Volume in which `found` cubes lie.
    fn volume(found: &[[f64; 3]]) -> f64 {
        found.len() as f64 * EDGE.powi(3)
    }

    /// A mold that opens along z, and against it.
    fn draw(n_sides: usize, parting: Option<f64>, degrees: f64) -> Draw {
        let ways = [1.0, -1.0].map(|z| [0.0, 0.0, z])[..n_sides].to_vec();
        Draw { ways, parting, draft: f64::to_radians(degrees) }
    }

    /// A plate on a column in a box, like a mushroom.
    #[test]
    fn voids_below_a_plate_are_undercuts_from_above_alone() {
        let part = blocks([5, 5, 5], |_| true);
        let body = blocks([5, 5, 5], |[x, y, z]| z == 4 || x == 2 && y == 2);
        let in_part = InPart::new([&body, &part], EDGE);
        let below = 24.0 * 4.0 * 8.0;
        assert_eq!(volume(&in_part.undercuts(&draw(1, None, 0.0))), below);
        assert_eq!(volume(&in_part.undercuts(&draw(2, None, 0.0))), 0.0);
        let parted = in_part.undercuts(&draw(2, Some(4.0), 0.0));
        assert_eq!(volume(&parted), below / 2.0);
    }

    /// A column needs a cone around it, whose walls lean by the draft.
    #[test]
    fn a_draft_asks_for_a_cone_around_a_column() {
        let part = blocks([9, 9, 9], |_| true);
        let body = blocks([9, 9, 9], |[x, y, _]| x == 4 && y == 4);
        let in_part = InPart::new([&body, &part], EDGE);
        let found = volume(&in_part.undercuts(&draw(1, None, 15.0)));
        // Slabs on four sides of a square of edge 2, and quarters of a cone at its corners; of both
        // the two outermost cubes may be off.
        let lean = 15.0_f64.to_radians().tan();
        let high = 18.0 - 2.0 * EDGE / lean;
        let walls = 8.0 * lean * high.powi(2) / 2.0;
        let corners = std::f64::consts::PI * lean.powi(2) * high.powi(3) / 3.0;
        let expected = walls + corners;
        assert!((found - expected).abs() < 0.1 * expected, "{found}, {expected}");
    }

    /// A slot into a block, three wide, with a pocket on its side.
    #[test]
    fn tools_reach_what_they_see_and_have_room_for() {
        let part = blocks([7, 7, 5], |_| true);
        let is_slot = |x: usize, y: usize| (2..5).contains(&x) && (1..6).contains(&y);
        let is_void = |[x, y, z]: [usize; 3]| is_slot(x, y) || [x, y, z] == [5, 3, 1];
        let body = blocks([7, 7, 5], |at| !is_void(at));
        let in_part = InPart::new([&body, &part], EDGE);
        let up = [0.0, 0.0, 1.0];
        let missed = |tools: &[Tool]| volume(&in_part.out_of_reach(tools));
        let thin = Tool { direction: up, radius: 0.0 };
        // The cubes beside the slot may be off.
        assert_eq!(missed(&[thin]), 6.0);
        assert_eq!(missed(&[Tool { direction: up, radius: 2.9 }]), 6.0);
        assert_eq!(missed(&[Tool { direction: up, radius: 4.0 }]), 8.0 * (3.0 * 25.0 + 1.0));
        // From the side where the pocket opens into the slot walls are in the way.
        let side = Tool { direction: [1.0, 0.0, 0.0], radius: 0.0 };
        assert_eq!(missed(&[thin, side]), 6.0);
        let along = Tool { direction: [0.0, 1.0, 0.0], radius: 0.0 };
        assert_eq!(missed(&[along, thin]), 6.0);
    }
}
