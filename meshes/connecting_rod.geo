// Connecting rod: a plate 150 x 350 with two bores in rings that stay solid and are thicker than
// the plate. Held on the lower half of the lower bore, pulled on the upper half of the upper bore.
// Quadrilaterals, extruded.
//
//     gmsh -3 connecting_rod.geo -format msh41 -setnumber element_size 3
//     topopt mesh connecting_rod.geo --element-size 3
//
// As it stands, the benchmark of size 1.

DefineConstant[ element_size = 1.8 ]; // edge of the elements
width = 150;
height = 350;
web = 4;                             // thickness of the plate: z from 2 to 6
rim = 2;                             // by which the rings stand out on either side
web_layers = (web > element_size) ? Round(web / element_size) : 1;
rim_layers = (rim > element_size) ? Round(rim / element_size) : 1;

// Four arcs of a circle around `centre`, from its right point on: curves first + 0 to 3.
Macro Ring
  Point(first) = {75 + radius, y, rim, element_size};
  Point(first + 1) = {75, y + radius, rim, element_size};
  Point(first + 2) = {75 - radius, y, rim, element_size};
  Point(first + 3) = {75, y - radius, rim, element_size};
  For i In {0:3}
    Circle(first + i) = {first + i, centre, first + (i + 1) % 4};
  EndFor
  Curve Loop(first) = {first:first + 3};
Return

centre = 1;  y = 45;  Point(centre) = {75, y, rim};    // the lower bore
first = 10;  radius = 35 / 2;  Call Ring;
first = 20;  radius = 50 / 2;  Call Ring;
centre = 2;  y = 290;  Point(centre) = {75, y, rim};   // the upper bore
first = 30;  radius = 60 / 2;  Call Ring;
first = 40;  radius = 80 / 2;  Call Ring;

Point(51) = {0, 0, rim, element_size};
Point(52) = {width, 0, rim, element_size};
Point(53) = {width, height, rim, element_size};
Point(54) = {0, height, rim, element_size};
Line(51) = {51, 52};
Line(52) = {52, 53};
Line(53) = {53, 54};
Line(54) = {54, 51};
Curve Loop(51) = {51:54};

Plane Surface(1) = {20, 10};      // lower ring
Plane Surface(2) = {40, 30};      // upper ring
Plane Surface(3) = {51, 20, 40};  // plate

Mesh.Algorithm = 8;               // right-angled triangles, to be joined in pairs ...
Mesh.RecombinationAlgorithm = 1;  // ... by the best matching
Recombine Surface {1, 2, 3};

// Each: the face opposite, the volume, then the sides, four to a circle in the order of the curves.
plate[] = Extrude {0, 0, web} { Surface{3}; Layers{web_layers}; Recombine; };
lower[] = Extrude {0, 0, web} { Surface{1}; Layers{web_layers}; Recombine; };
upper[] = Extrude {0, 0, web} { Surface{2}; Layers{web_layers}; Recombine; };
lower_front[] = Extrude {0, 0, -rim} { Surface{1}; Layers{rim_layers}; Recombine; };
upper_front[] = Extrude {0, 0, -rim} { Surface{2}; Layers{rim_layers}; Recombine; };
lower_back[] = Extrude {0, 0, rim} { Surface{lower[0]}; Layers{rim_layers}; Recombine; };
upper_back[] = Extrude {0, 0, rim} { Surface{upper[0]}; Layers{rim_layers}; Recombine; };

Physical Volume("design") = {plate[1]};
Physical Volume("solid") = {lower[1], upper[1], lower_front[1], upper_front[1], lower_back[1],
                            upper_back[1]};
// The inner circle comes last and, as that of a hole, the other way round: its lower half first.
Physical Surface("fixed") = {lower[6], lower[7], lower_front[6], lower_front[7], lower_back[6],
                             lower_back[7]};
Physical Surface("load") = {upper[8], upper[9], upper_front[8], upper_front[9], upper_back[8],
                            upper_back[9]};
