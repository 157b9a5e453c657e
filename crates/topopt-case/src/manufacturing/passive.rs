//! Solid and void elements of a design whose elements share variables.

use topopt_linalg::Csr;

use super::fold::Folds;
use crate::config::Config;
use crate::finding::Finding;

/// Design variables that elements share.
pub(crate) struct Shared {
    /// Weights of variables in elements, in the order of the problem.
    pub shares: Csr,
    /// Number of the images that each element belongs to, `[n_elements]`, where images of solid and
    /// void ones stay so.
    pub groups: Option<Vec<u32>>,
    /// Places of equal density.
    pub folds: Folds,
    /// Whether some of these end within the part.
    pub have_ends: bool,
}

/// Whether an element is designed.
#[derive(Clone, Copy)]
enum Kind {
    Designed,
    Solid,
    Void,
}

/// Returns the solid and the void elements, sorted, with the images of both where elements are
/// `shared`: an image of a solid or void element stays so too, unless it is the other of both
/// itself.
///
/// # Errors
/// A finding if nothing remains to be designed.
pub(crate) fn with_images(
    config: &Config,
    shared: Option<&Shared>,
    [solid, void]: [Vec<u32>; 2],
) -> Result<[Vec<u32>; 2], Finding> {
    let groups = shared.and_then(|shared| shared.groups.as_ref());
    let Some(groups) = groups else { return Ok([solid, void]) };
    let mut own = vec![Kind::Designed; groups.len()];
    let mut shared = own.clone();
    for (kind, elements) in [(Kind::Void, void), (Kind::Solid, solid)] {
        for element in elements {
            own[element as usize] = kind;
            shared[groups[element as usize] as usize] = kind;
        }
    }

    let mut of_kinds = [Vec::new(), Vec::new()];
    for (element, &group) in groups.iter().enumerate() {
        match (own[element], shared[group as usize]) {
            (Kind::Solid, _) | (Kind::Designed, Kind::Solid) => {
                of_kinds[0].push(element as u32);
            }
            (Kind::Void, _) | (Kind::Designed, Kind::Void) => of_kinds[1].push(element as u32),
            (Kind::Designed, Kind::Designed) => {}
        }
    }
    if of_kinds.iter().map(Vec::len).sum::<usize>() < groups.len() {
        return Ok(of_kinds);
    }

    let message = "with the images of solid and void elements nothing remains to be designed";
    let place = config.manufacturing.first().map_or(0..0, |entry| entry.kind.span());
    let finding = Finding::new(message).at(config.source(), place, "makes images");
    Err(finding.remedy("make a set of `design.solid` or `design.void` smaller"))
}
