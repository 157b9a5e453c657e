// Upper half of a gripper, in mm: a plate of bricks with a gap for the workpiece.
SetFactory("OpenCASCADE");
Rectangle(1) = {0, 0, 0, 80, 40};
Rectangle(2) = {60, 0, 0, 20, 12};
BooleanDifference(3) = {Surface{1}; Delete;}{Surface{2}; Delete;};
Mesh.Algorithm = 8;
Recombine Surface{3};
Extrude {0, 0, 5} {Surface{3}; Layers{4}; Recombine;}
