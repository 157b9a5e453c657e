use std::collections::{HashMap, HashSet};

use super::*;
use crate::generate::{Benchmark, Resolution};
use crate::surface::{area_vector, face_center, face_coordinates};

fn mesh(benchmark: Benchmark, n_elements: usize) -> HexMesh {
    benchmark.generate(Resolution::Elements(n_elements)).unwrap()
}

/// `mesh` without its sets, nodes and elements in random order, each element rotated at random.
fn disordered(mesh: &HexMesh) -> HexMesh {
    let random = shuffle(mesh.n_elements(), 5);
    let rotate =
        |(hex, r): (&[u32; 8], u32)| ROTATIONS[r as usize % 24].nodes.map(|a| hex[a as usize]);
    let hexes = mesh.hexes().iter().zip(random).map(rotate).collect();
    let turned = HexMesh::new(mesh.coordinates().to_vec(), hexes, Sets::default()).unwrap();
    Renumbering::shuffled(&turned, 3).apply(&turned)
}

fn in_chords(mesh: &HexMesh) -> HexMesh {
    Renumbering::along_chords(mesh).apply(mesh)
}

/// Returns the mean number of 32-byte sectors per GPU load, when 32 threads load a double of one
/// local node each, for 32 consecutive elements: 8 at best, 32 at worst.
fn sectors_per_load(mesh: &HexMesh) -> f64 {
    let warps = mesh.hexes().chunks_exact(32);
    let loads = warps.flat_map(|warp| (0..8).map(|a| warp.iter().map(move |hex| hex[a] / 4)));
    let sectors: Vec<usize> = loads.map(|load| load.collect::<HashSet<_>>().len()).collect();
    sectors.iter().sum::<usize>() as f64 / sectors.len() as f64
}

#[test]
fn values_and_meshes_come_back() {
    let mesh = mesh(Benchmark::ConnectingRod, 3000);
    let (chords, shuffled) = (Renumbering::along_chords(&mesh), Renumbering::shuffled(&mesh, 7));
    let clusters = Renumbering::in_clusters(&mesh);
    for renumbering in [chords.clone(), chords.by_color(&mesh).0, clusters, shuffled] {
        let new = renumbering.apply(&mesh);
        assert_ne!(new.hexes(), mesh.hexes());
        assert_eq!(renumbering.nodes_to_original(new.coordinates()), mesh.coordinates());

        let close = |a: &f64, b: &f64| (a - b).abs() < 1e-12 * b.abs();
        let volumes = renumbering.elements_to_original(&new.volumes());
        assert!(volumes.iter().zip(mesh.volumes()).all(|(a, b)| close(a, &b)));
        let volumes = renumbering.elements_from_original(&mesh.volumes());
        assert!(volumes.iter().zip(new.volumes()).all(|(a, b)| close(a, &b)));

        let hexes = renumbering.elements_to_original(new.hexes());
        let rotations = renumbering.elements_to_original(&renumbering.rotations);
        for ((hex, rotation), original) in hexes.into_iter().zip(rotations).zip(mesh.hexes()) {
            let hex = hex.map(|n| renumbering.original_nodes()[n as usize]);
            let rotated = ROTATIONS[rotation as usize].nodes.map(|a| original[a as usize]);
            assert_eq!(hex, rotated);
        }
    }
    assert!(Renumbering::shuffled(&mesh, 7).rotations.iter().all(|&rotation| rotation == 0));
}

#[test]
fn elements_by_color_share_no_node_and_keep_their_order() {
    let mesh = mesh(Benchmark::ConnectingRod, 3000);
    let plain = Renumbering::along_chords(&mesh);
    let (by_color, colors) = plain.clone().by_color(&mesh);
    assert_eq!(by_color.original_nodes(), plain.original_nodes());
    let new = by_color.apply(&mesh);
    let place = inverse(plain.original_elements());
    let (mut hexes, mut elements) = (new.hexes(), by_color.original_elements());
    for count in colors {
        let nodes = hexes.split_off(..count).unwrap().as_flattened();
        assert_eq!(nodes.iter().collect::<HashSet<_>>().len(), nodes.len());
        let color = elements.split_off(..count).unwrap();
        assert!(color.is_sorted_by_key(|&e| place[e as usize]));
    }
    assert!(hexes.is_empty());
}

#[test]
fn sets_name_the_same_places() {
    let mesh = mesh(Benchmark::ConnectingRod, 3000);
    let points = |mesh: &HexMesh, nodes: &[u32]| -> Vec<[f64; 3]> {
        nodes.iter().map(|&n| mesh.coordinates()[n as usize]).collect()
    };
    let load = |mesh: &HexMesh| points(mesh, &mesh.sets().nodes["load"]);
    let fixed = |mesh: &HexMesh| -> Vec<[f64; 3]> {
        let corners = mesh.sets().faces["fixed"].iter().map(|&face| face_coordinates(mesh, face));
        corners.flat_map(|x| [face_center(&x), area_vector(&x)]).collect()
    };
    let solid = |mesh: &HexMesh| -> Vec<[f64; 3]> {
        let centers = mesh.centers();
        mesh.sets().elements["solid"].iter().map(|&e| centers[e as usize]).collect()
    };
    let close = |a: Vec<[f64; 3]>, b: Vec<[f64; 3]>| {
        let mut pairs = a.as_flattened().iter().zip(b.as_flattened());
        a.len() == b.len() && pairs.all(|(a, b)| (a - b).abs() < 1e-11)
    };

    let ways = [Renumbering::along_chords, Renumbering::in_clusters];
    let renumberings =
        [Renumbering::shuffled(&mesh, 1)].into_iter().chain(ways.map(|way| way(&mesh)));
    for new in renumberings.map(|renumbering: Renumbering| renumbering.apply(&mesh)) {
        assert_eq!(load(&mesh), load(&new));
        assert!(close(fixed(&mesh), fixed(&new)));
        assert!(close(solid(&mesh), solid(&new)));
    }

    let local = |mesh: &HexMesh| mesh.sets().faces["fixed"][0].local;
    assert_ne!(local(&mesh), local(&in_chords(&mesh)), "the faces were rotated");
}

/// Whatever the order of the file, a GPU loads what it does in a box in lexicographic order, about
/// 9 sectors; along a Hilbert curve it would be 16 to 19.
#[test]
fn few_sectors_are_loaded_in_any_mesh() {
    for (benchmark, at_most) in Benchmark::ALL.into_iter().zip([9.4, 9.3, 9.7, 9.7]) {
        let mesh = mesh(benchmark, 12_000);
        let disordered = disordered(&mesh);
        let [worst, own, restored] = [
            sectors_per_load(&disordered),
            sectors_per_load(&in_chords(&mesh)),
            sectors_per_load(&in_chords(&disordered)),
        ];
        assert!(worst > 31.0, "{worst}");
        assert!(own < at_most && restored < at_most, "{}: {own} {restored}", benchmark.name());
        assert!((restored / own - 1.0).abs() < 0.05, "{}: {own} {restored}", benchmark.name());
    }
}

#[test]
fn nodes_along_a_chord_are_consecutive() {
    let mesh = in_chords(&disordered(&mesh(Benchmark::Cantilever, 250))); // 10 x 5 x 5
    for chord in mesh.hexes().chunks(10) {
        for [a, b] in [[0, 1], [3, 2], [4, 5], [7, 6]] {
            assert!(chord.windows(2).all(|pair| pair[0][b] == pair[1][a]));
            assert!(chord.iter().all(|hex| hex[b] == hex[a] + 1));
        }
    }
}

/// A cube of n^3 cells, each of six tetrahedra, each of four hexahedra, as mesh generators cut
/// them.
fn cut_tetrahedra(n: u32) -> HexMesh {
    let mut numbers: HashMap<[u32; 3], u32> = HashMap::new();
    // Twelve times the coordinates, so that all means of corners are whole.
    let mut node = |corners: &[[u32; 3]]| {
        let sum = |i: usize| corners.iter().map(|x| x[i]).sum::<u32>();
        let next = numbers.len() as u32;
        *numbers.entry([0, 1, 2].map(|i| sum(i) / corners.len() as u32)).or_insert(next)
    };

    let mut hexes = Vec::new();
    for cell in 0..n * n * n {
        let low = [cell % n, cell / n % n, cell / n / n].map(|i| 12 * i);
        for [i, j, k] in [[0, 1, 2], [1, 2, 0], [2, 0, 1], [1, 0, 2], [0, 2, 1], [2, 1, 0]] {
            let step = |mut x: [u32; 3], i: usize| {
                x[i] += 12;
                x
            };
            let (b, c) = (step(low, i), step(step(low, i), j));
            let mut corners = [low, b, c, step(c, k)];
            if [[1, 0, 2], [0, 2, 1], [2, 1, 0]].contains(&[i, j, k]) {
                corners.swap(1, 2);
            }

            for [a, b, c, d] in [[0, 1, 2, 3], [1, 2, 0, 3], [2, 0, 1, 3], [3, 1, 0, 2]] {
                let [a, b, c, d] = [a, b, c, d].map(|i: usize| corners[i]);
                hexes.push([
                    node(&[a]),
                    node(&[a, b]),
                    node(&[a, b, c]),
                    node(&[a, c]),
                    node(&[a, d]),
                    node(&[a, b, d]),
                    node(&[a, b, c, d]),
                    node(&[a, c, d]),
                ]);
            }
        }
    }

    let mut places: Vec<([u32; 3], u32)> = numbers.into_iter().collect();
    places.sort_unstable_by_key(|(_, node)| *node);
    let coordinates = places.into_iter().map(|(x, _)| x.map(f64::from)).collect();
    HexMesh::new(coordinates, hexes, Sets::default()).unwrap()
}

/// Distinct nodes of 32 consecutive elements on average.
fn nodes_of_32(mesh: &HexMesh) -> f64 {
    let clusters = mesh.hexes().chunks(32);
    let distinct = clusters.map(|hexes| hexes.iter().flatten().collect::<HashSet<_>>().len());
    32.0 * distinct.sum::<usize>() as f64 / mesh.n_elements() as f64
}

/// Along chords they have 109 nodes, in the generator's order some more, along a Hilbert curve 94.
#[test]
fn clusters_of_cut_tetrahedra_have_few_nodes() {
    let mesh = cut_tetrahedra(8);
    for mesh in [disordered(&mesh), mesh] {
        assert!(nodes_of_32(&in_chords(&mesh)) > 95.0);
        let import = Renumbering::on_import(&mesh);
        assert_eq!(import, Renumbering::in_clusters(&mesh));
        let found = nodes_of_32(&import.apply(&mesh));
        assert!(found < 80.0, "{found}");
    }
}

#[test]
fn import_follows_long_chords() {
    for benchmark in Benchmark::ALL {
        let mesh = disordered(&mesh(benchmark, 4000));
        assert_eq!(Renumbering::on_import(&mesh), Renumbering::along_chords(&mesh));
    }
}

#[test]
fn numberings_do_not_depend_on_the_number_of_threads() {
    let mesh = cut_tetrahedra(7);
    let [one, many] = [1, 5].map(|n_threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        pool.install(|| Renumbering::on_import(&mesh))
    });
    assert_eq!(one, many);
}
