//! Colors of values, and of parts, marks and arrows in a picture.

/// The color map viridis at equal steps, as sRGB, by Stefan van der Walt and Nathaniel Smith for
/// matplotlib: equal steps look equal, also in gray and to the color-blind.
const VIRIDIS: [u32; 17] = [
    0x440154, 0x48186a, 0x472d7b, 0x424086, 0x3b528b, 0x33638d, 0x2c728e, 0x26828e, 0x21918c,
    0x1fa088, 0x28ae80, 0x3fbc73, 0x5ec962, 0x84d44b, 0xaddc30, 0xd8e219, 0xfde725,
];

/// Color of `share` of a range, 0 to 1, in linear light.
pub(crate) fn viridis(share: f64) -> [f32; 3] {
    let last = (VIRIDIS.len() - 1) as f64;
    let place = last * if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    let below = (place as usize).min(VIRIDIS.len() - 2);
    let part = (place - below as f64) as f32;
    let [a, b] = [VIRIDIS[below], VIRIDIS[below + 1]].map(channels);
    std::array::from_fn(|i| decoded(a[i] + part * (b[i] - a[i])))
}

/// The colors of a range as a background of a page, from left to right.
pub(crate) fn gradient() -> String {
    let colors: Vec<String> = VIRIDIS.iter().map(|&color| css(color)).collect();
    format!("linear-gradient(to right,{})", colors.join(","))
}

/// Color of the part where nothing acts on it.
pub(crate) const PART: u32 = 0xc4c9d0;

/// Colors of the marks of a part: loaded, held, and two others.
pub(crate) const MARKS: [u32; 4] = [0xf2b632, 0x1f6fd0, 0x2a9d6f, 0xe9c9a8];

/// Color of the arrows on a field.
pub(crate) const ARROWS: u32 = 0xd0342c;

/// Colors of the arrows by load case `[Okabe and Ito 2008]`: distinct for the color-blind too.
pub(crate) const CASES: [u32; 6] = [0xd55e00, 0x009e73, 0xcc79a7, 0x222222, 0x56b4e9, 0x8a6d00];

/// Converts an sRGB color to linear light.
pub(crate) fn linear(color: u32) -> [f32; 3] {
    channels(color).map(decoded)
}

/// Formats an sRGB color for a style sheet.
pub(crate) fn css(color: u32) -> String {
    format!("#{color:06x}")
}

fn channels(color: u32) -> [f32; 3] {
    [16, 8, 0].map(|shift| (color >> shift & 0xff) as f32 / 255.0)
}

/// Converts a channel of sRGB to linear light.
fn decoded(x: f32) -> f32 {
    if x <= 0.040_45 { x / 12.92 } else { ((x + 0.055) / 1.055).powf(2.4) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_map_is_that_of_its_table_and_gets_lighter() {
        assert_eq!(viridis(0.0), linear(VIRIDIS[0]));
        assert_eq!(viridis(0.5), linear(VIRIDIS[8]));
        assert_eq!([viridis(1.0), viridis(7.0)], [linear(VIRIDIS[16]); 2]);
        assert_eq!(viridis(f64::NAN), viridis(0.0));
        let light = |share: f64| {
            let [r, g, b] = viridis(share);
            0.2126 * r + 0.7152 * g + 0.0722 * b
        };
        assert!((0..100).all(|i| light(0.01 * f64::from(i)) < light(0.01 * f64::from(i + 1))));
    }
}
