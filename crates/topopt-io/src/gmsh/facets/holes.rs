//! Holes between facets, closed by facets around their middles where they are small.

use std::collections::BTreeMap;

use topopt_mesh::numbers::shown;

use super::triangles::{area, by_edge, sides};

/// Largest area of all holes, as a share of that of the facets: a box without a side lacks 0.2.
const MOST: f64 = 0.02;

/// Closes the holes between `triangles`, whose neighbors agree, by facets that join each edge of a
/// hole with the middle of its vertices. Returns what was done, in words; nothing where there is
/// no hole, or they are large, or do not end.
pub(super) fn close(vertices: &mut Vec<[f64; 3]>, triangles: &mut Vec<[u32; 3]>) -> Option<String> {
    let loops = loops(triangles)?;
    let mut patched = vertices.clone();
    let mut added: Vec<[u32; 3]> = Vec::new();
    for own in &loops {
        if let [a, b, c] = own[..] {
            added.push([a, b, c]);
            continue;
        }
        let sum = |i: usize| own.iter().map(|&v| vertices[v as usize][i]).sum::<f64>();
        let middle = patched.len() as u32;
        patched.push(std::array::from_fn(|i| sum(i) / own.len() as f64));
        let next = own.iter().cycle().skip(1);
        added.extend(own.iter().zip(next).map(|(&a, &b)| [a, b, middle]));
    }

    let share = area(&patched, &added) / area(vertices, triangles);
    if loops.is_empty() || share > MOST {
        return None;
    }
    *vertices = patched;
    triangles.extend(added);
    let holes = if loops.len() == 1 { "1 hole".into() } else { format!("{} holes", loops.len()) };
    let percent = shown(100.0 * share);
    Some(format!("{holes} between the facets closed, {percent} % of their area: look at the part"))
}

/// Vertices around each hole, against the direction of the facets there; none if some do not close.
fn loops(triangles: &[[u32; 3]]) -> Option<Vec<Vec<u32>>> {
    let mut next: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for at in by_edge(&sides(triangles)) {
        let forward = at.iter().filter(|side| side.is_forward).count();
        let [a, b] = at[0].edge;
        let [from, to] = if 2 * forward > at.len() { [b, a] } else { [a, b] };
        let missing = forward.abs_diff(at.len() - forward);
        (0..missing).for_each(|_| next.entry(from).or_default().push(to));
    }

    let mut loops = Vec::new();
    while let Some((&start, _)) = next.first_key_value() {
        let mut path = vec![start];
        while let Some(&last) = path.last() {
            let Some(step) = next.get_mut(&last).and_then(Vec::pop) else {
                next.remove(&last);
                if path.len() > 1 {
                    return None;
                }
                break;
            };
            match path.iter().position(|&v| v == step) {
                // Holes that touch in a vertex are closed one by one.
                Some(first) => {
                    loops.push(path.split_off(first));
                    path.push(step);
                }
                None => path.push(step),
            }
        }
    }
    Some(loops)
}
