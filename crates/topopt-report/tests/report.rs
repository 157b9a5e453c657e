//! The page as a whole: what stands in it, and what a browser makes of it.
//!
//! The browser is a headless Chromium, driven by Python; without them the test is skipped, unless
//! `TOPOPT_REQUIRE_BROWSER` is set.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use topopt_mesh::HexMesh;
use topopt_mesh::generate::{Benchmark, Resolution};
use topopt_report::{
    Curve, Fact, Load, Mark, NodalField, Part, Report, Table, Target, Verification,
};
use topopt_surface::{Form, MeanDensity, Part as Body, Shaping, TriangleSurface, UncutSolid};

/// A design in a mesh, with its surface.
struct Design<'a> {
    mesh: &'a HexMesh,
    density: MeanDensity,
    threshold: f64,
    surface: TriangleSurface,
}

fn design<'a>(mesh: &'a HexMesh, density: &[f64]) -> Design<'a> {
    let uncut = UncutSolid::of(mesh, density, &Shaping::default()).unwrap();
    Design {
        mesh,
        density: MeanDensity::of(mesh, density, Form::default()).unwrap(),
        threshold: uncut.solid.threshold(),
        surface: uncut.shape(&Body::of_mesh(mesh).unwrap()).unwrap().surface,
    }
}

/// A field of the verification: x, deformed along y.
fn field(mesh: &HexMesh) -> NodalField {
    let x = || mesh.coordinates().iter().map(|x| x[0]);
    NodalField {
        title: "Displacement <i>".into(),
        unit: "mm".into(),
        values: x().collect(),
        lowest: 0.0,
        highest: 12.5,
        is_exceeded: true,
        displacements: Some(x().map(|x| [0.0, x, 0.0]).collect()),
        arrows: None,
    }
}

/// The page of a made-up design.
fn page(mesh: &HexMesh, density: &[f64]) -> String {
    report(&design(mesh, density)).html()
}

/// A report of a made-up design: a band across a mesh whose density falls to its sides.
fn report<'a>(design: &'a Design<'a>) -> Report<'a> {
    let Design { mesh, density, threshold, surface } = design;
    let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
    Report {
        title: "Band <script>alert(1)</script> & \"more\"".into(),
        subtitle: "band.toml".into(),
        headline: vec![Fact::new("Compliance", "12.5 N mm").noted("at most <b>13</b>")],
        warnings: vec!["Three <pieces>: `topopt verify <x>`.".into()],
        targets: vec![
            Target {
                name: "Mass [kg]".into(),
                optimized: "0.5".into(),
                verified: Some("0.6".into()),
                limit: "at most 0.55".into(),
                is_met: Some(false),
            },
            Target {
                name: "Displacement [mm]".into(),
                optimized: "0.1".into(),
                verified: None,
                limit: "at most 0.2".into(),
                is_met: Some(true),
            },
        ],
        saved: Table {
            columns: texts(&["", "Full part", "Design", "Saved"]),
            rows: vec![texts(&["Volume", "2000", "600", "70 %"])],
        },
        mesh,
        density,
        threshold: *threshold,
        surface,
        measures: Vec::new(),
        states: None,
        part: Part {
            marks: [("loaded", 1), ("held", 0)]
                .map(|(name, node)| Mark { name: name.into(), nodes: vec![node] })
                .to_vec(),
            loads: vec![Load {
                name: "load case <up>".into(),
                forces: vec![[0.0, 1.0, 0.0]; mesh.n_nodes()],
            }],
        },
        problem: vec![("Loads".into(), vec![Fact::new("<img src=x>", "force (0, -1, 0) N")])],
        curves: vec![Curve {
            title: "Compliance".into(),
            unit: None,
            points: vec![[1.0, 40.0], [2.0, 12.5]],
        }],
        iterations: Table { columns: texts(&["Iteration"]), rows: vec![texts(&["1"])] },
        seconds: vec![("PCG".into(), 3.0), ("Filter".into(), 1.0)],
        verification: Ok(Verification {
            limits: Table::default(),
            compared: Table {
                columns: texts(&["", "Optimized", "Verified"]),
                rows: vec![texts(&["Compliance", "12.5", "12.75"])],
            },
            cases: Table {
                columns: texts(&["", "Load case <up>"]),
                rows: vec![texts(&["Weight", "2"])],
            },
            fields: vec![field(mesh)],
            facts: Vec::new(),
            notes: texts(&["</style><b>bold</b>"]),
        }),
        repeat: vec![Fact::new("Command", "topopt run results/band/case.toml")],
        case: "title = \"</pre><script>alert(2)</script>\"".into(),
    }
}

fn band() -> (HexMesh, Vec<f64>) {
    let mesh = Benchmark::Cantilever.generate(Resolution::Elements(2000)).unwrap();
    let bounds = mesh.bounding_box();
    let middle = 0.5 * (bounds.min[1] + bounds.max[1]);
    let density = |x: [f64; 3]| 1.0 - 1.8 * (x[1] - middle).abs() / bounds.extent()[1];
    let density = mesh.centers().into_iter().map(density).collect();
    (mesh, density)
}

#[test]
fn texts_are_escaped_and_nothing_is_loaded() {
    let (mesh, density) = band();
    let shown = page(&mesh, &density);
    for (text, count) in [
        ("<title>Band &lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;more&quot;</title>", 1),
        ("<script", 2),
        ("alert(2)&lt;/script&gt;", 1),
        // The design from four sides, the part from two, one field.
        ("<img", 7),
        ("&lt;img src=x&gt;", 1),
        ("<style", 1),
        ("src=\"data:image/png;base64,", 7),
        ("default-src 'none'", 1),
        ("http://", 0),
        ("https://", 0),
        ("12.75", 1),
        ("load case &lt;up&gt;", 1),
        ("Load case &lt;up&gt;", 1),
        ("<span>6.25 mm</span><span>≥ 12.5 mm</span>", 1),
        ("Displacement &lt;i&gt;; deformed ", 1),
        ("<dd>12.5 N mm<small>at most &lt;b&gt;13&lt;/b&gt;</small></dd>", 1),
        (
            "<h2>Warning</h2><ul><li>Three &lt;pieces&gt;: <code>topopt verify &lt;x&gt;</code>.</li></ul>",
            1,
        ),
        ("<td>0.6</td><td>at most 0.55</td><td class=\"missed\">✗ missed</td>", 1),
        ("<td>–</td><td>at most 0.2</td><td class=\"met\">✓ met</td>", 1),
        ("<td>2000</td><td>600</td><td>70 %</td>", 1),
    ] {
        assert_eq!(shown.matches(text).count(), count, "{text}");
    }
    assert_eq!(shown, page(&mesh, &density));
}

#[test]
fn densities_of_another_mesh_are_refused() {
    let (mesh, density) = band();
    let error =
        UncutSolid::of(&mesh, &density[1..], &Shaping::default()).err().unwrap().to_string();
    assert!(error.contains("values for"), "{error}");
}

#[test]
fn a_design_without_a_surface_has_a_report_too() {
    let (mesh, density) = band();
    let flat = vec![0.3; density.len()];
    assert!(page(&mesh, &flat).contains("Compliance"));
}

/// A hundred cells an element show all that there is; more are time alone.
#[test]
fn the_grid_of_a_small_mesh_is_small() {
    for (elements, most) in [(250, 50_000), (5_000, 800_000)] {
        let mesh = Benchmark::Cantilever.generate(Resolution::Elements(elements)).unwrap();
        let density = vec![0.3; mesh.n_elements()];
        let shown = page(&mesh, &density);
        let (_, cells) = shown.split_once("&quot;cells&quot;:[").unwrap();
        let cells = cells.split_once(']').unwrap().0.split(',');
        let cells: usize = cells.map(|n| n.parse::<usize>().unwrap()).product();
        assert!((most / 4..most).contains(&cells), "{elements}: {cells}");
    }
}

#[test]
fn a_browser_shows_the_view_and_the_slider_moves_it() {
    let (mesh, density) = band();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.html");
    std::fs::write(&path, page(&mesh, &density)).unwrap();
    let Some(seen) = visited(&path) else { return };
    assert_eq!(
        (&seen["messages"], &seen["requests"]),
        (&Value::from([""; 0]), &Value::from([""; 0]))
    );
    assert!(seen["graphics"].as_str().unwrap().contains("WebGL 2"), "{seen}");
    assert_eq!(seen["wide"], 0, "the page is wider than the window");
    let [start, moved, turned] = ["start", "moved", "turned"].map(|state| &seen[state]);
    assert!(start["triangles"].as_u64().unwrap() > 10_000, "{start}");
    // At 0.70 the band is thinner and the triangles of its sides are fewer.
    assert!(moved["triangles"].as_u64() < start["triangles"].as_u64(), "{start} {moved}");
    assert_ne!(moved["pixels"], start["pixels"]);
    assert_ne!(turned["pixels"], moved["pixels"]);
    assert_eq!(turned["triangles"], moved["triangles"]);
    // The share of the part that an export with this threshold fills, to half of one of 46 layers
    // of cells on each side, and a byte for the density.
    let shaping = Shaping { threshold: Some(0.7), ..Shaping::default() };
    let exported = UncutSolid::of(&mesh, &density, &shaping).unwrap().solid.volume();
    let whole = Body::of_mesh(&mesh).unwrap().surface().volume();
    let told = moved["told"].as_str().unwrap();
    let share: f64 =
        told.strip_prefix("density ≥ 0.70: ").unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!(
        (share - 100.0 * exported / whole).abs() < 100.0 / 46.0 + 0.3,
        "{told}, {}",
        exported / whole
    );
}

/// Opens a page in a browser and returns its findings; none where there is no browser and none is
/// required.
fn visited(page: &Path) -> Option<Value> {
    let python = std::env::var_os("TOPOPT_PYTHON").unwrap_or_else(|| "python3".into());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/browser.py");
    let output = match Command::new(&python).arg(script).arg(page).output() {
        Ok(output) if output.status.code() != Some(77) => output,
        missing => {
            let required = std::env::var_os("TOPOPT_REQUIRE_BROWSER").is_some();
            assert!(!required, "no browser: {missing:?}");
            println!("skipped: there is no Chromium or no Python");
            return None;
        }
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(serde_json::from_slice(&output.stdout).unwrap())
}
