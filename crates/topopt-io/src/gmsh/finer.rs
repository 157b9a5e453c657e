//! Places of a geometry with smaller elements.

use std::fmt::Write;

use topopt_mesh::BoundingBox;

/// Box of a geometry with smaller elements.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FinerBox {
    /// The box.
    pub bounds: BoundingBox,
    /// Largest edge of the elements in it (length).
    pub size: f64,
    /// Distance from the box in which elements grow to the usual ones (length).
    pub reach: f64,
}

/// Growth of sizes with the distance from a box.
const GROWTH: f64 = 0.3;

/// Number of the first field of sizes, which scripts hardly use.
const FIRST: usize = 9_000_001;

/// About how many elements the boxes hold; `edge` is that of one over the cube root of its volume.
pub(super) fn elements(boxes: &[FinerBox], edge: f64) -> f64 {
    let volume = |finer: &FinerBox| finer.bounds.extent().iter().product::<f64>();
    boxes.iter().map(|finer| volume(finer) * (edge / finer.size).powi(3)).sum()
}

/// Settings of Gmsh for elements of at most `share` of the sizes that the boxes ask for, and of
/// `least` of them where the surface curves.
pub(super) fn fields(boxes: &[FinerBox], [least, share]: [f64; 2]) -> String {
    let mut settings = String::new();
    let Some(smallest) = boxes.iter().map(|finer| finer.size).min_by(f64::total_cmp) else {
        return settings;
    };
    let least = least * smallest;
    for (FinerBox { bounds, size, reach }, field) in boxes.iter().zip(FIRST + 1..) {
        let (inside, outside) = (share * size, share * size + GROWTH * reach);
        let _ = write!(
            settings,
            "Field[{field}] = Box;\nField[{field}].VIn = {inside:?};\nField[{field}].VOut = {outside:?};\n\
             Field[{field}].Thickness = {reach:?};\n"
        );
        for ((axis, low), high) in ["X", "Y", "Z"].iter().zip(bounds.min).zip(bounds.max) {
            let _ = write!(
                settings,
                "Field[{field}].{axis}Min = {low:?};\nField[{field}].{axis}Max = {high:?};\n"
            );
        }
    }
    let all: Vec<String> = (FIRST + 1..).take(boxes.len()).map(|field| field.to_string()).collect();
    let _ = write!(
        settings,
        "Field[{FIRST}] = Min;\nField[{FIRST}].FieldsList = {{{}}};\nBackground Field = {FIRST};\n\
         If (Mesh.MeshSizeMin > {least:?})\nMesh.MeshSizeMin = {least:?};\nEndIf\n",
        all.join(", ")
    );
    settings
}
