SetFactory("OpenCASCADE");
Cylinder(1) = {0,0,0,0,0,10,50};
Cylinder(2) = {0,0,10,0,0,30,25};
BooleanUnion(3) = { Volume{1}; Delete; }{ Volume{2}; Delete; };
Cylinder(4) = {0,0,-1,0,0,42,18};
For i In {0:5}
 Cylinder(10+i) = {38*Cos(i*Pi/3),38*Sin(i*Pi/3),-1,0,0,12,5};
EndFor
BooleanDifference(30) = { Volume{3}; Delete; }{ Volume{4,10:15}; Delete; };
