//! Cells of every shape cut into hexahedra.

use topopt_mesh::cells::{Cells, Cut, CutError, NO_NODE, Shape};
use topopt_mesh::hexahedron::{NODES, distinct, volume};
use topopt_mesh::surface::{area_vector, boundary_faces, face_coordinates};
use topopt_mesh::vector::length;
use topopt_mesh::{Components, Face, HexMesh, Quality, Sets, hanging_nodes};
use topopt_testing::mixed_cells;

/// An affine map of determinant 1.02: what is flat stays so.
fn skewed([x, y, z]: [f64; 3]) -> [f64; 3] {
    [x + 0.1 * y, y - 0.2 * x + 0.1 * z, z + 0.3 * x]
}

/// A map that bends faces and edges.
pub fn bent([x, y, z]: [f64; 3]) -> [f64; 3] {
    [x + 0.1 * y * z, y + 0.1 * x * x, z + 0.05 * x * y]
}

fn mesh_of(cut: &Cut) -> HexMesh {
    HexMesh::new(cut.coordinates.clone(), cut.hexes.clone(), Sets::default()).unwrap()
}

/// The area of the surface of the hexahedra that are `chosen`.
pub fn surface_area(mesh: &HexMesh, chosen: impl Fn(u32) -> bool) -> f64 {
    let area = |face| length(area_vector(&face_coordinates(mesh, face)));
    let faces = boundary_faces(mesh).into_iter().filter(|face| chosen(face.element));
    faces.map(area).sum()
}

/// Every face belongs to two hexahedra or, with others to a closed surface, to one.
pub fn assert_conforms(mesh: &HexMesh) {
    let mut sides = std::collections::HashMap::<_, Vec<Face>>::new();
    for element in 0..mesh.n_elements() as u32 {
        for face in (0..6).map(|local| Face { element, local }) {
            let nodes = face.nodes(mesh);
            if distinct(&nodes).count() > 2 {
                sides.entry(Face::key(nodes)).or_default().push(face);
            }
        }
    }
    assert!(sides.values().all(|faces| faces.len() <= 2));
    let mut alone: Vec<Face> = sides.into_values().filter(|f| f.len() == 1).flatten().collect();
    alone.sort_unstable();
    assert_eq!(alone, boundary_faces(mesh));
    let areas = alone.into_iter().map(|face| area_vector(&face_coordinates(mesh, face)));
    let sum = areas.fold([0.0; 3], |a, b| [0, 1, 2].map(|i| a[i] + b[i]));
    assert!(length(sum) < 1e-12, "{sum:?}");
    assert_eq!(hanging_nodes(mesh), []);
}

#[test]
fn all_shapes_together_conform() {
    let (x, cells) = mixed_cells();
    let cut = Cut::of(&cells, x.iter().copied().map(skewed).collect()).unwrap();
    let mesh = mesh_of(&cut);
    let count = |shape| cells.shapes().iter().filter(|s| **s == shape).count();
    let [tets, pyramids, wedges, hexes] = Shape::ALL.map(count);
    assert_eq!([tets, pyramids, wedges, hexes], [18, 3, 2, 1]);
    assert_eq!(mesh.n_elements(), 4 * tets + 12 * pyramids + 6 * wedges + 8 * hexes);
    assert_eq!(mesh.n_degenerate(), 8 * pyramids);

    // Volume and the box's surface, mapped: no gap inside, nothing counted twice.
    assert!((mesh.volumes().iter().sum::<f64>() / (4.0 * 1.0) - determinant()).abs() < 1e-13);
    let boxed = HexMesh::new(
        NODES.map(|n| skewed([1.0 + n[0], 1.0 + n[1], 0.5 + 0.5 * n[2]])).to_vec(),
        vec![[0, 1, 2, 3, 4, 5, 6, 7]],
        Sets::default(),
    );
    assert!(
        (surface_area(&mesh, |_| true) / surface_area(&boxed.unwrap(), |_| true) - 1.0).abs()
            < 1e-13
    );
    assert_conforms(&mesh);
    assert_eq!(Components::joined_by_faces(&mesh).n_parts, 1);
    let least = Quality::of(&mesh).summary().scaled_jacobian.min;
    assert!(least > 0.2, "{least}");
}

/// Returns the determinant of [`skewed`]: the volume of the image of the unit cube.
fn determinant() -> f64 {
    let x = NODES.map(|n| skewed(n.map(|v| 0.5 * (v + 1.0))));
    volume(&x)
}

#[test]
fn bent_faces_fit_too() {
    let (x, cells) = mixed_cells();
    let cut = Cut::of(&cells, x.iter().copied().map(bent).collect()).unwrap();
    let mesh = mesh_of(&cut);
    assert_conforms(&mesh);
    // The hexahedra of every cell have its volume: faces between them are the same from both sides.
    let (mut total, volumes) = (0.0, mesh.volumes());
    for (number, cell) in cells.iter().enumerate() {
        let own: f64 = cut.elements_of(number).map(|e| volumes[e as usize]).sum();
        total += own;
        if cell.shape == Shape::Hexahedron {
            let x = std::array::from_fn(|a| cut.coordinates[cell.corners[a] as usize]);
            assert!((own / volume(&x) - 1.0).abs() < 1e-13);
        }
    }
    assert!((total / volumes.iter().sum::<f64>() - 1.0).abs() < 1e-13);
}

#[test]
fn bricks_and_wedges_alone_stay() {
    let (x, cells) = mixed_cells();
    let stay = |shape: &Shape| matches!(shape, Shape::Wedge | Shape::Hexahedron);
    let shapes = cells.shapes();
    let kept = cells.select((0..cells.len()).filter(|&cell| stay(&shapes[cell])));
    let cut = Cut::of(&kept, x.clone()).unwrap();
    assert_eq!((cut.n_cut(), cut.hexes.len(), cut.coordinates.len()), (0, 3, x.len()));

    // A tetrahedron elsewhere changes nothing, one at a corner of theirs all.
    for (shared, n_cut) in [(false, 1), (true, 4)] {
        let (mut cells, mut x) = (kept.clone(), x.clone());
        let at = x.len() as u32;
        x.extend([[9., 0., 0.], [10., 0., 0.], [9., 1., 0.], [9., 0., 1.]]);
        let corner = if shared { kept.get(0).corners[0] } else { at };
        cells.push(Shape::Tetrahedron, &[corner, at + 1, at + 2, at + 3], &[]);
        assert_eq!(Cut::of(&cells, x).unwrap().n_cut(), n_cut);
    }
}

#[test]
fn sets_of_nodes_grow_with_the_middles() {
    let (x, cells) = mixed_cells();
    let cut = Cut::of(&cells, x.clone()).unwrap();
    // On planes, where the hexahedra have the same nodes.
    for (axis, at) in [(0, 0.0), (0, 1.0), (1, 2.0), (2, 1.0)] {
        let on_plane = |x: &[f64; 3]| (x[axis] - at).abs() < 1e-12;
        let mut chosen: Vec<bool> = x.iter().map(on_plane).collect();
        chosen.resize(cut.coordinates.len(), false);
        cut.add_middles(&cells, &mut chosen);
        for (x, chosen) in cut.coordinates.iter().zip(&chosen) {
            assert_eq!(on_plane(x), *chosen, "{x:?} at {axis}");
        }
    }
    let mut all = vec![true; x.len()];
    all.resize(cut.coordinates.len(), false);
    cut.add_middles(&cells, &mut all);
    assert!(all.into_iter().all(|chosen| chosen));
}

#[test]
fn faces_are_those_of_the_hexahedra_there() {
    let (x, cells) = mixed_cells();
    let cut = Cut::of(&cells, x).unwrap();
    let mesh = mesh_of(&cut);
    for (number, cell) in cells.iter().enumerate() {
        let mut sum = [0.0; 3];
        for face in cell.shape.faces() {
            let corners: Vec<u32> = face.iter().rev().map(|&a| cell.corners[a]).collect();
            let found = cut.faces_of(number, &cell, &corners);
            assert_eq!(found.len(), corners.len(), "{:?}", cell.shape);
            let areas = found.iter().map(|&face| area_vector(&face_coordinates(&mesh, face)));
            let area = areas.fold([0.0; 3], |a, b| [a[0] + b[0], a[1] + b[1], a[2] + b[2]]);
            let points = face.iter().map(|&a| cut.coordinates[cell.corners[a] as usize]);
            let points: Vec<[f64; 3]> = points.collect();
            let whole = area_vector(&[0, 1, 2, 3].map(|i| points[i.min(points.len() - 1)]));
            assert!(
                (0..3).all(|i| (area[i] - whole[i]).abs() < 1e-14),
                "{:?} {face:?}",
                cell.shape
            );
            (0..3).for_each(|i| sum[i] += area[i]);
        }
        assert!(sum.into_iter().all(|sum| sum.abs() < 1e-14));
        assert!(cut.faces_of(number, &cell, &[cell.corners[0], 999, 998]).is_empty());
    }
}

/// Cells of first order with the middles of their edges as nodes, all moved by `map`.
pub fn quadratic(
    (mut x, linear): (Vec<[f64; 3]>, Cells),
    map: impl Fn([f64; 3]) -> [f64; 3],
) -> (Vec<[f64; 3]>, Cells) {
    let mut middles = std::collections::BTreeMap::new();
    let mut cells = Cells::default();
    for cell in linear.iter() {
        let mut middle = |&[a, b]: &[usize; 2]| {
            let [a, b] = [cell.corners[a], cell.corners[b]];
            *middles.entry([a.min(b), a.max(b)]).or_insert_with(|| {
                let [a, b] = [a, b].map(|a| x[a as usize]);
                x.push([0, 1, 2].map(|i| 0.5 * (a[i] + b[i])));
                x.len() as u32 - 1
            })
        };
        let middles: Vec<u32> = cell.shape.edges().iter().map(&mut middle).collect();
        cells.push(cell.shape, cell.corners, &middles);
    }
    (x.into_iter().map(map).collect(), cells)
}

#[test]
fn curved_cells_keep_their_shape() {
    // A quadratic map is what cells of second order hold exactly, in faces and cells except pyramids.
    let (x, cells) = quadratic(mixed_cells(), bent);
    let cut = Cut::of(&cells, x).unwrap();
    assert_eq!(cut.n_straightened, 0);
    mesh_of(&cut);

    let (straight, linear) = mixed_cells();
    let flat = Cut::of(&linear, straight).unwrap();
    assert_eq!(cut.hexes.len(), flat.hexes.len());
    // The middles of a pyramid and of its upper part, by the hexahedron's number among its own.
    let is_inner = |e: u32, a: usize| {
        let mut pyramids = (0..cells.len()).filter(|&e| cells.get(e).shape == Shape::Pyramid);
        let number = pyramids.find_map(|p| cut.elements_of(p).position(|own| own == e));
        number.is_some_and(|n| if n < 4 { a == 6 } else { a >= 4 || n >= 8 && a == 0 })
    };
    for (e, (hex, straight)) in (0..).zip(cut.hexes.iter().zip(&flat.hexes)) {
        for (a, (&node, &from)) in hex.iter().zip(straight).enumerate() {
            let wanted = bent(flat.coordinates[from as usize]);
            let error = length([0, 1, 2].map(|i| cut.coordinates[node as usize][i] - wanted[i]));
            assert!(error < if is_inner(e, a) { 0.05 } else { 1e-14 }, "{e} {a} {error}");
        }
    }
}

#[test]
fn edges_that_would_invert_hexahedra_become_straight() {
    let (mut x, cells) = quadratic(mixed_cells(), |x| x);
    let straight = Cut::of(&cells, x.clone()).unwrap();
    // A middle moved beyond the opposite corner of a tetrahedron.
    let tetrahedron = cells.get(0);
    let [middle, apex] = [tetrahedron.middles[0], tetrahedron.corners[3]].map(|n| n as usize);
    x[middle] = x[apex];
    let cut = Cut::of(&cells, x).unwrap();
    assert!(cut.n_straightened > 0);
    let [cut, straight] = [cut, straight].map(|cut| mesh_of(&cut));
    for (x, y) in cut.coordinates().iter().zip(straight.coordinates()) {
        assert!((0..3).all(|i| (x[i] - y[i]).abs() < 1e-14));
    }
}

#[test]
fn half_quadratic_neighbors_share_the_middle() {
    // Two tetrahedra, of which one has a middle on the common edge 0-1.
    let x =
        [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [0., 0., 1.], [0., -1., 0.], [0.5, 0.05, 0.05]];
    let mut cells = Cells::default();
    let mut middles = [NO_NODE; 6];
    middles[0] = 5;
    cells.push(Shape::Tetrahedron, &[0, 1, 2, 3], &middles);
    cells.push(Shape::Tetrahedron, &[0, 4, 1, 3], &[]);
    let cut = Cut::of(&cells, x.to_vec()).unwrap();
    let mesh = mesh_of(&cut);
    assert_conforms(&mesh);
    assert!(
        cut.hexes[..4].iter().chain(&cut.hexes[4..]).filter(|hex| hex.contains(&5)).count() == 4
    );
}

#[test]
fn a_corner_twice_is_no_cell() {
    let mut cells = Cells::default();
    cells.push(Shape::Tetrahedron, &[0, 1, 2, 3], &[]);
    cells.push(Shape::Tetrahedron, &[0, 1, 2, 1], &[]);
    cells.push(Shape::Hexahedron, &[0, 1, 2, 3, 0, 0, 0, 0], &[]);
    let error = Cut::of(&cells, vec![[0.0; 3]; 4]).unwrap_err();
    assert_eq!(error, CutError::Repeated { cell: 1, node: 1, count: 2 });
}
