// Design space of a gear body, in mm: six equal sectors of hexahedra.
SetFactory("OpenCASCADE");
Point(1) = {0, -15, 0};
Point(2) = {0, -60, 0};
Line(1) = {1, 2};
line = 1;
For i In {1:6}
  turned[] = Extrude {{0, 0, 1}, {0, 0, 0}, Pi / 3} {Curve{line}; Layers{12}; Recombine;};
  line = turned[0];
  Extrude {0, 0, 20} {Surface{turned[1]}; Layers{6}; Recombine;}
EndFor
Coherence;
