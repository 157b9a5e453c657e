//! `[[select]]`: sets by where things lie, as the case file asks for them.

use topopt_case::case::Case;

use crate::case_of;

/// 10 x 5 x 5 unit cubes with a corner at the origin.
const CASE: &str = r#"[mesh]
generator = "cantilever"
elements = 250

[[select]]
name = "end"
kind = "faces"
plane = { point = [10, 0, 0], normal = [1, 0, 0] }
box = { min = [0, 2.4, 0], max = [11, 9, 9] }

[[supports]]
set = "fixed"

[[loads]]
set = "end"
force = [0, -1, 0]

[design]
volume_fraction = 0.3

[filter]
radius_in_elements = 1.5
"#;

fn build(set: &[&str]) -> Result<Case, String> {
    case_of(CASE, set)
}

/// Number of nodes, faces and elements in the set `s` that the condition selects as `kind`.
fn selected(kind: &str, condition: &str) -> usize {
    let set = format!("select.0={{ name = \"s\", kind = \"{kind}\", {condition} }}");
    let case = build(&[&set, "loads.0.set=load"]).unwrap_or_else(|error| panic!("{error}"));
    let nodes = case.sets.nodes.get("s").map_or(0, Vec::len);
    let faces = case.sets.faces.get("s").map_or(0, Vec::len);
    nodes + faces + case.sets.elements.get("s").map_or(0, Vec::len)
}

fn refused(set: &[&str]) -> String {
    build(set).unwrap_err()
}

#[test]
fn a_selection_is_a_set_like_any_other() {
    let case = build(&[]).unwrap();
    assert_eq!(case.sets.faces["end"].len(), 10);
    // Nodes of 2 x 5 faces, from y = 3 up.
    let loaded: Vec<_> = case.load_cases[0].forces.iter().map(|(node, _)| *node).collect();
    assert_eq!(loaded.len(), 18);
    for node in loaded {
        let [x, y, _] = case.mesh.coordinates()[node as usize];
        assert!(x == 10.0 && y > 2.5);
    }
    let select = "select.0={ name = \"core\", kind = \"elements\", sphere = { center = [5, 2, 2], \
                  radius = 1 } }";
    let case = build(&[select, "design.solid=[\"core\"]", "loads.0.set=load"]).unwrap();
    assert_eq!(case.solid.len() - case.kept.elements.len(), 8);
    let select = "select.0={ name = \"wall\", kind = \"nodes\", set = \"fixed\" }";
    let case = build(&[select, "supports.0.set=wall", "loads.0.set=load"]).unwrap();
    assert_eq!(case.fixed[0].len(), 36);
}

#[test]
fn every_condition_selects() {
    for (kind, condition, expected) in [
        ("nodes", "box = { min = [0, 0, 0], max = [1, 1, 1] }", 8),
        ("nodes", "plane = { point = [9, 0, 0], normal = [1, 0, 0], tolerance = 1 }", 3 * 36),
        ("faces", "cylinder = { point = [5, 2.5, 0], axis = [0, 0, 1], radius = 1.2 }", 4),
        ("elements", "cylinder = { point = [5, 3, 0], axis = [0, 0, 1], radius = 1 }", 20),
        (
            "elements",
            "cylinder = { point = [5, 3, 0], axis = [0, 0, 1], radius = 2, \
                      inner_radius = 1 }",
            40,
        ),
        ("nodes", "nearest = [11, 2.5, 0]", 2),
        ("faces", "normal = { direction = [0, 2, 0] }", 50),
        ("faces", "normal = { direction = [0, 1, 1], angle = 50 }", 100),
        ("nodes", "nodes = [1, 3, 396]", 3),
        ("nodes", "set = \"fixed\"", 36),
        ("faces", "set = \"fixed\"", 25),
        ("elements", "set = \"fixed\", not = { nearest = [0, 0, 0] }", 0),
        ("faces", "set = \"fixed\", not = { nearest = [0, 0.5, 0.5] }", 24),
        ("nodes", "near = { set = \"fixed\", distance = 2 }", 3 * 36),
        ("elements", "near = { set = \"load\", distance = 1 }", 5),
        ("faces", "near = { set = \"load\", distance = 1 }", 5 + 5),
        ("elements", "any = [{ near = { set = \"load\", distance = 0.5 } }]", 0),
        ("nodes", "any = [{ set = \"fixed\" }, { nodes = [396] }]", 37),
        ("nodes", "all = [{ set = \"fixed\" }, { any = [{ nodes = [396] }] }]", 0),
    ] {
        if expected > 0 {
            assert_eq!(selected(kind, condition), expected, "{kind}: {condition}");
        } else {
            let set = format!("select.0={{ name = \"s\", kind = \"{kind}\", {condition} }}");
            let error = refused(&[&set]);
            assert!(error.contains("is empty"), "{kind}: {condition}: {error}");
        }
    }
}

#[test]
fn an_empty_selection_shows_what_is_near() {
    insta::assert_snapshot!(refused(&["select.0.plane.point=[11, 0, 0]"]), @r#"
     x selection `end` is empty: no face satisfies it
      ,-[case.toml:6:8]
    5 | [[select]]
    6 | name = "end"
      :        ^^|^^
      :          `-- this selection
    7 | kind = "faces"
      `----
     help: `box` alone is satisfied by 110 faces
           `plane` alone is satisfied by 0 faces; the nearest, at [10, 0.5, 0.5], is 1 away
           the mesh reaches from [0.0, 0.0, 0.0] to [10.0, 5.0, 5.0]
    "#);
}

#[test]
fn nothing_is_near_a_set() {
    let select = "select.0={ name = \"pads\", kind = \"elements\", near = { set = \"load\", distance \
                  = 0.5 } }";
    let error = refused(&[select]);
    let near = "`near` alone is satisfied by 0 elements; the nearest, at [9.5, 0.5, 0.5], is 0.366";
    assert!(error.contains(near), "{error}");
}

/// The example of the guide, on the mesh that it is about.
#[test]
fn the_example_of_the_guide() {
    let guide = include_str!("../../../../docs/guide/src/selecting.md");
    let blocks = guide.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next());
    let example = blocks.into_iter().find(|block| block.contains("[[select]]")).unwrap();
    let case = case_of(example, &[]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(case.solid, case.mesh.sets().elements["solid"]);
    let bore = case.sets.faces["lower bore"].len();
    assert_eq!(bore, 2 * case.mesh.sets().faces["fixed"].len());
    // The pressure on half a bore of diameter 60 and height 8 lifts the rod.
    let lift: f64 = case.load_cases[0].forces.iter().map(|(_, force)| force[1]).sum();
    assert!((lift - 2.0 * 60.0 * 8.0).abs() < 1e-9, "{lift}");
}
