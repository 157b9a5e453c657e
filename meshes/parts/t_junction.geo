SetFactory("OpenCASCADE");
Cylinder(1) = {-50,0,0,100,0,0,20};
Cylinder(2) = {0,0,0,0,0,50,15};
BooleanUnion(3) = { Volume{1}; Delete; }{ Volume{2}; Delete; };
Cylinder(4) = {-51,0,0,102,0,0,15};
Cylinder(5) = {0,0,0,0,0,51,10};
BooleanDifference(6) = { Volume{3}; Delete; }{ Volume{4,5}; Delete; };
