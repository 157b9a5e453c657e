SetFactory("OpenCASCADE");
Box(1) = {0,0,0,40,40,40};
Sphere(2) = {20,20,20,14};
BooleanDifference(3) = { Volume{1}; Delete; }{ Volume{2}; Delete; };
