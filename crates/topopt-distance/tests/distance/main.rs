//! Claims about distances, level sets and their evolution.

mod cubes;
mod eikonal;
mod evolution;
mod signed_distance;
