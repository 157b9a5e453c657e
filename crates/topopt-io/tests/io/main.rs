//! Files read and written, by format.

mod abaqus;
mod abaqus_damage;
mod abaqus_points;
mod ansys;
mod ansys_damage;
mod ansys_given;
mod block;
mod checkpoint;
mod cut;
mod damage;
mod facets;
mod glb;
mod gmsh_damage;
#[cfg(unix)]
mod gmsh_program;
mod gmsh_round_trip;
mod gmsh_text;
mod mixed;
mod names;
mod nastran;
mod nastran_damage;
mod nastran_design;
mod nastran_loads;
mod oracle;
mod parts;
mod surface_files;
mod texts;
mod twins;
mod vtk_files;
mod vtk_legacy;
mod vtu_read;
