//! Mixed meshes of every format as other programs read them, and meshes of one shape.
//!
//! The files and the numbers are those of `meshes/mixed.py`; Nastran has its own, see `nastran.rs`.

use std::collections::BTreeMap;
use std::path::Path;

use topopt_io::{ImportedMesh, UncutCells, read_mesh};
use topopt_mesh::cells::{Cells, Cut, NO_NODE, Shape};
use topopt_mesh::surface::{area_vector, face_coordinates};
use topopt_mesh::vector::length;
use topopt_testing::mixed_cells;

use crate::cut::{assert_conforms, bent, quadratic, surface_area};
use crate::damage::{file, read_bytes};
use crate::texts::{FILES, Mesh};

/// Shapes in the order in which `mixed.py` writes them, and the volumes of their straight cells.
const SHAPES: [(Shape, f64); 4] = [
    (Shape::Hexahedron, 2.0),
    (Shape::Wedge, 0.75),
    (Shape::Pyramid, 0.3),
    (Shape::Tetrahedron, 0.19375),
];

/// The surface of the two straight parts.
const SURFACE: f64 = 29.702031525230566;

/// Areas of the face sets.
const FACES: [f64; 3] = [2.75, 5.935234476314668, 2.0];

/// File of the mixed mesh in one format, and the values in which formats differ.
struct Format {
    file: &'static str,
    n_nodes: usize,
    /// The numbers of the elements by part and shape.
    tags: [[u64; 4]; 3],
    /// The set of nodes and that of elements.
    sets: [&'static str; 2],
    faces: &'static [&'static str],
    /// Number of middle nodes per element of second order of a shape.
    n_middles: fn(Shape) -> usize,
}

fn all_middles(shape: Shape) -> usize {
    shape.edges().len()
}

/// Abaqus has no pyramid of second order.
fn middles_of_abaqus(shape: Shape) -> usize {
    if shape == Shape::Pyramid { 0 } else { shape.edges().len() }
}

impl Format {
    fn read(&self) -> ImportedMesh {
        let meshes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../meshes");
        read_mesh(&meshes.join(self.file)).unwrap()
    }
}

const FACE_SETS: &[&str] = &["held", "pressed", "inner"];

const GMSH: Format = Format {
    file: "mixed_4_1.msh",
    n_nodes: 84,
    tags: [[21, 14, 33, 5], [121, 114, 133, 105], [221, 214, 233, 205]],
    sets: ["edge", "stiff"],
    faces: FACE_SETS,
    n_middles: all_middles,
};

/// VTK has no sets of faces.
const VTK: Format =
    Format { tags: [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]], faces: &[], ..GMSH };

const FORMATS: [Format; 6] = [
    GMSH,
    // Complete elements, with nodes on faces and in the brick; Gmsh numbers them by their types.
    Format {
        file: "mixed_2_2.msh",
        n_nodes: 102,
        tags: [[20, 23, 26, 17], [21, 24, 27, 18], [22, 25, 28, 19]],
        ..GMSH
    },
    Format { file: "mixed.inp", n_middles: middles_of_abaqus, ..GMSH },
    Format {
        file: "mixed.cdb",
        sets: ["EDGE", "STIFF"],
        faces: &["SFE_1", "SFE_2", "SFE_3"],
        ..GMSH
    },
    Format { file: "mixed.vtk", ..VTK },
    Format { file: "mixed.vtu", ..VTK },
];

/// The hexahedra of every element by its tag.
fn hexahedra(imported: &ImportedMesh) -> BTreeMap<u64, Vec<u32>> {
    let mut found = BTreeMap::<u64, Vec<u32>>::new();
    for (hex, &tag) in (0..).zip(&imported.element_tags) {
        found.entry(tag).or_default().push(hex);
    }
    found
}

fn n_hexahedra(shape: Shape) -> usize {
    if shape == Shape::Pyramid { 12 } else { shape.n_corners() }
}

#[track_caller]
fn assert_equal(found: f64, expected: f64, what: &str) {
    assert!((found / expected - 1.0).abs() < 1e-12, "{what}: {found} is not {expected}");
}

#[test]
fn cells_and_volumes_as_other_programs() {
    for format in FORMATS {
        let (imported, file) = (format.read(), format.file);
        let uncut = imported.uncut.as_ref().unwrap();
        assert_eq!((uncut.coordinates.len(), uncut.cells.len()), (format.n_nodes, 12), "{file}");

        for axis in 0..3 {
            let of_mesh: Vec<f64> = imported.mesh.coordinates().iter().map(|x| x[axis]).collect();
            for (found, expected) in uncut.at_nodes(&of_mesh).iter().zip(&uncut.coordinates) {
                assert!(found.is_nan() || *found == expected[axis], "{file}");
            }
        }
        assert!(uncut.nodes.iter().filter(|node| **node != NO_NODE).count() > 20, "{file}");

        let (hexahedra, volumes) = (hexahedra(&imported), imported.mesh.volumes());
        assert_eq!(hexahedra.len(), 12, "{file}");
        for (part, tags) in format.tags.iter().enumerate() {
            for (tag, (shape, volume)) in tags.iter().zip(SHAPES) {
                let hexahedra = &hexahedra[tag];
                assert_eq!(hexahedra.len(), n_hexahedra(shape), "{file} {shape:?}");
                let cell = uncut.cells.get(uncut.of_elements[hexahedra[0] as usize] as usize);
                assert_eq!(cell.shape, shape, "{file}");
                let n_middles = if part == 0 { 0 } else { (format.n_middles)(shape) };
                assert_eq!(cell.middles.len(), n_middles, "{file} {shape:?}");
                if part < 2 {
                    let sum: f64 = hexahedra.iter().map(|&hex| volumes[hex as usize]).sum();
                    assert_equal(sum, volume, &format!("{file} {shape:?}"));
                }
            }
        }
    }
}

#[test]
fn middles_are_in_the_middles() {
    for format in FORMATS {
        let imported = format.read();
        let UncutCells { coordinates, cells, of_elements, .. } = imported.uncut.as_ref().unwrap();
        for (tag, hexahedra) in hexahedra(&imported) {
            let cell = cells.get(of_elements[hexahedra[0] as usize] as usize);
            let is_straight = format.tags[1].contains(&tag);
            for (&[a, b], &middle) in
                cell.shape.edges().iter().zip(cell.middles).filter(|_| is_straight)
            {
                let [a, b] = [a, b].map(|corner| coordinates[cell.corners[corner] as usize]);
                let middle = coordinates[middle as usize];
                let off = length([0, 1, 2].map(|i| 0.5 * (a[i] + b[i]) - middle[i]));
                assert!(off < 1e-14, "{} {tag} {off}", format.file);
            }
        }
    }
}

#[test]
fn sets_as_other_programs() {
    for format in FORMATS {
        let (imported, file) = (format.read(), format.file);
        let (mesh, sets) = (&imported.mesh, imported.mesh.sets());
        let [edge, stiff] = format.sets;
        // Three corners in a bent line, and the two middles between them, in each straight part.
        let edge = sets.nodes[edge].iter().map(|&node| mesh.coordinates()[node as usize]);
        let mut found: Vec<[f64; 3]> = edge.collect();
        found.sort_by(|a, b| (a[2], a[1]).partial_cmp(&(b[2], b[1])).unwrap());
        let line = |z: f64| {
            [(0.0, 0.0), (0.5, 0.0), (1.0, 0.0), (1.375, 0.25), (1.75, 0.5)]
                .map(|(y, up)| [0.0, y, z + up])
        };
        assert_eq!(found, [line(0.0), line(3.0)].concat(), "{file}");

        // A brick and a wedge in each.
        assert_eq!(sets.elements[stiff].len(), 2 * (8 + 6), "{file}");
        let volumes = mesh.volumes();
        let volume: f64 = sets.elements[stiff].iter().map(|&hex| volumes[hex as usize]).sum();
        assert_equal(volume, 2.0 * (2.0 + 0.75), file);

        for (name, expected) in format.faces.iter().zip(FACES) {
            let faces = sets.faces[*name].iter().map(|&face| face_coordinates(mesh, face));
            assert_equal(
                faces.map(|x| length(area_vector(&x))).sum(),
                expected,
                &format!("{file} {name}"),
            );
        }
    }
}

/// Elements of the first part, and the sums of the forces that CalculiX 2.20 gives for a unit
/// pressure on each of their faces, P1 and so on: areas times inward normals.
const PRESSURES: [(u64, &[[f64; 3]]); 3] = [
    (21, &[[0., 0., 2.], [0., 0., -2.], [0., 2., 0.], [-1., 0., 0.], [0., -2., 0.], [1., 0., 0.]]),
    (14, &[[0.375, 0., 0.], [-0.375, 0., 0.], [0., -1., 1.5], [0., -1., -1.5], [0., 2., 0.]]),
    (
        5,
        &[
            [0.25, 0., 0.45],
            [-0.28125, 0.58125, 0.075],
            [-0.40625, -0.58125, -0.15],
            [0.4375, 0., -0.375],
        ],
    ),
];

#[test]
fn faces_of_abaqus_as_calculix() {
    for ((element, forces), part) in PRESSURES.into_iter().flat_map(|row| [(row, 0), (row, 1)]) {
        let element = element + 100 * part;
        for (face, force) in (1..).zip(forces) {
            let more = format!("*SURFACE, NAME=face\n{element}, S{face}\n");
            let text = [&file("../../meshes/mixed.inp"), more.as_bytes()].concat();
            let mesh = read_bytes(&text, "part.inp").unwrap().mesh;
            let faces = mesh.sets().faces["face"].iter();
            let areas = faces.map(|&face| area_vector(&face_coordinates(&mesh, face)));
            let sum = areas.fold([0.0; 3], |a, b| [0, 1, 2].map(|i| a[i] + b[i]));
            let off = length([0, 1, 2].map(|i| sum[i] + force[i]));
            assert!(off < 1e-12, "{element} S{face}: {sum:?} {force:?}");
        }
    }
}

#[test]
fn the_hexahedra_conform() {
    for format in FORMATS {
        let (imported, file) = (format.read(), format.file);
        assert_conforms(&imported.mesh);
        let parts = hexahedra(&imported);
        let of_part = |part: usize| format.tags[part].map(|tag| parts[&tag].clone()).concat();
        let straight = [0, 1].map(of_part).concat();
        assert_equal(surface_area(&imported.mesh, |hex| straight.contains(&hex)), SURFACE, file);
        let notes = &imported.notes;
        assert!(!notes.concat().contains("straightened"), "{file}: {notes:?}");
        assert!(notes[0].starts_with("12 of 12 elements were cut"), "{notes:?}");

        // The last part is the second one bent by a map that cells of second order hold exactly.
        let x = |hex: u32| {
            imported.mesh.hexes()[hex as usize].map(|n| imported.mesh.coordinates()[n as usize])
        };
        for (hex, curved) in of_part(1).into_iter().zip(of_part(2)) {
            let is_pyramid = imported.element_tags[hex as usize] == format.tags[1][2];
            for ([x, y, z], curved) in x(hex).into_iter().zip(x(curved)).filter(|_| !is_pyramid) {
                let [x, y, z] = bent([x, y, z - 3.0]);
                let off = length([curved[0] - x, curved[1] - y, curved[2] - z - 6.0]);
                assert!(off < 1e-12, "{file} {off}");
            }
        }
    }
}

/// A unit cube of cells of one shape.
fn cube_of(shape: Shape) -> Mesh {
    let mut points: Vec<[f64; 3]> =
        (0..8).map(|i| [i & 1, i >> 1 & 1, i >> 2].map(f64::from)).collect();
    let mut cells = Cells::default();
    let hex = [0, 1, 3, 2, 4, 5, 7, 6];
    match shape {
        Shape::Hexahedron => cells.push(shape, &hex, &[]),
        Shape::Wedge => {
            cells.push(shape, &[0, 1, 3, 4, 5, 7], &[]);
            cells.push(shape, &[0, 3, 2, 4, 7, 6], &[]);
        }
        Shape::Pyramid => {
            points.push([0.5; 3]);
            for face in Shape::Hexahedron.faces() {
                let [a, b, c, d] = [3, 2, 1, 0].map(|i| hex[face[i]]);
                cells.push(shape, &[a, b, c, d, 8], &[]);
            }
        }
        // Around the diagonal from 0 to 7.
        Shape::Tetrahedron => {
            let ring = [1, 3, 2, 6, 4, 5];
            for i in 0..6 {
                cells.push(shape, &[0, ring[i], ring[(i + 1) % 6], 7], &[]);
            }
        }
    }
    Mesh { points, cells }
}

/// Files of every format give the cut cells: so many hexahedra, their volume and their surface.
fn assert_read(mesh: &Mesh, n_hexahedra: usize, volume: f64, surface: f64) {
    let cut = Cut::of(&mesh.cells, mesh.points.clone()).unwrap();
    for (name, text) in FILES {
        let imported = read_bytes(text(mesh).as_bytes(), name).unwrap();
        assert_eq!(imported.mesh.n_elements(), n_hexahedra, "{name}");
        assert_equal(imported.mesh.volumes().iter().sum(), volume, name);
        assert_equal(surface_area(&imported.mesh, |_| true), surface, name);
        assert_conforms(&imported.mesh);
        assert!(!imported.notes.concat().contains("left out"), "{:?}", imported.notes);
        assert_eq!(imported.mesh.hexes(), cut.hexes, "{name}");
        if let Some(uncut) = &imported.uncut {
            assert!(uncut.cells.iter().eq(mesh.cells.iter()), "{name}");
            assert_eq!(uncut.coordinates, mesh.points, "{name}");
        }
    }
}

#[test]
fn meshes_of_one_shape_in_every_format() {
    for (shape, n_hexahedra) in
        [(Shape::Tetrahedron, 24), (Shape::Pyramid, 72), (Shape::Wedge, 2), (Shape::Hexahedron, 1)]
    {
        let cube = cube_of(shape);
        assert_read(&cube, n_hexahedra, 1.0, 6.0);
        let (points, cells) = quadratic((cube.points, cube.cells), |x| x);
        assert_read(&Mesh { points, cells }, n_hexahedra, 1.0, 6.0);
    }
}

#[test]
fn mixed_meshes_in_every_format() {
    let (points, cells) = mixed_cells();
    let n_hexahedra = 4 * 18 + 12 * 3 + 6 * 2 + 8;
    assert_read(&Mesh { points, cells }, n_hexahedra, 4.0, 16.0);
    let (points, cells) = quadratic(mixed_cells(), |x| x);
    assert!(cells.iter().all(|cell| !cell.middles.contains(&NO_NODE)));
    assert_read(&Mesh { points, cells }, n_hexahedra, 4.0, 16.0);
}
