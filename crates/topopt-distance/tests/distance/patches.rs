//! The tables of patches.

use topopt_distance::{Patches, Tetrahedra};
use topopt_testing::mixed_cut;

use crate::cubes::cube;

#[test]
fn the_tables_of_patches_hold_every_corner_once() {
    let mixed = Tetrahedra::of_mesh(&mixed_cut()).unwrap();
    let mut all = [cube(14, 1.0), mixed.clone()].map(Patches::new).to_vec();
    all.extend([(768, 256), (300, 40), (1, 4)].map(|(cells, vertices)| {
        let patches = Patches::with_limits(mixed.clone(), cells, vertices);
        for patch in (0..patches.len()).map(|patch| patches.patch(patch)) {
            assert!(patch.cells.len() <= cells && patch.vertices.len() <= vertices);
        }
        patches
    }));
    for patches in all {
        let tetrahedra = patches.tetrahedra();
        let (cells, copies) = (patches.first_cells(), patches.first_copies());
        let (around_offsets, around) = patches.gathering();
        let (slot_offsets, slots) = patches.slots();

        let mut seen = vec![0; tetrahedra.cells().len()];
        for patch in 0..patches.len() {
            let [first_cell, first_copy] = [cells[patch], copies[patch]].map(|v| v as usize);
            for cell in first_cell..cells[patch + 1] as usize {
                let number = patches.order()[cell] as usize;
                let local = |local: u16| patches.vertices()[first_copy + local as usize];
                assert_eq!(patches.cells()[cell].map(local), tetrahedra.cells()[number]);
                seen[number] += 1;
            }
            for copy in first_copy..copies[patch + 1] as usize {
                let corners =
                    &around[around_offsets[copy] as usize..around_offsets[copy + 1] as usize];
                assert!(!corners.is_empty());
                for &corner in corners {
                    let [cell, place] = [corner / 4, corner % 4].map(usize::from);
                    let local = patches.cells()[first_cell + cell][place];
                    assert_eq!(first_copy + local as usize, copy);
                }
                assert_eq!(patches.place(copy as u32), (patch, (copy - first_copy) as u16));
            }
        }
        assert!(seen.iter().all(|count| *count == 1));

        for vertex in 0..tetrahedra.points().len() {
            let copies = &slots[slot_offsets[vertex]..slot_offsets[vertex + 1]];
            assert_eq!(copies, patches.copies(vertex as u32));
            assert!(copies.iter().all(|&copy| patches.vertices()[copy as usize] == vertex as u32));
        }
        assert_eq!(slots.len(), patches.n_copies());
    }
}

#[test]
fn patches_along_the_curve_share_few_vertices() {
    // A cube of 4096 / 6 cells has a surface of about half of its vertices.
    let patches = Patches::new(cube(20, 1.0));
    let copies = patches.n_copies() as f64 / patches.tetrahedra().points().len() as f64;
    assert_eq!(patches.len(), 12);
    assert!(copies < 1.6, "{copies} copies of a vertex");
}

#[test]
fn patches_are_filled_up_to_their_limits() {
    let n_cells = cube(20, 1.0).cells().len();
    let by_cells = Patches::with_limits(cube(20, 1.0), 600, 300);
    assert_eq!(by_cells.len(), n_cells.div_ceil(600));

    let by_vertices = Patches::with_limits(cube(20, 1.0), 4096, 100);
    let of_patch = |patch: usize| by_vertices.patch(patch).vertices.len();
    // A tetrahedron brings up to four.
    assert!((0..by_vertices.len() - 1).all(|patch| (97..=100).contains(&of_patch(patch))));
}
