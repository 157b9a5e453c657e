//! Parts with demands of their making: assertions that hold for all of them.

use serde_json::Value;

use crate::gpu_ranks::agree_elsewhere;
use crate::{Folder, topopt};

/// Keys of a crisp design with the density filter, whose arrays can be read.
pub const CRISP: [&str; 3] =
    ["design.style=crisp", "filter.kind=density", "output.compression=none"];

/// Reads the measures of the built part, which must keep all limits.
pub fn made(folder: &Folder) -> Vec<Value> {
    let (status, _, err) = topopt(&folder.path(""), &["verify", "out"]);
    assert_eq!(status, 0, "{err}");
    let found: Value = serde_json::from_str(&folder.read("out/verify.json")).unwrap();
    found["made"].as_array().unwrap().clone()
}

/// Asserts that the last measure of the built part is this one, of so much, and within its limit.
pub fn is_made(folder: &Folder, measure: &str, of: &str) {
    let made = made(folder);
    let last = made.last().unwrap();
    assert_eq!([&last["measure"], &last["of"]], [measure, of], "{made:?}");
    assert!(last["met"] == true, "{last}");
}

/// Asserts that designs with `keys` are the same on ranks and on a GPU, with solves that are as
/// good as exact.
pub fn are_same_elsewhere(keys: &[&str]) {
    let tight = ["solver.tolerance=1e-11", "solver.early_tolerance=1e-11"];
    agree_elsewhere(&Folder::new(), &[keys, &tight].concat(), |_| ());
}

/// Asserts that the small case is refused with each of the keys and the density filter, and with
/// its message.
pub fn are_refused(cases: &[(&str, &str)]) {
    cases.iter().for_each(|(key, message)| is_refused(&[key, CRISP[1]], message));
}

/// Asserts that densities that follow from others are refused without the density filter, and with
/// a surface of a given width.
pub fn follows(key: &str) {
    is_refused(&[key], "needs the density filter");
    let half_width = ["projection={sharpness=1}", "continuation=[{from=2,half_width=1}]"];
    let keys = [&[key, CRISP[1]], &half_width[..]].concat();
    is_refused(&keys, "does not go with a surface of a given width");
}

/// Asserts that a case with `keys` is refused with a message.
pub fn is_refused(keys: &[&str], message: &str) {
    let ended = Folder::new().run(keys, &[]);
    let err = ended.err.replace("\n     | ", " ");
    assert!(ended.status == 1 && err.contains(message), "{keys:?}: {err}");
}
