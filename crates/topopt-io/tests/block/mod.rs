//! A distorted block with sets of every kind, for tests.

use std::collections::BTreeMap;

use topopt_mesh::{Face, HexMesh, Sets};

/// Node (i, j, k) of a block of `n` elements.
fn node(n: [usize; 3], [i, j, k]: [usize; 3]) -> u32 {
    (i + (n[0] + 1) * (j + (n[1] + 1) * k)) as u32
}

/// Connectivity of a block of n\[0\] x n\[1\] x n\[2\] elements.
pub fn hexes(n: [usize; 3]) -> Vec<[u32; 8]> {
    let mut hexes = Vec::new();
    for k in 0..n[2] {
        for j in 0..n[1] {
            for i in 0..n[0] {
                let at = |a, b, c| node(n, [i + a, j + b, k + c]);
                hexes.push([
                    at(0, 0, 0),
                    at(1, 0, 0),
                    at(1, 1, 0),
                    at(0, 1, 0),
                    at(0, 0, 1),
                    at(1, 0, 1),
                    at(1, 1, 1),
                    at(0, 1, 1),
                ]);
            }
        }
    }
    hexes
}

/// Coordinates with every digit in use, in a block that is bent and sheared.
pub fn coordinates(n: [usize; 3]) -> Vec<[f64; 3]> {
    let mut coordinates = Vec::new();
    for k in 0..=n[2] {
        for j in 0..=n[1] {
            for i in 0..=n[0] {
                let [x, y, z] = [i, j, k].map(|v| v as f64);
                coordinates.push([
                    x + 0.1 * (y + 0.3).sin(),
                    y / 3.0 + 1e-9 * x,
                    z * 1.7 + 0.05 * (x * y).cos(),
                ]);
            }
        }
    }
    coordinates
}

/// A block with overlapping element sets, a face set with faces inside, node sets and empty sets.
pub fn block(n: [usize; 3]) -> HexMesh {
    let hexes = hexes(n);
    let count = hexes.len() as u32;
    let faces: Vec<_> = (0..count)
        .rev()
        .flat_map(|element| {
            [1, 4].map(|local| Face { element, local: (local + element as u8) % 6 })
        })
        .collect();
    let sets = Sets {
        nodes: BTreeMap::from([
            ("load".into(), vec![3, 1, 6]),
            ("empty".into(), vec![]),
            ("fixed".into(), vec![3, 0]),
        ]),
        faces: BTreeMap::from([("fixed".into(), faces), ("no faces".into(), vec![])]),
        elements: BTreeMap::from([
            ("design".into(), (0..count).filter(|e| e % 3 != 1).collect()),
            ("solid".into(), (0..count).filter(|e| e % 2 == 0).collect()),
            ("größte Spannung".into(), vec![count - 1]),
            ("void".into(), vec![]),
        ]),
    };
    HexMesh::new(coordinates(n), hexes, sets).unwrap()
}
