//! The largest temperature, whatever its sign and wherever 0 is.

use crate::Folder;

/// A cantilever of heat, held at a temperature at one end and heated at the other.
fn heat(held: f64, flow: f64) -> Folder {
    let folder = Folder::new();
    let case = format!(
        "[physics]\nkind = \"heat\"\n[mesh]\ngenerator = \"cantilever\"\nelements = 250\n\
         [material]\nconductivity = 1.0\n[[supports]]\nset = \"fixed\"\ntemperature = {held:?}\n\
         [[loads]]\nset = \"load\"\ntotal_heat = {flow:?}\n\
         [objective]\nminimize = \"largest_temperature\"\nset = \"load\"\n\
         [design]\nstyle = \"smooth\"\nvolume_fraction = 0.5\n[filter]\nradius_in_elements = 1.5\n\
         [optimizer]\nmax_iterations = 25\n[solver]\ndevice = \"cpu\"\n"
    );
    folder.write("case.toml", &case);
    folder
}

/// Objective and volume in every iteration.
fn histories(folder: &Folder) -> [Vec<f64>; 2] {
    ["objective", "volume_fraction"].map(|column| folder.history(column))
}

fn difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).fold(0.0, |largest, (a, b)| f64::max(largest, (a - b).abs()))
}

#[test]
fn the_design_is_the_same_wherever_zero_is() {
    let folder = heat(0.0, 5.0);
    folder.run_well(&[]);
    let [objective, volume] = histories(&folder);
    let density = folder.array("out/design.vtu", "density");
    for held in [-50.0, 1000.0] {
        let folder = heat(held, 5.0);
        folder.run_well(&[]);
        let [shifted, same] = histories(&folder);
        let back: Vec<f64> = shifted.iter().map(|value| value - held).collect();
        assert!(difference(&back, &objective) < 1e-7, "{held}");
        assert!(difference(&same, &volume) < 1e-9, "{held}");
        assert!(difference(&folder.array("out/design.vtu", "density"), &density) < 1e-9, "{held}");
    }
    // The material is used up, and the part cooler than at the start.
    assert!(volume.last().unwrap() > &0.49, "{volume:?}");
    assert!(objective.last().unwrap() < &(0.8 * objective[0]), "{objective:?}");
}

#[test]
fn a_mean_temperature_gives_the_same_design_wherever_zero_is() {
    let mean = ["objective={minimize=\"mean_temperature\",set=\"load\"}"];
    let folder = heat(0.0, 5.0);
    folder.run_well(&mean);
    let density = folder.array("out/design.vtu", "density");
    let shifted = heat(1000.0, 5.0);
    shifted.run_well(&mean);
    assert!(difference(&shifted.array("out/design.vtu", "density"), &density) < 1e-9);
}

/// A sink takes heat out: all temperatures lie below that of the support, and the largest is the
/// one nearest to it.
#[test]
fn the_largest_of_temperatures_below_the_held_one_is_the_warmest() {
    let folder = heat(-50.0, -5.0);
    folder.run_well(&["optimizer.max_iterations=1"]);
    let found = folder.history("objective")[0];
    let mean = heat(-50.0, -5.0);
    mean.run_well(&[
        "optimizer.max_iterations=1",
        "objective={minimize=\"mean_temperature\",set=\"load\"}",
    ]);
    let mean = mean.history("objective")[0];
    assert!(found < -50.0 && found > mean, "{found} {mean}");
}

#[test]
fn a_limit_of_the_largest_temperature_may_be_below_zero() {
    let folder = heat(-50.0, 5.0);
    let limit = "constraints=[{response=\"largest_temperature\",set=\"load\",at_most=-42.0}]";
    let keys = ["objective={minimize=\"volume\"}", limit, "design.volume_fraction=1.0"];
    let out = folder.run_well(&keys).out;
    assert_eq!(folder.summary()["constraints"][1]["met"], true, "{out}");
    // Not even the full part is as cold as this.
    let colder = limit.replace("-42.0", "-49.9");
    let out = folder.run_well(&[keys[0], &colder, keys[2]]).out;
    let warning = "warning: even the full part does not keep the limit largest temperature of load \
                   at most -49.9: it has ";
    assert!(out.contains(warning), "{out}");
}
