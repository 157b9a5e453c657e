//! An unstructured mesh of hexahedra or tetrahedra as checked data: coordinates, connectivity,
//! named sets, adjacency, coloring, renumbering, quality, and generators of the four benchmarks.
//!
//! Nodes and elements are numbered from 0 with `u32`; the nodes of an element stand in the order of
//! the VTK hexahedron or quadratic tetrahedron. This crate knows no physics and reads no file. It
//! is internal to topopt, without promises of stability.
//!
//! ```
//! use topopt_mesh::generate::{Benchmark, Resolution};
//! use topopt_mesh::SetKind;
//! use topopt_mesh::selection::{Condition, Selector, Shape};
//!
//! // A box of 10 x 5 x 5 unit cubes.
//! let mesh = Benchmark::Cantilever.generate(Resolution::Elements(250))?;
//! assert_eq!((mesh.n_nodes(), mesh.n_elements()), (396, 250));
//! assert_eq!(mesh.sets().faces["fixed"].len(), 25);
//!
//! let end = Shape::Plane { point: [10.0, 0.0, 0.0], normal: [1.0, 0.0, 0.0], tolerance: 0.0 };
//! let nodes = Selector::new(&mesh, SetKind::Node).select(&Condition::Within(end));
//! assert_eq!(nodes.len(), 36);
//! # Ok::<(), topopt_mesh::generate::GenerateError>(())
//! ```

mod boundary;
mod bounding_box;
mod box_tree;
mod by_element;
mod cell_list;
pub mod cells;
mod chords;
mod clusters;
mod coincident;
mod coloring;
mod components;
mod contacts;
pub mod counting_sort;
mod delaunay;
mod element_geometry;
mod first_near;
pub mod generate;
mod half_mesh;
mod hanging;
mod hex_mesh;
pub mod hexahedron;
pub mod hilbert;
mod interpolation;
mod inverse_map;
mod linear;
mod locate;
mod mesh_error;
mod mirror;
mod node_to_elements;
pub mod numbers;
mod partition;
pub mod passage;
mod places;
pub mod quality;
mod region;
mod renumbering;
mod rotation;
mod rows;
pub mod selection;
mod set_nodes;
mod sets;
pub mod shading;
pub mod surface;
pub mod tetrahedra;
pub mod tetrahedron;
pub mod triangles;
mod trilinear;
mod uniform_grid;
pub mod vector;

pub use bounding_box::BoundingBox;
pub use cell_list::CellList;
pub use coincident::coincident_nodes;
pub use coloring::Coloring;
pub use components::{Components, FaceJoined, NO_PART};
pub use contacts::{Contact, contacts, overlap};
pub use delaunay::Delaunay;
pub use first_near::first_near;
pub use half_mesh::{HalfMesh, Mirror};
pub use hanging::hanging_nodes;
pub use hex_mesh::HexMesh;
pub use interpolation::{ElementInterpolation, nodal_means};
pub use inverse_map::local_coordinates;
pub use locate::locate;
pub use mesh_error::MeshError;
pub use mirror::{Plane, Reflections, balanced_planes};
pub use node_to_elements::NodeToElements;
pub use partition::{Neighborhood, Part, Partition};
pub use places::Places;
pub use quality::{Quality, QualitySummary};
pub use region::Region;
pub use renumbering::Renumbering;
pub use rows::filled_rows;
pub use sets::{Face, SetError, SetKind, Sets};
pub use uniform_grid::{GridError, UniformGrid};
