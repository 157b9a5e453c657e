// Design space of a wheel, in mm: five equal sectors of hexahedra.
SetFactory("OpenCASCADE");
Point(1) = {0, -18, 0};
Point(2) = {0, -100, 0};
Line(1) = {1, 2};
line = 1;
For i In {1:5}
  turned[] = Extrude {{0, 0, 1}, {0, 0, 0}, 2 * Pi / 5} {Curve{line}; Layers{16}; Recombine;};
  line = turned[0];
  Extrude {0, 0, 24} {Surface{turned[1]}; Layers{6}; Recombine;}
EndFor
Coherence;
