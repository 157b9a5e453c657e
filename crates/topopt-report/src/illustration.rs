//! Pictures on the page, with what their colors mean.

use std::borrow::Cow;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use maud::{Markup, html};
use rayon::prelude::*;
use topopt_mesh::vector::length;
use topopt_mesh::{HexMesh, Places};
use topopt_surface::TriangleSurface;

use crate::arrow::arrows;
use crate::color_map::{ARROWS, CASES, MARKS, css, gradient, linear};
use crate::density_grid::DensityGrid;
use crate::nodal_field::NodalField;
use crate::number::number;
use crate::part;
use crate::picture::{Shape, View, picture};
use crate::report::Part;

/// Surface of a design to be drawn, its places in the mesh, and the densities on a grid.
pub(crate) struct Shown<'a> {
    pub surface: &'a TriangleSurface,
    pub places: Places<'a>,
    pub grid: DensityGrid,
}

/// Pixels of a picture as wide as the page, of one of two side by side, and of one of three.
pub(crate) const WHOLE: [usize; 2] = [1000, 720];
const HALF: [usize; 2] = [760, 560];
const THIRD: [usize; 2] = [640, 420];

/// Size of the arrows on a field, that its colors are seen between them.
const SMALLER: f64 = 0.5;

/// The solid from four sides, the first picture of the page.
pub(crate) fn design(shown: &Shown) -> Markup {
    let shapes = [Shape::of_material(shown.surface)];
    let views = [View::Isometric, View::Front, View::Top, View::Side];
    let size = |view| if view == View::Isometric { WHOLE } else { THIRD };
    let drawn = views.into_par_iter().map(|view| Drawn::of(&shapes, view, size(view)));
    let drawn: Vec<Drawn> = drawn.collect();
    let mut figures = figures(&drawn, |_, view| ("The design", html! { (view.caption()) }));
    let whole = figures.remove(0);
    html! {
        (whole)
        div class="pictures thirds" { @for figure in figures { (figure) } }
    }
}

/// The part with supports and loads.
pub(crate) fn part(mesh: &HexMesh, part: &Part) -> Markup {
    let shapes = part::shapes(mesh, part);
    let legend = part.marks.iter().zip(MARKS).filter(|(mark, _)| !mark.nodes.is_empty());
    let views = [View::Isometric, View::Behind].into_par_iter();
    let drawn: Vec<Drawn> = views.map(|view| Drawn::of(&shapes, view, HALF)).collect();
    let figures = figures(&drawn, |_, view| ("Supports and loads", html! { (view.caption()) }));
    html! {
        div class="pictures halves" { @for figure in figures { (figure) } }

        ul class="legend" {
            @for (mark, color) in legend { li { (swatch(color)) (mark.name) } }
            @for (load, &color) in part.loads.iter().zip(CASES.iter().cycle()) {
                li { (swatch(color)) (load.name) }
            }
        }
    }
}

/// Fields on the surface of the solid.
pub(crate) fn fields(
    mesh: &HexMesh,
    surface: &TriangleSurface,
    places: &Places,
    fields: &[NodalField],
) -> Markup {
    let diagonal = length(mesh.bounding_box().extent());
    // An odd one would leave a gap.
    let size = |place: usize| if place == 0 && fields.len() % 2 == 1 { WHOLE } else { HALF };
    let (drawn, factors): (Vec<_>, Vec<_>) = fields
        .par_iter()
        .enumerate()
        .map(|(place, field)| {
            let (shape, factor) = field.shape(surface, places, diagonal);
            let arrows = field.arrows.iter().map(|vectors| {
                Shape::plain(Cow::Owned(arrows(mesh, vectors, SMALLER)), linear(ARROWS)).in_front()
            });
            let shapes: Vec<Shape> = [shape].into_iter().chain(arrows).collect();
            (Drawn::of(&shapes, View::Isometric, size(place)), factor)
        })
        .unzip();

    let caption = |place: usize, _| {
        let field = &fields[place];
        let caption = html! {
            (field.title)
            @if let Some(factor) = factors[place] { "; deformed " (number(factor, 3)) "\u{d7}" }
            (scale(field))
        };
        (field.title.as_str(), caption)
    };
    html! {
        div class="pictures halves" { @for figure in figures(&drawn, caption) { (figure) } }
    }
}

/// A picture for the page.
struct Drawn {
    png: String,
    view: View,
    /// Whether it is as wide as the page.
    is_whole: bool,
}

impl Drawn {
    fn of(shapes: &[Shape], view: View, [width, height]: [usize; 2]) -> Self {
        let is_whole = width == WHOLE[0];
        let png = BASE64_STANDARD.encode(picture(shapes, view, width, height).png());
        Self { png, view, is_whole }
    }

    fn figure(&self, title: &str, caption: Markup) -> Markup {
        let Self { png, view, .. } = self;
        html! {
            figure class=[self.is_whole.then_some("whole")] {
                div class="picture" {
                    img alt=(format!("{title}, {}", view.caption()))
                        src=(format!("data:image/png;base64,{png}"));
                }
                @if matches!(view, View::Isometric | View::Behind) {
                    figcaption class="turned" { (directions(*view)) div { (caption) } }
                } @else {
                    figcaption { (caption) }
                }
            }
        }
    }
}

/// Figures of pictures, with the title and the caption that `text` gives by number and view.
fn figures<'a>(all: &[Drawn], text: impl Fn(usize, View) -> (&'a str, Markup)) -> Vec<Markup> {
    let figure = |(place, drawn): (usize, &Drawn)| {
        let (title, caption) = text(place, drawn.view);
        drawn.figure(title, caption)
    };
    all.iter().enumerate().map(figure).collect()
}

/// Draws the directions of x, y and z in a view.
fn directions(view: View) -> Markup {
    let [right, up, _] = view.axes();
    let axes = (0..3).map(|i| (["x", "y", "z"][i], [24.0 * right[i], -24.0 * up[i]]));
    html! {
        svg class="directions" viewBox="-36 -36 72 72" aria-hidden="true" {
            @for (name, [x, y]) in axes {
                line x1="0" y1="0" x2=(format!("{x:.1}")) y2=(format!("{y:.1}")) {}
                text x=(format!("{:.1}", 1.3 * x)) y=(format!("{:.1}", 1.3 * y + 4.0)) { (name) }
            }
        }
    }
}

fn swatch(color: u32) -> Markup {
    html! { span class="swatch" style=(format!("background:{}", css(color))) {} }
}

/// The colors of a field with the values at both ends and in the middle.
fn scale(field: &NodalField) -> Markup {
    let NodalField { lowest, highest, .. } = field;
    // Without a unit, 0 stands alone.
    let value = |value: f64| {
        let unit = if value == 0.0 { "" } else { field.unit.as_str() };
        format!("{} {unit}", number(value, 3)).trim_end().to_owned()
    };
    html! {
        div class="scale" {
            div class="colors" style=(format!("background:{}", gradient())) {}
            span { (value(*lowest)) }
            span { (value(0.5 * (lowest + highest))) }
            span { @if field.is_exceeded { "\u{2265} " } (value(*highest)) }
        }
    }
}
