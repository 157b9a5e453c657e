//! Heat: steady states and steps in time against solutions in closed form, and designs.

use std::f64::consts::FRAC_PI_2;

use serde_json::Value;
use topopt_cuda::{Probe, probe};
use topopt_mesh::generate::block;
use topopt_mesh::{HexMesh, Sets};

use crate::solve::numbers;
use crate::verify::assert_near;
use crate::{Folder, difference, meshes, topopt};

pub const EXACT: [&str; 4] =
    ["--set", "solver.tolerance=1e-12", "--set", "output.compression=none"];

/// A folder with the mesh `n` of a unit cube that `place` maps, its faces `low` and `high` along
/// the first direction, its faces along the second one as `sides`, and a case of heat with
/// `tables`.
pub fn part(n: [usize; 3], place: impl Fn([f64; 3]) -> [f64; 3], tables: &str) -> Folder {
    let unit = |at: [usize; 3]| std::array::from_fn(|i| at[i] as f64 / n[i] as f64);
    let (mut reference, mut halves) = (Vec::new(), Vec::new());
    let (coordinates, hexes) = block(n, |at| {
        reference.push(unit(at));
        place(unit(at))
    });
    for (e, hex) in hexes.iter().enumerate() {
        if hex.iter().all(|&node| reference[node as usize][0] > 0.5 - 1e-9) {
            halves.push(e as u32);
        }
    }
    let mut sets = Sets::default();
    let all: Vec<u32> = (0..hexes.len() as u32).collect();
    sets.elements.insert("upper half".into(), halves);
    sets.elements.insert("all".into(), all);
    let mesh = HexMesh::new(coordinates, hexes, Sets::default()).unwrap();
    for face in topopt_mesh::surface::boundary_faces(&mesh) {
        let nodes = face.nodes(&mesh);
        let is_at = |i: usize, value: f64| {
            nodes.iter().all(|&n| (reference[n as usize][i] - value).abs() < 1e-9)
        };
        let names = [
            ("low", 0, 0.0),
            ("high", 0, 1.0),
            ("sides", 1, 0.0),
            ("sides", 1, 1.0),
            ("sides", 2, 0.0),
            ("sides", 2, 1.0),
        ];
        for (name, i, value) in names {
            if is_at(i, value) {
                sets.faces.entry(name.into()).or_default().push(face);
            }
        }
    }
    let mesh = HexMesh::new(mesh.coordinates().to_vec(), mesh.hexes().to_vec(), sets).unwrap();

    let folder = Folder::new();
    meshes::write(&folder.path("part.msh"), &mesh);
    let head =
        "[physics]\nkind = \"heat\"\n[mesh]\nfile = \"part.msh\"\n[solver]\ndevice = \"cpu\"\n";
    folder.write("case.toml", &format!("{head}{tables}"));
    folder
}

/// Temperatures with the places of their nodes.
pub(crate) fn temperatures(folder: &Folder) -> Vec<([f64; 3], f64)> {
    let file = "solved/analysis.vtu";
    let points = folder.array(file, "Points");
    let values = folder.array(file, "temperature");
    points.as_chunks::<3>().0.iter().copied().zip(values).collect()
}

/// The largest error of the temperatures against `exact`.
pub(crate) fn error(folder: &Folder, exact: impl Fn([f64; 3]) -> f64) -> f64 {
    let of = |(x, t): ([f64; 3], f64)| (t - exact(x)).abs();
    temperatures(folder).into_iter().map(of).fold(0.0, f64::max)
}

fn heat(found: &Value, name: &str) -> f64 {
    found["load_cases"][0]["heat"][name].as_f64().unwrap()
}

/// Two layers in series: a jump of the slope at their interface, and the heat that comes in goes
/// out.
#[test]
fn layers_in_series_are_exact() {
    let tables = "[material]\nconductivity = 2\n\
        [[materials]]\nset = \"upper half\"\nconductivity = 5\n\
        [[supports]]\nset = \"low\"\ntemperature = 10\n[[loads]]\nset = \"high\"\nheat_flux = 3\n";
    let folder = part([6, 2, 2], |[x, y, z]| [8.0 * x, y, 2.0 * z], tables);
    let found = numbers(&folder, &EXACT);
    let exact = |[x, ..]: [f64; 3]| {
        if x < 4.0 { 10.0 + 1.5 * x } else { 16.0 + 0.6 * (x - 4.0) }
    };
    assert!(error(&folder, exact) < 1e-9);
    assert_near(&found["load_cases"][0]["heat"]["loads"], 6.0);
    assert_near(&found["load_cases"][0]["heat"]["supports"][0]["heat"], -6.0);
    assert!(heat(&found, "sum").abs() < 1e-9);
    // C = f T, of the flow of 6 at 18.4, with what the held temperature takes.
    assert_near(&found["load_cases"][0]["hottest"]["temperature"], 18.4);
    let flux = folder.array("solved/analysis.vtu", "heat_flux");
    assert!(flux.as_chunks::<3>().0.iter().all(|q| (q[0] + 3.0).abs() < 1e-9));
}

/// The radial temperature of a tube and of a shell, with errors that fall by order two.
#[test]
fn tube_and_shell_converge_by_order_two() {
    let tables = "[material]\nconductivity = 4\n[[supports]]\nset = \"low\"\ntemperature = 100\n\
        [[supports]]\nset = \"high\"\n";
    let tube = |[r, t, z]: [f64; 3]| {
        let (radius, angle) = (1.0 + r, FRAC_PI_2 * t);
        [radius * angle.cos(), radius * angle.sin(), z]
    };
    let of_tube = |[x, y, _]: [f64; 3]| 100.0 * (1.0 - x.hypot(y).ln() / 2f64.ln());
    // A sixth of a sphere by the planes through its center.
    let shell = |[r, u, v]: [f64; 3]| {
        let [a, b] = [u, v].map(|s| (FRAC_PI_2 * (s - 0.5)).tan());
        let scale = (1.0 + r) / (1.0 + a * a + b * b).sqrt();
        [scale, scale * a, scale * b]
    };
    let of_shell = |x: [f64; 3]| 200.0 / x.iter().map(|x| x * x).sum::<f64>().sqrt() - 100.0;

    let errors = |sizes: [[usize; 3]; 2],
                  place: &dyn Fn([f64; 3]) -> [f64; 3],
                  exact: &dyn Fn([f64; 3]) -> f64| {
        sizes.map(|n| {
            let folder = part(n, place, tables);
            let found = numbers(&folder, &EXACT);
            assert!(heat(&found, "sum").abs() < 1e-7);
            let errors = temperatures(&folder).into_iter().map(|(x, t)| t - exact(x));
            let squares: Vec<f64> = errors.map(|error| error * error).collect();
            (squares.iter().sum::<f64>() / squares.len() as f64).sqrt()
        })
    };
    let of_tube = errors([[6, 6, 1], [12, 12, 2]], &tube, &of_tube);
    let of_shell = errors([[8, 8, 8], [16, 16, 16]], &shell, &of_shell);
    for [coarse, fine] in [of_tube, of_shell] {
        let order = (coarse / fine).log2();
        assert!((1.8..2.4).contains(&order) && fine < 0.2, "{coarse} {fine}");
    }
}

/// A rod that is cooled along its sides: T = T_0 cosh(m (L - x)) / cosh(m L) with m^2 = h P / (k
/// A).
#[test]
fn a_fin_with_convection_converges_by_order_two() {
    let tables = "[material]\nconductivity = 50\n[[supports]]\nset = \"low\"\ntemperature = 100\n\
        [[convection]]\nset = \"sides\"\nfilm_coefficient = 20\nambient = 10\n";
    let m = (20.0 * 4.0 / (50.0 * 0.5f64)).sqrt();
    let exact = |[x, ..]: [f64; 3]| 10.0 + 90.0 * (m * (1.0 - x)).cosh() / m.cosh();
    let errors = [8, 16].map(|n| {
        let folder = part([n, 1, 1], |[x, y, z]| [x, 0.5 * y, 0.5 * z], tables);
        let found = numbers(&folder, &EXACT);
        assert!(heat(&found, "sum").abs() < 1e-9);
        assert!(
            (heat(&found, "convection")
                + found["load_cases"][0]["heat"]["supports"][0]["heat"].as_f64().unwrap())
            .abs()
                < 1e-9
        );
        error(&folder, exact)
    });
    assert!((3.7..4.3).contains(&(errors[0] / errors[1])), "{errors:?}");
}

/// Heat from within, and a total into faces.
#[test]
fn sources_and_totals_are_exact() {
    let tables = "[material]\nconductivity = 2\n[[supports]]\nset = \"low\"\n\
        [[loads]]\nheat_source = 6\n";
    let folder = part([8, 1, 1], |x| x, tables);
    let found = numbers(&folder, &EXACT);
    // Nodal values of linear elements are exact in one dimension.
    assert!(error(&folder, |[x, ..]| 3.0 * x * (1.0 - 0.5 * x)) < 1e-10);
    assert_near(&found["load_cases"][0]["heat"]["loads"], 6.0);

    let tables = "[material]\nconductivity = 2\n[[supports]]\nset = \"low\"\n\
        [[loads]]\nset = \"high\"\ntotal_heat = 6\n";
    let folder = part([4, 2, 2], |[x, y, z]| [x, 3.0 * y, z], tables);
    numbers(&folder, &EXACT);
    assert!(error(&folder, |[x, ..]| x) < 1e-10);
}

/// A source brings heat to held nodes in its own load case alone.
#[test]
fn supports_take_the_heat_of_each_load_case() {
    let tables = "[material]\nconductivity = 2\n[[supports]]\nset = \"low\"\n\
        [[loads]]\nheat_source = 6\ncase = \"within\"\n\
        [[loads]]\nset = \"sides\"\ntotal_heat = 4\ncase = \"around\"\n\
        [[loads]]\nset = \"high\"\ntotal_heat = 3\ncase = \"end\"\n";
    let found = numbers(&part([4, 2, 2], |x| x, tables), &EXACT);
    for (case, heat) in found["load_cases"].as_array().unwrap().iter().zip([6.0, 4.0, 3.0]) {
        assert_near(&case["heat"]["supports"][0]["heat"], -heat);
        assert!(case["heat"]["sum"].as_f64().unwrap().abs() < 1e-9, "{case}");
    }
}

/// Without any sink: what a flux brings in is stored, to the tolerance of the solve.
#[test]
fn heat_of_an_insulated_laminate_is_stored() {
    let tables = "[material]\nconductivity = 43\nmass_density = 7.6\nheat_capacity = 0.49\n\
        [[materials]]\nset = \"upper half\"\nconductivity = 4\nmass_density = 5\nheat_capacity = 0.33\n\
        [[loads]]\nset = \"low\"\nheat_flux = 2\n\
        [transient]\nend = 1\nstep = 0.1\ntheta = 0.5\nsnapshot_every = 4\n\
        [[transient.probes]]\nname = \"middle\"\npoint = [5, 5, 5]\n";
    let folder = part([6, 4, 4], |x| x.map(|x| 10.0 * x), tables);
    let found = numbers(&folder, &EXACT);
    let in_time = &found["transient"];
    assert_eq!(in_time["steps"], 10);
    assert_near(&in_time["stored"], 2.0 * 100.0);
    assert!(in_time["imbalance"].as_f64().unwrap() < 1e-10, "{in_time}");
    assert!(heat(&found, "sum").abs() < 1e-7);

    let rows = folder.read("solved/transient.csv");
    assert_eq!(rows.lines().count(), 12);
    assert!(rows.starts_with("step,time,coldest,hottest,heat_stored,pcg_iterations,middle\n"));
    let series = folder.read("solved/analysis.pvd");
    for file in ["snapshots/analysis_00004.vtu", "snapshots/analysis_00008.vtu", "analysis.vtu"] {
        assert!(series.contains(file), "{series}");
        assert!(folder.path("solved").join(file).exists());
    }
}

/// `--overwrite` leaves nothing of a longer series, and everything that no solve has written.
#[test]
fn a_series_is_replaced_as_a_whole() {
    let tables = "[material]\nconductivity = 1\nmass_density = 1\nheat_capacity = 1\n\
        [[supports]]\nset = \"low\"\n[[loads]]\nset = \"high\"\nheat_flux = 2\n";
    let folder = part([4, 1, 1], |x| x, tables);
    let in_time = |steps: usize| {
        let keys = format!("transient={{end={steps},step=1,snapshot_every=1}}");
        numbers(&folder, &["--overwrite", "--set", &keys]);
    };
    let files = || -> Vec<String> {
        let files = folder.files();
        files.iter().filter_map(|file| file.strip_prefix("solved/")).map(str::to_owned).collect()
    };
    let steady = ["analysis.html", "analysis.json", "analysis.vtu", "case.toml"];

    in_time(4);
    in_time(2);
    let series = [0, 1, 2].map(|k| format!("snapshots/analysis_0000{k}.vtu"));
    let [first, second, third] = series.each_ref().map(String::as_str);
    let table = ["analysis.html", "analysis.json", "analysis.pvd", "analysis.vtu", "case.toml"];
    assert_eq!(files(), [&table[..], &[first, second, third, "transient.csv"]].concat());

    numbers(&folder, &["--overwrite"]);
    assert_eq!(files(), steady);
    assert!(!folder.path("solved/snapshots").exists());

    in_time(2);
    for mine in ["snapshots/analysis_mine.vtu", "mine.csv"] {
        folder.write(&format!("solved/{mine}"), "mine");
    }
    numbers(&folder, &["--overwrite"]);
    assert_eq!(files(), [&steady[..], &["mine.csv", "snapshots/analysis_mine.vtu"]].concat());

    in_time(2);
    let run =
        ["run", "case.toml", "-o", "solved", "--overwrite", "--set", "design.volume_fraction=0.5"];
    let keys = ["--set", "filter.radius=0.5", "--set", "optimizer.max_iterations=1"];
    let (status, _, err) = topopt(&folder.path(""), &[&run[..], &keys].concat());
    assert_eq!((status, err.as_str()), (0, ""));
    let is_left = |file: &String| file.contains("analysis") || file.contains("transient");
    let left: Vec<String> = files().into_iter().filter(is_left).collect();
    assert_eq!(left, ["snapshots/analysis_mine.vtu"]);
}

/// Sigmund's `toph`: a plate of sources with a sink, by one layer. `benchmarks/literature.py` has
/// these numbers, with the published bisection 473.7308 at its end (published: 473.7337). Designs
/// swing between two, and rounding decides how long.
#[test]
fn the_heat_sink_of_two_dimensions_has_its_history() {
    let tables = "[material]\nconductivity = 1\n\
        [[select]]\nname = \"sink\"\nkind = \"nodes\"\nbox = { min = [0, 17.9, 0], max = [0, 22.1, 1] }\n\
        [[supports]]\nset = \"sink\"\n[[loads]]\nset = \"all\"\ntotal_heat = 16.81\n\
        [design]\nstyle = \"smooth\"\nvolume_fraction = 0.4\ndensity_min = 0\nvoid_stiffness = 1e-9\n\
        [filter]\nradius = 1.2\n\
        [optimizer]\nmax_iterations = 1000\nchange_tolerance = 0.01\ncompliance_tolerance = 0\n";
    let folder = part([40, 40, 1], |[x, y, z]| [40.0 * x, 40.0 * y, z], tables);
    folder.run_well(&[
        "solver.tolerance=1e-10",
        "output.checkpoint_every=0",
        "design.keep_loaded=free",
    ]);
    let found = folder.history("compliance");
    let expected =
        [(0, 3931.9739410612), (1, 1601.6138472983), (2, 1100.5401695584), (9, 699.8289073742)];
    for (k, expected) in expected {
        assert!((found[k] / expected - 1.0).abs() < 2e-7, "{k}: {} {expected}", found[k]);
    }
    let last = found[found.len() - 1];
    assert!((last - 473.7337).abs() < 1.5, "{last}");
}

/// Mean and largest temperature as objectives and limits; the mean of the file is that of the run.
#[test]
fn temperatures_are_objectives_and_limits() {
    let tables = "[material]\nconductivity = 3\n\
        [[supports]]\nset = \"low\"\n[[loads]]\nheat_source = 5\n[[loads]]\nset = \"high\"\nheat_flux = 1\n\
        [design]\nstyle = \"smooth\"\nvolume_fraction = 0.4\n[filter]\nradius_in_elements = 1.5\n\
        [optimizer]\nmax_iterations = 12\nchange_tolerance = 0\ncompliance_tolerance = 0\n";
    let folder = part([10, 8, 1], |[x, y, z]| [10.0 * x, 8.0 * y, z], tables);
    for (objective, column) in [
        ("objective={minimize=\"mean_temperature\",set=\"high\"}", "objective"),
        ("objective={minimize=\"largest_temperature\",set=\"high\"}", "objective"),
        (
            "constraints=[{response=\"largest_temperature\",set=\"high\",at_most=1e6}]",
            "largest_temperature_of_high",
        ),
    ] {
        folder.run_well(&[objective, "solver.tolerance=1e-10", "output.compression=none"]);
        let found = folder.history(column);
        let is_objective = column == "objective";
        assert!(!is_objective || found[11] < 0.95 * found[0], "{objective}: {found:?}");
        let file = "out/design.vtu";
        let [points, values] = ["Points", "temperature"].map(|name| folder.array(file, name));
        let nodes = points.as_chunks::<3>().0.iter().zip(values);
        let high: Vec<f64> = nodes.filter(|(x, _)| x[0] > 9.9).map(|(_, t)| t).collect();
        let largest = high.iter().copied().fold(0.0, f64::max);
        if objective.contains("mean") {
            // By area: nodes at the ends stand for half an edge.
            assert!(found[11] <= largest && found[11] > 0.8 * largest);
        } else {
            assert!(found[11] >= largest && found[11] < 1.15 * largest, "{} {largest}", found[11]);
        }
    }
}

/// Refuses keys that heat does not have, and cases that lack what heat needs, with the remedy.
#[test]
fn what_heat_does_not_know_is_refused() {
    let base = "[material]\nconductivity = 3\n[[supports]]\nset = \"low\"\n";
    for (tables, part_of_message) in [
        (
            "[material]\nconductivity = 3\n[[loads]]\nset = \"high\"\nheat_flux = 1\n".to_owned(),
            "has no [[supports]]",
        ),
        (
            format!("{base}[[loads]]\nset = \"high\"\nforce = [1, 0, 0]\n"),
            "`force` belongs to the physics `elasticity`",
        ),
        (
            format!("{base}[[loads]]\nset = \"upper half\"\nheat_flux = 1\n"),
            "`heat_flux` needs faces",
        ),
        (
            format!("{base}[[springs]]\nset = \"high\"\nstiffness = [1, 1, 1]\n"),
            "`[[springs]]` belongs to the physics",
        ),
        (
            base.replace("conductivity = 3", "conductivity = 3\nyield_strength = 3"),
            "`yield_strength` belongs to the physics",
        ),
        (
            base.replace("conductivity = 3", "mass_density = 3") + "[[loads]]\nheat_source = 1\n",
            "[material] has no `conductivity`",
        ),
        (format!("{base}[[loads]]\nheat_source = 1\n[transient]\nend = 1\n"), "has no time step"),
        (
            format!("{base}[[loads]]\nheat_source = 1\n[transient]\nend = 1\nstep = 1\n"),
            "needs the heat capacity by volume",
        ),
        (
            format!("{base}[[loads]]\nheat_source = 1\nover_time = [[0, 1]]\n"),
            "`over_time` without [transient]",
        ),
        (
            format!("{base}[[loads]]\nset = \"low\"\ntotal_heat = 1\n"),
            "acts only where the temperature is held",
        ),
    ] {
        let folder = part([2, 2, 2], |x| x, &tables);
        let (status, _, err) = topopt(&folder.path(""), &["solve", "case.toml"]);
        let message = err.replace('|', " ").split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(status, 1, "{tables}");
        assert!(message.contains(part_of_message), "{part_of_message}\n{err}");
        assert!(!folder.path("results").exists());
    }
}

/// Designs, a steady state and steps in time, with multigrid in both precisions.
#[test]
fn heat_on_a_gpu_is_that_of_the_processor() {
    let Probe::Found { .. } = probe() else {
        println!("skipped: no CUDA device");
        return;
    };
    let tables = "[material]\nconductivity = 3\nmass_density = 2\nheat_capacity = 4\n\
        [[materials]]\nset = \"upper half\"\nconductivity = 5\nmass_density = 1\nheat_capacity = 3\n\
        [[supports]]\nset = \"low\"\ntemperature = 2\n\
        [[convection]]\nset = \"sides\"\nfilm_coefficient = 0.01\nambient = 1\n\
        [[loads]]\nheat_source = 5\n[[loads]]\nset = \"high\"\nheat_flux = 1\n\
        [design]\nstyle = \"smooth\"\nvolume_fraction = 0.4\n[filter]\nradius_in_elements = 1.5\n\
        [optimizer]\nmax_iterations = 6\nchange_tolerance = 0\ncompliance_tolerance = 0\n";
    let bent = |[x, y, z]: [f64; 3]| [9.0 * x + y * z, 7.0 * y + 0.3 * x, 6.0 * z];
    let folder = part([9, 7, 6], bent, tables);

    let mean = "objective={minimize=\"mean_temperature\",set=\"high\"}";
    for keys in [&[][..], &["design.density_min=1e-3"], &[mean, "solver.preconditioner=jacobi"]] {
        let keys = [&["solver.tolerance=1e-11"], keys].concat();
        folder.run_well(&keys);
        let expected = ["compliance", "change"].map(|column| folder.history(column));
        let finished = folder.run(&keys, &["--device", "gpu"]);
        assert_eq!((finished.status, finished.err.as_str()), (0, ""), "{}", finished.out);
        for (column, expected) in ["compliance", "change"].into_iter().zip(&expected) {
            assert!(difference(&folder.history(column), expected) < 1e-6, "{column}, {keys:?}");
        }
    }

    for keys in [&[][..], &["--set", "transient={end=1,step=0.25}"]] {
        let [cpu, gpu] = ["cpu", "gpu"].map(|device| {
            let args = ["--device", device, "--overwrite", "--set", "solver.tolerance=1e-11"];
            numbers(&folder, &[&args[..], keys].concat())["load_cases"][0].clone()
        });
        for key in ["coldest", "hottest"] {
            let [found, expected] = [&gpu, &cpu].map(|found| &found[key]["temperature"]);
            assert_near(found, expected.as_f64().unwrap());
        }
        assert!(gpu["heat"]["sum"].as_f64().unwrap().abs() < 1e-6, "{gpu}");
    }
}
