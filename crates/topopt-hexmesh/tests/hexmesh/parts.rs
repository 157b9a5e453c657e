//! Parts as Gmsh scripts, and their surfaces as Gmsh triangulates them.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use topopt_hexmesh::Surface;
use topopt_io::gmsh::{Boundary, ElementSize, Hexes, Meshing, boundary};

/// Prism of a triangle with legs along x and z.
macro_rules! wedge {
    ($height:literal) => {
        concat!(
            "Point(1) = {0,0,0}; Point(2) = {20,0,0}; Point(3) = {20,0,",
            $height,
            "}; Line(1) = {1,2}; Line(2) = {2,3}; Line(3) = {3,1}; Curve Loop(1) = {1,2,3};
             Plane Surface(1) = {1}; Extrude{0,12,0}{ Surface{1}; }"
        )
    };
}

/// Name, largest extent, and script of each part.
pub const PARTS: [(&str, f64, &str); 23] = [
    ("cube", 20.0, "Box(1) = {0,0,0, 20,20,20};"),
    ("thin", 40.0, "Box(1) = {0,0,0, 40,20,2};"),
    ("box", 20.0, "Box(1) = {0,0,0, 20,12,8};"),
    (
        "ribs",
        40.0,
        "Box(1) = {0,0,0, 40,24,6}; Box(2) = {5.3,0,5, 1,24,11}; Box(3) = {14.6,0,5, 2,24,11};
         Box(4) = {27.2,0,5, 4,24,11}; BooleanUnion{ Volume{1}; Delete; }{ Volume{2:4}; Delete; }",
    ),
    ("wedge30", 20.0, wedge!("11.547005")),
    ("wedge45", 20.0, wedge!("20")),
    ("cylinder", 20.0, "Cylinder(1) = {0,0,0, 0,0,20, 10};"),
    (
        "tube",
        20.0,
        "Cylinder(1) = {0,0,0, 0,0,20, 10}; Cylinder(2) = {0,0,-1, 0,0,22, 6};
         BooleanDifference{ Volume{1}; Delete; }{ Volume{2}; Delete; }",
    ),
    (
        "crossing",
        30.0,
        "Cylinder(1) = {-15,0,0, 30,0,0, 6}; Cylinder(2) = {0,-15,0, 0,30,0, 6};
         BooleanUnion{ Volume{1}; Delete; }{ Volume{2}; Delete; }",
    ),
    (
        "plate",
        40.0,
        "Box(1) = {0,0,0, 40,24,6}; Cylinder(2) = {7,8,-1, 0,0,8, 1.5};
         Cylinder(3) = {17,14,-1, 0,0,8, 3}; Cylinder(4) = {31,12,-1, 0,0,8, 5};
         BooleanDifference{ Volume{1}; Delete; }{ Volume{2:4}; Delete; }",
    ),
    (
        "holes",
        40.0,
        "Box(1) = {0,0,0, 40,30,6}; Cylinder(2) = {10.2,4.4,-1, 0,0,8, 2};
         Cylinder(3) = {20.3,5.7,-1, 0,0,8, 4}; Cylinder(4) = {27.5,18.3,-1, 0,0,8, 8};
         Cylinder(5) = {8.2,25,-1, 0,0,8, 4};
         BooleanDifference{ Volume{1}; Delete; }{ Volume{2:5}; Delete; }",
    ),
    (
        "bracket",
        30.0,
        "Box(1) = {0,0,0, 30,20,5}; Box(2) = {0,0,0, 5,20,25};
         BooleanUnion(3) = { Volume{1}; Delete; }{ Volume{2}; Delete; };
         e() = Curve In BoundingBox {4.9,-0.1,4.9, 5.1,20.1,5.1}; v() = Fillet{3}{ e() }{4};
         Cylinder(8) = {20,10,-1, 0,0,8, 3.5}; Cylinder(9) = {-1,10,17, 8,0,0, 2.5};
         BooleanDifference{ Volume{v()}; Delete; }{ Volume{8:9}; Delete; }",
    ),
    ("rounded", 20.0, "Box(1) = {0,0,0, 20,20,20}; Fillet{1}{ 1:12 }{5}"),
    ("sphere", 20.0, "Sphere(1) = {0,0,0, 10};"),
    (
        "boss",
        40.0,
        "Box(1) = {-20,-20,0, 40,40,6}; Cylinder(2) = {0,0,3, 0,0,15, 9};
         BooleanUnion(3) = { Volume{1}; Delete; }{ Volume{2}; Delete; };
         e() = Curve In BoundingBox {-9.2,-9.2,5.9, 9.2,9.2,6.1}; Fillet{3}{ e() }{3}",
    ),
    (
        "sharp_boss",
        40.0,
        "Box(1) = {-20,-20,0, 40,40,6}; Cylinder(2) = {0,0,3, 0,0,15, 9};
         BooleanUnion(3) = { Volume{1}; Delete; }{ Volume{2}; Delete; };",
    ),
    (
        "block",
        40.0,
        "Box(1) = {-20,-20,0, 40,40,8}; Box(2) = {-9,-7,3, 18,14,15};
         Rotate{ {0,0,1}, {0,0,0}, 0.2967 }{ Volume{2}; }
         BooleanUnion(3) = { Volume{1}; Delete; }{ Volume{2}; Delete; };",
    ),
    (
        "counterbore",
        40.0,
        "Box(1) = {0,0,0, 40,30,16}; Cylinder(2) = {12,15,-1, 0,0,20, 4};
         Cylinder(3) = {12,15,9, 0,0,20, 8}; Box(4) = {-5,-7,9, 10,14,20};
         Rotate{ {0,0,1}, {0,0,0}, 0.35 }{ Volume{4}; } Translate{29,15,0}{ Volume{4}; }
         BooleanDifference{ Volume{1}; Delete; }{ Volume{2:4}; Delete; }",
    ),
    ("frustum", 20.0, "Cone(1) = {0,0,0, 0,0,16, 10, 4};"),
    (
        "cavity",
        20.0,
        "Box(1) = {0,0,0, 20,20,20}; Sphere(2) = {10,10,10, 6};
         BooleanDifference{ Volume{1}; Delete; }{ Volume{2}; Delete; }",
    ),
    ("torus", 38.0, "Torus(1) = {0,0,0, 14, 5};"),
    (
        "spheres",
        28.0,
        "Sphere(1) = {0,0,0, 8}; Sphere(2) = {12,0,0, 8};
         BooleanUnion{ Volume{1}; Delete; }{ Volume{2}; Delete; }",
    ),
    (
        "frame",
        30.0,
        "Box(1) = {0,0,0, 30,30,30}; Box(2) = {5,5,-1, 20,20,32}; Box(3) = {-1,5,5, 32,20,20};
         Box(4) = {5,-1,5, 20,32,20};
         BooleanDifference{ Volume{1}; Delete; }{ Volume{2:4}; Delete; }",
    ),
];

/// Name, largest extent, and script of parts of several bodies.
pub const ASSEMBLIES: [(&str, f64, &str); 25] = [
    (
        "stacked",
        20.0,
        "Box(1) = {0,0,0, 20,12,6}; Box(2) = {4,2,6, 8,6,8};
         BooleanFragments{ Volume{1}; Delete; }{ Volume{2}; Delete; }",
    ),
    (
        "bushing",
        20.0,
        "Box(1) = {0,0,0, 20,20,8}; Cylinder(2) = {10,10,0, 0,0,8, 6};
         Cylinder(3) = {10,10,0, 0,0,8, 3};
         BooleanDifference{ Volume{1}; Delete; }{ Volume{2}; }
         BooleanDifference{ Volume{2}; Delete; }{ Volume{3}; Delete; }
         BooleanFragments{ Volume{:}; Delete; }{}",
    ),
    (
        "shaft",
        24.0,
        "Box(1) = {0,0,0, 24,24,4}; Box(2) = {0,0,12, 24,24,4};
         Cylinder(3) = {12,12,-4, 0,0,24, 4.5};
         BooleanDifference{ Volume{1:2}; Delete; }{ Volume{3}; }
         BooleanFragments{ Volume{:}; Delete; }{}",
    ),
    (
        "inclusion",
        20.0,
        "Box(1) = {0,0,0, 20,20,20}; Sphere(2) = {10,10,10, 6};
         BooleanFragments{ Volume{1}; Delete; }{ Volume{2}; Delete; }",
    ),
    (
        "core",
        20.0,
        "Box(1) = {0,0,0, 20,20,12}; Box(2) = {6,5,4, 8,9,4};
         BooleanFragments{ Volume{1}; Delete; }{ Volume{2}; Delete; }",
    ),
    (
        "turned_core",
        20.0,
        "Box(1) = {0,0,0, 20,20,14}; Box(2) = {-5,-5,-4, 10,10,8};
         Rotate{ {0,0,1}, {0,0,0}, 0.2967 }{ Volume{2}; } Translate{10,10,7}{ Volume{2}; }
         BooleanFragments{ Volume{1}; Delete; }{ Volume{2}; Delete; }",
    ),
    (
        "three",
        20.0,
        "Box(1) = {0,0,0, 10,12,8}; Box(2) = {10,0,0, 10,12,8}; Box(3) = {0,0,8, 20,12,5};
         BooleanFragments{ Volume{1}; Delete; }{ Volume{2:3}; Delete; }",
    ),
    (
        "strip",
        40.0,
        "Box(1) = {0,0,0, 40,8,2}; Box(2) = {0,0,2, 40,8,3}; Box(3) = {0,0,5, 40,8,2};
         BooleanFragments{ Volume{1}; Delete; }{ Volume{2:3}; Delete; }",
    ),
    (
        "turned_block",
        40.0,
        "Box(1) = {-20,-20,0, 40,40,8}; Box(2) = {-9,-7,8, 18,14,12};
         Rotate{ {0,0,1}, {0,0,0}, 0.2967 }{ Volume{2}; }
         BooleanFragments{ Volume{1}; Delete; }{ Volume{2}; Delete; }",
    ),
    (
        "oblique",
        20.0,
        "Box(1) = {0,0,0, 20,12,8}; Box(2) = {10,-10,-10, 30,40,40};
         Rotate{ {0,0,1}, {10,6,0}, 0.35 }{ Volume{2}; }
         BooleanIntersection(3) = { Volume{1}; }{ Volume{2}; Delete; };
         BooleanFragments{ Volume{1}; Delete; }{ Volume{3}; Delete; }",
    ),
    (
        "bonded",
        40.0,
        "Box(1) = {-20,-20,0, 40,40,10}; Box(2) = {-9,-7,6, 18,14,12};
         Rotate{ {0,0,1}, {0,0,0}, 0.2967 }{ Volume{2}; }
         BooleanDifference{ Volume{1}; Delete; }{ Volume{2}; }
         BooleanFragments{ Volume{:}; Delete; }{}",
    ),
    (
        "washer",
        40.0,
        "Box(1) = {-20,-20,0, 40,40,8}; Cylinder(2) = {0,0,0, 0,0,8, 5};
         BooleanDifference(3) = { Volume{1}; Delete; }{ Volume{2}; };
         Cylinder(4) = {0,0,8, 0,0,3, 11}; Cylinder(5) = {0,0,8, 0,0,3, 5};
         BooleanDifference(6) = { Volume{4}; Delete; }{ Volume{5}; };
         BooleanUnion(7) = { Volume{2}; Delete; }{ Volume{5}; Delete; };
         BooleanFragments{ Volume{:}; Delete; }{}",
    ),
    (
        "curved",
        30.0,
        "Box(1) = {0,0,0, 30,12,10}; Cylinder(2) = {-1,6,-20, 32,0,0, 25};
         BooleanIntersection(3) = { Volume{1}; }{ Volume{2}; Delete; };
         BooleanFragments{ Volume{1}; Delete; }{ Volume{3}; Delete; }",
    ),
    (
        "dome",
        20.0,
        "Box(1) = {0,0,0, 20,20,10}; Sphere(2) = {10,10,10, 6};
         BooleanIntersection(3) = { Volume{1}; }{ Volume{2}; Delete; };
         BooleanFragments{ Volume{1}; Delete; }{ Volume{3}; Delete; }",
    ),
    (
        "quarters",
        20.0,
        "Cylinder(1) = {0,0,0, 0,0,8, 10}; Box(2) = {0,0,-1, 20,20,10};
         Box(3) = {-20,0,-1, 20,20,10};
         BooleanIntersection(4) = { Volume{1}; }{ Volume{2}; Delete; };
         BooleanIntersection(5) = { Volume{1}; }{ Volume{3}; Delete; };
         BooleanFragments{ Volume{1}; Delete; }{ Volume{4:5}; Delete; }",
    ),
    ("apart", 20.0, "Box(1) = {0,0,0, 8,12,6}; Cylinder(2) = {14,6,0, 0,0,6, 4};"),
    (
        "halves",
        20.0,
        "Cylinder(1) = {0,0,0, 0,0,20, 10}; Box(2) = {-11,-11,0, 22,22,9};
         BooleanIntersection(3) = { Volume{1}; }{ Volume{2}; Delete; };
         BooleanFragments{ Volume{1}; Delete; }{ Volume{3}; Delete; }",
    ),
    (
        "sectors",
        20.0,
        "Cylinder(1) = {0,0,0, 0,0,8, 10, 2*Pi/3};
         Cylinder(2) = {0,0,0, 0,0,8, 10, 2*Pi/3}; Rotate{ {0,0,1}, {0,0,0}, 2*Pi/3 }{ Volume{2}; }
         Cylinder(3) = {0,0,0, 0,0,8, 10, 2*Pi/3}; Rotate{ {0,0,1}, {0,0,0}, 4*Pi/3 }{ Volume{3}; }
         BooleanFragments{ Volume{:}; Delete; }{}",
    ),
    (
        "coated",
        20.0,
        "Sphere(1) = {0,0,0, 10}; Sphere(2) = {0,0,0, 6};
         BooleanFragments{ Volume{1}; Delete; }{ Volume{2}; Delete; }",
    ),
    (
        "bolt",
        30.0,
        "Box(1) = {-15,-15,0, 30,30,8}; Cylinder(2) = {0,0,0, 0,0,9, 4};
         Cylinder(3) = {0,0,8, 0,0,4, 8};
         BooleanUnion(4) = { Volume{2}; Delete; }{ Volume{3}; Delete; };
         BooleanDifference{ Volume{1}; Delete; }{ Volume{4}; }
         BooleanFragments{ Volume{:}; Delete; }{}",
    ),
    (
        "tubes",
        20.0,
        "Cylinder(1) = {0,0,0, 0,0,20, 10}; Cylinder(2) = {0,0,0, 0,0,20, 8};
         Cylinder(3) = {0,0,0, 0,0,20, 5};
         BooleanFragments{ Volume{1}; Delete; }{ Volume{2:3}; Delete; }
         Recursive Delete{ Volume{3}; }",
    ),
    (
        "lens",
        20.0,
        "Sphere(1) = {0,0,0, 10}; Box(2) = {-20,-20,0, 40,40,20};
         Rotate{ {1,0.3,0}, {0,0,0}, 0.5 }{ Volume{2}; }
         BooleanIntersection(3) = { Volume{1}; }{ Volume{2}; Delete; };
         BooleanFragments{ Volume{1}; Delete; }{ Volume{3}; Delete; }",
    ),
    (
        "rod",
        30.0,
        "Box(1) = {-8,-8,-8, 16,16,16}; Cylinder(2) = {-14,-5,-3, 28,10,6, 4};
         BooleanDifference{ Volume{1}; Delete; }{ Volume{2}; }
         BooleanFragments{ Volume{:}; Delete; }{}",
    ),
    (
        "ball",
        20.0,
        "Box(1) = {0,0,0, 20,20,10}; Sphere(2) = {10,10,12, 6};
         BooleanDifference{ Volume{1}; Delete; }{ Volume{2}; }
         BooleanFragments{ Volume{:}; Delete; }{}",
    ),
    (
        "peg",
        40.0,
        "Box(1) = {-20,-20,0, 40,40,10}; Cylinder(2) = {0,0,10, 0,0,14, 9};
         BooleanFragments{ Volume{1}; Delete; }{ Volume{2}; Delete; }",
    ),
];

/// Surface of a part for elements of `size`, turned by `degrees` about a skew axis; none without
/// Gmsh, unless `TOPOPT_REQUIRE_GMSH` is set.
pub fn surface(script: &str, size: f64, degrees: f64) -> Option<Surface> {
    let Boundary { vertices, triangles, faces, bodies, .. } = faces(script, size, degrees)?;
    Some(Surface::of_bodies(vertices, triangles, faces, &bodies).expect("closed surfaces"))
}

/// Triangles of a part in its faces, as those of [`surface`].
pub fn faces(script: &str, size: f64, degrees: f64) -> Option<Boundary> {
    let folder = tempfile::tempdir().expect("a folder for files");
    let geometry = folder.path().join("part.geo");
    let turn =
        format!("Rotate{{ {{0.3,0.2,1}}, {{0,0,0}}, {degrees} * Pi / 180 }}{{ Volume{{:}}; }}\n");
    let text = format!("SetFactory(\"OpenCASCADE\");\n{script}\n{turn}");
    std::fs::write(&geometry, text).expect("a script is written");

    let meshing = Meshing {
        program: None,
        hexes: Hexes::Auto,
        size: ElementSize::Edge(size),
        finer: Vec::new(),
        length_unit: "MM",
        timeout: Duration::from_secs(600),
        trust: false,
        surface: None,
    };
    let made = boundary(&geometry, &meshing, 1e9, &AtomicBool::new(false));
    if let Err(error) = &made {
        assert!(std::env::var_os("TOPOPT_REQUIRE_GMSH").is_none(), "{error}");
    }
    made.ok()
}
