SetFactory("OpenCASCADE");
Torus(1) = {0,0,0,30,8,1.4*Pi};
Cylinder(2) = {30,0,0,0,-40,0,8};
BooleanUnion(3) = { Volume{1}; Delete; }{ Volume{2}; Delete; };
