#!/usr/bin/env python3
"""Meshes of parts as mesh generators make them, by Gmsh: no chords, irregular valence, uneven elements.

    python3 parts.py bored_angle SIZE OUT.msh   an angle with three bores and a fillet, of cut tetrahedra
    python3 parts.py graded SIZE OUT.msh        a lug with a small bore, of cut tetrahedra graded 1:20
    python3 parts.py mixed SIZE OUT.msh         a bored plate of bricks and wedges in uneven layers

SIZE is the edge length of the tetrahedra (bored_angle: 3.0 gives 90 thousand elements, 2.0 280 thousand,
1.25 1.1 million), the largest one (graded), or that of the plane mesh (mixed). Cases of the same names
lie beside this file. Needs the Python package gmsh.
"""

import sys

import gmsh

occ = gmsh.model.occ


def box_of(entity):
    return gmsh.model.getBoundingBox(*entity)


def near(a, b):
    return abs(a - b) < 1e-3


def group(dimension, name, holds):
    tags = [tag for _, tag in gmsh.model.getEntities(dimension) if holds(*box_of((dimension, tag)))]
    gmsh.model.addPhysicalGroup(dimension, tags, name=name)
    return tags


def options(**values):
    for key, value in values.items():
        gmsh.option.setNumber(f"Mesh.{key}", value)


def bored_angle(size):
    base, wall = occ.addBox(0, 0, 0, 100, 40, 30), occ.addBox(0, 0, 0, 20, 40, 60)
    part, _ = occ.fuse([(3, base)], [(3, wall)])
    bores = [occ.addCylinder(80, 20, -5, 0, 0, 50, 8), occ.addCylinder(-5, 20, 48, 40, 0, 0, 6),
             occ.addCylinder(50, -5, 15, 0, 60, 0, 5)]
    part, _ = occ.cut(part, [(3, bore) for bore in bores])
    occ.synchronize()
    corner = [tag for dim, tag in gmsh.model.getEntities(1)
              if all(near(box_of((dim, tag))[i], v) for i, v in ((0, 20), (3, 20), (2, 30), (5, 30)))]
    occ.fillet([part[0][1]], corner, [6.0])
    occ.synchronize()
    group(3, "body", lambda *_: True)
    group(2, "fixed", lambda x, y, z, X, Y, Z: near(x, 0) and near(X, 0))
    group(2, "bore", lambda x, y, z, X, Y, Z: x > 71 and X < 89 and y > 11 and Y < 29)
    options(MeshSizeMax=size, MeshSizeMin=size, SecondOrderLinear=1, Algorithm3D=10, SubdivisionAlgorithm=2)


def graded(size):
    plate, bore = occ.addBox(0, 0, 0, 60, 30, 12), occ.addCylinder(50, 15, -1, 0, 0, 14, 2)
    occ.cut([(3, plate)], [(3, bore)])
    occ.synchronize()
    group(3, "body", lambda *_: True)
    group(2, "fixed", lambda x, y, z, X, Y, Z: near(x, 0) and near(X, 0))
    (bore,) = group(2, "bore", lambda x, y, z, X, Y, Z: x > 47 and X < 53 and z < 1 and Z > 11)
    field = gmsh.model.mesh.field
    field.add("Distance", 1)
    field.setNumbers(1, "SurfacesList", [bore])
    field.setNumber(1, "Sampling", 200)
    field.add("Threshold", 2)
    for key, value in (("InField", 1), ("SizeMin", size / 20), ("SizeMax", size), ("DistMin", 0), ("DistMax", 20)):
        field.setNumber(2, key, value)
    field.setAsBackgroundMesh(2)
    options(MeshSizeExtendFromBoundary=0, MeshSizeFromPoints=0, SecondOrderLinear=1, Algorithm3D=10,
            SubdivisionAlgorithm=2)


def mixed(size, out):
    """Triangles and quadrilaterals extruded to wedges, written as bricks with K = L and O = P, and bricks."""
    plate, bore = occ.addRectangle(0, 0, 0, 80, 40), occ.addDisk(60, 20, 0, 8, 8)
    notch, cut = occ.addDisk(30, 40, 0, 10, 10), occ.addRectangle(40, -1, 0, 50, 42)
    face, _ = occ.cut([(2, plate)], [(2, bore), (2, notch)])
    right, _ = occ.intersect(face, [(2, cut)], removeObject=False, removeTool=False)
    left, _ = occ.cut(face, [(2, cut)])
    occ.fragment(left, right)
    occ.synchronize()
    for dim, tag in gmsh.model.getEntities(2):
        if box_of((dim, tag))[0] < 1:
            gmsh.model.mesh.setRecombine(dim, tag)
    options(MeshSizeMax=size, MeshSizeMin=size / 3, MeshSizeFromCurvature=24)
    gmsh.model.mesh.generate(2)

    tags, xyz, _ = gmsh.model.mesh.getNodes(2, includeBoundary=True)
    places = {tag: k for k, tag in enumerate(dict.fromkeys(tags))}
    flat = {places[tag]: xyz[3 * k:3 * k + 2] for k, tag in enumerate(tags)}
    n, heights = len(flat), [0.0]
    while heights[-1] < 16 - 1e-9:  # layers of 1 and 3 in turn, in units of half a size
        heights.append(min(16.0, heights[-1] + size * (0.5 if len(heights) % 4 else 1.5)))
    faces = []
    for kind, corners in ((2, 3), (3, 4)):
        _, nodes = gmsh.model.mesh.getElementsByType(kind)
        faces += [[places[t] for t in nodes[k:k + corners]] for k in range(0, len(nodes), corners)]
    faces = [face + face[-1:] if len(face) == 3 else face for face in faces]
    with open(out, "w") as file:
        file.write(f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{n * len(heights)}\n")
        for layer, z in enumerate(heights):
            for k in range(n):
                file.write(f"{1 + k + n * layer} {flat[k][0]:.15g} {flat[k][1]:.15g} {z:.15g}\n")
        elements = len(faces) * (len(heights) - 1)
        file.write(f"$EndNodes\n$Elements\n{elements}\n")
        for e in range(elements):
            layer, face = e // len(faces), faces[e % len(faces)]
            nodes = [1 + k + n * (layer + up) for up in (0, 1) for k in face]
            file.write(f"{e + 1} 5 2 1 1 {' '.join(map(str, nodes))}\n")
        file.write("$EndElements\n")


def main():
    name, size, out = sys.argv[1], float(sys.argv[2]), sys.argv[3]
    gmsh.initialize()
    gmsh.option.setNumber("General.Verbosity", 2)
    if name == "mixed":
        return mixed(size, out)
    {"bored_angle": bored_angle, "graded": graded}[name](size)
    options(Binary=1, MshFileVersion=4.1)
    gmsh.model.mesh.generate(3)
    gmsh.write(out)


main()
