//! `Raster`: draws triangles to pixels by a depth buffer, without a display.

use std::ops::Range;

use rayon::prelude::*;

/// Picture of the nearest triangle per pixel. Columns count to the right, rows downwards.
#[derive(Debug, Clone, PartialEq)]
pub struct Raster {
    /// Pixels per row.
    pub width: usize,
    /// Number of rows.
    pub height: usize,
    /// Colors in linear light with opacity, `[height][width]`.
    pub pixels: Vec<[f32; 4]>,
}

/// A triangle on the screen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Triangle {
    /// Column and row of the corners, in pixels from the upper left corner of the picture, and
    /// depth, larger behind.
    pub corners: [[f32; 3]; 3],
    /// Colors of the corners in linear light.
    pub colors: [[f32; 3]; 3],
}

impl Raster {
    /// Draws opaque triangles, each pixel as the mean of a square of `samples` by `samples`. Columns
    /// and rows of the triangles count samples. A sample is covered if its center lies in the
    /// triangle; a center on a common edge belongs to the nearer triangle, or to the earlier one at
    /// the same depth. Triangles may face either way.
    pub fn draw(width: usize, height: usize, samples: usize, triangles: &[Triangle]) -> Self {
        let n_bands = height.div_ceil(ROWS);
        let by_band = |triangles| by_band(triangles, n_bands, samples * height, samples * ROWS);
        let parts: Vec<Vec<Vec<&Triangle>>> = triangles.par_chunks(PART).map(by_band).collect();

        let mut pixels = vec![[0.0; 4]; width * height];
        let bands = pixels.par_chunks_mut((ROWS * width).max(1)).enumerate();
        bands.for_each(|(number, pixels)| {
            let mut band = Band::new(samples, width, number * ROWS, pixels.len() / width);
            let triangles = parts.iter().flat_map(|of_bands| &of_bands[number]);
            triangles.for_each(|triangle| band.draw(triangle));
            pixels.iter_mut().enumerate().for_each(|(place, pixel)| *pixel = band.mean(place));
        });
        Self { width, height, pixels }
    }

    /// Encodes the picture as a PNG file with transparency.
    pub fn png(&self) -> Vec<u8> {
        let pixel = |&[r, g, b, a]: &[f32; 4]| {
            [encoded(r), encoded(g), encoded(b), (255.0 * a.clamp(0.0, 1.0)).round() as u8]
        };
        let bytes: Vec<u8> = self.pixels.par_iter().flat_map_iter(pixel).collect();
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::Balanced);
        let written = encoder.write_header().and_then(|mut png| png.write_image_data(&bytes));
        written.expect("memory takes a picture of at least one pixel");
        file
    }
}

/// Converts linear light to a byte of sRGB.
fn encoded(linear: f32) -> u8 {
    let x = linear.clamp(0.0, 1.0);
    let y = if x <= 0.003_130_8 { 12.92 * x } else { 1.055 * x.powf(1.0 / 2.4) - 0.055 };
    (255.0 * y).round() as u8
}

/// Rows of pixels that a thread draws at a time: their samples stay in its cache.
const ROWS: usize = 8;

/// Triangles that a thread deals to bands at a time.
const PART: usize = 1 << 14;

/// The triangles of each of `n_bands`, which take so many `per_band` of all `n_rows` of samples.
fn by_band(
    triangles: &[Triangle],
    n_bands: usize,
    n_rows: usize,
    per_band: usize,
) -> Vec<Vec<&Triangle>> {
    let mut of_bands = vec![Vec::new(); n_bands];
    for triangle in triangles {
        let [a, b, c] = triangle.corners;
        let rows = centers([a[1], b[1], c[1]], 0, n_rows);
        if !rows.is_empty() {
            let bands = rows.start / per_band..rows.end.div_ceil(per_band);
            of_bands[bands].iter_mut().for_each(|band| band.push(triangle));
        }
    }
    of_bands
}

/// Samples of consecutive rows of a picture.
struct Band {
    /// Samples per side of a pixel.
    samples: usize,
    /// Samples per row.
    width: usize,
    /// First row of samples.
    first: usize,
    colors: Vec<[f32; 4]>,
    depths: Vec<f32>,
}

impl Band {
    /// The rows of pixels from `first` on.
    fn new(samples: usize, width: usize, first: usize, n_rows: usize) -> Self {
        let n = samples * samples * width * n_rows;
        let (colors, depths) = (vec![[0.0; 4]; n], vec![f32::INFINITY; n]);
        Self { samples, width: samples * width, first: samples * first, colors, depths }
    }

    fn draw(&mut self, Triangle { corners: [a, b, c], colors }: &Triangle) {
        let whole = area(a, b, [c[0], c[1]]);
        if whole == 0.0 {
            return;
        }

        let n_rows = self.colors.len() / self.width;
        let all = centers([a[0], b[0], c[0]], 0, self.width);
        for row in centers([a[1], b[1], c[1]], self.first, n_rows) {
            let at = |column: usize| [column as f32 + 0.5, row as f32 + 0.5];
            // By the area with its sign, as triangles may face either way.
            let share = |p, q, column| area(p, q, at(column)) / whole;
            let mut columns = all.clone();
            for (p, q) in [(b, c), (c, a), (a, b)] {
                columns = without(columns, |column| share(p, q, column) < 0.0);
            }
            for column in columns {
                let [u, v, w] = [share(b, c, column), share(c, a, column), share(a, b, column)];
                let depth = u * a[2] + v * b[2] + w * c[2];
                let sample = (row - self.first) * self.width + column;
                // Strictly: at the same depth the earlier triangle stays.
                if depth < self.depths[sample] {
                    self.depths[sample] = depth;
                    let [p, q, r] = colors;
                    let blend = |i: usize| u * p[i] + v * q[i] + w * r[i];
                    self.colors[sample] = [blend(0), blend(1), blend(2), 1.0];
                }
            }
        }
    }

    /// Averages the samples of a pixel by opacity.
    fn mean(&self, pixel: usize) -> [f32; 4] {
        let Self { samples, width, .. } = *self;
        let (row, column) = (pixel * samples / width * samples, pixel * samples % width);
        let [mut r, mut g, mut b, mut a] = [0.0; 4];
        for k in 0..samples * samples {
            let place = (row + k / samples) * width + column + k % samples;
            let [red, green, blue, opacity] = self.colors[place];
            r += red * opacity;
            g += green * opacity;
            b += blue * opacity;
            a += opacity;
        }
        let color = |x: f32| if a > 0.0 { x / a } else { 0.0 };
        [color(r), color(g), color(b), a / (samples * samples) as f32]
    }
}

/// Leaves out of `columns` those outside of an edge, which are the first or the last: areas are
/// monotonic in the column, rounded ones too.
#[inline(always)]
fn without(columns: Range<usize>, is_outside: impl Fn(usize) -> bool) -> Range<usize> {
    let Range { start, end } = columns;
    if start >= end {
        return columns;
    }

    match [start, end - 1].map(&is_outside) {
        [false, false] => columns,
        [true, true] => start..start,
        [first_is_outside, _] => {
            let (mut low, mut high) = (start, end - 1);
            while high - low > 1 {
                let middle = low.midpoint(high);
                let like_first = is_outside(middle) == first_is_outside;
                *(if like_first { &mut low } else { &mut high }) = middle;
            }
            if first_is_outside { high..end } else { start..high }
        }
    }
}

/// Twice the area to the left of p -> q towards `at`. Inlined, as tests draw millions of pixels.
#[inline(always)]
fn area(p: &[f32; 3], q: &[f32; 3], at: [f32; 2]) -> f32 {
    (q[0] - p[0]) * (at[1] - p[1]) - (q[1] - p[1]) * (at[0] - p[0])
}

/// Returns the pixels whose centers lie within the range of `ends`, among `count` pixels from
/// `first` on.
fn centers(ends: [f32; 3], first: usize, count: usize) -> Range<usize> {
    let least = ends.into_iter().fold(f32::INFINITY, f32::min);
    let most = ends.into_iter().fold(f32::NEG_INFINITY, f32::max);
    let start = (least - 0.5).ceil().max(first as f32) as usize;
    let end = (most + 0.5).floor().max(0.0) as usize; // past the last center
    start..end.min(first + count).max(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RED: [[f32; 3]; 3] = [[1.0, 0.0, 0.0]; 3];
    const BLUE: [[f32; 3]; 3] = [[0.0, 0.0, 1.0]; 3];

    /// The square from `low` to `high` in columns and rows at `depth`.
    fn square(low: f32, high: f32, depth: f32, colors: [[f32; 3]; 3]) -> [Triangle; 2] {
        let at = |x, y| [x, y, depth];
        let [a, b, c, d] = [at(low, low), at(high, low), at(high, high), at(low, high)];
        [Triangle { corners: [a, b, c], colors }, Triangle { corners: [a, d, c], colors }]
    }

    fn covered(raster: &Raster) -> Vec<usize> {
        (0..raster.pixels.len()).filter(|&pixel| raster.pixels[pixel][3] == 1.0).collect()
    }

    #[test]
    fn a_square_covers_exactly_the_pixels_whose_centers_it_holds() {
        // Centers at 0.5, 1.5, ...: columns and rows 1, 2 and 3 of 6.
        let raster = Raster::draw(6, 6, 1, &square(1.2, 3.6, 0.0, RED));
        assert_eq!(covered(&raster), [7, 8, 9, 13, 14, 15, 19, 20, 21]);
        assert!(raster.pixels[7] == [1.0, 0.0, 0.0, 1.0] && raster.pixels[0] == [0.0; 4]);
    }

    #[test]
    fn what_is_nearer_hides_what_is_behind_in_any_order() {
        let (near, far) = (square(0.0, 2.0, 1.0, RED), square(0.0, 4.0, 2.0, BLUE));
        let orders = [[near, far].concat(), [far, near].concat()];
        let [one, other] = orders.map(|triangles| Raster::draw(4, 4, 1, &triangles));
        assert_eq!(one, other);
        let red = |pixel: &[f32; 4]| pixel[0] > 0.9 && pixel[2] < 0.1;
        let reds: Vec<usize> = (0..16).filter(|&p| red(&one.pixels[p])).collect();
        assert_eq!((reds, covered(&one).len()), (vec![0, 1, 4, 5], 16));
    }

    #[test]
    fn what_lies_beyond_the_picture_is_cut_off() {
        let raster = Raster::draw(3, 2, 1, &square(-5.0, 50.0, 0.0, RED));
        assert_eq!(covered(&raster), [0, 1, 2, 3, 4, 5]);
        assert!(covered(&Raster::draw(3, 2, 1, &square(-5.0, -1.0, 0.0, RED))).is_empty());
        assert!(covered(&Raster::draw(3, 2, 1, &square(7.0, 9.0, 0.0, RED))).is_empty());
    }

    #[test]
    fn samples_are_averaged_by_opacity() {
        let raster = Raster::draw(2, 1, 2, &square(1.0, 4.0, 0.0, RED));
        assert_eq!(raster.pixels, [[1.0, 0.0, 0.0, 0.25], [1.0, 0.0, 0.0, 0.5]]);
    }

    #[test]
    fn a_png_holds_the_pixels_and_is_the_same_every_time() {
        let raster = Raster::draw(3, 2, 1, &square(1.0, 3.0, 0.0, [[0.5, 1.0, 0.0]; 3]));
        let file = raster.png();
        assert_eq!(file, raster.png());
        let mut reader = png::Decoder::new(std::io::Cursor::new(&file)).read_info().unwrap();
        let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut bytes).unwrap();
        let (clear, green) = ([0, 0, 0, 0], [188, 255, 0, 255]);
        assert_eq!(bytes.as_chunks::<4>().0, [clear, clear, clear, clear, green, green]);
    }
}
