// Design space of a pipe support, in mm: a saddle on a foot with four bolts.
SetFactory("OpenCASCADE");
Box(1) = {-70, -25, 0, 140, 50, 10};
Box(2) = {-45, -25, 10, 90, 50, 70};
BooleanUnion(3) = {Volume{1}; Delete;}{Volume{2}; Delete;};
Cylinder(4) = {0, -26, 80, 0, 52, 0, 35};
Cylinder(5) = {-58, -13, -1, 0, 0, 12, 4.5};
Cylinder(6) = {-58, 13, -1, 0, 0, 12, 4.5};
Cylinder(7) = {58, -13, -1, 0, 0, 12, 4.5};
Cylinder(8) = {58, 13, -1, 0, 0, 12, 4.5};
BooleanDifference(9) = {Volume{3}; Delete;}{Volume{4:8}; Delete;};
