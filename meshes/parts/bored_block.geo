SetFactory("OpenCASCADE");
Box(1) = {0,0,0,100,40,30};
Fillet{1}{2,4,6,8}{6}
Cylinder(2) = {25,20,-1,0,0,32,6};
Cylinder(3) = {70,20,-1,0,0,32,8};
BooleanDifference(4) = { Volume{1}; Delete; }{ Volume{2,3}; Delete; };
