//! A region of a mesh and its connected parts.

use std::collections::VecDeque;

use crate::HexMesh;
use crate::surface::{NO_NEIGHBOR, face_neighbors};

/// Some of the elements of a mesh.
#[derive(Debug, Clone)]
pub struct Region<'a> {
    is_inside: &'a [bool],
    neighbors: Vec<[u32; 6]>,
}

impl<'a> Region<'a> {
    /// The elements for which `is_inside`, `[n_elements]`, holds.
    pub fn new(mesh: &HexMesh, is_inside: &'a [bool]) -> Self {
        Self { is_inside, neighbors: face_neighbors(mesh) }
    }

    /// The elements of every part, increasing; elements that share a face are connected. Parts
    /// stand in the order of their first element.
    pub fn parts(&self) -> Vec<Vec<u32>> {
        let mut is_open = self.is_inside.to_vec();
        let mut parts = Vec::new();

        for first in 0..is_open.len() {
            if !std::mem::take(&mut is_open[first]) {
                continue;
            }

            let mut part = vec![first as u32];
            let mut front = VecDeque::from([first as u32]);
            while let Some(element) = front.pop_front() {
                for next in self.neighbors[element as usize] {
                    // Closed when it is found, so that no element is queued twice.
                    if next != NO_NEIGHBOR && std::mem::take(&mut is_open[next as usize]) {
                        part.push(next);
                        front.push_back(next);
                    }
                }
            }

            part.sort_unstable();
            parts.push(part);
        }
        parts
    }
}

#[cfg(test)]
mod tests;
