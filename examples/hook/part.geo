// Design space of a lifting hook, in mm: a plate with an eye above and an open throat.
SetFactory("OpenCASCADE");
Rectangle(1) = {0, 0, 0, 110, 170, 12};
Disk(2) = {55, 145, 0, 12};
Disk(3) = {55, 60, 0, 24};
Rectangle(4) = {55, 60, 0, 60, 30};
BooleanDifference(6) = {Surface{1}; Delete;}{Surface{2, 3, 4}; Delete;};
Mesh.Algorithm = 8;
Recombine Surface{6};
Extrude {0, 0, 20} {Surface{6}; Layers{7}; Recombine;}
