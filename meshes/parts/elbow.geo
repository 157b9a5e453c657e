SetFactory("OpenCASCADE");
Torus(1) = {0,0,0,40,15,Pi/2};
Torus(2) = {0,0,0,40,10,Pi/2};
BooleanDifference(3) = { Volume{1}; Delete; }{ Volume{2}; Delete; };
