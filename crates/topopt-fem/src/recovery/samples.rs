//! Values from which nodal ones are recovered.

/// Values of elements from which nodal ones are recovered, with C components.
#[derive(Debug, Clone)]
pub struct Samples<const C: usize> {
    /// Values at the centers, `[n_elements][C]`.
    pub values: Vec<[f64; C]>,
    /// Slopes of the elements' own fields along x, y and z, `[n_elements][3][C]`.
    pub slopes: Vec<[[f64; C]; 3]>,
    /// Material of each element, `[n_elements]`: no patch has two. None where an element counts
    /// for nothing, as one that is empty.
    pub materials: Vec<Option<u32>>,
}

/// Materials at every node, ascending, each with its value.
pub(super) type AtNodes<const C: usize> = Vec<Vec<(u32, [f64; C])>>;
