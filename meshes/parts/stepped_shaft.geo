SetFactory("OpenCASCADE");
Cylinder(1) = {0,0,0,30,0,0,10};
Cylinder(2) = {30,0,0,40,0,0,16};
Cylinder(3) = {70,0,0,25,0,0,8};
BooleanUnion(4) = { Volume{1}; Delete; }{ Volume{2,3}; Delete; };
Box(5) = {75,-2,5,15,4,6};
BooleanDifference(6) = { Volume{4}; Delete; }{ Volume{5}; Delete; };
