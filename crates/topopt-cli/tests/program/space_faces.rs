//! Faces of the bodies of a design space: selected, refined at, filled, and kept with a layer.

use std::f64::consts::PI;

use topopt_case::case::Case;
use topopt_case::config::Config;
use topopt_io::stl;
use topopt_mesh::HexMesh;
use topopt_mesh::cells::Shape;
use topopt_mesh::surface::{area_vector, face_coordinates};
use topopt_mesh::vector::length;
use topopt_surface::TriangleSurface;
use topopt_testing::bodies::{Body, circle, prism, tube};

use crate::gmsh::has_gmsh;
use crate::messages::{assert_snapshot, message};
use crate::{Finished, Folder, topopt};

/// Two bosses with a bore, and a bolt through one of them.
const CASE: &str = "[mesh]\nmethod = \"hexahedra\"\nelement_size = 1.5\n\n[mesh.design_space]\n\
    kept = [\"left.stl\", \"right.stl\"]\nwithin = \"hull\"\n\
    keep_out = [{ file = \"left_bolt.stl\" }, { file = \"right_bolt.stl\" }]\n\n\
    [[select]]\nname = \"bores\"\nkind = \"faces\"\nform = { kind = \"cylinder\", radius = 4, hollow = true }\n\n\
    [[select]]\nname = \"held\"\nkind = \"faces\"\nfaces = [3]\nbody = \"left\"\n\n\
    [[select]]\nname = \"loaded\"\nkind = \"faces\"\nsame_as = 3\nbody = \"right\"\n\n\
    [[supports]]\nset = \"held\"\n\n[[loads]]\nset = \"loaded\"\nbearing = [0, -100, 0]\n\n\
    [design]\nvolume_fraction = 0.97\n\n[filter]\nradius_in_elements = 1.5\n\n\
    [optimizer]\nmax_iterations = 3\nchange_tolerance = 0\ncompliance_tolerance = 0\n\n\
    [solver]\ndevice = \"cpu\"\n";

/// A part with a bore and a blind hole, whose holes are filled.
const FILLED: &str = "[mesh]\nmethod = \"hexahedra\"\nelement_size = 2\n\n[mesh.design_space]\n\
    within = { file = \"ring.stl\", fill = \"holes\" }\n\n\
    [[select]]\nname = \"outside\"\nkind = \"faces\"\nform = { kind = \"cylinder\", hollow = false }\n\n\
    [[select]]\nname = \"ends\"\nkind = \"faces\"\nform = { kind = \"plane\" }\n\n\
    [[supports]]\nset = \"ends\"\n\n[[loads]]\nset = \"outside\"\ntotal_force = [0, -100, 0]\n\n\
    [design]\nvolume_fraction = 0.5\n\n[filter]\nradius_in_elements = 1.5\n";

fn write(folder: &Folder, name: &str, (vertices, triangles): &Body) {
    stl::write(&folder.path(name), vertices, triangles).unwrap();
}

/// A screw of so many sides: a shank of a radius up to the height 10, and a head above.
fn screw(x: f64, radius: f64, n: usize) -> Body {
    let (outline, head) = (circle([x, 0.0], radius, n), circle([x, 0.0], radius + 2.0, n));
    let level =
        |outline: &[[f64; 2]], z: f64| outline.iter().map(move |&[x, y]| [x, y, z]).collect();
    let rings: [Vec<[f64; 3]>; 4] =
        [level(&outline, -9.0), level(&outline, 10.0), level(&head, 10.0), level(&head, 14.0)];
    let ends = [[x, 0.0, -9.0], [x, 0.0, 14.0]];
    let (k, last) = (n as u32, 4 * n as u32);
    let mut triangles = Vec::new();
    for i in 0..k {
        let next = (i + 1) % k;
        for low in [0, k, 2 * k] {
            let quad = [low + i, low + next, low + k + next, low + k + i];
            triangles.extend([[quad[0], quad[1], quad[2]], [quad[0], quad[2], quad[3]]]);
        }
        triangles.extend([[last, next, i], [last + 1, 3 * k + i, 3 * k + next]]);
    }
    (rings.concat().into_iter().chain(ends).collect(), triangles)
}

/// A folder with bodies, the bolts with `sides`, and a case.
fn folder(case: &str, sides: usize) -> Folder {
    let folder = Folder::new();
    for (name, x) in [("left", 0.0), ("right", 60.0)] {
        write(&folder, &format!("{name}.stl"), &tube([x, 0.0], [4.0, 8.0], [0.0, 10.0], 48));
        let bolt = prism(&circle([x, 0.0], 4.0, sides), [-20.0, 30.0]);
        write(&folder, &format!("{name}_bolt.stl"), &bolt);
    }
    write(&folder, "ring.stl", &tube([0.0; 2], [4.0, 12.0], [0.0, 10.0], 48));
    folder.write("case.toml", case);
    folder
}

fn case(folder: &Folder, set: &[&str]) -> Case {
    let set: Vec<String> = set.iter().map(|set| (*set).to_owned()).collect();
    let config = Config::load(&folder.path("case.toml"), &set).unwrap();
    Case::build(&config).unwrap_or_else(|error| panic!("{set:?}: {error:?}"))
}

fn volume(mesh: &HexMesh, elements: impl Iterator<Item = usize>) -> f64 {
    elements.map(|element| mesh.volume(element)).sum()
}

fn assert_near(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!((found / expected - 1.0).abs() < tolerance, "{what}: {found} and not {expected}");
}

fn area(case: &Case, set: &str) -> f64 {
    let faces = case.sets.faces[set].iter();
    faces.map(|face| length(area_vector(&face_coordinates(&case.mesh, *face)))).sum()
}

/// Areas of bores that are selected by form, by number and as the same, on both kinds of elements.
#[test]
fn bores_of_kept_parts_are_selected() {
    let folder = folder(CASE, 48);
    let bore = 2.0 * PI * 4.0 * 10.0;
    let by_tetrahedra = ["mesh.method=tetrahedra", "mesh.element_size=2.5"];
    for (set, shape) in [(&[][..], Shape::Hexahedron), (&by_tetrahedra, Shape::Tetrahedron)] {
        if shape == Shape::Tetrahedron && !has_gmsh() {
            continue;
        }
        let case = case(&folder, set);
        assert_eq!(case.mesh.shape(), shape);
        for (name, n) in [("bores", 2.0), ("held", 1.0), ("loaded", 1.0)] {
            assert_near(area(&case, name), n * bore, 0.02, &format!("{shape:?} {name}"));
        }
    }

    // A keep-out is known by what it leaves free.
    let of_bolt =
        ["select.1.body=left_bolt", "select.1.form={ kind = \"cylinder\", hollow = true }"];
    folder.write("case.toml", &CASE.replacen("faces = [3]\n", "", 1));
    assert_near(area(&case(&folder, &of_bolt), "held"), bore, 0.02, "bolt");
}

/// Elements at a bore of a kept part are smaller.
#[test]
fn a_space_is_refined_at_faces() {
    let folder = folder(CASE, 48);
    let fine = "mesh.refine=[{ set = \"held\", element_size = 0.7 }]";
    let [usual, fine] = [&[][..], &[fine]].map(|set| case(&folder, set).mesh);
    let around = |mesh: &HexMesh, center: f64| {
        let is_near = |x: &&[f64; 3]| (x[0] - center).hypot(x[1]) < 6.0;
        mesh.centers().iter().filter(is_near).count() as f64
    };
    let [bore, middle] = [0.0, 30.0].map(|x| around(&fine, x) / around(&usual, x));
    assert!(bore > 4.0 && bore > 1.5 * middle, "{bore} {middle}");
}

/// Bolts whose facets are not those of the bore, with a clearance and a head, too.
#[test]
fn facets_of_a_bolt_need_not_be_those_of_its_bore() {
    let folder = folder(CASE, 30);
    write(&folder, "screw.stl", &screw(0.0, 4.0, 30));
    write(&folder, "thin.stl", &screw(0.0, 3.6, 30));
    let in_box = ["mesh.design_space.within=box", "mesh.design_space.margin=3"];
    let screws = ["mesh.design_space.keep_out.0.file=screw.stl"];
    let thin = [
        "mesh.design_space.keep_out.0.file=thin.stl",
        "mesh.design_space.keep_out.0.clearance=0.4",
    ];
    let bore = 2.0 * PI * 4.0 * 10.0;
    for set in [vec![], screws.to_vec(), [&in_box[..], &screws].concat(), thin.to_vec()] {
        let case = case(&folder, &set);
        assert_near(area(&case, "held"), bore, 0.03, &format!("{set:?}"));
    }
}

/// Bolts in the bore of the envelope leave it as it is.
#[test]
fn a_bolt_in_a_bore_of_the_envelope() {
    let folder = folder(&FILLED.replacen(", fill = \"holes\"", "", 1), 30);
    let ring = 10.0 * PI * (144.0 - 16.0);
    for bolt in ["{ file = \"left_bolt.stl\" }", "{ file = \"thin.stl\", clearance = 0.5 }"] {
        write(&folder, "thin.stl", &screw(0.0, 3.5, 30));
        let keep_out = format!("mesh.design_space.keep_out=[{bolt}]");
        let mesh = case(&folder, &[&keep_out]).mesh;
        assert_near(volume(&mesh, 0..mesh.n_elements()), ring, 0.02, bolt);
    }
}

/// Clearances of a bolt as thick as the bore of a kept ring, and of one with a head, that
/// OpenCASCADE made: what they leave of ring and plate.
#[test]
fn bolts_of_scripts_have_clearance() {
    if !has_gmsh() {
        return;
    }
    let folder = Folder::new();
    let script = |name: &str, bodies: &str| {
        folder.write(&format!("{name}.geo"), &format!("SetFactory(\"OpenCASCADE\");\n{bodies}\n"));
    };
    let tube = |radius: f64| {
        format!(
            "Cylinder(1) = {{30,10,0, 0,0,10, {radius}}}; Cylinder(2) = {{30,10,0, 0,0,10, 4}};\n\
             BooleanDifference(3)={{Volume{{1}};Delete;}}{{Volume{{2}};Delete;}};"
        )
    };
    script("ring", &tube(6.0));
    script(
        "plate",
        "Box(1) = {0,0,0, 40,20,10}; Cylinder(2) = {30,10,0, 0,0,10, 4};\n\
         BooleanDifference(3)={Volume{1};Delete;}{Volume{2};Delete;};",
    );
    script("bolt", "Cylinder(1) = {30,10,-5, 0,0,25, 4};");
    script(
        "screw",
        "Cylinder(1) = {30,10,-5, 0,0,15, 4}; Cylinder(2) = {30,10,10, 0,0,4, 7};\n\
         BooleanUnion(3)={Volume{1};Delete;}{Volume{2};Delete;};",
    );
    folder.write(
        "case.toml",
        "[mesh]\nmethod = \"hexahedra\"\nelement_size = 2\n[mesh.design_space]\nkept = [\"ring.geo\"]\n\
         within = { file = \"plate.geo\" }\nkeep_out = [{ file = \"bolt.geo\", clearance = 0.5 }]\n\
         [[select]]\nname = \"wall\"\nkind = \"faces\"\nbox = { min = [0, 0, 0], max = [0, 20, 10] }\n\
         [[select]]\nname = \"tip\"\nkind = \"faces\"\nbox = { min = [40, 0, 0], max = [40, 20, 10] }\n\
         [[supports]]\nset = \"wall\"\n[[loads]]\nset = \"tip\"\ntotal_force = [0, -1, 0]\n\
         [design]\nvolume_fraction = 0.5\n[filter]\nradius_in_elements = 1.5\n",
    );
    let plate = 8000.0 - 160.0 * PI;
    for method in ["hexahedra", "tetrahedra"] {
        for clearance in [0.1, 0.6, 1.5] {
            let set = [
                format!("mesh.method={method}"),
                format!("mesh.design_space.keep_out.0.clearance={clearance}"),
            ];
            let case = case(&folder, &[&set[0], &set[1]]);
            let found = volume(&case.mesh, 0..case.mesh.n_elements());
            assert_near(found, plate, 2e-3, &format!("{set:?}"));
        }
    }
    let keep_out = "mesh.design_space.keep_out=[{file=\"screw.geo\",clearance=1}]";
    let screwed = case(&folder, &[keep_out, "mesh.element_size=1"]);
    // Around the ring a disk of thickness 1 is free, with a quarter of a circle at its edge.
    let edge = 2.0 * PI * (7.0 + 4.0 / (3.0 * PI)) * PI / 4.0;
    let disk = PI * (49.0 - 36.0) + edge;
    let space = &screwed.bodies.as_ref().unwrap().space;
    let space = TriangleSurface::new(space.vertices.clone(), space.triangles.clone());
    assert_near(plate - space.volume(), disk, 0.02, "screw");
}

/// Holes of the envelope by all bores, by a selection, and up to a diameter.
#[test]
fn holes_of_the_envelope_are_filled() {
    let folder = folder(FILLED, 48);
    let (disk, bore) = (10.0 * PI * 144.0, 10.0 * PI * 16.0);
    let whole = |set: &[&str]| {
        let mesh = case(&folder, set).mesh;
        volume(&mesh, 0..mesh.n_elements())
    };
    assert_near(whole(&[]), disk, 0.01, "filled");
    let up_to = "mesh.design_space.within.largest_diameter=8.5";
    assert_near(whole(&[up_to]), disk, 0.01, "up to a diameter");

    let wall = "\n[[select]]\nname = \"wall\"\nkind = \"faces\"\nform = { kind = \"cylinder\", radius = 4 }\n";
    folder.write("case.toml", &(FILLED.replacen("\"holes\"", "[\"wall\"]", 1) + wall));
    assert_near(whole(&[]), disk, 0.01, "filled by a selection");
    folder.write("case.toml", &FILLED.replacen(", fill = \"holes\"", "", 1));
    assert_near(whole(&[]), disk - bore, 0.01, "as it is");
}

/// A layer of a kept part stays, and the rest of it is designed.
#[test]
fn a_layer_of_a_kept_part_stays() {
    let layered = CASE.replacen(
        "\"left.stl\"",
        "{ file = \"left.stl\", near = { set = \"bores\", distance = 2 } }",
        1,
    );
    let folder = folder(&layered, 48);
    let case = case(&folder, &["mesh.element_size=0.7"]);
    let of_set = |name: &str| {
        volume(&case.mesh, case.sets.elements[name].iter().map(|element| *element as usize))
    };
    let ring = |outer: f64| 10.0 * PI * (outer * outer - 16.0);
    assert_near(of_set("left"), ring(8.0), 0.05, "left");
    assert_near(of_set("kept") - of_set("right"), ring(6.0), 0.05, "layer");
}

/// A run with a filled envelope and a layer, and all that follows it.
#[test]
fn a_design_in_a_filled_part() {
    let layered = CASE
        .replacen(
            "\"left.stl\"",
            "{ file = \"left.stl\", near = { set = \"bores\", distance = 2 } }",
            1,
        )
        .replacen("within = \"hull\"", "within = { file = \"disk.stl\", fill = \"holes\" }", 1);
    let folder = folder(&layered, 48);
    write(&folder, "disk.stl", &tube([30.0, 0.0], [4.0, 45.0], [0.0, 10.0], 72));
    let usual = ["mesh.element_size=2", "output.compression=none", "output.checkpoint_every=1"];
    let Finished { status, err, .. } = folder.run(&usual, &[]);
    assert_eq!((status, err.as_str()), (0, ""));
    for args in [&["verify", "out"][..], &["export", "out", "-o", "design.stl"]] {
        let (status, out, err) = topopt(&folder.path(""), args);
        assert_eq!((status, err.as_str()), (0, ""), "{args:?}: {out}");
    }
    let more = [&usual[..2], &["optimizer.max_iterations=4"]].concat();
    let Finished { status, err, .. } = folder.run(&more, &["--resume"]);
    assert_eq!((status, err.as_str()), (0, ""));
    let other = [&more[..], &["mesh.design_space.kept.0.near.distance=3"]].concat();
    let Finished { status, err, .. } = folder.run(&other, &["--resume"]);
    assert!(status != 0 && err.contains("the mesh"), "{err}");
}

/// Keep-outs far from the space are noted.
#[test]
fn keep_outs_apart_from_the_space_are_noted() {
    let folder = folder(CASE, 48);
    let note = "keep nothing free: far.stl";
    for (x, clearance, is_idle) in [(300.0, 0.0, true), (300.0, 5.0, true), (30.0, 2.0, false)] {
        write(&folder, "far.stl", &prism(&circle([x, 0.0], 2.0, 48), [-20.0, 30.0]));
        let set = format!(
            "mesh.design_space.keep_out=[{{file=\"left_bolt.stl\"}},{{file=\"right_bolt.stl\"}},\
             {{file=\"far.stl\",clearance={clearance}}}]"
        );
        let notes = case(&folder, &[&set]).notes;
        assert_eq!(notes.iter().any(|it| it.contains(note)), is_idle, "{x} {clearance}: {notes:?}");
    }
}

/// Messages on faces and holes that there are not.
#[test]
fn faces_and_holes_that_are_refused() {
    let folder = folder(CASE, 48);
    write(
        &folder,
        "bar.stl",
        &prism(&[[-9.0, -9.0], [69.0, -9.0], [69.0, 9.0], [-9.0, 9.0]], [0.0, 10.0]),
    );
    let mut messages = Vec::new();
    let mut said = |case: &str, changes: &[(&str, &str)]| {
        let change = |text: String, (old, new): &(&str, &str)| {
            assert!(text.contains(old), "{old}");
            text.replacen(old, new, 1)
        };
        folder.write("case.toml", &changes.iter().fold(case.to_owned(), change));
        let title: Vec<&str> = changes.iter().map(|(_, new)| new.trim()).collect();
        let title = title.join("; ").replace('\n', "; ");
        messages.push(format!("# {title}\n{}", message(&folder, &["check", "case.toml"])));
    };
    said(CASE, &[("faces = [3]\nbody = \"left\"", "faces = [3]")]);
    said(CASE, &[("body = \"left\"", "body = \"lfet\"")]);
    std::fs::create_dir(folder.path("tools")).unwrap();
    let bolt = prism(&circle([0.0, 0.0], 4.0, 48), [-20.0, 30.0]);
    write(&folder, "tools/left.stl", &bolt);
    said(CASE, &[("\"left_bolt.stl\"", "\"tools/left.stl\"")]);
    said(CASE, &[("faces = [3]", "faces = [9]")]);
    said(CASE, &[("faces = [3]", "faces = [\"seat\"]")]);
    said(CASE, &[("radius = 4,", "radius = 5,")]);
    said(
        CASE,
        &[("element_size", "refine = [{ set = \"seat\", element_size = 1 }]\nelement_size")],
    );
    let layer = |set: &str, distance: &str| {
        format!("{{ file = \"left.stl\", near = {{ set = \"{set}\", distance = {distance} }} }}")
    };
    for (set, distance) in [("seat", "1"), ("loaded", "1"), ("held", "0"), ("held", "0.01")] {
        said(CASE, &[("\"left.stl\"", &layer(set, distance))]);
    }
    said(CASE, &[("[\"left.stl\", \"right.stl\"]", "[]")]);
    said(FILLED, &[("\"holes\"", "\"bores\"")]);
    said(FILLED, &[("\"holes\"", "\"holes\", largest_diameter = 3")]);
    said(FILLED, &[(", fill = \"holes\"", ", largest_diameter = 3")]);
    said(FILLED, &[("\"holes\"", "[]")]);
    said(FILLED, &[("\"holes\"", "[\"outside\"]")]);
    said(FILLED, &[("\"holes\"", "[\"ends\"]")]);
    said(FILLED, &[("\"ring.stl\", fill = \"holes\"", "\"bar.stl\", fill = [\"ends\"]")]);
    assert_snapshot("space_faces", &messages);
}
