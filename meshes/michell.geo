// Michell cantilever: a rectangle 5r x 4r without a half disc of radius r in the middle of its left
// side, held on the half circle, loaded in the middle of the right side. Quadrilaterals, extruded.
//
//     gmsh -3 michell.geo -format msh41 -setnumber element_size 1.5
//     topopt mesh michell.geo --element-size 1.5
//
// As it stands, the benchmark of size 1.

DefineConstant[ element_size = 1 ];  // edge of the elements
r = 26;                              // of the half disc
thickness = 3;
layers = (thickness > element_size) ? Round(thickness / element_size) : 1;

Point(1) = {0, 0, 0, element_size};
Point(2) = {5*r, 0, 0, element_size};
Point(3) = {5*r, 2*r, 0, element_size};  // where the load is
Point(4) = {5*r, 4*r, 0, element_size};
Point(5) = {0, 4*r, 0, element_size};
Point(6) = {0, 3*r, 0, element_size};
Point(7) = {r, 2*r, 0, element_size};
Point(8) = {0, r, 0, element_size};
Point(9) = {0, 2*r, 0, element_size};    // centre of the disc

Line(1) = {1, 2};
Line(2) = {2, 3};
Line(3) = {3, 4};
Line(4) = {4, 5};
Line(5) = {5, 6};
Circle(6) = {6, 9, 7};
Circle(7) = {7, 9, 8};
Line(8) = {8, 1};
Curve Loop(1) = {1:8};
Plane Surface(1) = {1};

Mesh.Algorithm = 8;                // right-angled triangles, to be joined in pairs ...
Mesh.RecombinationAlgorithm = 1;   // ... by the best matching
Recombine Surface {1};

// out[]: the face opposite, the volume, then the sides, in the order of the curves.
out[] = Extrude {0, 0, thickness} { Surface{1}; Layers{layers}; Recombine; };

e = 1e-3 * r;
load[] = Curve In BoundingBox {5*r - e, 2*r - e, -e, 5*r + e, 2*r + e, thickness + e};

Physical Volume("design") = {out[1]};
Physical Surface("fixed") = {out[7], out[8]};
Physical Curve("load") = {load[]};
