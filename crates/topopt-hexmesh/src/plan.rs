//! Choice between ways to smaller elements in places: planes of the grid, or transitions.

use crate::attempt::count_divided;
use crate::features::Features;
use crate::report::Refinement;
use crate::sizes::Field;
use crate::surface::Surface;

/// Elements with transitions, as a share of those by planes, up to which transitions are taken: a
/// grid has the better shapes.
const FEWER: f64 = 0.75;

/// Way to smaller elements that takes the fewest.
pub(crate) struct Plan {
    /// Sizes with the divisions of it.
    pub field: Field,
    /// Counts of both ways.
    pub counts: Refinement,
}

impl Plan {
    /// Counts elements by planes alone, and with one division and more; nothing if no place asks
    /// for smaller elements, or none of these has a mesh.
    pub fn of(surface: &Surface, features: &Features, field: &Field) -> Option<Self> {
        let counted = |levels: i32| {
            let own = field.with_levels(levels);
            let count = count_divided(surface, features, &own).ok()?;
            Some((count, own))
        };
        let most = field.most_levels();
        let (by_planes, planes) = if most > 0 { counted(0)? } else { return None };
        let divided = (1..=most).filter_map(counted).min_by_key(|(count, _)| *count);
        let (by_transitions, divided) = divided?;
        let is_fewer = (by_transitions as f64) < FEWER * by_planes as f64;
        let field = if is_fewer { divided } else { planes };
        let counts = Refinement { levels: field.levels() as usize, by_planes, by_transitions };
        Some(Self { field, counts })
    }
}
