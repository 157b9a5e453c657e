// Design space of a heat sink, in mm: a block of bricks.
SetFactory("OpenCASCADE");
Rectangle(1) = {0, 0, 0, 40, 40};
Transfinite Surface{1};
Transfinite Curve{1:4} = 25;
Recombine Surface{1};
Extrude {0, 0, 30} {Surface{1}; Layers{18}; Recombine;}
