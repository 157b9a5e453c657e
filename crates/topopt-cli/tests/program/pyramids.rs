//! Meshes with pyramids, of every format, in all that is done with a design.

use crate::{CASE, Folder, topopt};

/// A cube with a pyramid on top of it, and a tetrahedron beside that: its nodes and cells, from 1.
const NODES: [[f64; 3]; 10] = [
    [0., 0., 0.],
    [1., 0., 0.],
    [1., 1., 0.],
    [0., 1., 0.],
    [0., 0., 1.],
    [1., 0., 1.],
    [1., 1., 1.],
    [0., 1., 1.],
    [0.5, 0.5, 2.],
    [0.5, -0.5, 1.8],
];
const CELLS: [&[usize]; 3] = [&[1, 2, 3, 4, 5, 6, 7, 8], &[5, 6, 7, 8, 9], &[5, 6, 9, 10]];
/// Hexahedra of a cube, a pyramid and a tetrahedron.
const PARTS: usize = 8 + 12 + 4;

fn words<T: ToString>(values: &[T], between: &str) -> String {
    values.iter().map(T::to_string).collect::<Vec<_>>().join(between)
}

fn abaqus() -> String {
    let mut deck = "*NODE\n".to_owned();
    for (n, x) in (1..).zip(NODES) {
        deck += &format!("{n},{}\n", words(&x, ","));
    }
    for (e, (kind, nodes)) in (1..).zip(["C3D8", "C3D5", "C3D4"].into_iter().zip(CELLS)) {
        deck += &format!("*ELEMENT,TYPE={kind},ELSET=E\n{e},{}\n", words(nodes, ","));
    }
    deck + "*NSET,NSET=low\n1,2,3,4\n*NSET,NSET=top\n9,\n"
}

fn gmsh() -> String {
    let mut mesh =
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n3\n0 1 \"low\"\n0 2 \"top\"\n\
                    3 3 \"part\"\n$EndPhysicalNames\n$Nodes\n10\n"
            .to_owned();
    for (n, x) in (1..).zip(NODES) {
        mesh += &format!("{n} {}\n", words(&x, " "));
    }
    mesh += "$EndNodes\n$Elements\n8\n";
    for (e, (node, group)) in (1..).zip([(1, 1), (2, 1), (3, 1), (4, 1), (9, 2)]) {
        mesh += &format!("{e} 15 2 {group} {node} {node}\n");
    }
    for (e, (kind, nodes)) in (6..).zip([5, 7, 4].into_iter().zip(CELLS)) {
        mesh += &format!("{e} {kind} 2 3 1 {}\n", words(nodes, " "));
    }
    mesh + "$EndElements\n"
}

fn vtk() -> String {
    let coordinates = NODES.map(|x| words(&x, " "));
    let mut mesh = format!(
        "# vtk DataFile Version 3.0\npart\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 10 double\n{}\n\
         CELLS 3 20\n",
        coordinates.join("\n")
    );
    for nodes in CELLS {
        let from_0: Vec<usize> = nodes.iter().map(|node| node - 1).collect();
        mesh += &format!("{} {}\n", nodes.len(), words(&from_0, " "));
    }
    mesh + "CELL_TYPES 3\n12 14 10\nPOINT_DATA 10\nSCALARS low int 1\nLOOKUP_TABLE default\n\
            1 1 1 1 0 0 0 0 0 0\nSCALARS top int 1\nLOOKUP_TABLE default\n0 0 0 0 0 0 0 0 1 0\n"
}

fn nastran() -> String {
    let mut deck = "BEGIN BULK\n".to_owned();
    for (n, x) in (1..).zip(NODES) {
        deck += &format!("GRID,{n},,{}\n", words(&x, ","));
    }
    deck += "CHEXA,1,1,1,2,3,4,5,6,\n,7,8\nCPYRAM,2,1,5,6,7,8,9\nCTETRA,3,1,5,6,9,10\nENDDATA\n";
    deck
}

#[test]
fn designs_of_them_are_solved_verified_exported_and_reported() {
    let sets = |x: [f64; 3]| {
        format!(
            "[[select]]\nname = \"low\"\nkind = \"nodes\"\nbox = {{ min = [0, 0, 0], max = [1, 1, 0] \
             }}\n[[select]]\nname = \"top\"\nkind = \"nodes\"\nnearest = {x:?}\n"
        )
    };
    for (name, mesh, selects) in [
        ("part.inp", abaqus(), String::new()),
        ("part.msh", gmsh(), String::new()),
        ("part.vtk", vtk(), String::new()),
        ("part.bdf", nastran(), sets(NODES[8])),
    ] {
        let folder = Folder::new();
        folder.write(name, &mesh);
        let case = CASE
            .replace(
                "generator = \"cantilever\"\nelements = 250\n",
                &format!("file = \"{name}\"\n"),
            )
            .replace("volume_fraction = 0.3", "volume_fraction = 0.7")
            .replace("set = \"fixed\"", "set = \"low\"")
            .replace("set = \"load\"", "set = \"top\"");
        folder.write("case.toml", &(case + "uncut = true\npieces = 2\n" + &selects));
        let well = |args: &[&str]| {
            let (status, out, err) = topopt(&folder.path(""), args);
            // A surface in so few elements may take a little more than the volume allowed.
            let is_well = status == 0 || args[0] == "verify" && status == 3;
            assert!(is_well, "{name} {args:?}\n{out}{err}");
            out
        };
        well(&["solve", "case.toml", "-o", "solved"]);
        well(&["run", "case.toml", "--output", "out"]);
        for file in ["out/design.vtu", "solved/analysis.vtu"] {
            let info = well(&["info", file, "--json"]);
            let info: serde_json::Value = serde_json::from_str(&info).unwrap();
            assert_eq!(info["elements"], PARTS, "{name} {file}");
        }
        // Beside it the cells of the file, which are cut again.
        well(&["info", "out/design_uncut.vtu"]);
        well(&["solve", "case.toml", "--design", "out", "-o", "designed"]);
        well(&["verify", "out"]);
        well(&["report", "out"]);
        well(&["export", "out", "-o", "part.stl", "--threshold", "0.7"]);
        for start in ["out", "out/design.vtu", "out/design_uncut.vtu"] {
            well(&["run", "case.toml", "--start-from", start, "--output", "again", "--overwrite"]);
        }
        // A design as a mesh is what it was.
        folder.write("again.toml", &folder.read("case.toml").replace(name, "out/design.vtu"));
        folder.write(
            "again.toml",
            &folder
                .read("again.toml")
                .replace("\"low\"", "\"supported\"")
                .replace("\"top\"", "\"loaded\""),
        );
        if name != "part.bdf" {
            let again = well(&["check", "again.toml", "--json"]);
            let again: serde_json::Value = serde_json::from_str(&again).unwrap();
            assert_eq!(again["elements"], PARTS, "{name}");
        }
    }
}
