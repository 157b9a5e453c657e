SetFactory("OpenCASCADE");
Cylinder(1) = {0,0,0, 0,0,8, 50};
Cylinder(2) = {0,0,8, 0,0,40, 20};
BooleanUnion(3) = { Volume{1}; Delete; }{ Volume{2}; Delete; };
Cylinder(10) = {0,0,-1, 0,0,60, 14};
For i In {0:5}
 Cylinder(20+i) = {38*Cos(i*Pi/3), 38*Sin(i*Pi/3), -1, 0,0,12, 4.5};
EndFor
BooleanDifference(50) = { Volume{3}; Delete; }{ Volume{10,20:25}; Delete; };
