//! Start and limit of the volume in a run: two keys with one meaning each.

use crate::{CASE, Folder, topopt};

/// The volume in every iteration of a run by `method` with these keys, and what was printed.
fn volumes(method: &str, set: &[&str]) -> (Vec<f64>, String) {
    let folder = Folder::new();
    let method = format!("optimizer.method={method}");
    let keys = [&[method.as_str(), "optimizer.max_iterations=30"], set].concat();
    let out = folder.run_well(&keys).out;
    (folder.history("volume_fraction"), out)
}

#[test]
fn a_run_goes_from_its_start_to_its_limit() {
    let methods = ["oc", "oc_anderson", "mma", "gcmma", "simpl"];
    for (method, start) in methods.into_iter().flat_map(|m| [(m, 0.7), (m, 0.1)]) {
        let initial = format!("design.initial_volume_fraction={start}");
        let (volumes, out) = volumes(method, &["filter.kind=density", &initial]);
        assert!((volumes[0] - start).abs() < 1e-9, "{method} {start}: {volumes:?}");
        assert!((volumes[29] - 0.3).abs() < 1e-3, "{method} {start}: {volumes:?}");
        assert!(!out.contains("requested"), "{out}");
        if method == "oc" {
            let steps = volumes.windows(2).map(|w| (w[1] - w[0]).abs());
            assert!(steps.fold(0.0, f64::max) < 0.2 + 1e-9, "{volumes:?}");
        }
    }
}

#[test]
fn a_start_is_no_limit_with_any_filter_style_and_key_of_the_limit() {
    let initial = "design.initial_volume_fraction=0.5";
    let (filtered, _) = volumes("oc", &["filter.kind=sensitivity", initial]);
    let (crisp, _) = volumes("mma", &["design.style=crisp", "optimizer.method=mma", initial]);
    for volumes in [&filtered, &crisp] {
        assert!((volumes[0] - 0.5).abs() < 1e-9 && (volumes[29] - 0.3).abs() < 2e-3, "{volumes:?}");
    }

    let folder = Folder::new();
    folder.write("case.toml", &CASE.replace("volume_fraction = 0.3", ""));
    let limit = "constraints=[{response=\"volume\",at_most=0.3}]";
    folder.run_well(&[limit, initial, "optimizer.max_iterations=30", "filter.kind=sensitivity"]);
    assert_eq!(folder.history("volume_fraction"), filtered);
}

#[test]
fn passive_elements_and_an_earlier_design_start_where_they_are_told_to() {
    let folder = Folder::new();
    folder.run_well(&[]);
    std::fs::rename(folder.path("out"), folder.path("coarse")).unwrap();
    let keys = ["design.initial_volume_fraction=0.6", "optimizer.max_iterations=20"];
    let passive = ["filter.kind=density", "design.solid=[\"end\"]"];
    let set = "select=[{name=\"end\",kind=\"elements\",box={min=[9,0,0],max=[10,1,1]}}]";
    let keys = [&keys[..], &passive, &[set]].concat();
    let finished = folder.run(&keys, &["--start-from", "coarse"]);
    assert_eq!((finished.status, finished.err.as_str()), (0, ""), "{}", finished.out);
    let volumes = folder.history("volume_fraction");
    assert!((volumes[0] - 0.6).abs() < 1e-9 && (volumes[19] - 0.3).abs() < 1e-9, "{volumes:?}");
}

#[test]
fn a_volume_that_a_run_is_still_on_its_way_to_is_said() {
    let folder = Folder::new();
    let out = folder.run_well(&["design.initial_volume_fraction=0.9"]).out;
    let why = "the volume is 0.5000, but 0.3 was requested: the run ended on the way there; raise \
               `optimizer.max_iterations` and go on with `--resume`";
    assert!(out.contains(&format!("\nwarning: {why}\n")), "{out}");
    let summary = folder.summary();
    assert!(summary["warnings"].as_array().unwrap().contains(&why.into()), "{summary}");
    assert_eq!(summary["volume_met"], false);
}

#[test]
fn a_start_is_said_by_check_and_may_not_be_less_than_void() {
    let folder = Folder::new();
    let check = |set: &str| topopt(folder.0.path(), &["check", "case.toml", "--set", set]);
    let (_, out, _) = check("design.initial_volume_fraction=0.9");
    assert!(out.contains("at most 0.3 of the design volume 245, 0.9 at the start"), "{out}");
    let (status, _, err) = check("design.initial_volume_fraction=0.005");
    assert_eq!(status, 1);
    let message = "`design.initial_volume_fraction` is less than `design.density_min`";
    assert!(err.contains(message), "{err}");
}
