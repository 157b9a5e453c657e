//! `[filter]` and `[projection]`.

use crate::refused;

#[test]
fn filter_radius_zero() {
    insta::assert_snapshot!(refused("radius = 3", "radius = 0"), @r"
     x `filter.radius` is out of range
       ,-[cases/case.toml:17:10]
    16 | [filter]
    17 | radius = 0
       :          |
       :          `-- must be greater than 0
       `----
     help: Radius as a length.
    ");
}

#[test]
fn filter_without_radius() {
    insta::assert_snapshot!(refused("radius = 3", ""), @r"
     x [filter] has no radius
       ,-[cases/case.toml:16:1]
    15 | 
    16 | [filter]
       : ^^^^|^^^
       :     `-- this table
    17 | 
       `----
     help: give either `radius` (a length) or `radius_in_elements` (in element widths); 1.5 to 3
           element widths are usual
    ");
}

#[test]
fn filter_with_two_radii() {
    insta::assert_snapshot!(refused("radius = 3", "radius = 3\nradius_in_elements = 3"), @r"
     x [filter] has both `radius` and `radius_in_elements`
       ,-[cases/case.toml:16:1]
    15 | 
    16 | [filter]
       : ^^^^|^^^
       :     `-- this table
    17 | radius = 3
       `----
     help: give either `radius` (a length) or `radius_in_elements` (in element widths); 1.5 to 3
           element widths are usual
    ");
}

#[test]
fn projection_without_the_density_filter() {
    insta::assert_snapshot!(refused("radius = 3", "radius = 3\n[projection]\nsharpness = 4"), @r#"
     x [projection] without the density filter
       ,-[cases/case.toml:18:1]
    17 | radius = 3
    18 | [projection]
       : ^^^^^^|^^^^^
       :       `-- projects filtered densities
    19 | sharpness = 4
       `----
     help: add `kind = "density"` to [filter], or remove [projection]
    "#);
}

#[test]
fn projection_too_sharp() {
    let text = "radius = 3\nkind = \"density\"\n[projection]\nsharpness = 1e3";
    insta::assert_snapshot!(refused("radius = 3", text), @"
     x `projection.sharpness` is out of range
       ,-[cases/case.toml:20:13]
    19 | [projection]
    20 | sharpness = 1e3
       :             ^|^
       :              `-- must be greater than 0 and at most 256
       `----
     help: Sharpness beta: 1 is nearly linear, 32 nearly a step. Raised in stages of
           `[[continuation]]` it gives better designs.
    ");
}
