//! A case: its file, and the problem that the file poses on its mesh.
//!
//! The way leads from [`config::Config`] by [`case::Case`] to [`model::Model`]; errors are
//! [`finding::Finding`]s. These four are meant for use by others.

pub mod built;
pub mod candidates;
pub mod case;
pub mod case_loads;
pub mod config;
pub mod deck_case;
mod deck_design;
mod deck_material;
pub mod deck_totals;
pub mod design_loop;
pub mod design_space;
pub mod diagnosis;
pub mod expansions;
mod expression;
pub mod face_entries;
pub mod fields;
pub mod filter_plan;
pub mod finding;
pub mod formulation;
pub mod free_memory;
pub mod full_part;
pub mod geometry_case;
pub mod geometry_faces;
mod hexahedra;
pub mod interpolation;
pub mod interrupt;
pub mod kept;
mod laws;
pub mod loads;
pub mod lookup;
pub mod manufacturing;
pub mod materials;
pub mod meshing;
mod mirror_planes;
pub mod model;
pub mod named_sets;
pub mod nodal_loads;
pub mod nodal_temperatures;
pub mod own;
pub mod physics;
pub mod pieces;
mod refinement;
mod refusal;
pub mod responses;
mod selections;
pub mod subject;
mod supports;
pub mod tags;
mod temperatures;
pub mod tetrahedra;
pub mod unit_names;
pub mod units;
pub mod written_case;
