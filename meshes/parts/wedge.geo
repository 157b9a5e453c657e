SetFactory("OpenCASCADE");
Wedge(1) = {0,0,0,60,30,40,10};
Cylinder(2) = {15,15,-1,0,0,50,5};
BooleanDifference(3) = { Volume{1}; Delete; }{ Volume{2}; Delete; };
