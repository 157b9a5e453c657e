//! The text of cells of any shape, of first or second order, in every format.

use topopt_mesh::cells::{Cell, Cells, Shape};

/// Cells between their nodes, which the formats number from 1 and VTK from 0.
pub struct Mesh {
    pub points: Vec<[f64; 3]>,
    pub cells: Cells,
}

/// The name of a file, and its text.
pub type File = (&'static str, fn(&Mesh) -> String);

/// All formats.
pub const FILES: [File; 6] = [
    ("part.msh", gmsh),
    ("part.inp", abaqus),
    ("part.cdb", ansys),
    ("part.bdf", nastran),
    ("part.vtk", vtk),
    ("part.vtu", vtu),
];

impl Mesh {
    /// A line for every node, from its number and its coordinates.
    fn nodes(&self, line: impl Fn(usize, [String; 3]) -> String) -> String {
        let nodes = (1..).zip(&self.points);
        nodes.map(|(number, x)| line(number, x.map(|v| format!("{v:?}"))) + "\n").collect()
    }

    /// A line for every cell, from its number.
    fn cells(&self, line: impl Fn(usize, Cell) -> String) -> String {
        (1..).zip(self.cells.iter()).map(|(number, cell)| line(number, cell) + "\n").collect()
    }
}

/// Corners and middles of the edges, these in an order by VTK's, as numbers from 1.
fn in_order(cell: &Cell, order: &[usize]) -> Vec<u32> {
    let middles = order.iter().filter_map(|&edge| cell.middles.get(edge));
    cell.corners.iter().chain(middles).map(|&node| node + 1).collect()
}

fn as_vtk(cell: &Cell) -> Vec<u32> {
    cell.corners.iter().chain(cell.middles).map(|&node| node + 1).collect()
}

fn row(numbers: &[u32], separator: &str) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(separator)
}

/// Version 2.2. Edges as in the reference manual, "Node ordering".
fn gmsh(mesh: &Mesh) -> String {
    let element = |number, cell: Cell| {
        let (kinds, order): (_, &[usize]) = match cell.shape {
            Shape::Tetrahedron => ([4, 11], &[0, 1, 2, 3, 5, 4]),
            Shape::Pyramid => ([7, 19], &[0, 3, 4, 1, 5, 2, 6, 7]),
            Shape::Wedge => ([6, 18], &[0, 2, 6, 1, 7, 8, 3, 5, 4]),
            Shape::Hexahedron => ([5, 17], &[0, 3, 8, 1, 9, 2, 10, 11, 4, 7, 5, 6]),
        };
        let kind = kinds[usize::from(!cell.middles.is_empty())];
        format!("{number} {kind} 2 1 1 {}", row(&in_order(&cell, order), " "))
    };
    format!(
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{}\n{}$EndNodes\n\
         $Elements\n{}\n{}$EndElements\n",
        mesh.points.len(),
        mesh.nodes(|number, [x, y, z]| format!("{number} {x} {y} {z}")),
        mesh.cells.len(),
        mesh.cells(element)
    )
}

fn abaqus(mesh: &Mesh) -> String {
    let element = |number, cell: Cell| {
        let nodes = as_vtk(&cell);
        let lines: Vec<String> = nodes.chunks(15).map(|nodes| row(nodes, ", ")).collect();
        format!("*ELEMENT, TYPE=C3D{}\n{number}, {}", nodes.len(), lines.join(",\n"))
    };
    let nodes = mesh.nodes(|number, [x, y, z]| format!("{number}, {x}, {y}, {z}"));
    format!("*NODE\n{nodes}{}", mesh.cells(element))
}

/// Bricks SOLID185 and SOLID186, and what they degenerate to.
fn ansys(mesh: &Mesh) -> String {
    let fields = |fields: &[u32]| fields.iter().map(|f| format!("{f:9}")).collect::<String>();
    let element = |number, cell: Cell| {
        let c = cell.corners;
        let hex = match cell.shape {
            Shape::Tetrahedron => [c[0], c[1], c[2], c[2], c[3], c[3], c[3], c[3]],
            Shape::Pyramid => [c[0], c[1], c[2], c[3], c[4], c[4], c[4], c[4]],
            Shape::Wedge => [c[0], c[1], c[2], c[2], c[3], c[4], c[5], c[5]],
            Shape::Hexahedron => std::array::from_fn(|a| c[a]),
        };
        // The middle of an edge that is a corner is that corner.
        let middle = |&[a, b]: &[usize; 2]| {
            let is_it = |edge: &[usize; 2]| {
                [edge, &[edge[1], edge[0]]]
                    .into_iter()
                    .any(|[i, j]| [c[*i], c[*j]] == [hex[a], hex[b]])
            };
            let edge = cell.shape.edges().iter().position(is_it);
            edge.map_or(hex[a], |edge| cell.middles[edge])
        };
        let mut nodes = hex.to_vec();
        if !cell.middles.is_empty() {
            nodes.extend(Shape::Hexahedron.edges().iter().map(middle));
        }

        let kind = if cell.middles.is_empty() { 1 } else { 2 };
        let head = [1, kind, 1, 1, 0, 0, 0, 0, nodes.len() as u32, 0, number as u32];
        let nodes: Vec<u32> = nodes.into_iter().map(|node| node + 1).collect();
        let (first, rest) = nodes.split_at(8);
        let more = if rest.is_empty() { String::new() } else { format!("\n{}", fields(rest)) };
        format!("{}{}{more}", fields(&head), fields(first))
    };
    let place = |x: &str| format!("{:21.13e}", x.parse::<f64>().unwrap());
    let (n, m) = (mesh.points.len(), mesh.cells.len());
    format!(
        "/PREP7\nET,1,185\nET,2,186\nNBLOCK,6,SOLID,{n},{n}\n(3i9,6e21.13e3)\n{}N,R5.3,LOC,-1,\n\
         EBLOCK,19,SOLID,{m},{m}\n(19i9)\n{}       -1\nFINISH\n",
        mesh.nodes(|n, x| format!("{n:9}{:9}{:9}{}", 0, 0, x.map(|x| place(&x)).concat())),
        mesh.cells(element)
    )
}

/// In free format.
fn nastran(mesh: &Mesh) -> String {
    let element = |number, cell: Cell| {
        let (name, order): (_, &[usize]) = match cell.shape {
            Shape::Tetrahedron => ("CTETRA", &[0, 1, 2, 3, 4, 5]),
            Shape::Pyramid => ("CPYRAM", &[0, 1, 2, 3, 4, 5, 6, 7]),
            Shape::Wedge => ("CPENTA", &[0, 1, 2, 6, 7, 8, 3, 4, 5]),
            Shape::Hexahedron => ("CHEXA", &[0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7]),
        };
        let fields = [&[number as u32, 1][..], &in_order(&cell, order)].concat();
        let lines: Vec<String> = fields.chunks(8).map(|fields| row(fields, ",")).collect();
        format!("{name},{}", lines.join("\n,"))
    };
    let nodes = mesh.nodes(|number, [x, y, z]| format!("GRID,{number},,{x},{y},{z}"));
    format!("BEGIN BULK\n{nodes}{}ENDDATA\n", mesh.cells(element))
}

/// VTK's type and points of a cell.
fn vtk_cell(cell: &Cell) -> (u32, Vec<u32>) {
    let kinds = match cell.shape {
        Shape::Tetrahedron => [10, 24],
        Shape::Pyramid => [14, 27],
        Shape::Wedge => [13, 26],
        Shape::Hexahedron => [12, 25],
    };
    let points = as_vtk(cell).into_iter().map(|node| node - 1).collect();
    (kinds[usize::from(!cell.middles.is_empty())], points)
}

/// Version 3.
fn vtk(mesh: &Mesh) -> String {
    let points = mesh.nodes(|_, x| x.join(" "));
    let n_points = |cell: Cell| vtk_cell(&cell).1.len();
    let size: usize = mesh.cells.iter().map(|cell| 1 + n_points(cell)).sum();
    let cells =
        mesh.cells(|_, cell| format!("{} {}", n_points(cell), row(&vtk_cell(&cell).1, " ")));
    let types = mesh.cells(|_, cell| vtk_cell(&cell).0.to_string());
    let (n, m) = (mesh.points.len(), mesh.cells.len());
    format!(
        "# vtk DataFile Version 3.0\ncells\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS {n} double\n\
         {points}CELLS {m} {size}\n{cells}CELL_TYPES {m}\n{types}"
    )
}

fn vtu(mesh: &Mesh) -> String {
    let array = |name: &str, kind: &str, components: u8, text: &str| {
        format!(
            "<DataArray Name=\"{name}\" type=\"{kind}\" NumberOfComponents=\"{components}\" \
             format=\"ascii\">\n{text}</DataArray>\n"
        )
    };
    let mut end = 0;
    let ends: Vec<u32> = (mesh.cells.iter())
        .map(|cell| {
            end += vtk_cell(&cell).1.len() as u32;
            end
        })
        .collect();
    format!(
        "<VTKFile type=\"UnstructuredGrid\" version=\"1.0\"><UnstructuredGrid>\
         <Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">\
         <Points>\n{}</Points><Cells>\n{}{}{}</Cells></Piece></UnstructuredGrid></VTKFile>\n",
        mesh.points.len(),
        mesh.cells.len(),
        array("Points", "Float64", 3, &mesh.nodes(|_, x| x.join(" "))),
        array("connectivity", "Int64", 1, &mesh.cells(|_, cell| row(&vtk_cell(&cell).1, " "))),
        array("offsets", "Int64", 1, &row(&ends, " ")),
        array("types", "UInt8", 1, &mesh.cells(|_, cell| vtk_cell(&cell).0.to_string()))
    )
}
