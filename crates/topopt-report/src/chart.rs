//! Charts as SVG. Colors and fonts are those of the page.

use maud::{Markup, html};

use crate::axis::Axis;
use crate::number::{count, number};

/// A curve over the iterations, or over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// Name of the quantity.
    pub title: String,
    /// Unit of the values, nothing for plain numbers.
    pub unit: Option<String>,
    /// Iteration or time, and value of each point; values that are not finite are left out.
    pub points: Vec<[f64; 2]>,
}

const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 210.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = WIDTH - 12.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = HEIGHT - 26.0;

/// The chart of a curve.
pub(crate) fn curve(curve: &Curve) -> Markup {
    let points = || curve.points.iter().filter(|point| point[1].is_finite());
    let values: Vec<f64> = points().map(|point| point[1]).collect();
    let ends = |f: fn(f64, f64) -> f64, start| points().map(|p| p[0]).fold(start, f);
    let first = ends(f64::min, f64::INFINITY);
    let last = ends(f64::max, f64::NEG_INFINITY);
    let across = Axis::between(first.min(last), last);
    // Between iterations there is nothing.
    let is_counted = points().all(|point| point[0].fract() == 0.0);
    let up = Axis::of(&values);

    let at = |[x, y]: [f64; 2]| (column(across.place(x)), row(up.place(y)));
    let line: Vec<String> =
        points().map(|point| at(*point)).map(|(x, y)| format!("{x:.1},{y:.1}")).collect();

    html! {
        figure class="chart" {
            figcaption {
                (curve.title)
                @if let Some(unit) = &curve.unit { span class="unit" { " [" (unit) "]" } }
                @if let Some(last) = values.last() { span class="last" { (number(*last, 3)) } }
            }

            svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label=(curve.title) {
                @for tick in up.ticks() {
                    @let y = row(up.place(tick));
                    line class="grid" x1=(LEFT) x2=(RIGHT) y1=(format!("{y:.1}")) y2=(format!("{y:.1}")) {}
                    text class="y" x=(LEFT - 7.0) y=(format!("{:.1}", y + 4.0)) { (number(tick, 5)) }
                }
                @for tick in across.ticks().into_iter().filter(|tick| !is_counted || tick.fract() == 0.0) {
                    @let x = column(across.place(tick));
                    text class="x" x=(format!("{x:.1}")) y=(HEIGHT - 8.0) { (number(tick, 6)) }
                }

                polyline points=(line.join(" ")) {}
                @if let Some(point) = points().next_back() {
                    @let (x, y) = at(*point);
                    circle cx=(format!("{x:.1}")) cy=(format!("{y:.1}")) r="3.2" {}
                }
            }
        }
    }
}

/// Bars of the number of elements by tenths of a measure from 0 to 1.
pub(crate) fn histogram(title: &str, bins: &[usize; 10]) -> Markup {
    let most = bins.iter().copied().max().unwrap_or(0).max(1) as f64;
    let slot = (RIGHT - LEFT) / 10.0;
    // Room for the count above the highest bar.
    let top = TOP + 16.0;

    html! {
        figure class="chart" {
            figcaption { (title) }
            svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label=(title) {
                @for (bin, &n) in bins.iter().enumerate() {
                    @let (x, height) = (LEFT + slot * bin as f64, (BOTTOM - top) * n as f64 / most);
                    @let middle = format!("{:.1}", x + 0.5 * slot);
                    rect x=(format!("{:.1}", x + 1.5)) y=(format!("{:.1}", BOTTOM - height))
                        width=(format!("{:.1}", slot - 3.0)) height=(format!("{height:.1}")) {}
                    @if n > 0 {
                        text class="x" x=(middle) y=(format!("{:.1}", BOTTOM - height - 5.0)) { (count(n)) }
                    }
                }

                line class="axis" x1=(LEFT) x2=(RIGHT) y1=(BOTTOM) y2=(BOTTOM) {}
                @for tick in 0..=10 {
                    text class="x" x=(format!("{:.1}", LEFT + slot * f64::from(tick))) y=(HEIGHT - 8.0) {
                        (number(f64::from(tick) / 10.0, 2))
                    }
                }
            }
        }
    }
}

fn column(place: f64) -> f64 {
    LEFT + place * (RIGHT - LEFT)
}

fn row(place: f64) -> f64 {
    BOTTOM - place * (BOTTOM - TOP)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(svg: &str) -> Vec<[f64; 2]> {
        let list = svg.split("points=\"").nth(1).unwrap().split('"').next().unwrap();
        let pair = |pair: &str| {
            let (x, y) = pair.split_once(',').unwrap();
            [x, y].map(|number| number.parse().unwrap())
        };
        list.split_whitespace().map(pair).collect()
    }

    fn drawn(points: Vec<[f64; 2]>) -> String {
        curve(&Curve { title: "Compliance".into(), unit: Some("N mm".into()), points }).0
    }

    #[test]
    fn points_lie_where_the_numbers_say() {
        let svg = drawn(vec![[1.0, 0.0], [2.0, 5.0], [3.0, f64::NAN], [5.0, 10.0]]);
        let middle = 0.5 * (TOP + BOTTOM);
        let quarter = LEFT + 0.25 * (RIGHT - LEFT);
        assert_eq!(points(&svg), [[LEFT, BOTTOM], [quarter, middle], [RIGHT, TOP]]);
        assert!(svg.contains("[N mm]") && svg.contains(">10</span>"), "{svg}");
    }

    #[test]
    fn a_logarithmic_axis_makes_a_power_law_straight() {
        let powers = (0..=4).map(|k| [f64::from(k), 10f64.powi(k)]).collect();
        let line = points(&drawn(powers));
        for pair in line.windows(2) {
            assert!((pair[0][1] - pair[1][1] - (BOTTOM - TOP) / 4.0).abs() < 0.11, "{line:?}");
        }
    }

    #[test]
    fn one_point_and_none_are_drawn_too() {
        assert_eq!(points(&drawn(vec![[1.0, 3.0]])).len(), 1);
        assert_eq!(points(&drawn(Vec::new())).len(), 0);
    }

    #[test]
    fn bars_are_as_high_as_the_counts() {
        let svg = histogram("Scaled Jacobian", &[0, 0, 0, 0, 0, 0, 0, 500, 1000, 2000]).0;
        let heights: Vec<f64> = svg
            .split("<rect")
            .skip(1)
            .map(|bar| bar.split("height=\"").nth(1).unwrap().split('"').next().unwrap().parse())
            .collect::<Result<_, _>>()
            .unwrap();
        assert_eq!(heights[..7], [0.0; 7]);
        assert!((heights[9] / heights[7] - 4.0).abs() < 0.01, "{heights:?}");
        assert!((heights[9] / heights[8] - 2.0).abs() < 0.01, "{heights:?}");
    }
}
