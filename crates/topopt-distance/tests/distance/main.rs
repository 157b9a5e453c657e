//! Claims about distances, level sets and their evolution.

mod cubes;
mod curvature_flow;
mod eikonal;
mod evolution;
mod patches;
mod signed_distance;
