//! `[[supports]]`, `[[loads]]` and `[[load_cases]]`.

use crate::refused;

#[test]
fn no_supports() {
    insta::assert_snapshot!(refused("[[supports]]\nset = \"fixed\"\n", ""), @r"
    x cases/case.toml has no [[supports]]
    help: add [[supports]]: where the part is held; or add [[springs]] that hold it; or, for a part
          that flies or floats, `inertia_relief = true` above all tables
    ");
}

#[test]
fn force_of_two_components() {
    insta::assert_snapshot!(refused("[0, -1, 0]", "[0, -1]"), @r#"
     x `loads.force` needs exactly 3 entries, not 2
       ,-[cases/case.toml:10:9]
     9 | set = "load"
    10 | force = [0, -1]
       :         ^^^|^^^
       :            `-- this list
    11 | 
       `----
     help: Force [x, y, z] on each node of the set.
    "#);
}

#[test]
fn direction_twice() {
    insta::assert_snapshot!(refused("\"fixed\"", "\"fixed\"\nfix = [\"x\", \"x\"]"), @r#"
     x `supports.fix` lists an entry twice
      ,-[cases/case.toml:7:13]
    6 | set = "fixed"
    7 | fix = ["x", "x"]
      :             ^|^
      :              `-- a second time
    8 | 
      `----
     help: remove one of them
    "#);
}

#[test]
fn load_case_without_loads() {
    let text = "[[load_cases]]\nname = \"lift\"\n[filter]";
    insta::assert_snapshot!(refused("[filter]", text), @r#"
     x load case `lift` has no loads
       ,-[cases/case.toml:17:8]
    16 | [[load_cases]]
    17 | name = "lift"
       :        ^^^|^^
       :           `-- no [[loads]] of this case
    18 | [filter]
       `----
     help: add `case = "lift"` to the [[loads]] that belong to it
    "#);
}
