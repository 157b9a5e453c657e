//! Pictures of surfaces from fixed sides, in parallel projection.

use std::borrow::Cow;

use rayon::prelude::*;
use topopt_mesh::shading::Shading;
use topopt_mesh::vector::{cross, dot, length};
use topopt_surface::TriangleSurface;

use crate::raster::{Raster, Triangle};

/// Direction of view. z points up in all but [`View::Top`], as in CAD.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// From the right, above and in front.
    Isometric,
    /// Along y: x to the right, z up.
    Front,
    /// Against z: x to the right, y up.
    Top,
    /// Against x: y to the right, z up.
    Side,
    /// From the left, below and behind: against [`View::Isometric`].
    Behind,
}

impl View {
    /// All views.
    pub const ALL: [View; 5] = [View::Isometric, View::Front, View::Top, View::Side, View::Behind];

    /// Describes the view in words.
    pub fn caption(self) -> &'static str {
        match self {
            View::Isometric => "Isometric, z up",
            View::Front => "Front: x to the right, z up",
            View::Top => "Top: x to the right, y up",
            View::Side => "Right side: y to the right, z up",
            View::Behind => "From behind and below, z up",
        }
    }

    /// The directions to the right, up and towards the eye, an orthonormal right-handed system.
    pub fn axes(self) -> [[f64; 3]; 3] {
        match self {
            View::Isometric => Self::towards([1.0, -1.5, 0.8]),
            View::Behind => Self::towards([-1.0, 1.5, -0.8]),
            View::Front => [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]],
            View::Top => [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
            View::Side => [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]],
        }
    }

    /// The axes of an eye in a direction, with z upwards.
    fn towards(eye: [f64; 3]) -> [[f64; 3]; 3] {
        let eye = normalized(eye);
        let right = normalized(cross([0.0, 0.0, 1.0], eye));
        [right, cross(eye, right), eye]
    }
}

const SAMPLES: usize = 3;

/// Share of the picture that stays free at each side.
const MARGIN: f64 = 0.02;

/// A surface to be drawn.
#[derive(Debug, Clone)]
pub struct Shape<'a> {
    pub(crate) surface: Cow<'a, TriangleSurface>,
    /// Normals at the corners of its triangles, `[n_triangles][3]`.
    normals: Vec<[[f64; 3]; 3]>,
    /// Colors of the corners of its triangles in linear light, `[n_triangles][3]`.
    pub(crate) colors: Vec<[[f32; 3]; 3]>,
    /// Whether nothing but shapes like it hides it.
    in_front: bool,
    light: Light,
}

/// Light on a shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Light {
    /// From several sides, with gloss.
    Studio,
    /// From the eye alone, so that colors can be read.
    Eye,
    /// None: every pixel has the color of the shape itself.
    None,
}

/// The color of material, in linear light.
const MATERIAL: [f32; 3] = [0.20, 0.34, 0.54];

impl<'a> Shape<'a> {
    /// A surface of the color of material.
    pub fn of_material(surface: &'a TriangleSurface) -> Self {
        Self::plain(Cow::Borrowed(surface), MATERIAL)
    }

    /// A surface of one color.
    pub(crate) fn plain(surface: Cow<'a, TriangleSurface>, color: [f32; 3]) -> Self {
        Self::of_corners(surface, |_| [color; 3])
    }

    /// A surface with a color for each corner of each triangle, which `colors` gives by its number.
    pub(crate) fn of_corners(
        surface: Cow<'a, TriangleSurface>,
        colors: impl Fn(usize) -> [[f32; 3]; 3],
    ) -> Self {
        let colors = (0..surface.triangles().len()).map(colors).collect();
        let normals = corner_normals(&surface);
        Self { surface, normals, colors, in_front: false, light: Light::Studio }
    }

    /// Lights the shape from the eye alone, so that its colors can be read.
    pub(crate) fn legible(self) -> Self {
        Self { light: Light::Eye, ..self }
    }

    /// Draws the colors as they are, without light.
    pub(crate) fn flat(self) -> Self {
        Self { light: Light::None, ..self }
    }

    /// Draws the shape in front of all that are not.
    pub(crate) fn in_front(self) -> Self {
        Self { in_front: true, ..self }
    }
}

/// A picture of `shapes`, at most `width` by `height` pixels, cut to what is seen of them. Where
/// there is nothing it is transparent. Shapes without triangles give one pixel.
pub fn picture(shapes: &[Shape], view: View, width: usize, height: usize) -> Raster {
    let axes = view.axes();
    let on_screen = |x: &[f64; 3]| axes.map(|axis| dot(axis, *x));
    let points: Vec<Vec<[f64; 3]>> = shapes
        .iter()
        .map(|shape| shape.surface.vertices().par_iter().map(on_screen).collect())
        .collect();
    let Some((low, high)) = bounds(&points) else { return Raster::draw(1, 1, 1, &[]) };

    // A surface seen along its plane has no extent: a share of its depth keeps the scale finite.
    let depth = high[2] - low[2];
    let extent = [high[0] - low[0], high[1] - low[1]].map(|x| x.max(1e-9 * depth));
    let inner = |pixels: usize| pixels as f64 * (1.0 - 2.0 * MARGIN);
    let scale = (inner(width) / extent[0]).min(inner(height) / extent[1]);
    let frame = 2.0 * MARGIN * width.min(height) as f64;
    let size = extent.map(|x| ((x * scale + frame).round() as usize).max(1));

    let middle = [0, 1].map(|i| 0.5 * (low[i] + high[i]));
    let [columns, rows] = size.map(|n| 0.5 * n as f64);
    let corner = |x: [f64; 3], nearer: f64| {
        let place = [columns + scale * (x[0] - middle[0]), rows - scale * (x[1] - middle[1])];
        let [column, row] = place.map(|pixels| (SAMPLES as f64 * pixels) as f32);
        [column, row, (high[2] - x[2] - nearer) as f32]
    };

    let mut triangles = Vec::new();
    for (shape, points) in shapes.iter().zip(&points) {
        let nearer = if shape.in_front { 2.0 * depth } else { 0.0 };
        let light = match shape.light {
            Light::Studio => shade,
            Light::Eye => headlight,
            Light::None => |color, _| color,
        };
        let given = shape.surface.triangles().par_iter().enumerate();
        triangles.par_extend(given.map(|(number, triangle)| Triangle {
            corners: triangle.map(|vertex| corner(points[vertex as usize], nearer)),
            colors: std::array::from_fn(|i| {
                let normal = axes.map(|axis| dot(axis, shape.normals[number][i]));
                light(shape.colors[number][i], normal)
            }),
        }));
    }
    Raster::draw(size[0], size[1], SAMPLES, &triangles)
}

/// A point of the `color` with the `normal` in the axes of the screen: a key light from the upper
/// left, a weaker one from the right, and the sky.
fn shade(color: [f32; 3], normal: [f64; 3]) -> [f32; 3] {
    let light = |direction: [f64; 3]| dot(normalized(direction), normal).max(0.0);
    let key = 1.05 * light([-0.45, 0.65, 0.75]);
    let fill = 0.25 * light([0.8, 0.1, 0.4]);
    let sky = 0.22 + 0.12 * normal[1];
    let gloss = 0.22 * light([-0.22, 0.33, 0.92]).powi(24);
    color.map(|color| color * (key + fill + sky) as f32 + gloss as f32)
}

/// Shades a point by a light from the eye, without gloss.
fn headlight(color: [f32; 3], normal: [f64; 3]) -> [f32; 3] {
    color.map(|color| color * (0.4 + 0.55 * normal[2].max(0.0) + 0.05 * normal[1]) as f32)
}

/// Normals at the corners of every triangle, `[n_triangles][3]`.
fn corner_normals(surface: &TriangleSurface) -> Vec<[[f64; 3]; 3]> {
    let Shading { normals, triangles, .. } = Shading::of(surface.vertices(), surface.triangles());
    let normal = |vertex: u32| normals[vertex as usize].map(f64::from);
    triangles.into_par_iter().map(|triangle| triangle.map(normal)).collect()
}

fn bounds(points: &[Vec<[f64; 3]>]) -> Option<([f64; 3], [f64; 3])> {
    let mut points = points.iter().flatten();
    let first = *points.next()?;
    Some(points.fold((first, first), |(low, high), x| {
        let low = std::array::from_fn(|i| low[i].min(x[i]));
        (low, std::array::from_fn(|i| high[i].max(x[i])))
    }))
}

/// `a` with length 1; zero stays zero.
pub(crate) fn normalized(a: [f64; 3]) -> [f64; 3] {
    let length = length(a);
    if length > 0.0 { a.map(|x| x / length) } else { a }
}

#[cfg(test)]
mod tests {
    use topopt_mesh::vector::difference;
    use topopt_mesh::{HexMesh, Sets};
    use topopt_surface::Part;

    use super::*;

    /// A solid brick of 3 x 2 x 1.
    fn brick() -> TriangleSurface {
        let corner = |i: usize| [[0.0, 3.0][i & 1], [0.0, 2.0][i >> 1 & 1], [0.0, 1.0][i >> 2]];
        let coordinates = (0..8).map(corner).collect();
        let mesh = HexMesh::new(coordinates, vec![[0, 1, 3, 2, 4, 5, 7, 6]], Sets::default());
        let mesh = mesh.unwrap();
        Part::of_mesh(&mesh).unwrap().surface().clone()
    }

    #[test]
    fn a_brick_from_the_top_covers_exactly_its_rectangle() {
        // A margin of two pixels, so that 96 pixels are 3 units.
        let picture = picture(&[Shape::of_material(&brick())], View::Top, 100, 100);
        assert_eq!((picture.width, picture.height), (100, 68));
        for (pixel, color) in picture.pixels.iter().enumerate() {
            let (column, row) = (pixel % 100, pixel / 100);
            let inside = (2..98).contains(&column) && (2..66).contains(&row);
            assert!((color[3] - f32::from(u8::from(inside))).abs() < 1e-6, "{column} {row}");
        }
    }

    #[test]
    fn every_view_shows_its_own_sides() {
        let size = |view| {
            let Raster { width, height, .. } =
                picture(&[Shape::of_material(&brick())], view, 100, 100);
            (width, height)
        };
        assert_eq!((size(View::Front), size(View::Side)), ((100, 36), (100, 52)));
        for [right, up, eye] in View::ALL.map(View::axes) {
            for (found, expected) in cross(right, up).into_iter().zip(eye) {
                assert!((found - expected).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn z_points_up_in_all_views_but_the_one_from_the_top() {
        for view in View::ALL {
            let [right, up, _] = view.axes();
            assert_eq!(right[2], 0.0, "{view:?}");
            assert_eq!(up[2] > 0.5, view != View::Top, "{view:?}");
        }
    }

    #[test]
    fn edges_of_a_brick_stay_sharp() {
        let brick = brick();
        for (triangle, normals) in brick.triangles().iter().zip(corner_normals(&brick)) {
            let [a, b, c] = triangle.map(|vertex| brick.vertices()[vertex as usize]);
            let flat = normalized(cross(difference(b, a), difference(c, a)));
            for normal in normals {
                assert!(dot(normal, flat) > 1.0 - 1e-6);
            }
        }
    }

    #[test]
    fn nothing_is_one_clear_pixel() {
        let raster = picture(&[], View::Isometric, 100, 100);
        assert_eq!(raster.pixels, [[0.0; 4]]);
    }
}
