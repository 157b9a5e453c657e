//! Published results of two dimensions, by one layer of hexahedra.
//!
//! Where no node moves along z, a layer is in plane strain, and with E' = E (1 + 2 nu) / (1 + nu)^2
//! and nu' = nu / (1 + nu) its stiffness is that of the plane-stress quadrilateral of
//! \[Andreassen2011\]. `benchmarks/literature.py` is such a program of two dimensions: with the
//! published bisection of the multiplier, which ends at a thousandth, it comes to the published
//! numbers to their last digit. The histories here are its own with the multiplier to rounding, as
//! ours is.

use topopt_mesh::generate::block;
use topopt_mesh::{HexMesh, Sets};

use crate::{Folder, meshes};

/// For E = 1 and nu = 0.3; the literature starts a density of 0 at 1e-9 of the stiffness.
const CASE: &str = r#"
[mesh]
file = "layer.msh"

[material]
youngs_modulus = 0.9467455621301775
poissons_ratio = 0.23076923076923075

[elements]
kind = "full"

[[supports]]
set = "all"
fix = ["z"]

[design]
style = "smooth"
keep_loaded = "free"
density_min = 0
void_stiffness = 1e-9

[optimizer]
max_iterations = 2000
change_tolerance = 0.01
compliance_tolerance = 0

[solver]
tolerance = 1e-10
early_tolerance = 1e-10
device = "cpu"

[output]
checkpoint_every = 0
vti_spacing = 0
"#;

/// A problem on `n[0]` x `n[1]` elements, with what is found of it.
struct Problem {
    n: [usize; 2],
    /// Nodes from a corner to another.
    sets: &'static [(&'static str, [[f64; 2]; 2])],
    /// Text that is added to [`CASE`].
    text: &'static str,
    set: &'static [&'static str],
    column: &'static str,
    /// Values of the first, second, third, tenth and last design, and how many there are.
    history: [f64; 5],
    designs: usize,
    /// Published value, and the digits that its bisection leaves.
    published: (f64, f64),
}

impl Problem {
    fn holds(&self) {
        let Self { n: [nx, ny], sets, text, set, .. } = self;
        let folder = Folder::new();
        let (coordinates, hexes) = block([*nx, *ny, 1], |at| at.map(|i| i as f64));
        let mut named = Sets::default();
        named.elements.insert("all".into(), (0..hexes.len() as u32).collect());
        meshes::write(&folder.path("layer.msh"), &HexMesh::new(coordinates, hexes, named).unwrap());

        let select = |(name, [a, b]): &(&str, [[f64; 2]; 2])| {
            let [a, b] = [a.map(|x| x - 0.1), b.map(|x| x + 0.1)];
            format!(
                "[[select]]\nname = \"{name}\"\nkind = \"nodes\"\n\
                 box = {{ min = [{}, {}, -1], max = [{}, {}, 2] }}\n",
                a[0], a[1], b[0], b[1]
            )
        };
        let selections: String = sets.iter().map(select).collect();
        folder.write("case.toml", &format!("{CASE}{selections}{text}"));
        folder.run_well(set);

        let found = folder.history(self.column);
        assert_eq!(found.len(), self.designs);
        for (at, expected) in [0, 1, 2, 9, found.len() - 1].into_iter().zip(self.history) {
            let error = (found[at] - expected).abs() / expected.abs().max(self.history[4].abs());
            assert!(error < 2e-7, "design {}: {} for {expected}", at + 1, found[at]);
        }
        let (published, digits) = self.published;
        let far = (found[found.len() - 1] - published).abs();
        assert!(far < digits, "{} for {published}", found[found.len() - 1]);
    }
}

const HALF_MBB: Problem = Problem {
    n: [60, 20],
    sets: &[
        ("symmetry", [[0.0, 0.0], [0.0, 20.0]]),
        ("roller", [[60.0, 0.0], [60.0, 0.0]]),
        ("load", [[0.0, 20.0], [0.0, 20.0]]),
    ],
    text: r#"
[[supports]]
set = "symmetry"
fix = ["x"]
[[supports]]
set = "roller"
fix = ["y"]
[[loads]]
set = "load"
force = [0, -0.5, 0]
[filter]
radius = 2.4
"#,
    set: &["design.volume_fraction=0.5"],
    column: "compliance",
    history: [1007.0221014, 583.51282136, 416.96226740, 294.57213160, 216.78519242],
    designs: 103,
    published: (216.81366, 0.03),
};

#[test]
fn half_mbb_with_the_sensitivity_filter() {
    HALF_MBB.holds();
}

#[test]
fn half_mbb_with_the_density_filter() {
    Problem {
        set: &["design.volume_fraction=0.5", "filter.kind=density"],
        history: [1007.0221014, 579.24000495, 420.65343006, 306.59053670, 233.71254366],
        designs: 146,
        published: (233.71457, 0.003),
        ..HALF_MBB
    }
    .holds();
}

const CANTILEVER: Problem = Problem {
    sets: &[("left", [[0.0, 0.0], [0.0, 20.0]]), ("low", [[60.0, 0.0], [60.0, 0.0]])],
    text: r#"
[[supports]]
set = "left"
[[loads]]
set = "low"
force = [0, -0.5, 0]
[filter]
radius = 2.4
"#,
    history: [982.41504716, 569.98886840, 400.79404700, 274.73859800, 208.49171717],
    designs: 169,
    published: (208.44294, 0.06),
    ..HALF_MBB
};

#[test]
fn cantilever() {
    CANTILEVER.holds();
}

#[test]
fn cantilever_with_two_load_cases() {
    Problem {
        sets: &[
            ("left", [[0.0, 0.0], [0.0, 20.0]]),
            ("low", [[60.0, 0.0], [60.0, 0.0]]),
            ("high", [[60.0, 20.0], [60.0, 20.0]]),
        ],
        text: r#"
[[supports]]
set = "left"
[[loads]]
set = "low"
force = [0, -0.5, 0]
case = "down"
[[loads]]
set = "high"
force = [0, 0.5, 0]
case = "up"
[filter]
radius = 2.4
"#,
        history: [1964.8300934, 1182.9174840, 852.66511000, 629.90283700, 510.03754717],
        designs: 45,
        published: (510.37278, 0.4),
        ..HALF_MBB
    }
    .holds();
}

/// The published program analyses its first design with the hole filled, ours without.
#[test]
fn cantilever_with_a_hole() {
    Problem {
        text: r#"
[[supports]]
set = "left"
[[loads]]
set = "low"
force = [0, -0.5, 0]
[filter]
radius = 2.4
[[select]]
name = "hole"
kind = "elements"
cylinder = { point = [19.5, 10.5, 0], axis = [0, 0, 1], radius = 6.6666 }
"#,
        // Half of the 1200 elements, on those that are not among the 137 of the hole.
        set: &["design.volume_fraction=0.56444026340545625", "design.void=[\"hole\"]"],
        history: [876.05084694, 484.42761133, 354.16551175, 250.40691518, 221.87952537],
        designs: 46,
        published: (221.97206, 0.1),
        ..CANTILEVER
    }
    .holds();
}

/// A force inverter: half of it, with springs at input and output.
const INVERTER: Problem = Problem {
    n: [40, 20],
    sets: &[
        ("symmetry", [[0.0, 20.0], [40.0, 20.0]]),
        ("fixed", [[0.0, 0.0], [0.0, 1.0]]),
        ("in", [[0.0, 20.0], [0.0, 20.0]]),
        ("out", [[40.0, 20.0], [40.0, 20.0]]),
    ],
    text: r#"
[[supports]]
set = "symmetry"
fix = ["y"]
[[supports]]
set = "fixed"
[[loads]]
set = "in"
force = [0.5, 0, 0]
[[springs]]
set = "in"
stiffness = [0.05, 0, 0]
[[springs]]
set = "out"
stiffness = [0.05, 0, 0]
[filter]
kind = "density"
radius = 1.2
[objective]
maximize = "output_displacement"
set = "out"
direction = [-1, 0, 0]
"#,
    set: &[
        "design.volume_fraction=0.3",
        "optimizer.method=oc",
        "optimizer.move_limit=0.1",
        "optimizer.damping=0.3",
    ],
    column: "objective",
    history: [-0.117700531, -0.010113658, -0.000049487, 0.557949896, 1.024065462],
    designs: 72,
    published: (1.022, 0.005),
};

#[test]
fn force_inverter() {
    INVERTER.holds();
}
