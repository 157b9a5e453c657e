SetFactory("OpenCASCADE");
Cylinder(1) = {0,0,0,0,0,10,50};
Cylinder(2) = {0,0,-1,0,0,12,42};
BooleanDifference(3) = { Volume{1}; Delete; }{ Volume{2}; Delete; };
Cylinder(4) = {0,0,0,0,0,10,14};
For i In {0:4}
 Box(10+i) = {0,-3,2,45,6,6};
 Rotate{{0,0,1},{0,0,0},i*2*Pi/5}{ Volume{10+i}; }
EndFor
BooleanUnion(20) = { Volume{3}; Delete; }{ Volume{4,10:14}; Delete; };
Cylinder(21) = {0,0,-1,0,0,12,8};
BooleanDifference(22) = { Volume{20}; Delete; }{ Volume{21}; Delete; };
