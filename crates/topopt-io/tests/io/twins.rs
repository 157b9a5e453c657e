//! Elements that stand in a file more than once, by whichever corner they begin: in every format
//! one is kept, sets refer to it, and a note says so.

use std::fs;

use topopt_io::{ImportedMesh, read_mesh, vtk};
use topopt_mesh::{Face, hexahedron};

fn read(name: &str, text: &str) -> ImportedMesh {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(name);
    fs::write(&path, text).unwrap();
    read_mesh(&path).unwrap()
}

/// Two cubes side by side in x, by node tags; each twice, the copies of other first corners.
const CUBES: [[u32; 8]; 4] = [
    [1, 2, 5, 4, 7, 8, 11, 10],
    [2, 3, 6, 5, 8, 9, 12, 11],
    [2, 5, 4, 1, 8, 11, 10, 7],
    [11, 12, 9, 8, 5, 6, 3, 2],
];

fn point(node: usize) -> String {
    format!("{} {} {}", node % 3, node / 3 % 2, node / 6)
}

fn row(numbers: &[u32], separator: &str) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(separator)
}

#[track_caller]
fn assert_once(imported: &ImportedMesh, tags: [u64; 2], note: &str) {
    assert_eq!(imported.element_tags, tags);
    assert_eq!(imported.mesh.n_elements(), 2);
    assert!((imported.mesh.volumes().iter().sum::<f64>() - 2.0).abs() < 1e-12);
    assert!(imported.notes.iter().any(|n| n == note), "{:?}", imported.notes);
}

#[test]
fn abaqus() {
    let nodes: String =
        (0..12).map(|n| format!("{}, {}\n", n + 1, point(n).replace(' ', ", "))).collect();
    let elements: String =
        (1..).zip(CUBES).map(|(tag, hex)| format!("{tag}, {}\n", row(&hex, ", "))).collect();
    let sets = "*ELSET, ELSET=right\n4\n*SURFACE, NAME=end\n4, S3\n4, S4\n4, S5\n4, S6\n";
    let text = format!("*NODE\n{nodes}*ELEMENT, TYPE=C3D8\n{elements}{sets}");
    let imported = read("part.inp", &text);
    let note = "duplicate elements were left out: 2, the first is 3, \
                which has the nodes of 1";
    assert_once(&imported, [1, 2], note);
    let sets = imported.mesh.sets();
    assert_eq!(sets.elements["right"], [1]);
    // Each face of the copy is the face of the same nodes of the element that is kept.
    let copy = CUBES[3];
    let wanted = [[0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6], [3, 0, 4, 7]];
    let mut wanted = wanted.map(|face| Face::key(face.map(|a| copy[a] - 1)));
    wanted.sort_unstable();
    let key = |face: &Face| Face::key(face.nodes(&imported.mesh));
    let mut found: Vec<_> = sets.faces["end"].iter().map(key).collect();
    found.sort_unstable();
    assert_eq!(found, wanted);
}

#[test]
fn ansys() {
    let nodes: String = (0..12)
        .map(|n| {
            let x: String =
                point(n).split(' ').map(|v| format!("{:>21}", format!("{v}.0"))).collect();
            format!("{:9}{:9}{:9}{x}\n", n + 1, 0, 0)
        })
        .collect();
    let elements: String = (1..)
        .zip(CUBES)
        .map(|(tag, hex)| {
            let fields = [&[1, 1, 1, 1, 0, 0, 0, 0, 8, 0, tag][..], &hex].concat();
            fields.iter().map(|field| format!("{field:9}")).collect::<String>() + "\n"
        })
        .collect();
    let text = format!(
        "/PREP7\nET,1,185\nNBLOCK,6,SOLID,12,12\n(3i9,6e21.13e3)\n{nodes}N,R5.3,LOC,-1,\n\
         EBLOCK,19,SOLID,4,4\n(19i9)\n{elements}       -1\nCMBLOCK,RIGHT   ,ELEM,       2\n(8i10)\n\
         {:10}{:10}\nFINISH\n",
        2, 4
    );
    let imported = read("part.cdb", &text);
    let note = "duplicate elements were left out: 2, the first is 3, \
                which has the nodes of 1";
    assert_once(&imported, [1, 2], note);
    assert_eq!(imported.mesh.sets().elements["RIGHT"], [1]);
}

#[test]
fn vtu() {
    let points: String = (0..12).map(|n| point(n) + "\n").collect();
    let connectivity: String =
        CUBES.iter().map(|hex| row(&hex.map(|tag| tag - 1), " ") + "\n").collect();
    let array = |name: &str, kind: &str, text: &str| {
        format!("<DataArray Name=\"{name}\" type=\"{kind}\" format=\"ascii\">{text}</DataArray>\n")
    };
    let cells = array("connectivity", "Int64", &connectivity)
        + &array("offsets", "Int64", "8 16 24 32")
        + &array("types", "UInt8", "12 12 12 12");
    let text = format!(
        "<VTKFile type=\"UnstructuredGrid\" version=\"1.0\"><UnstructuredGrid>\
         <Piece NumberOfPoints=\"12\" NumberOfCells=\"4\"><Points>\n\
         <DataArray type=\"Float64\" NumberOfComponents=\"3\" format=\"ascii\">{points}</DataArray>\
         </Points><Cells>{cells}</Cells><CellData>{}{}</CellData></Piece></UnstructuredGrid></VTKFile>",
        array("right", "UInt8", "0 0 0 1"),
        array("density", "Float64", "0.1 0.2 0.3 0.4")
    );
    let imported = read("part.vtu", &text);
    let note = "duplicate elements were left out: 2, the first is 2, \
                which has the nodes of 0";
    assert_once(&imported, [0, 1], note);
    assert_eq!(imported.mesh.sets().elements["right"], [1]);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("part.vtu");
    fs::write(&path, text).unwrap();
    let (_, density) = vtk::vtu::read_with_cell_data(&path, &["density"]).unwrap();
    assert_eq!(density, [[0.1, 0.2]]);
}

/// Version 2.2 writes an element once for each of its groups; these copies unite without a word.
#[test]
fn gmsh() {
    let text = |places: [[u32; 2]; 4]| {
        let nodes: String = (0..12).map(|n| format!("{} {}\n", n + 1, point(n))).collect();
        let elements: String = (1..)
            .zip(CUBES.iter().zip(places))
            .map(|(tag, (hex, [group, entity]))| {
                format!("{tag} 5 2 {group} {entity} {}\n", row(hex, " "))
            })
            .collect();
        format!(
            "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n3 1 \"all\"\n3 2 \"solid\"\n\
             $EndPhysicalNames\n$Nodes\n12\n{nodes}$EndNodes\n$Elements\n4\n{elements}$EndElements\n"
        )
    };
    let groups = read("part.msh", &text([[1, 1], [1, 1], [2, 1], [2, 1]]));
    assert_eq!((groups.element_tags.as_slice(), groups.notes.len()), (&[1, 2][..], 0));
    let sets = groups.mesh.sets();
    assert_eq!((&sets.elements["all"], &sets.elements["solid"]), (&vec![0, 1], &vec![0, 1]));
    let doubled = read("part.msh", &text([[1, 1], [1, 1], [1, 1], [1, 1]]));
    let note = "duplicate elements were left out: 2, the first is 3, \
                which has the nodes of 1";
    assert_once(&doubled, [1, 2], note);
    assert_eq!(doubled.mesh.sets().elements["all"], [0, 1]);
}

/// Wedges of the same corners repeat another node where their corners begin elsewhere.
#[test]
fn wedges() {
    let wedges = [[0, 1, 2, 2, 3, 4, 5, 5], [1, 2, 0, 0, 4, 5, 3, 3]];
    assert!(wedges.iter().all(|hex| hexahedron::wedge(hex).is_some()));
    let lines: String = (1..)
        .zip(wedges)
        .map(|(tag, hex)| format!("{tag} 5 2 0 1 {}\n", row(&hex.map(|n: u32| n + 1), " ")))
        .collect();
    let text = format!(
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n6\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n\
         5 1 0 1\n6 0 1 1\n$EndNodes\n$Elements\n2\n{lines}$EndElements\n"
    );
    assert_eq!(read("part.msh", &text).element_tags, [1]);
}
