//! Rules for keys of all tables.

use crate::refused;

#[test]
fn not_toml() {
    insta::assert_snapshot!(refused("\"fixed\"", "fixed"), @r"
     x the case file is not valid TOML: invalid boolean, expected `false`
      ,-[cases/case.toml:6:7]
    5 | [[supports]]
    6 | set = fixed
      :       ^^|^^
      :         `-- here
    7 | 
      `----
     help: put text in double quotes; a table begins with [name], a list of tables with [[name]]
    ");
}

#[test]
fn unknown_key() {
    insta::assert_snapshot!(refused("volume_fraction", "volume_fracton"), @r#"
     x unknown key `volume_fracton` in [design]
       ,-[cases/case.toml:14:1]
    13 | style = "smooth"
    14 | volume_fracton = 0.3
       : ^^^^^^^|^^^^^^
       :        `-- not a known key
    15 | 
       `----
     help: did you mean `volume_fraction`?
    "#);
}

#[test]
fn unknown_table() {
    insta::assert_snapshot!(refused("[filter]", "[smoothing]\nwidth = 1\n[filter]"), @r"
     x unknown key `smoothing` in the case file
       ,-[cases/case.toml:16:2]
    15 | 
    16 | [smoothing]
       :  ^^^^|^^^^
       :      `-- not a known key
    17 | width = 1
       `----
     help: the case file may have the keys candidates, constraints, continuation, convection, design,
           elements, filter, inertia_relief, load_cases, loads, manufacturing, material, materials,
           mesh, objective, optimizer, output, physics, projection, select, solver, springs,
           supports, title, transient, units
    ");
}

#[test]
fn wrong_type() {
    insta::assert_snapshot!(refused("0.3", "\"a third\""), @r#"
     x `design.volume_fraction` must be a number, not text
       ,-[cases/case.toml:14:19]
    13 | style = "smooth"
    14 | volume_fraction = "a third"
       :                   ^^^^|^^^^
       :                       `-- text
    15 | 
       `----
     help: give a number, greater than 0 and at most 1
    "#);
}

#[test]
fn out_of_range() {
    insta::assert_snapshot!(refused("0.3", "1.5"), @r#"
     x `design.volume_fraction` is out of range
       ,-[cases/case.toml:14:19]
    13 | style = "smooth"
    14 | volume_fraction = 1.5
       :                   ^|^
       :                    `-- must be greater than 0 and at most 1
    15 | 
       `----
     help: Share of the design volume that the material may fill.
    "#);
}

#[test]
fn several_at_once() {
    let text = "0.3\ndensity_min = 1\npenalty = nan\n[material]\npoissons_ratio = 0.5";
    insta::assert_snapshot!(refused("0.3", text), @r"
     x `design.density_min` is out of range
       ,-[cases/case.toml:15:15]
    14 | volume_fraction = 0.3
    15 | density_min = 1
       :               |
       :               `-- must be at least 0 and less than 1
    16 | penalty = nan
       `----
     help: Smallest density, which represents void; 0.001 by default with the style `crisp`.

     x `design.penalty` must be a finite number
       ,-[cases/case.toml:16:11]
    15 | density_min = 1
    16 | penalty = nan
       :           ^|^
       :            `-- not finite
    17 | [material]
       `----
     help: give a number, at least 1

     x `material.poissons_ratio` is out of range
       ,-[cases/case.toml:18:18]
    17 | [material]
    18 | poissons_ratio = 0.5
       :                  ^|^
       :                   `-- must be greater than -1 and less than 0.5
    19 | 
       `----
     help: 0.5 is an incompressible material, for which these elements lock; for rubber take 0.49
    ");
}

#[test]
fn unknown_choice() {
    insta::assert_snapshot!(refused("\"cantilever\"", "\"l-beam\""), @r#"
     x `mesh.generator` cannot be "l-beam"
      ,-[cases/case.toml:2:13]
    1 | [mesh]
    2 | generator = "l-beam"
      :             ^^^^|^^^
      :                 `-- must be "cantilever" or "l_beam" or "michell" or "connecting_rod"
    3 | size = 1
      `----
     help: did you mean "l_beam"?
    "#);
}

#[test]
fn missing_table() {
    insta::assert_snapshot!(refused("[filter]\nradius = 3", ""), @r"
    x cases/case.toml has no [filter]
    help: add [filter]: the filter, which sets the smallest feature size and prevents checkerboards
    ");
}
