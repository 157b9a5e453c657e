//! Formats at the edge: Gmsh in, VTK and CSV out.
