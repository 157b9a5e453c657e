SetFactory("OpenCASCADE");
Box(1) = {0,0,0,100,40,5};
Box(2) = {0,17,5,100,6,20};
BooleanUnion(4) = { Volume{1}; Delete; }{ Volume{2}; Delete; };
Cylinder(5) = {50,16,17,0,8,0,5};
BooleanDifference(6) = { Volume{4}; Delete; }{ Volume{5}; Delete; };
