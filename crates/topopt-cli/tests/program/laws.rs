//! Materials with laws of elasticity of their own.

use serde_json::Value;

use crate::{Folder, topopt};

/// The keys of a short cantilever whose left half is the set `half`.
const HALF: [&str; 3] = [
    "mesh.elements=250",
    "solver.device=cpu",
    "select=[{ name = \"half\", kind = \"elements\", box = { min = [-1e9, -1e9, -1e9], max = [5.1, \
     1e9, 1e9] } }]",
];

fn history(keys: &[&str], column: &str) -> Vec<f64> {
    let folder = Folder::new();
    folder.run_well(&[&HALF, keys].concat());
    folder.history(column)
}

/// The isotropic law, said in each way.
#[test]
fn an_isotropic_law_in_any_words_is_the_isotropic_material() {
    let expected = history(&["materials=[{ set = \"half\", youngs_modulus = 2 }]"], "compliance");
    let orthotropic = "youngs_moduli = [2, 2, 2], poissons_ratios = [0.3, 0.3, 0.3], \
                       shear_moduli = [0.7692307692307693, 0.7692307692307693, 0.7692307692307693], \
                       frame = [[3, 4, 0], [-4, 3, 1]]";
    for law in [
        format!("orthotropic = {{ {orthotropic} }}"),
        "youngs_modulus = 2, layered = { build_direction = [1, 2, 3], knock_down = 1 }".into(),
    ] {
        let material = format!("materials=[{{ set = \"half\", {law} }}]");
        let found = history(&[material.as_str()], "compliance");
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(&expected) {
            assert!((found / expected - 1.0).abs() < 1e-5, "{law}: {found} {expected}");
        }
    }
}

/// A soft half of another ratio: what a part of one ratio misses.
#[test]
fn a_set_of_another_ratio_has_the_stiffness_of_a_whole_part_of_that_ratio() {
    let all = ["material.poissons_ratio=0.45", "material.youngs_modulus=3"];
    let expected = history(&all, "compliance");
    let sets = "materials=[{ set = \"half\", youngs_modulus = 3, poissons_ratio = 0.45 }]";
    let found =
        history(&["material.poissons_ratio=0.45", "material.youngs_modulus=3", sets], "compliance");
    assert_eq!(found, expected);
    let other = history(&["material.youngs_modulus=3", sets], "compliance");
    assert!((other[0] / expected[0] - 1.0).abs() > 1e-3, "{} {}", other[0], expected[0]);
}

/// A design is not mirrored where its material is not.
#[test]
fn an_oblique_frame_breaks_the_symmetry_of_a_design() {
    let printed = |direction: &str| {
        let layered =
            format!("material.layered={{ build_direction = {direction}, knock_down = 0.5 }}");
        let folder = Folder::new();
        let finished = folder
            .run_well(&[&HALF[..2], &[layered.as_str(), "design.keep_symmetry=true"]].concat());
        finished.out.contains("is symmetric about") || finished.err.contains("is symmetric about")
    };
    assert!(printed("[0, 1, 0]"));
    assert!(!printed("[0.6, 1, 0.3]"));
}

/// The compliance of a bar of 10 x 5 x 5 under a stress of 1 along x, without contraction: its
/// volume over Young's modulus along x.
fn pulled(law: &str) -> f64 {
    let folder = Folder::new();
    let end = "select=[{ name = \"end\", kind = \"faces\", plane = { point = [10, 0, 0], normal = [1, 0, 0] } }]";
    let load = "loads=[{ set = \"end\", kind = \"faces\", traction = [1, 0, 0] }]";
    let keys =
        [HALF[0], HALF[1], end, load, law, "material.poissons_ratio=0", "solver.tolerance=1e-12"];
    let set = keys.map(|key| ["--set", key]);
    let args = ["solve", "case.toml", "-o", "out", "--json"];
    let (status, out, err) = topopt(&folder.path(""), &[&args[..], set.as_flattened()].concat());
    assert_eq!(status, 0, "{err}");
    let found: Value = serde_json::from_str(&out).unwrap();
    found["load_cases"][0]["compliance"].as_f64().unwrap()
}

#[test]
fn a_bar_is_as_stiff_as_its_modulus_along_it() {
    let layered = |direction: &str| {
        pulled(&format!("material.layered={{ build_direction = {direction}, knock_down = 0.55 }}"))
    };
    let orthotropic = |frame: &str| {
        let constants =
            "youngs_moduli = [4, 2, 1], poissons_ratios = [0, 0, 0], shear_moduli = [1, 1, 1]";
        pulled(&format!("material.orthotropic={{ {constants}, frame = {frame} }}"))
    };
    for (found, modulus) in [
        (layered("[-3, 0, 0]"), 0.55),
        (layered("[0, 1, 2]"), 1.0),
        (orthotropic("[[1, 0, 0], [0, 1, 0]]"), 4.0),
        (orthotropic("[[0, 0, 1], [1, 0, 5]]"), 2.0),
        (orthotropic("[[0, 0, 2], [0, 1, 0]]"), 1.0),
    ] {
        assert!((found * modulus / 250.0 - 1.0).abs() < 1e-9, "{found} {modulus}");
    }
}
