//! Names and colors of the faces in a STEP file (ISO 10303-21), which Gmsh does not hand on.

use std::collections::{HashMap, HashSet};

use crate::quote::printable;

/// A face as it stands in a STEP file.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct StepFace {
    pub name: Option<String>,
    /// Red, green and blue.
    pub color: Option<[u8; 3]>,
    /// Corners, in the unit of the file.
    pub points: Vec<[f64; 3]>,
}

/// Entities of a STEP file by their numbers.
struct Entities<'a> {
    /// Text behind the equals sign.
    texts: HashMap<u64, &'a str>,
    /// Numbers in the order of the file.
    order: Vec<u64>,
}

/// Entities that have shells.
const BODIES: [&str; 4] =
    ["MANIFOLD_SOLID_BREP", "BREP_WITH_VOIDS", "FACETED_BREP", "SHELL_BASED_SURFACE_MODEL"];

/// References from a style to its color, at most.
const DEEPEST: usize = 12;

/// The faces of all solids and shells in `text`, in the order in which CAD programs count them.
pub(super) fn faces(text: &str) -> Vec<StepFace> {
    let entities = Entities::of(text);
    let colors = entities.colors();
    let face = |number: u64| StepFace {
        name: entities.name(number),
        color: colors.get(&number).copied(),
        points: entities.points(number),
    };
    entities.faces().into_iter().map(face).collect()
}

impl<'a> Entities<'a> {
    fn of(text: &'a str) -> Self {
        let (mut texts, mut order) = (HashMap::new(), Vec::new());
        for statement in statements(text) {
            let parts = statement.strip_prefix('#').and_then(|rest| rest.split_once('='));
            let parsed =
                parts.and_then(|(number, text)| Some((number.trim().parse().ok()?, text.trim())));
            if let Some((number, text)) = parsed {
                texts.insert(number, text);
                order.push(number);
            }
        }
        Self { texts, order }
    }

    fn kind(&self, number: u64) -> &'a str {
        let text = self.texts.get(&number).copied().unwrap_or_default();
        text.split('(').next().unwrap_or_default().trim()
    }

    /// Numbers that an entity names, in order.
    fn references(&self, number: u64) -> Vec<u64> {
        references(self.texts.get(&number).copied().unwrap_or_default())
    }

    fn of_kind(&self, is_it: impl Fn(&str) -> bool) -> impl Iterator<Item = u64> {
        self.order.iter().copied().filter(move |&number| is_it(self.kind(number)))
    }

    /// Faces of the bodies, each once: by representation, body and shell.
    fn faces(&self) -> Vec<u64> {
        let is_body = |number: &u64| BODIES.contains(&self.kind(*number));
        let representations = self.of_kind(|kind| kind.ends_with("SHAPE_REPRESENTATION"));
        let bodies = representations.flat_map(|it| self.references(it)).filter(is_body);
        let shells = bodies.flat_map(|body| self.references(body)).flat_map(|shell| {
            let is_turned = self.kind(shell) == "ORIENTED_CLOSED_SHELL";
            if is_turned { self.references(shell) } else { vec![shell] }
        });
        let is_face = |number: &u64| matches!(self.kind(*number), "ADVANCED_FACE" | "FACE_SURFACE");
        let mut seen = HashSet::new();
        let faces = shells.flat_map(|shell| self.references(shell)).filter(is_face);
        faces.filter(|face| seen.insert(*face)).collect()
    }

    /// The label of an entity, if it has one that says something.
    fn name(&self, number: u64) -> Option<String> {
        let text = self.texts.get(&number)?;
        let name = decoded(&quoted(text.split_once('(')?.1)?);
        let name = printable(name.trim());
        (!name.is_empty() && !name.eq_ignore_ascii_case("NONE")).then_some(name)
    }

    /// Corners of a face.
    fn points(&self, face: u64) -> Vec<[f64; 3]> {
        let mut points = Vec::new();
        let mut pending = self.references(face);
        pending.pop(); // its surface
        let mut seen = HashSet::new();
        while let Some(number) = pending.pop() {
            if !seen.insert(number) {
                continue;
            }
            match self.kind(number) {
                "CARTESIAN_POINT" => points.extend(self.point(number)),
                // The curve behind the two ends is of no concern.
                "EDGE_CURVE" => pending.extend(self.references(number).into_iter().take(2)),
                _ => pending.extend(self.references(number)),
            }
        }
        points
    }

    fn point(&self, number: u64) -> Option<[f64; 3]> {
        let (_, inner) = self.texts.get(&number)?.rsplit_once('(')?;
        let mut numbers = inner.split([',', ')']).map(|word| word.trim().parse::<f64>());
        Some([numbers.next()?.ok()?, numbers.next()?.ok()?, numbers.next()?.ok()?])
    }

    /// Colors of styled entities.
    fn colors(&self) -> HashMap<u64, [u8; 3]> {
        let styled = self.of_kind(|kind| matches!(kind, "STYLED_ITEM" | "OVER_RIDING_STYLED_ITEM"));
        styled.filter_map(|item| self.styled(item)).collect()
    }

    /// The entity that a style is for, and its color.
    fn styled(&self, item: u64) -> Option<(u64, [u8; 3])> {
        let references = self.references(item);
        let at = if self.kind(item) == "STYLED_ITEM" { 1 } else { 2 };
        let entity = *references.get(references.len().checked_sub(at)?)?;
        let styles = &references[..references.len() - at];
        Some((entity, styles.iter().find_map(|&style| self.color(style, DEEPEST))?))
    }

    /// The first color that a style leads to.
    fn color(&self, number: u64, depth: usize) -> Option<[u8; 3]> {
        let text = *self.texts.get(&number)?;
        match self.kind(number) {
            "COLOUR_RGB" => {
                let (_, behind) = text.rsplit_once('\'')?;
                let shares = behind.split([',', ')']).filter_map(|word| word.trim().parse().ok());
                let bytes: Vec<u8> = shares
                    .map(|share: f64| (255.0 * share.clamp(0.0, 1.0)).round() as u8)
                    .collect();
                bytes.try_into().ok()
            }
            "DRAUGHTING_PRE_DEFINED_COLOUR" => named_color(&quoted(text)?),
            // The curves of a face may have another color.
            "CURVE_STYLE" | "POINT_STYLE" => None,
            _ if depth == 0 => None,
            _ => self.references(number).into_iter().find_map(|next| self.color(next, depth - 1)),
        }
    }
}

/// Colors that the standard knows by name.
fn named_color(name: &str) -> Option<[u8; 3]> {
    let known = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];
    let bits = known.iter().position(|known| *known == name)?;
    Some([0, 1, 2].map(|i| if bits >> i & 1 == 1 { 255 } else { 0 }))
}

/// The text between semicolons, of which strings and comments may hold some.
fn statements(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let (mut at, mut in_string) = (0, false);
    let mut start = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() {
            match bytes[at] {
                b'\'' => in_string = !in_string,
                b'/' if !in_string && bytes.get(at + 1) == Some(&b'*') => {
                    let length = text.get(at..).and_then(|rest| rest.find("*/"));
                    let end = length.map_or(bytes.len(), |length| at + length + 2);
                    // Comments stand between statements.
                    if text[start..at].trim().is_empty() {
                        start = end;
                    }
                    at = end;
                    continue;
                }
                b';' if !in_string => {
                    let statement = text[start..at].trim();
                    at += 1;
                    start = at;
                    return Some(statement);
                }
                _ => {}
            }
            at += 1;
        }
        None
    })
}

/// Numbers behind `#` outside of strings.
fn references(text: &str) -> Vec<u64> {
    let outside = text.split('\'').step_by(2);
    let numbers = outside.flat_map(|part| part.split('#').skip(1));
    let number = |word: &str| {
        let end = word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len());
        word[..end].parse().ok()
    };
    numbers.filter_map(number).collect()
}

/// The first string of a text, in which two quotation marks stand for one.
fn quoted(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('\'')?;
    let mut found = String::new();
    let mut characters = rest.chars().peekable();
    while let Some(character) = characters.next() {
        if character == '\'' && characters.next_if_eq(&'\'').is_none() {
            return Some(found);
        }
        found.push(character);
    }
    None
}

/// A string with its characters beyond ASCII: `\X2\00E400F6\X0\`, `\X\E4` and `\S\d`.
fn decoded(text: &str) -> String {
    let mut found = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('\\') {
        found.push_str(before);
        rest = if let Some((digits, end)) =
            behind.strip_prefix("X2\\").and_then(|behind| behind.split_once("\\X0\\"))
        {
            let units: Vec<u16> = (digits.as_bytes().chunks(4))
                .filter_map(|four| u16::from_str_radix(std::str::from_utf8(four).ok()?, 16).ok())
                .collect();
            found += &String::from_utf16_lossy(&units);
            end
        } else if let Some(behind) = behind.strip_prefix("X\\") {
            let code = behind.get(..2).and_then(|two| u8::from_str_radix(two, 16).ok());
            found.extend(code.map(char::from));
            behind.get(2..).unwrap_or_default()
        } else if let Some(behind) = behind.strip_prefix("S\\") {
            let mut characters = behind.chars();
            let code = characters.next().and_then(|c| u8::try_from(c).ok());
            found.extend(code.map(|code| char::from(code | 0x80)));
            characters.as_str()
        } else {
            found.push('\\');
            behind
        };
    }
    found + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "ISO-10303-21;
DATA;
/* a comment; with a semicolon */
#1 = ADVANCED_BREP_SHAPE_REPRESENTATION('',(#2),#99);
#2 = MANIFOLD_SOLID_BREP('part; one',#3);
#3 = CLOSED_SHELL('',(#5,#4));
#4 = ADVANCED_FACE('K\\X2\\00F6\\X0\\rper''s \\X\\E4',(#6),#20,.T.);
#5 = ADVANCED_FACE('',(#6),#20,.T.);
#6 = FACE_BOUND('',#7,.T.);
#7 = EDGE_LOOP('',(#8));
#8 = ORIENTED_EDGE('',*,*,#9,.F.);
#9 = EDGE_CURVE('',#10,#11,#21,.T.);
#10 = VERTEX_POINT('',#12);
#11 = VERTEX_POINT('',#13);
#12 = CARTESIAN_POINT('',(1.,2.,-3.E-1));
#13 = CARTESIAN_POINT('',(4.,5.,6.));
#20 = PLANE('',#22);
#21 = LINE('',#14,#23);
#14 = CARTESIAN_POINT('',(7.,7.,7.));
#30 = STYLED_ITEM('color',(#31),#5);
#31 = PRESENTATION_STYLE_ASSIGNMENT((#32));
#32 = SURFACE_STYLE_USAGE(.BOTH.,#33);
#33 = COLOUR_RGB('',1.,0.5,0.);
#34 = OVER_RIDING_STYLED_ITEM('',(#35),#4,#30);
#35 = DRAUGHTING_PRE_DEFINED_COLOUR('cyan');
ENDSEC;";

    #[test]
    fn names_colors_and_corners_in_the_order_of_the_shell() {
        let found = faces(TEXT);
        assert_eq!(found.len(), 2);
        assert_eq!((&found[0].name, found[0].color), (&None, Some([255, 128, 0])));
        assert_eq!(found[1].name.as_deref(), Some("Körper's ä"));
        assert_eq!(found[1].color, Some([0, 255, 255]));
        let mut points = found[0].points.clone();
        points.sort_by(|a, b| a[0].total_cmp(&b[0]));
        assert_eq!(points, [[1.0, 2.0, -0.3], [4.0, 5.0, 6.0]]);
    }

    #[test]
    fn damaged_text_has_no_faces() {
        for text in ["", "#", "#1=", "#1 = CLOSED_SHELL('',(#1;", "'", "/*", "#1 = A('\\X2\\');"] {
            assert_eq!(faces(text), [], "{text}");
        }
        let endless = TEXT.replace("#33 = COLOUR_RGB('',1.,0.5,0.)", "#33 = A(#31)");
        assert_eq!(faces(&endless)[0].color, None);
    }
}
