// Design space of a foot bridge, in m: a block of bricks.
SetFactory("OpenCASCADE");
Rectangle(1) = {0, 0, 0, 40, 4};
Transfinite Surface{1};
Transfinite Curve{1, 3} = 81;
Transfinite Curve{2, 4} = 9;
Recombine Surface{1};
Extrude {0, 0, 8} {Surface{1}; Layers{16}; Recombine;}
