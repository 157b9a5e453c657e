//! The page of a part with the numbers of its faces.

use std::borrow::Cow;
use std::collections::BTreeMap;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use maud::{Markup, html};
use topopt_surface::TriangleSurface;

use crate::color_map::{css, linear};
use crate::page;
use crate::picture::{Shape, View, picture};
use crate::raster::Raster;
use crate::report::Fact;

/// Content of the page of a part's faces. All texts are escaped.
#[derive(Debug, Clone)]
pub struct Faces<'a> {
    /// The title of the page.
    pub title: String,
    /// The numbers to see first.
    pub headline: Vec<Fact>,
    /// Sentences about what may be wrong.
    pub warnings: Vec<String>,
    /// The surface of the part.
    pub surface: &'a TriangleSurface,
    /// Number of the face of each triangle, `[n_triangles]`.
    pub of_triangles: Vec<u32>,
    /// The faces, by increasing number.
    pub faces: Vec<FaceRow>,
    /// The faces as entries of a case file.
    pub entries: String,
}

/// A face in words.
#[derive(Debug, Clone)]
pub struct FaceRow {
    /// Number.
    pub number: u32,
    /// Color in the file, as sRGB.
    pub color: Option<u32>,
    /// Description, in columns.
    pub columns: Vec<String>,
}

/// Line below the title.
const SUBTITLE: &str = "Faces of the geometry, by the numbers that a case file selects them by";

/// Pixels of a picture, and the height of its numbers, which shrink with it on the page.
struct Size {
    width: usize,
    height: usize,
    number: usize,
}

const LARGE: Size = Size { width: 1000, height: 720, number: 19 };
const SMALL: Size = Size { width: 640, height: 460, number: 30 };

/// Least distance of a number from the border of its face, in pixels: one in less would stand on
/// its neighbors.
const ROOM: u32 = 4;

impl Faces<'_> {
    /// Renders the page.
    pub fn html(&self) -> String {
        let main = html! {
            section {
                h2 { "Numbers of faces" }
                (self.figure(View::Isometric, &LARGE))
                (self.figure(View::Behind, &LARGE))
                div class="pictures thirds" {
                    @for view in [View::Front, View::Top, View::Side] { (self.figure(view, &SMALL)) }
                }
                p class="note" { "A number leads to its face in the table." }
            }
            section {
                h2 { "Faces" }
                div class="wide" { (self.table()) }
            }
            section {
                h2 { "Selections" }
                p class="note" { "Entries for a case file; give them names of your own." }
                pre { (self.entries) }
            }
        };
        let head = page::Head {
            title: &self.title,
            subtitle: SUBTITLE,
            warnings: &self.warnings,
            headline: &self.headline,
        };
        page::document(&head, &main)
    }

    fn table(&self) -> Markup {
        html! {
            table class="faces" {
                tbody {
                    @for row in &self.faces {
                        tr id=(format!("face-{}", row.number)) {
                            td {
                                span class="swatch" style=(format!("background:{}", css(color(row)))) {}
                                (row.number)
                            }
                            @for column in &row.columns { td { (column) } }
                        }
                    }
                }
            }
        }
    }

    /// The part with the numbers of the faces that are seen.
    fn figure(&self, view: View, &Size { width, height, number: size }: &Size) -> Markup {
        let colors: BTreeMap<u32, [f32; 3]> =
            self.faces.iter().map(|row| (row.number, linear(color(row)))).collect();
        let of_face = |triangle: usize| {
            let color = colors.get(&self.of_triangles[triangle]).copied();
            [color.unwrap_or_default(); 3]
        };
        let of_number = |triangle: usize| [[self.of_triangles[triangle] as f32, 0.0, 0.0]; 3];
        let surface = || Cow::Borrowed(self.surface);
        let colored = Shape::of_corners(surface(), of_face).legible();
        let numbered = Shape::of_corners(surface(), of_number).flat();

        let drawn = picture(&[colored], view, width, height);
        let numbers = labels(&picture(&[numbered], view, width, height));
        let png = BASE64_STANDARD.encode(drawn.png());
        let (width, height) = (drawn.width, drawn.height);
        html! {
            figure {
                svg class="numbered" viewBox=(format!("0 0 {width} {height}")) role="img"
                    aria-label=(format!("Faces by number, {}", view.caption())) {
                    image width=(width) height=(height) href=(format!("data:image/png;base64,{png}")) {}
                    @for (number, [x, y]) in numbers {
                        a href=(format!("#face-{number}")) {
                            text x=(x) y=(y) style=(format!("font-size:{size}px")) { (number) }
                        }
                    }
                }
                figcaption { (view.caption()) }
            }
        }
    }
}

/// Color of a face: that of the file, else one that differs from those of its neighbors in number.
fn color(row: &FaceRow) -> u32 {
    row.color.unwrap_or_else(|| {
        // Steps by the golden ratio come near to no earlier hue.
        let hue = (0.618_034 * f64::from(row.number)).fract();
        let channel = |shift: f64| {
            let place = ((hue + shift).fract() * 6.0 - 3.0).abs();
            (255.0 * (0.55 + 0.4 * (place - 1.0).clamp(0.0, 1.0))).round() as u32
        };
        channel(0.0) << 16 | channel(2.0 / 3.0) << 8 | channel(1.0 / 3.0)
    })
}

/// The place for the number of each face that is seen with room for it: farthest from other faces,
/// in pixels.
fn labels(picture: &Raster) -> BTreeMap<u32, [usize; 2]> {
    let distances = distances(picture);
    let mut best = BTreeMap::<u32, (u32, usize)>::new();
    for (place, (pixel, &distance)) in picture.pixels.iter().zip(&distances).enumerate() {
        if distance >= ROOM {
            let of_face = best.entry(pixel[0] as u32).or_insert((distance, place));
            if distance > of_face.0 {
                *of_face = (distance, place);
            }
        }
    }
    let at = |place: usize| [place % picture.width, place / picture.width];
    best.into_iter().map(|(number, (_, place))| (number, at(place))).collect()
}

/// Steps from each pixel to the nearest one of another color, in two passes over the picture, forth
/// and back; 0 where colors are mixed.
fn distances(picture: &Raster) -> Vec<u32> {
    let Raster { width, height, pixels } = picture;
    let is_pure = |pixel: &[f32; 4]| pixel[3] == 1.0 && pixel[0].fract() == 0.0;
    let mut distances = vec![0; pixels.len()];
    let step = |distances: &[u32], place: usize, from: Option<usize>| match from {
        Some(from) if pixels[from] == pixels[place] => distances[from] + 1,
        _ => 1,
    };
    for place in 0..pixels.len() {
        let (column, row) = (place % width, place / width);
        let left = (column > 0).then(|| place - 1);
        let above = (row > 0).then(|| place - width);
        if is_pure(&pixels[place]) {
            let [a, b] = [left, above].map(|from| step(&distances, place, from));
            distances[place] = a.min(b);
        }
    }
    for place in (0..pixels.len()).rev() {
        let (column, row) = (place % width, place / width);
        let right = (column + 1 < *width).then(|| place + 1);
        let below = (row + 1 < *height).then(|| place + width);
        let [a, b] = [right, below].map(|from| step(&distances, place, from));
        distances[place] = distances[place].min(a).min(b);
    }
    distances
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_stands_in_the_middle_of_what_is_seen_of_its_face() {
        let (width, height) = (60, 41);
        // Face 7, a mixed border, a narrow face 3, and nothing.
        let ends =
            [(40, [7.0, 0.0, 0.0, 1.0]), (43, [6.5, 0.0, 0.0, 1.0]), (46, [3.0, 0.0, 0.0, 1.0])];
        let pixel = |place: usize| {
            ends.iter().find(|(end, _)| place % width < *end).map_or([0.0; 4], |(_, color)| *color)
        };
        let pixels = (0..width * height).map(pixel).collect();
        let found = labels(&Raster { width, height, pixels });
        assert_eq!(found.keys().copied().collect::<Vec<_>>(), [7], "3 has no room");
        let [x, y] = found[&7];
        assert!((18..=21).contains(&x) && (19..=21).contains(&y), "{x} {y}");
    }

    #[test]
    fn neighbors_in_number_differ_in_color() {
        let row = |number| FaceRow { number, color: None, columns: Vec::new() };
        for number in 1..100 {
            let [a, b] = [number, number + 1].map(|n| color(&row(n)));
            let far = [16, 8, 0].map(|shift| (a >> shift & 255).abs_diff(b >> shift & 255));
            assert!(far.into_iter().sum::<u32>() > 60, "{number}: {a:x} {b:x}");
        }
        let of_file = FaceRow { color: Some(0x12_34_56), ..row(1) };
        assert_eq!(color(&of_file), 0x12_34_56);
    }
}
