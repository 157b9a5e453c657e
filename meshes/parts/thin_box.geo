SetFactory("OpenCASCADE");
Box(1) = {0,0,0,80,50,30};
Box(2) = {2,2,2,76,46,30};
BooleanDifference(3) = { Volume{1}; Delete; }{ Volume{2}; Delete; };
