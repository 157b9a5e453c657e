// A bracket of 120 x 60 x 70 mm: a plate with four bolt holes, and a block with a bore for a pin.
SetFactory("OpenCASCADE");
Box(1) = {-60, -30, 0, 120, 60, 10};
Box(2) = {-38, -15, 10, 76, 30, 60};
BooleanUnion(3) = { Volume{1}; Delete; }{ Volume{2}; Delete; };
Cylinder(4) = {0, -16, 50, 0, 32, 0, 10};
Cylinder(5) = {-48, -20, -1, 0, 0, 12, 4.5};
Cylinder(6) = {48, -20, -1, 0, 0, 12, 4.5};
Cylinder(7) = {-48, 20, -1, 0, 0, 12, 4.5};
Cylinder(8) = {48, 20, -1, 0, 0, 12, 4.5};
BooleanDifference(9) = { Volume{3}; Delete; }{ Volume{4:8}; Delete; };
