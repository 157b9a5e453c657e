//! `[mesh]`.

use std::path::Path;

use crate::{CASE, parse, refused};

#[test]
fn mesh_file_is_relative_to_the_case_file() {
    let text = CASE.replace("generator = \"cantilever\"\nsize = 1", "file = \"part.msh\"");
    assert_eq!(parse(text, &[]).unwrap().mesh_path().unwrap(), Path::new("cases/part.msh"));
}

#[test]
fn mesh_from_nowhere() {
    insta::assert_snapshot!(refused("generator = \"cantilever\"\nsize = 1", ""), @r#"
     x [mesh] names no mesh
      ,-[cases/case.toml:1:1]
    1 | [mesh]
      : ^^^|^^
      :    `-- this table
    2 | 
      `----
     help: give either `file = "part.msh"`, or `generator` with one of `size` (1 to 5) and `elements`
    "#);
}

#[test]
fn mesh_from_two_sources() {
    insta::assert_snapshot!(refused("size = 1", "file = \"part.msh\""), @r#"
     x [mesh] has both `file` and `generator`
      ,-[cases/case.toml:2:13]
    1 | [mesh]
    2 | generator = "cantilever"
      :             ^^^^^^|^^^^^
      :                   `-- one too many
    3 | file = "part.msh"
      `----
     help: give either `file = "part.msh"`, or `generator` with one of `size` (1 to 5) and `elements`
    "#);
}

#[test]
fn mesh_from_a_file_that_is_shuffled() {
    let (generated, mesh) =
        ("generator = \"cantilever\"\nsize = 1", "file = \"a.msh\"\nshuffled = true");
    insta::assert_snapshot!(refused(generated, mesh), @r#"
     x a mesh from a file has its own numbering
      ,-[cases/case.toml:3:12]
    2 | file = "a.msh"
    3 | shuffled = true
      :            ^^|^
      :              `-- for generators only
    4 | 
      `----
     help: give either `file = "part.msh"`, or `generator` with one of `size` (1 to 5) and `elements`
    "#);
}

#[test]
fn elements_of_a_geometry() {
    let generated = "generator = \"cantilever\"\nsize = 1";
    let mesh = "file = \"part.step\"\nelements = 1000";
    let config = parse(CASE.replace(generated, mesh), &[]).unwrap();
    assert_eq!(config.mesh.get_ref().elements.as_ref().map(|key| *key.get_ref()), Some(1000));
    let both = "file = \"part.stl\"\nelement_size = 2.0\nelements = 1000";
    insta::assert_snapshot!(refused(generated, both), @r#"
     x [mesh] has both `element_size` and `elements`
      ,-[cases/case.toml:4:12]
    3 | element_size = 2.0
    4 | elements = 1000
      :            ^^|^
      :              `-- one too many
    5 | 
      `----
     help: give the largest edge, or the number of elements
    "#);
    let of_mesh = refused(generated, "file = \"part.msh\"\nelements = 1000");
    assert!(of_mesh.contains("a mesh from a file has its own size"), "{of_mesh}");
}

#[test]
fn mesh_without_size() {
    insta::assert_snapshot!(refused("size = 1", ""), @r#"
     x [mesh] does not say how large
      ,-[cases/case.toml:2:13]
    1 | [mesh]
    2 | generator = "cantilever"
      :             ^^^^^^|^^^^^
      :                   `-- size missing
    3 | 
      `----
     help: give either `file = "part.msh"`, or `generator` with one of `size` (1 to 5) and `elements`
    "#);
}
