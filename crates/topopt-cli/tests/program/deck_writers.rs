//! Decks for CalculiX in the layout of the FEM workbench of FreeCAD (0.21) and of PrePoMax (2.1):
//! their sections, comments, names and forms of lines.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::{Folder, topopt};

/// Corners of each face of a tetrahedron, in the order of the numbers of faces.
const TETRAHEDRON: [[usize; 3]; 4] = [[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]];

/// Corners that the six tetrahedra of a cube have between the first and the last.
const PATHS: [[[usize; 3]; 2]; 6] = [
    [[1, 0, 0], [1, 1, 0]],
    [[0, 1, 0], [0, 1, 1]],
    [[0, 0, 1], [1, 0, 1]],
    [[0, 1, 1], [0, 0, 1]],
    [[1, 0, 1], [1, 0, 0]],
    [[1, 1, 0], [0, 1, 0]],
];

/// Places of a grid, x first.
fn places([nx, ny, nz]: [usize; 3]) -> impl Iterator<Item = [usize; 3]> {
    let along_x = move |y, z| (0..nx).map(move |x| [x, y, z]);
    (0..nz).flat_map(move |z| (0..ny).flat_map(move |y| along_x(y, z)))
}

fn sum(a: [usize; 3], b: [usize; 3]) -> [usize; 3] {
    std::array::from_fn(|i| a[i] + b[i])
}

/// Text of a list in lines of `n` entries.
fn lines(numbers: &[usize], n: usize, end: &str) -> String {
    let line = |chunk: &[usize]| {
        let words: Vec<String> = chunk.iter().map(usize::to_string).collect();
        format!("{}{end}\n", words.join(", "))
    };
    numbers.chunks(n).map(line).collect()
}

/// Cubes of the edge 2 along x, y and z in a deck of FreeCAD, each of six C3D10.
const CUBES: [usize; 3] = [8, 3, 3];

/// Number of the node at a place in half edges.
fn node([x, y, z]: [usize; 3]) -> usize {
    let [nx, ny, _] = CUBES.map(|n| 2 * n + 1);
    1 + x + nx * (y + ny * z)
}

/// Places of the ten nodes of every tetrahedron.
fn tetrahedra() -> Vec<Vec<[usize; 3]>> {
    let mut all = Vec::new();
    for first in places(CUBES).map(|place| place.map(|x| 2 * x)) {
        for [second, third] in PATHS {
            let corner = |offset: [usize; 3]| sum(first, offset.map(|x| 2 * x));
            let corners = [[0; 3], second, third, [1; 3]].map(corner);
            let edges = [[0, 1], [1, 2], [2, 0], [0, 3], [1, 3], [2, 3]];
            let middle = |[a, b]: [usize; 2]| sum(corners[a], corners[b]).map(|x| x / 2);
            all.push(corners.into_iter().chain(edges.map(middle)).collect());
        }
    }
    all
}

/// Faces of tetrahedra in a plane: the element, the number of the face, and its places.
fn faces(axis: usize, at: usize) -> Vec<(usize, usize, Vec<[usize; 3]>)> {
    let mut all = Vec::new();
    for (e, places) in tetrahedra().iter().enumerate() {
        for (f, corners) in TETRAHEDRON.iter().enumerate() {
            let corners: Vec<_> = corners.iter().map(|&i| places[i]).collect();
            if corners.iter().all(|corner| corner[axis] == at) {
                all.push((e + 1, f + 1, corners));
            }
        }
    }
    all
}

/// Bar line above a section of FreeCAD.
const BAR: &str = "***********************************************************\n";

/// Nodes and elements of a deck of FreeCAD.
fn mesh_of_freecad() -> [String; 2] {
    let line = |place| {
        let [x, y, z]: [usize; 3] = place;
        format!("{}, {x}, {y}, {z}\n", node(place))
    };
    let numbers = |(e, places): (usize, &Vec<[usize; 3]>)| {
        let words: Vec<_> = places.iter().map(|place| node(*place).to_string()).collect();
        format!("{}, {}\n", e + 1, words.join(", "))
    };
    let elements = tetrahedra().iter().enumerate().map(numbers).collect();
    [places(CUBES.map(|n| 2 * n + 1)).map(line).collect(), elements]
}

/// A force of 90 down on the end of the bar as FreeCAD adds it up at nodes: none at corners of
/// C3D10, a third of that of each triangle in the middles of its edges.
fn forces_of_freecad() -> String {
    let end = faces(0, 2 * CUBES[0]);
    let mut forces: BTreeMap<usize, f64> = BTreeMap::new();
    for (_, _, corners) in &end {
        for i in 0..3 {
            forces.entry(node(corners[i])).or_default();
            let middle = sum(corners[i], corners[(i + 1) % 3]).map(|x| x / 2);
            *forces.entry(node(middle)).or_default() -= 90.0 / 3.0 / end.len() as f64;
        }
    }
    let number = |x: f64| if x == 0.0 { "-0".into() } else { format!("{x:.10}") };
    forces.iter().map(|(n, x)| format!("{n},3,{}\n", number(*x))).collect()
}

/// A bar that is held at x = 0, pushed down at its other end and by a pressure of 0.5 on top, and
/// heavy.
fn of_freecad(more: &str) -> String {
    let [nodes, elements] = mesh_of_freecad();
    let held: Vec<_> = places(CUBES.map(|n| 2 * n + 1)).filter(|p| p[0] == 0).map(node).collect();
    let forces = forces_of_freecad();
    let pressed = faces(2, 2 * CUBES[2]);
    let pressed: String = pressed.iter().map(|(e, f, _)| format!("{e},P{f},0.5\n")).collect();

    format!(
        "** written by FreeCAD inp file writer for CalculiX,Abaqus meshes\n\
         ** highest dimension mesh elements only.\n\n** Nodes\n*Node, NSET=Nall\n{nodes}\n\n\
         ** Volume elements\n*Element, TYPE=C3D10, ELSET=Evolumes\n{elements}\n\
         ** Define element set Eall\n*ELSET, ELSET=Eall\nEvolumes\n\n\n\n\
         {BAR}** Element sets for materials and FEM element type (solid, shell, beam, fluid)\n\
         *ELSET,ELSET=MechanicalMaterialSolid\nEvolumes\n\n\
         {BAR}** constraints fixed node sets\n** FemConstraintFixed\n\
         *NSET,NSET=FemConstraintFixed\n{}\n\
         ** Physical constants for SI(mm) unit system with Kelvins\n\
         *PHYSICAL CONSTANTS, ABSOLUTE ZERO=0, STEFAN BOLTZMANN=5.670374419e-11\n\n\
         {BAR}** Materials\n** see information about units at file end\n\
         ** FreeCAD material name: Steel-Generic\n** MechanicalMaterial\n\
         *MATERIAL, NAME=MechanicalMaterial\n*ELASTIC\n200000,0.3\n*DENSITY\n7.9e-09\n\n\
         {BAR}** Sections\n\
         *SOLID SECTION, ELSET=MechanicalMaterialSolid, MATERIAL=MechanicalMaterial\n\n{more}\
         {BAR}** At least one step is needed to run an CalculiX analysis of FreeCAD\n\
         *STEP, INC=2000\n*STATIC\n\n\n\
         {BAR}** Fixed Constraints\n** FemConstraintFixed\n*BOUNDARY\n\
         FemConstraintFixed,1\nFemConstraintFixed,2\nFemConstraintFixed,3\n\n\n\
         {BAR}** self weight constraint\n** ConstraintSelfWeight\n*DLOAD\n\
         Eall,GRAV,9806.65,0.0,0.0,-1.0\n\n\n\
         {BAR}** constraints force node loads\n** FemConstraintForce\n*CLOAD\n\
         ** node loads on shape: Box:Face2\n{forces}\n\n\n\
         {BAR}** constraints pressure element face loads\n** FemConstraintPressure\n*DLOAD\n\
         ** FemConstraintPressure: face load\n{pressed}\n\
         {BAR}** Outputs --> frd file\n*NODE FILE\nU\n*EL FILE\nS, E\n** outputs --> dat file\n\
         ** reaction forces for Constraint fixed\n\
         *NODE PRINT, NSET=FemConstraintFixed, TOTALS=ONLY\nRF\n\n*OUTPUT, FREQUENCY=1\n\
         {BAR}*END STEP\n\n\
         {BAR}** CalculiX Input file\n**   written by    --> FreeCAD 0.21.0\n\
         **   written on    --> Tue Mar 28 06:53:21 2023\n**   file name     --> bar.FCStd\n\
         **   analysis name --> Analysis\n**\n**\n",
        lines(&held, 1, ",")
    )
}

/// Runs the program on the deck and its case: what `topopt init` prints, and the case.
fn case_of(folder: &Folder, deck: &str) -> (String, String) {
    folder.write("bar.inp", deck);
    let (status, out, err) = topopt(&folder.path(""), &["init", "bar.inp"]);
    assert_eq!((status, err.as_str()), (0, ""), "{out}");
    (out, folder.read("bar.toml"))
}

/// Checks the case and runs two iterations of it.
fn runs(folder: &Folder) {
    let free = ["--set", "design.keep_loaded=free", "--set", "design.style=smooth"];
    for command in [&["check"][..], &["run", "--set", "optimizer.max_iterations=2"]] {
        let args = [command, &["bar.toml"], &free].concat();
        let (status, out, err) = topopt(&folder.path(""), &args);
        assert_eq!((status, err.as_str()), (0, ""), "{command:?}: {out}");
    }
}

#[test]
fn decks_of_freecad_become_cases_that_run() {
    let folder = Folder::new();
    let (out, case) = case_of(&folder, &of_freecad(""));
    // The force, and the pressure on 16 x 6.
    assert!(
        out.contains("forces add up to (0, 0, -138), moments about the origin to (-414,"),
        "{out}"
    );
    for table in [
        "# MechanicalMaterial\nyoungs_modulus = 200000.0\npoissons_ratio = 0.3\nmass_density = 7.9e-9\n",
        "set = \"boundary_1_1\"\nfix = [\"x\"]\n",
        "set = \"cload_3_-3.3333333333\"\nforce = [0.0, 0.0, -3.3333333333]\n",
        "gravity = [0.0, 0.0, -9806.65]\n",
        "set = \"dload_0.5\"\npressure = 0.5\n",
    ] {
        assert!(case.contains(table), "{table}: {case}");
    }
    assert!(!case.contains("Not carried over"), "{case}");
    runs(&folder);
}

/// Contact of two shapes; faces of one kind have no partner here.
#[test]
fn contact_in_a_deck_of_freecad_is_said() {
    let contact = format!(
        "{BAR}** Contact\n*SURFACE, NAME=DEPFemConstraintContact\n1,S1\n\
         *SURFACE, NAME=INDFemConstraintContact\n2,S1\n\
         *CONTACT PAIR, INTERACTION=INTFemConstraintContact, TYPE=SURFACE TO SURFACE\n\
         DEPFemConstraintContact,INDFemConstraintContact\n\
         *SURFACE INTERACTION, NAME=INTFemConstraintContact\n\
         *SURFACE BEHAVIOR, PRESSURE-OVERCLOSURE=LINEAR\n1000000000.0\n*FRICTION\n0.1, 10000\n\n"
    );
    let folder = Folder::new();
    let (_, case) = case_of(&folder, &of_freecad(&contact));
    let lost: Vec<&str> = case.lines().filter(|line| line.starts_with("# Not carried")).collect();
    assert!(lost.len() == 1 && lost[0].contains("*CONTACT PAIR (line "), "{lost:?}");
    runs(&folder);
}

/// A section of PrePoMax.
fn section((title, text): (&str, String)) -> String {
    format!("** {title} {}\n**\n{text}**\n", "+".repeat(56 - title.len()))
}

/// Elements along x, y and z of each block of a deck of PrePoMax, with edges of 1.
const BLOCK: [usize; 3] = [8, 4, 4];

/// Blocks of a deck, one behind the other along x.
#[derive(Default)]
struct Blocks {
    /// Text of nodes and elements.
    nodes: String,
    elements: String,
    /// Nodes, and elements, of each set.
    sets: BTreeMap<String, Vec<usize>>,
}

impl Blocks {
    /// Adds the block at `k` from 0.
    fn add(&mut self, k: usize) {
        let [nx, ny, _] = BLOCK;
        let n_before = k * BLOCK.map(|n| n + 1).iter().product::<usize>();
        let number = |[x, y, z]: [usize; 3]| 1 + n_before + x + (nx + 1) * (y + (ny + 1) * z);
        for place in places(BLOCK.map(|n| n + 1)) {
            let [x, y, z] = sum(place, [k * nx, 0, 0]).map(|x| format!("{:.8E}", x as f64));
            let _ = writeln!(self.nodes, "{}, {x}, {y}, {z}", number(place));
            if place[0] % nx == 0 {
                let end = if place[0] == 0 { "First" } else { "Last" };
                self.set(&format!("{end}-{}", k + 1), number(place));
            }
        }
        let _ = writeln!(self.elements, "*Element, Type=C3D8, Elset=Solid_part-{}", k + 1);
        for (e, place) in places(BLOCK).enumerate() {
            let e = e + 1 + k * BLOCK.iter().product::<usize>();
            let low = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]].map(|corner| sum(place, corner));
            let high = low.map(|corner| sum(corner, [0, 0, 1]));
            let corners = low.into_iter().chain(high).map(number).collect::<Vec<_>>();
            let _ = write!(self.elements, "{e}, {}", lines(&corners, 8, ""));
            let faces =
                [(place[0] == 0, 6), (place[0] + 1 == nx, 4), (place[2] + 1 == BLOCK[2], 2)];
            for (_, face) in faces.into_iter().filter(|(is_there, _)| *is_there) {
                self.set(&format!("Faces-{}_S{face}", k + 1), e);
            }
        }
    }

    fn set(&mut self, name: &str, number: usize) {
        self.sets.entry(name.into()).or_default().push(number);
    }

    /// Text of a set with a name of PrePoMax.
    fn text(&self, kind: &str, name: &str, set: &str) -> String {
        format!("*{kind}, {kind}={name}\n{}", lines(&self.sets[set], 16, ""))
    }
}

/// A block that is held at x = 0, with a pressure of 2.5 on top, and a point whose force of 500 a
/// rigid body brings to the other end; there a second block may be tied.
fn of_prepomax(is_tied: bool) -> String {
    let mut blocks = Blocks::default();
    (0..=usize::from(is_tied)).for_each(|k| blocks.add(k));
    let point = 1 + blocks.nodes.lines().count();
    for n in [point, point + 1] {
        let _ = writeln!(blocks.nodes, "{n}, 8.00000000E+000, 2.00000000E+000, 2.00000000E+000");
    }
    let mut node_sets = blocks.text("Nset", "Internal_Selection-1_Fixed-1", "First-1");
    node_sets += &blocks.text("Nset", "Internal_Selection-1_Rigid_body-1", "Last-1");
    let _ =
        write!(node_sets, "*Nset, Nset=RP-1_Ref\n{point}\n*Nset, Nset=RP-1_Rot\n{}\n", point + 1);
    let mut faces = vec![("Pressure-1", "Faces-1_S2")];
    if is_tied {
        faces.extend([("Tie-1_Master", "Faces-1_S4"), ("Tie-1_Slave", "Faces-2_S6")]);
    }
    let internal = "Internal_Selection-1";
    let (mut element_sets, mut surfaces) = (String::new(), String::new());
    for (name, set) in faces {
        let face = set.rsplit('_').next().unwrap();
        let elements = format!("Internal-1_{internal}_{name}_{face}");
        element_sets += &blocks.text("Elset", &elements, set);
        let _ = writeln!(
            surfaces,
            "*Surface, Name={internal}_{name}, Type=Element\n{elements}, {face}"
        );
    }
    let tie = format!(
        "*Tie, Name=Tie-1, Position tolerance=0.5\n{internal}_Tie-1_Slave, {internal}_Tie-1_Master\n"
    );
    let parts = ["Solid_part-1,\n", "Solid_part-2,\n"][..=usize::from(is_tied)].concat();
    [
        ("Heading", "*Heading\nHash: fNY3rzbv, Date: 11/23/2026, Unit system: MM_TON_S_C\n".into()),
        ("Nodes", format!("*Node\n{}", blocks.nodes)),
        ("Elements", blocks.elements),
        ("Node sets", node_sets),
        (
            "Element sets",
            format!("*Elset, Elset={internal}_Solid_Section-1\n{parts}{element_sets}"),
        ),
        ("Surfaces", surfaces),
        ("Physical constants", String::new()),
        ("Coordinate systems", String::new()),
        ("Materials", MATERIAL.into()),
        ("Sections", format!("*Solid section, Elset={internal}_Solid_Section-1, Material=S235\n")),
        ("Pre-tension sections", String::new()),
        (
            "Constraints",
            format!(
                "*Rigid body, Nset={internal}_Rigid_body-1, Ref node={point}, Rot node={}\n{}",
                point + 1,
                if is_tied { &tie } else { "" }
            ),
        ),
        ("Surface interactions", String::new()),
        ("Contact pairs", String::new()),
        ("Amplitudes", String::new()),
        ("Initial conditions", String::new()),
        ("Steps", "**\n".into()),
        ("Step-1", STEP.replace("POINT", &point.to_string())),
    ]
    .map(section)
    .concat()
}

const MATERIAL: &str = "*Material, Name=S235\n*Density\n7.8E-09\n*Elastic\n210000, 0.28\n\
    *Expansion, Zero=20\n1.1E-05\n*Conductivity\n14\n*Specific heat\n440000000\n";

const STEP: &str = "*Step\n*Static, Solver=Pardiso\n1, 1, 1E-05, 1E+30\n**\n\
    ** Output frequency ++++++++++++++++++++++++++++++++++++++++\n**\n*Output, Frequency=1\n**\n\
    ** Boundary conditions +++++++++++++++++++++++++++++++++++++\n**\n*Boundary, op=New\n\
    ** Name: Fixed-1\n*Boundary\nInternal_Selection-1_Fixed-1, 1, 6, 0\n**\n\
    ** Loads +++++++++++++++++++++++++++++++++++++++++++++++++++\n**\n*Cload, op=New\n*Dload, op=New\n\
    ** Name: Concentrated_force-1\n*Cload\nPOINT, 3, -500\n** Name: Pressure-1\n*Dload\n\
    Internal-1_Internal_Selection-1_Pressure-1_S2, P2, 2.5\n**\n\
    ** History outputs +++++++++++++++++++++++++++++++++++++++++\n**\n\
    *Node print, Nset=Internal_Selection-1_Fixed-1, Totals=Yes\nRF\n**\n\
    ** Field outputs +++++++++++++++++++++++++++++++++++++++++++\n**\n*Node file\nRF, U\n\
    *El file\nS, E, NOE\n**\n** End step ++++++++++++++++++++++++++++++++++++++++++++++++\n**\n\
    *End step\n";

/// A rigid body is stiffer than what becomes of it, which is said.
#[test]
fn decks_of_prepomax_become_cases_that_run() {
    let folder = Folder::new();
    let (out, case) = case_of(&folder, &of_prepomax(false));
    // The force, and the pressure on 8 x 4.
    assert!(
        out.contains("forces add up to (0, 0, -580), moments about the origin to (-1160,"),
        "{out}"
    );
    for table in [
        "# S235\nyoungs_modulus = 210000.0\npoissons_ratio = 0.28\nthermal_expansion = 1.1e-5\n\
         mass_density = 7.8e-9\n",
        "fix = [\"x\", \"y\", \"z\"]\n",
        "pressure = 2.5\n",
        "set = \"Internal_Selection-1_Rigid_body-1\"\ntotal_force = [0.0, 0.0, -500.0]\n\
         at = [8.0, 2.0, 2.0]\n",
    ] {
        assert!(case.contains(table), "{table}: {case}");
    }
    let lost: Vec<&str> = case.lines().filter(|line| line.starts_with("# Not carried")).collect();
    assert!(lost.len() == 1 && lost[0].contains("*RIGID BODY (line "), "{lost:?}");
    runs(&folder);
}

/// A part that only a tie holds is loose in the case.
#[test]
fn ties_of_prepomax_are_said_and_their_parts_are_refused() {
    let folder = Folder::new();
    let (_, case) = case_of(&folder, &of_prepomax(true));
    assert!(case.contains("# Not carried over: *TIE (line "), "{case}");
    let (status, out, err) = topopt(&folder.path(""), &["check", "bar.toml"]);
    assert!(status == 1 && err.contains("(part 2 of 2 of the mesh)"), "{out}{err}");
    assert!(err.contains("25 pairs of nodes are in the same place"), "{err}");
}
