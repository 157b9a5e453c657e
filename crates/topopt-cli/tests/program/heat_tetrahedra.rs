//! Heat in parts of tetrahedra of ten nodes.

use serde_json::Value;
use topopt_io::gmsh::{self, Encoding, GmshFormat, Version};
use topopt_mesh::HexMesh;
use topopt_testing::kuhn;

use crate::heat::{EXACT, temperatures};
use crate::heat_films::as_calculix;
use crate::solve::numbers;
use crate::{Folder, topopt};

/// A bar of 4 x 1 x 1 along x of conductivity 4.
const BAR: &str = "[physics]\nkind = \"heat\"\n[mesh]\nfile = \"bar.msh\"\n\
    [solver]\ndevice = \"cpu\"\n[material]\nconductivity = 4\n\
    [[select]]\nname = \"low\"\nkind = \"nodes\"\nplane = { point = [0, 0, 0], normal = [1, 0, 0] }\n\
    [[select]]\nname = \"high\"\nkind = \"faces\"\nplane = { point = [4, 0, 0], normal = [1, 0, 0] }\n";

/// Faces of the bar across y.
const SIDES: &str = "[[select]]\nname = \"front\"\nkind = \"faces\"\n\
    plane = { point = [0, 0, 0], normal = [0, 1, 0] }\n\
    [[select]]\nname = \"back\"\nkind = \"faces\"\n\
    plane = { point = [0, 1, 0], normal = [0, 1, 0] }\n";

fn bar(mesh: &HexMesh, more: &str) -> Folder {
    let folder = Folder::new();
    let format = GmshFormat { version: Version::V4_1, encoding: Encoding::Ascii };
    gmsh::write(&folder.path("bar.msh"), mesh, format).unwrap();
    folder.write("case.toml", &format!("{BAR}{more}"));
    folder
}

fn straight([nx, ny, nz]: [usize; 3]) -> HexMesh {
    kuhn([nx, ny, nz], |[x, y, z]| [4.0 * x, y, z], false)
}

fn heat(found: &Value, name: &str) -> f64 {
    found["load_cases"][0]["heat"][name].as_f64().unwrap()
}

/// Root of the mean square of the errors at all nodes.
fn error(folder: &Folder, exact: impl Fn([f64; 3]) -> f64) -> f64 {
    let errors = temperatures(folder).into_iter().map(|(x, t)| t - exact(x));
    let squares: Vec<f64> = errors.map(|error| error * error).collect();
    (squares.iter().sum::<f64>() / squares.len() as f64).sqrt()
}

/// Quadratic temperatures of a source and a flux are exact, at middles of edges as well, and the
/// heat that comes in goes out.
#[test]
fn quadratic_temperatures_are_exact() {
    let tables = "[[supports]]\nset = \"low\"\ntemperature = 7\n[[loads]]\nheat_source = 16\n\
        [[loads]]\nset = \"high\"\nheat_flux = 8\n";
    let mesh = straight([4, 2, 2]);
    let folder = bar(&mesh, tables);
    let found = numbers(&folder, &EXACT);
    assert_eq!((&found["nodes"], &found["elements"]), (&225.into(), &96.into()));
    assert_eq!(folder.array("solved/analysis.vtu", "temperature").len(), mesh.n_nodes());
    // -k T'' = 16, k T'(4) = 8.
    assert!(error(&folder, |[x, ..]| 7.0 + 18.0 * x - 2.0 * x * x) < 1e-9);
    assert!((heat(&found, "loads") - 72.0).abs() < 1e-9 && heat(&found, "sum").abs() < 1e-8);
    let flux = folder.array("solved/analysis.vtu", "heat_flux");
    for (flux, center) in flux.as_chunks::<3>().0.iter().zip(mesh.centers()) {
        assert!((flux[0] + 4.0 * (18.0 - 4.0 * center[0])).abs() < 1e-8, "{flux:?}");
    }
}

/// A bar that is cooled along its sides: T = T_0 cosh(m (L - x)) / cosh(m L).
#[test]
fn a_fin_with_convection_is_that_of_one_dimension() {
    let film =
        |set| format!("[[convection]]\nset = \"{set}\"\nfilm_coefficient = 0.05\nambient = 10\n");
    let held = "[[supports]]\nset = \"low\"\ntemperature = 110\n";
    let tables = format!("{SIDES}{held}{}{}", film("front"), film("back"));
    let m = (0.1 / (4.0 * 0.02_f64)).sqrt();
    let exact = |[x, ..]: [f64; 3]| 10.0 + 100.0 * (m * (4.0 - x)).cosh() / (4.0 * m).cosh();
    let errors = [8, 16].map(|n| {
        let thin = kuhn([n, 1, 1], |[x, y, z]| [4.0 * x, 0.02 * y, 0.25 * z], false);
        let folder = bar(&thin, &tables.replace("[0, 1, 0], n", "[0, 0.02, 0], n"));
        let found = numbers(&folder, &["--set", "solver.tolerance=1e-9", EXACT[2], EXACT[3]]);
        assert!(heat(&found, "sum").abs() < 1e-6 * heat(&found, "convection").abs(), "{found}");
        error(&folder, exact)
    });
    assert!(errors[0] > 3.5 * errors[1] && errors[1] < 5e-3, "{errors:?}");
}

/// An orthotropic bar that carries heat across x: the flux is that of the conductivity along y.
#[test]
fn conductivities_by_axis_are_those_of_tetrahedra() {
    let tables = "[[supports]]\nset = \"front\"\ntemperature = 3\n[[loads]]\nset = \"back\"\n\
        heat_flux = 10\n";
    let folder = bar(&straight([4, 2, 2]), &format!("{SIDES}{tables}"));
    let case = folder.read("case.toml").replace("conductivity = 4", "conductivity = [4, 5, 60]");
    folder.write("case.toml", &case);
    numbers(&folder, &EXACT);
    assert!(error(&folder, |[_, y, _]| 3.0 + 2.0 * y) < 1e-9);
}

const DESIGN: &str = "[[select]]\nname = \"edge\"\nkind = \"nodes\"\n\
    box = { min = [4, 0, 0], max = [4, 0, 1] }\n[[supports]]\nset = \"low\"\ntemperature = 0\n[[loads]]\nset = \"edge\"\ntotal_heat = 1\n\
    [design]\nstyle = \"smooth\"\nvolume_fraction = 0.5\n[filter]\nradius = 0.6\n\
    [optimizer]\nmax_iterations = 6\n[output]\ncompression = \"none\"\n";

/// A design of a heated bar.
pub fn design() -> Folder {
    bar(&straight([8, 3, 3]), DESIGN)
}

/// A design of a bar that is warmed in time.
pub fn in_time(capacity: &str) -> Folder {
    let folder = bar(&straight([6, 2, 2]), DESIGN);
    let tables = format!(
        "mass_density = 2\nheat_capacity = 3\n[transient]\nend = 1\nstep = 0.25\n\
         capacity = \"{capacity}\"\n[objective]\nminimize = \"mean_temperature\"\nset = \"high\"\n\
         time = \"end\"\n"
    );
    let conductivity = "conductivity = 4\n";
    let case = folder.read("case.toml").replace(conductivity, &(conductivity.to_owned() + &tables));
    folder.write("case.toml", &case);
    folder
}

/// A design on tetrahedra, by cones and by the Helmholtz filter: as many densities, a history that
/// falls, a proof, a report and a surface.
#[test]
fn a_design_is_verified_reported_and_exported() {
    let folder = design();
    for weights in ["cone", "helmholtz"] {
        let weights = format!("filter.weights={weights}");
        let ran = folder.run(&[&weights, "optimizer.max_iterations=8"], &[]);
        assert_eq!((ran.status, ran.err.as_str()), (0, ""), "{}", ran.out);
        assert!(!ran.out.contains("cut into hexahedra"), "{}", ran.out);
        let compliance = folder.history("compliance");
        assert!(compliance[compliance.len() - 1] < 0.9 * compliance[0], "{compliance:?}");
        assert_eq!(folder.array("out/design.vtu", "density").len(), 432);
    }

    let (status, out, err) = topopt(&folder.path(""), &["verify", "out", "--threshold", "0.3"]);
    assert!(status == 0 || status == 3, "{status} {out}{err}");
    let proof: Value = serde_json::from_str(&folder.read("out/verify.json")).unwrap();
    assert!(proof["load_cases"][0]["compliance"].as_f64().unwrap() > 0.0, "{proof}");
    let export = ["export", "out", "-o", "part.stl"];
    for args in [&["check", "case.toml"][..], &["report", "out"], &export] {
        let (status, out, err) = topopt(&folder.path(""), args);
        assert_eq!((status, err.as_str()), (0, ""), "{args:?}: {out}");
    }
}

const IN_TIME: &str = "mass_density = 2\nheat_capacity = 3\n[[loads]]\nheat_source = 12\n\
    [transient]\nend = 2\nstep = 0.25\ninitial = 5\n\
    [[transient.probes]]\nname = \"middle\"\npoint = [2.1, 0.4, 0.3]\n";

/// A source warms a part that is left to itself alike everywhere, however heat is stored.
#[test]
fn a_source_warms_all_nodes_alike() {
    let bend = |[x, y, z]: [f64; 3]| [4.0 * x, y + 0.3 * x * x, z];
    let folder = bar(&kuhn([4, 2, 2], bend, true), "");
    let case = BAR.replace("conductivity = 4\n", &format!("conductivity = 4\n{IN_TIME}"));
    folder.write("case.toml", &case);
    for capacity in ["transient.capacity=lumped", "transient.capacity=consistent"] {
        let found = numbers(&folder, &[&EXACT[..], &["--set", capacity, "--overwrite"]].concat());
        assert!(error(&folder, |_| 9.0) < 1e-2, "{capacity}");
        assert!(found["transient"]["imbalance"].as_f64().unwrap() < 1e-9, "{found}");
    }
}

/// Cooling of a bar with ends at 0 in its first mode, by either capacity.
#[test]
fn a_bar_cools_as_its_first_mode() {
    let tables = "[[supports]]\nset = \"high\"\ntemperature = 0\n[[supports]]\nset = \"low\"\n\
        temperature = 0\n";
    let mut case = BAR.replace("conductivity = 4\n", &format!("conductivity = 4\n{IN_TIME}"));
    case =
        case.replace("[[loads]]\nheat_source = 12\n", "").replace("initial = 5", "initial = 100");
    let folder = bar(&straight([8, 1, 1]), "");
    folder.write("case.toml", &(case + tables));
    // The series at x = 2.1 and t = 2: a = 4 / 6.
    let series: f64 = (0..40)
        .map(|k| {
            let n = f64::from(2 * k + 1) * std::f64::consts::PI / 4.0;
            400.0 / (n * 4.0) * (n * 2.1).sin() * (-n * n * 4.0 / 6.0 * 2.0).exp()
        })
        .sum();
    for (capacity, most) in [("lumped", 0.02), ("consistent", 0.01)] {
        let capacity = format!("transient.capacity={capacity}");
        let set = ["--set", &capacity, "--set", "transient.step=0.02", "--overwrite"];
        numbers(&folder, &[&EXACT[..], &set].concat());
        let rows = folder.read("solved/transient.csv");
        let last = rows.lines().last().unwrap().rsplit(',').next().unwrap().to_owned();
        let found: f64 = last.parse().unwrap();
        assert!((found / series - 1.0).abs() < most, "{capacity}: {found} for {series}");
    }
}

/// Compares with CalculiX's digits for the same elements (DC3D10): a source, a flux, held nodes.
#[test]
fn temperatures_are_those_of_calculix() {
    as_calculix("tets", "[[loads]]\nset = \"END\"\nheat_flux = -50\n", 1e-6);
}
