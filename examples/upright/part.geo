// Design space of a wheel upright, in mm: a block with the bore of the wheel bearing, two ball joints and a tie rod.
SetFactory("OpenCASCADE");
Box(1) = {-45, -80, 0, 90, 160, 40};
Box(2) = {45, -15, 0, 40, 30, 40};
BooleanUnion(3) = {Volume{1}; Delete;}{Volume{2}; Delete;};
Cylinder(4) = {0, 0, -1, 0, 0, 42, 32};
Cylinder(5) = {0, 66, -1, 0, 0, 42, 7};
Cylinder(6) = {0, -66, -1, 0, 0, 42, 7};
Cylinder(7) = {72, 0, -1, 0, 0, 42, 7};
BooleanDifference(8) = {Volume{3}; Delete;}{Volume{4:7}; Delete;};
