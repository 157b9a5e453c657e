//! Small mesh files as text.

/// A Gmsh file, 4.1, text: a cube with a physical volume, surface and point.
pub const CUBE_MSH: &str = include_str!("files/cube.msh");

/// An Ansys archive: a block with components, supports and forces.
pub const BLOCK_CDB: &str = include_str!("files/block.cdb");
