SetFactory("OpenCASCADE");
Box(1) = {0,0,0,80,50,8};
Box(2) = {0,0,8,8,50,40};
Box(3) = {72,0,8,8,50,40};
Cylinder(4) = {-1,25,34,90,0,0,8};
Cylinder(5) = {20,12,-1,0,0,10,4};
Cylinder(6) = {60,38,-1,0,0,10,4};
BooleanUnion(7) = { Volume{1}; Delete; }{ Volume{2,3}; Delete; };
BooleanDifference(8) = { Volume{7}; Delete; }{ Volume{4,5,6}; Delete; };
