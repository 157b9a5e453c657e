// Design space of a wall bracket, in mm: a flange with four bolts and a web with a pin.
SetFactory("OpenCASCADE");
Box(1) = {0, 0, 0, 14, 60, 90};
Box(2) = {14, 15, 0, 76, 30, 90};
BooleanUnion(3) = {Volume{1}; Delete;}{Volume{2}; Delete;};
Cylinder(4) = {-1, 7.5, 12, 16, 0, 0, 4};
Cylinder(5) = {-1, 52.5, 12, 16, 0, 0, 4};
Cylinder(6) = {-1, 7.5, 78, 16, 0, 0, 4};
Cylinder(7) = {-1, 52.5, 78, 16, 0, 0, 4};
Cylinder(8) = {72, 14, 65, 0, 32, 0, 8};
BooleanDifference(9) = {Volume{3}; Delete;}{Volume{4:8}; Delete;};
