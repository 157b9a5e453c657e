// Design space of a suspension rocker, in mm: a triangular plate with three bores.
SetFactory("OpenCASCADE");
Point(1) = {-18, -18, 0}; Point(2) = {118, -18, 0}; Point(3) = {118, 18, 0};
Point(4) = {68, 78, 0}; Point(5) = {32, 78, 0}; Point(6) = {-18, 18, 0};
Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {3, 4}; Line(4) = {4, 5}; Line(5) = {5, 6}; Line(6) = {6, 1};
Curve Loop(1) = {1:6}; Plane Surface(1) = {1};
Disk(2) = {0, 0, 0, 6}; Disk(3) = {100, 0, 0, 6.5}; Disk(4) = {50, 60, 0, 10};
BooleanDifference(5) = {Surface{1}; Delete;}{Surface{2:4}; Delete;};
Mesh.Algorithm = 8;
Recombine Surface{5};
Extrude {0, 0, 20} {Surface{5}; Layers{7}; Recombine;}
