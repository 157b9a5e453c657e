//! DTPL: the design space of OptiStruct, and its demands on the way in which the part is made.

use super::design_data::{Demand, Point, Space};
use super::field;
use super::lines::Card;
use super::read::Reader;
use crate::quote::excerpt;
use crate::read_error::Parsed;

/// The lines of a DTPL that belong to one word.
struct Section {
    /// In capitals; blank before the first word.
    word: String,
    rows: Vec<Row>,
}

/// A line of a DTPL.
struct Row {
    /// First field of the line.
    start: usize,
    /// First field behind the word, or the first that is not blank.
    first: usize,
}

impl Row {
    /// The fields of the line behind the word.
    fn fields(&self) -> std::ops::Range<usize> {
        self.first..self.start + 8
    }
}

/// A demand of a DTPL, if there is one; what is not carried over, as an error.
type Given = Result<Option<Demand>, String>;

impl Reader {
    /// `number, PSOLID, properties`, and lines that begin with a word, such as `MEMBSIZ, least,
    /// largest, gap`.
    pub fn design_space(&mut self, card: &Card) -> Parsed<()> {
        let number = card.tag(2, "the number of a design variable")?;
        if !card.is_word(3, "PSOLID") {
            let of = String::from_utf8_lossy(card.text(3)).to_uppercase();
            self.lose(&format!("DTPL of {}, which is not PSOLID,", excerpt(&of)), card.line);
            return Ok(());
        }

        let sections = sections(card);
        let properties = numbers(card, &sections[0])?.into_iter().collect();
        let (demands, origin) = (Vec::new(), self.origin_of(card));
        let mut space = Space { number, properties, demands, origin };
        for section in &sections[1..] {
            match given(card, section, &sections)? {
                Ok(demand) => space.demands.extend(demand),
                Err(what) => self.lose(&format!("DTPL with {what}"), card.line),
            }
        }
        self.deck.design.spaces.push(space);
        Ok(())
    }
}

/// The demand of a section of a DTPL; others have what belongs to it.
fn given(card: &Card, section: &Section, others: &[Section]) -> Parsed<Given> {
    let row = &section.rows[0];
    let named = |word: &str| -> Parsed<Vec<u64>> {
        let named = others.iter().filter(|section| section.word == word);
        let lists: Parsed<Vec<_>> = named.map(|section| numbers(card, section)).collect();
        Ok(lists?.concat())
    };

    Ok(match section.word.as_str() {
        // MESH says that the mesh lies along the draw, a hint for the method.
        "MESH" | "OBST" | "NOHOLE" | "STAMP" | "EPATH1" | "EPATH2" => Ok(None),
        "MEMBSIZ" => Ok(Some(members(card, row)?)),
        "PATRN" => pattern(card, section)?,
        "DRAW" => {
            let is_split = card.is_word(row.first, "SPLIT");
            if !(is_split || card.is_word(row.first, "SINGLE")) {
                return Ok(Err("DRAW that is neither SINGLE nor SPLIT".into()));
            }
            let points = [needed(card, row.first + 1)?, needed(card, row.first + 4)?];
            let is_closed = others.iter().any(|section| section.word == "NOHOLE");
            let obstacles = named("OBST")?.into_iter().collect();
            let thickness = others.iter().find(|section| section.word == "STAMP");
            let thickness = thickness.map(|section| stamped(card, section)).transpose()?;
            if is_split && thickness.is_some() {
                return Ok(Err("STAMP of two sides".into()));
            }
            Ok(Some(Demand::Draw { is_split, is_closed, thickness, points, obstacles }))
        }
        "EXTR" if card.is_word(row.first, "NOTWIST") => {
            Ok(Some(Demand::Extrusion(named("EPATH1")?)))
        }
        "EXTR" => Err("EXTR that is not NOTWIST".into()),
        word => Err(excerpt(word)),
    })
}

/// The numbers of a section.
fn numbers(card: &Card, section: &Section) -> Parsed<Vec<u64>> {
    let fields = section.rows.iter().flat_map(Row::fields);
    let given = fields.filter(|&field| !card.is_blank(field) && !card.is_word(field, "ALL"));
    given.map(|field| card.tag(field, "the number of a property or a grid")).collect()
}

/// The lines of a DTPL by their words; lines without one belong to the word before them.
fn sections(card: &Card) -> Vec<Section> {
    let mut sections =
        vec![Section { word: String::new(), rows: vec![Row { start: 2, first: 4 }] }];
    for start in (10..card.n_fields() + 2).step_by(8) {
        let Some(at) = (start..start + 8).find(|&field| !card.is_blank(field)) else { continue };
        let word = String::from_utf8_lossy(card.text(at)).to_uppercase();
        if word.starts_with(|c: char| c.is_ascii_alphabetic()) && word != "ALL" {
            sections.push(Section { word, rows: vec![Row { start, first: at + 1 }] });
        } else if let Some(section) = sections.last_mut() {
            section.rows.push(Row { start, first: at });
        }
    }
    sections
}

/// Thickness of a sheet.
fn stamped(card: &Card, section: &Section) -> Parsed<f64> {
    let field = section.rows[0].first;
    let what = "a thickness above 0 of a stamped part";
    let thickness = card.real_if_any(field, what)?.filter(|thickness| *thickness > 0.0);
    thickness.ok_or_else(|| card.malformed(field, what))
}

/// `least, largest, gap`.
fn members(card: &Card, row: &Row) -> Parsed<Demand> {
    let mut widths = [None; 3];
    for (i, width) in widths.iter_mut().enumerate() {
        let given = card.real_if_any(row.first + i, "a width of members or gaps")?;
        *width = given.filter(|width| *width > 0.0);
    }
    Ok(Demand::Members(widths))
}

/// `type, anchor, first point`, and in a second line `repetitions, second point`.
fn pattern(card: &Card, section: &Section) -> Parsed<Given> {
    let row = &section.rows[0];
    let kind = card.number(row.first, "the type of a pattern")?;
    let (anchor, first) = (row.first + 1, row.first + 4);
    // The line has a blank field below the word.
    let second = section.rows.get(1).map(|row| row.start + usize::from(card.is_blank(row.start)));
    let repetitions = match second {
        Some(field) => card.number(field, "the number of repetitions")?,
        None => 0,
    };
    let second = second.map_or(Ok(Point::None), |field| point(card, field + 1));

    Ok(match (kind, repetitions) {
        (0, _) => Ok(None),
        (1..=3, _) => {
            let points = [needed(card, anchor)?, needed(card, first)?, second?];
            Ok(Some(Demand::Planes(kind as usize, points)))
        }
        (10 | 11 | 20, 2..) => {
            let points = [needed(card, anchor)?, needed(card, first)?, second?];
            Ok(Some(Demand::Sectors(repetitions, kind != 10, points)))
        }
        (10 | 11 | 20, _) => Err(format!("PATRN {kind} without repetitions")),
        _ => Err(format!("PATRN {kind}")),
    })
}

/// A point that must not be blank.
fn needed(card: &Card, field: usize) -> Parsed<Point> {
    match point(card, field)? {
        Point::None => Err(card.malformed(field, "a point: a grid, or x, y and z")),
        point => Ok(point),
    }
}

/// A grid in the first of three fields, or x, y and z.
fn point(card: &Card, field: usize) -> Parsed<Point> {
    let is_blank = [0, 1, 2].map(|i| card.is_blank(field + i));
    let grid = field::integer(card.text(field)).filter(|grid| *grid > 0);
    match (is_blank, grid) {
        ([true, true, true], _) => Ok(Point::None),
        ([_, true, true], Some(grid)) => Ok(Point::Grid(grid)),
        _ => card.vector(field, "a grid or a coordinate").map(Point::At),
    }
}
