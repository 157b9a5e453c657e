//! Choice between ways to smaller elements in places: planes of the grid, or transitions.

use crate::attempt;
use crate::features::Features;
use crate::report::Refinement;
use crate::sizes::Field;
use crate::surface::Surface;

/// Elements with transitions, as a share of those by planes, up to which transitions are taken: a
/// grid has the better shapes.
const FEWER: f64 = 2.0 / 3.0;

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
            let count = attempt::count(surface, features, &own).ok()?;
            Some((count, own))
        };
        let most = field.most_levels();
        let (by_planes, planes) = if most > 0 { counted(0)? } else { return None };
        let divided = (1..=most).filter_map(counted).min_by_key(|(count, _)| *count);
        let (by_transitions, divided) = divided?;
        let field = if is_clearly_fewer(by_transitions, by_planes) { divided } else { planes };
        let counts = Refinement { levels: field.levels() as usize, by_planes, by_transitions };
        Some(Self { field, counts })
    }

    /// Elements of the way that is taken.
    pub fn count(&self) -> usize {
        let Refinement { levels, by_planes, by_transitions } = self.counts;
        if levels > 0 { by_transitions } else { by_planes }
    }
}

/// Whether elements with transitions, `divided`, are few enough beside those of `others`.
pub(crate) fn is_clearly_fewer(divided: usize, others: usize) -> bool {
    (divided as f64) < FEWER * others as f64
}
