//! *DLOAD, *DSLOAD, *DFLUX, *DSFLUX, *FILM and *SFILM, as they stand in the file.

use topopt_mesh::vector::length;

use super::conditions::one_item;
use super::deck::Reader;
use super::given::{Distributed, DistributedKind, OnFaces};
use super::lines::{Data, Keyword, capitals, unquoted};
use super::sets::{Block, Item};
use crate::read_error::Parsed;

/// A line of a load: its fields as numbers.
struct Line<'a> {
    keyword: &'a Keyword,
    data: &'a Data<'a>,
    fields: Vec<&'a str>,
}

impl<'a> Line<'a> {
    fn of(keyword: &'a Keyword, data: &'a Data<'a>) -> Self {
        Self { keyword, data, fields: data.fields().collect() }
    }

    fn field(&self, i: usize) -> &'a str {
        self.fields.get(i).copied().unwrap_or("")
    }

    /// A number, 0 where there is none.
    fn number(&self, i: usize) -> Parsed<f64> {
        match self.field(i) {
            "" => Ok(0.0),
            text => self.data.double(self.keyword, text, "a number"),
        }
    }

    fn vector(&self, i: usize) -> Parsed<[f64; 3]> {
        Ok([self.number(i)?, self.number(i + 1)?, self.number(i + 2)?])
    }
}

impl Reader<'_> {
    /// `elements, P1 to P6, pressure`, `elements, GRAV, acceleration, direction` and `elements,
    /// CENTRIF, square of the angular velocity, point, direction`; `elements, S1 to S6, heat flux`,
    /// `elements, BF, heat source`; `elements, F1 to F6, ambient, film coefficient`. Elements left out
    /// are all.
    pub fn element_loads(&mut self, keyword: &Keyword) -> Parsed<()> {
        self.release(keyword, family(keyword));
        while let Some(data) = self.lines.data() {
            let line = Line::of(keyword, &data);
            let Some(kind) = element_load(&line)? else {
                self.lose_label(keyword, &line);
                continue;
            };
            // All elements without one: an empty list of items.
            let first = line.field(0);
            let items = if first.is_empty() { Vec::new() } else { vec![self.item(first)] };
            let name = format!("{}_{}", keyword.name.to_lowercase(), data.line);
            let block = Block { items, ..one_item(keyword, data.line, name, Item::Tags(0, 0)) };
            self.add_distributed(keyword, block, kind);
        }
        Ok(())
    }

    /// `surface, P, pressure` and `surface, TRVEC, force per area, direction`; `surface, S, heat flux`;
    /// `surface, F, ambient, film coefficient`.
    pub fn surface_loads(&mut self, keyword: &Keyword) -> Parsed<()> {
        self.release(keyword, family(keyword));
        while let Some(data) = self.lines.data() {
            let line = Line::of(keyword, &data);
            let on = match (keyword.name.as_str(), capitals(line.field(1)).as_str()) {
                ("DSLOAD", "P") => OnFaces::Pressure(line.number(2)?),
                ("DSLOAD", "TRVEC") => {
                    let size = line.number(2)?;
                    OnFaces::Traction(unit(line.vector(3)?).map(|d| d * size))
                }
                ("DSFLUX", "S") => OnFaces::Flux(line.number(2)?),
                ("SFILM", "F") => OnFaces::Film(line.number(3)?, line.number(2)?),
                _ => {
                    self.lose_label(keyword, &line);
                    continue;
                }
            };
            let name = unquoted(line.field(0));
            let block = one_item(keyword, data.line, name.to_owned(), Item::Set(self.key(name)));
            self.add_distributed(keyword, block, DistributedKind::Surface(on));
        }
        Ok(())
    }

    fn lose_label(&mut self, keyword: &Keyword, line: &Line) {
        let (label, at) = (capitals(line.field(1)), self.at(line.data.line));
        self.lose(format!("load `{label}` of *{} ({at})", keyword.written));
    }

    fn add_distributed(&mut self, keyword: &Keyword, block: Block, kind: DistributedKind) {
        let when = self.when(keyword);
        self.deck.distributed.push(Distributed { block, kind, when });
    }
}

/// The load of a line of *DLOAD, *DFLUX or *FILM; none of a label that is not known.
fn element_load(line: &Line) -> Parsed<Option<DistributedKind>> {
    let label = capitals(line.field(1));
    let face = |letter: char| {
        let number = label.strip_prefix(letter).and_then(|face| face.parse::<usize>().ok());
        number.filter(|number| (1..=6).contains(number))
    };
    let on = |face: Option<usize>, on| face.map(|face| DistributedKind::Face(face, on));
    Ok(match (line.keyword.name.as_str(), label.as_str()) {
        ("DLOAD", "GRAV") => {
            let size = line.number(2)?;
            Some(DistributedKind::Gravity(unit(line.vector(3)?).map(|d| d * size)))
        }
        ("DLOAD", "CENTRIF") => {
            let (square, point) = (line.number(2)?, line.vector(3)?);
            Some(DistributedKind::Centrifugal(square, point, unit(line.vector(6)?)))
        }
        ("DLOAD", _) => on(face('P'), OnFaces::Pressure(line.number(2)?)),
        ("DFLUX", "BF") => Some(DistributedKind::Source(line.number(2)?)),
        ("DFLUX", _) => on(face('S'), OnFaces::Flux(line.number(2)?)),
        _ => on(face('F'), OnFaces::Film(line.number(3)?, line.number(2)?)),
    })
}

/// The keyword whose `OP=NEW` takes away loads of this one as well.
fn family(keyword: &Keyword) -> &'static str {
    match keyword.name.as_str() {
        "DFLUX" | "DSFLUX" => "DFLUX",
        "FILM" | "SFILM" => "FILM",
        _ => "DLOAD",
    }
}

/// `direction` of length 1; zero stays.
fn unit(direction: [f64; 3]) -> [f64; 3] {
    let size = length(direction);
    if size > 0.0 { direction.map(|d| d / size) } else { direction }
}
